#include "lithe/io/mjcf/rules.h"

#include <algorithm>

namespace lithe::internal::mjcf {

namespace {

// Whether the name is in the list.
template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

bool is_actuator(std::string_view element) {
  static constexpr std::array<std::string_view, 13> kActuators = {
      "motor",  "position", "velocity", "general",  "intvelocity", "orientation", "pid",
      "damper", "cylinder", "muscle",   "adhesion", "dcmotor",     "plugin"};
  return is_one_of(element, kActuators);
}

bool is_quiet_default(std::string_view element) {
  static constexpr std::array<std::string_view, 4> kQuiet = {"camera", "light", "tendon", "texture"};
  return is_one_of(element, kQuiet);
}

bool is_gain(std::string_view attribute) {
  static constexpr std::array<std::string_view, 9> kGains = {"kp",      "kv",      "gaintype",  "gainprm",  "biastype",
                                                             "biasprm", "dyntype", "dampratio", "timeconst"};
  return is_one_of(attribute, kGains);
}

std::string gain_key(std::string_view element, std::string_view attribute) {
  return fmt::format("{}.{}", element, attribute);
}

void drop_replaced_orientations(const XmlElement& element, DefaultSet& set) {
  // An element that gives no orientation leaves the class's as it is.
  const bool gives_one = std::ranges::any_of(kOrientations, [&](const char* name) { return element.attribute(name); });
  if (!gives_one) return;
  std::erase_if(set, [&](const DefaultAttribute& attribute) {
    const auto is_it = [&](const char* name) { return attribute.name == name && !element.attribute(name); };
    return std::ranges::any_of(kOrientations, is_it);
  });
}

}  // namespace lithe::internal::mjcf

#include "lithe/io/mjcf/defaults.h"

#include <algorithm>
#include <optional>

#include "lithe/core/internal/suggest.h"
#include "lithe/io/mjcf/rules.h"

namespace lithe::internal::mjcf {

namespace {

constexpr std::size_t kMostClasses = 10'000;
constexpr std::size_t kLongestValue = 1'000;  // each inner class has a copy

// Attributes whose list may be shorter than the format's; the class above has the rest.
constexpr std::array<std::string_view, 5> kPartialLists = {"size", "friction", "gear", "gainprm", "biasprm"};

bool is_partial_list(std::string_view name) { return std::ranges::find(kPartialLists, name) != kPartialLists.end(); }

// What an element in a class is about, and which attributes it may have.
struct Settings {
  Kind kind;
  AttributeRules rules;
};

// The kind of element for which an element inside <default> gives defaults; nothing for elements that are only seen, or
// that are warned of where they are used.
std::optional<Settings> settings_of(std::string_view element) {
  if (element == "joint") return Settings{Kind::joint, kJointRules};
  if (element == "geom") return Settings{Kind::geom, kGeomRules};
  if (element == "site") return Settings{Kind::site, kSiteRules};
  if (element == "mesh") return Settings{Kind::mesh, kMeshRules};
  if (element == "material") return Settings{Kind::material, kMaterialRules};
  if (element == "equality") return Settings{Kind::equality, kEqualityRules};
  if (element == "pair") return Settings{Kind::pair, kPairRules};
  if (is_actuator(element)) return Settings{Kind::actuator, kActuatorRules};
  return std::nullopt;
}

}  // namespace

Defaults::Defaults() {
  classes_.emplace_back();
  for (auto& set : classes_[kMain].sets) set = std::make_shared<const DefaultSet>();
  names_.emplace("main", kMain);
}

void Defaults::read(const XmlElement& section, Includes& includes, WarningList& warnings) {
  // The outermost class is "main", but may go by a name of its own.
  if (const char* name = section.attribute("class")) {
    if (!names_.emplace(name, kMain).second && names_.at(name) != kMain) {
      section.fail(fmt::format("the default class \"{}\" is defined twice", name));
    }
  }
  read_class(kMain, section, includes, warnings);
}

// Reads a <default>. A class inside begins as a copy of this one; the copies share their sets until one of them
// changes.
void Defaults::read_class(int index, const XmlElement& element, Includes& includes, WarningList& warnings) {
  check_attributes(element, {"class"}, warnings);
  const std::vector<XmlElement> children = includes.children(element);
  // First all of its own settings: the classes inside inherit them wherever they stand.
  for (const XmlElement& child : children) {
    if (child.name() != "default") read_settings(index, child, warnings);
  }
  for (const XmlElement& child : children) {
    if (child.name() != "default") continue;
    const std::string name = child.required_attribute("class");
    if (classes_.size() >= kMostClasses)
      child.fail(fmt::format("there are more than {} default classes", kMostClasses));
    const int inner = static_cast<int>(classes_.size());
    if (!names_.emplace(name, inner).second) child.fail(fmt::format("the default class \"{}\" is defined twice", name));
    classes_.push_back(Class(classes_[index]));
    read_class(inner, child, includes, warnings);
  }
}

// Lays the attributes of an element over the class's set of that kind. The set is replaced and not changed, because
// other classes may share it.
void Defaults::read_settings(int index, const XmlElement& element, WarningList& warnings) {
  const std::optional<Settings> settings = settings_of(element.name());
  if (!settings) {
    if (!is_quiet_default(element.name())) {
      warnings.add(element.place(), "mjcf.unknown.default",
                   fmt::format("<{}> in <default> is not known and was ignored", element.name()));
    }
    return;
  }
  check_attributes(element, settings->rules, warnings);
  auto& set = classes_[index].sets[static_cast<int>(settings->kind)];
  auto renewed = std::make_shared<DefaultSet>(*set);
  for (const auto& [name, value] : element.attributes()) {
    // What no rule knows was warned of, and is not kept: a set stays small.
    if (!settings->rules.know(name)) continue;
    if (value.size() > kLongestValue)
      element.fail(fmt::format("{} of a default class has more than {} characters", name, kLongestValue));
    const bool own_gain = settings->kind == Kind::actuator && is_gain(name);
    const std::string key = own_gain ? gain_key(element.name(), name) : std::string(name);
    const auto known = std::ranges::find(*renewed, key, &DefaultAttribute::name);
    if (known == renewed->end()) {
      renewed->push_back({key, std::string(value), element});
    } else {
      known->text = is_partial_list(name) ? completed_list(value, known->text) : std::string(value);
      known->from = element;
    }
  }
  // Of orientations and lengths the innermost counts: drop what this element replaces by another way of saying it.
  drop_replaced_orientations(element, *renewed);
  set = std::move(renewed);
}

int Defaults::find(const char* name, const SourcePlace& place) const {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  std::vector<std::string_view> known;
  for (const auto& [other, index] : names_) {
    if (other.size() < 100 && known.size() < 1000) known.push_back(other);
  }
  std::ranges::sort(known);
  const std::string_view wanted(name, std::min<std::size_t>(std::string_view(name).size(), 100));
  throw LoadError(place, fmt::format("there is no default class \"{}\"{}", wanted, did_you_mean(wanted, known)));
}

Attributes Defaults::attributes(const XmlElement& element, Kind kind, int inherited) const {
  const char* own = element.attribute("class");
  const int index = own ? find(own, element.place()) : inherited;
  return {element, classes_[index].sets[static_cast<int>(kind)].get()};
}

}  // namespace lithe::internal::mjcf

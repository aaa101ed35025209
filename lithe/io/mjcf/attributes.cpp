#include "lithe/io/mjcf/attributes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lithe::internal::mjcf {

namespace {

// What messages call an attribute.
std::string described(const char* name, const XmlElement& element) {
  return fmt::format("attribute {} of <{}>", name, element.name());
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Where the word after the first `count` words begins, or npos.
std::size_t after_words(std::string_view text, int count) {
  std::size_t at = 0;
  for (;; --count) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (at == text.size()) return std::string_view::npos;
    if (count == 0) return at;
    while (at < text.size() && !is_space(text[at])) ++at;
  }
}

// The number of words in a text.
int count_words(std::string_view text) {
  int count = 0;
  bool inside = false;
  for (const char c : text) {
    if (!is_space(c) && !inside) ++count;
    inside = !is_space(c);
  }
  return count;
}

// Whether `name` is a word of the list, in which words are separated by single spaces. What is found within another
// word does not count.
bool is_word_of(std::string_view list, std::string_view name) {
  for (std::size_t at = list.find(name); at != std::string_view::npos; at = list.find(name, at + 1)) {
    const bool begins = at == 0 || list[at - 1] == ' ';
    const bool ends = at + name.size() == list.size() || list[at + name.size()] == ' ';
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

std::string_view AttributeRules::reason_against(std::string_view name) const {
  for (const NotHonoured& some : not_honoured) {
    if (is_word_of(some.names, name)) return some.reason;
  }
  return {};
}

bool AttributeRules::know(std::string_view name) const {
  return is_word_of(known, name) || !reason_against(name).empty();
}

void check_attributes(const XmlElement& element, const AttributeRules& rules, WarningList& warnings) {
  for (const auto& [name, value] : element.attributes()) {
    if (is_word_of(rules.known, name)) continue;
    const std::string_view reason = rules.reason_against(name);
    if (!reason.empty()) {
      warnings.add(element.place(), fmt::format("mjcf.{}.{}", element.name(), name),
                   fmt::format("attribute {}=\"{}\" of <{}> is not honoured: {}", name, shortened(value),
                               element.name(), reason));
    } else {
      warnings.add(element.place(), fmt::format("mjcf.unknown.{}.{}", element.name(), shortened(name)),
                   fmt::format("attribute {}=\"{}\" of <{}> is not known and was ignored", shortened(name),
                               shortened(value), element.name()));
    }
  }
}

std::string completed_list(std::string_view own, std::string_view inherited) {
  // Numbers are not parsed for this: a word for each is enough.
  const std::size_t rest = after_words(inherited, count_words(own));
  if (rest == std::string_view::npos) return std::string(own);
  return fmt::format("{} {}", own, inherited.substr(rest));
}

Attributes::Found Attributes::find_default(const char* name) const {
  if (!defaults_) return {};
  // Gains hold for one kind of actuator only, so a class keeps that of <position> under "position.kp".
  const auto is_own_gain = [&](std::string_view key) {
    const std::string_view kind = element_.name();
    return key.size() > kind.size() && key.starts_with(kind) && key[kind.size()] == '.' &&
           key.substr(kind.size() + 1) == name;
  };
  for (const DefaultAttribute& attribute : *defaults_) {
    if (attribute.name == name || is_own_gain(attribute.name)) return {attribute.text.c_str(), attribute.from};
  }
  return {};
}

// Programs write an empty attribute, such as rgba="", for none. MuJoCo takes it for absent, so that the class counts.
Attributes::Found Attributes::find(const char* name) const {
  if (const char* own = own_text(name)) return {own, element_};
  return find_default(name);
}

const char* Attributes::own_text(const char* name) const {
  const char* own = element_.attribute(name);
  return own && count_words(own) > 0 ? own : nullptr;
}

const char* Attributes::name() const {
  const char* given = element_.attribute("name");
  return given && *given ? given : nullptr;
}

VecX Attributes::parsed(const Found& found, const char* name, int at_least, int at_most) const {
  return parse_numbers(found.text, found.from.place(), described(name, found.from), at_least, at_most);
}

std::optional<double> Attributes::number(const char* name) const {
  const Found found = find(name);
  if (!found.text) return std::nullopt;
  return parsed(found, name, 1, 1)[0];
}

int Attributes::integer_or(const char* name, int otherwise) const {
  const std::optional<double> x = number(name);
  if (!x) return otherwise;
  if (*x != std::floor(*x) || std::abs(*x) > std::numeric_limits<int>::max()) fail(name, "it must be a whole number");
  return static_cast<int>(*x);
}

bool Attributes::flag_or(const char* name, bool otherwise) const {
  const Found found = find(name);
  if (!found.text) return otherwise;
  const std::string_view word = found.text;
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  fail(name, "it must be true or false");
}

Switch Attributes::switch_or(const char* name, Switch otherwise) const {
  const Found found = find(name);
  if (!found.text) return otherwise;
  if (std::string_view(found.text) == "auto") return Switch::automatic;
  return flag_or(name, false) ? Switch::yes : Switch::no;
}

std::optional<Vec3> Attributes::vector3(const char* name) const {
  const Found found = find(name);
  if (!found.text) return std::nullopt;
  return Vec3(parsed(found, name, 3, 3));
}

std::optional<VecX> Attributes::numbers(const char* name, int at_least, int at_most) const {
  const Found found = find(name);
  if (!found.text) return std::nullopt;
  return parsed(found, name, at_least, at_most);
}

VecX Attributes::filled(const char* name, VecX otherwise) const {
  // The numbers of the class lie over the format's defaults, and those of the element over both.
  const auto lay_over = [&](const Found& found) {
    if (!found.text) return;
    const VecX given = parsed(found, name, 1, static_cast<int>(otherwise.size()));
    otherwise.head(given.size()) = given;
  };
  lay_over(find_default(name));
  if (const char* own = own_text(name)) lay_over({own, element_});
  return otherwise;
}

std::string_view Attributes::choice(const char* name, std::initializer_list<std::string_view> words) const {
  const Found found = find(name);
  if (!found.text) return *words.begin();
  const auto word = std::find(words.begin(), words.end(), found.text);
  if (word != words.end()) return *word;
  std::string list;
  for (const std::string_view known : words) list += fmt::format("{}{}", list.empty() ? "" : ", ", known);
  fail(name, "known are: " + list);
}

void Attributes::fail(const char* name, std::string_view what) const {
  const Found found = find(name);
  if (!found.text) element_.fail(fmt::format("{}: {}", described(name, element_), what));
  // The error is where the value stands, which may be in a <default>.
  found.from.fail(fmt::format("{} is \"{}\": {}", described(name, found.from), shortened(found.text), what));
}

}  // namespace lithe::internal::mjcf

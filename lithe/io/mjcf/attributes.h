#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/io/xml/xml.h"

namespace lithe::internal::mjcf {

// Attributes that are known but not honoured, and the reason why. The names are separated by spaces.
struct NotHonoured {
  std::string_view names;
  std::string_view reason;
};

// The attributes that an element may have: those that are read or harmless, and those that are not honoured.
struct AttributeRules {
  std::string_view known;  // names, separated by spaces
  std::span<const NotHonoured> not_honoured = {};

  bool know(std::string_view name) const;                        // in either list
  std::string_view reason_against(std::string_view name) const;  // empty where there is none
};

// Warns of attributes that the rules do not know, such as a misspelt one ("mjcf.unknown.geom.contpe"), and of those
// that are not honoured ("mjcf.geom.solref").
void check_attributes(const XmlElement& element, const AttributeRules& rules, WarningList& warnings);

// An attribute that a default class gives, with the element in which it stands.
struct DefaultAttribute {
  std::string name;
  std::string text;
  XmlElement from;
};
using DefaultSet = std::vector<DefaultAttribute>;

// The value of attributes that are true, false or auto.
enum class Switch { no, yes, automatic };

// The attributes of one element: what it says itself, else what its default class says. Values are read as XmlElement
// reads them, and errors name the line in which the value stands.
class Attributes {
 public:
  Attributes(const XmlElement& element, const DefaultSet* defaults = nullptr)
      : element_(element), defaults_(defaults) {}

  const XmlElement& element() const { return element_; }
  SourcePlace place() const { return element_.place(); }

  bool has(const char* name) const { return find(name).text != nullptr; }
  bool has_itself(const char* name) const { return own_text(name) != nullptr; }
  const char* text(const char* name) const { return find(name).text; }  // null where there is none
  const char* name() const;                                             // null where there is none, or an empty one
  std::optional<double> number(const char* name) const;
  double number_or(const char* name, double otherwise) const { return number(name).value_or(otherwise); }
  int integer_or(const char* name, int otherwise) const;
  bool flag_or(const char* name, bool otherwise) const;
  Switch switch_or(const char* name, Switch otherwise) const;  // true, false or auto
  std::optional<Vec3> vector3(const char* name) const;
  std::optional<VecX> numbers(const char* name, int at_least, int at_most) const;
  // A list of as many numbers as `otherwise` has. Where the element's list is shorter, the rest is as the class has it,
  // or else `otherwise`.
  VecX filled(const char* name, VecX otherwise) const;
  // A value that must be one of these words; it is the first one where the attribute is absent.
  std::string_view choice(const char* name, std::initializer_list<std::string_view> words) const;

  // An error about this attribute, at its line.
  [[noreturn]] void fail(const char* name, std::string_view what) const;

 private:
  // The text of an attribute and the element in which it stands; null where there is none.
  struct Found {
    const char* text = nullptr;
    XmlElement from = {};
  };
  Found find(const char* name) const;
  const char* own_text(const char* name) const;  // null where there is none, or only white space
  Found find_default(const char* name) const;
  VecX parsed(const Found& found, const char* name, int at_least, int at_most) const;

  XmlElement element_;
  const DefaultSet* defaults_;
};

// Completes a list that is given in part: `own`, and then what `inherited` has beyond as many words.
std::string completed_list(std::string_view own, std::string_view inherited);

}  // namespace lithe::internal::mjcf

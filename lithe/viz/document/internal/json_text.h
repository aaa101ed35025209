#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "lithe/core/eigen.h"

namespace lithe::internal {

// JSON under construction, without blanks: what the two writers of this room share.
//
//   JsonText json;
//   json.open('{').key("name").text("foot").key("sizes").numbers(half_size).close('}');
//   json.str();
class JsonText {
 public:
  JsonText& open(char bracket);
  JsonText& close(char bracket);
  JsonText& key(std::string_view name);  // a member of an object; its value comes next

  // Any bytes are welcome: what is not UTF-8 becomes U+FFFD. '<' is escaped, so the text can stand within an HTML
  // script element, which "</script" would end and "<!--" would spoil.
  JsonText& text(std::string_view value);
  JsonText& number(double value);  // finite, or it is an Error
  JsonText& number(std::size_t value);
  JsonText& number(int value);
  JsonText& truth(bool value);
  JsonText& null();
  JsonText& plain(std::string_view value);  // as a string; must need no escapes
  JsonText& value(const JsonText& other);   // complete in itself

  template <class Vector>
  JsonText& numbers(const Vector& values) {
    open('[');
    for (const auto value : values) number(value);
    return close(']');
  }

  const std::string& str() const& { return out_; }
  std::string str() && { return std::move(out_); }

 private:
  void next();  // a comma where one is due

  std::string out_;
};

}  // namespace lithe::internal

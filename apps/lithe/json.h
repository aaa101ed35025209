#pragma once

#include <string>
#include <string_view>

namespace lithe::cli {

// A JSON object under construction. Numbers that JSON has no word for (NaN, infinities) become null.
class JsonObject {
 public:
  JsonObject& add(std::string_view key, double value);
  JsonObject& add(std::string_view key, long value);
  JsonObject& add(std::string_view key, int value) { return add(key, static_cast<long>(value)); }
  JsonObject& add(std::string_view key, bool value);
  JsonObject& add(std::string_view key, std::string_view value);
  JsonObject& add(std::string_view key, const char* value) { return add(key, std::string_view(value)); }
  JsonObject& add(std::string_view key, const JsonObject& value);

  // On one line.
  std::string text() const { return "{" + members_ + "}"; }

 private:
  JsonObject& add_raw(std::string_view key, const std::string& value);

  std::string members_;
};

}  // namespace lithe::cli

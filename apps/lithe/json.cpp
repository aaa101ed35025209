#include "apps/lithe/json.h"

#include <fmt/format.h>

#include <cmath>

namespace lithe::cli {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

JsonObject& JsonObject::add(std::string_view key, double value) {
  return add_raw(key, std::isfinite(value) ? fmt::format("{}", value) : "null");
}
JsonObject& JsonObject::add(std::string_view key, long value) { return add_raw(key, fmt::format("{}", value)); }
JsonObject& JsonObject::add(std::string_view key, bool value) { return add_raw(key, value ? "true" : "false"); }
JsonObject& JsonObject::add(std::string_view key, std::string_view value) { return add_raw(key, quoted(value)); }
JsonObject& JsonObject::add(std::string_view key, const JsonObject& value) { return add_raw(key, value.text()); }

JsonObject& JsonObject::add_raw(std::string_view key, const std::string& value) {
  if (!members_.empty()) members_ += ", ";
  members_ += quoted(key) + ": " + value;
  return *this;
}

}  // namespace lithe::cli

#include "lithe/viz/document/internal/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>

#include "lithe/core/check.h"

namespace lithe::internal {

namespace {

// The length of the UTF-8 sequence that `text` starts with, or 0 if it starts with none: overlong forms, surrogates and
// numbers above U+10FFFF are none (RFC 3629).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i, unsigned least = 0x80, unsigned most = 0xBF) {
    return byte(i) >= least && byte(i) <= most;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    return follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    return follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

// A string in quotes, with the escapes that JSON asks for (RFC 8259, §7) and one for '<'.
void put_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += text[0];
    } else if (c < 0x20 || c == 0x7F || c == '<') {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

}  // namespace

// Nothing is remembered of what is open: the last character says whether something stands before the next item.
void JsonText::next() {
  if (out_.empty()) return;
  const char last = out_.back();
  if (last != '{' && last != '[' && last != ':') out_ += ',';
}

JsonText& JsonText::open(char bracket) {
  next();
  out_ += bracket;
  return *this;
}

JsonText& JsonText::close(char bracket) {
  out_ += bracket;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  next();
  put_quoted(out_, name);
  out_ += ':';
  return *this;
}

JsonText& JsonText::text(std::string_view value) {
  next();
  put_quoted(out_, value);
  return *this;
}

JsonText& JsonText::number(double value) {
  LITHE_CHECK(std::isfinite(value), "{} is no number that JSON can hold", value);
  next();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonText& JsonText::number(std::size_t value) {
  next();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonText& JsonText::number(int value) {
  next();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonText& JsonText::truth(bool value) {
  next();
  out_ += value ? "true" : "false";
  return *this;
}

JsonText& JsonText::null() {
  next();
  out_ += "null";
  return *this;
}

JsonText& JsonText::plain(std::string_view value) {
  next();
  out_ += '"';
  out_ += value;
  out_ += '"';
  return *this;
}

JsonText& JsonText::value(const JsonText& other) {
  next();
  out_ += other.out_;
  return *this;
}

}  // namespace lithe::internal

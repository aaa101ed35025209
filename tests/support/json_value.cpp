#include "tests/support/json_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace lithe::test {

namespace {

const JsonValue kNothing = {};

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  JsonValue whole() {
    JsonValue value = any();
    blanks();
    expect(rest_.empty(), "something follows");
    return value;
  }

 private:
  void expect(bool good, const char* what) const {
    if (!good) throw std::runtime_error(std::string(what) + " before: " + std::string(rest_.substr(0, 40)));
  }
  void blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  JsonValue any() {
    blanks();
    JsonValue value;
    if (take("null")) return value;
    if (take("true") || take("false")) {
      value.kind = JsonValue::Kind::truth;
      value.truth = *(rest_.data() - 2) == 'u';
      return value;
    }
    if (rest_.starts_with('"')) {
      value.kind = JsonValue::Kind::text;
      value.text = text();
    } else if (take("[")) {
      value.kind = JsonValue::Kind::list;
      for (blanks(); !take("]"); blanks()) {
        if (!value.items.empty()) expect(take(","), "no comma");
        value.items.push_back(any());
      }
    } else if (take("{")) {
      value.kind = JsonValue::Kind::object;
      for (blanks(); !take("}"); blanks()) {
        if (!value.names.empty()) expect(take(","), "no comma");
        blanks();
        const std::string name = text();
        expect(!value.has(name), "a member twice");
        value.names.push_back(name);
        blanks();
        expect(take(":"), "no colon");
        value.items.push_back(any());
      }
    } else {
      value.kind = JsonValue::Kind::number;
      value.number = number();
    }
    return value;
  }

  double number() {
    const std::size_t length = std::min(rest_.find_first_not_of("0123456789+-.eE"), rest_.size());
    const std::string digits(rest_.substr(0, length));
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    expect(length > 0 && *end == '\0' && digits.find_first_of("0123456789") <= 1, "no number");
    rest_.remove_prefix(length);
    return value;
  }

  std::string text() {
    expect(take("\""), "no text");
    std::string out;
    while (!take("\"")) {
      expect(!rest_.empty() && static_cast<unsigned char>(rest_[0]) >= 0x20, "a control character or the end");
      if (!take("\\")) {
        out += rest_[0];
        rest_.remove_prefix(1);
      } else if (take("u")) {
        put_code(out, static_cast<unsigned>(std::stoul(std::string(rest_.substr(0, 4)), nullptr, 16)));
        rest_.remove_prefix(4);
      } else {
        expect(rest_.starts_with('"') || rest_.starts_with('\\'), "an escape that is not used");
        out += rest_[0];
        rest_.remove_prefix(1);
      }
    }
    return out;
  }

  static void put_code(std::string& out, unsigned code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else {  // U+FFFD and other characters of three bytes
      out += static_cast<char>(0xE0 | code >> 12);
      out += static_cast<char>(0x80 | (code >> 6 & 63));
      out += static_cast<char>(0x80 | (code & 63));
    }
  }

  std::string_view rest_;
};

template <class Number>
std::vector<Number> numbers_in(const JsonValue& value) {
  EXPECT_EQ(value.kind, JsonValue::Kind::text);
  const std::string bytes = decode_base64(value.text);
  EXPECT_EQ(bytes.size() % sizeof(Number), 0u);
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

}  // namespace

bool JsonValue::has(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }

const JsonValue& JsonValue::operator[](std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return items[static_cast<std::size_t>(found - names.begin())];
  ADD_FAILURE() << "there is no member " << name;
  return kNothing;
}

const JsonValue& JsonValue::operator[](std::size_t i) const {
  if (i < items.size()) return items[i];
  ADD_FAILURE() << "there is no item " << i << " of " << items.size();
  return kNothing;
}

std::vector<double> JsonValue::numbers() const {
  EXPECT_EQ(kind, Kind::list);
  std::vector<double> out;
  for (const JsonValue& item : items) {
    EXPECT_EQ(item.kind, Kind::number);
    out.push_back(item.number);
  }
  return out;
}

std::vector<float> JsonValue::floats() const { return numbers_in<float>(*this); }
std::vector<std::uint32_t> JsonValue::unsigneds() const { return numbers_in<std::uint32_t>(*this); }

JsonValue parse_json(std::string_view text) {
  try {
    return Parser(text).whole();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
    return {};
  }
}

std::string decode_base64(std::string_view text) {
  EXPECT_EQ(text.size() % 4, 0u);
  const std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  const std::string_view digits = text.substr(0, std::min(text.find('='), text.size()));
  EXPECT_LE(text.size() - digits.size(), 2u);
  for (const char c : digits) {
    const std::size_t value = alphabet.find(c);
    EXPECT_NE(value, std::string_view::npos) << "'" << c << "' is not of base64";
    bits = bits << 6 | static_cast<std::uint32_t>(value & 63);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count);
  }
  return out;
}

}  // namespace lithe::test

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lithe::test {

// JSON by its grammar (RFC 8259), read by a reader that shares nothing with the writer.
struct JsonValue {
  enum class Kind { null, truth, number, text, list, object };
  Kind kind = Kind::null;
  bool truth = false;
  double number = 0;
  std::string text;
  std::vector<JsonValue> items;    // of a list, or the values of an object
  std::vector<std::string> names;  // of an object

  bool has(std::string_view name) const;
  // Both fail the test, and give null, where there is nothing.
  const JsonValue& operator[](std::string_view name) const;
  const JsonValue& operator[](std::size_t i) const;
  std::size_t size() const { return items.size(); }

  std::vector<double> numbers() const;           // of a list
  std::vector<float> floats() const;             // of a text in base64
  std::vector<std::uint32_t> unsigneds() const;  // the same
};

// What is no JSON fails the test.
JsonValue parse_json(std::string_view text);

// What is no base64 fails the test.
std::string decode_base64(std::string_view text);

}  // namespace lithe::test

#include "lithe/io/mesh/ply_header.h"

#include <array>
#include <charconv>
#include <utility>

#include "lithe/io/mesh/cursor.h"

namespace lithe::internal {

namespace {

constexpr int kMostEntries = 1000;  // elements and properties

using Encoding = PlyHeader::Encoding;
using Type = PlyHeader::Type;

constexpr std::pair<std::string_view, Encoding> kEncodings[] = {{"ascii", Encoding::ascii},
                                                                {"binary_little_endian", Encoding::little_endian},
                                                                {"binary_big_endian", Encoding::big_endian}};

// Each type has two names: Turk's own, and a later one that says how many bits it has.
constexpr std::pair<std::string_view, Type> kTypes[] = {
    {"char", Type::int8},     {"int8", Type::int8},       {"uchar", Type::uint8},    {"uint8", Type::uint8},
    {"short", Type::int16},   {"int16", Type::int16},     {"ushort", Type::uint16},  {"uint16", Type::uint16},
    {"int", Type::int32},     {"int32", Type::int32},     {"uint", Type::uint32},    {"uint32", Type::uint32},
    {"float", Type::float32}, {"float32", Type::float32}, {"double", Type::float64}, {"float64", Type::float64}};

// What the next word of the line means by a table; a word that is not in it is an error. `what` is the kind of the
// word.
template <class Table>
auto look_up(TextCursor& in, const Table& table, std::string_view what) {
  const std::string_view word = in.word_of_line();
  for (const auto& [name, value] : table) {
    if (name == word) return value;
  }
  in.fail(fmt::format("{} is no {} of a PLY file", shown(word), what));
}

// The next word of the line, as the name of an element or a property.
std::string name_in(TextCursor& in, std::string_view what) {
  const std::string_view word = in.word_of_line();
  if (word.empty()) in.fail(fmt::format("the {} has no name", what));
  return std::string(word);
}

// The next word of the line, as the number of an element's rows.
std::uint32_t count_in(TextCursor& in) {
  const std::string_view word = in.word_of_line();
  std::uint32_t count = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (word.empty() || error != std::errc() || stop != word.data() + word.size()) {
    in.fail(fmt::format("{} where the count of an element's rows is expected", shown(word)));
  }
  return count;
}

// A property: "float x", or "list uchar int vertex_indices", which has the type of the count before that of the values.
PlyHeader::Property property_in(TextCursor& in) {
  PlyHeader::Property property;
  // A cursor is a value: the copy is the way back.
  const TextCursor at_type = in;
  if (in.word_of_line() == "list") {
    property.count_type = look_up(in, kTypes, "type");
    if (*property.count_type == Type::float32 || *property.count_type == Type::float64) {
      in.fail("the count of a list must have a type of whole numbers");
    }
  } else {
    in = at_type;
  }
  property.type = look_up(in, kTypes, "type");
  property.name = name_in(in, "property");
  return property;
}

}  // namespace

std::size_t byte_size(Type type) {
  static constexpr std::array<std::size_t, 8> kSizes = {1, 1, 2, 2, 4, 4, 4, 8};
  return kSizes[static_cast<std::size_t>(type)];
}

PlyHeader parse_ply_header(std::string_view bytes, const std::string& file) {
  TextCursor in(bytes, file);
  if (in.word_of_line() != "ply") in.fail("this is no PLY: the first line must be 'ply'");
  in.end_plain_line();
  PlyHeader header;
  bool has_format = false;
  int entries = 0;
  for (header.lines = 2;; ++header.lines) {
    const std::string_view keyword = in.word_of_line();
    if (keyword == "element" || keyword == "property") ++entries;
    if (entries > kMostEntries)
      in.fail(fmt::format("the header has more than {} elements and properties", kMostEntries));
    if (keyword == "format") {
      header.encoding = look_up(in, kEncodings, "format");
      has_format = true;
    } else if (keyword == "element") {
      std::string name = name_in(in, "element");
      header.elements.push_back({.name = std::move(name), .rows = count_in(in), .line = header.lines});
    } else if (keyword == "property") {
      if (header.elements.empty()) in.fail("a property before the first element");
      header.elements.back().properties.push_back(property_in(in));
    } else if (keyword == "end_header") {
      break;
    } else if (in.left() == 0) {
      in.fail("the file is cut off: its header has no 'end_header'");
    } else if (keyword != "comment" && keyword != "obj_info" && !keyword.empty()) {
      in.fail(fmt::format("{} where a keyword of a PLY header is expected", shown(keyword)));
    }
    in.end_plain_line();
  }
  if (!has_format) in.fail("the header has no 'format'");
  // The body begins behind the end of this line and nowhere else: binary rows may look like blanks.
  in.end_plain_line();
  header.body = in.position();
  return header;
}

}  // namespace lithe::internal

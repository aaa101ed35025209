#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lithe::internal {

// What a PLY file says that it holds.
//
//   ply
//   format ascii 1.0                          (or binary_little_endian, binary_big_endian)
//   comment …
//   element vertex 8                          rows of the properties that follow
//   property float x
//   element face 6
//   property list uchar int vertex_indices    a count, and so many values
//   end_header
struct PlyHeader {
  enum class Encoding { ascii, little_endian, big_endian };
  enum class Type { int8, uint8, int16, uint16, int32, uint32, float32, float64 };
  struct Property {
    std::string name;
    Type type;
    std::optional<Type> count_type = {};  // of a list
  };
  struct Element {
    std::string name;
    std::uint32_t rows;
    int line;
    std::vector<Property> properties = {};
  };

  Encoding encoding = Encoding::ascii;
  std::vector<Element> elements;
  std::size_t body = 0;  // the byte where the rows begin
  int lines = 0;         // of the header
};

// Reads the header. An error if the file is no PLY, or if the header is damaged or too long.
PlyHeader parse_ply_header(std::string_view bytes, const std::string& file);

// How many bytes a value of this type has in a binary file.
std::size_t byte_size(PlyHeader::Type type);

}  // namespace lithe::internal

#include <array>
#include <bit>

#include "lithe/core/internal/little_endian.h"
#include "lithe/io/mesh/builder.h"

// STL, the stereolithography format of 3D Systems: triangles by their corners, as text
//
//   solid name
//     facet normal nx ny nz
//       outer loop
//         vertex x y z          (three of them)
//       endloop
//     endfacet
//   endsolid name
//
// or binary, little endian: 80 bytes of anything, the count of triangles (u32), and for each 12 floats (normal, three
// corners) and two bytes of attributes. Normals are not read: real files have zeros and NaN there, and the corners'
// order says the same.
namespace lithe {

using namespace internal;

namespace {

constexpr std::size_t kHeaderBytes = 84;
constexpr std::size_t kTriangleBytes = 50;
constexpr std::uint64_t kAhead = 8;  // triangles whose vertices are announced

// The size of a binary file by the count in its header, which `bytes` must have.
std::uint64_t binary_size(std::string_view bytes) {
  const std::uint32_t triangles = get_u32(reinterpret_cast<const unsigned char*>(bytes.data()) + kHeaderBytes - 4);
  return kHeaderBytes + kTriangleBytes * std::uint64_t{triangles};
}

// Whether the file is a text. A binary file may begin with "solid" as well, but then its size is what its count says.
// Where that is not so because the file is cut off, its header still has zeros, which no text has.
bool is_text(std::string_view bytes, const std::string& file) {
  if (bytes.size() >= kHeaderBytes && bytes.size() == binary_size(bytes)) return false;
  const bool has_zeros = bytes.substr(0, kHeaderBytes).find('\0') != std::string_view::npos;
  return !has_zeros && equal_in_any_case(TextCursor(bytes, file).word(), "solid");
}

// Reads the keyword that must come next, in any case of letters.
void expect(TextCursor& in, std::string_view keyword) {
  const std::string_view word = in.word();
  if (!equal_in_any_case(word, keyword)) in.fail(fmt::format("{} where '{}' is expected", shown(word), keyword));
}

// Reads a facet whose first word has been read. Corners are merged with equal ones of other facets.
void read_facet(TextCursor& in, VertexMerger& merger, MeshBuilder& builder) {
  expect(in, "normal");
  // These are passed over as words, since they may be no numbers.
  for (int i = 0; i < 3; ++i) in.word();
  expect(in, "outer");
  expect(in, "loop");
  std::array<std::int32_t, 3> corners;
  for (std::int32_t& corner : corners) {
    expect(in, "vertex");
    Vec3 p;
    for (double& x : p) x = in.number();
    corner = merger.find_or_add(p, builder, in);
  }
  builder.add_triangle(corners[0], corners[1], corners[2], in);
  expect(in, "endloop");
  expect(in, "endfacet");
}

// Reads a text. It may have several solids, one after the other, which become one mesh.
TriangleMesh parse_text(std::string_view bytes, const std::string& file, const LoadLimits& limits) {
  TextCursor in(bytes, file);
  MeshBuilder builder(limits);
  VertexMerger merger;
  while (!in.at_end()) {
    expect(in, "solid");
    in.end_plain_line();  // its name
    std::string_view word = in.word();
    for (; equal_in_any_case(word, "facet"); word = in.word()) read_facet(in, merger, builder);
    if (!equal_in_any_case(word, "endsolid")) {
      in.fail(fmt::format("{} where 'facet' or 'endsolid' is expected", shown(word)));
    }
    in.end_plain_line();
  }
  return std::move(builder).finish(file);
}

// Refuses what is neither a text nor exactly as large as its header says. In a file of another size, nothing tells
// which of the triangles are right.
void check_binary_size(std::string_view bytes, const std::string& file) {
  if (bytes.size() < kHeaderBytes) {
    throw LoadError({file, 0},
                    fmt::format("this is no STL: a text begins with 'solid', and a binary file has at least {} "
                                "bytes, this {}",
                                kHeaderBytes, bytes.size()));
  }
  const std::uint64_t size = binary_size(bytes);
  const std::uint64_t triangles = (size - kHeaderBytes) / kTriangleBytes;
  if (bytes.size() < size) {
    throw LoadError({file, 0},
                    fmt::format("at byte {}: the file is cut off: its header counts {} triangles, {} bytes, of "
                                "which {} are missing",
                                bytes.size(), triangles, size, size - bytes.size()));
  }
  if (bytes.size() > size) {
    throw LoadError({file, 0},
                    fmt::format("at byte {}: {} bytes follow the {} triangles that the header counts; the file "
                                "is damaged",
                                size, bytes.size() - size, triangles));
  }
}

// The point in three little-endian floats.
Vec3 vertex_at(const unsigned char* floats) {
  return {std::bit_cast<float>(get_u32(floats)), std::bit_cast<float>(get_u32(floats + 4)),
          std::bit_cast<float>(get_u32(floats + 8))};
}

// Reads a binary file. The vertices of triangles further on are announced to the table of vertices, which for a large
// mesh is larger than the processor's caches.
TriangleMesh parse_binary(std::string_view bytes, const std::string& file, const LoadLimits& limits) {
  check_binary_size(bytes, file);
  ByteCursor in(bytes, file, kHeaderBytes);
  MeshBuilder builder(limits);
  VertexMerger merger;
  const std::uint64_t triangles = in.left() / kTriangleBytes;
  builder.expect_triangles(triangles, in);
  const auto* first = reinterpret_cast<const unsigned char*>(bytes.data()) + kHeaderBytes;
  for (std::uint64_t i = 0; i < triangles; ++i) {
    if (i + kAhead < triangles) {
      const unsigned char* ahead = first + kTriangleBytes * (i + kAhead) + 12;
      for (int k = 0; k < 3; ++k) merger.announce(vertex_at(ahead + 12 * k));
    }
    in.take(12);  // the normal
    std::array<std::int32_t, 3> corners;
    for (std::int32_t& corner : corners) {
      const Vec3 p = vertex_at(in.take(12));
      // This comes before the point is looked up: a NaN equals nothing, so each one would be a new vertex.
      if (!p.allFinite()) in.fail(fmt::format("a vertex at ({}, {}, {}); it must be finite", p.x(), p.y(), p.z()));
      corner = merger.find_or_add(p, builder, in);
    }
    builder.add_triangle(corners[0], corners[1], corners[2], in);
    in.take(2);  // attributes
  }
  return std::move(builder).finish(file);
}

}  // namespace

TriangleMesh parse_stl(std::string_view bytes, const std::string& file, const LoadLimits& limits) {
  check_mesh_bytes(bytes, file, limits);
  return is_text(bytes, file) ? parse_text(bytes, file, limits) : parse_binary(bytes, file, limits);
}

}  // namespace lithe

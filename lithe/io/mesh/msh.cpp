#include <bit>

#include "lithe/core/internal/little_endian.h"
#include "lithe/io/mesh/builder.h"
#include "lithe/io/mesh/inertia.h"

// MSH, MuJoCo's own format of meshes (not Gmsh's, which has the same ending): binary, little endian,
//
//   counts of vertices, normals, texture coordinates and triangles (four i32)
//   vertices, 3 floats each; normals, 3 each; texture coordinates, 2 each
//   triangles, 3 numbers of vertices (i32) each
//
// Normals and texture coordinates are not read: there are none, or as many as vertices. A file without triangles means the convex hull.
namespace lithe {

using namespace internal;

namespace {

constexpr std::size_t kMshHeaderBytes = 16;
constexpr std::uint64_t kMostHullPoints = 20'000;  // of a file without triangles: what is built in a moment

// The four counts at the beginning of the file.
struct MshCounts {
  std::uint64_t vertices = 0, normals = 0, texcoords = 0, triangles = 0;

  // The size of a file with these counts, to the byte.
  std::uint64_t bytes() const {
    return kMshHeaderBytes + 4 * (3 * vertices + 3 * normals + 2 * texcoords + 3 * triangles);
  }
};

// Reads the counts and holds them against the size of the file. The format has no mark by which it could be recognised,
// so this is also what tells Gmsh's files apart.
MshCounts read_counts(std::string_view bytes, const std::string& file) {
  const auto fail = [&](const std::string& what) { throw LoadError({file, 0}, what); };
  if (bytes.size() < kMshHeaderBytes) {
    fail(fmt::format("this is no MSH of MuJoCo: it begins with four counts, {} bytes, and the file has {}",
                     kMshHeaderBytes, bytes.size()));
  }
  const auto* header = reinterpret_cast<const unsigned char*>(bytes.data());
  const MshCounts counts = {get_u32(header), get_u32(header + 4), get_u32(header + 8), get_u32(header + 12)};
  const bool fits = (counts.normals == 0 || counts.normals == counts.vertices) &&
                    (counts.texcoords == 0 || counts.texcoords == counts.vertices) && counts.bytes() == bytes.size();
  if (!fits) {
    fail(fmt::format(
        "this is no MSH of MuJoCo, or it is damaged: {} vertices, {} normals, {} texture coordinates and {} "
        "triangles would take {} bytes, and the file has {} (Gmsh's files, which end in .msh too, are not read)",
        counts.vertices, counts.normals, counts.texcoords, counts.triangles, counts.bytes(), bytes.size()));
  }
  return counts;
}

}  // namespace

TriangleMesh parse_msh(std::string_view bytes, const std::string& file, const LoadLimits& limits) {
  check_mesh_bytes(bytes, file, limits);
  const MshCounts counts = read_counts(bytes, file);
  ByteCursor in(bytes, file, kMshHeaderBytes);
  MeshBuilder builder(limits);
  builder.expect_vertices(counts.vertices, in);
  builder.expect_triangles(counts.triangles, in);
  for (std::uint64_t i = 0; i < counts.vertices; ++i) {
    const unsigned char* floats = in.take(12);
    const auto coordinate = [&](int k) { return std::bit_cast<float>(get_u32(floats + 4 * k)); };
    builder.add_vertex({coordinate(0), coordinate(1), coordinate(2)}, in);
  }
  // The normals and texture coordinates lie between the vertices and the triangles.
  in.take(4 * (3 * counts.normals + 2 * counts.texcoords));
  for (std::uint64_t i = 0; i < counts.triangles; ++i) {
    const unsigned char* numbers = in.take(12);
    const std::uint32_t corners[] = {get_u32(numbers), get_u32(numbers + 4), get_u32(numbers + 8)};
    for (const std::uint32_t corner : corners) {
      if (corner >= counts.vertices)
        in.fail(fmt::format("triangle {} has the vertex {}, but there are {}", i, corner, counts.vertices));
    }
    builder.add_triangle(static_cast<std::int32_t>(corners[0]), static_cast<std::int32_t>(corners[1]),
                         static_cast<std::int32_t>(corners[2]), in);
  }
  if (counts.triangles == 0) {
    if (counts.vertices > kMostHullPoints) {
      in.fail(
          fmt::format("the mesh has no triangles, which means its convex hull, and {} vertices; at most {} are allowed",
                      counts.vertices, kMostHullPoints));
    }
    for (const auto& [a, b, c] : hull_triangles(builder.mesh().vertices)) builder.add_triangle(a, b, c, in);
  }
  return std::move(builder).finish(file);
}

}  // namespace lithe

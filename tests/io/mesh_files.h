#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/io/mesh.h"

namespace lithe::test {

using Triangles = std::vector<std::array<std::int32_t, 3>>;

// The box between (1, 2, 3) and (2, 4, 6): volume 6, centroid (1.5, 3, 4.5). Vertex i has the larger x, y, z where bit
// 0, 1, 2 of i is set; each side is a quad, anticlockwise seen from outside, and two triangles as a fan around the
// quad's first corner.
std::vector<Vec3> box_vertices();
std::vector<std::array<int, 4>> box_quads();
Triangles box_triangles();
TriangleMesh box_mesh();

// Expects the box: the same vertices in the same order, the same triangles.
void expect_box(const TriangleMesh& mesh);
// Expects the box's surface, with vertices in any order: box, volume and centroid.
void expect_box_solid(const TriangleMesh& mesh);
void expect_same(const TriangleMesh& a, const TriangleMesh& b);
// Indices in range, coordinates finite, and at least one triangle.
bool is_valid(const TriangleMesh& mesh);

// By the divergence theorem, for a closed surface.
double volume(const TriangleMesh& mesh);
Vec3 centroid(const TriangleMesh& mesh);

struct Bounds {
  Vec3 lower, upper;
};
Bounds bounds(const TriangleMesh& mesh);

// Files that hold a mesh. Numbers in texts are exact.
std::string stl_text(const TriangleMesh& mesh);
std::string stl_binary(const TriangleMesh& mesh, std::string_view header = "made by a test");  // 80 bytes of it
std::string obj_text(const TriangleMesh& mesh);
std::string ply_text(const TriangleMesh& mesh);
std::string ply_binary(const TriangleMesh& mesh, bool big_endian);  // doubles, and lists of int with a uchar

// An OBJ file of a tetrahedron.
inline constexpr const char* kTetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

// A Collada file around what stands in <mesh>, shown by one node.
struct Collada {
  std::string asset = "<unit meter='1'/><up_axis>Z_UP</up_axis>";
  std::string surface = {};    // the primitives; their vertices are "#v"
  std::string transform = {};  // of the node
  std::string nodes = {};      // further ones in the scene
  std::string library = {};    // of nodes
};
std::string dae_text(const TriangleMesh& mesh, const Collada& collada);
std::string dae_text(const TriangleMesh& mesh);  // as <triangles>
std::string dae_triangles(const TriangleMesh& mesh);

// Bytes of a value, as a file of that byte order has them.
template <class Value>
void put(std::string& out, Value value, bool big_endian = false) {
  std::array<char, sizeof(Value)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(Value));  // this machine's order: little endian
  if (big_endian) std::reverse(bytes.begin(), bytes.end());
  out.append(bytes.data(), bytes.size());
}

// `text` with the first `what` in it replaced; there must be one.
std::string replaced(std::string text, std::string_view what, std::string_view by);

}  // namespace lithe::test

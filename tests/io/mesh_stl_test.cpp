#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "lithe/io/source_place.h"
#include "tests/io/mesh_files.h"
#include "tests/support/error_text.h"

namespace lithe::test::stl {
namespace {

TriangleMesh parse(const std::string& bytes, const LoadLimits& limits = {}) {
  return parse_stl(bytes, "box.stl", limits);
}

template <class... Parts>
void expect_refused(const std::string& bytes, const Parts&... parts) {
  expect_error([&] { parse(bytes); }, parts...);
}

// Vertices come in the order in which the triangles use them first: 0 4 6 2 1 3 7 5.
TriangleMesh box_as_merged() {
  const std::vector<Vec3> v = box_vertices();
  return {{v[0], v[4], v[6], v[2], v[1], v[3], v[7], v[5]},
          {{0, 1, 2},
           {0, 2, 3},
           {4, 5, 6},
           {4, 6, 7},
           {0, 4, 7},
           {0, 7, 1},
           {3, 2, 6},
           {3, 6, 5},
           {0, 3, 5},
           {0, 5, 4},
           {1, 7, 6},
           {1, 6, 2}}};
}

TEST(Stl, ReadsTextAndMergesEqualVertices) {
  const TriangleMesh mesh = parse(stl_text(box_mesh()));
  expect_same(mesh, box_as_merged());
  expect_box_solid(mesh);
}

TEST(Stl, ReadsBinaryAndMergesEqualVertices) {
  const TriangleMesh mesh = parse(stl_binary(box_mesh()));
  expect_same(mesh, box_as_merged());
  expect_box_solid(mesh);
}

TEST(Stl, BinaryMayBeginWithSolid) {
  expect_same(parse(stl_binary(box_mesh(), "solid box facet normal")), box_as_merged());
}

TEST(Stl, TextMayHaveCapitalsCarriageReturnsAMarkAndSeveralSolids) {
  std::string text = stl_text(box_mesh());
  std::ranges::transform(text, text.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
  std::string dos = "\xEF\xBB\xBF";
  for (const char c : text) dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expect_same(parse(dos), box_as_merged());
  EXPECT_EQ(parse(stl_text(box_mesh()) + stl_text(box_mesh())).triangles.size(), 24u);
}

TEST(Stl, NormalsAreNotRead) {
  expect_same(parse(replaced(stl_text(box_mesh()), "normal 0 0 0", "normal nan -nan inf")), box_as_merged());
  std::string bytes = stl_binary(box_mesh());
  for (int i = 0; i < 12; ++i) bytes[84 + i] = '\xFF';
  expect_same(parse(bytes), box_as_merged());
}

TEST(Stl, NegativeZeroIsZero) {
  const TriangleMesh mesh = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-0.0, -0.0, -0.0}}, {{0, 1, 2}, {3, 2, 1}}};
  EXPECT_EQ(parse(stl_text(mesh)).vertices.size(), 3u);
  EXPECT_EQ(parse(stl_binary(mesh)).vertices.size(), 3u);
}

TEST(Stl, DegenerateTrianglesAreKept) {
  const TriangleMesh mesh = {{{0, 0, 0}, {1, 0, 0}}, {{0, 1, 1}, {0, 0, 0}}};
  const Triangles expected = {{0, 1, 1}, {0, 0, 0}};
  EXPECT_EQ(parse(stl_text(mesh)).triangles, expected);
  EXPECT_EQ(parse(stl_binary(mesh)).triangles, expected);
}

// Many vertices, so that the table of known ones grows often; the expected numbers come from a search.
TEST(Stl, TextAndBinaryGiveTheSameMesh) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  TriangleMesh mesh;
  for (int i = 0; i < 1500; ++i) mesh.vertices.emplace_back(normal(random), normal(random), normal(random));
  for (int i = 0; i < 4000; ++i) {
    mesh.triangles.push_back({});
    for (std::int32_t& corner : mesh.triangles.back()) corner = static_cast<std::int32_t>(random() % 1500);
  }
  TriangleMesh expected;
  for (const auto& triangle : mesh.triangles) {
    expected.triangles.push_back({});
    for (int k = 0; k < 3; ++k) {
      const Vec3& p = mesh.vertices[triangle[k]];
      const auto found = std::ranges::find(expected.vertices, p);
      expected.triangles.back()[k] = static_cast<std::int32_t>(found - expected.vertices.begin());
      if (found == expected.vertices.end()) expected.vertices.push_back(p);
    }
  }
  expect_same(parse(stl_text(mesh)), expected);
  expect_same(parse(stl_binary(mesh)), expected);
}

TEST(Stl, ACountThatTheFileCannotHoldSaysWhatIsMissing) {
  std::string bytes = stl_binary(box_mesh()).substr(0, 100);
  bytes.replace(80, 4, "\xFF\xFF\xFF\xFF");
  // 84 + 50·4294967295 bytes, of which 100 are there.
  expect_refused(bytes, "box.stl: error: at byte 100: ", "4294967295 triangles", "214748364834 bytes",
                 "214748364734 are missing");
}

TEST(Stl, RefusesTooMuchAndTooLittle) {
  const std::string bytes = stl_binary(box_mesh());
  expect_refused(bytes.substr(0, bytes.size() - 1), "at byte 683", "1 are missing");
  expect_refused(bytes + "xyz", "at byte 684", "3 bytes follow the 12 triangles");
  expect_refused("", "box.stl: error: the file is empty");
  expect_refused("This is not a valid STL file.\n", "no STL", "84 bytes, this 30");
  expect_refused(stl_binary({}), "no triangle");
  expect_refused("solid nothing\nendsolid nothing\n", "no triangle");
  // A cut-off binary file that begins with "solid" is not taken for a text.
  expect_refused(stl_binary(box_mesh(), "solid").substr(0, 300), "at byte 300", "384 are missing");
}

TEST(Stl, ErrorsInATextGiveTheLine) {
  const std::string text = stl_text(box_mesh());
  expect_refused(replaced(text, "vertex 1 2 3", "vertex 1 2 x"), "box.stl:4: error: 'x' where a number is expected");
  expect_refused(replaced(text, "vertex 1 2 6", "vertex 1 nan 6"), "box.stl:5: error: 'nan' where a finite number");
  expect_refused(replaced(text, "vertex 1 2 6", "vertex 1 1e999 6"), "box.stl:5: error: '1e999' where a finite number");
  expect_refused(replaced(text, "vertex 1 2 6", "vertex 1 2"), "box.stl:6: error: 'vertex' where a number is expected");
  expect_refused(replaced(text, "endloop", "vertex 0 0 0"), "box.stl:7: error: 'vertex' where 'endloop'");
  expect_refused(replaced(text, "facet normal", "facet normla"), "box.stl:2: error: 'normla' where 'normal'");
  expect_refused(replaced(text, "outer", "inner"), "box.stl:3: error: 'inner' where 'outer'");
  expect_refused(text.substr(0, text.find("endsolid")), "box.stl:86: error: the end where 'facet' or 'endsolid'");
  expect_refused(text + "more", "box.stl:87: error: 'more' where 'solid' is expected");
}

TEST(Stl, ErrorsInABinaryFileGiveTheByte) {
  std::string bytes = stl_binary(box_mesh());
  std::string infinite;
  put(infinite, std::numeric_limits<float>::infinity());
  // The third corner of the second triangle: 84 + 50 + 12 + 24.
  bytes.replace(170, 4, infinite);
  expect_refused(bytes, "box.stl: error: at byte 170: a vertex at (inf, 4, 3)");
}

TEST(Stl, KeepsToTheLimits) {
  const std::string text = stl_text(box_mesh()), bytes = stl_binary(box_mesh());
  const LoadLimits enough = {.mesh_bytes = 2000, .mesh_vertices = 8, .mesh_triangles = 12};
  expect_same(parse(bytes, enough), box_as_merged());
  expect_error([&] { parse(bytes, {.mesh_triangles = 11}); }, "12 triangles",
               "; 11 are allowed for all meshes together", "LoadLimits::mesh_triangles");
  expect_error([&] { parse(text, {.mesh_triangles = 11}); }, "12 triangles", "; 11 are allowed for all meshes together",
               "LoadLimits::mesh_triangles");
  expect_error([&] { parse(bytes, {.mesh_vertices = 7}); }, "8 vertices", "; 7 are allowed for all meshes together",
               "LoadLimits::mesh_vertices");
  expect_error([&] { parse(text, {.mesh_vertices = 7}); }, "8 vertices", "; 7 are allowed for all meshes together",
               "LoadLimits::mesh_vertices");
  expect_error([&] { parse(bytes, {.mesh_bytes = 683}); }, "684 bytes", "LoadLimits::mesh_bytes");
}

}  // namespace
}  // namespace lithe::test::stl

#include <Eigen/Geometry>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/io/mesh_files.h"
#include "tests/support/error_text.h"

namespace lithe::test::obj {
namespace {

TriangleMesh parse(const std::string& text, const LoadLimits& limits = {}) {
  return parse_obj(text, "box.obj", limits);
}

template <class... Parts>
void expect_refused(const std::string& text, const Parts&... parts) {
  expect_error([&] { parse(text); }, parts...);
}

const std::string kVertices = obj_text({box_vertices(), {}});  // 8 lines

// The box by quads; `corner` writes the number of a vertex that counts from 0.
template <class Corner>
std::string quads(Corner corner) {
  std::string text;
  for (const auto& quad : box_quads()) {
    text += "f";
    for (const int i : quad) {
      text += ' ';
      text += corner(i);
    }
    text += "\n";
  }
  return text;
}

TEST(Obj, ReadsTriangles) { expect_box(parse(obj_text(box_mesh()))); }

TEST(Obj, PolygonsBecomeFans) {
  expect_box(parse(kVertices + quads([](int i) { return fmt::format("{}", i + 1); })));
}

TEST(Obj, CornersMayHaveTexturesAndNormals) {
  expect_box(parse(kVertices + quads([](int i) { return fmt::format("{}/7", i + 1); })));
  expect_box(parse(kVertices + quads([](int i) { return fmt::format("{}//3", i + 1); })));
  expect_box(parse(kVertices + quads([](int i) { return fmt::format("{}/-2/-1", i + 1); })));
}

TEST(Obj, NegativeNumbersCountBackFromTheLastVertex) {
  expect_box(parse(kVertices + quads([](int i) { return fmt::format("{}", i - 8); })));
  // Vertices that come later do not change what was meant.
  const std::string faces = quads([](int i) { return fmt::format("{}/{}", i - 8, i - 8); });
  expect_box(parse(kVertices + faces + "v 9 9 9\n"));
}

TEST(Obj, VerticesMayFollowFaces) {
  expect_box(parse(quads([](int i) { return fmt::format("{}", i + 1); }) + kVertices));
}

TEST(Obj, GroupsCommentsNormalsAndMaterialsArePassedOver) {
  const std::string faces = quads([](int i) { return fmt::format("{}//1", i + 1); });
  expect_box(parse("# made by hand C:\\\nmtllib box.mtl\no box\n" + kVertices +
                   "vn 0 0 nan\nvt 0 0\ng side \\\n top\nusemtl red\ns off\n\n  \t\n" + faces + "l 1 2\np 1\n#"));
}

TEST(Obj, AVertexMayHaveAWeightOrAColour) {
  EXPECT_EQ(parse("v 1 2 3 1\nv 4 5 6 0.1 0.2 0.3\nv 7 8 9 # red\nf 1 2 3 # the one\nf 3 2 1").vertices,
            (std::vector<Vec3>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}));
}

TEST(Obj, LinesGoOnAfterABackslash) {
  const TriangleMesh mesh =
      parse("v 0 \\\n 0 0\nv 1\\\r\n 0 0\nv 0 1 0\\\n\nvn 1 \\\n 0 0\nf 1 \\\n2\\\n 3\nf 3 2 1\n");
  EXPECT_EQ(mesh.vertices, (std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
  EXPECT_EQ(mesh.triangles, (Triangles{{0, 1, 2}, {2, 1, 0}}));
}

TEST(Obj, ABackslashInACommentMeansNothing) {
  EXPECT_EQ(parse("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 # see C:\\\nf 3 2 1\n").triangles.size(), 2u);
}

TEST(Obj, LinesMayEndInAnyWay) {
  for (const std::string_view end : {"\n", "\r\n", "\r"}) {
    std::string text = "\xEF\xBB\xBF";
    for (const char c : obj_text(box_mesh())) text += c == '\n' ? std::string(end) : std::string(1, c);
    expect_box(parse(text));
    const std::string wrong = fmt::format("v 0 0 0{0}v 0 0 1{0}{0}v 0 1 z{0}", end);
    expect_refused(wrong, "box.obj:4: error: 'z' where a number is expected");
  }
}

TEST(Obj, VerticesThatNoFaceUsesAreLeftOut) {
  const TriangleMesh mesh = parse("v 9 9 9\nv 0 0 0\nv 1 0 0\nv 8 8 8\nv 0 1 0\nf 2 3 5\n");
  EXPECT_EQ(mesh.vertices, (std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
  EXPECT_EQ(mesh.triangles, (Triangles{{0, 1, 2}}));
}

TEST(Obj, NumbersAreExactAndWithoutLocale) {
  const TriangleMesh mesh = parse("v +1.5 -2.5e-3 .25\nv 1e-400 4. 0\nv 0 0 1e308\nf 1 2 3\n");
  EXPECT_EQ(mesh.vertices, (std::vector<Vec3>{{1.5, -2.5e-3, 0.25}, {0, 4, 0}, {0, 0, 1e308}}));
}

TEST(Obj, ErrorsGiveTheLine) {
  expect_refused(kVertices + "f 1 2 9\n", "box.obj:9: error: a face uses vertex 9, but the file has 8");
  expect_refused(kVertices + "f 1 2 99999999999\n", "box.obj:9: error: a face uses vertex 99999999999");
  expect_refused(kVertices + "f 1 2 -9\n", "box.obj:9: error: a face uses vertex -9, but there are 8 so far");
  expect_refused(kVertices + "f 0 1 2\n", "box.obj:9: error: a face uses vertex 0, but vertices count from 1");
  expect_refused(kVertices + "f 1 2\n", "box.obj:9: error: a face with 2 corners");
  expect_refused(kVertices + "f\n", "box.obj:9: error: a face with 0 corners");
  expect_refused(kVertices + "f 1 2 3.5\n", "box.obj:9: error: '3.5' where a face's corner");
  expect_refused(kVertices + "f 1 2 3/1/1/1\n", "box.obj:9: error: '3/1/1/1' where a face's corner");
  expect_refused(kVertices + "f 1 2 3/a\n", "box.obj:9: error: '3/a' where a face's corner");
  expect_refused(kVertices + "\nv 1 2\n", "box.obj:10: error: the end where a number is expected");
  expect_refused(kVertices + "v 1 2 NaN\n", "box.obj:9: error: 'NaN' where a finite number");
  expect_refused(kVertices + "v 1 2 1e309\n", "box.obj:9: error: '1e309' where a finite number");
  expect_refused(kVertices + "v 1 2 3,5\n", "box.obj:9: error: '3,5' where a number is expected");
  expect_refused(kVertices + "vertex 1 2 3\n", "box.obj:9: error: 'vertex' is no keyword");
  expect_refused(kVertices + "cstype bezier\n", "box.obj:9: error: 'cstype'", "as polygons");
  expect_refused(kVertices + std::string("\0\x01zz", 4), "box.obj:9: error: '\\x00\\x01zz' is no keyword");
  expect_refused(kVertices, "box.obj: error: the mesh has no triangle");
  expect_refused("", "box.obj: error: the file is empty");
  expect_refused("\xFF\xFEv\0", "box.obj:1: error: the text is UTF-16");
}

TEST(Obj, KeepsToTheLimits) {
  const std::string text = obj_text(box_mesh());
  expect_box(parse(text, {.mesh_vertices = 8, .mesh_triangles = 12}));
  expect_error([&] { parse(text, {.mesh_vertices = 7}); }, "box.obj:8: ", "; 7 are allowed for all meshes together",
               "LoadLimits::mesh_vertices");
  expect_error([&] { parse(text, {.mesh_triangles = 11}); }, "box.obj:20: ", "; 11 are allowed for all meshes together",
               "LoadLimits::mesh_triangles");
  expect_error([&] { parse(text, {.mesh_bytes = 10}); }, "LoadLimits::mesh_bytes");
}

TEST(Mesh, TheEndingOfTheNameSaysTheFormat) {
  EXPECT_EQ(parse_mesh(stl_text(box_mesh()), "a.b/c.STL").triangles.size(), 12u);
  expect_box(parse_mesh(obj_text(box_mesh()), "c.Obj"));
  expect_box(parse_mesh(ply_text(box_mesh()), "/x/c.ply"));
  expect_box(parse_mesh(dae_text(box_mesh()), "c.dae"));
  expect_error([] { parse_mesh("x", "robot/part.3ds"); }, "robot/part.3ds: error: ", "'.3ds'",
               ".stl, .obj, .ply or .dae");
  expect_error([] { parse_mesh("x", "robot.obj/part"); }, "robot.obj/part: error: ", ".stl, .obj, .ply or .dae");
}

// An L seen from above, from its inner corner on: a fan around that would count parts of it with the wrong sign.
TEST(MeshObj, CutsPolygonsThatAreNotConvexIntoTrianglesThatLieSideBySide) {
  const TriangleMesh mesh = parse("v 0 0 0\nv 3 0 0\nv 3 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\nf 6 1 2 3 4 5\n");
  ASSERT_EQ(mesh.triangles.size(), 4u);
  double area = 0;
  for (const auto& [a, b, c] : mesh.triangles) {
    const double twice = (mesh.vertices[b] - mesh.vertices[a]).cross(mesh.vertices[c] - mesh.vertices[a]).z();
    EXPECT_GT(twice, 0);
    area += 0.5 * twice;
  }
  EXPECT_DOUBLE_EQ(area, 5);
}

TEST(MeshObj, CutsQuadranglesAlongTheShorterDiagonal) {
  const TriangleMesh mesh = parse("v 0 0 0\nv 1 0 1\nv 3 3 0\nv 0 1 1\nf 1 2 3 4\n");
  EXPECT_EQ(mesh.triangles, (Triangles{{0, 1, 3}, {1, 2, 3}}));
}

TEST(MeshObj, LeavesAFanWhereAPolygonIsNoSimpleOne) {
  const TriangleMesh mesh = parse("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nv 4 0 0\nf 1 2 3 4 5\n");
  EXPECT_EQ(mesh.triangles, (Triangles{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}}));
}

}  // namespace
}  // namespace lithe::test::obj

#include <Eigen/Geometry>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numbers>

#include "tests/io/mesh_files.h"
#include "tests/support/error_text.h"

namespace lithe::test::dae {
namespace {

TriangleMesh parse(const std::string& text, const LoadLimits& limits = {}) {
  return parse_dae(text, "box.dae", limits);
}

template <class... Parts>
void expect_refused(const std::string& text, const Parts&... parts) {
  expect_error([&] { parse(text); }, parts...);
}

constexpr std::string_view kInput = "<input semantic='VERTEX' source='#v' offset='0'/>";

std::string with_surface(const std::string& surface) { return dae_text(box_mesh(), {.surface = surface}); }
std::string with_transform(const std::string& transform) {
  return dae_text(box_mesh(), {.surface = dae_triangles(box_mesh()), .transform = transform});
}

// Where the box's vertices are after a map.
template <class Map>
void expect_mapped(const TriangleMesh& mesh, Map map) {
  ASSERT_EQ(mesh.vertices.size(), 8u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_LT((mesh.vertices[i] - map(box_vertices()[i])).norm(), 1e-14) << mesh.vertices[i].transpose();
  }
}

TEST(Dae, ReadsTriangles) { expect_box(parse(dae_text(box_mesh()))); }

TEST(Dae, ReadsOneOfSeveralIndicesPerCorner) {
  std::string indices;
  for (const auto& triangle : box_triangles()) {
    for (const std::int32_t i : triangle) indices += fmt::format("99 {} 7 ", i);
  }
  expect_box(
      parse(with_surface(fmt::format("<triangles count='12'><input semantic='NORMAL' source='#n' offset='0'/>"
                                     "<input semantic='VERTEX' source='#v' offset='1'/>"
                                     "<input semantic='TEXCOORD' source='#t' offset='2' set='0'/>"
                                     "<p>{}</p></triangles>",
                                     indices))));
}

TEST(Dae, ReadsPolylistAndPolygons) {
  std::string list, polygons;
  for (const auto& [a, b, c, d] : box_quads()) {
    list += fmt::format("{} {} {} {} ", a, b, c, d);
    polygons += fmt::format("<p>{} {} {} {}</p>", a, b, c, d);
  }
  expect_box(parse(with_surface(
      fmt::format("<polylist count='6'>{}<vcount>4 4 4 4 4 4</vcount><p>{}</p></polylist>", kInput, list))));
  expect_box(parse(with_surface(fmt::format("<polygons count='6'>{}{}</polygons>", kInput, polygons))));
}

TEST(Dae, ReadsStripsAndFans) {
  // A strip around the four sides, and a fan for each of the other two.
  const std::string strip = fmt::format("<tristrips count='1'>{}<p>0 4 2 6 3 7 1 5 0 4</p></tristrips>", kInput);
  const std::string ends = fmt::format("<trifans count='2'>{}<p>0 2 3 1</p><p>4 5 7 6</p></trifans>", kInput);
  // The strip's order must give outward normals; 0 4 2 is (0, 4, 2): the side -x, seen from outside anticlockwise.
  const TriangleMesh mesh = parse(with_surface(strip + ends));
  EXPECT_EQ(mesh.triangles.size(), 12u);
  EXPECT_EQ(mesh.triangles[0], (std::array<std::int32_t, 3>{0, 4, 2}));
  EXPECT_EQ(mesh.triangles[1], (std::array<std::int32_t, 3>{2, 4, 6}));
  expect_box_solid(mesh);
}

TEST(Dae, SeveralPrimitivesShareTheirVertices) {
  TriangleMesh first = box_mesh(), second = box_mesh();
  first.triangles.resize(5);
  second.triangles.erase(second.triangles.begin(), second.triangles.begin() + 5);
  expect_box(parse(with_surface(dae_triangles(first) + "<lines count='1'><p>0 1</p></lines>" + dae_triangles(second))));
}

TEST(Dae, AccessorsHaveStrideOffsetAndNames) {
  std::string numbers = "77 77";
  for (const Vec3& p : box_vertices()) numbers += fmt::format(" {} 55 {} {} 66", p.z(), p.x(), p.y());
  std::string text = dae_text(box_mesh());
  const std::size_t begin = text.find("<float_array"), end = text.find("</technique_common>");
  text.replace(begin, end - begin,
               fmt::format("<float_array id='a' count='42'>{}</float_array><technique_common>"
                           "<accessor source='#a' count='8' offset='2' stride='5'><param name='Z'/>"
                           "<param/><param name='X'/><param name='Y'/></accessor>",
                           numbers));
  expect_box(parse(text));
}

TEST(Dae, UnitAndUpAxisBecomeMetresAndZUp) {
  const std::string surface = dae_triangles(box_mesh());
  const auto with_asset = [&](const std::string& asset) {
    return parse(dae_text(box_mesh(), {.asset = asset, .surface = surface}));
  };
  const TriangleMesh y_up = with_asset("<unit name='centimeter' meter='0.01'/><up_axis>Y_UP</up_axis>");
  expect_mapped(y_up, [](const Vec3& p) { return Vec3(0.01 * p.x(), -0.01 * p.z(), 0.01 * p.y()); });
  EXPECT_NEAR(volume(y_up), 6e-6, 1e-18);
  EXPECT_LT((centroid(y_up) - Vec3(0.015, -0.045, 0.03)).norm(), 1e-15);
  const TriangleMesh x_up = with_asset("<up_axis> X_UP </up_axis>");
  expect_mapped(x_up, [](const Vec3& p) { return Vec3(-p.y(), -p.z(), p.x()); });
  EXPECT_NEAR(volume(x_up), 6, 1e-13);
  // The format's defaults.
  expect_mapped(with_asset(""), [](const Vec3& p) { return Vec3(p.x(), -p.z(), p.y()); });
}

TEST(Dae, TransformsApplyInTheOrderTheyAreWritten) {
  expect_mapped(parse(with_transform("<translate>10 0 0</translate><rotate>0 0 2 90</rotate><scale>1 2 3</scale>")),
                [](const Vec3& p) { return Vec3(10 - 2 * p.y(), p.x(), 3 * p.z()); });
  expect_mapped(
      parse(with_transform("<scale>1 2 3</scale><rotate sid='r'>0 0 1 450</rotate><translate>10 0 0</translate>")),
      [](const Vec3& p) { return Vec3(-p.y(), 2 * (p.x() + 10), 3 * p.z()); });
  expect_mapped(parse(with_transform("<matrix>0 -1 0 5  1 0 0 6  0 0 2 7  0 0 0 1</matrix>")),
                [](const Vec3& p) { return Vec3(5 - p.y(), 6 + p.x(), 7 + 2 * p.z()); });
  const Eigen::AngleAxisd turn(std::numbers::pi / 180 * 37, Vec3(1, 2, 2) / 3);
  expect_mapped(parse(with_transform("<rotate>1 2 2 37</rotate>")), [&](const Vec3& p) { return turn * p; });
}

TEST(Dae, MirroredGeometryKeepsItsOutside) {
  const TriangleMesh mesh = parse(with_transform("<scale>-1 1 1</scale>"));
  expect_mapped(mesh, [](const Vec3& p) { return Vec3(-p.x(), p.y(), p.z()); });
  EXPECT_NEAR(volume(mesh), 6, 1e-13);
  EXPECT_NEAR(volume(parse(with_transform("<scale>-1 -1 1</scale>"))), 6, 1e-13);
}

TEST(Dae, NodesShowGeometriesAndOtherNodes) {
  const std::string library =
      "<node id='pair'><translate>100 0 0</translate><instance_geometry url='#g'/>"
      "<node><translate>0 100 0</translate><instance_geometry url='#g'/></node></node>";
  const std::string nodes =
      "<node><translate>0 0 1000</translate><instance_node url='#pair'/><instance_camera url='#c'/></node>"
      "<node><scale>2 2 2</scale><instance_node url='#pair'/></node>";
  const TriangleMesh mesh =
      parse(dae_text(box_mesh(), {.surface = dae_triangles(box_mesh()), .nodes = nodes, .library = library}));
  ASSERT_EQ(mesh.vertices.size(), 5 * 8u);
  EXPECT_NEAR(volume(mesh), 6 * (1 + 2 + 2 * 8), 1e-6);
  const Vec3 p = box_vertices()[0];
  EXPECT_EQ(mesh.vertices[0], p);
  EXPECT_EQ(mesh.vertices[8], p + Vec3(100, 0, 1000));
  EXPECT_EQ(mesh.vertices[16], p + Vec3(100, 100, 1000));
  EXPECT_EQ(mesh.vertices[24], 2 * (p + Vec3(100, 0, 0)));
  EXPECT_EQ(mesh.vertices[32], 2 * (p + Vec3(100, 100, 0)));
}

TEST(Dae, WithoutASceneEverythingIsShown) {
  std::string text = replaced(with_transform("<translate>1 0 0</translate>"), "<scene>", "<extra>");
  text = replaced(text, "</scene>", "</extra>");
  expect_mapped(parse(text), [](const Vec3& p) { return Vec3(p + Vec3(1, 0, 0)); });
  const std::size_t begin = text.find("<library_visual_scenes>"), end = text.find("<extra>");
  expect_box(parse(text.erase(begin, end - begin)));
}

TEST(Dae, VerticesThatNoTriangleUsesAreLeftOut) {
  TriangleMesh more = box_mesh();
  more.vertices.insert(more.vertices.begin(), Vec3(9, 9, 9));
  for (auto& triangle : more.triangles) {
    for (std::int32_t& i : triangle) ++i;
  }
  expect_box(parse(dae_text(more)));
}

TEST(Dae, CyclesAreRefused) {
  const std::string cycle =
      "<node id='a'><instance_node url='#b'/></node><node id='b'><node><instance_node url='#a'/></node></node>";
  expect_refused(dae_text(box_mesh(), {.surface = dae_triangles(box_mesh()),
                                       .nodes = "<node><instance_node url='#a'/></node>",
                                       .library = cycle}),
                 "box.dae:", "the node '#a' shows itself");
  expect_refused(dae_text(box_mesh(), {.surface = dae_triangles(box_mesh()),
                                       .nodes = "<node id='self'><instance_node url='#self'/></node>"}),
                 "shows itself");
}

// Each of 40 nodes shows the next one twice: 2^40 in all.
TEST(Dae, ASmallFileCannotAskForEndlessWork) {
  std::string library;
  for (int i = 0; i < 40; ++i) {
    library += fmt::format("<node id='n{0}'><instance_node url='#n{1}'/><instance_node url='#n{1}'/></node>", i, i + 1);
  }
  library += "<node id='n40'/>";
  const std::string nodes = "<node><instance_node url='#n0'/></node>";
  expect_refused(dae_text(box_mesh(), {.surface = dae_triangles(box_mesh()), .nodes = nodes, .library = library}),
                 "LoadLimits::elements");

  std::string chain;
  for (int i = 0; i < 2000; ++i) chain += fmt::format("<node id='n{}'><instance_node url='#n{}'/></node>", i, i + 1);
  chain += "<node id='n2000'/>";
  expect_refused(dae_text(box_mesh(), {.surface = dae_triangles(box_mesh()), .nodes = nodes, .library = chain}),
                 "more than 500 deep");
}

TEST(Dae, RefusesTransformsItCannotRead) {
  expect_refused(with_transform("<lookat>0 0 0 1 0 0 0 0 1</lookat>"), "box.dae:", "<lookat> is not read");
  expect_refused(with_transform("<skew>45 0 1 0 1 0 0</skew>"), "<skew> is not read");
  expect_refused(with_transform("<rotate>0 0 0 90</rotate>"), "the axis of <rotate> is 0 0 0");
  expect_refused(with_transform("<rotate>0 0 1</rotate>"), "4 numbers");
  expect_refused(with_transform("<scale>1 1</scale>"), "3 numbers");
  expect_refused(with_transform("<matrix>1 0 0 0  0 1 0 0  0 0 1 0  0 0 0 2</matrix>"), "must be 0 0 0 1");
  expect_refused(with_transform("<scale>1e308 1e308 1e308</scale>"), "a vertex at (", "must be finite");
  // A camera may look where it wants.
  expect_box(parse(dae_text(
      box_mesh(), {.surface = dae_triangles(box_mesh()), .nodes = "<node><lookat>0 0 0 1 0 0 0 0 1</lookat></node>"})));
}

TEST(Dae, ErrorsGiveTheLine) {
  const std::string text = dae_text(box_mesh());
  expect_refused("", "box.dae: error: the file is empty");
  expect_refused(replaced(text, "1.4.1", "1.3.0"), "box.dae:2: error: Collada '1.3.0' is not read");
  expect_refused("<robot/>", "box.dae:1: error: 'robot' where COLLADA is expected");
  expect_refused(replaced(text, "Z_UP", "UP"), "box.dae:3: error: <up_axis> is 'UP'");
  expect_refused(replaced(text, "meter='1'", "meter='0'"), "box.dae:3: error: attribute meter of <unit> is 0");
  expect_refused(replaced(text, "meter='1'", "meter='-1'"), "box.dae:3: error: attribute meter of <unit> is -1");
  expect_refused(replaced(text, "2 2 3", "2 x 3"), "box.dae:5: error: 'x' where a number is expected (at character 9");
  expect_refused(replaced(text, "2 2 3", "2 nan 3"), "box.dae:5: error: 'nan' where a finite number");
  expect_refused(replaced(text, "2 4 6\n", ""), "box.dae:5: error: ", "the array is cut off");
  expect_refused(replaced(text, "2 4 6\n", "66666 4"), "box.dae:5: error: the end where a number");
  expect_refused(replaced(text, "count=\"8\"", "count=\"2000000000\""), "box.dae:5: error: the array is cut off",
                 "6000000000 numbers");
  expect_refused(replaced(text, "count=\"8\"", "count=\"-8\""), "box.dae:", "is -8; it must not be negative");
  expect_refused(replaced(text, "stride=\"3\"", "stride=\"2\""), "the accessor's stride is 2");
  expect_refused(replaced(text, "stride=\"3\"", ""), "the accessor's stride is 1");
  expect_refused(replaced(text, "0 4 6 ", "0 4 8 "), "a face uses vertex 8, but they are 0 to 7");
  expect_refused(replaced(text, "0 4 6 ", "0 -4 6 "), "a face uses vertex -4");
  expect_refused(replaced(text, "0 4 6 ", "0 1.5 6 "), "'1.5' where a whole number is expected");
  expect_refused(replaced(text, "0 4 6 ", "0 4 "), "the list is cut off: the count asks for 36 corners");
  expect_refused(replaced(text, "0 4 6 0", "0 4 00000"), "the end where a whole number is expected");
  expect_refused(replaced(text, "<p>0", "<p>0 0 0 0"), "more indices follow than the count says");
  expect_refused(replaced(text, "count='12'", "count='2000000000'"), "the list is cut off", "6000000000 corners");
  expect_refused(replaced(text, "count='12'", "count='11'"), "more indices follow than the count says");
  expect_refused(replaced(text, "count='12'", "count='0'"), "more indices follow than the count says");
  expect_refused(replaced(text, "count='12'", ""), "<triangles> needs the attribute count");
  expect_refused(replaced(text, "offset='0'", "offset='2000000000'"), "the list is cut off", "2000000001 numbers");
  expect_refused(replaced(text, "semantic='VERTEX'", "semantic='NORMAL'"), "<triangles> needs an <input>");
  expect_refused(replaced(text, "\"POSITION\"", "\"NORMAL\""), "semantic POSITION");
  expect_refused(with_surface(""), "box.dae: error: the mesh has no triangle");
}

TEST(Dae, ReferencesMustLeadSomewhere) {
  const std::string text = dae_text(box_mesh());
  expect_refused(replaced(text, "url=\"#g\"", "url=\"#h\""), "<instance_geometry> is '#h', but no <geometry>");
  expect_refused(replaced(text, "url=\"#g\"", "url=\"other.dae#g\""),
                 "is 'other.dae#g', but no <geometry> of this file");
  expect_refused(replaced(text, "url=\"#g\"", ""), "<instance_geometry> needs the attribute url");
  expect_refused(replaced(text, "url=\"#scene\"", "url=\"#s\""), "no <visual_scene>");
  expect_refused(replaced(text, "source='#v'", "source='#s'"), "no <vertices>");
  expect_refused(replaced(text, "source=\"#s\"", "source=\"#v\""), "no <source>");
  expect_refused(replaced(text, "source=\"#a\"", "source=\"#s\""), "no <float_array>");
  expect_refused(
      replaced(text, "<library_nodes>", "<library_geometries><geometry id='g'/></library_geometries><library_nodes>"),
      "more than one <geometry>");
  expect_refused(
      dae_text(box_mesh(), {.surface = dae_triangles(box_mesh()), .nodes = "<node><instance_node url='#x'/></node>"}),
      "<instance_node> is '#x', but no <node>");
  expect_refused(replaced(text, "<instance_geometry url=\"#g\"/>", "<instance_controller url='#c'/>"),
                 "skins and morphs");
  expect_refused(replaced(text, "<geometry id=\"g\">", "<geometry id=\"g\"><brep/>"), "<brep> is not read");
}

TEST(Dae, RefusesDamagedPolygons) {
  const auto polylist = [](std::string_view count, std::string_view sizes, std::string_view p) {
    return with_surface(
        fmt::format("<polylist count='{}'>{}<vcount>{}</vcount><p>{}</p></polylist>", count, kInput, sizes, p));
  };
  EXPECT_EQ(parse(polylist("2", "3 4", "0 1 2 3 4 5 6")).triangles.size(), 3u);
  expect_refused(polylist("2", "3", "0 1 2 3 4 5 6"), "the end where a whole number");
  expect_refused(polylist("2", "3 3 3", "0 1 2 3 4 5"), "more numbers follow than the count says");
  expect_refused(polylist("2", "3 3", "0 1 2 3 4 5 6"), "more indices follow than the count says");
  expect_refused(polylist("1", "2", "0 1 2"), "a face with 2 corners");
  expect_refused(polylist("1", "-3", "0 1 2"), "a face with 0 corners");
  expect_refused(polylist("1", "9000000000000000000", "0 1 2"), "the end where a whole number");
  expect_refused(with_surface(fmt::format("<polygons count='2'>{}<p>0 1 2</p></polygons>", kInput)),
                 "is 2, but it has 1 <p>");
  expect_refused(with_surface(fmt::format("<polygons count='1'>{}<ph><p>0 1 2</p></ph></polygons>", kInput)),
                 "with holes");
  expect_refused(with_surface(fmt::format("<trifans count='1'>{}<p>0 1</p></trifans>", kInput)),
                 "a face with 2 corners");
}

TEST(Dae, KeepsToTheLimits) {
  const std::string text = dae_text(box_mesh());
  expect_box(parse(text, {.mesh_vertices = 8, .mesh_triangles = 12}));
  expect_error([&] { parse(text, {.mesh_vertices = 7}); }, "8 vertices", "; 7 are allowed for all meshes together",
               "LoadLimits::mesh_vertices");
  expect_error([&] { parse(text, {.mesh_triangles = 11}); }, "12 triangles", "; 11 are allowed for all meshes together",
               "LoadLimits::mesh_triangles");
  expect_error([&] { parse(text, {.mesh_bytes = 10}); }, "LoadLimits::mesh_bytes");
  expect_error([&] { parse(text, {.elements = 10}); }, "LoadLimits::elements");
  const std::string twice = dae_text(
      box_mesh(), {.surface = dae_triangles(box_mesh()), .nodes = "<node><instance_geometry url='#g'/></node>"});
  expect_error([&] { parse(twice, {.mesh_vertices = 15}); }, "16 vertices");
  expect_error([&] { parse(twice, {.mesh_triangles = 23}); }, "24 triangles");
}

// Sources that use the last numbers of one array each: reading it for every one of them would cost the square of the
// file's size.
TEST(Dae, ManySourcesCannotReadALongArrayEach) {
  std::string zeros;
  for (int i = 0; i < 100'000; ++i) zeros += "0 ";
  std::string sources, primitives;
  for (int i = 0; i < 3000; ++i) {
    sources += fmt::format(
        "<source id='s{0}'><technique_common><accessor source='#a' count='1' stride='3' offset='99997'/>"
        "</technique_common></source><vertices id='v{0}'><input semantic='POSITION' source='#s{0}'/>"
        "</vertices>",
        i);
    primitives += fmt::format(
        "<triangles count='1'><input semantic='VERTEX' source='#v{}' offset='0'/><p>0 0 0</p>"
        "</triangles>",
        i);
  }
  expect_refused(
      fmt::format("<COLLADA version='1.5.0'><library_geometries><geometry id='g'><mesh><source id='s'><float_array "
                  "id='a' count='100000'>{}</float_array></source>{}{}</mesh></geometry></library_geometries>"
                  "</COLLADA>",
                  zeros, sources, primitives),
      "too many sources read this array");
}

}  // namespace
}  // namespace lithe::test::dae

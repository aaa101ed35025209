#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/io/mesh_files.h"
#include "tests/support/error_text.h"

namespace lithe::test::ply {
namespace {

TriangleMesh parse(const std::string& bytes, const LoadLimits& limits = {}) {
  return parse_ply(bytes, "box.ply", limits);
}

template <class... Parts>
void expect_refused(const std::string& bytes, const Parts&... parts) {
  expect_error([&] { parse(bytes); }, parts...);
}

TEST(Ply, ReadsText) { expect_box(parse(ply_text(box_mesh()))); }
TEST(Ply, ReadsLittleEndian) { expect_box(parse(ply_binary(box_mesh(), false))); }
TEST(Ply, ReadsBigEndian) { expect_box(parse(ply_binary(box_mesh(), true))); }

TEST(Ply, TextAndBinaryGiveTheSameMesh) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  TriangleMesh mesh;
  for (int i = 0; i < 300; ++i) mesh.vertices.emplace_back(normal(random), normal(random), normal(random));
  for (int i = 0; i < 298; ++i) mesh.triangles.push_back({i, i + 1, i + 2});  // uses all
  for (int i = 0; i < 300; ++i) mesh.triangles.push_back({static_cast<std::int32_t>(random() % 300), 7, 299});
  expect_same(parse(ply_text(mesh)), mesh);
  expect_same(parse(ply_binary(mesh, false)), mesh);
  expect_same(parse(ply_binary(mesh, true)), mesh);
}

TEST(Ply, PolygonsBecomeFans) {
  std::string text =
      "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
      "element face 6\nproperty list uchar uint vertex_index\nend_header\n";
  for (const Vec3& p : box_vertices()) text += fmt::format("{} {} {}\n", p.x(), p.y(), p.z());
  for (const auto& [a, b, c, d] : box_quads()) text += fmt::format("4 {} {} {} {}\n", a, b, c, d);
  expect_box(parse(text));
}

// Faces before vertices, elements and properties of every type that are of no use, coordinates in another order.
constexpr std::string_view kRichHeader =
    "obj_info from a test\ncomment\n"
    "element empty 4000000000\n"
    "element camera 2\nproperty list int8 float64 view\nproperty uint16 id\n"
    "element face 12\nproperty uchar red\nproperty list uint ushort vertex_indices\nproperty list uchar float "
    "texcoord\n"
    "element vertex 8\nproperty short z\nproperty double nx\nproperty list int char tags\nproperty float32 y\n"
    "property char grey\nproperty int32 x\nproperty float64 quality\nend_header\n";

std::string rich_binary(bool big_endian) {
  std::string out = fmt::format("ply\nformat binary_{}_endian 1.0\n{}", big_endian ? "big" : "little", kRichHeader);
  const auto add = [&](auto value) { put(out, value, big_endian); };
  for (int i = 0; i < 2; ++i) {
    add(static_cast<std::int8_t>(i));
    for (int k = 0; k < i; ++k) add(0.5);
    add(std::uint16_t{65535});
  }
  for (const auto& triangle : box_triangles()) {
    add(std::uint8_t{200});
    add(std::uint32_t{3});
    for (const std::int32_t vertex : triangle) add(static_cast<std::uint16_t>(vertex));
    add(std::uint8_t{2});
    for (int k = 0; k < 2; ++k) add(std::numeric_limits<float>::quiet_NaN());
  }
  for (const Vec3& p : box_vertices()) {
    add(static_cast<std::int16_t>(p.z()));
    add(std::numeric_limits<double>::infinity());
    add(std::int32_t{1});
    add('t');
    add(static_cast<float>(p.y()));
    add('g');
    add(static_cast<std::int32_t>(p.x()));
    add(1.0);
  }
  return out;
}

TEST(Ply, PassesOverWhatItDoesNotNeed) {
  expect_box(parse(rich_binary(false)));
  expect_box(parse(rich_binary(true)));
  std::string text = fmt::format("ply\nformat ascii 1.0\n{}0 65535\n1 0.5 65535\n", kRichHeader);
  for (const auto& [a, b, c] : box_triangles()) text += fmt::format("200 3 {} {} {} 2 nan nan\n", a, b, c);
  for (const Vec3& p : box_vertices()) text += fmt::format("{} inf 1 116 {} 103 {} 1\n", p.z(), p.y(), p.x());
  expect_box(parse(text));
}

TEST(Ply, SignedTypesHaveNegativeValues) {
  std::string out =
      "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty char x\nproperty short y\nproperty int z\n"
      "element face 1\nproperty list char double vertex_indices\nend_header\n";
  for (int i = 0; i < 3; ++i) {
    put(out, static_cast<std::int8_t>(-i), true);
    put(out, static_cast<std::int16_t>(-300 * i), true);
    put(out, static_cast<std::int32_t>(-70000 * i), true);
  }
  put(out, std::int8_t{3}, true);
  for (const double i : {2.0, 1.0, 0.0}) put(out, i, true);
  const TriangleMesh mesh = parse(out);
  EXPECT_EQ(mesh.vertices, (std::vector<Vec3>{{0, 0, 0}, {-1, -300, -70000}, {-2, -600, -140000}}));
  EXPECT_EQ(mesh.triangles, (Triangles{{2, 1, 0}}));
}

TEST(Ply, HeaderLinesMayEndInAnyWay) {
  const std::string text = ply_binary(box_mesh(), false);
  const std::size_t body = text.find("end_header\n") + 11;
  for (const std::string_view end : {"\r\n", "\r"}) {
    std::string header;
    for (const char c : text.substr(0, body)) header += c == '\n' ? std::string(end) : std::string(1, c);
    expect_box(parse(header + text.substr(body)));
  }
}

TEST(Ply, ErrorsInTheHeaderGiveTheLine) {
  const std::string text = ply_text(box_mesh());
  expect_refused("", "box.ply: error: the file is empty");
  expect_refused("plyx\n", "box.ply:1: error: this is no PLY");
  expect_refused(replaced(text, "format ascii", "format binary"), "box.ply:2: error: 'binary' is no format");
  expect_refused(replaced(text, "format ascii 1.0", "comment"), "box.ply:", "no 'format'");
  expect_refused(replaced(text, "comment", "element"), "box.ply:3: error: 'box' where the count");
  expect_refused(replaced(text, "vertex 8", "vertex -8"), "box.ply:4: error: '-8' where the count");
  expect_refused(replaced(text, "vertex 8", "vertex 99999999999"), "box.ply:4: error: '99999999999' where the count");
  expect_refused(replaced(text, "vertex 8", "vertex"), "box.ply:4: error: the end where the count");
  expect_refused(replaced(text, "element vertex 8", "element"), "box.ply:4: error: the element has no name");
  expect_refused(replaced(text, "double x", "real x"), "box.ply:5: error: 'real' is no type");
  expect_refused(replaced(text, "double x", "double"), "box.ply:5: error: the property has no name");
  expect_refused(replaced(text, "double x", "double u"), "box.ply:4: error: a vertex needs the properties x, y and z");
  expect_refused(replaced(text, "double x", "double y"), "box.ply:4: error: 'y' of a vertex must be one number, once");
  expect_refused(replaced(text, "double x", "list int int x"), "box.ply:4: error: 'x' of a vertex must be one number");
  expect_refused(replaced(text, "list uchar", "list float"), "box.ply:9: error: ", "whole numbers");
  expect_refused(replaced(text, "vertex_indices", "corners"), "box.ply:8: error: a face needs one list");
  expect_refused(replaced(text, "list uchar int", "int"), "box.ply:8: error: a face needs one list");
  expect_refused(replaced(text, "element face", "element faces"), "no element 'face'");
  expect_refused(replaced(text, "element face", "element vertex"), "box.ply:8: error: a second element 'vertex'");
  expect_refused(replaced(text, "comment a box", "element face 0"), "box.ply:8: error: a second element 'face'");
  expect_refused(replaced(text, "comment a box", "property int x"), "box.ply:3: error: a property before the first");
  expect_refused(replaced(text, "comment", "comet"), "box.ply:3: error: 'comet' where a keyword");
  expect_refused(text.substr(0, text.find("end_header")), "the file is cut off", "no 'end_header'");
  std::string many = "ply\nformat ascii 1.0\n";
  for (int i = 0; i < 1001; ++i) many += "element a 0\n";
  expect_refused(many, "box.ply:1003: error: the header has more than 1000 elements");
}

TEST(Ply, ErrorsInATextGiveTheLine) {
  const std::string text = ply_text(box_mesh());  // vertices from line 11, faces from line 19
  expect_refused(replaced(text, "2 2 3", "2 x 3"), "box.ply:12: error: 'x' where a number is expected");
  expect_refused(replaced(text, "2 2 3", "2 nan 3"), "box.ply:12: error: 'nan' where a finite number");
  expect_refused(replaced(text, "3 0 4 6", "3 0 4 8"), "box.ply:19: error: a face uses vertex 8, but they are 0 to 7");
  expect_refused(replaced(text, "3 0 4 6", "3 0 -4 6"), "box.ply:19: error: a face uses vertex -4");
  expect_refused(replaced(text, "3 0 4 6", "3 0 1.5 6"), "box.ply:19: error: a face uses vertex 1.5");
  expect_refused(replaced(text, "3 0 4 6", "2 0 4"), "box.ply:19: error: a face with 2 corners");
  expect_refused(replaced(text, "3 0 4 6", "-3 0 4 6"), "box.ply:19: error: a list 'vertex_indices' of -3 values");
  expect_refused(replaced(text, "3 0 4 6", "3000000 0 4 6"), "box.ply:19: error: the file is cut off", "6000000 bytes");
  expect_refused(text + "0", "box.ply:31: error: more data follow");
  expect_refused(text.substr(0, text.size() - 3), "box.ply:30: error: the file is cut off", "1 are missing");
  expect_refused(replaced(text, "3 4 7 6", "3 4 00000"), "box.ply:31: error: the end where a number is expected");
  expect_refused(replaced(text, "vertex 8", "vertex 4000000000"), "box.ply:4: error: the file is cut off",
                 "4000000000 rows of 'vertex' have at least 24000000000 bytes");
  expect_refused(replaced(replaced(text, "face 12", "face 0"), text.substr(text.find("3 0 4 6")), ""), "no triangle");
}

TEST(Ply, ErrorsInABinaryFileGiveTheByte) {
  const std::string bytes = ply_binary(box_mesh(), false);
  const std::size_t body = bytes.find("end_header\n") + 11, faces = body + 8 * 24;
  const auto with = [&](std::size_t place, auto value) {
    std::string changed;
    put(changed, value);
    return std::string(bytes).replace(place, changed.size(), changed);
  };
  expect_refused(with(body + 32, std::numeric_limits<double>::quiet_NaN()),
                 fmt::format("box.ply: error: at byte {}: a vertex's coordinate is nan", body + 32));
  expect_refused(with(faces + 1, std::int32_t{8}),
                 fmt::format("box.ply: error: at byte {}: a face uses vertex 8, but they are 0 to 7", faces + 1));
  expect_refused(with(faces, std::uint8_t{255}), fmt::format("at byte {}: the file is cut off", faces),
                 "a list 'vertex_indices' of 255 values has at least 1020 bytes, of which 865 are missing");
  expect_refused(with(faces, std::uint8_t{1}), fmt::format("at byte {}: a face with 1 corners", faces + 1));
  expect_refused(bytes + "x", "more data follow");
  expect_refused(bytes.substr(0, bytes.size() - 1), fmt::format("at byte {}", bytes.size() - 13));
  expect_refused(replaced(bytes, "vertex 8", "vertex 4000000000"), "box.ply:4: error: ",
                 fmt::format("96000000000 bytes, of which {} are missing", 96000000000 - 192 - 156));
}

TEST(Ply, KeepsToTheLimits) {
  const std::string bytes = ply_binary(box_mesh(), true);
  expect_box(parse(bytes, {.mesh_vertices = 8, .mesh_triangles = 12}));
  expect_error([&] { parse(bytes, {.mesh_vertices = 7}); }, "8 vertices", "; 7 are allowed for all meshes together",
               "LoadLimits::mesh_vertices");
  expect_error([&] { parse(bytes, {.mesh_triangles = 11}); }, "12 triangles",
               "; 11 are allowed for all meshes together", "LoadLimits::mesh_triangles");
  // A polygon has more triangles than it is faces.
  const std::string polygon =
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty int x\nproperty int y\nproperty int z\n"
      "element face 1\nproperty list int int vertex_index\nend_header\n0 0 0\n5 0 0 0 0 0\n";
  EXPECT_EQ(parse(polygon, {.mesh_triangles = 3}).triangles.size(), 3u);
  expect_error([&] { parse(polygon, {.mesh_triangles = 2}); }, "3 triangles", "; 2 are allowed for all meshes together",
               "LoadLimits::mesh_triangles");
  expect_error([&] { parse(bytes, {.mesh_bytes = 10}); }, "LoadLimits::mesh_bytes");
}

}  // namespace
}  // namespace lithe::test::ply

#include "tests/io/mesh_files.h"

#include <Eigen/Geometry>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace lithe::test {

std::vector<Vec3> box_vertices() {
  return {{1, 2, 3}, {2, 2, 3}, {1, 4, 3}, {2, 4, 3}, {1, 2, 6}, {2, 2, 6}, {1, 4, 6}, {2, 4, 6}};
}

std::vector<std::array<int, 4>> box_quads() {
  return {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
}

Triangles box_triangles() {
  return {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
          {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
}

TriangleMesh box_mesh() { return {box_vertices(), box_triangles()}; }

void expect_same(const TriangleMesh& a, const TriangleMesh& b) {
  EXPECT_EQ(a.vertices, b.vertices);
  EXPECT_EQ(a.triangles, b.triangles);
}

void expect_box(const TriangleMesh& mesh) {
  expect_same(mesh, box_mesh());
  expect_box_solid(mesh);
}

void expect_box_solid(const TriangleMesh& mesh) {
  ASSERT_TRUE(is_valid(mesh));
  EXPECT_EQ(bounds(mesh).lower, Vec3(1, 2, 3));
  EXPECT_EQ(bounds(mesh).upper, Vec3(2, 4, 6));
  EXPECT_NEAR(volume(mesh), 6, 1e-13);
  EXPECT_LT((centroid(mesh) - Vec3(1.5, 3, 4.5)).norm(), 1e-13);
}

bool is_valid(const TriangleMesh& mesh) {
  const auto count = static_cast<std::int32_t>(mesh.vertices.size());
  const auto in_range = [&](std::int32_t i) { return i >= 0 && i < count; };
  return !mesh.triangles.empty() && std::ranges::all_of(mesh.vertices, [](const Vec3& p) { return p.allFinite(); }) &&
         std::ranges::all_of(mesh.triangles, [&](const auto& t) { return std::ranges::all_of(t, in_range); });
}

// Σ of the tetrahedra between the origin and each triangle.
double volume(const TriangleMesh& mesh) {
  double sum = 0;
  for (const auto& [a, b, c] : mesh.triangles) {
    sum += mesh.vertices[a].dot(mesh.vertices[b].cross(mesh.vertices[c])) / 6;
  }
  return sum;
}

Vec3 centroid(const TriangleMesh& mesh) {
  Vec3 sum = Vec3::Zero();
  for (const auto& [ia, ib, ic] : mesh.triangles) {
    const Vec3 &a = mesh.vertices[ia], &b = mesh.vertices[ib], &c = mesh.vertices[ic];
    sum += a.dot(b.cross(c)) / 6 * (a + b + c) / 4;
  }
  return sum / volume(mesh);
}

Bounds bounds(const TriangleMesh& mesh) {
  Bounds box = {mesh.vertices.at(0), mesh.vertices.at(0)};
  for (const Vec3& p : mesh.vertices) box = {box.lower.cwiseMin(p), box.upper.cwiseMax(p)};
  return box;
}

std::string stl_text(const TriangleMesh& mesh) {
  std::string text = "solid a box\n";
  for (const auto& triangle : mesh.triangles) {
    text += "  facet normal 0 0 0\n    outer loop\n";
    for (const std::int32_t i : triangle) {
      const Vec3& p = mesh.vertices[i];
      text += fmt::format("      vertex {} {} {}\n", p.x(), p.y(), p.z());
    }
    text += "    endloop\n  endfacet\n";
  }
  return text + "endsolid a box\n";
}

std::string stl_binary(const TriangleMesh& mesh, std::string_view header) {
  std::string bytes(header);
  bytes.resize(80, ' ');
  put(bytes, static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const auto& triangle : mesh.triangles) {
    for (int i = 0; i < 3; ++i) put(bytes, 0.0f);
    for (const std::int32_t i : triangle) {
      for (const double x : mesh.vertices[i]) put(bytes, static_cast<float>(x));
    }
    put(bytes, std::uint16_t{0});
  }
  return bytes;
}

std::string obj_text(const TriangleMesh& mesh) {
  std::string text;
  for (const Vec3& p : mesh.vertices) text += fmt::format("v {} {} {}\n", p.x(), p.y(), p.z());
  for (const auto& [a, b, c] : mesh.triangles) text += fmt::format("f {} {} {}\n", a + 1, b + 1, c + 1);
  return text;
}

namespace {

std::string header_of_ply(const TriangleMesh& mesh, std::string_view format) {
  return fmt::format(
      "ply\nformat {} 1.0\ncomment a box\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\n"
      "element face {}\nproperty list uchar int vertex_indices\nend_header\n",
      format, mesh.vertices.size(), mesh.triangles.size());
}

}  // namespace

std::string ply_text(const TriangleMesh& mesh) {
  std::string text = header_of_ply(mesh, "ascii");
  for (const Vec3& p : mesh.vertices) text += fmt::format("{} {} {}\n", p.x(), p.y(), p.z());
  for (const auto& [a, b, c] : mesh.triangles) text += fmt::format("3 {} {} {}\n", a, b, c);
  return text;
}

std::string ply_binary(const TriangleMesh& mesh, bool big_endian) {
  std::string bytes = header_of_ply(mesh, big_endian ? "binary_big_endian" : "binary_little_endian");
  for (const Vec3& p : mesh.vertices) {
    for (const double x : p) put(bytes, x, big_endian);
  }
  for (const auto& triangle : mesh.triangles) {
    put(bytes, std::uint8_t{3});
    for (const std::int32_t i : triangle) put(bytes, i, big_endian);
  }
  return bytes;
}

std::string dae_triangles(const TriangleMesh& mesh) {
  std::string indices;
  for (const auto& [a, b, c] : mesh.triangles) indices += fmt::format("{} {} {} ", a, b, c);
  return fmt::format("<triangles count='{}'><input semantic='VERTEX' source='#v' offset='0'/><p>{}</p></triangles>",
                     mesh.triangles.size(), indices);
}

std::string dae_text(const TriangleMesh& mesh, const Collada& collada) {
  std::string numbers;
  for (const Vec3& p : mesh.vertices) numbers += fmt::format("{} {} {}\n", p.x(), p.y(), p.z());
  return fmt::format(R"(<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset>{}</asset>
<library_geometries><geometry id="g"><mesh>
<source id="s"><float_array id="a" count="{}">
{}</float_array>
<technique_common><accessor source="#a" count="{}" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
</accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
{}
</mesh></geometry></library_geometries>
<library_nodes>{}</library_nodes>
<library_visual_scenes><visual_scene id="scene">
<node>{}<instance_geometry url="#g"/></node>{}
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>
)",
                     collada.asset, 3 * mesh.vertices.size(), numbers, mesh.vertices.size(), collada.surface,
                     collada.library, collada.transform, collada.nodes);
}

std::string dae_text(const TriangleMesh& mesh) { return dae_text(mesh, {.surface = dae_triangles(mesh)}); }

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return text.replace(place, what.size(), by);
}

}  // namespace lithe::test

#include <gtest/gtest.h>

#include "tests/io/mesh_files.h"
#include "tests/io/mjcf_text.h"
#include "tests/io/scratch_folder.h"
#include "tests/support/error_text.h"

// MuJoCo's binary meshes.
namespace lithe::test {
namespace {

template <class Number>
void append(std::string& bytes, Number number) {
  char raw[sizeof(Number)];
  std::memcpy(raw, &number, sizeof(Number));
  bytes.append(raw, sizeof(Number));
}

// With or without what is not read: normals and texture coordinates of all vertices.
std::string msh_binary(const TriangleMesh& mesh, bool dressed) {
  const auto vertices = static_cast<std::int32_t>(mesh.vertices.size());
  std::string bytes;
  append(bytes, vertices);
  append(bytes, dressed ? vertices : 0);
  append(bytes, dressed ? vertices : 0);
  append(bytes, static_cast<std::int32_t>(mesh.triangles.size()));
  for (const Vec3& p : mesh.vertices) {
    for (const double x : p) append(bytes, static_cast<float>(x));
  }
  for (int i = 0; dressed && i < 5 * vertices; ++i) append(bytes, 0.5f);
  for (const auto& triangle : mesh.triangles) {
    for (const std::int32_t corner : triangle) append(bytes, corner);
  }
  return bytes;
}

TEST(MeshMsh, IsReadWithAndWithoutNormals) {
  expect_box(parse_msh(msh_binary(box_mesh(), false), "box.msh"));
  expect_box(parse_mesh(msh_binary(box_mesh(), true), "box.MSH"));
}

TEST(MeshMsh, WithoutTrianglesIsTheHull) {
  TriangleMesh cloud = box_mesh();
  cloud.triangles.clear();
  expect_box_solid(parse_msh(msh_binary(cloud, false), "box.msh"));
}

TEST(MeshMsh, IsRefusedWhereItIsDamaged) {
  const std::string good = msh_binary(box_mesh(), false);
  expect_error([&] { parse_msh("short", "m.msh"); }, "m.msh", "four counts");
  expect_error([&] { parse_msh(good.substr(0, good.size() - 1), "m.msh"); }, "damaged", "Gmsh");
  expect_error([&] { parse_msh(good + "x", "m.msh"); }, "damaged");
  expect_error([&] { parse_msh("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "m.msh"); }, "Gmsh");
  std::string wrong = good;
  wrong[wrong.size() - 4] = 100;
  expect_error([&] { parse_msh(wrong, "m.msh"); }, "has the vertex 100, but there are 8");
  LoadLimits limits;
  limits.mesh_triangles = 3;
  expect_error([&] { parse_msh(good, "m.msh", limits); }, "3 are allowed");
  // Counts so large that their sum would not fit into 32 bits.
  std::string huge = good;
  huge.replace(0, 4, "\xff\xff\xff\x7f");
  expect_error([&] { parse_msh(huge, "m.msh"); }, "2147483647 vertices");
}

TEST(MeshMsh, StandsInAFileOfMujoco) {
  const ScratchFolder folder("lithe_msh");
  folder.write("assets/box.msh", msh_binary(box_mesh(), false));
  const std::string file = folder.write(
      "m.xml", mjcf_around("<compiler meshdir=\"assets\"/><asset><mesh file=\"box.msh\"/></asset><worldbody><body "
                           "name=\"b\"><freejoint/><geom type=\"mesh\" mesh=\"box\"/></body></worldbody>"));
  EXPECT_NEAR(body_of(load(file), "b").inertia.mass, 6000, 1e-9);
}

}  // namespace
}  // namespace lithe::test

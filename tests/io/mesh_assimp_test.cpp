#include <gtest/gtest.h>

#include "lithe/io/mesh/assimp.h"
#include "tests/io/mesh_files.h"
#include "tests/support/error_text.h"

namespace lithe::test {

using namespace internal;
namespace {

// The Object File Format of Geomview: counts, vertices, faces.
std::string off_text(const TriangleMesh& mesh) {
  std::string text = fmt::format("OFF\n{} {} 0\n", mesh.vertices.size(), mesh.triangles.size());
  for (const Vec3& p : mesh.vertices) text += fmt::format("{} {} {}\n", p.x(), p.y(), p.z());
  for (const auto& [a, b, c] : mesh.triangles) text += fmt::format("3 {} {} {}\n", a, b, c);
  return text;
}

TEST(OtherMeshes, AreReadWhereAssimpIsThere) {
  const std::string text = off_text(box_mesh());
  if (has_assimp()) {
    expect_box_solid(parse_mesh(text, "folder/box.off"));
    expect_box_solid(parse_mesh(text, "BOX.OFF"));
  } else {
    const std::string error = error_text([&] { parse_mesh(text, "folder/box.off"); });
    EXPECT_TRUE(error.starts_with("folder/box.off: error: ")) << error;
    for (const char* part : {"'.off'", ".stl, .obj, .ply or .dae", "-DLITHE_WITH_ASSIMP=ON"}) {
      EXPECT_NE(error.find(part), std::string::npos) << error;
    }
  }
}

TEST(OtherMeshes, ThatAreWrongOrTooLargeNameTheFile) {
  const std::string text = off_text(box_mesh());
  const auto error_of = [](const std::string& content, const char* file, const LoadLimits& limits = {}) {
    return error_text([&] { parse_mesh(content, file, limits); });
  };
  for (const std::string& error :
       {error_of("OFF\n4 what", "a.off"), error_of("", "a.off"), error_of(text, "a.no_format"), error_of(text, "a"),
        error_of(text, "a.off", {.mesh_bytes = 10}), error_of(text, "a.off", {.mesh_vertices = 7}),
        error_of(text, "a.off", {.mesh_triangles = 11})}) {
    EXPECT_TRUE(error.starts_with("a")) << error;
    EXPECT_NE(error.find(": error: "), std::string::npos) << error;
  }
  if (!has_assimp()) return;  // which then says so each time
  EXPECT_NE(error_of(text, "a.off", {.mesh_vertices = 7}).find("LoadLimits::mesh_vertices"), std::string::npos);
  EXPECT_NE(error_of(text, "a.off", {.mesh_triangles = 11}).find("LoadLimits::mesh_triangles"), std::string::npos);
  EXPECT_NE(error_of(text, "a.off", {.mesh_bytes = 10}).find("LoadLimits::mesh_bytes"), std::string::npos);
}

}  // namespace
}  // namespace lithe::test

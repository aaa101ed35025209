#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "lithe/io/source_place.h"
#include "tests/io/mesh_files.h"
#include "tests/support/model_files.h"

namespace lithe::test {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TriangleMesh parse_file(const std::filesystem::path& path) { return parse_mesh(read_file(path), path.string()); }

class RealMeshes : public testing::Test {
 protected:
  void SetUp() override {
    if (!models_folder()) GTEST_SKIP() << "no folder of models: set LITHE_MODELS";
  }
};

// Atlas has an STL and a DAE of each part, by different exporters from the same model.
TEST_F(RealMeshes, AtlasHasTheSameBoxesAsStlAndDae) {
  int parts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*models_folder() / "atlas")) {
    if (entry.path().extension() != ".stl") continue;
    SCOPED_TRACE(entry.path().string());
    const Bounds stl = bounds(parse_file(entry.path()));
    const Bounds dae = bounds(parse_file(std::filesystem::path(entry.path()).replace_extension(".dae")));
    EXPECT_LT((stl.lower - dae.lower).cwiseAbs().maxCoeff(), 1e-3);
    EXPECT_LT((stl.upper - dae.upper).cwiseAbs().maxCoeff(), 1e-3);
    ++parts;
  }
  EXPECT_EQ(parts, 30);
}

TEST_F(RealMeshes, StlFilesHaveTheTrianglesOfTheirSizes) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*models_folder())) {
    const std::filesystem::path ending = entry.path().extension();
    if ((ending != ".stl" && ending != ".STL") || entry.path().string().find("hostile") != std::string::npos) continue;
    SCOPED_TRACE(entry.path().string());
    const TriangleMesh mesh = parse_file(entry.path());
    EXPECT_EQ(mesh.triangles.size(), (std::filesystem::file_size(entry.path()) - 84) / 50);  // all are binary
    EXPECT_TRUE(is_valid(mesh));
    ++files;
  }
  EXPECT_GE(files, 37);
}

TEST_F(RealMeshes, WhatIsNoStlIsRefused) {
  EXPECT_THROW(parse_file(*models_folder() / "urdf" / "hostile" / "invalid_mesh.stl"), LoadError);
}

}  // namespace
}  // namespace lithe::test

#include "lithe/io/internal/resources.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lithe/io/load_limits.h"
#include "tests/io/mesh_files.h"
#include "tests/support/error_text.h"

namespace lithe::test {

using namespace internal;
namespace {

namespace fs = std::filesystem;

// A workspace with a package, files beside it, and one outside:
//
//   ws/arm/package.xml  ws/arm/urdf/arm.urdf  ws/arm/meshes/link.obj   ws/hand/package.xml  ws/hand/palm.obj   outside/secret.obj
class Workspace : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("lithe_resources_" + std::to_string(::getpid()));
    fs::remove_all(root_);
    for (const char* name : {"ws/arm/package.xml", "ws/arm/urdf/arm.urdf", "ws/hand/package.xml"}) write(name, "<x/>");
    for (const char* name : {"ws/arm/meshes/link.obj", "ws/hand/palm.obj", "outside/secret.obj"})
      write(name, kTetrahedron);
    for (const char* variable : {"ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"}) ::unsetenv(variable);
  }
  void TearDown() override {
    for (const char* variable : {"ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"}) ::unsetenv(variable);
    fs::remove_all(root_);
  }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  fs::path at(const std::string& name) const { return fs::canonical(root_ / name); }
  SourcePlace robot(int line = 7) const { return {(root_ / "ws/arm/urdf/arm.urdf").string(), line}; }

  // Where a URI leads, or the error.
  std::string resolved(const std::string& uri, const LoadOptions& options = {}) const {
    try {
      return Resources(root_ / "ws/arm/urdf/arm.urdf", options).resolve(uri, robot()).string();
    } catch (const LoadError& error) {
      return error.what();
    }
  }

  fs::path root_;
};

TEST_F(Workspace, APackageIsFoundAboveTheFile) {
  EXPECT_EQ(resolved("package://arm/meshes/link.obj"), at("ws/arm/meshes/link.obj"));
  EXPECT_EQ(resolved("model://arm/meshes/link.obj"), at("ws/arm/meshes/link.obj"));
  EXPECT_EQ(resolved("package://hand/palm.obj"), at("ws/hand/palm.obj"));  // its neighbour
}

TEST_F(Workspace, RelativeNamesMayUseThePackageAroundTheFile) {
  EXPECT_EQ(resolved("../meshes/link.obj"), at("ws/arm/meshes/link.obj"));
  EXPECT_EQ(resolved("file://../meshes/link.obj"), at("ws/arm/meshes/link.obj"));
  EXPECT_EQ(resolved("file://" + (root_ / "ws/arm/meshes/link.obj").string()), at("ws/arm/meshes/link.obj"));
}

TEST_F(Workspace, TheMapGoesBeforeTheEnvironmentAndThatBeforeTheFoldersAbove) {
  write("other/arm/meshes/link.obj", kTetrahedron);
  write("ros/arm/meshes/link.obj", kTetrahedron);
  ::setenv("ROS_PACKAGE_PATH", (root_ / "ros").c_str(), 1);
  EXPECT_EQ(resolved("package://arm/meshes/link.obj"), at("ros/arm/meshes/link.obj"));
  LoadOptions options;
  options.packages["arm"] = (root_ / "other/arm").string();
  EXPECT_EQ(resolved("package://arm/meshes/link.obj", options), at("other/arm/meshes/link.obj"));
}

TEST_F(Workspace, AmentPrefixesHoldPackagesInTheirShare) {
  write("ament/share/cam/lens.obj", kTetrahedron);
  ::setenv("AMENT_PREFIX_PATH", ("/nowhere:" + (root_ / "ament").string()).c_str(), 1);
  EXPECT_EQ(resolved("package://cam/lens.obj"), at("ament/share/cam/lens.obj"));
}

TEST_F(Workspace, WhatLeadsOutsideIsRefused) {
  for (const std::string& uri :
       {std::string("../../../outside/secret.obj"), (root_ / "outside/secret.obj").string(),
        std::string("package://arm/../../outside/secret.obj"), "file://" + (root_ / "outside/secret.obj").string()}) {
    EXPECT_NE(resolved(uri).find("outside the folders that this model may read"), std::string::npos) << resolved(uri);
    EXPECT_EQ(resolved(uri).find(robot().file + ":7: error: "), 0u);
  }
  fs::create_symlink(root_ / "outside/secret.obj", root_ / "ws/arm/meshes/link2.obj");
  EXPECT_NE(resolved("../meshes/link2.obj").find("outside the folders"), std::string::npos);
  EXPECT_NE(resolved("/etc/passwd").find("outside the folders"), std::string::npos);
}

TEST_F(Workspace, FurtherFoldersCanBeAllowed) {
  LoadOptions options;
  options.roots = {(root_ / "outside").string()};
  EXPECT_EQ(resolved("../../../outside/secret.obj", options), at("outside/secret.obj"));
  LoadOptions anywhere;
  anywhere.anywhere = true;
  EXPECT_EQ(resolved("../../../outside/secret.obj", anywhere), at("outside/secret.obj"));
}

TEST_F(Workspace, WhatIsNotThereSaysWhereItWasLookedFor) {
  EXPECT_NE(resolved("../meshes/none.obj").find("is not there: looked for"), std::string::npos);
  EXPECT_NE(resolved("package://arm/none.obj").find("--package NAME=FOLDER"), std::string::npos);
  EXPECT_NE(resolved("package://unknown/none.obj").find("--package NAME=FOLDER"), std::string::npos);
  EXPECT_NE(resolved("").find("empty"), std::string::npos);
  EXPECT_NE(resolved("package://").find("names no package"), std::string::npos);
}

// What the warnings say about a name, and where it leads.
class NearlyThere : public Workspace {
 protected:
  std::string found(const std::string& uri, const char* kind, const LoadOptions& options = {}) const {
    Resources resources(root_ / "ws/arm/urdf/arm.urdf", options);
    WarningList warnings(options.strict);
    resources.warn_to(warnings);
    const std::string path = resources.resolve(uri, robot()).string();
    EXPECT_EQ(warnings.warnings().size(), 1u) << uri;
    if (!warnings.warnings().empty()) {
      EXPECT_EQ(warnings.warnings()[0].kind, kind) << to_string(warnings.warnings()[0]);
      EXPECT_EQ(warnings.warnings()[0].place.line, 7);
    }
    return path;
  }
  void expect_strict_refuses(const std::string& uri) const {
    LoadOptions strict;
    strict.strict = true;
    Resources resources(root_ / "ws/arm/urdf/arm.urdf", strict);
    WarningList warnings(true);
    resources.warn_to(warnings);
    EXPECT_THROW(resources.resolve(uri, robot()), LoadError) << uri;
  }
};

TEST_F(NearlyThere, APackageWithoutANameIsTheFirstFolder) {
  EXPECT_EQ(found("package:///arm/meshes/link.obj", "file.package"), at("ws/arm/meshes/link.obj"));
  expect_strict_refuses("package:///arm/meshes/link.obj");
}

TEST_F(NearlyThere, TheCaseOfLettersMayDiffer) {
  EXPECT_EQ(found("../Meshes/LINK.obj", "file.case"), at("ws/arm/meshes/link.obj"));
  EXPECT_EQ(found("package://arm/meshes/link.OBJ", "file.case"), at("ws/arm/meshes/link.obj"));
  expect_strict_refuses("../meshes/Link.obj");
  EXPECT_NE(resolved("../../../Outside/secret.obj").find("outside the folders"), std::string::npos);
}

TEST_F(NearlyThere, APackageOfAnotherNameMayBeTheOneAroundTheFile) {
  EXPECT_EQ(found("package://arm_description/meshes/link.obj", "file.elsewhere"), at("ws/arm/meshes/link.obj"));
  EXPECT_EQ(found("/home/somebody/ws/src/arm/meshes/link.obj", "file.elsewhere"), at("ws/arm/meshes/link.obj"));
  EXPECT_EQ(found("file:///home/somebody/arm/meshes/link.obj", "file.elsewhere"), at("ws/arm/meshes/link.obj"));
  expect_strict_refuses("package://arm_description/meshes/link.obj");
  // Who says where a package is means that and no other.
  LoadOptions options;
  options.packages["arm_description"] = (root_ / "ws/hand").string();
  EXPECT_NE(resolved("package://arm_description/meshes/link.obj", options).find("is not there"), std::string::npos);
  // Three folders, and no way out of them.
  EXPECT_NE(resolved("package://other/outside/secret.obj").find("is not there"), std::string::npos);
  EXPECT_NE(resolved("package://other/../outside/secret.obj").find("is not there"), std::string::npos);
}

TEST_F(Workspace, NothingIsFetched) {
  EXPECT_NE(resolved("https://example.org/link.stl").find("is not a local file"), std::string::npos);
}

TEST_F(Workspace, AMeshIsReadOnce) {
  Resources resources(root_ / "ws/arm/urdf/arm.urdf", {});
  const auto first = resources.mesh("../meshes/link.obj", robot());
  EXPECT_EQ(first->vertices.size(), 4u);
  EXPECT_EQ(resources.mesh("package://arm/meshes/link.obj", robot()), first);
  EXPECT_EQ(resources.files().size(), 1u);
}

TEST_F(Workspace, FilesAreBounded) {
  LoadOptions options;
  options.limits.mesh_bytes = 10;
  Resources small(root_ / "ws/arm/urdf/arm.urdf", options);
  expect_error([&] { small.mesh("../meshes/link.obj", robot()); },
               "link.obj has 64 bytes; 10 bytes are allowed in one file", "--limit mesh_bytes=");
  options = {};
  options.limits.total_bytes = 100;  // two files of 64 bytes
  Resources both(root_ / "ws/arm/urdf/arm.urdf", options);
  both.mesh("../meshes/link.obj", robot());
  expect_error([&] { both.mesh("package://hand/palm.obj", robot()); },
               "palm.obj has 64 bytes, 128 bytes with the files before it; 100 bytes are allowed for all files",
               "--limit total_bytes=");
  options = {};
  options.limits.convex_points = 7;  // four of them twice are too many
  Resources points(root_ / "ws/arm/urdf/arm.urdf", options);
  points.collision_mesh("../meshes/link.obj", Vec3::Ones(), robot());
  expect_error([&] { points.collision_mesh("../meshes/link.obj", Vec3::Ones(), robot()); },
               "has 4 points, 8 with those before it; 7 are allowed", "--limit convex_points=");
  options = {};
  options.limits.elements = 3;
  Resources elements(root_ / "ws/arm/urdf/arm.urdf", options);
  elements.xml_from_text("<a><b/></a>", "first.xml");
  expect_error([&] { elements.xml_from_text("<a><b/></a>", "second.xml"); }, "second.xml",
               "there are 2 XML elements, 4 with the files before it; 3 are allowed", "--limit elements=");
}

TEST(LoadLimits, HaveNamesAndAreSmallerForStrangers) {
  const std::vector<std::string_view> names = load_limit_names();
  ASSERT_EQ(names.size(), 12u);
  LoadLimits limits;
  for (std::size_t i = 0; i < names.size(); ++i) set_load_limit(limits, names[i], i + 1);
  EXPECT_EQ(limits.xml_bytes, 1u);
  EXPECT_EQ(limits.total_bytes, 3u);
  EXPECT_EQ(limits.bodies, 12);
  expect_error([&] { set_load_limit(limits, "vertices", 1); }, "no limit called 'vertices'", "mesh_vertices");
  expect_error([&] { set_load_limit(limits, "bodies", std::uint64_t{1} << 40); }, "bodies", "536870911 at most");
  const LoadLimits defaults, untrusted = LoadLimits::untrusted();
  EXPECT_LT(untrusted.total_bytes, defaults.total_bytes);
  EXPECT_LT(untrusted.mesh_vertices, defaults.mesh_vertices);
}

TEST_F(Workspace, MeshesAreBoundedTogether) {
  for (const bool by_vertices : {true, false}) {
    LoadOptions options;
    if (by_vertices) {
      options.limits.mesh_vertices = 7;  // four each
    } else {
      options.limits.mesh_triangles = 7;
    }
    Resources resources(root_ / "ws/arm/urdf/arm.urdf", options);
    resources.mesh("../meshes/link.obj", robot());
    resources.mesh("package://arm/meshes/link.obj", robot());  // the same file counts once
    expect_error([&] { resources.mesh("package://hand/palm.obj", robot()); }, "palm.obj",
                 by_vertices ? "the mesh has 4 vertices, 8 with the meshes before it; 7 are allowed"
                             : "the mesh has 4 triangles, 8 with the meshes before it; 7 are allowed",
                 by_vertices ? "--limit mesh_vertices=" : "--limit mesh_triangles=");
    // Those after it are not read at all.
    write("ws/hand/thumb.obj", "no mesh");
    expect_error([&] { resources.mesh("package://hand/thumb.obj", robot()); }, "thumb.obj",
                 by_vertices ? "have all 7 vertices that are allowed" : "have all 7 triangles that are allowed");
  }
}

TEST_F(Workspace, NamesOfFilesAreBounded) {
  Resources resources(root_ / "ws/arm/urdf/arm.urdf", {});
  const std::string longer(4097, 'x');
  expect_error([&] { resources.resolve(longer, robot()); }, "4097 bytes");
  // The same one may be asked for any number of times, missing or not; others are not.
  for (int i = 0; i < 100'000; ++i) resources.resolve("../meshes/link.obj", robot());
  const std::string missing = error_text([&] { resources.resolve("none.obj", robot()); });
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(error_text([&] { resources.resolve("none.obj", robot()); }), missing);
  std::string last;
  for (int i = 0; i < 20'000 && last.find("too many") == std::string::npos; ++i) {
    last = error_text([&] { resources.resolve(std::to_string(i), robot()); });
  }
  EXPECT_NE(last.find("too many different files are named"), std::string::npos);
}

TEST_F(Workspace, ShapesAreBounded) {
  LoadOptions options;
  options.limits.shapes = 2;
  Resources resources(root_ / "ws/arm/urdf/arm.urdf", options);
  resources.count_shape(robot());
  resources.count_shape(robot());
  expect_error([&] { resources.count_shape(robot()); }, "more than 2", "LoadLimits::shapes");
}

TEST_F(Workspace, AFolderIsNoFile) {
  Resources resources(root_ / "ws/arm/urdf/arm.urdf", {});
  EXPECT_THROW(resources.mesh("../meshes", robot()), LoadError);
  EXPECT_THROW(resources.xml(root_ / "ws", robot()), LoadError);
  EXPECT_THROW(resources.xml(root_ / "nowhere.urdf", robot()), LoadError);
}

}  // namespace
}  // namespace lithe::test

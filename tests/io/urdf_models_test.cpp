#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "lithe/model/configuration.h"
#include "tests/io/mesh_files.h"
#include "tests/io/scratch_folder.h"
#include "tests/io/urdf_text.h"
#include "tests/support/error_text.h"

// URDF with files around it: meshes in packages, and the robots that people have.
namespace lithe::test {
namespace {

namespace fs = std::filesystem;

std::string with_mesh(const std::string& uri, const std::string& scale = "") {
  return urdf_around(
      heavy_link("b", "<collision><geometry><mesh filename=\"" + uri + "\"" + scale + "/></geometry></collision>"));
}

// The points of the only shape.
std::vector<Vec3> points_of(const LoadedModel& loaded) {
  return std::get<ConvexMesh>(loaded.model.shapes().at(0).geometry).points;
}

// The only shape's mesh was not found.
void expect_left_out(const LoadedModel& loaded) {
  EXPECT_TRUE(loaded.model.shapes().empty());
  EXPECT_EQ(warning_count(loaded, "mesh.missing"), 1);
}

TEST(UrdfMeshes, AreFoundBesideTheFileAndScaled) {
  const ScratchFolder folder("lithe_urdf_beside");
  folder.write("meshes/part.obj", kTetrahedron);
  const std::string file = folder.write("robot.urdf", with_mesh("meshes/part.obj", " scale=\"2 3 -4\""));
  const std::vector<Vec3> points = points_of(load(file));
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[1], Vec3(2, 0, 0));
  EXPECT_EQ(points[2], Vec3(0, 3, 0));
  EXPECT_EQ(points[3], Vec3(0, 0, -4));
}

TEST(UrdfMeshes, TakeOneScaleForAllDirections) {
  const ScratchFolder folder("lithe_urdf_scale");
  folder.write("part.obj", kTetrahedron);
  EXPECT_EQ(points_of(load(folder.write("robot.urdf", with_mesh("part.obj", " scale=\"0.5\""))))[3], Vec3(0, 0, 0.5));
}

TEST(UrdfMeshes, AreFoundInAPackageThatIsGiven) {
  const ScratchFolder folder("lithe_urdf_map");
  folder.write("elsewhere/part.obj", kTetrahedron);
  const std::string file = folder.write("robots/robot.urdf", with_mesh("package://arm/part.obj"));
  LoadOptions options;
  options.packages["arm"] = folder.at("elsewhere");
  EXPECT_EQ(points_of(load(file, options)).size(), 4u);
  expect_left_out(load(file));
}

TEST(UrdfMeshes, AreFoundInTheFoldersOfTheEnvironment) {
  const ScratchFolder folder("lithe_urdf_env");
  folder.write("ws/arm/part.obj", kTetrahedron);
  folder.write("install/share/hand/part.obj", kTetrahedron);
  const std::string arm = folder.write("robots/arm.urdf", with_mesh("package://arm/part.obj"));
  const std::string hand = folder.write("robots/hand.urdf", with_mesh("package://hand/part.obj"));
  ::setenv("ROS_PACKAGE_PATH", folder.at("ws").c_str(), 1);
  ::setenv("AMENT_PREFIX_PATH", folder.at("install").c_str(), 1);
  EXPECT_EQ(points_of(load(arm)).size(), 4u);
  EXPECT_EQ(points_of(load(hand)).size(), 4u);
  ::unsetenv("ROS_PACKAGE_PATH");
  ::unsetenv("AMENT_PREFIX_PATH");
  expect_left_out(load(arm));
}

TEST(UrdfMeshes, AreFoundInThePackageAroundTheFile) {
  const ScratchFolder folder("lithe_urdf_above");
  folder.write("arm/package.xml", "<package/>");
  folder.write("arm/meshes/part.obj", kTetrahedron);
  EXPECT_EQ(points_of(load(folder.write("arm/urdf/robot.urdf", with_mesh("package://arm/meshes/part.obj")))).size(),
            4u);
}

TEST(UrdfMeshes, DoNotLeadOutOfTheFolder) {
  const ScratchFolder folder("lithe_urdf_escape");
  folder.write("secret.obj", kTetrahedron);
  folder.write("robots/here.txt", "");
  fs::create_symlink(folder.at("secret.obj"), folder.at("robots/link.obj"));
  expect_error([&] { load(folder.write("robots/up.urdf", with_mesh("../secret.obj"))); }, "up.urdf:2: error: ");
  expect_error([&] { load(folder.write("robots/link.urdf", with_mesh("link.obj"))); }, "link.urdf:2: error: ");
  LoadOptions options;
  options.roots.push_back(folder.at("."));
  EXPECT_EQ(points_of(load(folder.at("robots/up.urdf"), options)).size(), 4u);
}

TEST(UrdfMeshes, BecomeTheirConvexPiecesWhereTheseAreGiven) {
  const ScratchFolder folder("lithe_urdf_pieces");
  for (const char* name : {"whole.obj", "left.obj", "right.obj"}) folder.write(name, kTetrahedron);
  LoadOptions options;
  options.convex_pieces["whole.obj"] = {"left.obj", "right.obj"};
  const LoadedModel loaded = load(folder.write("robot.urdf", with_mesh("whole.obj")), options);
  ASSERT_EQ(loaded.model.shapes().size(), 2u);
  EXPECT_EQ(loaded.model.shapes()[1].name, "b_collision_2");
}

// The robots in the folder that the environment names.
class UrdfModels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!models_folder()) GTEST_SKIP() << "no model files: set LITHE_MODELS to a folder with atlas/ and urdf/";
  }
  static std::string at(const std::string& name) { return (*models_folder() / name).string(); }
};

TEST_F(UrdfModels, CartpoleSlidesAndTurns) {
  const LoadedModel loaded = load(at("urdf/cartpole.urdf"));
  ASSERT_EQ(loaded.model.nv(), 2);
  EXPECT_EQ(loaded.name, "physics");
  EXPECT_EQ(loaded.model.total_mass(), 2);  // the bar is held
  EXPECT_EQ(loaded.model.shapes().size(), 2u);
  EXPECT_EQ(loaded.visuals.size(), 3u);
  const Joint& slider = loaded.model.joints()[loaded.model.joint("slider_to_cart")];
  EXPECT_EQ(slider.type, JointType::prismatic);
  EXPECT_EQ(slider.lower, -15);
  EXPECT_EQ(slider.upper, 15);
  EXPECT_EQ(slider.effort_limit, 1000);
  EXPECT_EQ(slider.velocity_limit, 5);
  const SpatialInertia& pole = loaded.model.bodies()[loaded.model.body("pole")].inertia;
  EXPECT_EQ(pole.centre(), Vec3(0, 0, 0.5));
  EXPECT_EQ(pole.rotational(0, 0), 1.25);  // 1 about the centre, 1 kg · (0.5 m)² besides
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST_F(UrdfModels, Kr5HasSixJointsAndSevenMeshes) {
  const LoadedModel loaded = load(at("urdf/KR5/KR5 sixx R650.urdf"));
  EXPECT_EQ(loaded.model.nv(), 6);
  EXPECT_EQ(loaded.model.shapes().size(), 7u);
  EXPECT_EQ(loaded.visuals.size(), 7u);
  EXPECT_NEAR(loaded.model.total_mass(), 24.84272247279886 - 7.58585707666653, 1e-12);  // all but the base
  EXPECT_EQ(warning_count(loaded, "urdf.zero_limit"), 6);
  EXPECT_EQ(loaded.warnings.size(), 1u);
  EXPECT_EQ(load(at("urdf/KR5/ground.urdf")).model.nv(), 0);
}

// Its folder lacks the torso's backpack: it is left out, or the torso without it stands in.
TEST_F(UrdfModels, AtlasHas33DegreesOfFreedom) {
  LoadOptions options;
  options.convex_pieces["utorso_pack.stl"] = {"utorso.stl"};
  const LoadedModel loaded = load(at("atlas/atlas_v3_no_head.urdf"), options);
  EXPECT_EQ(loaded.model.nv(), 33);
  EXPECT_NEAR(loaded.model.total_mass(), 146.554, 1e-9);
  EXPECT_EQ(loaded.model.bodies().size(), 35u);
  EXPECT_EQ(loaded.model.shapes().size(), 29u);
  EXPECT_EQ(loaded.visuals.size(), 31u);  // 32, less the backpack
  EXPECT_EQ(warning_count(loaded, "visual.mesh"), 1);
  EXPECT_EQ(warning_count(loaded, "urdf.safety_controller"), 27);
  EXPECT_EQ(warning_count(loaded, "self_collision.start"), 1);
  EXPECT_EQ(loaded.warnings.size(), 3u);
  EXPECT_EQ(loaded.model.joints()[0].name, "root.x");
  const LoadedModel without = load(at("atlas/atlas_v3_no_head.urdf"));
  EXPECT_EQ(without.model.shapes().size(), 28u);
  EXPECT_EQ(warning_count(without, "mesh.missing"), 1);
  LoadOptions strict;
  strict.strict = true;
  EXPECT_THROW(load(at("atlas/atlas_v3_no_head.urdf"), strict), LoadError);

  const LoadedModel boxes = load(at("atlas/atlas_v3_box_colliders.urdf"));
  EXPECT_EQ(boxes.model.nv(), 33);
  EXPECT_EQ(boxes.model.shapes().size(), 2u);
  EXPECT_NEAR(boxes.model.total_mass(), 146.554, 1e-9);
  EXPECT_EQ(load(at("atlas/ground.urdf")).model.shapes().size(), 1u);
}

// It has a neck, but no head.
TEST_F(UrdfModels, AtlasWithAJointToNowhereIsToldSo) {
  expect_error([&] { load(at("atlas/atlas_v3.urdf")); }, "atlas_v3.urdf:719: error: ", "'head'");
}

TEST_F(UrdfModels, HostileFilesAreRefusedOrReadAsDocumented) {
  const std::string folder = "urdf/hostile/";
  // No XML; another format.
  expect_error([&] { load(at(folder + "invalid.urdf")); }, "invalid.urdf:1: error: ", "XML");
  expect_error([&] { load(at(folder + "testWorld.urdf")); }, "testWorld.urdf:1: error: ", "<world>");
  // Joints that move nothing are locked.
  const LoadedModel locked = load(at(folder + "joint_properties.urdf"));
  EXPECT_EQ(warning_count(locked, "urdf.massless"), 2);
  EXPECT_EQ(locked.warnings.at(0).place.line, 17);
  EXPECT_EQ(locked.model.nv(), 0);
  // A mesh that is only to be seen is left out with a warning at its line; in a strict reading it is an error.
  for (const char* name : {"missing_mesh.urdf", "missing_package.urdf", "invalid_mesh.urdf"}) {
    const LoadedModel loaded = load(at(folder + name));
    EXPECT_EQ(warning_count(loaded, "visual.mesh"), 1) << name;
    EXPECT_EQ(loaded.warnings.at(0).place.line, 6) << name;
    EXPECT_TRUE(loaded.visuals.empty()) << name;
    LoadOptions strict;
    strict.strict = true;
    expect_error([&] { load(at(folder + name), strict); }, std::string(name) + ":6: error: ");
  }
  // Three shapes in one geometry: the first counts.
  const LoadedModel shapes = load(at(folder + "primitive_geometry.urdf"));
  ASSERT_EQ(shapes.visuals.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Sphere>(shapes.visuals[0].geometry));
  EXPECT_EQ(warning_count(shapes, "urdf.second.geometry"), 1);
  // A massless link between two heavy ones is fine.
  const LoadedModel massless = load(at(folder + "issue838.urdf"));
  EXPECT_EQ(massless.model.nv(), 7);
  EXPECT_EQ(massless.visuals.at(0).color, Vec4(0, 0, 0.8, 1));
  EXPECT_TRUE(massless.warnings.empty());
}

}  // namespace
}  // namespace lithe::test

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "lithe/collision/collider_set.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/io/load.h"
#include "lithe/rollout/step_batch.h"
#include "lithe/scenes/world.h"
#include "lithe/step/gradcheck.h"
#include "tests/io/hull_files.h"
#include "tests/io/scratch_folder.h"
#include "tests/support/error_text.h"

namespace lithe::test {

using namespace internal;
namespace {

LoadOptions without_cache() {
  LoadOptions options;
  options.cache = false;
  return options;
}

std::string link(const std::string& name, const std::string& geometry) {
  return "<link name=\"" + name + R"("><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry>)" +
         geometry + "</geometry></collision></link>\n";
}

class LoadedHulls : public testing::Test {
 protected:
  LoadedHulls() { write_points(folder_.path() / "egg.obj", egg_points(900)); }

  std::string name(const char* file) const { return (folder_.path() / file).string(); }
  LoadedModel load_links(const std::string& links, const LoadOptions& options = without_cache()) const {
    return load_text("<robot name=\"r\">\n" + links + "</robot>", name("robot.urdf"), options);
  }
  static const ConvexMesh& mesh_of(const Model& model, int shape) {
    return std::get<ConvexMesh>(model.shapes().at(static_cast<std::size_t>(shape)).geometry);
  }

  ScratchFolder folder_;
};

const char* const kFour = R"(
    <joint name="ab" type="fixed"><parent link="a"/><child link="b"/></joint>
    <joint name="ac" type="fixed"><parent link="a"/><child link="c"/></joint>
    <joint name="ad" type="fixed"><parent link="a"/><child link="d"/></joint>)";

TEST_F(LoadedHulls, AreBuiltOncePerMeshAndScale) {
  const LoadedModel loaded =
      load_links(link("a", R"(<mesh filename="egg.obj"/>)") + link("b", R"(<mesh filename="egg.obj"/>)") +
                 link("c", R"(<mesh filename="egg.obj" scale="1 -1 1"/>)") +
                 link("d", R"(<mesh filename="egg.obj" scale="0.5 0.5 0.5"/>)") + kFour);
  ASSERT_EQ(loaded.hulls.size(), 2u);
  const Model& model = loaded.model;
  EXPECT_EQ(mesh_of(model, 0).hull, mesh_of(model, 1).hull);
  EXPECT_NE(mesh_of(model, 0).hull, mesh_of(model, 2).hull);
  // A mirror image keeps the mirror images of the same points.
  ASSERT_EQ(mesh_of(model, 0).points.size(), mesh_of(model, 2).points.size());
  for (std::size_t i = 0; i < mesh_of(model, 0).points.size(); ++i) {
    EXPECT_EQ(mesh_of(model, 2).points[i], mesh_of(model, 0).points[i].cwiseProduct(Vec3(1, -1, 1)));
  }
  EXPECT_TRUE(mesh_of(model, 3).hull->box_half.isApprox(0.5 * mesh_of(model, 0).hull->box_half, 1e-5));
  for (const LoadedHull& hull : loaded.hulls) {
    EXPECT_EQ(hull.file, std::filesystem::canonical(name("egg.obj")));
    EXPECT_EQ(hull.points, 900);
    EXPECT_EQ(hull.exact_vertices, 900);
    EXPECT_LT(hull.kept_vertices, 500);
    EXPECT_GT(hull.error, 0);
    EXPECT_LE(hull.error, hull.tolerance);
    EXPECT_LE(hull.tolerance, 1e-3);
  }
}

TEST_F(LoadedHulls, AreThoseOfTheModelsPoints) {
  const LoadedModel loaded = load_links(link("a", R"(<mesh filename="egg.obj"/>)"));
  const ConvexMesh& mesh = mesh_of(loaded.model, 0);
  EXPECT_EQ(static_cast<int>(mesh.points.size()), loaded.hulls.at(0).kept_vertices);
  EXPECT_EQ(build_hull(mesh.points, "again").hull.ring, mesh.hull->ring);
  // The builder has them, too.
  EXPECT_EQ(mesh_of(loaded.builder.build(), 0).hull, mesh.hull);
}

TEST_F(LoadedHulls, AreNeverBuiltAgain) {
  const LoadedModel loaded = load_links(link("a", R"(<mesh filename="egg.obj"/>)"));
  const std::uint64_t before = hulls_built();
  Model copy = loaded.model;
  const ColliderSet one(loaded.model), two(copy), three(loaded.builder.build());
  Shape shape = copy.shapes()[0];
  shape.placement.p.x() = 0.5;
  copy.set_shape(ShapeIndex(0), shape);
  const ColliderSet four(copy);
  for (const ColliderSet* set : {&two, &three, &four}) EXPECT_EQ(set->colliders()[0].hull, one.colliders()[0].hull);

  ModelBuilder ground = loaded.builder;
  ground.add_shape("world", {.name = "ground", .geometry = Plane{}});
  World world(ground.build()), second(world.model());
  VecX q = world.state().q;
  q[2] = 0.1;
  world.set_state(q, world.state().v);
  world.step();
  second.step();
  ThreadPool pool(2);
  std::vector<StepRecord> records;
  step_batch(world.model(), std::vector<State>(4, world.state()), {}, {}, pool, records);
  std::vector<std::string> names;
  for (const std::string& each : step_parameter_names(world.model())) {
    if (each.starts_with("shape/") || each.find("placement") != std::string::npos) names.push_back(each);
  }
  ASSERT_FALSE(names.empty());
  gradcheck(world.model(), world.state(), {}, {}, StepParameters(world.model(), names));
  EXPECT_EQ(hulls_built(), before);
}

TEST_F(LoadedHulls, KeepEverythingIfTheyAreToBeExact) {
  LoadOptions options = without_cache();
  options.hull_tolerance = HullTolerance::exact();
  const LoadedModel loaded = load_links(link("a", R"(<mesh filename="egg.obj"/>)"), options);
  EXPECT_EQ(mesh_of(loaded.model, 0).points.size(), 900u);
  EXPECT_EQ(mesh_of(loaded.model, 0).hull->vertices.size(), 900u);
  EXPECT_EQ(loaded.hulls.at(0).error, 0);
}

TEST_F(LoadedHulls, OfMoreVerticesThanAHullMayHaveLoadAllTheSame) {
  write_points(folder_.path() / "fine.obj", egg_points(6000));
  const std::string robot = link("a", R"(<mesh filename="fine.obj"/>)");
  const LoadedModel loaded = load_links(robot);
  EXPECT_TRUE(loaded.warnings.empty());
  EXPECT_EQ(loaded.hulls.at(0).exact_vertices, 6000);
  EXPECT_LE(loaded.hulls.at(0).kept_vertices, kMostKeptVertices);
  ColliderSet set(loaded.model);
  // Exact ones have as many as there may be, and say so.
  LoadOptions options = without_cache();
  options.hull_tolerance = HullTolerance::exact();
  const LoadedModel exact = load_links(robot, options);
  ASSERT_EQ(exact.warnings.size(), 1u);
  EXPECT_EQ(exact.warnings[0].kind, "mesh.hull");
  EXPECT_LE(exact.hulls.at(0).kept_vertices, kMaxHullVertices);
}

TEST_F(LoadedHulls, ThatThereAreNotFailWhereTheMeshIsAskedFor) {
  std::vector<Vec3> line;
  for (int i = 0; i < 50; ++i) line.push_back(0.01 * i * Vec3(1, 2, 3));
  write_points(folder_.path() / "pole.obj", line);
  expect_error([&] { load_links(link("a", "\n\n<mesh filename=\"pole.obj\"/>")); }, "robot.urdf:6: error: mesh",
               "pole.obj", "on a line");
}

TEST_F(LoadedHulls, ThatAreFlatAreAWarning) {
  std::vector<Vec3> sheet;
  for (int i = 0; i < 50; ++i) sheet.emplace_back(0.1 * std::cos(i), 0.1 * std::sin(i), 0);
  write_points(folder_.path() / "sheet.obj", sheet);
  const LoadedModel loaded = load_links(link("a", R"(<mesh filename="sheet.obj"/>)"));
  ASSERT_EQ(loaded.warnings.size(), 1u);
  EXPECT_EQ(loaded.warnings[0].kind, "mesh.hull");
  EXPECT_EQ(loaded.warnings[0].place.line, 4);
  EXPECT_TRUE(ColliderSet(loaded.model).warnings().empty());  // said once
}

TEST_F(LoadedHulls, TellHowFarTheyAre) {
  LoadOptions options = without_cache();
  std::vector<int> seen;
  options.progress = [&](std::string_view what, int done, int total) {
    EXPECT_EQ(what, "hulls");
    EXPECT_EQ(total, 2);
    EXPECT_LE(done, total);
    EXPECT_GE(done, seen.empty() ? 0 : seen.back());
    seen.push_back(done);
  };
  load_links(link("a", R"(<mesh filename="egg.obj"/>)") + link("b", R"(<mesh filename="egg.obj" scale="3 3 3"/>)") +
                 R"(<joint name="ab" type="fixed"><parent link="a"/><child link="b"/></joint>)",
             options);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back(), 2);
}

TEST_F(LoadedHulls, OfMjcfStandInTheirFrames) {
  const LoadedModel loaded = load_text(R"(<mujoco><asset>
      <mesh name="egg" file="egg.obj" scale="0.5 -1 0.5" refpos="0.1 0 0" refquat="0.7071067811865476 0 0 0.7071067811865476"/>
      <mesh name="tetra" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/>
    </asset><worldbody><body>
      <freejoint/><geom name="e" type="mesh" mesh="egg"/><geom name="t" type="mesh" mesh="tetra"/>
      <geom name="ball" type="ellipsoid" size="0.1 0.2 0.3"/>
    </body></worldbody></mujoco>)",
                                       name("robot.xml"), without_cache());
  const Model& model = loaded.model;
  std::set<std::vector<double>> points;
  for (const Vec3& p : egg_points(900)) {
    // Turned back by 90° about z, then scaled.
    const Vec3 x = Vec3(0.5, -1, 0.5).cwiseProduct(Vec3(p.y(), -(p.x() - 0.1), p.z()));
    points.insert({std::round(1e6 * x.x()), std::round(1e6 * x.y()), std::round(1e6 * x.z())});
  }
  const ConvexMesh& egg = mesh_of(model, 0);
  EXPECT_LT(egg.points.size(), 500u);
  for (const Vec3& x : egg.points) {
    EXPECT_TRUE(points.contains({std::round(1e6 * x.x()), std::round(1e6 * x.y()), std::round(1e6 * x.z())})) << x;
  }
  EXPECT_EQ(mesh_of(model, 1).hull->vertices.size(), 4u);
  EXPECT_EQ(mesh_of(model, 2).hull->vertices,
            mesh_of(model, 2).points);  // points on an ellipsoid are meant as they are
}

TEST_F(LoadedHulls, DoNotChangeWhatAMeshWeighs) {
  const char* text = R"(<mujoco><asset><mesh name="egg" file="egg.obj" inertia="convex"/></asset>
    <worldbody><body><freejoint/><geom type="mesh" mesh="egg"/></body></worldbody></mujoco>)";
  LoadOptions coarse = without_cache(), exact = without_cache();
  coarse.hull_tolerance = {0.1, 0.05};
  exact.hull_tolerance = HullTolerance::exact();
  const LoadedModel a = load_text(text, name("a.xml"), coarse), b = load_text(text, name("a.xml"), exact);
  EXPECT_LT(mesh_of(a.model, 0).points.size(), 100u);
  EXPECT_EQ(a.model.bodies().at(1).inertia.mass, b.model.bodies().at(1).inertia.mass);
  EXPECT_EQ(a.model.bodies().at(1).inertia.rotational, b.model.bodies().at(1).inertia.rotational);
}

}  // namespace
}  // namespace lithe::test

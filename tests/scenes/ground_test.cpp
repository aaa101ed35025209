#include "lithe/scenes/ground.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lithe/collision/detect_contacts.h"
#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/kinematics.h"
#include "lithe/model/configuration.h"
#include "lithe/model/model_builder.h"

namespace lithe::test {
namespace {

constexpr Ground kYes = {.when = Ground::When::yes};

// One tilted shape that floats, or hangs on a hinge.
ModelBuilder robot_of(const Geometry& geometry, const JointList& joints) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "body", .inertia = SpatialInertia::sphere(1, 0.1)}, joints);
  builder.add_shape("body", {.name = "shape",
                             .geometry = geometry,
                             .placement = {rotation_about(Vec3(1, -1, 2).normalized(), 0.8), Vec3(0.05, 0, -0.1)}});
  return builder;
}

JointList floating() { return free_joint("root", Pose::translation(0.1, 0.2, 1.5)); }
JointList hinged() { return revolute("hinge", Vec3(1, 2, 0.5).normalized(), Pose::translation(0.1, 0.2, 1.5)); }

bool wants_ground(const ModelBuilder& builder, const Ground& ground = {}) {
  const Model model = builder.build();
  return ground_under(model, neutral_configuration(model), ground).has_value();
}

std::vector<Contact> touches(const Model& model, const VecX& q) {
  Kinematics kin;
  kinematics(model, q, kin);
  std::vector<Pose> poses;
  body_poses(model, kin, poses);
  DetectionWorkspace workspace;
  ContactSet contacts;
  detect_contacts(ColliderSet(model), poses, workspace, contacts);
  return {contacts.contacts.begin(), contacts.contacts.end()};
}

TEST(Ground, JustTouchesEveryShapeWhateverGravityIs) {
  const ConvexMesh wedge = {{{0, 0, 0}, {0.3, 0, 0}, {0, 0.2, 0}, {0.1, 0.1, 0.4}, {-0.1, 0, 0.2}}};
  for (const Vec3& gravity : {Vec3(0, 0, -9.81), Vec3(0, -9.81, 0), Vec3(1, 2, 3), Vec3(0, 0, 9.81)}) {
    for (const Geometry& geometry : {Geometry(Sphere{0.2}), Geometry(Capsule{0.1, 0.3}), Geometry(Box{{0.1, 0.2, 0.3}}),
                                     Geometry(Cylinder{0.15, 0.25}), Geometry(wedge)}) {
      SCOPED_TRACE(geometry.index());
      ModelBuilder builder = robot_of(geometry, floating());
      builder.set_gravity(gravity);
      const Model model = builder.build();
      VecX q = neutral_configuration(model);
      q[2] = 0.3;
      const std::optional<Shape> ground = ground_under(model, q);
      ASSERT_TRUE(ground);
      EXPECT_NEAR((ground->placement.R.col(2) + gravity.normalized()).norm(), 0, 1e-12);
      const std::vector<Contact> contacts = touches(builder.add_shape("world", *ground).build(), q);
      ASSERT_GE(contacts.size(), 1u);
      double gap = 1;
      for (const Contact& contact : contacts) gap = std::min(gap, contact.gap);
      EXPECT_NEAR(gap, 0, 1e-12);
    }
  }
}

TEST(Ground, IsForWhatWouldFallForEver) {
  EXPECT_TRUE(wants_ground(robot_of(Sphere{0.2}, floating())));
  EXPECT_FALSE(wants_ground(robot_of(Sphere{0.2}, hinged())));
  EXPECT_TRUE(wants_ground(robot_of(Sphere{0.2}, prismatic("lift", Vec3::UnitZ()))));
  EXPECT_FALSE(wants_ground(robot_of(Sphere{0.2}, prismatic("rail", Vec3::UnitX()))));

  // What stops it counts on the side that it falls to, whichever way its axis points.
  Joint lift = prismatic("lift", Vec3::UnitZ());
  lift.lower = -1;
  EXPECT_FALSE(wants_ground(robot_of(Sphere{0.2}, lift)));
  lift.axis = -Vec3::UnitZ();
  EXPECT_TRUE(wants_ground(robot_of(Sphere{0.2}, lift)));
  lift.upper = 1;
  EXPECT_FALSE(wants_ground(robot_of(Sphere{0.2}, lift)));
  Joint sprung = prismatic("lift", Vec3::UnitZ());
  sprung.stiffness = 10;
  EXPECT_FALSE(wants_ground(robot_of(Sphere{0.2}, sprung)));

  ModelBuilder weightless = robot_of(Sphere{0.2}, floating());
  EXPECT_FALSE(wants_ground(weightless.set_gravity(Vec3::Zero())));
  ModelBuilder without_shapes;
  without_shapes.add_body("world", {.name = "body", .inertia = SpatialInertia::sphere(1, 0.1)}, floating());
  EXPECT_FALSE(wants_ground(without_shapes));
  EXPECT_FALSE(wants_ground(without_shapes, kYes));
}

TEST(Ground, IsNotPutUnderOneThatIsThere) {
  const auto with = [](const Shape& shape) {
    ModelBuilder builder = robot_of(Sphere{0.2}, floating());
    return builder.add_shape("world", shape);
  };
  const ModelBuilder on_plane = with({.name = "floor", .geometry = Plane{}});
  EXPECT_FALSE(wants_ground(on_plane));
  EXPECT_FALSE(wants_ground(on_plane, kYes));
  EXPECT_TRUE(wants_ground(on_plane, {.when = Ground::When::at_height}));
  // A wall is no ground, and neither is what stands beside it.
  const Pose upright = Pose::rotation(rotation_about(Vec3::UnitY(), 1.5707963267948966));
  EXPECT_TRUE(wants_ground(with({.name = "wall", .geometry = Plane{}, .placement = upright})));
  EXPECT_TRUE(wants_ground(with({.name = "lamp", .geometry = Sphere{0.1}, .placement = Pose::translation(0, 0, 3)})));
  EXPECT_FALSE(wants_ground(with({.name = "table", .geometry = Box{{1, 1, 0.1}}})));
  EXPECT_TRUE(wants_ground(with({.name = "table", .geometry = Box{{1, 1, 0.1}}}), kYes));
}

TEST(Ground, LiesUnderAFixedBaseIfAskedForAndDoesNotTouchIt) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "base"}, weld());
  builder.add_shape("base",
                    {.name = "base", .geometry = Box{{0.2, 0.2, 0.2}}, .placement = Pose::translation(0, 0, 0.5)});
  builder.add_body("base", {.name = "arm", .inertia = SpatialInertia::sphere(1, 0.1)},
                   revolute("shoulder", Vec3::UnitY(), Pose::translation(0, 0, 1)));
  builder.add_shape("arm", {.name = "arm", .geometry = Sphere{0.1}, .placement = Pose::translation(1, 0, 0)});
  EXPECT_FALSE(wants_ground(builder));
  const Model model = builder.build();
  const std::optional<Shape> ground = ground_under(model, VecX::Zero(1), kYes);
  ASSERT_TRUE(ground);
  EXPECT_NEAR(ground->placement.p.z(), 0.3, 1e-12);
  const Model standing = builder.add_shape("world", *ground).build();
  EXPECT_TRUE(touches(standing, VecX::Zero(1)).empty());
  EXPECT_EQ(touches(standing, VecX::Constant(1, 0.7)).size(), 1u);  // the arm, which hangs by 0.64 m
}

TEST(Ground, IsTouchedByWhateverGroupsThereAre) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "body", .inertia = SpatialInertia::sphere(1, 0.1)}, floating());
  builder.add_shape("body", {.name = "foot", .geometry = Sphere{0.1}, .filter = {.groups = 4, .mask = 2}});
  // It never collides, so it does not say where the ground is.
  builder.add_shape("body", {.name = "air", .geometry = Sphere{1}, .filter = {.groups = 1, .mask = 0}});
  const Model model = builder.build();
  const VecX q = neutral_configuration(model);
  const std::optional<Shape> ground = ground_under(model, q);
  ASSERT_TRUE(ground);
  EXPECT_NEAR(ground->placement.p.z(), 1.4, 1e-12);
  EXPECT_EQ(touches(builder.add_shape("world", *ground).build(), q).size(), 1u);
}

TEST(Ground, TakesANameThatIsFree) {
  ModelBuilder builder = robot_of(Sphere{0.2}, floating());
  builder.add_shape("body", {.name = "ground", .geometry = Sphere{0.1}});
  const Model model = builder.build();
  EXPECT_EQ(ground_under(model, neutral_configuration(model))->name, "ground_2");
}

TEST(Ground, IsSaidByAWordOrAHeight) {
  EXPECT_EQ(ground_from("auto").when, Ground::When::automatic);
  EXPECT_EQ(ground_from("yes").when, Ground::When::yes);
  EXPECT_EQ(ground_from("no").when, Ground::When::no);
  EXPECT_EQ(ground_from("-0.25").when, Ground::When::at_height);
  EXPECT_EQ(ground_from("-0.25").height, -0.25);
  for (const char* wrong : {"", "maybe", "1m", "nan", "inf", "YES"}) EXPECT_THROW(ground_from(wrong), Error) << wrong;
}

}  // namespace
}  // namespace lithe::test

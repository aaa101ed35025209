#include "lithe/model/model_builder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lithe/core/infinity.h"
#include "tests/support/constants.h"
#include "tests/support/error_text.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_model.h"

namespace lithe {
namespace {

using test::expect_error;

Body ball_body(const std::string& name) { return {.name = name, .inertia = SpatialInertia::sphere(1, 0.1)}; }

// What happens when this one body, joint or shape is added to an empty model.
void add(const Body& body) { ModelBuilder().add_body("world", body); }
void add(const Joint& joint) { ModelBuilder().add_body("world", ball_body("arm"), joint); }
void add(const Shape& shape) { ModelBuilder().add_shape("world", shape); }

// A revolute joint named "hinge" with one number changed.
template <class Value>
Joint hinge(Value Joint::* member, const Value& value) {
  Joint joint = revolute("hinge", Vec3::UnitX());
  joint.*member = value;
  return joint;
}

TEST(ModelBuilder, RefusesANegativeOrNonFiniteMass) {
  for (const double mass : {-1.5, test::kNan, kInfinity}) {
    Body body = ball_body("arm");
    body.inertia.mass = mass;
    expect_error([&] { add(body); }, "body 'arm'", "mass", fmt::format("{}", mass));
  }
}

TEST(ModelBuilder, RefusesAnInertiaThatNoBodyHas) {
  Body body{.name = "arm", .inertia = SpatialInertia::from_centre(1, {0, 1, 0}, Vec3(1, 2, 3.5).asDiagonal())};
  expect_error([&] { add(body); }, "body 'arm'", "(1, 2, 3.5)", "allow_unphysical_inertia");
  body.inertia = SpatialInertia::from_centre(1, {0, 1, 0}, Vec3(-1, 2, 2).asDiagonal());
  expect_error([&] { add(body); }, "body 'arm'", "(-1, 2, 2)", "allow_unphysical_inertia");
}

TEST(ModelBuilder, TakesAnImpossibleInertiaWhenTold) {
  Body body{.name = "arm", .inertia = SpatialInertia::from_centre(1, {0, 1, 0}, Vec3(1, 2, 3.5).asDiagonal())};
  body.allow_unphysical_inertia = true;
  EXPECT_NO_THROW(add(body));
  body.inertia.mass = test::kNan;  // still no licence for nonsense
  expect_error([&] { add(body); }, "body 'arm'", "nan");
}

TEST(ModelBuilder, TakesFlatBodiesRodsAndPoints) {
  // The triangle inequality holds with equality, where rounding could tip it.
  const Vec3 centre(0.3, -7.1, 2.2);
  const Mat3 R = rotation_about(Vec3(1, 2, 2) / 3, 0.7);
  for (const Vec3& moments : {Vec3(1, 2, 3), Vec3(0, 2, 2), Vec3(0, 0, 0), Vec3(1e-9, 1, 1)}) {
    const Mat3 about_centre = R * moments.asDiagonal() * R.transpose();
    EXPECT_NO_THROW(add(Body{.name = "arm", .inertia = SpatialInertia::from_centre(2, centre, about_centre)}));
  }
}

TEST(ModelBuilder, RefusesANonFiniteOrAsymmetricInertia) {
  Body body = ball_body("arm");
  body.inertia.rotational(0, 1) = test::kNan;
  expect_error([&] { add(body); }, "body 'arm'", "rotational inertia", "finite");
  body.inertia.rotational(0, 1) = 1e-4;
  expect_error([&] { add(body); }, "body 'arm'", "symmetric");
  body = ball_body("arm");
  body.inertia.first_moment.y() = kInfinity;
  expect_error([&] { add(body); }, "body 'arm'", "centre of mass", "finite");
}

TEST(ModelBuilder, RefusesACentreOfMassWithoutMass) {
  Body body{.name = "arm"};
  body.inertia.first_moment.x() = 1;
  expect_error([&] { add(body); }, "body 'arm'", "massless");
}

TEST(ModelBuilder, RefusesPlacementsThatAreNone) {
  Body body = ball_body("arm");
  body.placement.p.z() = test::kNan;
  expect_error([&] { add(body); }, "body 'arm'", "translation", "(0, 0, nan)");
  body.placement = Pose::rotation(2 * Mat3::Identity());
  expect_error([&] { add(body); }, "body 'arm'", "rotation");
  body.placement = Pose::rotation(-Mat3::Identity());  // a reflection
  expect_error([&] { add(body); }, "body 'arm'", "rotation", "determinant -1");

  Joint joint = revolute("hinge", Vec3::UnitX());
  joint.placement.R(0, 0) = test::kNan;
  expect_error([&] { add(joint); }, "joint 'hinge'", "rotation");
  Shape shape{.name = "skin", .geometry = Sphere{1}};
  shape.placement.R(1, 0) = 0.1;
  expect_error([&] { add(shape); }, "shape 'skin'", "rotation");
  Frame frame{.name = "tip", .placement = Pose::translation(kInfinity, 0, 0)};
  expect_error([&] { ModelBuilder().add_frame("world", frame); }, "frame 'tip'", "(inf, 0, 0)");
}

TEST(ModelBuilder, CleansUpRoundedRotationsAndAxes) {
  Joint joint = revolute("hinge", Vec3(0, 3, 4));
  joint.placement.R = rotation_about(Vec3(1, 2, 2) / 3, 0.5);
  for (double& x : joint.placement.R.reshaped()) x = std::round(x * 1e6) / 1e6;  // as printed in a robot file
  const Model model = ModelBuilder().add_body("world", ball_body("arm"), joint).build();
  const Joint& clean = model.joints()[0];
  EXPECT_LT((clean.axis - Vec3(0, 0.6, 0.8)).norm(), 1e-15);
  EXPECT_LT((clean.placement.R.transpose() * clean.placement.R - Mat3::Identity()).norm(), 1e-15);
  EXPECT_LT((clean.placement.R - joint.placement.R).norm(), 1e-5);
}

TEST(ModelBuilder, RefusesAnAxisWithoutDirection) {
  expect_error([] { add(revolute("hinge", Vec3::Zero())); }, "joint 'hinge'", "axis", "(0, 0, 0)");
  expect_error([] { add(prismatic("rail", Vec3(1, test::kNan, 0))); }, "joint 'rail'", "axis", "nan");
  expect_error([] { add(screw("bolt", Vec3::UnitX(), test::kNan)); }, "joint 'bolt'", "pitch", "nan");
}

TEST(ModelBuilder, RefusesInvertedOrMeaninglessLimits) {
  Joint joint = hinge(&Joint::lower, 1.0);
  joint.upper = -0.5;
  expect_error([&] { add(joint); }, "joint 'hinge'", "inverted", "1", "-0.5");
  expect_error([] { add(hinge(&Joint::upper, test::kNan)); }, "joint 'hinge'", "nan");
  expect_error([] { add(hinge(&Joint::lower, kInfinity)); }, "joint 'hinge'", "inf");
  joint.lower = joint.upper = 0.25;  // locked
  EXPECT_NO_THROW(add(joint));
}

TEST(ModelBuilder, RefusesNegativeOrNonFiniteJointProperties) {
  const auto refuses = [](double Joint::* member, const char* name) {
    expect_error([&] { add(hinge(member, -0.25)); }, "joint 'hinge'", name, "-0.25");
    expect_error([&] { add(hinge(member, test::kNan)); }, "joint 'hinge'", name, "nan");
  };
  refuses(&Joint::stiffness, "stiffness");
  refuses(&Joint::damping, "damping");
  refuses(&Joint::armature, "armature");
  refuses(&Joint::dry_friction, "dry_friction");
  refuses(&Joint::effort_limit, "effort_limit");
  refuses(&Joint::velocity_limit, "velocity_limit");
  expect_error([] { add(hinge(&Joint::damping, kInfinity)); }, "joint 'hinge'", "damping", "inf");
  expect_error([] { add(hinge(&Joint::rest, test::kNan)); }, "joint 'hinge'", "rest", "nan");
  expect_error([] { add(hinge(&Joint::rest_orientation, Vec4(0, 0, 0, 0))); }, "joint 'hinge'", "rest orientation");
}

TEST(ModelBuilder, RefusesShapesThatAreNone) {
  expect_error([] { add(Shape{.name = "skin", .geometry = Sphere{0}}); }, "shape 'skin'", "radius", "0");
  expect_error([] { add(Shape{.name = "skin", .geometry = Capsule{0.1, test::kNan}}); }, "shape 'skin'", "half_length",
               "nan");
  expect_error([] { add(Shape{.name = "skin", .geometry = Box{{1, -2, 1}}}); }, "shape 'skin'", "half_size", "-2");
  expect_error([] { add(Shape{.name = "skin", .geometry = Cylinder{kInfinity, 1}}); }, "shape 'skin'", "radius", "inf");
  expect_error([] { add(Shape{.name = "skin", .geometry = ConvexMesh{{Vec3::Zero()}}}); }, "shape 'skin'", "4 points");
  const std::vector<Vec3> points = {Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3(0, 0, test::kNan)};
  expect_error([&] { add(Shape{.name = "skin", .geometry = ConvexMesh{points}}); }, "shape 'skin'", "point 3");
  Shape shape{.name = "skin", .geometry = Plane{}};
  shape.material.friction = -1;
  expect_error([&] { add(shape); }, "shape 'skin'", "friction", "-1");
  shape.material = {.friction = 1, .restitution = 1.5};
  expect_error([&] { add(shape); }, "shape 'skin'", "restitution", "1.5");
  shape.material = {};
  shape.margin = test::kNan;
  expect_error([&] { add(shape); }, "shape 'skin'", "margin", "nan");
}

TEST(ModelBuilder, RefusesANonFiniteGravity) {
  expect_error([] { ModelBuilder().set_gravity(Vec3(0, test::kNan, 0)); }, "gravity", "nan");
}

TEST(ModelBuilder, RefusesEmptyNamesAndASecondWorld) {
  expect_error([] { add(ball_body("")); }, "body", "name");
  expect_error([] { add(revolute("", Vec3::UnitX())); }, "joint", "name");
  expect_error([] { add(ball_body("world")); }, "'world'");
}

TEST(ModelBuilder, RefusesAnUnknownParentAndNamesTheClosest) {
  ModelBuilder builder;
  builder.add_body("world", ball_body("upper_arm")).add_body("uper_arm", ball_body("forearm"));
  expect_error([&] { builder.build(); }, "body 'forearm'", "'uper_arm'", "did you mean 'upper_arm'");
}

TEST(ModelBuilder, RefusesPartsOfUnknownBodies) {
  const Shape skin{.name = "skin", .geometry = Sphere{1}};
  expect_error([&] { ModelBuilder().add_shape("arm", skin).build(); }, "shape 'skin'", "'arm'", "'world'");
  expect_error([&] { ModelBuilder().add_frame("arm", {.name = "tip"}).build(); }, "frame 'tip'", "'arm'");
  expect_error([&] { ModelBuilder().set_collision("world", "arm", false).build(); }, "'arm'");
}

TEST(ModelBuilder, RefusesCyclesAndSpellsThemOut) {
  ModelBuilder builder;
  builder.add_body("c", ball_body("a")).add_body("a", ball_body("b")).add_body("b", ball_body("c"));
  builder.add_body("world", ball_body("fine")).add_body("a", ball_body("hanging on it"));
  expect_error([&] { builder.build(); }, "cycle", "'a'", "'b'", "'c'");
  expect_error([] { ModelBuilder().add_body("a", ball_body("a")).build(); }, "cycle", "'a' → 'a'");
}

TEST(ModelBuilder, RefusesDuplicateNames) {
  const auto twice = [](auto add_one) {
    ModelBuilder builder;
    builder.add_body("world", ball_body("arm")).add_body("world", ball_body("leg"));
    add_one(builder);
    add_one(builder);
    expect_error([&] { builder.build(); }, "two", "'same'");
  };
  twice([](ModelBuilder& builder) { builder.add_body("arm", ball_body("same")); });
  twice([](ModelBuilder& builder) { builder.add_shape("leg", {.name = "same", .geometry = Plane{}}); });
  twice([](ModelBuilder& builder) { builder.add_frame("arm", {.name = "same"}); });
  twice([count = 0](ModelBuilder& builder) mutable {
    builder.add_body("arm", ball_body("body" + std::to_string(++count)), revolute("same", Vec3::UnitX()));
  });
  const JointList both = {revolute("same", Vec3::UnitX()), revolute("same", Vec3::UnitY())};
  expect_error([&] { ModelBuilder().add_body("world", ball_body("arm"), both).build(); }, "two joints", "'same'");
}

TEST(ModelBuilder, RefusesAJointThatMovesNoMass) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "ghost"}, revolute("hinge", Vec3::UnitX()));
  expect_error([&] { builder.build(); }, "joint 'hinge'", "body 'ghost'", "mass");
  ModelBuilder carrying = builder;
  carrying.add_body("ghost", ball_body("load"));
  EXPECT_NO_THROW(carrying.build());
  Joint geared = hinge(&Joint::armature, 0.1);
  EXPECT_NO_THROW(ModelBuilder().add_body("world", {.name = "ghost"}, geared).build());
}

TEST(ModelBuilder, NumbersDepthFirst) {
  const auto turning = [](const char* name) { return revolute(name, Vec3::UnitZ()); };
  ModelBuilder builder;  // children even before their parents
  builder.add_body("a", ball_body("a1"), turning("ja1"));
  builder.add_body("world", ball_body("a"), free_joint("ja"));
  builder.add_body("world", ball_body("b"), turning("jb"));
  builder.add_body("a", ball_body("a2"), turning("ja2"));
  builder.add_body("a1", ball_body("a11"), turning("ja11"));
  const Model model = builder.build();

  std::vector<std::string> bodies, joints;
  for (const Body& body : model.bodies()) bodies.push_back(body.name);
  for (const Joint& joint : model.joints()) joints.push_back(joint.name);
  EXPECT_EQ(bodies, (std::vector<std::string>{"world", "a", "a1", "a11", "a2", "b"}));
  EXPECT_EQ(joints, (std::vector<std::string>{"ja.x", "ja.y", "ja.z", "ja.ball", "ja1", "ja11", "ja2", "jb"}));
  EXPECT_EQ(model.nv(), 10);
  EXPECT_EQ(model.nq(), 11);
  int q = 0, v = 0;
  for (const Joint& joint : model.joints()) {
    EXPECT_EQ(joint.q_index, q);
    EXPECT_EQ(joint.v_index, v);
    q += joint.nq();
    v += joint.nv();
  }
  for (std::size_t b = 1; b < model.bodies().size(); ++b) EXPECT_LT(model.bodies()[b].parent, static_cast<int>(b));
  EXPECT_EQ(model.joints()[model.joint("ja.ball")].body, model.body("a"));
}

TEST(ModelBuilder, BuildsAnEmptyModel) {
  const Model model = ModelBuilder().build();
  EXPECT_EQ(model.nq(), 0);
  EXPECT_EQ(model.nv(), 0);
  EXPECT_EQ(model.bodies().size(), 1u);
  EXPECT_EQ(model.gravity(), Vec3(0, 0, -9.81));
}

TEST(ModelBuilder, AddsAnotherBuilderUnderAPrefixAndAPlacement) {
  ModelBuilder robot;
  robot.add_body("world", ball_body("base"), prismatic("rail", Vec3::UnitX(), Pose::translation(1, 0, 0)));
  robot.add_body("world", {.name = "stand", .placement = Pose::translation(0, 2, 0)});
  robot.add_frame("world", {.name = "corner", .placement = Pose::translation(0, 0, 3)});
  robot.add_shape("base", {.name = "skin", .geometry = Sphere{0.1}});
  robot.set_collision("base", "stand", false);
  ModelBuilder scene;
  scene.add_body("world", ball_body("cart"), prismatic("track", Vec3::UnitY()));
  scene.add(robot, "left/", "cart", Pose::translation(10, 0, 0)).add(robot, "right/");
  const Model model = scene.build();

  const test::PlainKinematics kin = test::plain_kinematics(model, VecX::Zero(model.nq()));
  EXPECT_EQ(kin.X_WB[model.body("left/base")].p, Vec3(11, 0, 0));
  EXPECT_EQ(kin.X_WB[model.body("left/stand")].p, Vec3(10, 2, 0));
  EXPECT_EQ(kin.X_WB[model.body("right/base")].p, Vec3(1, 0, 0));
  EXPECT_EQ(model.bodies()[model.body("left/base")].parent, model.body("cart"));
  EXPECT_EQ(model.frames()[model.frame("left/corner")].body, model.body("cart"));
  EXPECT_EQ(model.frames()[model.frame("left/corner")].placement.p, Vec3(10, 0, 3));
  EXPECT_EQ(model.shapes()[model.shape("right/skin")].body, model.body("right/base"));
  EXPECT_TRUE(model.joint("right/rail").valid());
  EXPECT_EQ(model.pair_exceptions().size(), 2u);
  scene.add(scene, "copy/");  // of itself
  EXPECT_EQ(scene.build().nv(), 2 * model.nv());
}

TEST(ModelBuilder, RefusesARobotWhoseMatricesCouldNotBeAddressed) {
  ModelBuilder snake;
  std::string parent = "world";
  for (int i = 0; i <= 20000; ++i) {
    const std::string name = std::to_string(i);
    snake.add_body(parent, ball_body(name), revolute(name, Vec3::UnitX()));
    parent = name;
  }
  expect_error([&] { snake.build(); }, "more than 20000 degrees of freedom");
}

}  // namespace
}  // namespace lithe

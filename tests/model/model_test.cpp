#include "lithe/model/model.h"

#include <gtest/gtest.h>

#include "lithe/model/model_builder.h"
#include "tests/support/error_text.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe {
namespace {

using test::expect_error;

Model two_links() {
  ModelBuilder builder;
  builder.add_body("world", {.name = "upper", .inertia = SpatialInertia::point(2, {0, 0, -1})},
                   revolute("shoulder", Vec3::UnitY()));
  builder.add_body("upper", {.name = "lower", .inertia = SpatialInertia::point(3, {0, 0, -1})},
                   revolute("elbow", Vec3::UnitY(), Pose::translation(0, 0, -1)));
  builder.add_body("world", {.name = "floor", .inertia = SpatialInertia::sphere(100, 1)});
  builder.add_shape("floor", {.name = "ground", .geometry = Plane{}});
  builder.add_frame("lower", {.name = "tip", .placement = Pose::translation(0, 0, -1)});
  return builder.build();
}

TEST(Model, FindsItsPartsByName) {
  const Model model = two_links();
  EXPECT_EQ(model.bodies()[model.body("lower")].name, "lower");
  EXPECT_EQ(model.joints()[model.joint("elbow")].name, "elbow");
  EXPECT_EQ(model.shapes()[model.shape("ground")].name, "ground");
  EXPECT_EQ(model.frames()[model.frame("tip")].name, "tip");
  EXPECT_EQ(model.body("world"), Model::world());
}

TEST(Model, NamesTheClosestPartsForAnUnknownName) {
  const Model model = two_links();
  expect_error([&] { (void)model.body("uper"); }, "body", "'uper'", "did you mean 'upper'");
  expect_error([&] { (void)model.joint("elbo"); }, "joint", "'elbo'", "did you mean 'elbow'");
  expect_error([&] { (void)model.shape("grund"); }, "shape", "'grund'", "did you mean 'ground'");
  expect_error([&] { (void)model.frame("top"); }, "frame", "'top'", "did you mean 'tip'");
}

TEST(Model, IsAValue) {
  const Model original = two_links();
  Model copy = original;
  copy.set_gravity({1, 2, 3});
  copy.set_inertia(copy.body("lower"), SpatialInertia::sphere(7, 0.1));
  Joint elbow = copy.joints()[copy.joint("elbow")];
  elbow.placement.p.z() = -5;
  elbow.damping = 4;
  copy.set_joint(copy.joint("elbow"), elbow);

  EXPECT_EQ(original.gravity(), Vec3(0, 0, -9.81));
  EXPECT_EQ(original.bodies()[original.body("lower")].inertia.mass, 3);
  EXPECT_EQ(original.joints()[1].placement.p.z(), -1);
  EXPECT_EQ(original.joints()[1].damping, 0);
  EXPECT_EQ(original.tree().joints[1].p, Vec3(two_links().tree().joints[1].p));
  EXPECT_EQ(copy.tree().joints[1].p.norm(), 5);
  EXPECT_EQ(original.total_mass(), 5);
  EXPECT_EQ(copy.total_mass(), 9);
}

TEST(Model, TotalMassLeavesOutWhatIsFixed) { EXPECT_EQ(two_links().total_mass(), 5); }

TEST(Model, SettersRefuseWhatTheBuilderRefusesAndChangeNothing) {
  Model model = two_links();
  const BodyIndex lower = model.body("lower");
  const JointIndex elbow = model.joint("elbow");
  SpatialInertia inertia = model.bodies()[lower].inertia;
  inertia.mass = -1;
  expect_error([&] { model.set_inertia(lower, inertia); }, "body 'lower'", "mass", "-1");
  expect_error([&] { model.set_body_placement(lower, Pose::rotation(Mat3::Zero())); }, "body 'lower'", "rotation");
  Joint joint = model.joints()[elbow];
  joint.axis.setZero();
  expect_error([&] { model.set_joint(elbow, joint); }, "joint 'elbow'", "axis");
  Shape shape = model.shapes()[0];
  shape.margin = -1;
  expect_error([&] { model.set_shape(ShapeIndex(0), shape); }, "shape 'ground'", "margin", "-1");
  expect_error([&] { model.set_frame_placement(FrameIndex(0), Pose::rotation(Mat3::Zero())); }, "frame 'tip'");
  expect_error([&] { model.set_gravity({0, 0, -1.0 / 0.0}); }, "gravity", "-inf");

  EXPECT_EQ(model.bodies()[lower].inertia.mass, 3);
  EXPECT_EQ(model.joints()[elbow].axis, Vec3::UnitY().eval());
  EXPECT_EQ(model.shapes()[0].margin, 0);
  EXPECT_EQ(model.gravity(), Vec3(0, 0, -9.81));
}

TEST(Model, SettersRefuseToTakeTheLastMassFromAJoint) {
  Model model = two_links();
  expect_error([&] { model.set_inertia(model.body("lower"), {}); }, "joint 'elbow'", "no mass");
  EXPECT_EQ(model.bodies()[model.body("lower")].inertia.mass, 3);
  Joint elbow = model.joints()[model.joint("elbow")];
  elbow.armature = 0.1;
  model.set_joint(model.joint("elbow"), elbow);
  EXPECT_NO_THROW(model.set_inertia(model.body("lower"), {}));
  elbow.armature = 0;
  expect_error([&] { model.set_joint(model.joint("elbow"), elbow); }, "joint 'elbow'", "no mass");
  EXPECT_EQ(model.joints()[model.joint("elbow")].armature, 0.1);
}

TEST(Model, SettersRefuseTheWorldAndWrongIndices) {
  Model model = two_links();
  expect_error([&] { model.set_inertia(Model::world(), {}); }, "world");
  expect_error([&] { model.set_body_placement(Model::world(), {}); }, "world");
  expect_error([&] { model.set_inertia(BodyIndex(17), {}); }, "body index 17");
  expect_error([&] { model.set_joint(JointIndex(), {}); }, "joint index -1");
}

TEST(Model, AJointKeepsItsNameTypeAndPlace) {
  Model model = two_links();
  expect_error([&] { model.set_joint(model.joint("elbow"), prismatic("elbow", Vec3::UnitX())); }, "revolute",
               "prismatic");
  model.set_joint(model.joint("elbow"), revolute("another name", Vec3::UnitX()));
  const Joint& elbow = model.joints()[model.joint("elbow")];
  EXPECT_EQ(elbow.axis, Vec3::UnitX().eval());
  EXPECT_EQ(elbow.body, model.body("lower"));
  EXPECT_EQ(elbow.v_index, 1);
}

TEST(Model, ASetModelIsTheModelBuiltSo) {
  // Everything that the tree keeps about the numbers follows them.
  test::for_random_cases(20, [](std::mt19937_64& random) {
    const Model source = test::random_model(random, {.max_dofs = 20});
    Model target = source;
    for (std::size_t b = 1; b < source.bodies().size(); ++b) {
      const BodyIndex body(static_cast<int>(b));
      target.set_inertia(body, test::random_inertia(random));
      target.set_body_placement(body, test::random_pose(random));
    }
    for (std::size_t j = 0; j < source.joints().size(); ++j) {
      Joint joint = source.joints()[j];
      joint.placement = test::random_pose(random);
      joint.axis = test::random_axis(random);
      joint.armature = 0.3;
      target.set_joint(JointIndex(static_cast<int>(j)), joint);
    }
    const DofTree fresh = compile_tree(target.bodies(), target.joints());
    for (std::size_t j = 0; j < fresh.joints.size(); ++j) {
      EXPECT_EQ(target.tree().joints[j].R, fresh.joints[j].R);
      EXPECT_EQ(target.tree().joints[j].p, fresh.joints[j].p);
    }
    for (int slot = 0; slot < fresh.slot_count; ++slot) {
      for (int row = 0; row < 10; ++row) EXPECT_EQ(target.tree().link.at(row, slot), fresh.link.at(row, slot));
      EXPECT_EQ(target.tree().armature.at(0, slot), fresh.armature.at(0, slot));
    }
  });
}

TEST(Model, SettingWhatIsThereChangesNoBit) {
  test::for_random_cases(20, [](std::mt19937_64& random) {
    const Model before = test::random_model(random);
    Model after = before;
    for (std::size_t b = 1; b < before.bodies().size(); ++b) {
      after.set_inertia(BodyIndex(static_cast<int>(b)), before.bodies()[b].inertia);
      EXPECT_EQ(after.bodies()[b].inertia.rotational, before.bodies()[b].inertia.rotational);
      EXPECT_EQ(after.bodies()[b].placement.R, before.bodies()[b].placement.R);
    }
    for (std::size_t j = 0; j < before.joints().size(); ++j) {
      after.set_joint(JointIndex(static_cast<int>(j)), before.joints()[j]);
      EXPECT_EQ(after.joints()[j].axis, before.joints()[j].axis);
      EXPECT_EQ(after.joints()[j].placement.R, before.joints()[j].placement.R);
    }
  });
}

}  // namespace
}  // namespace lithe

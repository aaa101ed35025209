#include "lithe/model/motor.h"

#include <gtest/gtest.h>

#include "lithe/core/infinity.h"
#include "lithe/model/model_builder.h"
#include "tests/support/constants.h"
#include "tests/support/error_text.h"

namespace lithe {
namespace {

using test::expect_error;

// An three_joint_arm of two links whose hand turns on a ball joint.
ModelBuilder three_joint_arm() {
  const SpatialInertia inertia = SpatialInertia::sphere(1, 0.1);
  ModelBuilder builder;
  builder.add_body("world", {.name = "upper", .inertia = inertia}, revolute("shoulder", Vec3::UnitY()));
  builder.add_body("upper", {.name = "lower", .inertia = inertia}, prismatic("elbow", Vec3::UnitX()));
  builder.add_body("lower", {.name = "hand", .inertia = inertia}, ball("wrist"));
  return builder;
}

Model arm_with(const Motor& motor, const char* joint = "elbow") {
  return three_joint_arm().add_motor(joint, motor).build();
}

// A position servo with one number changed.
Motor servo(double Motor::* member, double value) {
  Motor motor = position_servo("drive", 10, 100, 1);
  motor.*member = value;
  return motor;
}

TEST(Motor, DrivesTheJointThatItIsAddedTo) {
  const Model model = three_joint_arm()
                          .add_motor("shoulder", position_servo("a", 5))
                          .add_motor("elbow", velocity_motor("b", 7))
                          .build();
  ASSERT_EQ(model.motors().size(), 2u);
  const Motor& a = model.motors()[model.motor("a")];
  const Motor& b = model.motors()[model.motor("b")];
  EXPECT_EQ(a.joint, model.joint("shoulder"));
  EXPECT_EQ(b.joint, model.joint("elbow"));
  EXPECT_EQ(a.target, Motor::Target::position);
  EXPECT_EQ(b.target, Motor::Target::velocity);
  EXPECT_EQ(a.max_effort, 5);
  EXPECT_EQ(b.max_effort, 7);
}

TEST(Motor, ServosAndVelocityMotorsReachTheirTargetsUnlessToldOtherwise) {
  const Motor position = position_servo("a");
  EXPECT_EQ(position.stiffness, kInfinity);
  EXPECT_EQ(position.damping, 0);
  EXPECT_EQ(position.max_effort, kInfinity);
  const Motor velocity = velocity_motor("b");
  EXPECT_EQ(velocity.stiffness, 0);
  EXPECT_EQ(velocity.damping, kInfinity);
  EXPECT_EQ(velocity.max_effort, kInfinity);
  EXPECT_NO_THROW(arm_with(position));
  EXPECT_NO_THROW(arm_with(velocity));
}

TEST(Motor, OnABallJointIsRefused) {
  expect_error([] { arm_with(position_servo("drive"), "wrist"); }, "motor 'drive'", "joint 'wrist'", "ball");
}

TEST(Motor, OnAnUnknownJointIsRefusedWithTheClosestOnes) {
  expect_error([] { arm_with(velocity_motor("drive"), "elbw"); }, "motor 'drive'", "joint 'elbw'",
               "did you mean 'elbow'");
}

TEST(Motor, NeedsANameOfItsOwn) {
  expect_error([] { arm_with(velocity_motor("")); }, "motor", "empty name");
  expect_error(
      [] {
        three_joint_arm().add_motor("elbow", velocity_motor("m")).add_motor("shoulder", velocity_motor("m")).build();
      },
      "two motors", "'m'");
}

TEST(Motor, NegativeOrUndefinedNumbersAreRefused) {
  const auto refuses = [](double Motor::* member, const char* name) {
    expect_error([&] { arm_with(servo(member, -0.25)); }, "motor 'drive'", name, "-0.25");
    expect_error([&] { arm_with(servo(member, test::kNan)); }, "motor 'drive'", name, "nan");
  };
  refuses(&Motor::stiffness, "stiffness");
  refuses(&Motor::damping, "damping");
  refuses(&Motor::max_effort, "max_effort");
}

TEST(Motor, APositionServoMayBeStiffWithoutLimitButNotDampedSo) {
  EXPECT_NO_THROW(arm_with(servo(&Motor::stiffness, kInfinity)));
  EXPECT_NO_THROW(arm_with(servo(&Motor::stiffness, 0)));  // a damper
  expect_error([] { arm_with(servo(&Motor::damping, kInfinity)); }, "motor 'drive'", "damping", "inf");
}

TEST(Motor, WithoutAnyGainIsRefused) {
  expect_error([] { arm_with(position_servo("drive", 10, 0, 0)); }, "motor 'drive'", "stiffness", "damping");
  expect_error([] { arm_with(velocity_motor("drive", 10, 0)); }, "motor 'drive'", "damping");
}

TEST(Motor, AVelocityMotorHasNoStiffness) {
  Motor motor = velocity_motor("drive", 10, 5);
  motor.stiffness = 2;
  expect_error([&] { arm_with(motor); }, "motor 'drive'", "stiffness");
}

TEST(Motor, WithoutEffortIsSwitchedOff) { EXPECT_NO_THROW(arm_with(velocity_motor("drive", 0))); }

TEST(Motor, KeepsItsNameAndJointWhenItIsSet) {
  Model model = arm_with(position_servo("drive", 10, 100, 1));
  Motor other = velocity_motor("another name", 3, 2);
  other.joint = model.joint("shoulder");
  model.set_motor(model.motor("drive"), other);
  const Motor& drive = model.motors()[model.motor("drive")];
  EXPECT_EQ(drive.joint, model.joint("elbow"));
  EXPECT_EQ(drive.target, Motor::Target::velocity);
  EXPECT_EQ(drive.max_effort, 3);

  other.damping = 0;
  expect_error([&] { model.set_motor(model.motor("drive"), other); }, "motor 'drive'", "damping");
  EXPECT_EQ(model.motors()[0].damping, 2);
  expect_error([&] { model.set_motor(MotorIndex(1), other); }, "motor index 1");
  expect_error([&] { (void)model.motor("drve"); }, "motor", "'drve'", "did you mean 'drive'");
}

TEST(Motor, ComesAlongWhenItsBuilderIsAddedToAnother) {
  ModelBuilder robot = three_joint_arm();
  robot.add_motor("elbow", velocity_motor("drive", 4));
  const Model model = ModelBuilder().add(robot, "left/").add(robot, "right/").build();
  ASSERT_EQ(model.motors().size(), 2u);
  EXPECT_EQ(model.motors()[model.motor("right/drive")].joint, model.joint("right/elbow"));
  EXPECT_EQ(model.motors()[model.motor("left/drive")].joint, model.joint("left/elbow"));
}

}  // namespace
}  // namespace lithe

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/step_worlds.h"

// Motors reach their targets when their effort suffices, and give all of it when it does not.
namespace lithe::test {
namespace {

constexpr double kLiftMass = 2;

// A lift: a mass on a vertical slider with one motor.
World lift(const Motor& motor, double velocity_limit = Joint::kInfinity, double effort_limit = Joint::kInfinity) {
  Joint slide = prismatic("slide", Vec3::UnitZ());
  slide.velocity_limit = velocity_limit;
  slide.effort_limit = effort_limit;
  ModelBuilder builder;
  builder.add_body("world", {.name = "mass", .inertia = SpatialInertia::sphere(kLiftMass, 0.1)}, slide);
  builder.add_motor("slide", motor);
  return world_of(builder, 1e-3);
}

Control target(double value) { return with_targets(VecX::Constant(1, value)); }
double effort(const World& world) { return motor_effort(world.record(), MotorIndex(0)); }

constexpr double kWeight = kLiftMass * kGravity;

TEST(VelocityMotor, ReachesItsTargetWithinAStepAndCarriesTheWeight) {
  World world = lift(velocity_motor("drive"));
  world.step(target(0.7));
  EXPECT_NEAR(v_of(world, "slide"), 0.7, 1e-12);
  run(world, 1, target(0.7));
  EXPECT_NEAR(v_of(world, "slide"), 0.7, 1e-12);
  EXPECT_NEAR(effort(world), kWeight, 1e-9);
}

TEST(VelocityMotor, GivesExactlyItsMostOnTheWayThere) {
  // a = (F − m g)/m until it is there.
  World world = lift(velocity_motor("drive", 30));
  const double acceleration = (30 - kWeight) / kLiftMass;
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(world.step(target(0.7)).solved());
    ASSERT_EQ(effort(world), 30);
    ASSERT_NEAR(v_of(world, "slide"), acceleration * 1e-3 * i, 1e-12);
  }
  run(world, 1, target(0.7));
  EXPECT_NEAR(v_of(world, "slide"), 0.7, 1e-12);
  EXPECT_NEAR(effort(world), kWeight, 1e-9);
}

TEST(VelocityMotor, StallsAgainstALoadThatIsTooHeavy) {
  // It is driven back with (m g − F)/m.
  World world = lift(velocity_motor("drive", 15));
  run(world, 0.5, target(0.7));
  EXPECT_EQ(effort(world), 15);
  EXPECT_NEAR(v_of(world, "slide"), -(kWeight - 15) / kLiftMass * 0.5, 1e-9);
}

TEST(VelocityMotor, WithADampingLagsBehindByTheLoad) {
  // At rest in its moving frame d (target − v) = m g.
  World world = lift(velocity_motor("drive", Motor::kInfinity, 100));
  run(world, 2, target(0.5));
  EXPECT_NEAR(v_of(world, "slide"), 0.5 - kWeight / 100, 1e-9);
  EXPECT_NEAR(effort(world), kWeight, 1e-9);
}

TEST(VelocityMotor, ObeysTheJointsEffortLimitToo) {
  World world = lift(velocity_motor("drive", 50), Joint::kInfinity, 25);
  world.step(target(10));
  EXPECT_EQ(effort(world), 25);
}

TEST(PositionServo, ReachesItsTargetWithinAStepIfItMay) {
  World world = lift(position_servo("servo"));
  world.step(target(0.3));
  EXPECT_NEAR(q_of(world, "slide"), 0.3, 1e-12);
  run(world, 0.5, target(0.3));
  EXPECT_NEAR(q_of(world, "slide"), 0.3, 1e-12);
  EXPECT_NEAR(effort(world), kWeight, 1e-9);
}

TEST(PositionServo, GoesNoFasterThanItsJoint) {
  World world = lift(position_servo("servo"), 0.4);
  run(world, 0.5, target(0.3));
  EXPECT_NEAR(q_of(world, "slide"), 0.2, 1e-9);
  EXPECT_NEAR(v_of(world, "slide"), 0.4, 1e-12);
  run(world, 0.5, target(0.3));
  EXPECT_NEAR(q_of(world, "slide"), 0.3, 1e-12);
  EXPECT_LT(fastest(world), 1e-9);
}

TEST(PositionServo, WithGainsSettlesWhereItsSpringCarriesTheLoad) {
  // k (target − q) = m g.
  World world = lift(position_servo("servo", Motor::kInfinity, 500, 60));
  run(world, 5, target(0.3));
  EXPECT_NEAR(q_of(world, "slide"), 0.3 - kWeight / 500, 1e-9);
  EXPECT_NEAR(effort(world), kWeight, 1e-7);
}

TEST(PositionServo, IsStableForAnyGain) {
  for (const double stiffness : {1e4, 1e8, 1e12}) {
    SCOPED_TRACE("stiffness " + std::to_string(stiffness));
    World world = lift(position_servo("servo", Motor::kInfinity, stiffness, 1));
    set_joint_state(world, "slide", -1, 20);
    run(world, 20, target(0.3));
    EXPECT_NEAR(q_of(world, "slide"), 0.3 - kWeight / stiffness, 1e-6);
  }
}

TEST(PositionServo, IsTheSameAsASpringToItsTarget) {
  // Its law is that of a joint with stiffness, damping and rest position, both taken at the end of the step.
  World servo = lift(position_servo("servo", Motor::kInfinity, 300, 2));
  Joint slide = prismatic("slide", Vec3::UnitZ());
  slide.stiffness = 300;
  slide.damping = 2;
  slide.rest = 0.3;
  ModelBuilder builder;
  builder.add_body("world", {.name = "mass", .inertia = SpatialInertia::sphere(kLiftMass, 0.1)}, slide);
  World spring = world_of(builder, 1e-3);
  for (int i = 0; i < 1000; ++i) {
    servo.step(target(0.3));
    spring.step();
    ASSERT_NEAR(q_of(servo, "slide"), q_of(spring, "slide"), 1e-9);
    ASSERT_NEAR(v_of(servo, "slide"), v_of(spring, "slide"), 1e-9);
  }
}

TEST(PositionServo, SaturatesAtItsEffort) {
  World world = lift(position_servo("servo", 25, 500, 10));
  world.step(target(1));
  EXPECT_EQ(effort(world), 25);
  run(world, 10, target(1));
  EXPECT_NEAR(q_of(world, "slide"), 1 - kWeight / 500, 1e-6);
  EXPECT_NEAR(effort(world), kWeight, 1e-3);
}

TEST(Motors, SwitchedOffLetTheJointCoast) {
  World world = lift(velocity_motor("drive"));
  run(world, 0.1, target(0.7));
  run(world, 0.1);
  EXPECT_NEAR(v_of(world, "slide"), 0.7 - kGravity * 0.1, 1e-9);
  EXPECT_EQ(effort(world), 0);
}

TEST(Motors, ShareALimitWithTheJointsStop) {
  // The motor pushes against the joint's limit with all it has.
  Joint slide = prismatic("slide", Vec3::UnitZ());
  slide.upper = 0.1;
  ModelBuilder builder;
  builder.add_body("world", {.name = "mass", .inertia = SpatialInertia::sphere(kLiftMass, 0.1)}, slide);
  builder.add_motor("slide", velocity_motor("drive", 60));
  World world = world_of(builder, 1e-3);
  run(world, 1, target(0.5));
  EXPECT_EQ(effort(world), 60);
  EXPECT_NEAR(q_of(world, "slide"), 0.1, 1e-6);
  EXPECT_NEAR(constraint_forces(world.model(), world.record())[0], kWeight,
              1e-6);  // 60 N less what the stop pushes back
}

TEST(Motors, HoldAnArmAgainstItsLoad) {
  // Two joints, each with its own servo: torques are those of the statics.
  ModelBuilder builder;
  builder.add_body("world", {.name = "upper", .inertia = SpatialInertia::point(1, {0.25, 0, 0})},
                   revolute("shoulder", Vec3::UnitY()));
  builder.add_body("upper", {.name = "lower", .inertia = SpatialInertia::point(0.6, {0.5, 0, 0})},
                   revolute("elbow", Vec3::UnitY(), Pose::translation(0.5, 0, 0)));
  builder.add_motor("shoulder", position_servo("shoulder"));
  builder.add_motor("elbow", position_servo("elbow"));
  World world = world_of(builder, 1e-3);
  run(world, 0.5, with_targets(Eigen::Vector2d(0.2, -0.7)));
  EXPECT_NEAR(q_of(world, "shoulder"), 0.2, 1e-9);
  EXPECT_NEAR(q_of(world, "elbow"), -0.7, 1e-9);
  const double elbow = -0.6 * kGravity * 0.5 * std::cos(0.2 - 0.7);
  const double shoulder = elbow - (1 * 0.25 + 0.6 * 0.5) * kGravity * std::cos(0.2);
  EXPECT_NEAR(motor_effort(world.record(), MotorIndex(1)), elbow, 1e-7);
  EXPECT_NEAR(motor_effort(world.record(), MotorIndex(0)), shoulder, 1e-7);
}

}  // namespace
}  // namespace lithe::test

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lithe/scenes/robots/pendulum.h"
#include "tests/support/step_worlds.h"

// Joint limits hold.
namespace lithe::test {
namespace {

constexpr double kViolation = 1e-6;  // rad or m

// A slider along z with a mass of 1 kg and the joint "slide".
World slider(double lower, double upper, double gravity) {
  Joint slide = prismatic("slide", Vec3::UnitZ());
  slide.lower = lower;
  slide.upper = upper;
  ModelBuilder builder;
  builder.set_gravity(Vec3(0, 0, -gravity));
  builder.add_body("world", {.name = "mass", .inertia = SpatialInertia::sphere(1, 0.1)}, slide);
  return world_of(builder, 1e-3);
}

// How far q has been beyond the limits at any time of a run.
double worst_violation(World& world, const std::string& joint, double seconds) {
  const Joint limits = world.model().joints()[world.model().joint(joint)];
  double worst = 0;
  for (double end = world.time() + seconds; world.time() < end;) {
    const StepStatus& status = world.step();
    EXPECT_TRUE(status.solved());
    if (!status.solved()) break;
    const double q = q_of(world, joint);
    worst = std::max({worst, limits.lower - q, q - limits.upper});
  }
  return worst;
}

TEST(Limits, HoldUnderAHundredTimesGravity) {
  World world = slider(-0.2, 0.2, 100 * kGravity);
  EXPECT_LT(worst_violation(world, "slide", 2), kViolation);
  EXPECT_NEAR(q_of(world, "slide"), -0.2, kViolation);
  EXPECT_LT(fastest(world), 1e-9);
  EXPECT_NEAR(constraint_forces(world.model(), world.record())[0], 100 * kGravity, 1e-6 * kGravity);
}

TEST(Limits, AMassArrivesAtSpeedAndStopsAtTheLimit) {
  for (const double speed : {0.01, 1.0, 10.0, 1000.0}) {
    SCOPED_TRACE("speed " + std::to_string(speed));
    World world = slider(-0.2, 0.2, 0);
    set_joint_state(world, "slide", 0, speed);
    EXPECT_LT(worst_violation(world, "slide", 0.3 / speed + 0.1), kViolation);
    EXPECT_LT(v_of(world, "slide"), 1e-9);
  }
}

TEST(Limits, NothingHoldsAJointThatLeavesItsLimit) {
  World world = slider(-0.2, 0.2, kGravity);
  set_joint_state(world, "slide", 0.2);
  run(world, 0.1);
  // v = g t: the limit did not pull.
  EXPECT_NEAR(v_of(world, "slide"), -kGravity * 0.1, 1e-12);
}

TEST(Limits, EqualLimitsLockAJoint) {
  World world = slider(0.1, 0.1, 100 * kGravity);
  set_joint_state(world, "slide", 0.1, 3);
  EXPECT_LT(worst_violation(world, "slide", 1), kViolation);
  EXPECT_LT(fastest(world), 1e-9);
}

TEST(Limits, AViolationFadesByTheCorrectionsShare) {
  // 1 − β = 0.8 per step, with a load that keeps it from coasting.
  World world = slider(-0.2, 0.2, 100 * kGravity);
  set_joint_state(world, "slide", -0.2004);
  run(world, 0.01);
  EXPECT_NEAR(q_of(world, "slide"), -0.2 - 0.0004 * std::pow(0.8, 10), 1e-9);
}

TEST(Limits, OfAPendulumStopItsSwing) {
  ModelBuilder builder = pendulum();
  Model model = builder.build();
  Joint hinge = model.joints()[0];
  hinge.lower = -0.3;
  hinge.upper = 0.5;
  model.set_joint(JointIndex(0), hinge);
  World world(model);
  set_joint_state(world, hinge.name, 0.5, -4);
  EXPECT_LT(worst_violation(world, hinge.name, 5), kViolation);
}

TEST(Limits, OfACompositeJointHoldEachOnItsOwn) {
  // Three sliders in one body's list, pushed beyond two of their limits at once.
  JointList joints = translational("slide");
  for (Joint& joint : joints) {
    joint.lower = -0.1;
    joint.upper = 0.1;
  }
  ModelBuilder builder;
  builder.set_gravity(Vec3(300, -400, 0));
  builder.add_body("world", {.name = "mass", .inertia = SpatialInertia::sphere(1, 0.1)}, joints);
  World world = world_of(builder, 1e-3);
  run(world, 1);
  EXPECT_NEAR(q_of(world, "slide.x"), 0.1, kViolation);
  EXPECT_NEAR(q_of(world, "slide.y"), -0.1, kViolation);
  EXPECT_NEAR(q_of(world, "slide.z"), 0, 1e-12);
}

}  // namespace
}  // namespace lithe::test

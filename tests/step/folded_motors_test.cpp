#include "lithe/step/internal/folded_motors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "lithe/step/internal/recorded_stages.h"
#include "lithe/step/internal/step_tape.h"
#include "lithe/step/internal/step_workspace.h"
#include "lithe/step/step.h"
#include "lithe/step/step_vjp.h"
#include "tests/support/step_worlds.h"

// Motors that are not saturated are part of the smooth motion. Nothing but the time that a step takes shows it: a step without a guess,
// which has a row for every motor, gives the same.
namespace lithe::test {

using namespace internal;
namespace {

constexpr int kJoints = 8;

// A trunk on two legs of four joints, which have a servo and dry friction each, above the ground.
World biped(double effort, double stiffness) {
  ModelBuilder builder = ground_at(at_the_origin(), {.friction = 0.6});
  builder.add_body("world", {.name = "trunk", .inertia = SpatialInertia::box(6, Vec3(0.2, 0.3, 0.2))},
                   free_joint("root", Pose::translation(0, 0, 0.6)));
  for (const double side : {1.0, -1.0}) {
    std::string parent = "trunk";
    for (int k = 0; k < kJoints / 2; ++k) {
      const std::string name = (side > 0 ? "left" : "right") + std::to_string(k);
      Joint joint = revolute(name, k == 0 ? Vec3::UnitX() : Vec3::UnitY(),
                             k == 0 ? Pose::translation(0, 0.1 * side, -0.1) : Pose::translation(0, 0, -0.12));
      joint.dry_friction = 0.05;
      builder.add_body(parent, {.name = name, .inertia = SpatialInertia::box(0.5, Vec3(0.05, 0.05, 0.12))}, joint);
      builder.add_motor(name, position_servo("servo of " + name, effort, stiffness, 0.05 * stiffness));
      parent = name;
    }
    builder.add_shape(parent, {.name = parent + " foot",
                               .geometry = Box{Vec3(0.08, 0.04, 0.01)},
                               .placement = Pose::translation(0, 0, -0.1)});
  }
  return world_of(builder, 2e-3);
}

// How steps with and without folded motors compare along a motion. Friction may allow for several motions, of which a guess can
// choose another one; then the modes differ.
struct Comparison {
  int folded = 0;                                 // steps with folded motors, of which
  int same = 0;                                   // those with the modes of the other step
  int saturated = 0;                              // motors at their limits there
  double residual = 0;                            // the largest one of the problem with all rows
  double velocity = 0, effort = 0, gradient = 0;  // largest differences where modes are the same
};

double difference(const VecX& a, const VecX& b) {
  return (a - b).lpNorm<Eigen::Infinity>() / std::max(1e-9, b.lpNorm<Eigen::Infinity>());
}

VecX gradient_of(const Model& model, const StepRecord& record) {
  const StepCotangent ones = {.q = VecX::Ones(model.nv()), .v = VecX::Ones(model.nv())};
  StepVjp vjp;
  step_vjp(model, record, ones, vjp);
  VecX all(3 * model.nv());
  all << vjp.q, vjp.v, vjp.tau;
  return all;
}

// The residual of the record's impulses in the problem with all rows.
double residual_of(const Model& model, const StepRecord& record) {
  const ContactProblem problem = lcps_of(model, record);
  double worst = 0;
  for (int i = 0; i < problem.island_count(); ++i) {
    const Island& island = problem.islands.islands()[i];
    const auto f = std::span(record.f).subspan(island.first_row, island.row_count);
    std::vector<double> w(f.size());
    evaluate(problem.lcp(i), f, w);
    worst = std::max(worst, residual(problem.lcp(i), f, w));
  }
  return worst;
}

// The servos get new targets of this size every few steps.
Comparison compare_along_a_motion(World world, double reach, int steps) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> targets(-reach, reach);
  Control control = with_targets(VecX::Zero(kJoints));
  const Model& model = world.model();
  Comparison found;
  StepRecord whole;
  for (int i = 0; i < steps; ++i) {
    if (i % 5 == 0) {
      for (double& target : control.motor_targets) target = targets(random);
    }
    const State before = world.state();
    world.step(control);
    const StepRecord& record = world.record();
    if (step_workspace(model.tree()).folded.empty()) continue;
    ++found.folded;
    found.residual = std::max(found.residual, residual_of(model, record));
    step(model, before, control, world.options, whole);
    EXPECT_TRUE(step_workspace(model.tree()).folded.empty()) << "nothing is known of the motors";
    EXPECT_EQ(record.status.rows, whole.status.rows);
    EXPECT_EQ(record.tape().problem.target, whole.tape().problem.target);
    if (record.modes != whole.modes) continue;
    ++found.same;
    found.velocity = std::max(found.velocity, difference(record.next.v, whole.next.v));
    found.gradient = std::max(found.gradient, difference(gradient_of(model, record), gradient_of(model, whole)));
    for (int m = 0; m < kJoints; ++m) {
      const double effort = motor_effort(record, MotorIndex(m)), other = motor_effort(whole, MotorIndex(m));
      found.effort = std::max(found.effort, std::abs(effort - other) / (1 + std::abs(other)));
      found.saturated += std::abs(effort) >= model.motors()[m].max_effort * (1 - 1e-12);
    }
  }
  return found;
}

void expect_agreement(const Comparison& found) {
  EXPECT_LE(found.residual, 1e-9);
  EXPECT_GE(found.same, 0.95 * found.folded);
  EXPECT_LE(found.velocity, 1e-9);
  EXPECT_LE(found.effort, 1e-9);
  EXPECT_LE(found.gradient, 1e-7);
}

TEST(FoldedMotors, MoveTheModelAsTheirRowsDo) {
  const Comparison found = compare_along_a_motion(biped(Motor::kInfinity, 60), 0.3, 600);
  EXPECT_GE(found.folded, 590);
  expect_agreement(found);
}

TEST(FoldedMotors, BecomeRowsWhereTheySaturate) {
  const Comparison found = compare_along_a_motion(biped(3, 60), 0.3, 600);
  EXPECT_GE(found.folded, 100);
  EXPECT_GE(found.saturated, 20);
  expect_agreement(found);
}

TEST(FoldedMotors, StayFoldedBesideAnOverlapThatNothingCanMend) {
  // Two balls overlap on the axis of the joint between them, where the correction of the contact moves nothing.
  const auto arm = [](bool overlaps) {
    ModelBuilder builder;
    builder.add_body("world", {.name = "arm", .inertia = SpatialInertia::box(1, Vec3(0.1, 0.1, 0.3))},
                     revolute("shoulder", Vec3::UnitX()));
    builder.add_body("arm", {.name = "hand", .inertia = SpatialInertia::box(0.5, Vec3(0.05, 0.05, 0.3))},
                     revolute("wrist", Vec3::UnitY(), Pose::translation(0, 0, 0.3)));
    for (const char* joint : {"shoulder", "wrist"}) builder.add_motor(joint, position_servo(joint, 50, 60, 2));
    builder.add_shape("world", {.name = "a", .geometry = Sphere{0.05}, .placement = Pose::translation(-0.04, 0, 0)});
    builder.add_shape(
        "arm", {.name = "b", .geometry = Sphere{overlaps ? 0.05 : 0.02}, .placement = Pose::translation(0.04, 0, 0)});
    return world_of(builder, 2e-3);
  };
  World with = arm(true), without = arm(false);
  const Control control = with_targets(Eigen::Vector2d(0.3, -0.2));
  for (int i = 0; i < 50; ++i) {
    const StepStatus status = with.step(control);
    EXPECT_EQ(status.flags, LcpFlag::targets_dropped);
    EXPECT_EQ(status.contacts, 1);
    EXPECT_EQ(step_workspace(with.model().tree()).folded.empty(), i == 0) << "in step " << i;
    EXPECT_LE(status.factorizations, 1);
    const RecordedProblem& problem = with.record().tape().problem;
    EXPECT_TRUE(problem.is_dropped(problem.constraints[problem.constraint_of_contact[0]].first_row));
    ASSERT_TRUE(without.step(control).solved());
    EXPECT_LE((with.record().next.v - without.record().next.v).norm(), 1e-12);
  }
}

TEST(FoldedMotors, AreNotThoseThatAreAlmostRigid) {
  World world = biped(Motor::kInfinity, 1e12);
  const Control control = with_targets(VecX::Zero(kJoints));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(world.step(control).solved());
    EXPECT_TRUE(step_workspace(world.model().tree()).folded.empty());
  }
}

TEST(FoldedMotors, AreNoneWhereMotorsAreOff) {
  World world = biped(Motor::kInfinity, 60);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(world.step().solved());
    EXPECT_TRUE(step_workspace(world.model().tree()).folded.empty());
  }
}

}  // namespace
}  // namespace lithe::test

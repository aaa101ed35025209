#include "lithe/rollout/rollout_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/model/parameters.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/solids.h"
#include "tests/rollout/rollout_cases.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"

namespace lithe::test {
namespace {

constexpr double kTolerance = 1e-6;

void expect_gradient(const RolloutCase& c, const RolloutGradient& gradient, const std::vector<int>& steps,
                     const DifferenceSteps& reach = {}) {
  const RolloutLoss loss = loss_of_everything(c.model, c.start.q);
  const RolloutGradient numeric = difference_gradient(c, loss, steps, reach);
  EXPECT_EQ(gradient.value, numeric.value);
  EXPECT_LT(relative_error(gradient.q, numeric.q), kTolerance);
  EXPECT_LT(relative_error(gradient.v, numeric.v), kTolerance);
  for (const int t : steps) {
    EXPECT_LT(relative_error(gradient.tau.col(t), numeric.tau.col(t)), kTolerance) << "step " << t;
  }
  for (int k = 0; k < c.options.gradient.parameters.size(); ++k) {
    EXPECT_LT(relative_error(gradient.parameters.segment(k, 1), numeric.parameters.segment(k, 1)), kTolerance)
        << c.options.gradient.parameters.names()[k];
  }
}

TEST(RolloutGradient, IsThatOfFiniteDifferencesInSmoothMotions) {
  for (const RolloutCase& c : smooth_cases()) {
    SCOPED_TRACE(c.name);
    const RolloutGradient gradient = c.gradient(loss_of_everything(c.model, c.start.q));
    EXPECT_EQ(gradient.report.steps, c.controls.steps);
    EXPECT_TRUE(gradient.report.is_exact()) << to_string(gradient.report);
    expect_gradient(c, gradient, all_steps(c));
  }
}

TEST(RolloutGradient, IsThatOfFiniteDifferencesWhereContactsComeAndGo) {
  // The loss is smooth where no row is about to switch, and differences that small do not meet a switch.
  for (const RolloutCase& c : {pushed_case("half_cheetah", 60, 20), pushed_case("bouncing_ball", 500, 0.1)}) {
    SCOPED_TRACE(c.name);
    const RolloutGradient gradient = c.gradient(loss_of_everything(c.model, c.start.q));
    int changes = 0;
    const Trajectory motion = rollout(c.model, c.start, c.controls, c.options.step);
    for (int t = 1; t < c.controls.steps; ++t) changes += motion.status[t].contacts != motion.status[t - 1].contacts;
    EXPECT_GE(changes, 1);
    EXPECT_TRUE(gradient.report.is_exact()) << to_string(gradient.report);
    expect_gradient(c, gradient, {0, 1, c.controls.steps / 2, c.controls.steps - 1});
  }
}

TEST(RolloutGradient, ByParametersIsThatOfFiniteDifferences) {
  RolloutCase box = sliding_box(30);
  box.options.gradient.parameters = StepParameters(
      box.model, {"body/box/mass", "shape/box/friction", "shape/ground/friction", "gravity/x", "time_step"});
  RolloutCase pendulum = driven_pendulum(60);
  set_parameter(pendulum.model, "joint/hinge/stiffness", 2);
  pendulum.options.gradient.parameters = StepParameters(
      pendulum.model, {"gravity/x", "gravity/z", "joint/hinge/x", "joint/hinge/rest", "joint/hinge/stiffness"});
  RolloutCase gripper = pushed_case("gripper", 20, 0.1);
  gripper.options.gradient.parameters = StepParameters(gripper.model, {"motor/lift/target", "body/palm/mass"});
  for (const RolloutCase& c : {box, pendulum, gripper}) {
    SCOPED_TRACE(c.name);
    const RolloutGradient gradient = c.gradient(loss_of_everything(c.model, c.start.q));
    ASSERT_EQ(gradient.parameters.size(), c.options.gradient.parameters.size());
    EXPECT_LT(relative_error(gradient.step_parameters.rowwise().sum(), gradient.parameters), 1e-12);
    expect_gradient(c, gradient, {});
  }
}

TEST(RolloutGradient, ByTheParametersOfASingleStepIsThatOfFiniteDifferences) {
  RolloutCase c = pushed_case("gripper", 20, 0.1);
  c.options.gradient.parameters = StepParameters(c.model, {"motor/lift/target"});
  const RolloutLoss loss = loss_of_everything(c.model, c.start.q);
  const RolloutGradient gradient = c.gradient(loss);
  const int lift = c.model.motor("lift");
  for (const int t : {0, 7, 19}) {
    const auto value = [&](const VecX& delta) {
      RolloutCase moved = c;
      moved.controls.motor_targets(lift, t) += delta[0];
      return VecX::Constant(1, moved.gradient(loss).value);
    };
    EXPECT_LT(relative_error(gradient.step_parameters.col(t), central_difference(value, 1, 1e-5)), kTolerance);
  }
}

TEST(RolloutGradient, OfALossThatIsNoSumOverTimeIsTheChainRule) {
  // ℓ = (Σ_t v_t)²/2 + the product of two forces.
  const RolloutCase c = driven_pendulum(40);
  const auto value = [&](const RolloutCase& at) {
    const Trajectory motion = rollout(at.model, at.start, at.controls, at.options.step);
    const double sum = motion.v.sum();
    return sum * sum / 2 + at.controls.tau(0, 3) * at.controls.tau(0, 30);
  };
  Rollout motion;
  rollout(c.model, c.start, c.controls, c.options, motion);
  RolloutCotangent by;
  by.v.setConstant(1, 41, motion.trajectory.v.sum());
  by.tau.setZero(1, 40);
  by.tau(0, 3) = c.controls.tau(0, 30);
  by.tau(0, 30) = c.controls.tau(0, 3);
  RolloutVjpWorkspace workspace;
  RolloutGradient gradient;
  rollout_vjp(c.model, motion, by, c.options, workspace, gradient);
  const auto by_v = [&](const VecX& delta) {
    RolloutCase moved = c;
    moved.start.v += delta;
    return VecX::Constant(1, value(moved));
  };
  EXPECT_LT(relative_error(gradient.v, central_difference(by_v, 1)), 1e-9);
  const auto by_tau = [&](const VecX& delta) {
    RolloutCase moved = c;
    moved.controls.tau += delta.transpose();
    return VecX::Constant(1, value(moved));
  };
  EXPECT_LT(relative_error(gradient.tau, central_difference(by_tau, 40)), 1e-9);
}

TEST(RolloutGradient, WithoutStepsIsThatOfTheEnd) {
  const RolloutCase c = driven_pendulum(0);
  RolloutLoss loss;
  loss.terminal = [](const LossPoint& at, LossGradient& by) {
    by.v[0] = 3;
    return 3 * at.v[0];
  };
  const RolloutGradient gradient = c.gradient(loss);
  EXPECT_EQ(gradient.value, 3 * c.start.v[0]);
  EXPECT_EQ(gradient.v[0], 3);
  EXPECT_EQ(gradient.q[0], 0);
  EXPECT_EQ(gradient.tau.cols(), 0);
}

TEST(RolloutGradient, OfALossWithoutTermsIsZero) {
  const RolloutGradient gradient = sliding_box(10).gradient({});
  EXPECT_EQ(gradient.value, 0);
  EXPECT_EQ(gradient.q, VecX::Zero(6));
  EXPECT_TRUE(gradient.tau == MatX::Zero(6, 10));
}

// The height at the end.
RolloutLoss end_of(int dof) {
  RolloutLoss loss;
  loss.terminal = [dof](const LossPoint& at, LossGradient& by) {
    by.q[dof] = 1;
    return at.q[dof];
  };
  return loss;
}

TEST(RolloutGradient, ThroughABounceIsTheContinuousMotionsUnlessToldOtherwise) {
  RolloutCase c = pushed_case("reflected_ball", 480, 0);
  const int z = c.model.joints()[c.model.joint("ball.z")].v_index;
  const RolloutGradient as_computed = c.gradient(end_of(z));
  EXPECT_NEAR(as_computed.q[z], 1, 1e-9);
  EXPECT_EQ(as_computed.report.exact, 480);
  EXPECT_EQ(as_computed.report.bounced, 0);
  c.options.gradient = {};
  const RolloutGradient continuous = c.gradient(end_of(z));
  EXPECT_NEAR(continuous.q[z], -1, 1e-9);
  EXPECT_NEAR(continuous.v[z], -1, 0.01);
  EXPECT_EQ(continuous.report.bounced, 1);
  EXPECT_EQ(continuous.report.exact, 479);
  EXPECT_EQ(std::ranges::count(continuous.report.modes, GradientMode::bounce_mass_metric), 1);
  EXPECT_FALSE(continuous.report.is_exact());
}

// A ball that can only move up and down and rests on the ground, pushed down by its weight.
RolloutCase ball_on_a_rail(int steps) {
  ModelBuilder builder;
  add_ground(builder, {.friction = 0});
  builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(0.1, 0.3)},
                   prismatic("z", Vec3::UnitZ(), Pose::translation(0, 0, 0.3)));
  builder.add_shape("ball", {.name = "ball", .geometry = Sphere{0.3}, .material = {.friction = 0}});
  return {"ball on a rail", builder.build(), {VecX::Zero(1), VecX::Zero(1)}, {.steps = steps}, {}};
}

TEST(RolloutGradient, ComplementarityAwareLeavesTheGroundAndSaysSo) {
  RolloutCase c = ball_on_a_rail(50);
  RolloutLoss loss;
  loss.terminal = [](const LossPoint& at, LossGradient& by) {
    by.q[0] = at.q[0] - 5;
    return 0.5 * by.q[0] * by.q[0];
  };
  const RolloutGradient plain = c.gradient(loss);
  EXPECT_LT(plain.tau.cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(plain.report.heuristic, 0);
  c.options.gradient.complementarity_aware = true;
  const RolloutGradient aware = c.gradient(loss);
  EXPECT_LT(aware.tau.maxCoeff(), 0);  // more force, less loss
  EXPECT_GT(aware.report.heuristic, 0);
  EXPECT_GT(aware.report.relabelled_rows, 0);
  EXPECT_EQ(std::ranges::count(aware.report.modes, GradientMode::complementarity_aware), aware.report.heuristic);
  EXPECT_FALSE(aware.report.is_exact());
}

TEST(RolloutGradient, OfADivergedRolloutIsFiniteAndSaysSo) {
  for (const Tape tape : {Tape::records, Tape::checkpoints}) {
    RolloutCase c = pushed_case("humanoid", 20, 0);
    c.controls.tau.col(7).setConstant(1e300);
    c.options.tape = tape;
    const RolloutGradient gradient = c.gradient(loss_of_everything(c.model, c.start.q));
    EXPECT_GE(gradient.report.diverged_at, 7);
    EXPECT_EQ(gradient.report.steps, gradient.report.diverged_at);
    EXPECT_FALSE(gradient.report.is_exact());
    EXPECT_FALSE(std::isnan(gradient.value));
    EXPECT_TRUE(gradient.q.allFinite() && gradient.v.allFinite() && gradient.tau.allFinite());
    EXPECT_NE(to_string(gradient.report).find("diverged at step"), std::string::npos);
  }
}

TEST(RolloutGradient, OfADivergedRolloutCountsTheStandstillThatFollows) {
  // A pendulum is thrown out of the numbers in step 5: states 5 … 20 are all the same, and all count in the loss.
  RolloutCase c = driven_pendulum(20);
  c.controls.tau(0, 5) = 1e308;
  c.options.step.time_step = 10;
  RolloutLoss loss;
  loss.running = [](const LossPoint& at, LossGradient& by) {
    by.q[0] = 1;
    return at.q[0];
  };
  const RolloutGradient gradient = c.gradient(loss);
  ASSERT_EQ(gradient.report.diverged_at, 5);
  RolloutCase part = c;
  part.controls.steps = 5;
  part.controls.tau = c.controls.tau.leftCols(5).eval();
  RolloutLoss whole = loss;  // the state at the end of five steps counts for the 15 that follow
  whole.terminal = [](const LossPoint& at, LossGradient& by) {
    by.q[0] = 15;
    return 15 * at.q[0];
  };
  const RolloutGradient expected = part.gradient(whole);
  EXPECT_NEAR(gradient.value, expected.value, 1e-9 * std::abs(expected.value));
  EXPECT_EQ(gradient.q, expected.q);
  EXPECT_EQ(gradient.v, expected.v);
  EXPECT_TRUE(gradient.tau.leftCols(5) == expected.tau);
  EXPECT_TRUE(gradient.tau.rightCols(15) == MatX::Zero(1, 15));
}

TEST(RolloutGradient, ThatOverflowsIsCutAndSaysWhere) {
  // What flows back from the last step is as large as numbers go, and a step multiplies it by its Δt of 100 s.
  RolloutCase c = driven_pendulum(6);
  c.options.step.time_step = 100;
  RolloutLoss loss;
  loss.running = [](const LossPoint& at, LossGradient& by) {
    by.v[0] = 1;
    return at.v[0];
  };
  loss.terminal = [](const LossPoint&, LossGradient& by) {
    by.q[0] = 1e307;
    return 0.0;
  };
  const RolloutGradient gradient = c.gradient(loss);
  EXPECT_EQ(gradient.report.cut_at, 5);
  EXPECT_EQ(gradient.report.cuts, 1);
  EXPECT_FALSE(gradient.report.is_exact());
  // Before the cut it is the gradient without what came after.
  RolloutCase part = c;
  part.controls.steps = 5;
  part.controls.tau = c.controls.tau.leftCols(5).eval();
  RolloutLoss rest = loss;
  rest.terminal = rest.running;
  const RolloutGradient expected = part.gradient(rest);
  EXPECT_EQ(gradient.q, expected.q);
  EXPECT_EQ(gradient.v, expected.v);
  EXPECT_TRUE(gradient.tau.leftCols(5) == expected.tau);
}

TEST(RolloutGradient, OfALossThatIsNotFiniteIsFiniteAndSaysSo) {
  const RolloutCase c = driven_pendulum(10);
  RolloutLoss loss;
  loss.running = [](const LossPoint& at, LossGradient& by) {
    by.v[0] = at.t == 4 ? std::numeric_limits<double>::quiet_NaN() : 1;
    return at.v[0];
  };
  const RolloutGradient gradient = c.gradient(loss);
  EXPECT_EQ(gradient.report.loss_overflow_at, 4);
  EXPECT_EQ(gradient.value, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(gradient.q.allFinite() && gradient.v.allFinite() && gradient.tau.allFinite());
  EXPECT_FALSE(gradient.report.is_exact());
}

TEST(RolloutVjp, RefusalsNameTheStepAndTheEntry) {
  const RolloutCase c = driven_pendulum(10);
  Rollout motion;
  rollout(c.model, c.start, c.controls, c.options, motion);
  RolloutVjpWorkspace workspace;
  RolloutGradient gradient;
  const auto refused = [&](const RolloutCotangent& by, auto... parts) {
    expect_error([&] { rollout_vjp(c.model, motion, by, c.options, workspace, gradient); }, parts...);
  };
  RolloutCotangent by;
  by.q.setZero(1, 10);
  refused(by, "by q", "1 × 10", "1 × 11");
  by = {};
  by.tau.setZero(2, 10);
  refused(by, "by tau", "2 × 10", "1 × 10");
  by = {};
  by.v.setZero(1, 11);
  by.v(0, 8) = std::numeric_limits<double>::quiet_NaN();
  refused(by, "step 8", "v[0]", "nan");
  const Model other = scene("half_cheetah").model;
  expect_error([&] { rollout_vjp(other, motion, {}, c.options, workspace, gradient); }, "another model", "9");
  // A model that is not the rollout's any more.
  Model heavier = c.model;
  set_parameter(heavier, "gravity/z", -10);
  expect_error([&] { rollout_vjp(heavier, motion, {}, c.options, workspace, gradient); }, "step 9", "changed");
  RolloutOptions none = c.options;
  none.tape = Tape::none;
  rollout(c.model, c.start, c.controls, none, motion);
  refused({}, "no tape");
}

}  // namespace
}  // namespace lithe::test

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <utility>

#include "lithe/model/configuration.h"
#include "lithe/scenes/world.h"
#include "lithe/step/gradients/displaced_step.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_jvp.h"
#include "lithe/step/step_vjp.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/constrained_model.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"
#include "tests/support/random_test.h"

// Gradients by motor targets and by wrenches, and what GradientOptions may ask of whom.
namespace lithe::test {

using namespace internal;

namespace {

GradientOptions exact_with(bool motor_targets, bool wrenches) {
  return {.bounce = Bounce::off, .motor_targets = motor_targets, .wrenches = wrenches};
}

// ℓ = λ_q·(q⁺ ⊖ q⁺₀) + λ_v·v⁺ of the step with a control that is not quite the record's; no number where it went there in another way.
struct DisplacedControl {
  const ConstrainedCase& at;
  const StepRecord& record;
  const StepCotangent& lambda;

  std::optional<double> operator()(const Control& control) const {
    StepRecord moved;
    step(at.model, at.state, control, at.options, moved, &record.warm_start);
    if (mode_switch(at.model, record, at.model, moved) != ModeSwitch::none) return {};
    return lambda.q.dot(difference(at.model, moved.next.q, record.next.q)) + lambda.v.dot(moved.next.v - record.next.v);
  }

  // By a number of the control.
  template <class Set>
  std::optional<double> derivative(double h, Set set) const {
    Control up = at.control, down = at.control;
    set(up, h);
    set(down, -h);
    const std::optional<double> above = (*this)(up), below = (*this)(down);
    if (!above || !below) return {};
    return (*above - *below) / (2 * h);
  }
};

TEST(VjpInputs, GradientsByTargetsAndWrenchesAreThoseOfDifferences) {
  int targets = 0, wrenches = 0;
  for_random_cases(
      100,
      [&](std::mt19937_64& random) {
        ConstrainedCase at = random_constrained_case(random, {.max_dofs = 8, .loops = false});
        const int nv = at.model.nv();
        const auto bodies = static_cast<int>(at.model.bodies().size());
        if (at.control.motor_targets.size() == 0)
          at.control.motor_targets.setZero(static_cast<Eigen::Index>(at.model.motors().size()));
        at.control.wrenches.clear();
        for (int body = 1; body < bodies; ++body) {
          at.control.wrenches.push_back({BodyIndex(body), Vec6(random_vector(random, 6))});
        }
        StepRecord record;
        step(at.model, at.state, at.control, at.options, record);
        step(at.model, at.state, at.control, at.options, record, &record.warm_start);
        if (!record.status.solved() || record.status.flags != LcpFlag::none) return Outcome::skipped;
        const StepCotangent lambda = {random_vector(random, nv), random_vector(random, nv)};
        StepVjp vjp;
        step_vjp(at.model, record, lambda, vjp, exact_with(true, true));
        EXPECT_EQ(vjp.motor_targets.size(), at.control.motor_targets.size());
        EXPECT_EQ(vjp.wrenches.cols(), bodies);
        EXPECT_TRUE(vjp.wrenches.col(0).isZero(0));  // nothing moves the world

        const DisplacedControl moved{at, record, lambda};
        bool checked = false;
        for (int m = 0; m < vjp.motor_targets.size(); ++m) {
          const auto numeric = moved.derivative(1e-3, [&](Control& c, double h) { c.motor_targets[m] += h; });
          if (!numeric) continue;
          EXPECT_NEAR(vjp.motor_targets[m], *numeric, 1e-9 + 2e-5 * std::abs(*numeric)) << "motor " << m;
          targets += std::abs(*numeric) > 1e-6 ? 1 : 0;
          checked = true;
        }
        for (int body = 1; body < bodies; ++body) {
          for (int k = 0; k < 6; ++k) {
            const auto numeric =
                moved.derivative(0.1, [&](Control& c, double h) { c.wrenches[body - 1].wrench[k] += h; });
            if (!numeric) continue;
            EXPECT_NEAR(vjp.wrenches(k, body), *numeric, 1e-11 + 2e-5 * std::abs(*numeric))
                << "body " << body << ", component " << k;
            wrenches += std::abs(*numeric) > 1e-6 ? 1 : 0;
            checked = true;
          }
        }
        return checked ? Outcome::checked : Outcome::skipped;
      },
      0.3);
  if (few_cases()) return;
  EXPECT_GE(targets, 20);
  EXPECT_GE(wrenches, 500);
}

TEST(VjpInputs, TargetsAreTheSameAsParametersAndStandBehindThem) {
  World world("four_bar");
  for (int k = 0; k < 5; ++k) world.step();
  const Model& model = world.model();
  const StepCotangent lambda = {.v = VecX::Ones(model.nv())};
  const StepParameters some(model, {"time_step", "gravity/z"});
  StepVjp together, alone, targets;
  step_vjp(model, world.record(), lambda, together, {.parameters = some, .motor_targets = true});
  step_vjp(model, world.record(), lambda, alone, {.parameters = some});
  step_vjp(model, world.record(), lambda, targets, {.parameters = StepParameters::motor_targets(model)});
  ASSERT_EQ(together.parameters.size(), 2);
  EXPECT_EQ(together.parameters, alone.parameters);
  EXPECT_EQ(together.motor_targets, targets.parameters);
  EXPECT_GT(together.motor_targets.cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ(alone.motor_targets.size(), 0);
  EXPECT_EQ(alone.wrenches.cols(), 0);
}

TEST(VjpInputs, AJacobianByAWrenchIsThatOfItsVjp) {
  World world("stack:3");
  for (int k = 0; k < 20; ++k) world.step();
  const Model& model = world.model();
  StepJacobians jacobians;
  step_jacobians(model, world.record(), jacobians, StepBlocks::state, GradientOptions::exact());
  const StepCotangent lambda = {VecX::LinSpaced(model.nv(), -1, 1), VecX::LinSpaced(model.nv(), 2, 1)};
  StepVjp vjp;
  step_vjp(model, world.record(), lambda, vjp, exact_with(false, true));
  for (int body = 1; body < static_cast<int>(model.bodies().size()); ++body) {
    const MatX by_q = by_wrench(model, world.record(), jacobians.dqnext_dtau, BodyIndex(body));
    const MatX by_v = by_wrench(model, world.record(), jacobians.dvnext_dtau, BodyIndex(body));
    const VecX product = by_q.transpose() * lambda.q + by_v.transpose() * lambda.v;
    EXPECT_LT(relative_error(VecX(vjp.wrenches.col(body)), product), 1e-9) << "body " << body;
  }
}

TEST(VjpInputs, AllocateNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  World world("gripper");
  world.step();
  const StepCotangent lambda = {.v = VecX::Ones(world.model().nv())};
  const GradientOptions options = {
      .parameters = StepParameters(world.model(), {"time_step"}), .motor_targets = true, .wrenches = true};
  StepVjp vjp;
  const auto differentiate = [&] { step_vjp(world.model(), world.record(), lambda, vjp, options); };
  differentiate();
  const AllocationGuard guard;
  differentiate();
  EXPECT_EQ(guard.count(), 0);
}

TEST(VjpInputs, WhatCannotBeHonouredIsRefused) {
  World world("stack:2");
  world.step();
  const Model& model = world.model();
  StepJacobians jacobians;
  StepJvp jvp;
  StepParameterJacobian columns;
  const auto refuse_all = [&](const GradientOptions& options, const char* what) {
    expect_error([&] { step_jacobians(model, world.record(), jacobians, StepBlocks::state, options); },
                 "step_jacobians", what);
    expect_error([&] { step_jvp(model, world.record(), {}, jvp, options); }, "step_jvp", what);
    expect_error([&] { step_parameter_jacobian(model, world.record(), columns, options); }, "step_parameter_jacobian",
                 what);
  };
  refuse_all({.complementarity_aware = true}, "loss");
  refuse_all({.motor_targets = true}, "motor_targets");
  refuse_all({.wrenches = true}, "wrench");
  const GradientOptions by_mass = {.parameters = StepParameters(model, {"time_step"})};
  expect_error([&] { step_jacobians(model, world.record(), jacobians, StepBlocks::state, by_mass); },
               "step_parameter_jacobian");
}

TEST(VjpInputs, ARecordThatWasMovedFromHoldsNoStepAndCanStepAgain) {
  World world("stack:2");
  world.step();
  StepRecord record = world.record();
  StepRecord taken = std::move(record);
  StepVjp vjp;
  step_vjp(world.model(), taken, {}, vjp);
  expect_error([&] { step_vjp(world.model(), record, {}, vjp); },
               "does not hold a step");  // NOLINT: that is the question
  step(world.model(), world.state(), {}, world.options, record);
  EXPECT_TRUE(record.status.solved());
}

TEST(VjpInputs, AResultThatWasMovedFromCanBeUsedAgain) {
  World world("stack:2");
  world.step();
  const StepCotangent lambda = {.v = VecX::Ones(world.model().nv())};
  StepVjp vjp;
  step_vjp(world.model(), world.record(), lambda, vjp);
  const StepVjp taken = std::move(vjp);
  step_vjp(world.model(), world.record(), lambda, vjp);  // NOLINT: that is the question
  EXPECT_EQ(vjp.v, taken.v);

  StepJacobians jacobians;
  step_jacobians(world.model(), world.record(), jacobians);
  const StepJacobians kept = std::move(jacobians);
  jacobians = kept;  // NOLINT
  step_jacobians(world.model(), world.record(), jacobians);
  EXPECT_EQ(jacobians.dvnext_dv, kept.dvnext_dv);

  StepJvp jvp;
  const StepJvp moved = std::move(jvp);
  step_jvp(world.model(), world.record(), {.v = VecX::Ones(world.model().nv())}, jvp);  // NOLINT
  EXPECT_EQ(jvp.v.size(), world.model().nv());
}

}  // namespace
}  // namespace lithe::test

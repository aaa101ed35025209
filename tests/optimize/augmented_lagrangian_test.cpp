#include "lithe/optimize/solvers/augmented_lagrangian.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lithe/optimize/residuals.h"
#include "lithe/optimize/single_shooting.h"
#include "tests/optimize/problems.h"

namespace lithe::test {

using namespace internal;

namespace {

using Keep = MotionEvaluator::Keep;

Problem through_a_point(const MassOnRail& rail, double target) {
  Problem problem = rail.problem();
  problem.constraints = {{.residual = residuals::joint_position(problem.model, "slide", target)}};
  return problem;
}

// Minimises the value exactly: the cost is quadratic, and so is the penalty of a linear constraint.
struct ExactInner {
  const MassOnRail& rail;
  const Problem& problem;
  double target;
  Plan plan = {};
  EvaluatedMotion motion = {};
  std::vector<double> penalties = {}, tolerances = {};

  InnerResult operator()(MotionEvaluator& evaluator, const Multipliers* multipliers, double tolerance) {
    MassOnRail::Quadratic q = rail.cost();
    if (multipliers) {
      const MassOnRail::StateMap x = rail.state(rail.steps);
      const double lambda = multipliers->lambda[0](0, rail.steps), rho = multipliers->penalty;
      q.H += rho * x.map.row(0).transpose() * x.map.row(0);
      q.g += (lambda + rho * (x.offset[0] - target)) * x.map.row(0).transpose();
      penalties.push_back(rho);
    }
    tolerances.push_back(tolerance);
    // Cramped for the sake of Eigen/Core alone: conjugate gradients to the end.
    VecX u = VecX::Zero(q.g.size()), r = -q.g, p = r;
    for (int k = 0; k < 10 * u.size() && r.norm() > 1e-13; ++k) {
      const VecX Hp = q.H * p;
      const double step = r.squaredNorm() / p.dot(Hp), before = r.squaredNorm();
      u += step * p;
      r -= step * Hp;
      p = r + r.squaredNorm() / before * p;
    }
    plan.u = u.transpose();
    evaluator.run(plan, Keep::records, multipliers, motion);
    return {StopReason::converged, &plan, &motion};
  }
};

}  // namespace

TEST(AugmentedLagrangian, WithoutConstraintsTheInnerSolverIsCalledOnce) {
  const MassOnRail rail;
  const Problem problem = rail.problem();
  MotionEvaluator evaluator(problem);
  int calls = 0;
  SolveOptions options;
  const AugmentedLagrangianResult result = augmented_lagrangian(
      problem, evaluator, initial_plan(problem), options, [&](const Multipliers* multipliers, double tolerance) {
        ++calls;
        EXPECT_EQ(multipliers, nullptr);
        EXPECT_EQ(tolerance, options.tolerance);
        return InnerResult{StopReason::stalled, nullptr, nullptr};
      });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(result.rounds, 1);
  EXPECT_EQ(result.reason, StopReason::stalled);
}

TEST(AugmentedLagrangian, FindsTheMultiplierOfAnEquation) {
  const MassOnRail rail = {.end = 0};
  const double target = 0.4;
  const Problem problem = through_a_point(rail, target);
  MotionEvaluator evaluator(problem);
  ExactInner inner = {rail, problem, target};
  SolveOptions options;
  options.feasibility = 1e-9;
  const AugmentedLagrangianResult result = augmented_lagrangian(
      problem, evaluator, initial_plan(problem), options,
      [&](const Multipliers* multipliers, double tolerance) { return inner(evaluator, multipliers, tolerance); });
  EXPECT_EQ(result.reason, StopReason::converged);
  EXPECT_LE(result.rounds, 12);
  EXPECT_EQ(inner.tolerances.back(), options.tolerance);
  for (std::size_t k = 1; k < inner.tolerances.size(); ++k) EXPECT_LE(inner.tolerances[k], inner.tolerances[k - 1]);
  const VecX u = rail.best_controls_through(rail.steps, 0, target);
  EXPECT_LT((inner.plan.u.transpose() - u).cwiseAbs().maxCoeff(), 1e-6);
  // Lagrange: H u + g + λ ∂c/∂u = 0.
  const MassOnRail::Quadratic q = rail.cost();
  const VecX row = rail.state(rail.steps).map.row(0);
  const double lambda = -row.dot(q.H * u + q.g) / row.squaredNorm();
  EXPECT_NEAR(result.multipliers.lambda[0](0, rail.steps), lambda, 1e-5 * std::abs(lambda));
}

TEST(AugmentedLagrangian, FirstPenaltyHasTheScaleOfTheProblem) {
  // The same problem in other units of cost: the penalty follows.
  const MassOnRail rail = {.end = 0};
  Problem problem = through_a_point(rail, 0.4);
  const auto penalty = [](const Problem& p) {
    MotionEvaluator evaluator(p);
    return initial_penalty(p, evaluator, initial_plan(p), {});
  };
  const double once = penalty(problem);
  for (Cost& cost : problem.costs) cost.weight *= 100;
  EXPECT_NEAR(penalty(problem), 100 * once, 1e-9 * once);
  // Nothing to learn where nothing is violated.
  problem.constraints[0].kind = PathConstraint::Kind::not_positive;
  problem.constraints[0].residual = residuals::joint_position(problem.model, "slide", 100);
  EXPECT_GT(penalty(problem), 0);
}

TEST(AugmentedLagrangian, GivesUpOnWhatDoesNotMove) {
  const MassOnRail rail;
  const Problem problem = through_a_point(rail, 0.4);
  MotionEvaluator evaluator(problem);
  const Plan plan = initial_plan(problem);
  EvaluatedMotion motion;
  double last = 0;
  const AugmentedLagrangianResult result =
      augmented_lagrangian(problem, evaluator, plan, {}, [&](const Multipliers* multipliers, double) {
        EXPECT_GE(multipliers->penalty, last);
        last = multipliers->penalty;
        evaluator.run(plan, Keep::records, multipliers, motion);
        return InnerResult{StopReason::stalled, &plan, &motion};
      });
  EXPECT_EQ(result.reason, StopReason::infeasible);
  EXPECT_EQ(last, 1e10);
  EXPECT_LE(result.rounds, 20);
}

TEST(AugmentedLagrangian, PassesOnWhatEndsTheInnerSolver) {
  const MassOnRail rail;
  const Problem problem = through_a_point(rail, 0.4);
  MotionEvaluator evaluator(problem);
  const Plan plan = initial_plan(problem);
  EvaluatedMotion motion;
  for (const StopReason reason :
       {StopReason::iteration_limit, StopReason::time_limit, StopReason::interrupted, StopReason::saddle}) {
    const AugmentedLagrangianResult result =
        augmented_lagrangian(problem, evaluator, plan, {}, [&](const Multipliers* multipliers, double) {
          evaluator.run(plan, Keep::records, multipliers, motion);
          return InnerResult{reason, &plan, &motion};
        });
    EXPECT_EQ(result.reason, reason) << to_string(reason);
    EXPECT_EQ(result.rounds, 1);
  }
}

}  // namespace lithe::test

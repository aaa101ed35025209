#include "lithe/optimize/single_shooting.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lithe/core/infinity.h"
#include "lithe/optimize/residuals.h"
#include "lithe/optimize/solvers/evaluated_motion.h"
#include "tests/optimize/problems.h"
#include "tests/support/error_text.h"

namespace lithe::test {

using namespace internal;

namespace {

using ShootingMethod = SingleShootingOptions::Method;
using residuals::BoundSide;

// To the last digits that the cost can tell.
SingleShootingOptions precise() {
  SingleShootingOptions options;
  options.max_iterations = 2000;
  options.tolerance = 1e-9;
  return options;
}

SingleShootingOptions paper_descent(bool aware) {
  SingleShootingOptions options;
  options.method = ShootingMethod::gradient_descent;
  options.rate = 10;
  options.max_iterations = 50;
  options.gradient.complementarity_aware = aware;
  return options;
}

double distance(const Plan& plan, const VecX& u) { return (plan.u.reshaped() - u).cwiseAbs().maxCoeff(); }

void expect_consistent(const Problem& problem, const Solution& solution) {
  MotionEvaluator evaluator(problem);
  EvaluatedMotion motion;
  evaluator.run(solution.plan, MotionEvaluator::Keep::nothing, nullptr, motion);
  EXPECT_EQ(solution.cost, motion.cost);
  EXPECT_EQ(solution.infeasibility, motion.violation);
  EXPECT_TRUE(solution.trajectory.q == motion.q && solution.trajectory.v == motion.v);
  EXPECT_EQ(solution.trajectory.steps(), problem.steps);
  EXPECT_FALSE(solution.message.empty());
  ASSERT_FALSE(solution.history.empty());
  EXPECT_EQ(solution.history.front().iteration, 0);
  EXPECT_EQ(solution.history.back().iteration, solution.iterations);
  EXPECT_EQ(static_cast<int>(solution.history.size()), solution.iterations + 1);
  const StageSeconds& s = solution.seconds;
  EXPECT_NEAR(s.rollout + s.derivatives + s.solve, s.total, 1e-9);
  EXPECT_GE(s.solve, 0);
}

}  // namespace

TEST(Problems, ReferencesAgree) {
  const MassOnRail rail;
  EXPECT_LT((rail.riccati_controls() - rail.best_controls()).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((rail.best_controls_within(-100, 100) - rail.best_controls()).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(SingleShooting, LbfgsFindsTheRiccatiSolution) {
  const MassOnRail rail;
  const Problem problem = rail.problem();
  const Solution solution = single_shooting(problem, initial_plan(problem), precise());
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_LT(distance(solution.plan, rail.riccati_controls()), 1e-6);
  EXPECT_NEAR(solution.cost, rail.cost().at(rail.riccati_controls()), 1e-10);
  expect_consistent(problem, solution);
}

TEST(SingleShooting, AdamAndGradientDescentComeNearIt) {
  const MassOnRail rail = {.steps = 10};
  const Problem problem = rail.problem();
  const double best = rail.cost().at(rail.best_controls());
  SingleShootingOptions options = precise();
  options.method = ShootingMethod::adam;
  options.rate = 0.1;
  const Solution adam = single_shooting(problem, initial_plan(problem), options);
  EXPECT_NEAR(adam.cost, best, 1e-6 * best);
  options.method = ShootingMethod::gradient_descent;
  options.rate = 2;  // of a largest curvature of about 0.8
  const Solution descent = single_shooting(problem, initial_plan(problem), options);
  EXPECT_NEAR(descent.cost, best, 1e-6 * best);
  expect_consistent(problem, descent);
}

TEST(SingleShooting, BoundsThatHoldAreFound) {
  const MassOnRail rail;
  Problem problem = rail.problem();
  problem.lower = VecX::Constant(1, -2.5);
  problem.upper = VecX::Constant(1, 0.8);
  const VecX best = rail.best_controls_within(-2.5, 0.8);
  ASSERT_GE((best.array() == -2.5).count(), 3);
  ASSERT_GE((best.array() == 0.8).count(), 3);
  ASSERT_LE((best.array() == 0.8).count() + (best.array() == -2.5).count(), 35);
  const Solution solution = single_shooting(problem, initial_plan(problem), precise());
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_LT(distance(solution.plan, best), 1e-6);
  EXPECT_EQ((solution.plan.u.reshaped().array() == -2.5).count(), (best.array() == -2.5).count());
}

TEST(SingleShooting, FullForceGoesFarthest) {
  const Problem problem = farthest();
  const Solution solution = single_shooting(problem, initial_plan(problem));
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_EQ(distance(solution.plan, VecX::Ones(problem.knots())), 0);
}

TEST(SingleShooting, HoldsControls) {
  const MassOnRail rail = {.steps = 32, .hold = 5};
  const Problem problem = rail.problem();
  const Solution solution = single_shooting(problem, initial_plan(problem), precise());
  EXPECT_EQ(solution.plan.u.cols(), 7);
  EXPECT_LT(distance(solution.plan, rail.best_controls()), 1e-6);
}

TEST(SingleShooting, MeetsAFinalPosition) {
  const MassOnRail rail = {.end = 0};
  Problem problem = rail.problem();
  problem.constraints = {{.residual = residuals::joint_position(problem.model, "slide", 0.4)}};
  const Solution solution = single_shooting(problem, initial_plan(problem), precise());
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_TRUE(solution.feasible(precise()));
  EXPECT_NEAR(solution.trajectory.q(0, rail.steps), 0.4, 1e-6);
  EXPECT_LT(distance(solution.plan, rail.best_controls_through(rail.steps, 0, 0.4)), 1e-4);
  expect_consistent(problem, solution);
}

TEST(SingleShooting, KeepsBelowAVelocity) {
  const MassOnRail rail = {.start = {2, 0}};
  Problem problem = rail.problem();
  const Solution fast = single_shooting(problem, initial_plan(problem), precise());
  ASSERT_LT(fast.trajectory.v.minCoeff(), -1.2);
  problem.constraints = {{.residual = residuals::velocity_bound(problem.model, "slide", BoundSide::lower, -1),
                          .times = Times::all(),
                          .kind = PathConstraint::Kind::not_positive}};
  SingleShootingOptions options = precise();
  options.tolerance = 1e-7;
  const Solution solution = single_shooting(problem, initial_plan(problem), options);
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_GE(solution.trajectory.v.minCoeff(), -1 - 1e-6);
  EXPECT_LE(solution.trajectory.v.minCoeff(), -1 + 1e-6);  // it is worth going to the bound
  EXPECT_GT(solution.cost, fast.cost);
  expect_consistent(problem, solution);
}

TEST(SingleShooting, SaysThatConstraintsCannotBeMet) {
  Problem problem = farthest();  // x_T = 2.1 m at most
  problem.costs = {{.residual = residuals::controls(VecX::Zero(1))}};
  problem.constraints = {{.residual = residuals::joint_position(problem.model, "slide", 5)}};
  SingleShootingOptions options;
  options.max_iterations = 5000;
  const Solution solution = single_shooting(problem, initial_plan(problem), options);
  EXPECT_EQ(solution.reason, StopReason::infeasible);
  EXPECT_NEAR(solution.infeasibility, 5 - 2.1, 1e-6);
  EXPECT_NE(solution.message.find("could not be met"), std::string::npos) << solution.message;
}

TEST(SingleShooting, FindsAStartAndAMass) {
  const ThrownBall ball;
  const Problem problem = ball.problem();
  const Solution solution = single_shooting(problem, initial_plan(problem), precise());
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  ASSERT_EQ(solution.plan.start.size(), 1);
  EXPECT_NEAR(solution.plan.start[0], ball.free_velocity(), 1e-5);
  ASSERT_EQ(solution.plan.parameters.size(), 1);
  EXPECT_NEAR(solution.plan.parameters[0], ball.mass, 1e-5);
  expect_consistent(problem, solution);
}

TEST(SingleShooting, SwingsAPendulumUp) {
  const Problem problem = swing_up();
  SingleShootingOptions options;
  options.max_iterations = 300;
  const Solution solution = single_shooting(problem, initial_plan(problem), options);
  EXPECT_NEAR(solution.trajectory.q(0, problem.steps), std::numbers::pi, 0.05) << solution.message;
  EXPECT_NEAR(solution.trajectory.v(0, problem.steps), 0, 0.2);
  EXPECT_LE(solution.plan.u.cwiseAbs().maxCoeff(), 5);
  for (std::size_t k = 1; k < solution.history.size(); ++k) {
    EXPECT_LE(solution.history[k].cost, solution.history[k - 1].cost * (1 + 1e-14));
  }
}

// The paper's experiment: from no force at all, the drone never leaves the ground by its plain gradients.
TEST(SingleShooting, PlainGradientsLeaveTheDroneOnTheGround) {
  const Problem problem = drone_to_five_metres();
  const Solution solution = single_shooting(problem, initial_plan(problem), paper_descent(false));
  EXPECT_EQ(solution.cost, solution.history.front().cost);
  EXPECT_NEAR(solution.cost, 4.7 * 4.7, 1e-3);
  EXPECT_EQ(solution.reason, StopReason::saddle);
  EXPECT_NE(solution.message.find("complementarity_aware"), std::string::npos) << solution.message;
}

TEST(SingleShooting, ComplementarityAwareGradientsLiftTheDrone) {
  const Problem problem = drone_to_five_metres();
  const Solution solution = single_shooting(problem, initial_plan(problem), paper_descent(true));
  EXPECT_LE(solution.iterations, 50);
  EXPECT_NEAR(solution.trajectory.q(0, problem.steps), 5, 0.1) << solution.message;
  expect_consistent(problem, solution);

  SingleShootingOptions lbfgs;
  lbfgs.gradient.complementarity_aware = true;
  const Solution sooner = single_shooting(problem, initial_plan(problem), lbfgs);
  EXPECT_EQ(sooner.reason, StopReason::converged) << sooner.message;
  EXPECT_NEAR(sooner.trajectory.q(0, problem.steps), 5, 1e-3);
}

TEST(SingleShooting, NothingLeftToGainIsNoSaddle) {
  Problem problem = drone_to_five_metres();
  problem.costs[0].residual = residuals::joint_position(problem.model, "rotor", problem.start.q[0]);
  const Solution at_rest = single_shooting(problem, initial_plan(problem), paper_descent(false));
  EXPECT_EQ(at_rest.reason, StopReason::converged) << at_rest.message;
  EXPECT_EQ(at_rest.iterations, 0);
}

TEST(SingleShooting, StopsWhenToldTo) {
  const Problem problem = swing_up();
  SingleShootingOptions options;
  int lines = 0;
  options.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.iteration, lines);
    return ++lines < 4;
  };
  const Solution interrupted = single_shooting(problem, initial_plan(problem), options);
  EXPECT_EQ(interrupted.reason, StopReason::interrupted);
  EXPECT_EQ(interrupted.iterations, 3);
  EXPECT_LT(interrupted.cost, interrupted.history.front().cost);
  expect_consistent(problem, interrupted);

  options.progress = {};
  options.max_iterations = 5;
  const Solution limited = single_shooting(problem, initial_plan(problem), options);
  EXPECT_EQ(limited.reason, StopReason::iteration_limit);
  EXPECT_EQ(limited.iterations, 5);

  options.max_iterations = 0;
  const Solution none = single_shooting(problem, initial_plan(problem), options);
  EXPECT_EQ(none.reason, StopReason::iteration_limit);
  EXPECT_EQ(none.plan.u.norm(), 0);

  options.max_iterations = 100000;
  options.max_seconds = 0;
  const Solution late = single_shooting(problem, initial_plan(problem), options);
  EXPECT_EQ(late.reason, StopReason::time_limit);
  EXPECT_EQ(late.iterations, 0);
}

TEST(SingleShooting, ConstraintsShareTheLimits) {
  const MassOnRail rail;
  Problem problem = rail.problem();
  problem.constraints = {{.residual = residuals::joint_position(problem.model, "slide", 0.4)}};
  SingleShootingOptions options;
  options.max_iterations = 12;
  options.tolerance = 1e-9;
  const Solution solution = single_shooting(problem, initial_plan(problem), options);
  EXPECT_EQ(solution.reason, StopReason::iteration_limit);
  EXPECT_EQ(solution.iterations, 12);
  expect_consistent(problem, solution);
}

TEST(SingleShooting, AStepIntoDivergenceIsCutShort) {
  Problem problem = farthest(50);
  problem.lower.resize(0);
  problem.upper.resize(0);
  problem.costs = {{.residual = residuals::joint_position(problem.model, "slide", 1e4), .times = Times::final()}};
  SingleShootingOptions options;
  options.method = ShootingMethod::gradient_descent;
  options.rate = 1e305;
  options.max_iterations = 3;
  const Solution solution = single_shooting(problem, initial_plan(problem), options);
  EXPECT_TRUE(std::isfinite(solution.cost));
  EXPECT_TRUE(solution.plan.u.allFinite() && solution.trajectory.q.allFinite());
  for (const Progress& line : solution.history) EXPECT_TRUE(std::isfinite(line.cost) && std::isfinite(line.gradient));
}

TEST(SingleShooting, RefusesWhatMakesNoSense) {
  const Problem good = swing_up();
  const Plan plan = initial_plan(good);

  Problem empty = good;
  empty.steps = 0;
  expect_error([&] { single_shooting(empty, plan); }, "steps", "0");

  Plan wrong = plan;
  wrong.u.resize(2, 80);
  wrong.u.setZero();
  expect_error([&] { single_shooting(good, wrong); }, "Plan::u", "2");

  Plan infinite = plan;
  infinite.u(0, 3) = kInfinity;
  expect_error([&] { single_shooting(good, infinite); }, "not finite");

  SingleShootingOptions options;
  options.rate = 0;
  expect_error([&] { single_shooting(good, plan, options); }, "rate", "0");

  Problem not_a_number = good;
  not_a_number.costs.push_back(
      {.residual = residuals::custom({.name = "nothing",
                                      .size = 1,
                                      .evaluate = [](const ResidualPoint&, VecRef value, ResidualJacobian* jacobian) {
                                        value[0] = std::nan("");
                                        if (jacobian) jacobian->by_q.setZero(1, 1);
                                      }})});
  expect_error([&] { single_shooting(not_a_number, plan); }, "initial plan", "not finite");

  Problem unbounded = farthest(50);
  unbounded.lower.resize(0);
  unbounded.upper.resize(0);
  Plan far = initial_plan(unbounded);
  far.u.setConstant(std::numeric_limits<double>::max());
  expect_error([&] { single_shooting(unbounded, far); }, "initial plan", "diverges in step");
}

}  // namespace lithe::test

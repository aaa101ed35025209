#include "lithe/optimize/ddp.h"

#include <Eigen/Cholesky>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "lithe/core/check.h"
#include "lithe/optimize/numerics/box_qp.h"
#include "lithe/optimize/residuals.h"
#include "lithe/scenes/paper/jump_worm.h"
#include "lithe/scenes/robots/chain.h"
#include "lithe/step/step.h"
#include "tests/optimize/problems.h"
#include "tests/support/error_text.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

TEST(Ddp, SolvesALinearQuadraticProblemInOneIteration) {
  const MassOnRail rail;
  const Problem problem = rail.problem();
  const Solution solution = ddp(problem, initial_plan(problem));
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  const VecX best = rail.riccati_controls();
  ASSERT_GE(solution.history.size(), 2u);
  const double optimum = rail.cost().at(best);
  EXPECT_NEAR(solution.history[1].cost, optimum, 1e-10 * optimum);
  EXPECT_LT((solution.plan.u.transpose() - best).cwiseAbs().maxCoeff(), 1e-10 * best.cwiseAbs().maxCoeff());
  EXPECT_EQ(solution.iterations, 1);
}

TEST(Ddp, HoldsControlsForSeveralSteps) {
  for (const int hold : {2, 3, 7}) {
    const MassOnRail rail = {.hold = hold};
    const Problem problem = rail.problem();
    const Solution solution = ddp(problem, initial_plan(problem));
    const VecX best = rail.best_controls();
    EXPECT_LT((solution.plan.u.transpose() - best).cwiseAbs().maxCoeff(), 1e-9 * best.cwiseAbs().maxCoeff()) << hold;
    EXPECT_EQ(solution.iterations, 1) << hold;
  }
}

TEST(Ddp, KeepsControlsWithinBounds) {
  const MassOnRail rail;
  Problem problem = rail.problem();
  const double bound = 0.4 * rail.best_controls().cwiseAbs().maxCoeff();
  problem.lower = VecX::Constant(1, -bound);
  problem.upper = VecX::Constant(1, bound / 2);
  const Solution solution = ddp(problem, initial_plan(problem));
  const VecX best = rail.best_controls_within(-bound, bound / 2);
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_LT((solution.plan.u.transpose() - best).cwiseAbs().maxCoeff(), 1e-6 * bound);
  EXPECT_GE(solution.plan.u.minCoeff(), -bound);
  EXPECT_LE(solution.plan.u.maxCoeff(), bound / 2);
}

// Changes of the controls link a step to the one before, across knots and within them.
TEST(Ddp, WeighsChangesOfTheControls) {
  for (const int hold : {1, 3}) {
    const MassOnRail rail = {.hold = hold};
    Problem problem = rail.problem();
    problem.u_before = VecX::Constant(1, 0.7);
    problem.costs.push_back({.residual = residuals::control_change(1), .weight = 0.3});
    const Solution solution = ddp(problem, initial_plan(problem));
    // uᵀDᵀD u with the change across each knot's first step; it is zero within a knot.
    MassOnRail::Quadratic cost = rail.cost();
    for (int k = 0; k < rail.knots(); ++k) {
      cost.H(k, k) += 2 * 0.3;
      if (k == 0) {
        cost.g[0] -= 2 * 0.3 * 0.7;
        continue;
      }
      cost.H(k - 1, k - 1) += 2 * 0.3;
      cost.H(k, k - 1) -= 2 * 0.3;
      cost.H(k - 1, k) -= 2 * 0.3;
    }
    const VecX best = -cost.H.ldlt().solve(cost.g);
    EXPECT_LT((solution.plan.u.transpose() - best).cwiseAbs().maxCoeff(), 1e-9 * best.cwiseAbs().maxCoeff()) << hold;
    EXPECT_EQ(solution.iterations, 1) << hold;
  }
}

// The states of the guess do not follow from the controls; after one full step nothing is left of the gaps.
TEST(Ddp, StartsFromStatesThatDoNotMeet) {
  const MassOnRail rail;
  const Problem problem = rail.problem();
  Plan guess = initial_plan(problem);
  guess.q = MatX::Zero(1, problem.steps + 1);
  guess.v = MatX::Constant(1, problem.steps + 1, 0.3);
  for (int t = 0; t <= problem.steps; ++t) guess.q(0, t) = std::sin(0.3 * t);
  const Solution solution = ddp(problem, guess);
  EXPECT_GT(solution.history[0].infeasibility, 0.1);
  EXPECT_EQ(solution.history[1].infeasibility, 0);
  EXPECT_EQ(solution.history[1].step, 1);
  const VecX best = rail.riccati_controls();
  EXPECT_LT((solution.plan.u.transpose() - best).cwiseAbs().maxCoeff(), 1e-9 * best.cwiseAbs().maxCoeff());
}

// A motion that cannot be may cost less than any that can.
TEST(Ddp, ClosesGapsOfAGuessThatIsTooGoodToBeTrue) {
  const MassOnRail rail;
  const Problem problem = rail.problem();
  const VecX best = rail.riccati_controls();
  for (const double size : {0.0, 0.1, 0.5}) {
    Plan guess = initial_plan(problem);
    guess.q = MatX::Constant(1, problem.steps + 1, size);
    guess.v = MatX::Constant(1, problem.steps + 1, -size);
    const Solution solution = ddp(problem, guess);
    EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
    EXPECT_LT((solution.plan.u.transpose() - best).cwiseAbs().maxCoeff(), 1e-8 * best.cwiseAbs().maxCoeff()) << size;
  }
}

TEST(Ddp, AnOptimumIsNoSaddle) {
  Problem problem = MassOnRail().problem();
  // At rest where it should be: nothing is to be done, and what the start costs cannot be helped.
  problem.start.q.setZero();
  problem.start.v.setZero();
  problem.costs.push_back({.residual = residuals::velocity(VecX::Ones(1)), .times = Times::at(0)});
  const Solution solution = ddp(problem, initial_plan(problem));
  EXPECT_EQ(solution.cost, 1);
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
}

TEST(Ddp, MeetsConstraints) {
  const MassOnRail rail;
  Problem problem = rail.problem();
  const int t = 20;
  problem.constraints.push_back(
      {.residual = residuals::joint_position(problem.model, problem.model.joints()[0].name, -0.4),
       .times = Times::at(t)});
  const Solution solution = ddp(problem, initial_plan(problem));
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_LE(solution.infeasibility, 1e-6);
  EXPECT_NEAR(solution.trajectory.q(0, t), -0.4, 1e-6);
  const VecX best = rail.best_controls_through(t, 0, -0.4);
  EXPECT_NEAR(solution.cost, rail.cost().at(best), 1e-4 * rail.cost().at(best));
}

TEST(Ddp, MeetsInequalitiesAlongTheWay) {
  const MassOnRail rail;
  Problem problem = rail.problem();
  const std::string joint = problem.model.joints()[0].name;
  const Solution without = ddp(problem, initial_plan(problem));
  const double limit = 0.5 * without.trajectory.v.minCoeff();
  problem.constraints.push_back(
      {.residual = residuals::velocity_bound(problem.model, joint, residuals::BoundSide::lower, limit),
       .times = Times::all(),
       .kind = PathConstraint::Kind::not_positive});
  const Solution solution = ddp(problem, initial_plan(problem));
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_GE(solution.trajectory.v.minCoeff(), limit - 1e-6);
  EXPECT_GT(solution.cost, without.cost);
}

TEST(Ddp, SaysThatConstraintsCannotBeMet) {
  Problem problem = farthest(20);
  const std::string joint = problem.model.joints()[0].name;
  problem.constraints.push_back({.residual = residuals::joint_position(problem.model, joint, 1e3)});
  const Solution solution = ddp(problem, initial_plan(problem));
  EXPECT_EQ(solution.reason, StopReason::infeasible) << solution.message;
  EXPECT_GT(solution.infeasibility, 1);
}

// At rest and upright at the end, so the work is 2 m g l, but for what the time step costs.
TEST(Ddp, SwingsAPendulumUp) {
  Problem problem = swing_up(100);
  problem.constraints = {{.residual = residuals::joint_position(problem.model, "hinge", std::numbers::pi)},
                         {.residual = residuals::joint_velocity(problem.model, "hinge")}};
  const Solution solution = ddp(problem, initial_plan(problem), {{.max_iterations = 500}});
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_NEAR(solution.trajectory.q(0, problem.steps), std::numbers::pi, 1e-6);
  EXPECT_NEAR(solution.trajectory.v(0, problem.steps), 0, 1e-6);
  EXPECT_LE(solution.plan.u.cwiseAbs().maxCoeff(), 4);
  double work = 0;
  for (int t = 0; t < problem.steps; ++t) {
    work += solution.plan.u(0, t) * (solution.trajectory.q(0, t + 1) - solution.trajectory.q(0, t));
  }
  EXPECT_NEAR(work, 2 * 9.81, 0.05 * 2 * 9.81);
}

// A drone that rests on the ground: no force moves it, to first order.
TEST(Ddp, LeavesTheSaddleWithComplementarityAwareDerivatives) {
  const Problem problem = drone_to_five_metres();
  const Solution plain = ddp(problem, initial_plan(problem));
  EXPECT_EQ(plain.reason, StopReason::saddle);
  EXPECT_NE(plain.message.find("complementarity"), std::string::npos);
  EXPECT_EQ(plain.cost, plain.history[0].cost);

  DdpOptions aware;
  aware.gradient.complementarity_aware = true;
  const Solution lifted = ddp(problem, initial_plan(problem), aware);
  EXPECT_NEAR(lifted.trajectory.q(0, problem.steps), 5, 0.1) << lifted.message;
}

Problem worm() {
  const Scene scene = falling_jump_worm();
  Problem problem = {.model = scene.model, .start = {scene.q, scene.v}, .steps = 60, .hold = 5};
  problem.step.time_step = 4e-3;
  actuate_joints(problem);
  problem.costs = {
      {.residual = residuals::joint_position(scene.model, "root.z", 1.0), .times = Times::final(), .weight = 10},
      {.residual = residuals::controls(VecX::Zero(3)), .weight = 1e-6},
      {.residual = residuals::contact_force(scene.model, "root"), .weight = 1e-8}};
  return problem;
}

// Large enough for the threads to share the products of the backward pass.
Problem long_chain() {
  const Model model = chain(30).build();
  Problem problem = {.model = model, .start = {VecX::Constant(30, 0.1), VecX::Zero(30)}, .steps = 20, .hold = 2};
  actuate_joints(problem);
  problem.costs = {{.residual = residuals::configuration(VecX::Zero(30)), .times = Times::final(), .weight = 10},
                   {.residual = residuals::control_change(30), .weight = 1e-3},
                   {.residual = residuals::controls(VecX::Zero(30)), .weight = 1e-3}};
  return problem;
}

class DdpThreads : public testing::TestWithParam<bool> {};

TEST_P(DdpThreads, HaveTheSameBitsInAnyNumber) {
  const Problem problem = GetParam() ? long_chain() : worm();
  DdpOptions options;
  options.max_iterations = GetParam() ? 3 : 8;
  const Solution one = ddp(problem, initial_plan(problem), options);
  EXPECT_LT(one.cost, one.history[0].cost);
  for (const int threads : {2, 3}) {
    options.threads = threads;
    const Solution several = ddp(problem, initial_plan(problem), options);
    EXPECT_EQ(several.plan.u, one.plan.u) << threads;
    EXPECT_EQ(several.trajectory.q, one.trajectory.q) << threads;
    EXPECT_EQ(several.iterations, one.iterations) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, DdpThreads, testing::Bool(),
                         [](const auto& which) { return which.param ? "Chain" : "Worm"; });

TEST(Ddp, WhatAResidualThrowsReachesTheCaller) {
  Problem problem = worm();
  // Only once derivatives are wanted, which is in another thread as a rule.
  const auto fails = [](const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) {
    value[0] = 0;
    if (jacobian && at.t == 3) throw Error("no derivative here");
  };
  problem.costs.push_back({.residual = residuals::custom({.name = "fails", .size = 1, .evaluate = fails})});
  for (const int threads : {1, 3}) {
    DdpOptions options;
    options.threads = threads;
    expect_error([&] { ddp(problem, initial_plan(problem), options); }, "no derivative here");
  }
}

// What DDP expects of an infinitesimal step is what happens: through contact, with a cost of forces.
TEST(Ddp, DescendsAsItsModelSays) {
  const Problem problem = worm();
  std::vector<Progress> lines;
  DdpOptions options;
  options.max_iterations = 15;
  options.progress = [&](const Progress& line) {
    lines.push_back(line);
    return true;
  };
  const Solution solution = ddp(problem, initial_plan(problem), options);
  ASSERT_EQ(lines.size(), solution.history.size());
  for (std::size_t k = 1; k < lines.size(); ++k) EXPECT_LT(lines[k].cost, lines[k - 1].cost) << k;
  EXPECT_LT(solution.cost, 0.9 * solution.history[0].cost);
}

TEST(Ddp, FeedbackHoldsAgainstDisturbances) {
  const MassOnRail rail;
  Problem problem = rail.problem();
  DdpOptions options;
  options.gains = true;
  const Solution solution = ddp(problem, initial_plan(problem), options);
  ASSERT_EQ(static_cast<int>(solution.gains.size()), problem.knots());
  // From another start, the linear feedback is the optimum of that start.
  MassOnRail other = rail;
  other.start = {1.5, -0.2};
  const VecX best = other.riccati_controls();
  State state = {VecX::Constant(1, 1.5), VecX::Constant(1, -0.2)};
  StepRecord record;
  for (int t = 0; t < problem.steps; ++t) {
    VecX off(2);
    off << state.q - solution.trajectory.q.col(t), state.v - solution.trajectory.v.col(t);
    const VecX u = solution.plan.u.col(t) + solution.gains[t] * off;
    EXPECT_NEAR(u[0], best[t], 1e-9) << t;
    step(problem.model, state, {.tau = u}, problem.step, record);
    state = record.next;
  }
}

TEST(Ddp, StopsWhenToldTo) {
  const Problem problem = worm();
  DdpOptions options;
  options.progress = [](const Progress& line) { return line.iteration < 2; };
  const Solution stopped = ddp(problem, initial_plan(problem), options);
  EXPECT_EQ(stopped.reason, StopReason::interrupted);
  EXPECT_EQ(stopped.iterations, 2);
  EXPECT_LT(stopped.cost, stopped.history[0].cost);
  options.progress = {};
  options.max_iterations = 0;
  EXPECT_EQ(ddp(problem, initial_plan(problem), options).reason, StopReason::iteration_limit);
  options.max_iterations = 100;
  options.max_seconds = 0;
  EXPECT_EQ(ddp(problem, initial_plan(problem), options).reason, StopReason::time_limit);
}

TEST(Ddp, RefusesWhatItCannotChoose) {
  Problem problem = MassOnRail{}.problem();
  problem.free_parameters = {{"body/" + problem.model.bodies()[1].name + "/mass", 1, 2}};
  EXPECT_THROW(ddp(problem, initial_plan(problem)), Error);
  problem.free_parameters.clear();
  problem.steps = 0;
  EXPECT_THROW(ddp(problem, initial_plan(problem)), Error);
}

TEST(BoxQp, FindsTheMinimumWithinTheBox) {
  for_random_cases(200, [](std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    const int n = std::uniform_int_distribution(1, 8)(random);
    const MatX root = MatX::NullaryExpr(n, n, [&] { return normal(random); });
    const VecX g = VecX::NullaryExpr(n, [&] { return normal(random); });
    const VecX lower = VecX::NullaryExpr(n, [&] { return -std::abs(normal(random)); });
    const VecX upper = VecX::NullaryExpr(n, [&] { return std::abs(normal(random)); });
    const MatX H = root * root.transpose() + 0.1 * MatX::Identity(n, n);
    BoxQp qp;
    qp.solve(H, g, lower, upper);
    ASSERT_TRUE(qp.solved);
    // The gradient vanishes where no bound holds, and points outwards where one does.
    const VecX gradient = H * qp.x + g;
    for (int i = 0; i < n; ++i) {
      ASSERT_GE(qp.x[i], lower[i]);
      ASSERT_LE(qp.x[i], upper[i]);
      EXPECT_LE(qp.x[i] > lower[i] ? gradient[i] : 0, 1e-10);
      EXPECT_GE(qp.x[i] < upper[i] ? gradient[i] : 0, -1e-10);
    }
  });
}

TEST(BoxQp, SaysThatTheMatrixIsNotPositive) {
  BoxQp qp;
  MatX H = MatX::Identity(2, 2);
  H(1, 1) = -1;
  qp.solve(H, VecX::Ones(2), VecX::Constant(2, -1), VecX::Constant(2, 1));
  EXPECT_FALSE(qp.solved);
}

}  // namespace
}  // namespace lithe::test

#include "lithe/optimize/hybrid.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lithe/optimize/residuals.h"
#include "tests/optimize/problems.h"
#include "tests/support/error_text.h"

namespace lithe::test {

namespace {

// Two valleys: x_T near −1 costs little, near +2 nothing; gradients from 0 lead to the wrong one.
Problem two_valleys() {
  Problem problem = farthest(20);
  problem.lower = VecX::Constant(1, -3);
  problem.upper = VecX::Constant(1, 3);
  problem.costs = {
      {.residual = residuals::custom({.name = "two valleys",
                                      .size = 1,
                                      .evaluate =
                                          [](const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) {
                                            const double x = at.q[0];
                                            // (x + 1)²(x − 2)²/4 + (2 − x)/4 has minima near −1 and 2, and falls towards −1 at 0.
                                            value[0] = std::pow((x + 1) * (x - 2), 2) / 4 + (2 - x) / 4;
                                            if (jacobian)
                                              jacobian->by_q.setConstant(1, 1,
                                                                         (x + 1) * (x - 2) * (2 * x - 1) / 2 - 0.25);
                                          }}),
       .times = Times::final(),
       .norm = Norm::linear},
      {.residual = residuals::controls(VecX::Zero(1)), .weight = 1e-5}};
  problem.start.q[0] = -0.5;
  return problem;
}

}  // namespace

TEST(Hybrid, LeavesTheValleyThatGradientsEndIn) {
  const Problem problem = two_valleys();
  const Solution gradients = single_shooting(problem, initial_plan(problem));
  ASSERT_LT(gradients.trajectory.q(0, problem.steps), 0);
  const Solution both = hybrid(problem, initial_plan(problem));
  EXPECT_GT(both.trajectory.q(0, problem.steps), 1.5) << both.message;
  EXPECT_LT(both.cost, gradients.cost - 0.3);
  EXPECT_EQ(both.reason, StopReason::converged) << both.message;
}

TEST(Hybrid, FinishesWhatSearchAloneLeavesRough) {
  const MassOnRail rail = {.hold = 4};
  const Problem problem = rail.problem();
  HybridOptions options;
  options.gradient_iterations = 200;
  options.max_iterations = 1000;
  options.tolerance = 1e-9;
  const Solution solution = hybrid(problem, initial_plan(problem), options);
  EXPECT_LT((solution.plan.u.reshaped() - rail.best_controls()).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Hybrid, LiftsTheDroneAndMeetsItsTarget) {
  Problem problem = drone_to_five_metres();
  problem.hold = 50;
  const Solution solution = hybrid(problem, initial_plan(problem));
  EXPECT_NEAR(solution.trajectory.q(0, problem.steps), 5, 1e-3) << solution.message;
}

TEST(Hybrid, CountsAcrossItsParts) {
  const Problem problem = two_valleys();
  HybridOptions options;
  options.rounds = 2;
  options.search_iterations = 3;
  options.gradient_iterations = 4;
  int next = 0;
  double best = 1e300;
  options.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.iteration, next++);
    EXPECT_LE(progress.best_cost, best);
    best = progress.best_cost;
    return true;
  };
  const Solution solution = hybrid(problem, initial_plan(problem), options);
  EXPECT_EQ(static_cast<int>(solution.history.size()), next);
  EXPECT_EQ(solution.iterations, next - 1);
  EXPECT_LE(solution.iterations, 14);
  EXPECT_EQ(solution.cost, best);
  for (std::size_t k = 1; k < solution.history.size(); ++k) {
    EXPECT_GE(solution.history[k].seconds, solution.history[k - 1].seconds);
  }
  EXPECT_GT(solution.seconds.derivatives, 0);
  EXPECT_NEAR(solution.seconds.rollout + solution.seconds.derivatives + solution.seconds.solve, solution.seconds.total,
              1e-9);

  options.progress = {};
  options.max_iterations = 5;  // in the middle of the first gradients
  const Solution limited = hybrid(problem, initial_plan(problem), options);
  EXPECT_EQ(limited.iterations, 5);
  EXPECT_EQ(limited.reason, StopReason::iteration_limit);
  options.max_iterations = 0;
  const Solution none = hybrid(problem, initial_plan(problem), options);
  EXPECT_EQ(none.iterations, 0);
  EXPECT_EQ(none.plan.u.norm(), 0);
}

TEST(Hybrid, StopsWhenToldTo) {
  const Problem problem = two_valleys();
  for (const int last : {0, 2, 12}) {  // at the start, in the search, in the gradients
    HybridOptions options;
    options.progress = [&](const Progress& progress) { return progress.iteration < last; };
    const Solution solution = hybrid(problem, initial_plan(problem), options);
    EXPECT_EQ(solution.reason, StopReason::interrupted);
    EXPECT_EQ(solution.iterations, last);
    EXPECT_LE(solution.cost, solution.history.front().cost);
  }
  HybridOptions options;
  options.max_seconds = 0;
  EXPECT_EQ(hybrid(problem, initial_plan(problem), options).reason, StopReason::time_limit);
}

TEST(Hybrid, SameBitsForAnyNumberOfThreads) {
  const Problem problem = two_valleys();
  HybridOptions options;
  const Solution one = hybrid(problem, initial_plan(problem), options);
  for (const int threads : {2, 3}) {
    options.threads = threads;
    const Solution more = hybrid(problem, initial_plan(problem), options);
    EXPECT_EQ(one.plan.u, more.plan.u);
    EXPECT_EQ(one.cost, more.cost);
    EXPECT_EQ(one.iterations, more.iterations);
  }
  options.threads = 1;
  options.seed = 5;
  EXPECT_NE(hybrid(problem, initial_plan(problem), options).history[1].cost, one.history[1].cost);
}

TEST(Hybrid, RefusesWhatMakesNoSense) {
  const Problem problem = two_valleys();
  HybridOptions options;
  options.rounds = 0;
  expect_error([&] { hybrid(problem, initial_plan(problem), options); }, "rounds", "0");
  options = {};
  options.search_iterations = 0;
  expect_error([&] { hybrid(problem, initial_plan(problem), options); }, "iterations", "0");
  Problem empty = problem;
  empty.steps = 0;
  expect_error([&] { hybrid(empty, initial_plan(problem)); }, "steps");
}

}  // namespace lithe::test

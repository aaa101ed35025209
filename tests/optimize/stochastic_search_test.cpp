#include "lithe/optimize/stochastic_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lithe/core/infinity.h"
#include "lithe/optimize/numerics/normal_draws.h"
#include "lithe/optimize/residuals.h"
#include "tests/optimize/problems.h"
#include "tests/support/error_text.h"

namespace lithe::test {

using namespace internal;

namespace {

using SearchMethod = StochasticSearchOptions::Method;

StochasticSearchOptions options_for(SearchMethod method, int iterations) {
  StochasticSearchOptions options;
  options.method = method;
  options.max_iterations = iterations;
  return options;
}

void expect_same_solution(const Solution& a, const Solution& b) {
  EXPECT_EQ(a.plan.u, b.plan.u);
  EXPECT_EQ(a.plan.start, b.plan.start);
  EXPECT_EQ(a.plan.parameters, b.plan.parameters);
  EXPECT_EQ(a.cost, b.cost);
  EXPECT_TRUE(a.trajectory.q == b.trajectory.q && a.trajectory.v == b.trajectory.v);
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t k = 0; k < a.history.size(); ++k) {
    EXPECT_EQ(a.history[k].cost, b.history[k].cost);
    EXPECT_EQ(a.history[k].step, b.history[k].step);
  }
}

}  // namespace

TEST(NormalDraws, AreNormalAndFixedBySeed) {
  NormalDraws draws(7), again(7), other(8);
  constexpr int kCount = 200000;
  double mean = 0, square = 0, fourth = 0;
  bool differs = false;
  for (int k = 0; k < kCount; ++k) {
    const double x = draws.next();
    ASSERT_TRUE(std::isfinite(x));
    ASSERT_EQ(x, again.next());
    differs = differs || x != other.next();
    mean += x / kCount;
    square += x * x / kCount;
    fourth += x * x * x * x / kCount;
  }
  EXPECT_TRUE(differs);
  // Within four deviations of these estimates.
  EXPECT_NEAR(mean, 0, 4 / std::sqrt(kCount));
  EXPECT_NEAR(square, 1, 4 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(fourth, 3, 4 * std::sqrt(96.0 / kCount));
}

TEST(StochasticSearch, BothMethodsSwingAPendulumUp) {
  Problem problem = swing_up();
  problem.hold = 3;
  for (const SearchMethod method : {SearchMethod::cem, SearchMethod::mppi}) {
    StochasticSearchOptions options = options_for(method, 100);
    options.samples = 200;
    options.threads = 2;
    const Solution solution = stochastic_search(problem, initial_plan(problem), options);
    EXPECT_NEAR(solution.trajectory.q(0, problem.steps), std::numbers::pi, 0.1) << solution.message;
    EXPECT_LE(solution.plan.u.cwiseAbs().maxCoeff(), 5);
    EXPECT_EQ(solution.history.front().iteration, 0);
    EXPECT_EQ(solution.history.back().iteration, solution.iterations);
    for (std::size_t k = 1; k < solution.history.size(); ++k) {
      EXPECT_LE(solution.history[k].cost, solution.history[k - 1].cost);
    }
    EXPECT_EQ(solution.cost, solution.history.back().cost);  // the best that was met, carried out again
    EXPECT_GT(solution.seconds.rollout, 0);
    EXPECT_EQ(solution.seconds.derivatives, 0);
  }
}

TEST(StochasticSearch, NarrowsToTheOptimumOfAMassOnARail) {
  const MassOnRail rail = {.hold = 8};
  const Problem problem = rail.problem();
  StochasticSearchOptions options = options_for(SearchMethod::cem, 200);
  options.deviation = 2;
  options.smoothing = 0;
  const Solution solution = stochastic_search(problem, initial_plan(problem), options);
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_NEAR(solution.cost, rail.cost().at(rail.best_controls()), 1e-3);
}

TEST(StochasticSearch, FindsAStartAndAMass) {
  const ThrownBall ball;
  const Problem problem = ball.problem();
  const Solution solution = stochastic_search(problem, initial_plan(problem), options_for(SearchMethod::cem, 60));
  EXPECT_NEAR(solution.plan.start[0], ball.free_velocity(), 0.02);
  EXPECT_NEAR(solution.plan.parameters[0], ball.mass, 0.02);
}

TEST(StochasticSearch, LiftsTheDroneThatGradientsLeaveOnTheGround) {
  Problem problem = drone_to_five_metres();
  problem.hold = 50;
  const Solution solution = stochastic_search(problem, initial_plan(problem), options_for(SearchMethod::cem, 20));
  EXPECT_NEAR(solution.trajectory.q(0, problem.steps), 5, 0.1);
}

TEST(StochasticSearch, SameBitsForAnyNumberOfThreads) {
  Problem problem = swing_up(30);
  problem.constraints = {{.residual = residuals::joint_position(problem.model, "hinge", 1), .times = Times::at(15)}};
  for (const SearchMethod method : {SearchMethod::cem, SearchMethod::mppi}) {
    StochasticSearchOptions options = options_for(method, 5);
    options.samples = 33;  // one of them alone
    const Solution one = stochastic_search(problem, initial_plan(problem), options);
    const Solution again = stochastic_search(problem, initial_plan(problem), options);
    expect_same_solution(one, again);
    for (const int threads : {2, 3}) {
      options.threads = threads;
      expect_same_solution(one, stochastic_search(problem, initial_plan(problem), options));
    }
    options.seed = 2;
    EXPECT_NE(one.plan.u, stochastic_search(problem, initial_plan(problem), options).plan.u);
  }
}

TEST(StochasticSearch, KeepsInequalitiesAndComesNearEquations) {
  Problem problem = MassOnRail{.hold = 4, .start = {2, 0}}.problem();
  problem.constraints = {
      {.residual = residuals::velocity_bound(problem.model, "slide", residuals::BoundSide::lower, -1),
       .times = Times::all(),
       .kind = PathConstraint::Kind::not_positive}};
  StochasticSearchOptions options = options_for(SearchMethod::cem, 100);
  options.deviation = 2;
  const Solution kept = stochastic_search(problem, initial_plan(problem), options);
  EXPECT_TRUE(kept.feasible(options));
  EXPECT_GE(kept.trajectory.v.minCoeff(), -1 - 1e-6);
  EXPECT_LT(kept.cost, kept.history.front().cost);

  problem.constraints = {{.residual = residuals::joint_position(problem.model, "slide", 0.4)}};
  const Solution near = stochastic_search(problem, initial_plan(problem), options);
  EXPECT_LT(near.infeasibility, 1e-2);
  EXPECT_EQ(near.reason, near.feasible(options) ? StopReason::converged : StopReason::infeasible) << near.message;
}

TEST(StochasticSearch, DivergedSamplesAreLeftOut) {
  // Samples so far apart that most motions overflow.
  Problem problem = farthest(50);
  problem.lower.resize(0);
  problem.upper.resize(0);
  problem.costs = {{.residual = residuals::joint_position(problem.model, "slide", 1), .times = Times::final()}};
  StochasticSearchOptions options = options_for(SearchMethod::cem, 10);
  options.deviation = 1e308;
  const Solution solution = stochastic_search(problem, initial_plan(problem), options);
  EXPECT_TRUE(std::isfinite(solution.cost));
  EXPECT_LE(solution.cost, solution.history.front().cost);
  EXPECT_TRUE(solution.plan.u.allFinite());
}

TEST(StochasticSearch, StopsWhenToldTo) {
  const Problem problem = swing_up();
  StochasticSearchOptions options;
  int lines = 0;
  options.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.iteration, lines);
    return ++lines < 3;
  };
  const Solution interrupted = stochastic_search(problem, initial_plan(problem), options);
  EXPECT_EQ(interrupted.reason, StopReason::interrupted);
  EXPECT_EQ(interrupted.iterations, 2);
  EXPECT_LE(interrupted.cost, interrupted.history.front().cost);
  options.progress = {};
  options.max_seconds = 0;
  const Solution late = stochastic_search(problem, initial_plan(problem), options);
  EXPECT_EQ(late.reason, StopReason::time_limit);
  EXPECT_EQ(late.iterations, 0);
}

TEST(StochasticSearch, RefusesWhatMakesNoSense) {
  const Problem problem = swing_up();
  const Plan plan = initial_plan(problem);
  StochasticSearchOptions options;
  options.samples = 1;
  expect_error([&] { stochastic_search(problem, plan, options); }, "samples", "1");
  options = {};
  options.elite = 0;
  expect_error([&] { stochastic_search(problem, plan, options); }, "elite", "0");
  options = {};
  options.smoothing = 1.5;
  expect_error([&] { stochastic_search(problem, plan, options); }, "smoothing", "1.5");
  options = {};
  options.deviation = kInfinity;
  expect_error([&] { stochastic_search(problem, plan, options); }, "deviation", "inf");
  Problem empty = problem;
  empty.steps = 0;
  expect_error([&] { stochastic_search(empty, plan); }, "steps");
  Problem not_a_number = problem;
  not_a_number.costs.push_back(
      {.residual = residuals::custom(
           {.name = "nothing", .size = 1, .evaluate = [](const ResidualPoint&, VecRef value, ResidualJacobian*) {
              value[0] = std::nan("");
            }})});
  expect_error([&] { stochastic_search(not_a_number, plan); }, "initial plan", "not finite");
}

}  // namespace lithe::test

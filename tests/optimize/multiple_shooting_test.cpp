#include "lithe/optimize/multiple_shooting.h"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/dynamics/energy.h"
#include "lithe/optimize/residuals.h"
#include "lithe/scenes/paper/catapult.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/scenes/solids/solids.h"
#include "tests/optimize/problems.h"
#include "tests/support/error_text.h"

namespace lithe::test {
namespace {

// A mass of 1 kg on a rail, without gravity: v⁺ = v + h u, q⁺ = q + h v⁺.
struct DoubleIntegrator {
  Eigen::Matrix2d A;
  Eigen::Vector2d B;
  Problem problem;

  DoubleIntegrator(double q, double v, int steps, double h)
      : problem{.model = ModelBuilder()
                             .set_gravity(Vec3::Zero())
                             .add_body("world", {.name = "mass", .inertia = SpatialInertia::point(1, Vec3::Zero())},
                                       prismatic("rail", Vec3::UnitX()))
                             .build(),
                .start = {numbers({q}), numbers({v})},
                .steps = steps,
                .actuated = {0}} {
    A << 1, h, 0, 1;
    B << h * h, h;
    problem.step.time_step = h;
  }

  ResidualPtr position(double target = 0) const { return residuals::configuration(numbers({target})); }
  ResidualPtr velocity() const { return residuals::velocity(numbers({0})); }
  ResidualPtr controls() const { return residuals::controls(numbers({0})); }

  // From rest to rest over one metre, with the least Σ u².
  static DoubleIntegrator rest_to_rest(int steps, double h) {
    DoubleIntegrator system(0, 0, steps, h);
    system.problem.costs = {{.residual = system.controls()}};
    system.problem.constraints = {{.residual = system.position(1)}, {.residual = system.velocity()}};
    return system;
  }
};

TEST(MultipleShooting, FindsTheControlsOfTheRiccatiRecursion) {
  DoubleIntegrator system(1, -0.5, 100, 0.02);
  Problem& problem = system.problem;
  problem.costs = {{.residual = system.position(), .weight = 3},
                   {.residual = system.velocity(), .weight = 0.5},
                   {.residual = system.controls(), .weight = 0.1},
                   {.residual = system.position(), .times = Times::final(), .weight = 20},
                   {.residual = system.velocity(), .times = Times::final(), .weight = 5}};
  Eigen::Matrix2d P = Eigen::Vector2d(20, 5).asDiagonal();
  const Eigen::Matrix2d Q = Eigen::Vector2d(3, 0.5).asDiagonal();
  std::vector<Eigen::RowVector2d> gains(problem.steps);
  for (int t = problem.steps - 1; t >= 0; --t) {
    const double curvature = 0.1 + system.B.dot(P * system.B);
    gains[t] = (system.B.transpose() * P * system.A) / curvature;
    P = Q + system.A.transpose() * P * (system.A - system.B * gains[t]);
  }

  for (const int shot : {7, 20, 100}) {
    SCOPED_TRACE(shot);
    MultipleShootingOptions options;
    options.tolerance = 1e-9;
    options.shot = shot;
    const Solution solution = multiple_shooting(problem, initial_plan(problem), options);
    EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
    Eigen::Vector2d x(1, -0.5);
    EXPECT_NEAR(solution.cost, x.dot(P * x), 1e-8);
    double largest = 0;
    for (int t = 0; t < problem.steps; ++t) {
      const double u = -gains[t].dot(x);
      largest = std::max(largest, std::abs(solution.plan.u(0, t) - u));
      x = system.A * x + system.B * u;
    }
    EXPECT_LT(largest, 1e-6);
    EXPECT_LT(solution.iterations, 10);  // it is a quadratic programme, and the Hessian is exact
  }
}

// The columns of (q, v) at the end by each u.
MatX reach(const DoubleIntegrator& system) {
  const int steps = system.problem.steps;
  MatX C(2, steps);
  Eigen::Vector2d column = system.B;
  for (int t = steps - 1; t >= 0; --t, column = system.A * column) C.col(t) = column;
  return C;
}

TEST(MultipleShooting, TakesTheLeastEnergyFromRestToRest) {
  const DoubleIntegrator system = DoubleIntegrator::rest_to_rest(100, 0.01);
  MultipleShootingOptions options;
  options.feasibility = 1e-9;
  options.tolerance = 1e-9;
  const Solution solution = multiple_shooting(system.problem, initial_plan(system.problem), options);
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_TRUE(solution.feasible(options));
  EXPECT_NEAR(solution.trajectory.q(0, 100), 1, 1e-8);
  EXPECT_NEAR(solution.trajectory.v(0, 100), 0, 1e-8);
  const MatX C = reach(system);
  const MatX CC = C * C.transpose();
  const VecX least = C.transpose() * CC.inverse() * Eigen::Vector2d(1, 0);
  EXPECT_LT((solution.plan.u.row(0).transpose() - least).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_NEAR(solution.cost, least.squaredNorm(), 1e-6);
}

TEST(MultipleShooting, KeepsBoundsFromRestToRest) {
  // Without bounds |u| goes up to 6 N, and less than 4 N do not suffice.
  DoubleIntegrator system = DoubleIntegrator::rest_to_rest(100, 0.01);
  Problem& problem = system.problem;
  problem.lower = numbers({-4.6});
  problem.upper = numbers({4.6});
  MultipleShootingOptions options;
  options.feasibility = 1e-9;
  options.tolerance = 1e-9;
  const Solution solution = multiple_shooting(problem, initial_plan(problem), options);
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_NEAR(solution.trajectory.q(0, 100), 1, 1e-8);
  EXPECT_NEAR(solution.trajectory.v(0, 100), 0, 1e-8);
  const VecX u = solution.plan.u.row(0);
  EXPECT_LE(u.cwiseAbs().maxCoeff(), 4.6);
  EXPECT_GT(solution.cost, 1200);  // 12 N² s without bounds, in steps of 0.01 s
  // Pontryagin: u is a straight line, cut off at the bounds.
  int saturated = 0, straight = 0;
  for (int t = 1; t + 1 < 100; ++t) {
    if (std::abs(u[t]) > 4.6 - 1e-5) ++saturated;
    if (std::abs(u[t - 1]) > 4.6 - 1e-3 || std::abs(u[t + 1]) > 4.6 - 1e-3) continue;
    EXPECT_NEAR(u[t + 1] - 2 * u[t] + u[t - 1], 0, 1e-5) << t;
    ++straight;
  }
  EXPECT_GT(saturated, 20);
  EXPECT_GT(straight, 20);
}

// A pendulum that must swing to and fro: gravity pulls with up to 9.81 N·m.
Problem constrained_swing_up() {
  Problem problem = {.model = pendulum().build(),
                     .start = {numbers({0}), numbers({0})},
                     .steps = 400,
                     .hold = 2,
                     .actuated = {0},
                     .lower = numbers({-5}),
                     .upper = numbers({5})};
  problem.step.time_step = 0.01;
  problem.costs = {{.residual = residuals::controls(numbers({0})), .weight = 1e-2}};
  problem.constraints = {{.residual = residuals::configuration(numbers({std::numbers::pi}))},
                         {.residual = residuals::velocity(numbers({0}))}};
  return problem;
}

// As if it went up at a constant speed; no controls would do that.
Plan rising_plan(const Problem& problem) {
  Plan plan = initial_plan(problem);
  plan.q = VecX::LinSpaced(problem.steps + 1, 0, std::numbers::pi).transpose();
  plan.v = MatX::Constant(1, problem.steps + 1, std::numbers::pi / (problem.steps * 0.01));
  return plan;
}

MultipleShootingOptions limited_memory() {
  MultipleShootingOptions options;
  options.gauss_newton = false;
  return options;
}

TEST(MultipleShooting, SwingsAPendulumUp) {
  const Problem problem = constrained_swing_up();
  const MultipleShootingOptions options = limited_memory();
  const Solution solution = multiple_shooting(problem, rising_plan(problem), options);
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_TRUE(solution.feasible(options)) << solution.infeasibility;
  EXPECT_LE(solution.plan.u.cwiseAbs().maxCoeff(), 5);
  const VecX q = solution.trajectory.q.col(problem.steps), v = solution.trajectory.v.col(problem.steps);
  EXPECT_NEAR(q[0], std::numbers::pi, 1e-6);
  EXPECT_NEAR(v[0], 0, 1e-6);
  EXPECT_LT(solution.trajectory.q.minCoeff(), -0.5);  // it swings back first
  Kinematics kin;
  kinematics(problem.model, q, v, kin);
  EXPECT_NEAR(kinetic_energy(problem.model, kin) + potential_energy(problem.model, kin),
              9.81 * kPendulumMass * kPendulumLength, 1e-5);
  ASSERT_GE(solution.history.size(), 2u);
  EXPECT_EQ(solution.history.front().iteration, 0);
  EXPECT_EQ(solution.iterations, solution.history.back().iteration);
  EXPECT_NEAR(solution.history.back().best_cost, solution.cost, 1e-6 * solution.cost);
  EXPECT_NEAR(solution.seconds.rollout + solution.seconds.derivatives + solution.seconds.solve, solution.seconds.total,
              1e-6);
}

TEST(MultipleShooting, TakesFewerIterationsFromTheSolution) {
  const Problem problem = constrained_swing_up();
  const MultipleShootingOptions cold = limited_memory();
  const Solution first = multiple_shooting(problem, rising_plan(problem), cold);
  MultipleShootingOptions warm = cold;
  warm.initial_barrier = 1e-6;
  const Solution again = multiple_shooting(problem, first.plan, warm);
  EXPECT_EQ(again.reason, StopReason::converged) << again.message;
  EXPECT_LT(2 * again.iterations, first.iterations);
  EXPECT_NEAR(again.cost, first.cost, 1e-5 * first.cost);
}

TEST(MultipleShooting, GoesOnWhereItWasStopped) {
  const Problem problem = constrained_swing_up();
  MultipleShootingOptions options = limited_memory();
  options.max_iterations = 12;
  const Solution stopped = multiple_shooting(problem, rising_plan(problem), options);
  EXPECT_EQ(stopped.reason, StopReason::iteration_limit);
  EXPECT_EQ(stopped.iterations, 12);
  EXPECT_EQ(stopped.history.size(), 13u);
  ASSERT_EQ(stopped.plan.q.cols(), problem.steps + 1);
  options.max_iterations = 200;
  const Solution solution = multiple_shooting(problem, stopped.plan, options);
  EXPECT_EQ(solution.reason, StopReason::converged) << solution.message;
  EXPECT_TRUE(solution.feasible(options));
}

TEST(MultipleShooting, StopsWhenToldTo) {
  const Problem problem = constrained_swing_up();
  MultipleShootingOptions options = limited_memory();
  options.progress = [](const Progress& progress) { return progress.iteration < 5; };
  const Solution solution = multiple_shooting(problem, rising_plan(problem), options);
  EXPECT_EQ(solution.reason, StopReason::interrupted);
  EXPECT_EQ(solution.iterations, 5);
  EXPECT_FALSE(solution.message.empty());
  EXPECT_EQ(solution.trajectory.steps(), problem.steps);
  options.progress = {};
  options.max_seconds = 0;
  EXPECT_EQ(multiple_shooting(problem, rising_plan(problem), options).reason, StopReason::time_limit);
}

TEST(MultipleShooting, PassesExceptionsOn) {
  struct Mishap {};
  const Problem problem = constrained_swing_up();
  MultipleShootingOptions options;
  options.progress = [](const Progress& progress) -> bool {
    if (progress.iteration == 3) throw Mishap();
    return true;
  };
  EXPECT_THROW(multiple_shooting(problem, rising_plan(problem), options), Mishap);
}

TEST(MultipleShooting, SaysThatConstraintsCannotBeMet) {
  DoubleIntegrator system = DoubleIntegrator::rest_to_rest(50, 0.01);
  system.problem.lower = numbers({-1});
  system.problem.upper = numbers({1});
  MultipleShootingOptions options;
  const Solution solution = multiple_shooting(system.problem, initial_plan(system.problem), options);
  EXPECT_EQ(solution.reason, StopReason::infeasible) << solution.message;
  EXPECT_FALSE(solution.feasible(options));
  EXPECT_NE(solution.message.find("more steps"), std::string::npos) << solution.message;
  // Two numbers at the end, and one control.
  Problem& problem = system.problem;
  problem.hold = 50;
  options.shot = 50;
  EXPECT_EQ(multiple_shooting(problem, initial_plan(problem), options).reason, StopReason::infeasible);
}

TEST(MultipleShooting, RefusesWhatMakesNoSense) {
  Problem problem = constrained_swing_up();
  const Plan plan = initial_plan(problem);
  MultipleShootingOptions options;
  options.shot = 15;
  expect_error([&] { multiple_shooting(problem, plan, options); }, "shot is 15", "multiple of Problem::hold, 2");
  options.shot = 20;
  options.initial_barrier = 0;
  expect_error([&] { multiple_shooting(problem, plan, options); }, "initial_barrier is 0");
  options.initial_barrier = 0.1;
  options.tolerance = 0;
  expect_error([&] { multiple_shooting(problem, plan, options); }, "tolerance is 0");
  Plan wrong = plan;
  wrong.u.resize(1, 3);
  expect_error([&] { multiple_shooting(problem, wrong); }, "Plan::u is 1 × 3");
  problem.steps = 0;
  expect_error([&] { multiple_shooting(problem, plan); }, "Problem::steps is 0");
}

TEST(MultipleShooting, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Problem problem = constrained_swing_up();
  MultipleShootingOptions options = limited_memory();
  options.max_iterations = 15;
  const Solution first = multiple_shooting(problem, rising_plan(problem), options);
  for (const int threads : {2, 3}) {
    options.threads = threads;
    const Solution solution = multiple_shooting(problem, rising_plan(problem), options);
    EXPECT_EQ(solution.plan.u, first.plan.u);
    EXPECT_EQ(solution.trajectory.q, first.trajectory.q);
    EXPECT_EQ(solution.cost, first.cost);
  }
}

// The arm pushes with constant torques towards the target: the box is thrown, but ends 2.3 m short of it. Contacts make the way from
// there a matter of luck: about every second guess gets to the target, so a few of them are tried.
TEST(MultipleShooting, ThrowsABoxToItsTarget) {
  const Scene scene = armed_catapult();
  Problem problem = {.model = scene.model, .start = {scene.q, scene.v}, .steps = scene.task->steps, .hold = 20};
  problem.step.time_step = scene.time_step;
  actuate_joints(problem, {"segment_1", "segment_2", "segment_3"});
  problem.costs = {{.residual = residuals::controls(VecX::Zero(3)), .weight = 1e-6}};
  for (const TaskTerm& term : scene.task->terms) {
    problem.constraints.push_back({.residual = residuals::joint_position(problem.model, term.joint, term.target)});
  }
  // Two shots: more cuts while the box lies on the arm would be too much.
  MultipleShootingOptions options = limited_memory();
  options.shot = 260;
  options.progress = [](const Progress& progress) { return !std::isfinite(progress.best_cost); };  // the first will do
  constexpr int kGuesses = 10;
  for (int guess = 0; guess < kGuesses; ++guess) {
    Plan plan = initial_plan(problem);
    plan.u.colwise() = Vec3(-200 - guess, -100 - 2 * guess, -50 + guess);
    const Solution solution = multiple_shooting(problem, plan, options);
    if (!solution.feasible(options)) continue;
    const VecX end = solution.trajectory.q.col(problem.steps);
    EXPECT_LT(std::hypot(end[0] - 2.2, end[1] - 2.2), 0.05);
    EXPECT_LE(solution.plan.u.cwiseAbs().maxCoeff(), 1000);
    return;
  }
  FAIL() << "none of " << kGuesses << " guesses leads to the target";
}

// A box on the ground that should be above it: pushes that do not lift it do nothing.
Problem lifting_problem() {
  ModelBuilder builder;
  Joint up = prismatic("up", Vec3::UnitZ());
  builder.add_body("world", {.name = "box", .inertia = SpatialInertia::point(1, Vec3::Zero())}, up);
  builder.add_shape("box", {.name = "box", .geometry = Sphere{0.1}});
  add_ground(builder);
  Problem problem = {.model = builder.build(), .start = {numbers({0.1}), numbers({0})}, .steps = 60, .hold = 10};
  problem.step.time_step = 0.01;
  problem.actuated = {0};
  problem.lower = numbers({-30});
  problem.upper = numbers({30});
  problem.costs = {{.residual = residuals::configuration(numbers({0.5})), .times = Times::final(), .weight = 100}};
  return problem;
}

TEST(MultipleShooting, SaysThatContactsHideTheControls) {
  const Problem problem = lifting_problem();
  MultipleShootingOptions options = limited_memory();
  options.shot = 60;
  const Solution solution = multiple_shooting(problem, initial_plan(problem), options);
  EXPECT_EQ(solution.reason, StopReason::saddle) << solution.message;
  EXPECT_NE(solution.message.find("complementarity_aware"), std::string::npos) << solution.message;
}

TEST(MultipleShooting, LeavesSaddlesWithComplementarityAwareGradients) {
  const Problem problem = lifting_problem();
  MultipleShootingOptions options = limited_memory();
  options.shot = 60;
  options.gradient.complementarity_aware = true;
  const Solution solution = multiple_shooting(problem, initial_plan(problem), options);
  EXPECT_NEAR(solution.trajectory.q(0, problem.steps), 0.5, 1e-3) << solution.message;
  EXPECT_LT(solution.cost, 1e-4);
}

}  // namespace
}  // namespace lithe::test

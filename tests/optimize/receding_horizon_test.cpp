#include "lithe/optimize/receding_horizon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/optimize/residuals.h"
#include "lithe/scenes/paper/cartpole.h"
#include "lithe/step/step.h"
#include "tests/optimize/problems.h"

namespace lithe::test {
namespace {

// Upright, in the middle and at rest, three seconds ahead.
Problem balance(const Scene& scene) {
  Problem problem = {.model = scene.model, .start = {scene.q, scene.v}, .steps = 300};
  problem.step.time_step = scene.time_step;
  actuate_joints(problem);
  problem.costs = {{.residual = residuals::configuration(VecX::Zero(2)), .times = Times::all()},
                   {.residual = residuals::velocity(VecX::Zero(2)), .times = Times::all(), .weight = 0.1},
                   {.residual = residuals::controls(VecX::Zero(1)), .weight = 1e-3}};
  return problem;
}

struct LoopEnd {
  State state;
  int updates;
};

// The loop, closed at every step; `push` acts on the cart besides, from 1 s to 1.1 s.
LoopEnd closed_loop(RecedingHorizon& controller, const Problem& problem, int steps, double push) {
  State state = problem.start;
  StepRecord record;
  for (int t = 0; t < steps; ++t) {
    VecX tau = VecX::Zero(2);
    tau[0] = controller.update(state, 1)[0];
    EXPECT_LE(std::abs(tau[0]), 10);  // the cart's limit
    if (t >= 100 && t < 110) tau[0] += push;
    step(problem.model, state, {.tau = tau}, problem.step, record);
    state = record.next;
  }
  return {state, controller.updates()};
}

TEST(RecedingHorizon, BalancesTheCartpoleAHundredTimesASecond) {
  Scene scene = leaning_cartpole();
  set_initial(scene, "cart", 0.5);
  set_initial(scene, "pole", 0.2);
  const Problem problem = balance(scene);
  RecedingHorizon controller(problem, {{.max_iterations = 3}});
  const LoopEnd end = closed_loop(controller, problem, 600, 15);
  EXPECT_EQ(end.updates, 600);
  EXPECT_LT(end.state.q.cwiseAbs().maxCoeff(), 0.05);
  EXPECT_LT(end.state.v.cwiseAbs().maxCoeff(), 0.1);
}

// Where nothing disturbs a linear problem whose end does not matter yet, the plan that is left is the new one's start.
TEST(RecedingHorizon, StartsFromWhatIsLeftOfThePlan) {
  const MassOnRail rail;
  const Problem problem = rail.problem();
  RecedingHorizon controller(problem, {{.max_iterations = 5}});
  const VecX first = controller.update(problem.start, 0);
  EXPECT_NEAR(first[0], rail.riccati_controls()[0], 1e-9);
  const Plan before = controller.solution().plan;
  StepRecord record;
  step(problem.model, problem.start, {.tau = first}, problem.step, record);
  controller.update(record.next, 1);
  // One iteration solves it; its first line is the shifted plan, last control repeated.
  const Solution& solution = controller.solution();
  MassOnRail later = rail;
  later.start = {record.next.q[0], record.next.v[0]};
  VecX shifted(problem.knots());
  for (int k = 0; k < problem.knots(); ++k) shifted[k] = before.u(0, std::min(k + 1, problem.knots() - 1));
  EXPECT_NEAR(solution.history[0].cost, later.cost().at(shifted), 1e-9);
  EXPECT_NEAR(solution.cost, later.cost().at(later.riccati_controls()), 1e-9);
}

TEST(RecedingHorizon, RefusesWhatMakesNoSense) {
  const MassOnRail rail = {.hold = 4};
  const Problem problem = rail.problem();
  RecedingHorizon controller(problem, {{.max_iterations = 5}});
  controller.update(problem.start, 0);
  EXPECT_THROW(controller.update(problem.start, 3), Error);  // not a whole knot
  EXPECT_THROW(controller.update({VecX::Zero(2), VecX::Zero(1)}, 4), Error);
  Problem empty = problem;
  empty.steps = 0;
  EXPECT_THROW(RecedingHorizon(empty, {}), Error);
}

}  // namespace
}  // namespace lithe::test

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "apps/experiments/humanoid_jump.h"
#include "apps/experiments/scene_problem.h"
#include "apps/lithe/demo.h"
#include "lithe/optimize/ddp.h"
#include "lithe/scenes/catalogue.h"

namespace lithe::cli {

namespace {

void row(const char* what, const Solution& solution, const std::string& outcome) {
  fmt::print("  {:<38}{:>11}{:>9.2f}{:>13.4g}{:>12.3g}   {}\n", what, solution.iterations, solution.seconds.total,
             solution.history.front().cost, solution.cost, outcome);
}

void show_double_cartpole() {
  const Problem problem = experiments::problem_of(scene("double_cartpole"), {.hold = 5});
  const Solution solution = ddp(problem, initial_plan(problem));
  const VecX end = solution.trajectory.q.col(problem.steps);
  row("two poles on a cart swing up", solution,
      fmt::format("both within {:.3f} rad of upright", std::max(std::abs(end[1]), std::abs(end[1] + end[2]))));
}

void show_drone(bool aware) {
  const Problem problem = experiments::problem_of(scene("drone"));
  DdpOptions options;
  options.gradient.complementarity_aware = aware;
  const Solution solution = ddp(problem, initial_plan(problem), options);
  row(aware ? "a drone takes off, aware of contacts" : "a drone takes off, plain gradients", solution,
      fmt::format("at {:.2f} m of 5 m ({})", solution.trajectory.q(0, problem.steps), to_string(solution.reason)));
}

void show_jump() {
  const experiments::HumanoidJump start = experiments::humanoid_jump();
  DdpOptions options;
  options.max_iterations = 15;
  options.gradient = GradientOptions::exact();
  const Solution solution = ddp(start.problem, start.holding_still, options);
  const int height = start.problem.model.joints()[start.problem.model.joint("root.z")].q_index;
  const double rise = solution.trajectory.q.row(height).maxCoeff() - start.standing.q[height];
  row("a humanoid jumps from a crouch", solution, fmt::format("pelvis {:.0f} cm above standing", 100 * rise));
}

}  // namespace

void show_motions() {
  fmt::print("Motions found by gradients (DDP), through contact:\n\n");
  fmt::print("  {:<38}{:>11}{:>9}{:>13}{:>12}\n", "", "iterations", "s", "cost before", "after");
  show_double_cartpole();
  show_drone(false);
  show_drone(true);
  show_jump();
}

}  // namespace lithe::cli

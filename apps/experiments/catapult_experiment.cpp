#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/experiments/race.h"
#include "apps/experiments/recorded_motion.h"
#include "lithe/optimize/multiple_shooting.h"
#include "lithe/optimize/residuals.h"
#include "lithe/optimize/scene_problem.h"
#include "lithe/optimize/stochastic_search.h"
#include "lithe/scenes/paper/catapult.h"

namespace lithe::experiments {

namespace {

constexpr double kWantedError = 0.05;  // m
constexpr double kTarget = 2.2;        // m, both ways
constexpr int kGuesses = 10;
constexpr double kShownDistance = 1e-4;  // m: less is not worth a look
// Two shots: a cut while things touch leaves derivatives that hold for half a millimetre only.
constexpr int kShot = 260;

double miss(const Solution& solution) {
  const int end = solution.trajectory.steps();
  return std::hypot(solution.trajectory.q(0, end) - kTarget, solution.trajectory.q(1, end) - kTarget);
}

// How far from the target the motion is at its end, over the time that was spent. Of multiple shooting: by how much its shots do not
// meet or miss the target.
Panel distance_panel(const Solution& by_shooting, const Solution& by_search) {
  Panel panel = {.title = "Distance from the target",
                 .x = {.label = "wall-clock time", .unit = "s", .scale = AxisScale::log},
                 .y = {.label = "distance", .unit = "m", .scale = AxisScale::log}};
  Curve shots = {.label = "multiple shooting: gap or miss"}, search = {.label = "stochastic search: miss"};
  for (const Progress& line : by_shooting.history) {
    shots.x.push_back(line.seconds);
    shots.y.push_back(std::max(kShownDistance, line.infeasibility));
  }
  double best = std::numeric_limits<double>::infinity();
  for (const Progress& line : by_search.history) {
    best = std::min(best, line.cost);
    search.x.push_back(line.seconds);
    search.y.push_back(std::sqrt(best));
  }
  panel.curves = {std::move(shots), std::move(search)};
  panel.targets.push_back({.y = kWantedError, .label = "wanted"});
  return panel;
}

// At the target at the end, with little effort.
Problem throw_problem(const Scene& scene) {
  Problem problem = {.model = scene.model, .start = {scene.q, scene.v}, .steps = scene.task->steps, .hold = 20};
  problem.step.time_step = scene.time_step;
  actuate_joints(problem);
  problem.costs = {{.residual = residuals::controls(VecX::Zero(problem.controls())), .weight = 1e-6}};
  for (const TaskTerm& term : scene.task->terms) {
    problem.constraints.push_back({.residual = residuals::joint_position(problem.model, term.joint, term.target)});
  }
  return problem;
}

// Constant torques that throw the projectile somewhere: without contact nothing tells how to hit it.
Plan first_throw(const Problem& problem, int guess) {
  Plan plan = initial_plan(problem);
  plan.u.colwise() = Vec3(-200 - guess, -100 - 2 * guess, -50 + guess);
  return plan;
}

}  // namespace

void catapult_experiment(const ExperimentOptions& options, ExperimentReport& report) {
  const Scene scene = armed_catapult();
  const Problem problem = throw_problem(scene);
  MultipleShootingOptions shooting;
  shooting.max_iterations = 300;
  shooting.shot = kShot;
  shooting.gauss_newton = false;
  shooting.threads = options.threads;
  const auto watch = reporting(options, "multiple shooting");
  // The first throw that hits will do.
  shooting.progress = [&](const Progress& line) { return !std::isfinite(line.best_cost) && (!watch || watch(line)); };
  Solution by_shooting;
  int guesses = 0;
  double seconds = 0;
  do {
    by_shooting = multiple_shooting(problem, first_throw(problem, guesses++), shooting);
    seconds += by_shooting.seconds.total;
  } while (!by_shooting.feasible(shooting) && guesses < kGuesses && (!options.say || options.say("another guess")));

  StochasticSearchOptions search;
  search.max_iterations = 1'000'000;
  search.max_seconds = seconds;
  search.threads = options.threads;
  search.seed = options.seed;
  search.progress = reporting(options, "stochastic search");
  const Problem task = problem_of(scene, {.effort_weight = 0, .hold = problem.hold});
  const Solution by_search = stochastic_search(task, first_throw(task, 0), search);

  const double error = miss(by_shooting);
  report.text = fmt::format(
      "{} steps of 1 ms, controls held for {}, arms of up to 1000 N·m. Both start from constant torques. Multiple "
      "shooting (shots of {} "
      "steps, the target as a constraint, IPOPT) stops at the first throw that hits: {} iterations from guess {} of "
      "{}, {:.1f} s in all "
      "({}). Stochastic search (CEM, 64 samples, seed {}) minimises the squared distance for the same time and misses "
      "by {:.2g} cm.",
      problem.steps, problem.hold, kShot, by_shooting.iterations, guesses, kGuesses, seconds, by_shooting.message,
      options.seed, 100 * miss(by_search));
  report.findings.push_back({.what = "multiple shooting hits the target at the end",
                             .wanted = fmt::format("within {:.0f} cm", 100 * kWantedError),
                             .found = fmt::format("{:.2g} cm", 100 * error),
                             .reached = error < kWantedError});
  report.findings.push_back({.what = "and comes closer than stochastic search in the same time",
                             .wanted = fmt::format("below {:.2g} cm", 100 * miss(by_search)),
                             .found = fmt::format("{:.2g} cm", 100 * error),
                             .reached = error < miss(by_search),
                             .by_the_clock = true});
  Panel path = {.title = "The projectile", .x = {.label = "x", .unit = "m"}, .y = {.label = "z", .unit = "m"}};
  for (const auto& [label, solution] :
       {std::pair("multiple shooting", &std::as_const(by_shooting)), std::pair("stochastic search", &by_search)}) {
    Curve curve = {.label = label};
    for (int t = 0; t <= problem.steps; ++t) {
      curve.x.push_back(solution->trajectory.q(0, t));
      curve.y.push_back(solution->trajectory.q(1, t));
    }
    path.curves.push_back(std::move(curve));
  }
  path.curves.push_back({.label = "target", .x = {kTarget}, .y = {kTarget}, .markers = true});
  report.figures.push_back({"catapult", {.panels = {distance_panel(by_shooting, by_search), std::move(path)}}});
  report.motions.push_back({"catapult", problem.model, scene.time_step, recorded_motion(problem, by_shooting.plan)});
}

}  // namespace lithe::experiments

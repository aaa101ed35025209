#include <fmt/format.h>

#include <algorithm>

#include "apps/experiments/race.h"
#include "apps/experiments/recorded_motion.h"
#include "lithe/optimize/ddp.h"
#include "lithe/optimize/residuals.h"
#include "lithe/optimize/stochastic_search.h"
#include "lithe/scenes/paper/jump_worm.h"

namespace lithe::experiments {

namespace {

constexpr double kWantedWormRise = 0.3;  // m
constexpr double kAskedHeight = 1.5;     // m: higher than it gets

double end_height(const Solution& solution, int height) {
  return solution.trajectory.q(height, solution.trajectory.steps());
}

}  // namespace

void jump_worm_experiment(const ExperimentOptions& options, ExperimentReport& report) {
  const Scene scene = falling_jump_worm();
  const int height = scene.model.joints()[scene.model.joint("root.z")].q_index;
  Problem problem = {.model = scene.model, .start = {scene.q, scene.v}, .steps = scene.task->steps, .hold = 10};
  problem.step.time_step = scene.time_step;
  actuate_joints(problem);
  problem.costs = {{.residual = residuals::joint_position(scene.model, "root.z", kAskedHeight),
                    .times = Times::final(),
                    .weight = 10},
                   {.residual = residuals::controls(VecX::Zero(problem.controls())), .weight = 1e-6}};
  const Plan start = initial_plan(problem);

  DdpOptions ddp_options;
  ddp_options.max_iterations = options.quick ? 25 : 60;
  ddp_options.threads = options.threads;
  ddp_options.gradient = GradientOptions::exact();
  ddp_options.progress = reporting(options, "DDP");
  const Solution by_gradients = ddp(problem, start, ddp_options);

  StochasticSearchOptions search_options;
  search_options.max_iterations = 1'000'000;
  search_options.max_seconds = by_gradients.seconds.total;
  search_options.threads = options.threads;
  search_options.seed = options.seed;
  search_options.progress = reporting(options, "stochastic search");
  const Solution by_search = stochastic_search(problem, start, search_options);

  const double by_ddp = end_height(by_gradients, height), by_chance = end_height(by_search, height);
  const double rise = by_ddp - scene.q[height];
  // At the end nothing touches anything.
  const bool flies = by_gradients.trajectory.status.back().contacts == 0;
  report.text = fmt::format(
      "Three joints of up to 100 N·m, {} steps of 1 ms, controls held for {}. The paper's loss −100·z|z| is flat where "
      "the root is as high as "
      "at its start, so both solvers are asked for a height of {} m instead, out of reach. DDP: {} iterations, {:.1f} "
      "s ({}). Stochastic "
      "search (CEM, 64 samples, seed {}) has the same time.",
      problem.steps, problem.hold, kAskedHeight, by_gradients.iterations, by_gradients.seconds.total,
      by_gradients.message, options.seed);
  report.findings.push_back({.what = "the worm is in the air at the end",
                             .wanted = "no contact",
                             .found = flies ? "no contact" : "contact",
                             .reached = flies});
  report.findings.push_back({.what = "the root ends above its start",
                             .wanted = fmt::format("{:.1f} m", kWantedWormRise),
                             .found = fmt::format("{:.2f} m", rise),
                             .reached = rise >= kWantedWormRise});
  report.findings.push_back({.what = "higher than stochastic search in the same time",
                             .wanted = fmt::format("above {:.2f} m", by_chance - scene.q[height]),
                             .found = fmt::format("{:.2f} m", rise),
                             .reached = by_ddp > by_chance,
                             .by_the_clock = true});
  Panel panel = {
      .title = "Height of the root", .x = {.label = "time", .unit = "s"}, .y = {.label = "height", .unit = "m"}};
  for (const auto& [label, solution] : {std::pair("DDP", &by_gradients), std::pair("stochastic search", &by_search)}) {
    Curve curve = {.label = label};
    for (int t = 0; t <= problem.steps; ++t) {
      curve.x.push_back(t * scene.time_step);
      curve.y.push_back(solution->trajectory.q(height, t));
    }
    panel.curves.push_back(std::move(curve));
  }
  panel.targets.push_back({.y = scene.q[height] + kWantedWormRise, .label = "wanted at the end"});
  Figure figure = race_figure("Cost over time", {{"DDP", by_gradients}, {"stochastic search", by_search}});
  figure.panels.push_back(std::move(panel));
  report.figures.push_back({"jump_worm", std::move(figure)});
  report.motions.push_back({"jump_worm", problem.model, scene.time_step, recorded_motion(problem, by_gradients.plan)});
}

}  // namespace lithe::experiments

#include <fmt/format.h>

#include <cmath>

#include "apps/experiments/race.h"
#include "apps/experiments/recorded_motion.h"
#include "lithe/optimize/ddp.h"
#include "lithe/optimize/scene_problem.h"
#include "lithe/optimize/stochastic_search.h"
#include "lithe/scenes/catalogue.h"

namespace lithe::experiments {

namespace {

constexpr double kWantedLead = 10;

void add_motion_panel(const Solution& solution, const Scene& scene, Figure& figure) {
  Panel panel = {
      .title = "DDP's motion", .x = {.label = "time", .unit = "s"}, .y = {.label = "position", .unit = "m, rad"}};
  for (const Joint& joint : scene.model.joints()) {
    Curve curve = {.label = joint.name};
    for (int t = 0; t <= solution.trajectory.steps(); ++t) {
      curve.x.push_back(t * scene.time_step);
      curve.y.push_back(solution.trajectory.q(joint.q_index, t));
    }
    panel.curves.push_back(std::move(curve));
  }
  panel.targets.push_back({.y = 0, .label = "upright, in the middle"});
  figure.panels.push_back(std::move(panel));
  figure.columns = 1;
}

// DDP until it converges, then stochastic search for at least as long as it would need to be ten times slower.
void race_to_the_top(const std::string& name, int hold, double effort, const ExperimentOptions& options,
                     ExperimentReport& report) {
  const Scene scene = lithe::scene(name);
  const Problem problem = problem_of(scene, {.effort_weight = effort, .hold = hold});
  const Plan start = initial_plan(problem);

  DdpOptions ddp_options;
  ddp_options.max_iterations = options.quick ? 60 : 300;
  ddp_options.tolerance = 1e-4;
  ddp_options.threads = options.threads;
  ddp_options.progress = reporting(options, "DDP");
  const Solution by_gradients = ddp(problem, start, ddp_options);

  StochasticSearchOptions search_options;
  search_options.max_iterations = 1'000'000;
  search_options.max_seconds = std::max(options.quick ? 1.0 : 5.0, 15 * by_gradients.seconds.total);
  search_options.threads = options.threads;
  search_options.seed = options.seed;
  search_options.samples = 128;
  search_options.progress = reporting(options, "stochastic search");
  const Solution by_search = stochastic_search(problem, start, search_options);

  const Lead ahead = lead(by_gradients, by_search);
  const double angle = by_gradients.trajectory.q(1, problem.steps);
  report.text = fmt::format(
      "Both start from no force at all ({} knots of {} ms, cost {:.4g}) and minimise what the task asks of the end, "
      "plus a small cost of "
      "effort. DDP ends at {:.4g} after {} iterations and {:.2f} s ({}); stochastic search (CEM, 128 samples per "
      "iteration, seed {}) is at "
      "{:.4g} after {:.1f} s.",
      problem.knots(), static_cast<int>(std::lround(1e3 * problem.hold * scene.time_step)),
      by_gradients.history.front().cost, by_gradients.cost, by_gradients.iterations, by_gradients.seconds.total,
      by_gradients.message, options.seed, by_search.cost, by_search.seconds.total);
  report.findings.push_back(
      {.what = "DDP comes within 1 % of the way to the best cost sooner than stochastic search",
       .wanted = fmt::format("{:.0f} times sooner", kWantedLead),
       .found = fmt::format("{}{:.1f} times ({:.3g} s against {}{:.3g} s)", ahead.second_arrived ? "" : "more than ",
                            ahead.factor(), ahead.first, ahead.second_arrived ? "" : "not within ", ahead.second),
       .reached = ahead.factor() >= kWantedLead,
       .by_the_clock = true});
  report.findings.push_back({.what = "the pole is up at the end",
                             .wanted = "within 0.2 rad",
                             .found = fmt::format("{:.3f} rad", std::abs(angle)),
                             .reached = std::abs(angle) < 0.2});
  Figure figure = race_figure("Cost over time", {{"DDP", by_gradients}, {"stochastic search", by_search}});
  add_motion_panel(by_gradients, scene, figure);
  report.figures.push_back({name, std::move(figure)});
  report.motions.push_back({name, problem.model, scene.time_step, recorded_motion(problem, by_gradients.plan)});
}

}  // namespace

void cartpole_experiment(const ExperimentOptions& options, ExperimentReport& report) {
  race_to_the_top("cartpole", 5, 1e-3, options, report);
}

void double_cartpole_experiment(const ExperimentOptions& options, ExperimentReport& report) {
  race_to_the_top("double_cartpole", 5, 1e-3, options, report);
}

}  // namespace lithe::experiments

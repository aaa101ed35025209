#include <fmt/format.h>

#include <cmath>

#include "apps/experiments/race.h"
#include "apps/experiments/recorded_motion.h"
#include "lithe/optimize/scene_problem.h"
#include "lithe/optimize/single_shooting.h"
#include "lithe/scenes/robots/drone.h"

namespace lithe::experiments {

namespace {

constexpr double kTargetHeight = 5, kCloseToTarget = 0.1;  // m
constexpr double kRate = 10;                               // the paper's
constexpr int kIterations = 50;

}  // namespace

void drone_experiment(const ExperimentOptions& options, ExperimentReport& report) {
  const Scene scene = resting_drone();
  const Problem problem = problem_of(scene, {.effort_weight = 0});
  SingleShootingOptions descent;
  descent.method = SingleShootingOptions::Method::gradient_descent;
  descent.rate = kRate;
  descent.max_iterations = kIterations;
  descent.progress = reporting(options, "plain gradients");
  const Solution plain = single_shooting(problem, initial_plan(problem), descent);
  descent.gradient.complementarity_aware = true;
  descent.progress = reporting(options, "complementarity-aware gradients");
  const Solution aware = single_shooting(problem, initial_plan(problem), descent);
  const double height = aware.trajectory.q(0, problem.steps);

  report.text = fmt::format(
      "The drone rests on the ground, and the loss is the squared distance from {} m after {} steps. Gradient descent, "
      "rate {}, from no "
      "force. With the derivatives of the step as computed it stops at once: {}. With complementarity-aware ones it "
      "ends at {:.3f} m.",
      kTargetHeight, problem.steps, kRate, plain.message, height);
  report.findings.push_back(
      {.what = "plain gradients: the loss does not change",
       .wanted = "unchanged",
       .found = fmt::format("{:.6g} → {:.6g}, {}", plain.history.front().cost, plain.cost, to_string(plain.reason)),
       .reached = plain.cost == plain.history.front().cost});
  report.findings.push_back(
      {.what = fmt::format("complementarity-aware gradients: the height after {} iterations", kIterations),
       .wanted = "within 10 cm of 5 m",
       .found = fmt::format("{:.3f} m", height),
       .reached = std::abs(height - kTargetHeight) <= kCloseToTarget});

  Panel loss = {
      .title = "Gradient descent", .x = {.label = "iteration"}, .y = {.label = "squared distance", .unit = "m²"}};
  const auto add = [&](const std::string& label, const Solution& solution) {
    Curve curve = {.label = label};
    for (int k = 0; k <= kIterations; ++k) {
      const std::size_t last = std::min<std::size_t>(k, solution.history.size() - 1);  // who stopped stays where it is
      curve.x.push_back(k);
      curve.y.push_back(solution.history[last].cost);
    }
    loss.curves.push_back(std::move(curve));
  };
  add("plain", plain);
  add("complementarity-aware", aware);
  Panel flight = {.title = "The flight", .x = {.label = "time", .unit = "s"}, .y = {.label = "height", .unit = "m"}};
  Curve path = {.label = "complementarity-aware", .style = 1};
  for (int t = 0; t <= problem.steps; ++t) {
    path.x.push_back(t * scene.time_step);
    path.y.push_back(aware.trajectory.q(0, t));
  }
  flight.curves.push_back(std::move(path));
  flight.targets.push_back({.y = kTargetHeight, .label = "target"});
  report.figures.push_back({"drone", {.panels = {std::move(loss), std::move(flight)}, .columns = 1}});
  report.motions.push_back({"drone", problem.model, scene.time_step, recorded_motion(problem, aware.plan)});
}

}  // namespace lithe::experiments

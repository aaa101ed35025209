#include "apps/experiments/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lithe::experiments {

namespace {

constexpr double kClose = 0.01;  // of the way from the start to the best

}  // namespace

double seconds_to(const Solution& solution, double level) {
  for (const Progress& line : solution.history) {
    if (line.cost <= level) return line.seconds;
  }
  return std::numeric_limits<double>::infinity();
}

Figure race_figure(const std::string& title, const std::vector<Runner>& runners, double floor) {
  Panel panel = {.title = title,
                 .x = {.label = "wall-clock time", .unit = "s", .scale = AxisScale::log},
                 .y = {.label = "cost", .scale = AxisScale::log}};
  for (const Runner& runner : runners) {
    Curve curve = {.label = runner.label, .stairs = true};
    double best = std::numeric_limits<double>::infinity();
    for (const Progress& line : runner.solution.history) {
      best = std::min(best, line.cost);
      curve.x.push_back(line.seconds);
      curve.y.push_back(best - floor);
    }
    panel.curves.push_back(std::move(curve));
  }
  return {.panels = {std::move(panel)}};
}

std::function<bool(const Progress&)> reporting(const ExperimentOptions& options, const std::string& who) {
  if (!options.say) return {};
  return [&options, who](const Progress& line) {
    return options.say(
        fmt::format("{}: iteration {}, cost {:.4g}, {:.1f} s", who, line.iteration, line.cost, line.seconds));
  };
}

Lead lead(const Solution& first, const Solution& second) {
  const double best = std::min(first.cost, second.cost);
  const double start = first.history.front().cost;
  Lead result = {.level = best + kClose * (start - best)};
  result.first = seconds_to(first, result.level);
  result.second = seconds_to(second, result.level);
  result.second_arrived = result.second < std::numeric_limits<double>::infinity();
  if (!result.second_arrived) result.second = second.seconds.total;
  return result;
}

}  // namespace lithe::experiments

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "apps/experiments/experiment.h"
#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/optimize/identification.h"
#include "lithe/rollout/rollout.h"
#include "lithe/scenes/robots/identification_subjects.h"

namespace lithe::experiments {

namespace {

constexpr double kNoise = 0.01;  // m, rad, m/s, rad/s
constexpr double kWrong = 0.8;   // where the search starts: in shares of the truth
constexpr double kWantedRelativeError = 0.02;

// Motions of a model with known numbers, and which of these are to be found.
struct Case {
  std::string what;
  Model truth;
  double time_step;
  State start;
  Controls controls;
  std::vector<FreeParameter> unknown;
  int segment = 0;
};

Case driven_arm() {
  Controls controls = {.steps = 300, .tau = MatX(2, 300)};
  for (int t = 0; t < controls.steps; ++t) controls.tau.col(t) << 3 * std::sin(0.03 * t), std::cos(0.05 * t);
  return {.what = "an arm of two links, driven",
          .truth = two_link_arm().build(),
          .time_step = 5e-3,
          .start = {VecX::Zero(2), VecX::Zero(2)},
          .controls = controls,
          .unknown = {{"body/lower/mass", 0.1, 5}, {"joint/elbow/z", -2, -0.1}}};
}

Case pushed_block() {
  Controls controls = {.steps = 150, .tau = MatX::Zero(2, 150)};
  controls.tau.row(0).head(60).setConstant(12);
  return {.what = "a block that is pushed, slides and stops",
          .truth = sliding_block().build(),
          .time_step = 5e-3,
          .start = {Eigen::Vector2d(0, 0.05), VecX::Zero(2)},
          .controls = controls,
          .unknown = {{"shape/block/friction", 0.01, 2}}};
}

Case thrown_ball() {
  Case c = {
      .what = "a ball that bounces",
      .truth = dropped_ball().build(),
      .time_step = 1e-3,
      .start = {},
      .controls = {.steps = 900},
      .unknown = {{"shape/ball/restitution", 0.01, 0.99}},
      // A bounce at another time is a large difference of velocities for a short while, and hides where the truth is.
      .segment = 300};
  c.start = {neutral_configuration(c.truth), VecX::Zero(6)};
  c.start.q[2] = 0.6;
  c.start.v << 0.4, 0, 0, 0.5, 1, 0.2;
  return c;
}

ObservedMotion measured(const Case& c, const StepOptions& options, std::mt19937_64& random) {
  const Trajectory motion = rollout(c.truth, c.start, c.controls, options);
  std::normal_distribution<double> normal(0, kNoise);
  const auto noise = [&] { return VecX(VecX::NullaryExpr(c.truth.nv(), [&] { return normal(random); })); };
  ObservedMotion seen = {.controls = c.controls, .q = motion.q, .v = motion.v};
  for (int t = 0; t <= c.controls.steps; ++t) {
    seen.q.col(t) = retract(c.truth, motion.q.col(t), noise());
    seen.v.col(t) += noise();
  }
  return seen;
}

}  // namespace

void identification_experiment(const ExperimentOptions& options, ExperimentReport& report) {
  std::mt19937_64 random(options.seed);
  report.text = fmt::format(
      "Motions of models with known numbers, every position and velocity disturbed by noise with a standard deviation "
      "of {} (m, rad and per "
      "s), seed {}. The search starts from numbers that are {:.0f} % of the truth and estimates where each motion "
      "starts too.",
      kNoise, options.seed, 100 * kWrong);
  Panel panel = {.title = "How well the motions are explained",
                 .x = {.label = "iteration"},
                 .y = {.label = "RMS difference", .scale = AxisScale::log}};
  for (const Case& c : {driven_arm(), pushed_block(), thrown_ball()}) {
    if (options.say && !options.say(c.what)) return;
    Identification problem = {.model = c.truth, .parameters = c.unknown, .segment = c.segment};
    problem.step.time_step = c.time_step;
    for (const FreeParameter& free : c.unknown) {
      set_parameter(problem.model, free.name, kWrong * parameter(c.truth, free.name));
    }
    problem.motions = {measured(c, problem.step, random)};
    SolveOptions solve;
    solve.threads = options.threads;
    const IdentificationResult found = identify(problem, solve);
    for (int k = 0; k < found.parameters.size(); ++k) {
      const double truth = parameter(c.truth, c.unknown[k].name);
      const double error = std::abs(found.parameters[k] / truth - 1);
      report.findings.push_back(
          {.what = fmt::format("{}: {}", c.what, c.unknown[k].name),
           .wanted = fmt::format("{:.4g} within {:.0f} %", truth, 100 * kWantedRelativeError),
           .found = fmt::format("{:.5g} ± {:.2g}, off by {:.2g} % ({} iterations, RMS difference {:.2g})",
                                found.parameters[k], found.deviations[k], 100 * error, found.iterations,
                                found.root_mean_square),
           .reached = error <= kWantedRelativeError});
    }
    Curve curve = {.label = c.what, .markers = true};
    const double numbers = 2.0 * c.truth.nv() * (c.controls.steps + 1);
    for (const Progress& line : found.history) {
      curve.x.push_back(line.iteration);
      curve.y.push_back(std::sqrt(line.cost / numbers));
    }
    panel.curves.push_back(std::move(curve));
  }
  panel.targets.push_back({.y = kNoise, .label = "the noise"});
  report.figures.push_back({"identification", {.panels = {std::move(panel)}}});
}

}  // namespace lithe::experiments

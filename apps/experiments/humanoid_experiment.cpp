#include <fmt/format.h>

#include <algorithm>

#include "apps/experiments/humanoid_jump.h"
#include "apps/experiments/race.h"
#include "apps/experiments/recorded_motion.h"
#include "lithe/optimize/ddp.h"

namespace lithe::experiments {

namespace {

constexpr double kWantedRise = 0.1;  // m
constexpr int kIterationsTimed = 5;
constexpr double kTimeStep = HumanoidJump::kTimeStep;

}  // namespace

void humanoid_experiment(const ExperimentOptions& options, ExperimentReport& report) {
  const HumanoidJump start = humanoid_jump();
  const Scene& standing = start.standing;
  const Problem& problem = start.problem;
  const Model& model = problem.model;
  DdpOptions ddp_options;
  ddp_options.max_iterations = options.quick ? 30 : 60;
  ddp_options.threads = options.threads;
  ddp_options.gradient = GradientOptions::exact();
  ddp_options.progress = reporting(options, "DDP");
  const Solution solution = ddp(problem, start.holding_still, ddp_options);
  // With several threads derivatives are made while the backward pass goes on: the split is that of one.
  ddp_options.max_iterations = kIterationsTimed;
  ddp_options.threads = 1;
  ddp_options.progress = {};
  const StageSeconds split = ddp(problem, start.holding_still, ddp_options).seconds;

  const int height = model.joints()[model.joint("root.z")].q_index;
  const double ground = frame_place(model, standing.q, "left_sole").z();
  Curve pelvis = {.label = "pelvis above standing"}, left = {.label = "left sole"}, right = {.label = "right sole"};
  double rise = -1, both_soles = 0;
  int airborne = 0;
  for (int t = 0; t <= problem.steps; ++t) {
    const VecX q = solution.trajectory.q.col(t);
    const double z = q[height] - standing.q[height];
    const double left_sole = frame_place(model, q, "left_sole").z() - ground,
                 right_sole = frame_place(model, q, "right_sole").z() - ground;
    for (auto& [curve, y] : {std::pair(&pelvis, z), std::pair(&left, left_sole), std::pair(&right, right_sole)}) {
      curve->x.push_back(t * kTimeStep);
      curve->y.push_back(y);
    }
    rise = std::max(rise, z);
    both_soles = std::max(both_soles, std::min(left_sole, right_sole));
    if (t < problem.steps && solution.trajectory.status[t].contacts == 0) ++airborne;
  }
  report.text = fmt::format(
      "33 DoFs, {} torques within the motors' limits, {} steps of {:.0f} ms, held for {} steps each. The start is a "
      "crouch that springs at "
      "the joints hold; DDP is asked for a pelvis {:.2f} m above where it is when standing and soles {:.2f} m off the "
      "ground after {:.1f} s. "
      "{} iterations take {:.1f} s on {} thread(s) ({}). An iteration on one takes {:.0f} ms: {:.0f} % steps and "
      "costs, "
      "{:.0f} % derivatives, {:.0f} % the backward pass.",
      problem.controls(), problem.steps, 1e3 * kTimeStep, problem.hold, HumanoidJump::kRise, HumanoidJump::kSole,
      problem.steps * kTimeStep, solution.iterations, solution.seconds.total, options.threads, solution.message,
      1e3 * split.total / kIterationsTimed, 100 * split.rollout / split.total, 100 * split.derivatives / split.total,
      100 * split.solve / split.total);
  report.findings.push_back({.what = "both feet leave the ground",
                             .wanted = "no contact, both soles higher than 1 cm",
                             .found = fmt::format("{:.0f} ms without contact, both soles up to {:.0f} cm",
                                                  1e3 * airborne * kTimeStep, 100 * both_soles),
                             .reached = airborne > 0 && both_soles > 0.01});
  report.findings.push_back({.what = "the pelvis rises above standing",
                             .wanted = fmt::format("{:.0f} cm", 100 * kWantedRise),
                             .found = fmt::format("{:.1f} cm", 100 * rise),
                             .reached = rise >= kWantedRise});
  report.findings.push_back({.what = "derivatives take no more than half of an iteration on one core",
                             .wanted = "50 %",
                             .found = fmt::format("{:.0f} %", 100 * split.derivatives / split.total),
                             .reached = split.derivatives <= 0.5 * split.total,
                             .by_the_clock = true});
  Panel panel = {.title = "The jump", .x = {.label = "time", .unit = "s"}, .y = {.label = "height", .unit = "m"}};
  panel.curves = {std::move(pelvis), std::move(left), std::move(right)};
  panel.targets.push_back({.y = kWantedRise, .label = "wanted of the pelvis"});
  Figure figure = race_figure("Cost over time", {{"DDP", solution}});
  figure.panels.insert(figure.panels.begin(), std::move(panel));
  report.figures.push_back({"humanoid", std::move(figure)});
  report.motions.push_back({"humanoid", model, kTimeStep, recorded_motion(problem, solution.plan)});
}

}  // namespace lithe::experiments

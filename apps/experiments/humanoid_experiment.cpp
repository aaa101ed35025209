#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/experiments/race.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/optimize/ddp.h"
#include "lithe/optimize/residuals.h"
#include "lithe/scenes/humanoid.h"
#include "lithe/step/world.h"

namespace lithe::experiments {

namespace {

constexpr double kTimeStep = 2e-3;
constexpr double kHip = 0.6, kLean = 0.3;  // rad: how far the knees are bent, and the trunk leans forward
constexpr double kWantedRise = 0.1;        // m
constexpr double kTargetRise = 0.25, kTargetSole = 0.15;

Vec3 sole(const Model& model, const ConstVecRef& q, const char* frame) {
  Kinematics kin;
  kinematics(model, q, kin);
  return frame_pose(model, kin, model.frame(frame)).p;
}

// Bent hips, knees and ankles, the soles flat on the ground.
State crouch(const Scene& standing) {
  Scene scene = standing;
  for (const std::string side : {"left", "right"}) {
    set_initial(scene, side + "_hip_pitch", -kHip - kLean);
    set_initial(scene, side + "_knee", 2 * kHip);
    set_initial(scene, side + "_ankle_pitch", -kHip);
  }
  const Joint& ball = scene.model.joints()[scene.model.joint("root.ball")];
  scene.q.segment<4>(ball.q_index) = Vec4(0, std::sin(kLean / 2), 0, std::cos(kLean / 2));
  const int height = scene.model.joints()[scene.model.joint("root.z")].q_index;
  scene.q[height] -= sole(scene.model, scene.q, "left_sole").z() - sole(standing.model, standing.q, "left_sole").z();
  return {scene.q, scene.v};
}

// Torques that hold the crouch for a while: springs and dampers at every joint, within the motors' limits. It topples slowly.
Plan holding_still(const Problem& problem) {
  constexpr double kStiffness = 20, kDamping = 0.6;  // in shares of a joint's limit, per rad and per rad/s
  Plan plan = initial_plan(problem);
  World world(problem.model, problem.step);
  world.set_state(problem.start.q, problem.start.v);
  VecX tau = VecX::Zero(problem.model.nv());
  for (int t = 0; t < problem.steps; ++t) {
    if (t % problem.hold == 0) {
      const VecX away = difference(problem.model, problem.start.q, world.state().q);
      for (int k = 0; k < problem.controls(); ++k) {
        const int dof = problem.actuated[k];
        const double wish = kStiffness * away[dof] - kDamping * world.state().v[dof];
        tau[dof] = plan.u(k, t / problem.hold) = problem.upper[k] * std::clamp(wish, -1.0, 1.0);
      }
    }
    world.step(tau);
  }
  return plan;
}

// High at the end, the soles off the ground, in a posture to land in; with little effort.
Problem jump(const Scene& standing, int steps) {
  const Model& model = standing.model;
  const int nv = model.nv();
  Problem problem = {.model = model, .start = crouch(standing), .steps = steps, .hold = 5};
  problem.step.constraints.time_step = kTimeStep;
  actuate_joints(problem);
  const Joint& height = model.joints()[model.joint("root.z")];
  const double standing_height = standing.q[height.q_index];
  const double ground = sole(model, standing.q, "left_sole").z();
  VecX at_end = VecX::Ones(nv), on_the_way = VecX::Constant(nv, 0.02);
  at_end.head(3).setZero();
  at_end.segment(3, 3).setConstant(5);
  on_the_way.head(3).setZero();
  on_the_way.segment(3, 3).setOnes();
  problem.costs = {{.residual = residuals::joint_position(model, "root.z", standing_height + kTargetRise),
                    .times = Times::final(),
                    .weight = 100},
                   {.residual = residuals::frame_height(model, "left_sole", ground + kTargetSole),
                    .times = Times::final(),
                    .weight = 30},
                   {.residual = residuals::frame_height(model, "right_sole", ground + kTargetSole),
                    .times = Times::final(),
                    .weight = 30},
                   {.residual = residuals::configuration(standing.q), .times = Times::final(), .scales = at_end},
                   {.residual = residuals::configuration(standing.q), .weight = 1e-3, .scales = on_the_way},
                   {.residual = residuals::velocity(VecX::Zero(nv)), .weight = 1e-6},
                   {.residual = residuals::controls(VecX::Zero(problem.controls())),
                    .weight = 1e-3,
                    .scales = problem.upper.cwiseAbs2().cwiseInverse()}};
  return problem;
}

}  // namespace

void humanoid_experiment(const ExperimentOptions& options, ExperimentReport& report) {
  const Scene standing = standing_humanoid();
  const Problem problem = jump(standing, 300);
  const Model& model = problem.model;
  DdpOptions ddp_options;
  ddp_options.max_iterations = options.quick ? 15 : 60;
  ddp_options.threads = options.threads;
  ddp_options.gradient = GradientOptions::exact();
  ddp_options.progress = reporting(options, "DDP");
  const Solution solution = ddp(problem, holding_still(problem), ddp_options);

  const int height = model.joints()[model.joint("root.z")].q_index;
  const double ground = sole(model, standing.q, "left_sole").z();
  Curve pelvis = {.label = "pelvis above standing"}, left = {.label = "left sole"}, right = {.label = "right sole"};
  double rise = -1, both_soles = 0;
  int airborne = 0;
  for (int t = 0; t <= problem.steps; ++t) {
    const VecX q = solution.trajectory.q.col(t);
    const double z = q[height] - standing.q[height];
    const double left_sole = sole(model, q, "left_sole").z() - ground,
                 right_sole = sole(model, q, "right_sole").z() - ground;
    for (auto& [curve, y] : {std::pair(&pelvis, z), std::pair(&left, left_sole), std::pair(&right, right_sole)}) {
      curve->x.push_back(t * kTimeStep);
      curve->y.push_back(y);
    }
    rise = std::max(rise, z);
    both_soles = std::max(both_soles, std::min(left_sole, right_sole));
    if (t < problem.steps && solution.trajectory.status[t].contacts == 0) ++airborne;
  }
  const StageSeconds& time = solution.seconds;
  report.text = fmt::format(
      "33 DoFs, {} torques within the motors' limits, {} steps of {:.0f} ms, held for {} steps each. The start is a "
      "crouch that springs at "
      "the joints hold; DDP is asked for a pelvis {:.2f} m above where it is when standing and soles {:.2f} m off the "
      "ground after {:.1f} s. "
      "{} iterations take {:.1f} s on {} thread(s): {:.0f} % steps and costs, {:.0f} % derivatives, {:.0f} % the "
      "backward pass ({}).",
      problem.controls(), problem.steps, 1e3 * kTimeStep, problem.hold, kTargetRise, kTargetSole,
      problem.steps * kTimeStep, solution.iterations, time.total, options.threads, 100 * time.rollout / time.total,
      100 * time.derivatives / time.total, 100 * time.solve / time.total, solution.message);
  report.findings.push_back({.what = "both feet leave the ground",
                             .wanted = "no contact, both soles higher than 1 cm",
                             .found = fmt::format("{:.0f} ms without contact, both soles up to {:.0f} cm",
                                                  1e3 * airborne * kTimeStep, 100 * both_soles),
                             .reached = airborne > 0 && both_soles > 0.01});
  report.findings.push_back({.what = "the pelvis rises above standing",
                             .wanted = fmt::format("{:.0f} cm", 100 * kWantedRise),
                             .found = fmt::format("{:.1f} cm", 100 * rise),
                             .reached = rise >= kWantedRise});
  report.findings.push_back({.what = "derivatives take no more than half of an iteration",
                             .wanted = "50 %",
                             .found = fmt::format("{:.0f} %", 100 * time.derivatives / time.total),
                             .reached = time.derivatives <= 0.5 * time.total});
  Panel panel = {.title = "The jump", .x = {.label = "time", .unit = "s"}, .y = {.label = "height", .unit = "m"}};
  panel.curves = {std::move(pelvis), std::move(left), std::move(right)};
  panel.targets.push_back({.y = kWantedRise, .label = "wanted of the pelvis"});
  Figure figure = race_figure("Cost over time", {{"DDP", solution}});
  figure.panels.insert(figure.panels.begin(), std::move(panel));
  report.figures.push_back({"humanoid", std::move(figure)});
  report.motions.push_back({"humanoid", model, kTimeStep, solution.trajectory});
}

}  // namespace lithe::experiments

#include "apps/experiments/humanoid_jump.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/optimize/residuals.h"
#include "lithe/scenes/robots/humanoid.h"
#include "lithe/scenes/world.h"

namespace lithe::experiments {

Vec3 frame_place(const Model& model, const ConstVecRef& q, const char* frame) {
  Kinematics kin;
  kinematics(model, q, kin);
  return frame_pose(model, kin, model.frame(frame)).p;
}

namespace {

constexpr double kHip = 0.6, kLean = 0.3;  // rad: how far the knees are bent, and the trunk leans forward

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
  scene.q[height] -=
      frame_place(scene.model, scene.q, "left_sole").z() - frame_place(standing.model, standing.q, "left_sole").z();
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
  problem.step.time_step = HumanoidJump::kTimeStep;
  actuate_joints(problem);
  const Joint& height = model.joints()[model.joint("root.z")];
  const double standing_height = standing.q[height.q_index];
  const double ground = frame_place(model, standing.q, "left_sole").z();
  VecX at_end = VecX::Ones(nv), on_the_way = VecX::Constant(nv, 0.02);
  at_end.head(3).setZero();
  at_end.segment(3, 3).setConstant(5);
  on_the_way.head(3).setZero();
  on_the_way.segment(3, 3).setOnes();
  problem.costs = {{.residual = residuals::joint_position(model, "root.z", standing_height + HumanoidJump::kRise),
                    .times = Times::final(),
                    .weight = 100},
                   {.residual = residuals::frame_height(model, "left_sole", ground + HumanoidJump::kSole),
                    .times = Times::final(),
                    .weight = 30},
                   {.residual = residuals::frame_height(model, "right_sole", ground + HumanoidJump::kSole),
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

HumanoidJump humanoid_jump(int steps) {
  Scene standing = standing_humanoid();
  Problem problem = jump(standing, steps);
  Plan plan = holding_still(problem);
  return {std::move(standing), std::move(problem), std::move(plan)};
}

}  // namespace lithe::experiments

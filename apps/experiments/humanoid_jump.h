#pragma once

#include "lithe/optimize/problem.h"
#include "lithe/scenes/scene.h"

namespace lithe::experiments {

// The humanoid jumps: from a crouch on both feet to as far above the ground as it is asked to be at the end.
struct HumanoidJump {
  static constexpr double kTimeStep = 2e-3;
  static constexpr double kRise = 0.25, kSole = 0.15;  // m: of the pelvis above standing, of the soles above the ground

  Scene standing;
  Problem problem;
  Plan holding_still;  // what the search starts from: springs and dampers at every joint. It topples slowly
};
HumanoidJump humanoid_jump(int steps = 300);

// Where a frame of a model is.
Vec3 frame_place(const Model& model, const ConstVecRef& q, const char* frame);

}  // namespace lithe::experiments

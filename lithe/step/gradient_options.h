#pragma once

#include <cstdint>

#include "lithe/step/step_parameters.h"

namespace lithe {

// What the derivative of a step through an elastic bounce is.
//
// A step sees the impact only at its end, so the derivative of the step as computed says that a ball which starts higher
// ends higher. In continuous time it hits the ground later and ends *lower*.
enum class Bounce : std::uint8_t {
  off,          // the derivative of the step as computed
  mass_metric,  // that of the continuous motion through the impact: the saltation matrix
  paper,        // the paper's: nearest to the identity in the Euclidean norm of the coordinates
};

struct GradientOptions {
  Bounce bounce = Bounce::mass_metric;
  // Leaves saddle points: tries a second classification, suggested by the loss, and keeps the one with the larger gradient
  // (the paper's §IV-D). A heuristic, for what knows the loss: VJPs, rollouts and solvers. Others refuse it.
  bool complementarity_aware = false;
  // JVPs only: whether StepJvp::f is wanted. Without it, it stays empty, and q and v come sooner.
  bool impulses = true;

  // Numbers of the model to differentiate by, besides the state and the forces. step_jacobians() refuses them: step_parameter_jacobian()
  // has a column for each.
  StepParameters parameters = {};
  // VJPs: also by the motor targets of the step (StepVjp::motor_targets), and by wrenches on all bodies (StepVjp::wrenches).
  bool motor_targets = false;
  bool wrenches = false;

  // The derivative of the step as computed, which finite differences agree with.
  static GradientOptions exact() { return {.bounce = Bounce::off}; }
};

}  // namespace lithe

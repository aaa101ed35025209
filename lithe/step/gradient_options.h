#pragma once

#include <cstdint>

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
  // (the paper's §IV-D). A heuristic; in VJPs and rollouts only.
  bool complementarity_aware = false;
  // JVPs only: whether StepJvp::f is wanted. Without it, it stays empty, and q and v come sooner.
  bool impulses = true;

  // The derivative of the step as computed, which finite differences agree with.
  static constexpr GradientOptions exact() { return {.bounce = Bounce::off}; }
};

}  // namespace lithe

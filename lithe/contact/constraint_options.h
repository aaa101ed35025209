#pragma once

namespace lithe::internal {

// How constraints are turned into velocities to reach by the end of a step: of StepOptions (lithe/step/step_options.h), which has the rules
// and the defaults, what concerns constraints.
struct ConstraintOptions {
  double time_step, correction, max_correction_speed, loop_correction, max_loop_speed, restitution_threshold;
};

inline constexpr double kContactKnee = 1e-5;  // of the length scale of a pair of shapes (Bands)
inline constexpr double kLimitKnee = 1e-6;    // rad or m
inline constexpr double kLimitMargin = 1e-3;  // a limit closer than this has a row, rad or m

}  // namespace lithe::internal

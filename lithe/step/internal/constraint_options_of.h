#pragma once

#include "lithe/contact/constraint_options.h"
#include "lithe/step/step_options.h"

namespace lithe::internal {

// What constraints take of a step's options.
inline ConstraintOptions constraint_options_of(const StepOptions& options) {
  return {.time_step = options.time_step,
          .correction = options.correction,
          .max_correction_speed = options.max_correction_speed,
          .loop_correction = options.loop_correction,
          .max_loop_speed = options.max_loop_speed,
          .restitution_threshold = options.restitution_threshold};
}

}  // namespace lithe::internal

#pragma once

#include "lithe/step/gradient_options.h"
#include "lithe/step/internal/step_tape.h"
#include "lithe/step/step_record.h"

namespace lithe::internal {

// Throw an Error that names the function and what is wrong with its input.

// The record must hold a step of a model with this structure.
void check_record(const Model& model, const StepRecord& record, const char* function);
// The parameters must have been chosen for such a model.
void check_parameters(const Model& model, const StepParameters& parameters, const char* function);
// The options must not ask for what only a function with a loss can do: complementarity-aware gradients, gradients by motor targets and
// by wrenches.
void refuse_loss_options(const GradientOptions& options, const char* function);
// A part of a tangent or cotangent: empty, or `size` finite numbers.
void check_part(const VecX& part, Eigen::Index size, const char* function, const char* name);

}  // namespace lithe::internal

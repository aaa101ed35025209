#pragma once

#include "lithe/step/gradient_report.h"
#include "lithe/step/gradients/linearization.h"

namespace lithe::internal {

// Fills in the report of a derivative that was taken from this linearization; null: the step diverged or numbers overflowed.
void describe_gradient(const Model& model, const StepRecord& record, const StepLinearization* linearization,
                       GradientReport& report);

}  // namespace lithe::internal

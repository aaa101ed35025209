#pragma once

#include <string>

#include "lithe/step/gradient_report.h"
#include "lithe/step/step_record.h"

namespace lithe::cli {

// In words what keeps a step from being as it should be, with the constraint that shows it best: "targets dropped: contact of arm and
// torso, 12 mm inside". Empty where nothing does.
std::string step_trouble(const Model& model, const StepRecord& record);

// The same of its derivative, which may also be at a tie.
std::string gradient_trouble(const Model& model, const StepRecord& record, const GradientReport& report);

}  // namespace lithe::cli

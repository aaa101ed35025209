#pragma once

#include <vector>

#include "lithe/recording/recording.h"
#include "lithe/step/step_record.h"

namespace lithe {

// The contacts of a step with their impulses, as recordings and viewers take them.
std::vector<RecordedContact> recorded_contacts(const StepRecord& record);

}  // namespace lithe

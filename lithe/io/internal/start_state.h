#pragma once

#include "lithe/io/loaded_model.h"

namespace lithe::internal {

// Puts the model into the keyframe that `wanted` names (LoadOptions::keyframe has the rule for ""), and says so in `loaded.start`. An
// Error where there is no such keyframe.
void choose_start(LoadedModel& loaded, const std::string& wanted);

}  // namespace lithe::internal

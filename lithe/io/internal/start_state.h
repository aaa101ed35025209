#pragma once

#include "lithe/io/loaded_model.h"

namespace lithe::internal {

// Puts the model into the keyframe that `wanted` names and says so in `loaded.start`. LoadOptions::keyframe has the
// rule for the empty name. A keyframe that is not there is an Error.
void choose_start(LoadedModel& loaded, const std::string& wanted);

}  // namespace lithe::internal

#pragma once

#include "lithe/io/load.h"
#include "lithe/scenes/scene.h"

namespace lithe {

// What a file holds, in the state and with the time step that it gives.
Scene scene_from(const LoadedModel& loaded);

// The same with the ground (friction 1) under it: the half-space below the lowest point of all shapes that move, where the model
// starts. A model that has shapes fixed in the world has a floor of its own, and one without shapes needs none: both are left as
// they are.
Scene scene_on_ground(const LoadedModel& loaded);

}  // namespace lithe

#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// The paper's drone: a ball of 0.3 m radius and 0.1 kg on a vertical rail (joint "rotor", ±10 N), whose q is the height
// of its centre. 1 DoF.
ModelBuilder drone();

// On the ground, without friction. The task is to be at a height of 5 m after 500 steps of 1 ms. The contact bears the
// weight, so a small force moves nothing: the gradient by the forces is zero until the drone has taken off.
Scene resting_drone();

}  // namespace lithe

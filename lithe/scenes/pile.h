#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// n solids, boxes, balls, capsules, cylinders and octahedra in turn, of several sizes and turned in every direction, that
// hang over a pit with four walls and fall into it. Nothing touches at the start. The same n gives the same pile.
Scene pile(int n);

}  // namespace lithe

#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// n solids, boxes, balls, capsules, cylinders and octahedra in turn, of several sizes and turned in every direction, that
// hang over a pit with four walls and fall into it. Nothing touches at the start. The same n gives the same pile.
Scene pile(int n);

// n cubes of 0.2 m, turned in every direction, that hang over open ground as close to one another as they can and fall in a heap: its lower ones are
// jammed as long as the upper ones come down. Nothing touches at the start.
Scene heap(int n);

}  // namespace lithe

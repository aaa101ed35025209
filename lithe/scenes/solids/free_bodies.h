#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// A free box with three different moments of inertia and no gravity: spun about its middle axis (y), it tumbles.
ModelBuilder tumbling_body();

// n free cubes, each its own tree, in a square grid. In the neutral configuration they rest on the plane z = 0.
ModelBuilder boxes(int n);
Scene boxes_on_ground(int n);

}  // namespace lithe

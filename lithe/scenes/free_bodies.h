#pragma once

#include "lithe/model/model_builder.h"

namespace lithe {

// A free box with three different moments of inertia and no gravity: spun about its middle axis (y), it tumbles.
ModelBuilder tumbling_body();

// n free cubes, each its own tree, in a square grid. In the neutral configuration they rest on the plane z = 0.
ModelBuilder boxes(int n);

}  // namespace lithe

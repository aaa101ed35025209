#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// n cubes of 0.2 m and 1 kg, one on top of the other, on the ground: box_0 at the bottom. Four contacts per interface.
Scene stack(int n);

// A wall of n bricks of 0.4 × 0.2 × 0.2 m and 2 kg, laid in layers of about √n, each upon two others: brick_0 at one end of the lowest layer.
Scene wall(int n);

// Two towers of two cubes of 0.2 m each, 1 m apart: "heavy_upper" on "light_lower", and "light_upper" on "heavy_lower".
// The light ones weigh 1 kg, the heavy ones `ratio` kg.
Scene mass_ratio(double ratio);

}  // namespace lithe

#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// n cubes of 0.2 m and 1 kg, one on top of the other, on the ground: box_0 at the bottom. Four contacts per interface.
Scene stack(int n);

// A wall in running bond, on the ground: `layers` courses of `columns` cubes of 0.2 m and 1 kg, every other course shifted by half a cube, so
// that each cube stands on two (box_<course>_<column>, from the bottom left). Neighbours in a course are 2 mm apart and do not touch.
Scene wall(int columns, int layers);

// Two towers of two cubes of 0.2 m each, 1 m apart: "heavy_upper" on "light_lower", and "light_upper" on "heavy_lower".
// The light ones weigh 1 kg, the heavy ones `ratio` kg.
Scene mass_ratio(double ratio);

}  // namespace lithe

#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// The paper's Catapult: an arm of three segments that is to throw a box. 5 DoFs, 4 kg.
//
//   projectile.x, projectile.z         projectile  a cube of 0.1 m that does not turn, unactuated
//   segment_1, segment_2, segment_3    segments    ±1000 N·m
//
// The task is to have the projectile at x = z = 2.2 m after 500 steps.
ModelBuilder catapult();

// The projectile 0.12 m above the end of the arm, which is bent (45°, 0°, 45°) so that its last segment lies flat.
// Below is a floor that is a box of 3.5 m. The projectile lands on the arm after 0.17 s, with two contact points, and
// they sink together.
Scene armed_catapult();

}  // namespace lithe

#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// The paper's Jump-Worm: a cube of 0.1 m that slides in the plane y = 0 without turning, and three segments on it that
// can push off the floor. 5 DoFs, 4 kg.
//
//   root.x, root.z                     root       unactuated
//   segment_1, segment_2, segment_3    segments   ±100 N·m
//
// The task is to be as high as possible at the end of 400 steps.
ModelBuilder jump_worm();

// Folded into a hook (90°, 90°, 45°) whose end is 0.13 m above a floor that is a box of 2.5 m.
Scene falling_jump_worm();

// The same, lowered by 0.14 m: the edge at its end is 9 mm deep in the floor, with two contact points.
Scene touching_jump_worm();

}  // namespace lithe

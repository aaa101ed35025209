#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// A gripper with two fingers on a lift. One motor closes both fingers, for the right one mimics the left.
//
//   palm          on "lift", up and down
//   left_finger   on "left_slide", towards the middle; motor "grip"
//   right_finger  on "right_slide", which follows by the mimic "gear"
//
// Motors "lift" (200 N) and "grip" (40 N) go to their targets as fast as their joints may: 0.05 and 0.1 m/s. At 0 the
// fingers are 0.18 m apart and end 0.02 m above z = 0.
ModelBuilder gripper();

// Over a cube of 0.1 m and 0.5 kg ("cube") that stands on the ground between the fingers: it grasps the cube and lifts
// it by some 0.13 m.
Scene gripper_with_cube();

}  // namespace lithe

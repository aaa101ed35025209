#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// A humanoid robot of an adult's proportions: 28 bodies, 146.5 kg, 33 DoFs.
//
//   root (free)  pelvis
//   back         yaw, pitch, roll                                              torso
//   leg, twice   hip yaw, roll, pitch; knee; ankle pitch, roll                 foot
//   arm, twice   shoulder pitch, roll; upper arm twist; elbow; wrist twist, roll   hand
//
// x points forward, y to the left, z up. In the neutral configuration it stands upright with straight legs,
// hanging arms and both soles on the plane z = 0. The right side is the left one seen in a mirror, joint axes
// included: equal joint angles left and right make a mirrored posture, and both sides share their limits.
//
// Each foot is a convex mesh whose sole has six corners. The frames are head, left_palm, right_palm, left_sole,
// right_sole.
ModelBuilder humanoid();

// Upright on the ground, at rest: 12 contact points, six under each foot.
Scene standing_humanoid();

}  // namespace lithe

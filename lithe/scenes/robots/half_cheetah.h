#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// The half cheetah of the reinforcement-learning benchmarks: a running animal cut along its spine, which moves in the
// plane y = 0. 9 DoFs, 14.2 kg, capsules of radius 0.046 m, springs and dampers in every joint of its legs.
//
//   root       x, z, pitch                    torso, with the head welded to it
//   back leg   b_thigh, b_shin, b_foot
//   front leg  f_thigh, f_shin, f_foot
//
// x points forward and z up; every angle turns about y, so that a positive pitch lowers the head. The torso rides on two
// point masses of 0.1 kg, "rail" on x and "slider" on x and z, which count for what moves but never touch anything.
// Bodies are solid capsules of uniform density. They collide with the world but not with one another.
//
// The figures are those of half_cheetah.skel, as DART and Nimble run it; the animal is Wawrzyński's (2009).
ModelBuilder half_cheetah();

// On the ground, pitched by 0.03 rad and lowered by 0.1 m from its neutral configuration, where the feet hang in the air:
// the feet are then 6 mm (back) and 11 mm (front) deep in the ground. Time step 2 ms.
Scene half_cheetah_on_ground();

}  // namespace lithe

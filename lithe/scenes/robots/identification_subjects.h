#pragma once

#include "lithe/model/model_builder.h"

namespace lithe {

// Small mechanisms whose motions tell what their numbers are: subjects of identification.

// Two links of 0.5 m that hang from the world, 1.2 kg and 0.8 kg: bodies upper and lower, joints shoulder and elbow.
ModelBuilder two_link_arm();

// A block of 2 kg on the ground, which slides along x (joints x and z) with friction 0.35.
ModelBuilder sliding_block();

// A free ball of 0.5 kg, radius 0.1 m, above a ground that it bounces off with restitution 0.7, friction 0.3.
ModelBuilder dropped_ball();

}  // namespace lithe

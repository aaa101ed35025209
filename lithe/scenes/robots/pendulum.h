#pragma once

#include "lithe/model/model_builder.h"

namespace lithe {

// The textbook's pendulums: point masses on massless rods that swing in the plane y = 0 about the y axis. At q = 0
// they hang straight down; each angle is relative to the rod above.
//
//   pendulum         θ̈ = −(g/l) sin θ
//   double_pendulum  two equal rods and masses; chaotic from large angles
inline constexpr double kPendulumLength = 1.0;  // of each rod, m
inline constexpr double kPendulumMass = 1.0;    // of each bob, kg

ModelBuilder pendulum();
ModelBuilder double_pendulum();

}  // namespace lithe

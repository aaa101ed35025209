#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// A flat block of 1 kg (0.4 × 0.4 × 0.1 m, body "block") that rests on a slope: the ground, turned by `angle` (rad) about
// y so that it falls towards +x. It stays where tan(angle) ≤ friction and slides with g·(sin − friction·cos) elsewhere.
Scene incline(double angle, double friction);

// A cube of 1 kg and 0.2 m (body "cube") that slides over level ground at 1 m/s, in the direction `angle` (rad) from x towards y, with
// the given friction. The friction rows are along x and y, so its pyramid holds: along either axis the cube stops after
// v²/(2 μ g), and along a diagonal, where friction is √2 times as strong, after 1/√2 of that.
Scene sliding_cube(double angle, double friction = 0.5);

}  // namespace lithe

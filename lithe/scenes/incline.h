#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// A flat block of 1 kg (0.4 × 0.4 × 0.1 m, body "block") that rests on a slope: the ground, turned by `angle` (rad) about
// y so that it falls towards +x. It stays where tan(angle) ≤ friction and slides with g·(sin − friction·cos) elsewhere.
Scene incline(double angle, double friction);

}  // namespace lithe

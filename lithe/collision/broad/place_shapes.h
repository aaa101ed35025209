#pragma once

#include <span>
#include <vector>

#include "lithe/collision/collider_set.h"

namespace lithe::internal {

// X_WG of every shape, given the pose X_WB of every body; shapes that never move have their fixed pose.
void place_shapes(const ColliderSet& set, std::span<const Pose> X_WB, std::vector<Pose>& poses);

}  // namespace lithe::internal

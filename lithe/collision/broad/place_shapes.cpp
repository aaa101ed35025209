#include "lithe/collision/broad/place_shapes.h"

namespace lithe::internal {

void place_shapes(const ColliderSet& set, std::span<const Pose> X_WB, std::vector<Pose>& poses) {
  const auto& colliders = set.colliders();
  poses.resize(colliders.size());
  for (std::size_t i = 0; i < colliders.size(); ++i) {
    const Collider& c = colliders[i];
    if (set.is_fixed(c.shape)) {
      poses[i] = set.fixed_pose(c.shape);
    } else {
      poses[i] = c.placed_at_origin ? X_WB[c.body] : X_WB[c.body] * c.placement;
    }
  }
}

}  // namespace lithe::internal

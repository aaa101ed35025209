#include "lithe/collision/detect_contacts.h"

#include "lithe/core/check.h"

namespace lithe {
namespace {

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

}  // namespace

void detect_contacts(const ColliderSet& set, std::span<const Pose> X_WB, DetectionWorkspace& workspace, ContactSet& out,
                     const DetectionOptions& options) {
  LITHE_CHECK(static_cast<int>(X_WB.size()) == set.body_count(),
              "detect_contacts: there are {} poses for {} bodies (the world is the first)", X_WB.size(),
              set.body_count());
  LITHE_CHECK(options.max_points >= 1, "detect_contacts: max_points is {}; a pair needs at least 1",
              options.max_points);
  place_shapes(set, X_WB, workspace.poses);
  const std::vector<BroadPhase::Pair>& pairs = workspace.broad_phase.update(set, workspace.poses);

  const auto& colliders = set.colliders();
  out.contacts.clear();
  out.tested_pairs = static_cast<int>(pairs.size());
  for (const auto& [a, b] : pairs) {
    collide(colliders[a], workspace.poses[a], colliders[b], workspace.poses[b], workspace.scratch, out.contacts,
            options.max_points);
  }
}

}  // namespace lithe

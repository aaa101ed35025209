#include "lithe/collision/detect_contacts.h"

#include "lithe/collision/broad/broad_phase.h"
#include "lithe/collision/broad/place_shapes.h"
#include "lithe/core/check.h"

namespace lithe {

using namespace internal;

struct internal::DetectionBuffers {
  BroadPhase broad_phase;
  PairScratch scratch;
  std::vector<Pose> poses;  // X_WG per shape that moves
};

DetectionWorkspace::DetectionWorkspace() : buffers_(std::make_unique<DetectionBuffers>()) {}
DetectionWorkspace::~DetectionWorkspace() = default;
DetectionWorkspace::DetectionWorkspace(const DetectionWorkspace&) : DetectionWorkspace() {}
DetectionWorkspace& DetectionWorkspace::operator=(const DetectionWorkspace&) { return *this; }
DetectionWorkspace::DetectionWorkspace(DetectionWorkspace&&) noexcept = default;
DetectionWorkspace& DetectionWorkspace::operator=(DetectionWorkspace&&) noexcept = default;

DetectionBuffers& DetectionWorkspace::buffers() {
  if (!buffers_) buffers_ = std::make_unique<DetectionBuffers>();  // it was moved from
  return *buffers_;
}

void detect_contacts(const ColliderSet& set, std::span<const Pose> X_WB, DetectionWorkspace& workspace, ContactSet& out,
                     const DetectionOptions& options) {
  LITHE_CHECK(static_cast<int>(X_WB.size()) == set.body_count(),
              "detect_contacts: there are {} poses for {} bodies (the world is the first)", X_WB.size(),
              set.body_count());
  LITHE_CHECK(options.max_points >= 1, "detect_contacts: max_points is {}; a pair needs at least 1",
              options.max_points);
  DetectionBuffers& buffers = workspace.buffers();
  place_shapes(set, X_WB, buffers.poses);
  const std::vector<BroadPhase::Pair>& pairs = buffers.broad_phase.update(set, buffers.poses);

  const auto& colliders = set.colliders();
  out.contacts.clear();
  out.tested_pairs = static_cast<int>(pairs.size());
  for (const auto& [a, b] : pairs) {
    collide(colliders[a], buffers.poses[a], colliders[b], buffers.poses[b], buffers.scratch, out.contacts,
            options.max_points);
  }
}

}  // namespace lithe

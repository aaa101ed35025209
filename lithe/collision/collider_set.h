#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lithe/collision/collider.h"
#include "lithe/model/model.h"

namespace lithe {

// All shapes of a model, prepared for collision: hulls built, fixed shapes placed, and who may touch whom.
//
// It is a value that depends on the model's shapes, exceptions and fixed placements; build a new one when those change.
//
// Two shapes may touch when their bodies can move relative to each other and
//   – an exception for the two bodies says so (ModelBuilder::set_collision), or there is none and
//   – each one's groups meet the other's mask and
//   – the bodies are not parent and child; welded bodies count as one. The world is nobody's parent here: a robot's
//     first link touches the floor.
class ColliderSet {
 public:
  // Throws where a mesh has no hull; what had to be changed about a mesh is in warnings().
  explicit ColliderSet(const Model& model);

  const std::vector<Collider>& colliders() const { return colliders_; }  // one per shape, same order
  const std::vector<std::string>& warnings() const { return warnings_; }
  int body_count() const { return body_count_; }

  bool may_touch(ShapeIndex a, ShapeIndex b) const;

  // True for shapes that never move; their pose is then fixed_pose (X_WG), whatever is passed to detect_contacts().
  bool is_fixed(ShapeIndex shape) const { return rules_[shape].group < 0; }
  const Pose& fixed_pose(ShapeIndex shape) const { return fixed_poses_[shape]; }

  // Different for every set that was ever built; copies share it.
  std::uint64_t stamp() const { return stamp_; }

 private:
  // Bodies welded to each other share a group: the last DoF that moves them, −1 if none does.
  struct Rule {
    int group, parent_group;
    CollisionFilter filter;
  };
  struct Exception {
    std::uint64_t bodies;  // lower index in the upper half
    bool collide;
  };

  std::vector<Collider> colliders_;
  std::vector<Rule> rules_;
  std::vector<Pose> fixed_poses_;
  std::vector<Exception> exceptions_;  // sorted by bodies
  std::vector<std::string> warnings_;
  int body_count_ = 0;
  std::uint64_t stamp_ = 0;
};

}  // namespace lithe

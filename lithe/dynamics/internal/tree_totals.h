#pragma once

#include "lithe/core/eigen.h"
#include "lithe/dynamics/kinematics.h"
#include "lithe/spatial/internal/lane_algebra.h"

namespace lithe::internal {

// Sums over one tree's bodies, about the tree's origin, in world axes: what whole-model quantities are made of.

struct TreeMass {
  double mass;
  Vec3 first_moment;  // Σ m c
};

inline TreeMass tree_mass(const DofTree::Tree& tree, const Kinematics& kin) {
  Pack m = {};
  Vector3<Pack> h = {};
  for (int s = tree.first_slot; s < tree.slot_end; s += kLanes) {
    m += kin.I.pack(0, s);
    h = h + load_vector(kin.I, s, 1);
  }
  return {lane_sum(m), Vec3(lane_sum(h.x), lane_sum(h.y), lane_sum(h.z))};
}

// Σ I V = [angular momentum; linear momentum].
inline Vec6 tree_momentum(const DofTree::Tree& tree, const Kinematics& kin) {
  Force<Pack> sum = {};
  for (int s = tree.first_slot; s < tree.slot_end; s += kLanes) {
    sum = sum + load_inertia(kin.I, s) * load_motion(kin.V, s);
  }
  Vec6 h;
  h << lane_sum(sum.n.x), lane_sum(sum.n.y), lane_sum(sum.n.z), lane_sum(sum.f.x), lane_sum(sum.f.y), lane_sum(sum.f.z);
  return h;
}

}  // namespace lithe::internal

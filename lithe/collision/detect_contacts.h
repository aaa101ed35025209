#pragma once

#include <span>
#include <vector>

#include "lithe/collision/broad_phase.h"
#include "lithe/collision/collide.h"
#include "lithe/collision/collider_set.h"
#include "lithe/collision/contact.h"

namespace lithe {

// The contacts of a model in one configuration, computed by detect_contacts(): in the order of their shapes' numbers
// (a < b), the points of one pair side by side. World coordinates.
struct ContactSet {
  std::vector<Contact> contacts;
  int tested_pairs = 0;  // whose bounds overlapped
};

struct DetectionOptions {
  int max_points = kMaxPoints;  // of one pair
};

// Memory from one detection to the next. It saves time and allocations and changes no result: any workspace, fresh or
// used with another model, gives the same bits.
struct DetectionWorkspace {
  BroadPhase broad_phase;
  PairScratch scratch;
  std::vector<Pose> poses;  // X_WG per shape that moves
};

// All contacts between shapes that may touch, given the pose X_WB of every body (index 0, the world, is not read, and
// neither are bodies fixed to it).
void detect_contacts(const ColliderSet& set, std::span<const Pose> X_WB, DetectionWorkspace& workspace, ContactSet& out,
                     const DetectionOptions& options = {});

}  // namespace lithe

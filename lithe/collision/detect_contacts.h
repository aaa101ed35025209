#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lithe/collision/collide.h"
#include "lithe/collision/collider_set.h"
#include "lithe/collision/contact.h"

namespace lithe {

namespace internal {
struct DetectionBuffers;
}  // namespace internal

// The contacts of a model in one configuration, computed by detect_contacts(): in the order of their shapes' numbers
// (a < b), the points of one pair side by side. World coordinates.
struct ContactSet {
  std::vector<Contact> contacts;
  int tested_pairs = 0;  // whose bounds overlapped
};

struct DetectionOptions {
  int max_points = kMaxPoints;  // of one pair
};

// Memory from one detection to the next. It saves time and allocations and changes no result: any workspace, fresh,
// copied or used with another model, gives the same bits.
class DetectionWorkspace {
 public:
  DetectionWorkspace();
  ~DetectionWorkspace();
  DetectionWorkspace(const DetectionWorkspace&);  // the copy has memory of its own
  DetectionWorkspace& operator=(const DetectionWorkspace&);
  DetectionWorkspace(DetectionWorkspace&&) noexcept;
  DetectionWorkspace& operator=(DetectionWorkspace&&) noexcept;

  internal::DetectionBuffers& buffers();

 private:
  std::unique_ptr<internal::DetectionBuffers> buffers_;
};

// All contacts between shapes that may touch, given the pose X_WB of every body (index 0, the world, is not read, and
// neither are bodies fixed to it).
void detect_contacts(const ColliderSet& set, std::span<const Pose> X_WB, DetectionWorkspace& workspace, ContactSet& out,
                     const DetectionOptions& options = {});

}  // namespace lithe

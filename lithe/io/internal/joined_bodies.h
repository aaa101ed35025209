#pragma once

#include <utility>
#include <vector>

#include "lithe/model/model.h"

namespace lithe::internal {

// The rigid parts of a robot: bodies that are welded to one another are one part. What is welded to the world is a part
// of its own; the world itself, to which grounds belong, is none.
struct RigidParts {
  static constexpr int kNone = -1;

  // A rigid part, and where it hangs.
  struct Part {
    int parent = kNone;   // the part that it hangs on; none: the world
    bool floats = false;  // it can move in all ways
    bool has_mass = false;
    std::vector<BodyIndex> solid = {};  // its bodies with shapes
  };
  std::vector<Part> parts = {};   // parents before children
  std::vector<int> part_of = {};  // per body
};
RigidParts rigid_parts(const Model& model);

// Pairs of parts that are joined, the inner part first. These are parent and child, where parts without a mass (which
// are coordinates, not links) and parts without shapes (such as the cross of a universal joint) are skipped. Of the
// latter at most two are skipped: a hand whose arm has no shapes is not joined to the shoulder. Both parts of a pair
// have shapes. A part that floats is joined to nothing.
std::vector<std::pair<int, int>> joined_parts(const RigidParts& parts);

}  // namespace lithe::internal

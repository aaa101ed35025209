#pragma once

#include <utility>
#include <vector>

#include "lithe/model/model.h"

namespace lithe::internal {

// Bodies that are welded to one another, as one part of a robot. What is welded to the world is a part of its own: the world, to which
// grounds belong, is none.
struct RigidParts {
  static constexpr int kNone = -1;

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

// Pairs of parts that are joined: parent and child, where parts that have no mass (coordinates, not links) or no shapes (the cross of a
// universal joint) are skipped, of the latter at most two: a hand whose arm has no shapes is not joined to the shoulder.
// The inner part comes first. Both have shapes. A part that floats is joined to nothing.
std::vector<std::pair<int, int>> joined_parts(const RigidParts& parts);

}  // namespace lithe::internal

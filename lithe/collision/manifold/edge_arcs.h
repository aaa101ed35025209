#pragma once

#include <span>

#include "lithe/collision/hull/hull.h"
#include "lithe/simd/internal/lane_bits.h"
#include "lithe/simd/lanes.h"

namespace lithe::internal {

// The arcs of some edges on the Gauss map, four to a pack.
//
// The normals of an edge's supporting planes are the arc from the normal of one of its faces to that of the other; the arc's pole is the
// edge's direction. Of the pairs of edges of two polytopes few have arcs that cross, and those are found here, four at a time.
class EdgeArcs {
 public:
  void gather(const Hull& hull, std::span<const int> edges);
  int packs() const { return stride_ / kLanes; }

  // An edge of the other polytope, in this one's frame.
  struct Arc {
    Vec3 direction, normal[2];
  };
  // Bit i: edge 4·pack + i of those gathered and the other polytope's edge support each other. That is where the arc of one and the
  // negative arc of the other cross: each one's ends lie on different sides of the other, and in the same half of the sphere.
  LITHE_INLINE unsigned crossing(const Arc& arc, int pack) const {
    const Pack own0 = dot(3, pack, arc.direction), own1 = dot(6, pack, arc.direction);
    const PackMask own = own0 * own1 < Pack{};
    if (lane_bits(own) == 0) return 0;
    const Pack other0 = dot(0, pack, arc.normal[0]), other1 = dot(0, pack, arc.normal[1]);
    return lane_bits(own & (other0 * other1 < Pack{}) & (own0 * other1 < Pack{}));
  }

 private:
  // With the vectors whose x are in this row.
  LITHE_INLINE Pack dot(int row, int pack, const Vec3& x) const {
    const double* at = numbers_.data() + static_cast<std::ptrdiff_t>(row) * stride_ + pack * kLanes;
    return as_pack(at) * x.x() + as_pack(at + stride_) * x.y() + as_pack(at + 2 * stride_) * x.z();
  }

  int stride_ = 0;
  AlignedBuffer
      numbers_;  // rows of x, y, z: of directions, of the first normals, of the second; padded with zeros, which cross nothing
};

}  // namespace lithe::internal

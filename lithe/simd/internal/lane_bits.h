#pragma once

#include "lithe/simd/pack.h"

namespace lithe::internal {

// What comparing two Packs gives: all bits of a lane where it holds, none where not.
using PackMask = decltype(Pack{} < Pack{});

// Bit i: the comparison holds in lane i.
LITHE_INLINE unsigned lane_bits(PackMask mask) {
  mask &= PackMask{1, 2, 4, 8};
  return static_cast<unsigned>((mask[0] | mask[1]) | (mask[2] | mask[3]));
}

LITHE_INLINE Pack smaller(Pack x, Pack y) { return x < y ? x : y; }
LITHE_INLINE Pack larger(Pack x, Pack y) { return x > y ? x : y; }

LITHE_INLINE double smallest_lane(Pack x) {
  const double low = x[0] < x[1] ? x[0] : x[1], high = x[2] < x[3] ? x[2] : x[3];
  return low < high ? low : high;
}
LITHE_INLINE double largest_lane(Pack x) { return -smallest_lane(-x); }

}  // namespace lithe::internal

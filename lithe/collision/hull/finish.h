#pragma once

#include "lithe/collision/hull/hull.h"

namespace lithe::internal {

// Hulls with at most this many vertices are scanned for the support, larger ones climbed. Measured: where climbing
// from a vertex nearby begins to pay.
inline constexpr int kLargestScan = 300;

// d·x of four vertices. Every comparison that decides on the support is between results of this function, so that
// equal vertices are equal to the last bit.
LITHE_INLINE Pack heights(const double* x, const double* y, const double* z, const Vec3& d) {
  return as_pack(x) * d.x() + as_pack(y) * d.y() + as_pack(z) * d.z();
}

// Fills in all the rest of a hull of which vertices, ring and, per face, normal, first and count are set.
void finish_hull(Hull& hull);

// The sizes alone: offsets, areas, packs, centre, radius, width, bounds. Directions, numbering and ranks stay, so this
// is how a hull of size zero is made from one where directions could be computed.
void measure_hull(Hull& hull);

}  // namespace lithe::internal

#pragma once

#include <array>

#include "lithe/collision/collider.h"
#include "lithe/collision/contact.h"
#include "lithe/collision/curved/cylinder_touch.h"

namespace lithe::internal {

// The points of two touching cylinders: where flat or straight parts lie on each other, enough of them to hold.
//
//   cap on cap     The cap with the larger radius is the reference. Four points of the smaller rim, in the directions of the
//                  reference's x and y axes, so that they stay when the smaller one spins; four points of the reference's
//                  rim, under the other cap; where the two rims cross; and the deepest point unless they are parallel.
//                  Only what lies within the other disc.
//   side on cap    Both ends of the line of contact: a rim on the cap, or the side on the cap's rim.
//   side by side   Nearly parallel: both ends of the overlap, a rim on a side, and the crossing between them unless that
//                  hardly differs from either.
//   otherwise      The deepest point; also where the others leave out a good deal of the depth.
//
// Each point has its own gap and is kept if that is within the margin.
struct CylinderManifold {
  std::array<Contact, 12> points;
  int count = 0;
};
void find_manifold(const CylinderPair& pair, const CylinderTouch& deepest, const Bands& bands,
                   CylinderManifold& manifold);

}  // namespace lithe::internal

#pragma once

#include <vector>

#include "lithe/collision/collider.h"
#include "lithe/collision/contact.h"
#include "lithe/collision/curved/cylinder_support.h"
#include "lithe/collision/pairs/pair_buffers.h"

namespace lithe::internal {

// What every pair test is given. type(a) ≤ type(b), and a.shape < b.shape where the types are equal; everything is in
// b's frame, so that a pair far from the origin loses no digits.
struct PairQuery {
  const Collider& a;
  const Collider& b;
  Pose X_BA;
  Bands bands;
  int max_points;  // of a manifold
  PairBuffers& scratch;
};

// The first shape where it is a cylinder, in the frame of the second.
inline SolidCylinder cylinder_of(const PairQuery& query) {
  return {query.X_BA.p, query.X_BA.R.col(2), query.a.half_length, query.a.radius};
}

// One test per pair of shape types, each in its own file:
//
//   contacts   appends the pair's manifold, points with gap ≤ bands.margin, to `out` (in b's frame)
//   distance   the deepest or closest features, however far: a contact whose feature is ClosestFeatures
//
// Neither fills in a.shape, b.shape of the contacts: the caller knows them.
using PairContacts = void (*)(const PairQuery& query, std::vector<Contact>& out);
using PairDistance = Contact (*)(const PairQuery& query);

}  // namespace lithe::internal

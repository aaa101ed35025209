#pragma once

#include <vector>

#include "lithe/collision/collider.h"
#include "lithe/collision/contact.h"
#include "lithe/collision/pair_scratch.h"

namespace lithe {

// Most points of one pair's manifold, unless asked otherwise.
inline constexpr int kMaxPoints = 8;

// Appends the contacts of two shapes, given the poses of their frames (X_WG), in the world. The normals point from b
// to a; exchanging the two shapes gives the same points with the normals turned around. Two planes never touch.
void collide(const Collider& a, const Pose& X_WA, const Collider& b, const Pose& X_WB, PairScratch& scratch,
             std::vector<Contact>& out, int max_points = kMaxPoints);

// The closest features of two shapes, however far apart, as a contact: its gap is the signed distance (inside: minus
// the shortest way out), point_on_a() and point_on_b() are the witness points. Refuses two planes.
Contact distance(const Collider& a, const Pose& X_WA, const Collider& b, const Pose& X_WB, PairScratch& scratch);

}  // namespace lithe

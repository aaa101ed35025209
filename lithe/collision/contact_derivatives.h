#pragma once

#include "lithe/collision/collider.h"
#include "lithe/collision/contact.h"

namespace lithe {

// How a contact moves: its point p, normal n and gap are functions of the two bodies' motions and of the shapes' sizes,
// given by the features that made it. All derivatives are in the contact's frame (the world's).
//
// The map of one body has rows ∂p (3), ∂n (3), ∂gap and columns ω, v: the body's angular velocity and the velocity of
// its point at p. For a degree of freedom with axis S about an origin o, that is ω = S_ω, v = S_v + S_ω × (p − o), and
// the column of ∂(p, n, gap)/∂q_j is by_a·S_j where j moves a, plus by_b·S_j where j moves b.
//
// For closest features ∂gap is the normal row of the contact Jacobian, n·(v_a − v_b). For points clipped out of a face
// (EdgeCrossing, CornerUnderFace) it differs from that by the tilt of the two shapes.
struct ContactDerivatives {
  using Map = Eigen::Matrix<double, 7, 6>;
  Map by_a, by_b;
  // False where no derivative exists: the normal of a vertex that touches a vertex at gap 0, which is then taken as
  // fixed to b, like a face's; or the point where an edge runs along a side, which is then taken as fixed to the edge.
  bool regular = true;
};
ContactDerivatives contact_derivatives(const Contact& contact);

// ∂(p, n, gap) by the sizes of the two shapes: columns radius (sphere); radius, half_length (capsule, cylinder);
// half_size x, y, z (box). Columns a shape has no size for are zero.
struct ContactSizeDerivatives {
  using Map = Eigen::Matrix<double, 7, 3>;
  Map by_a, by_b;
};
ContactSizeDerivatives contact_size_derivatives(const Contact& contact, const Collider& a, const Pose& X_WA,
                                                const Collider& b, const Pose& X_WB);

}  // namespace lithe

#pragma once

#include "lithe/core/eigen.h"

namespace lithe::internal {

// Two rims against each other: n·(x_a − x_b) at the points that n, from b to a, makes the closest.
struct Rim {
  Vec3 centre, axis;
  double radius;
};

struct RimPair {
  Rim a, b;
};

// Where two rims touch: x_a − x_b = gap·n.
struct RimRim {
  bool found = false;
  Vec3 x_a, x_b, n;
  double gap;
};

// Where on the two rims a search stands: unit vectors from the centres, ⟂ the axes.
struct RimDirections {
  Vec3 a, b;
};

// The points that n makes the closest; zero vectors where n is along an axis.
RimDirections rim_directions(const RimPair& rims, const Vec3& n);

// Newton's direction for sep(n) = n·(c_a − c_b) − ρ_a|n×a| − ρ_b|n×b| on the sphere,
//
//   dn = K⁻¹ (I − nnᵀ)(x_a − x_b),   K = sep·I + (ρ_a/σ_a) t_a t_aᵀ + (ρ_b/σ_b) t_b t_bᵀ,
//
// K shifted until it is positive, so that it always leads uphill. Zero near an axis, where sep has a cusp.
Vec3 newton_direction(const RimPair& rims, const Vec3& n);

// The stationary points near u, to rounding: x_a − x_b is made perpendicular to both tangents by Newton's method in the
// points' two angles, which do not mind the cusps. The normal is on n's side. Not found where it does not settle.
RimRim polish(const RimPair& rims, const RimDirections& u, const Vec3& n);

}  // namespace lithe::internal

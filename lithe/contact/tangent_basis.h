#pragma once

#include "lithe/core/eigen.h"

namespace lithe::internal {

// Two unit vectors that complete a unit normal to a right-handed frame (t₁, t₂, n): the directions of a contact's
// friction rows. They depend on n alone and smoothly, but for the seam n_z = 0 (Duff et al. 2017, "Building an
// orthonormal basis, revisited"): normals that point up or sideways are on one side of it, those that point down on the
// other. For n = e_z they are e_x and e_y.
struct TangentBasis {
  Vec3 t1, t2;
};

inline TangentBasis tangent_basis(const Vec3& n) {
  // −0.0 counts as 0.0: the normal of a vertical wall must not change sides with the sign of a zero.
  const double sign = n.z() < 0 ? -1.0 : 1.0;
  const double a = -1 / (sign + n.z());
  const double b = n.x() * n.y() * a;
  return {Vec3(1 + sign * n.x() * n.x() * a, sign * b, -sign * n.x()), Vec3(b, sign + n.y() * n.y() * a, -n.y())};
}

// ∂t₁/∂n and ∂t₂/∂n, for changes of n that keep its length.
struct TangentBasisDerivatives {
  Mat3 dt1, dt2;
};
TangentBasisDerivatives tangent_basis_derivatives(const Vec3& n);

}  // namespace lithe::internal

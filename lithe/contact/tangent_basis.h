#pragma once

#include "lithe/core/eigen.h"

namespace lithe {

// Two unit vectors that complete a unit normal to a right-handed frame (t₁, t₂, n): the directions of a contact's
// friction rows. They depend on n alone and smoothly, but for the seam n_z = 0 (Duff et al. 2017, "Building an
// orthonormal basis, revisited"): normals that point up or sideways are on one side of it, those that point down on the
// other. For n = e_z they are e_x and e_y.
struct TangentBasis {
  Vec3 t1, t2;
};

TangentBasis tangent_basis(const Vec3& n);

// ∂t₁/∂n and ∂t₂/∂n, for changes of n that keep its length.
struct TangentBasisDerivatives {
  Mat3 dt1, dt2;
};
TangentBasisDerivatives tangent_basis_derivatives(const Vec3& n);

}  // namespace lithe

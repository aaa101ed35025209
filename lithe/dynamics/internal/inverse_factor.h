#pragma once

#include "lithe/dynamics/internal/mass_factor.h"

namespace lithe::internal {

// The explicit X = L⁻¹ of the mass matrix's factor: as sparse as L, and M⁻¹ = X Xᵀ. Products with it are several
// times faster than substitution, because no entry waits for another.
struct InverseFactor {
  AlignedBuffer rows;  // X by path rows
  Lanes<1> z;          // workspace of solve(); empty where it was not called
  LayoutStamp layout;
};

void invert(const Model& model, const MassFactor& factor, InverseFactor& out);

// out = X z, with z by slot (Lanes<1>): the outer half of solve(), for those who have Xᵀ b already.
void multiply(const Model& model, const InverseFactor& inverse, const Lanes<1>& z, VecRef out);

// z = Xᵀ b, by slot: the inner half.
void multiply_transposed(const Model& model, const InverseFactor& inverse, const ConstVecRef& b, Lanes<1>& z);

// out = M⁻¹ b.
void solve(const Model& model, InverseFactor& inverse, const ConstVecRef& b, VecRef out);

}  // namespace lithe::internal

#pragma once

#include <vector>

#include "lithe/dynamics/column_products.h"
#include "lithe/dynamics/mass_factor.h"

namespace lithe {

// The explicit X = L⁻¹ of the mass matrix's factor: as sparse as L, and M⁻¹ = X Xᵀ. Products with it are several
// times faster than substitution, because no entry waits for another.
struct InverseFactor {
  AlignedBuffer rows;     // X by path rows
  AlignedBuffer columns;  // X again by columns, in dense blocks per tree (DofTree::column_start)

  // Workspace of solve() and inverse_mass_matrix().
  AlignedBuffer slots;
  std::vector<WeightedRun> runs;
  LayoutStamp layout;
};

void invert(const Model& model, const MassFactor& factor, InverseFactor& out);

// out = M⁻¹ b.
void solve(const Model& model, InverseFactor& inverse, const ConstVecRef& b, VecRef out);

// M⁻¹ in dense blocks per tree, by columns (DofTree::column_start); rows beyond a tree's DoFs are zero.
void inverse_mass_matrix(const Model& model, InverseFactor& inverse, AlignedBuffer& out);

}  // namespace lithe

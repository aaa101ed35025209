#pragma once

#include "lithe/dynamics/mass_matrix.h"

namespace lithe::internal {

// M = LᵀL with L lower triangular and exactly as sparse as M (Featherstone 2005): eliminating from the leaves
// inwards creates no new entries.
struct MassFactor {
  AlignedBuffer L;                 // path rows, as M's
  AlignedBuffer inverse_diagonal;  // 1/L_ii by DoF
  // The first DoF whose pivot vanished to rounding: nothing resists its motion in this configuration (a gimbal
  // lock of massless links, say). It is then held still, so that everything stays finite. −1: none.
  int singular_dof = -1;

  LayoutStamp layout;
};

// `added_diagonal` (nv entries, or none) is added to M's diagonal before factoring.
void factorize(const Model& model, const MassMatrix& M, MassFactor& out, const ConstVecRef& added_diagonal = VecX());

// M⁻¹ b by substitution along the tree, for one or many right-hand sides (the columns of b), in place.
void solve_in_place(const Model& model, const MassFactor& factor, Eigen::Ref<MatX> b);

}  // namespace lithe::internal

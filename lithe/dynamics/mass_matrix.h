#pragma once

#include "lithe/dynamics/kinematics.h"

namespace lithe {

// The mass matrix M(q), joints' armature included, by the composite-rigid-body algorithm (Featherstone 2008,
// §6.2). M_ij is zero unless one of i and j is above the other, so only the rows' parts along the paths are kept.
struct MassMatrix {
  AlignedBuffer rows;  // lower triangle by path rows (DofTree::row_start, DofTree::position)
  Lanes<10> I;         // composite inertia of each DoF's subtree
  Lanes<6> IS;         // I S: the momentum of the subtree when only this DoF moves
  Lanes<1> singular;   // what a pivot must exceed to be more than rounding (singular_pivot.h)

  LayoutStamp layout;

  MatX dense(const Model& model) const;
};

void mass_matrix(const Model& model, const Kinematics& kin, MassMatrix& out);

// In one call, dense, for occasional use.
MatX mass_matrix(const Model& model, const ConstVecRef& q);

// M·x without forming anything dense.
void multiply(const Model& model, const MassMatrix& M, const ConstVecRef& x, VecRef out);

}  // namespace lithe

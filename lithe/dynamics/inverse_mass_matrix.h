#pragma once

#include "lithe/dynamics/forward_dynamics.h"

namespace lithe {

// M⁻¹ from forward dynamics' own elimination: column j is the acceleration that τ = e_j causes at rest without
// gravity, so the articulated-body passes run once more, for all j at the same time. That takes O(nv²) work, less
// than factoring M. (In body coordinates: Carpentier 2018.)
struct InverseMassMatrix {
  // One dense block per tree, by columns (DofTree::column_start); rows beyond the tree's DoFs are not meaningful.
  AlignedBuffer columns;

  // Workspace per tree column j: the force that reaches the DoF being eliminated, and per chain the acceleration
  // behind it (six rows each).
  AlignedBuffer force;
  AlignedBuffer acceleration;
  LayoutStamp layout;
};

// `fd` must come from aba() at the same kinematics.
void inverse_mass_matrix(const Model& model, const ForwardDynamics& fd, InverseMassMatrix& out);

}  // namespace lithe

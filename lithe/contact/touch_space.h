#pragma once

#include <vector>

#include "lithe/contact/constraint_set.h"
#include "lithe/dynamics/internal/inverse_factor.h"

namespace lithe::internal {

// What the constraints of a step act on, and how it gives way.
//
// However many rows press on a body, they feel its motion through the six numbers of its twist. So rows are kept as
// linear forms on *touches*, which are
//
//   a body    its twist V = [ω; v₀] (6), world axes, about the tree's origin, or
//   a DoF     its own velocity (1), for what acts inside a joint,
//
// and all that the mechanism adds is one small matrix per tree over its touches: with J_F the touches' Jacobian and
// M̂ = LᵀL, X = L⁻¹,
//
//   W = J_F X,   Λ = W Wᵀ = J_F M̂⁻¹ J_Fᵀ.
//
// A touch depends on the DoFs of its path only, so W keeps path rows. A foot with six contact points has 18 rows and
// one 6×6 Λ.
struct Touch {
  int dof = -1;  // the last DoF that moves the body, or the DoF itself
  int size = 6;  // 6: a body; 1: a DoF
  int block = -1;
  int first = -1;    // coordinate in its block
  int packs = 0;     // of its path, up to `dof`
  int W_start = -1;  // `size` rows of `packs` packs
};

// All touches of one tree.
struct TouchBlock {
  int first_touch = 0, touch_count = 0;
  int size = 0;          // coordinates
  int stride = 0;        // padded
  int start = 0;         // of its coordinates in vectors over all blocks
  int Lambda_start = 0;  // column-major, `stride` apart
};

struct TouchSpace {
  std::vector<Touch> touches;  // ascending by DoF
  std::vector<TouchBlock> blocks;
  int size = 0;  // of vectors over all blocks
  AlignedBuffer W;
  AlignedBuffer Lambda;
  bool has_Lambda = false;  // it is that of W

  // The touch of a body that moves with `dof`, or of `dof` itself; −1 for dof = −1.
  int body_touch(int dof) const { return dof < 0 ? -1 : touch_of_[2 * dof]; }
  int dof_touch(int dof) const { return dof < 0 ? -1 : touch_of_[2 * dof + 1]; }

  // Finds the touches of these constraints.
  void collect(const DofTree& tree, const std::vector<Constraint>& constraints);
  // Fills in W; Λ is found when somebody asks for it.
  void compute(const Model& model, const Kinematics& kin, const InverseFactor& inverse);
  void find_Lambda(const DofTree& tree);

  const double* Lambda_column(const TouchBlock& block, int column) const {
    return Lambda.data() + block.Lambda_start + static_cast<std::ptrdiff_t>(column) * block.stride;
  }
  int size_of(int touch) const { return touch < 0 ? 0 : touches[touch].size; }
  int block_of(int touch) const { return touch < 0 ? -1 : touches[touch].block; }
  int start_of(const Touch& touch) const { return blocks[touch.block].start + touch.first; }

  // J_F v, for velocities by slot. Vectors over all blocks hold `size` numbers.
  void velocities(const DofTree& tree, const Kinematics& kin, const Lanes<1>& v, double* out) const;
  // The same with other axes than S for bodies; a DoF's own is `own` times its v.
  void velocities(const DofTree& tree, const Lanes<6>& axes, double own, const Lanes<1>& v, double* out) const;
  // Transposed: out_j += axis_j·φ, summed over the bodies that j moves, and `own` times a DoF's own φ. By slot.
  void add_forces(const DofTree& tree, const Lanes<6>& axes, double own, const double* phi, Lanes<1>& out) const;
  // W z, for z by slot: with z = Xᵀ b that is J_F M̂⁻¹ b.
  void product(const DofTree& tree, const Lanes<1>& z, double* out) const;
  // z = Wᵀ φ by slot, so that X z = M̂⁻¹ J_Fᵀ φ.
  void transposed_product(const DofTree& tree, const double* phi, Lanes<1>& z) const;
  void add_transposed_product(const DofTree& tree, const double* phi, Lanes<1>& z) const;  // z += Wᵀ φ

 private:
  void add(int key);
  std::vector<int> touch_of_;  // by 2·dof + (0: body, 1: DoF)
  std::vector<int> keys_;
  std::vector<int> path_;
};

}  // namespace lithe::internal

#pragma once

#include "lithe/step/step_jacobians_workspace.h"

namespace lithe {

// Assembles the blocks of one step from N, K, the columns of ∂r and the forms of the rows, tile by tile.
//
//   ∂v⁺/∂q = −N ∂r/∂q + Σ over touched bodies of (G_S S_j + G_Ψ Ψ̇_j),   G_S = N J_Fᵀ T̂ + K Qᵀ E,   G_Ψ = −K R
//
// with E, T̂ from ConstraintForms and Ψ̇ under v⁺.
class JacobianAssembler {
 public:
  JacobianAssembler(const Model& model, const StepRecord& record, StepJacobians::Workspace& work);

  void prepare_columns();

  // What each touched body's motion S_j and Ψ̇_j does to v⁺: G_S and G_Ψ (rows × 6 each), divided by −Δt.
  void prepare_touches();

  // ∂v⁺/∂x = −Δt·(N·columns) + the touches' part, and ∂q⁺/∂x = Δt·∂v⁺/∂x, for x = q (with touches) or v.
  void multiply(const AlignedBuffer& columns, bool touches, MatX* dv, MatX* dq);

  // ∂v⁺/∂τ = Δt·N.
  void copy_N(MatX* dv, MatX* dq);

  // Rows that act inside joints: their targets move with the joint itself.
  void add_own_touches(MatX* dv, MatX* dq);

  // Rows with the target −e·J v: by v directly, by q through Ψ̇ under v.
  void add_bounces(MatX* dv_dq, MatX* dq_dq, MatX* dv_dv, MatX* dq_dv);

 private:
  std::span<const int> trees_of(const Touch& touch) const;
  const ClassResponse::Part& part_of_tree(int tree) const;

  void prepare_axes();

  void fill_G(int t);

  // to (rows of one tree × columns) = or += Σ_k weights[column][k]·left column k.
  void add_products(const double* left, int stride, int count, const double* weights, int weight_stride, int columns,
                    int row_tree, bool fresh, double* to) const;

  // G_S += N J_Fᵀ T̂, for every side whose wrench moves with this touch.
  void add_pushes(int t, int island);

  void add_push(int t, int pushed, const Mat6& map);

  void multiply_chain(const AlignedBuffer& columns, bool touched, int row_tree, const DofTree::Chain& chain, MatX* dv,
                      MatX* dq);

  void copy_block(int row_tree, int column_tree, MatX* dv, MatX* dq) const;

  int patch_of(int row) const;

  // K's answer to a unit demand of one row, into work_.answer (over the group's trees, one after the other).
  void find_response(int p, int local_row);
  void add_answer(const Patch& compressed, const double* demand, double* answer) const;
  void add_demand(const Touch& touch, const Patch& compressed, const double* demand, MatX* dv, MatX* dq) const;
  void add_column(int dof, double factor, MatX* dv, MatX* dq) const;

  const Model& model_;
  const DofTree& tree_;
  const StepRecord& record_;
  const ContactProblem& problem_;
  StepJacobians::Workspace& work_;
  double h_;
};

}  // namespace lithe

#pragma once

#include "lithe/step/gradients/step_jacobians_workspace.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe::internal {

// Assembles the blocks of one step from N, K, the columns of ∂r and the forms of the rows, tile by tile.
//
//   ∂v⁺/∂q_j = −N ∂r/∂q_j + Σ over the bodies that j moves of (N J_Fᵀ T̂ S_j + K (Qᵀ E S_j − R Ψ̇_j))
//
// with E, T̂ from ConstraintForms and Ψ̇ under v⁺.
class JacobianAssembler {
 public:
  JacobianAssembler(const Model& model, const StepRecord& record, StepJacobiansWorkspace& work);

  void prepare_columns();

  void prepare_touches();

  // ∂v⁺/∂x = −Δt·(N·columns) + the touches' part, and ∂q⁺/∂x = Δt·∂v⁺/∂x, for x = q (with touches) and v. What is null is not wanted.
  void multiply(MatX* dv_dq, MatX* dq_dq, MatX* dv_dv, MatX* dq_dv);

  // ∂v⁺/∂τ = Δt·N.
  void copy_N(MatX* dv, MatX* dq);

  // What q hands down to q⁺ itself.
  void add_identity(MatX& dq_dq) const;

  // Rows with the target −e·J v: by v directly, by q through Ψ̇ under v.
  void add_bounces(MatX* dv_dq, MatX* dq_dq, MatX* dv_dv, MatX* dq_dv);

  // Whether all that was written is finite.
  bool bounded() const { return bounded_; }

 private:
  using Side = StepJacobiansWorkspace::Side;
  using TouchTerm = StepJacobiansWorkspace::TouchTerm;

  int tree_of(const Touch& touch) const;
  std::span<const int> trees_of(const Touch& touch) const;
  const ModeResponse::Part& part_of_tree(int tree) const;

  Vec6 axis(int dof) const;
  template <int Columns>
  void list_touch_terms(const DofTree::Chain& chain, int dof);
  template <int Columns>
  void add_demand(const Side& side, const Touch& touch, int dof, int first_row);
  template <int Columns>
  void add_push(const Touch& touch, const Touch& pushed, const Mat6& map, int dof);
  int add_weights(int count);

  void write_columns(const DofTree::Chain& chain);
  void multiply_chain(const AlignedBuffer& columns, bool touched, const ResponseMatrices::Group& group,
                      const DofTree::Chain& chain, MatX* dv, MatX* dq);
  void prepare_turns();
  void turn_balls(const double* from, const DofTree::Tree& rows, double scale, double* to) const;
  void write_column(const double* from, const DofTree::Tree& rows, double scale, int dof, MatX* dv, MatX* dq) const;

  void copy_block(int row_tree, int column_tree, MatX* dv, MatX* dq);

  int patch_of(int row) const;

  // K's answer to a unit demand of one row, into work_.answer (over the group's trees, one after the other).
  void find_response(int p, int local_row);
  void add_answer(const Patch& compressed, const double* demand, double* answer) const;
  void add_column(int dof, double factor, MatX* dv, MatX* dq);

  const Model& model_;
  const DofTree& tree_;
  const StepRecord& record_;
  const StepStages& stages_;
  const ContactProblem& problem_;
  StepJacobiansWorkspace& work_;
  double h_;
  bool bounded_ = true;
};

}  // namespace lithe::internal

#pragma once

#include <span>
#include <vector>

#include "lithe/dynamics/internal/column_products.h"
#include "lithe/step/gradients/linearization.h"

namespace lithe::internal {

// How velocities answer pushes and demands when every row stays in its mode, as matrices (docs/gradients.md):
//
//   N = M̂⁻¹ − K J_C M̂⁻¹   (what a push does)      K = M̂⁻¹ P A_C#   (what a demand of the clamping rows does)
//
// with the rows in the coordinates of ModeResponse: K = K̂ B#, K̂ = M̂⁻¹ J_Fᵀ P̃, N = M̂⁻¹ − K L̂, L̂ = R J_F M̂⁻¹.
//
// Where B is ill-conditioned, both lose digits: bodies that are held stiffly keep little of what M̂⁻¹ has for them. What N and K do
// to the rows, Ĵ = R J_F, is known exactly, and tells how far off they are: Ĵ K + D̃ B# = I and Ĵ N = D̃ B# L̂. So each is corrected
// once, K −= K (Ĵ K + D̃ B# − I) and N −= K (Ĵ N − D̃ B# L̂).
//
// Trees that an island connects are one group, every other tree is a group of its own, and nothing couples two groups. So
// matrices come in blocks (row tree, column tree) of one group, dense, with the columns of the row tree's DofTree blocks.
class ResponseMatrices {
 public:
  struct Group {
    int island = -1;                     // −1: nothing touches its one tree
    int first_tree = 0, tree_count = 0;  // into trees()
  };

  void compute(const Model& model, const StepRecord& record, const ModeResponse& response);

  const std::vector<Group>& groups() const { return groups_; }
  std::span<const int> trees_of(const Group& group) const {
    return std::span(trees_).subspan(group.first_tree, group.tree_count);
  }
  int group_of(int tree) const { return group_of_[tree]; }

  // N's block; columns are the column tree's DoFs, tree.trees[row_tree].column_stride apart.
  const double* N(int row_tree, int column_tree) const { return N_.data() + N_start(row_tree, column_tree); }
  // Whether all of N is finite.
  bool finite() const { return finite_; }
  // K's rows of one tree: a column per coordinate of the group's island.
  const double* K(int tree) const { return K_.data() + K_start_[tree]; }

 private:
  void find_groups(const DofTree& tree, const ContactProblem& problem);
  void lay_out(const DofTree& tree, const ModeResponse& response);
  // The DoFs of one chain on a path: columns of X from the tree's `first` on, weights from `position` on, rows before row_end.
  struct PathRun {
    int first, count, position, row_end;
  };
  std::span<const PathRun> path_of(int chain) const {
    return std::span(path_runs_).subspan(first_run_[chain], first_run_[chain + 1] - first_run_[chain]);
  }
  void list_paths(const DofTree& tree);
  void fill_X(const DofTree& tree, const InverseFactor& inverse);
  void add_path_terms(const DofTree& tree, int chain, const double* weights, int length);
  // M̂⁻¹ J_Fᵀ formsᵀ, for forms laid out as the response's patches say.
  void multiply_forms(const DofTree& tree, const ContactProblem& problem, const ModeResponse& response,
                      const double* forms, double* out);
  void fill_K(const DofTree& tree, const ContactProblem& problem, const ModeResponse& response);
  void fill_N(const DofTree& tree, const InverseFactor& inverse, const ModeResponse& response, const Group& group,
              int row_tree, int column_tree);
  void fill_J(const DofTree& tree, const StepRecord& record, const ModeResponse& response, const Group& group);
  void fill_DB(const ModeResponse& response, const ModeResponse::Part& part);
  void add_J_term(const DofTree& tree, int t, const ModeResponse::Part& part, const double* weights, int weight_stride);
  void correct_K(const DofTree& tree, const ModeResponse::Part& part, const Group& group);
  void correct_N(const DofTree& tree, const ModeResponse::Part& part, const Group& group);
  std::ptrdiff_t N_start(int row_tree, int column_tree) const {
    return N_start_[row_tree] + static_cast<std::ptrdiff_t>(place_[column_tree]) * N_step_[row_tree];
  }

  std::vector<Group> groups_;
  std::vector<int> island_group_;
  std::vector<int> trees_, group_of_, place_;  // place: of a tree within its group's columns, in DoFs
  std::vector<std::ptrdiff_t> N_start_, K_start_;
  std::vector<int> N_step_;
  AlignedBuffer X_;                       // M̂⁻¹ = X Xᵀ by dense columns, one block per tree
  AlignedBuffer K_, K_hat_;               // per tree: coordinates × rows
  AlignedBuffer Lt_;                      // −L̂, a column of padded(coordinates) per DoF
  std::vector<std::ptrdiff_t> Lt_start_;  // per tree
  AlignedBuffer N_;
  std::size_t N_size_ = 0;
  AlignedBuffer J_;              // Ĵ, laid out as Lt_
  AlignedBuffer DB_, residual_;  // D̃ B#, and a few columns of coordinates
  AlignedBuffer weights_;
  std::vector<WeightedColumns> terms_;
  std::vector<PathRun> path_runs_;  // of every chain, from the root to itself
  std::vector<int> first_run_;
  bool finite_ = true;
  LayoutStamp layout_;
};

}  // namespace lithe::internal

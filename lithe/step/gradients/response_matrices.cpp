#include "lithe/step/gradients/response_matrices.h"

#include <algorithm>

#include "lithe/dynamics/internal/column_products.h"
#include "lithe/linalg/padded_matrix.h"
#include "lithe/linalg/symmetric_matrix.h"
#include "lithe/simd/internal/finite.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe::internal {

namespace {

// to[i][j] = −from[j][i] for `columns` columns of `rows` numbers (both padded).
void transpose_negative(const double* from, int from_stride, int rows, int columns, double* to, int to_stride) {
  for (int i = 0; i < rows; i += kLanes) {
    for (int j = 0; j < columns; j += kLanes) {
      Pack x[kLanes];
      for (int k = 0; k < kLanes; ++k) x[k] = j + k < columns ? -as_pack(from + (j + k) * from_stride + i) : Pack{};
      transpose(x[0], x[1], x[2], x[3]);
      for (int k = 0; k < std::min(kLanes, rows - i); ++k) as_pack(to + (i + k) * to_stride + j) = x[k];
    }
  }
}

// W of a touch combined by the forms of a patch: a row along the touch's path for each of them. Returns what follows.
double* combine_rows(const TouchSpace& space, const Touch& touch, const double* form, const Patch& patch, double* to) {
  const double* W = space.W.data() + touch.W_start;
  for (int c = 0; c < patch.row_count; ++c) {
    for (int g = 0; g < touch.packs; ++g, to += kLanes) {
      Pack sum = {};
      for (int k = 0; k < touch.size; ++k) {
        sum += broadcast(form[k * patch.stride + c]) * as_pack(W + kLanes * (k * touch.packs + g));
      }
      as_pack(to) = sum;
    }
  }
  return to;
}

}  // namespace

// Groups in the order of their first trees, and where each tree's columns are in its group.
void ResponseMatrices::find_groups(const DofTree& tree, const ContactProblem& problem) {
  const auto count = static_cast<int>(tree.trees.size());
  groups_.clear();
  group_of_.resize(count);
  place_.resize(count);
  trees_.resize(count);
  const bool constrained = !problem.rows.empty();
  const int islands = constrained ? problem.island_count() : 0;
  // Islands are ordered by their first tree, so a tree's island is new exactly when its number is the next one.
  int next_island = 0;
  island_group_.resize(islands);
  for (int t = 0; t < count; ++t) {
    const int island = constrained ? problem.islands.island_of(t) : -1;
    if (island >= 0 && island < next_island) {
      group_of_[t] = island_group_[island];
      ++groups_[group_of_[t]].tree_count;
      continue;
    }
    if (island >= 0) {
      island_group_[island] = static_cast<int>(groups_.size());
      next_island = island + 1;
    }
    group_of_[t] = static_cast<int>(groups_.size());
    groups_.push_back({.island = island, .tree_count = 1});
  }
  int first = 0;
  for (Group& group : groups_) {
    group.first_tree = first;
    first += group.tree_count;
    group.tree_count = 0;
  }
  for (int t = 0; t < count; ++t) {
    Group& group = groups_[group_of_[t]];
    place_[t] = 0;
    if (group.tree_count > 0) {
      const int before = trees_[group.first_tree + group.tree_count - 1];
      place_[t] = place_[before] + tree.trees[before].dof_count;
    }
    trees_[group.first_tree + group.tree_count++] = t;
  }
}

// Where each tree's rows of N and K begin, which have all columns of its group, and its columns of L̂.
void ResponseMatrices::lay_out(const DofTree& tree, const ModeResponse& response) {
  const std::size_t count = tree.trees.size();
  N_start_.resize(count);
  N_step_.resize(count);
  K_start_.resize(count);
  Lt_start_.resize(count);
  std::ptrdiff_t N_size = 0, K_size = 0, Lt_size = 0;
  for (const Group& group : groups_) {
    const int coordinates = group.island < 0 ? 0 : response.parts()[group.island].size;
    const int last = trees_[group.first_tree + group.tree_count - 1];
    const int dofs = place_[last] + tree.trees[last].dof_count;
    for (const int t : trees_of(group)) {
      const DofTree::Tree& part = tree.trees[t];
      N_start_[t] = N_size;
      N_step_[t] = part.column_stride;
      N_size += static_cast<std::ptrdiff_t>(dofs) * part.column_stride;
      K_start_[t] = K_size;
      K_size += static_cast<std::ptrdiff_t>(coordinates) * part.column_stride;
      Lt_start_[t] = Lt_size;
      Lt_size += static_cast<std::ptrdiff_t>(padded(coordinates)) * part.dof_count;
    }
  }
  N_size_ = static_cast<std::size_t>(N_size);
  grow(N_, N_size);
  grow(K_, K_size);
  grow(K_hat_, K_size);
  grow(Lt_, Lt_size);
}

// The chains from the root to each chain, as runs of DoFs.
void ResponseMatrices::list_paths(const DofTree& tree) {
  path_runs_.clear();
  first_run_.assign(1, 0);
  for (const DofTree::Chain& chain : tree.chains) {
    const int root = tree.trees[chain.tree].first_dof;
    if (chain.parent >= 0) {
      const std::vector<PathRun> above(path_runs_.begin() + first_run_[chain.parent],
                                       path_runs_.begin() + first_run_[chain.parent + 1]);
      path_runs_.insert(path_runs_.end(), above.begin(), above.end());
    }
    path_runs_.push_back({.first = chain.first_dof - root,
                          .count = chain.dof_count,
                          .position = chain.path_begin,
                          .row_end = chain.subtree_end - root});
    first_run_.push_back(static_cast<int>(path_runs_.size()));
  }
}

// X by dense columns, from the rows along paths that the inverse factor keeps.
void ResponseMatrices::fill_X(const DofTree& tree, const InverseFactor& inverse) {
  if (layout_.changed(tree)) {
    X_.assign(tree.column_storage, 0.0);  // what is zero stays zero
    list_paths(tree);
  }
  for (const DofTree::Chain& chain : tree.chains) {
    const DofTree::Tree& part = tree.trees[chain.tree];
    const int stride = part.column_stride;
    double* block = &X_[tree.column_start[part.first_dof]] - part.first_dof;
    // Column by column: the chain's rows are neighbours there, and beyond a DoF's own place its row is zero.
    const int* row_start = tree.row_start.data() + chain.first_dof;
    for (const PathRun& run : path_of(tree.chain[chain.first_dof])) {
      double* to = block + run.first * stride + chain.first_dof;
      for (int k = run.position; k < run.position + run.count; ++k, to += stride) {
        for (int i = 0; i < chain.dof_count; ++i) to[i] = inverse.rows[row_start[i] + k];
      }
    }
  }
}

// The columns of X on the path to `chain`, weighted by numbers along the path: there are `length` of them for each column of the
// result, as a path may end before its last chain does. A chain's columns are zero but for the rows behind it.
void ResponseMatrices::add_path_terms(const DofTree& tree, int chain, const double* weights, int length) {
  const DofTree::Tree& part = tree.trees[tree.chains[chain].tree];
  const double* X = &X_[tree.column_start[part.first_dof]];
  for (const PathRun& run : path_of(chain)) {
    terms_.push_back({.columns = X + run.first * part.column_stride,
                      .weights = weights + run.position,
                      .count = std::min(run.count, length - run.position),
                      .column_stride = part.column_stride,
                      .weight_stride = length,
                      .row_begin = run.first,
                      .row_end = run.row_end});
  }
}

// M̂⁻¹ J_Fᵀ formsᵀ = X Wᵀ formsᵀ. The forms combine W's rows first, because these are only as long as the touch's path.
void ResponseMatrices::multiply_forms(const DofTree& tree, const ContactProblem& problem, const ModeResponse& response,
                                      const double* forms, double* out) {
  const TouchSpace& space = problem.touches;
  for (const Group& group : groups_) {
    if (group.island < 0) continue;
    const ModeResponse::Part& part = response.parts()[group.island];
    for (const Patch& patch : response.patches_of(problem, group.island)) {
      if (patch.row_count == 0) continue;
      for (const int t : trees_of(group)) {
        const DofTree::Tree& rows = tree.trees[t];
        double* columns =
            out + K_start_[t] + static_cast<std::ptrdiff_t>(patch.first_row - part.first) * rows.column_stride;
        // The touches of this patch that are in this tree, with W's rows combined along their paths.
        const double* weights[2];
        const Touch* touched[2];
        int count = 0;
        const double* form = forms + patch.start;
        grow(weights_, static_cast<std::size_t>(2) * patch.row_count * padded(tree.nv + kLanes) + kLanes);
        double* to = weights_.data();
        for (const int index : {patch.touch_a, patch.touch_b}) {
          if (index < 0) continue;
          const Touch& touch = space.touches[index];
          if (tree.chains[tree.chain[touch.dof]].tree == t) {
            weights[count] = to;
            touched[count++] = &touch;
            to = combine_rows(space, touch, form, patch, to);
          }
          form += touch.size * patch.stride;
        }
        for_each_few_columns(patch.row_count, [&]<int Columns>(int column) {
          terms_.clear();
          for (int k = 0; k < count; ++k) {
            const int length = touched[k]->packs * kLanes;
            add_path_terms(tree, tree.chain[touched[k]->dof], weights[k] + column * length, length);
          }
          sum_columns<Columns>(terms_, 0, padded(rows.dof_count), columns + column * rows.column_stride,
                               rows.column_stride);
        });
      }
    }
  }
}

// K = K̂ B#, and −L̂, which is −K̂ᵀ where nothing slides, since P̃ᵀ = R there.
void ResponseMatrices::fill_K(const DofTree& tree, const ContactProblem& problem, const ModeResponse& response) {
  const auto negative_transpose = [&](const Group& group, const double* from) {
    const ModeResponse::Part& part = response.parts()[group.island];
    for (const int t : trees_of(group)) {
      const DofTree::Tree& rows = tree.trees[t];
      transpose_negative(from + K_start_[t], rows.column_stride, rows.dof_count, part.size, Lt_.data() + Lt_start_[t],
                         padded(part.size));
    }
  };
  bool sliding = false;
  for (const ModeResponse::Part& part : response.parts()) sliding = sliding || part.sliding;
  if (sliding) {
    multiply_forms(tree, problem, response, response.R(), K_hat_.data());
    for (const Group& group : groups_) {
      if (group.island >= 0) negative_transpose(group, K_hat_.data());
    }
  }
  multiply_forms(tree, problem, response, response.Pt(), K_hat_.data());
  for (const Group& group : groups_) {
    if (group.island < 0) continue;
    if (!sliding) negative_transpose(group, K_hat_.data());
    const ModeResponse::Part& part = response.parts()[group.island];
    const double* B = response.inverse(part);
    for (const int t : trees_of(group)) {
      const DofTree::Tree& rows = tree.trees[t];
      const double* from = K_hat_.data() + K_start_[t];
      double* to = K_.data() + K_start_[t];
      for_each_few_columns(part.size, [&]<int Columns>(int column) {
        const WeightedColumns all = {.columns = from,
                                     .weights = B + column * part.stride,
                                     .count = part.size,
                                     .column_stride = rows.column_stride,
                                     .weight_stride = part.stride,
                                     .row_begin = 0,
                                     .row_end = rows.column_stride};
        sum_columns<Columns>(std::span(&all, 1), 0, padded(rows.dof_count), to + column * rows.column_stride,
                             rows.column_stride);
      });
    }
  }
}

// One block of N = M̂⁻¹ − K L̂; between two trees M̂⁻¹ is zero.
void ResponseMatrices::fill_N(const DofTree& tree, const InverseFactor& inverse, const ModeResponse& response,
                              const Group& group, int row_tree, int column_tree) {
  const DofTree::Tree& rows = tree.trees[row_tree];
  const DofTree::Tree& columns = tree.trees[column_tree];
  const int coordinates = group.island < 0 ? 0 : response.parts()[group.island].size;
  const int Lt_stride = padded(coordinates);
  double* block = N_.data() + N_start(row_tree, column_tree);
  // Where nothing slides N is symmetric: the rows above the diagonal follow.
  const bool symmetric = row_tree == column_tree && (group.island < 0 || !response.parts()[group.island].sliding);
  for (int c = columns.first_chain; c < columns.chain_end; ++c) {
    const DofTree::Chain& chain = tree.chains[c];
    const int first = chain.first_dof - columns.first_dof;
    for_each_few_columns(chain.dof_count, [&]<int Columns>(int column) {
      const int skipped = symmetric ? (first + column) / kLanes * kLanes : 0;
      terms_.clear();
      if (row_tree == column_tree) {
        // Beyond a DoF's own place its row of X is zero.
        add_path_terms(tree, c, inverse.rows.data() + tree.row_start[chain.first_dof + column], chain.path_length);
      }
      if (coordinates > 0) {
        terms_.push_back({.columns = K_.data() + K_start_[row_tree],
                          .weights = Lt_.data() + Lt_start_[column_tree] + (first + column) * Lt_stride,
                          .count = coordinates,
                          .column_stride = rows.column_stride,
                          .weight_stride = Lt_stride,
                          .row_begin = 0,
                          .row_end = rows.column_stride});
      }
      double* to = block + (first + column) * rows.column_stride;
      finite_ = sum_columns<Columns>(terms_, skipped, padded(rows.dof_count), to, rows.column_stride) && finite_;
    });
  }
  if (symmetric) mirror_lower_triangle(block, rows.dof_count, rows.column_stride);
}

// Ĵ = R J_F, a column of coordinates for each DoF.
void ResponseMatrices::fill_J(const DofTree& tree, const StepRecord& record, const ModeResponse& response,
                              const Group& group) {
  const TouchSpace& space = problem_of(record).touches;
  const ModeResponse::Part& part = response.parts()[group.island];
  grow(J_, Lt_.size());
  for (const int t : trees_of(group)) {
    std::fill_n(J_.data() + Lt_start_[t], static_cast<std::ptrdiff_t>(part.stride) * tree.trees[t].dof_count, 0.0);
  }
  const Lanes<6>& S = stages_of(record).kin.S;
  for (const Patch& patch : response.patches_of(problem_of(record), group.island)) {
    const double* form = response.R() + patch.start;
    for (const int index : {patch.touch_a, patch.touch_b}) {
      if (index < 0) continue;
      const Touch& touch = space.touches[index];
      const int t = tree.chains[tree.chain[touch.dof]].tree;
      const int end = touch.size == 1 ? tree.parent[touch.dof] : -1;
      for (int dof = touch.dof; dof != end; dof = tree.parent[dof]) {
        double* to =
            J_.data() + Lt_start_[t] + (dof - tree.trees[t].first_dof) * part.stride + patch.first_row - part.first;
        for (int k = 0; k < touch.size; ++k) {
          const double axis = touch.size == 1 ? 1 : S.at(k, tree.slot[dof]);
          for (int c = 0; c < patch.row_count; ++c) to[c] += axis * form[k * patch.stride + c];
        }
      }
      form += touch.size * patch.stride;
    }
  }
}

// D̃ B#, and room for what is left of a few columns.
void ResponseMatrices::fill_DB(const ModeResponse& response, const ModeResponse::Part& part) {
  grow(DB_, static_cast<std::size_t>(part.stride) * part.size);
  grow(residual_, static_cast<std::size_t>(part.stride) * kTileColumns);
  for (int k = 0; k < part.size; ++k) {
    const double* B = response.inverse(part) + k * part.stride;
    double* to = DB_.data() + k * part.stride;
    std::fill_n(to, part.stride, 0.0);
    for (int i = 0; i < part.size; ++i) to[i] = response.compliance(part.first + i) * B[i];
  }
}

// Ĵ's columns of one tree, for weights of the tree's DoFs.
void ResponseMatrices::add_J_term(const DofTree& tree, int t, const ModeResponse::Part& part, const double* weights,
                                  int weight_stride) {
  terms_.push_back({.columns = J_.data() + Lt_start_[t],
                    .weights = weights,
                    .count = tree.trees[t].dof_count,
                    .column_stride = part.stride,
                    .weight_stride = weight_stride,
                    .row_begin = 0,
                    .row_end = part.stride});
}

// K −= K (Ĵ K + D̃ B# − I), with the K of before on both sides.
void ResponseMatrices::correct_K(const DofTree& tree, const ModeResponse::Part& part, const Group& group) {
  for (const int t : trees_of(group)) {
    std::copy_n(K(t), static_cast<std::ptrdiff_t>(part.size) * tree.trees[t].column_stride,
                K_hat_.data() + K_start_[t]);
  }
  for_each_few_columns(part.size, [&]<int Columns>(int column) {
    terms_.clear();
    for (const int t : trees_of(group)) {
      const int stride = tree.trees[t].column_stride;
      add_J_term(tree, t, part, K_hat_.data() + K_start_[t] + column * stride, stride);
    }
    sum_columns<Columns>(terms_, 0, part.stride, residual_.data(), part.stride);
    for (int c = 0; c < Columns; ++c) {
      const int k = column + c;
      double* residual = residual_.data() + c * part.stride;
      for (int i = 0; i < part.size; ++i) residual[i] += DB_[k * part.stride + i];
      residual[k] -= 1;
      for (const int t : trees_of(group)) {
        const int stride = tree.trees[t].column_stride;
        subtract_product(K_hat_.data() + K_start_[t], stride, part.size, residual, K_.data() + K_start_[t] + k * stride,
                         padded(tree.trees[t].dof_count));
      }
    }
  });
}

// N −= K (Ĵ N − D̃ B# L̂).
void ResponseMatrices::correct_N(const DofTree& tree, const ModeResponse::Part& part, const Group& group) {
  for (const int column_tree : trees_of(group)) {
    for_each_few_columns(tree.trees[column_tree].dof_count, [&]<int Columns>(int column) {
      terms_.clear();
      for (const int t : trees_of(group)) {
        const int stride = tree.trees[t].column_stride;
        add_J_term(tree, t, part, N(t, column_tree) + column * stride, stride);
      }
      terms_.push_back({.columns = DB_.data(),
                        .weights = Lt_.data() + Lt_start_[column_tree] + column * part.stride,
                        .count = part.size,
                        .column_stride = part.stride,
                        .weight_stride = part.stride,
                        .row_begin = 0,
                        .row_end = part.stride});
      sum_columns<Columns>(terms_, 0, part.stride, residual_.data(), part.stride);
      for (int c = 0; c < Columns; ++c) {
        for (const int t : trees_of(group)) {
          const int stride = tree.trees[t].column_stride;
          subtract_product(K(t), stride, part.size, residual_.data() + c * part.stride,
                           N_.data() + N_start(t, column_tree) + (column + c) * stride,
                           padded(tree.trees[t].dof_count));
        }
      }
    });
  }
}

void ResponseMatrices::compute(const Model& model, const StepRecord& record, const ModeResponse& response) {
  const DofTree& tree = model.tree();
  find_groups(tree, problem_of(record));
  lay_out(tree, response);
  finite_ = true;
  fill_X(tree, record.tape().inverse);
  if (!record.f.empty()) fill_K(tree, problem_of(record), response);
  for (const Group& group : groups_) {
    const ModeResponse::Part* part = group.island < 0 ? nullptr : &response.parts()[group.island];
    const bool inexact = part && part->size > 0 && (part->refined || !part->regular);
    if (inexact) {
      fill_J(tree, record, response, group);
      fill_DB(response, *part);
      if (part->regular) correct_K(tree, *part, group);
    }
    for (const int row_tree : trees_of(group)) {
      for (const int column_tree : trees_of(group)) {
        fill_N(tree, record.tape().inverse, response, group, row_tree, column_tree);
      }
    }
    if (inexact) {
      correct_N(tree, *part, group);
      finite_ = finite_ && all_finite(std::span<const double>(N_).first(N_size_));
    }
  }
}

}  // namespace lithe::internal

#include "lithe/step/jacobian_assembler.h"

#include <algorithm>

#include "lithe/dynamics/column_products.h"
#include "lithe/lcp/padded_matrix.h"

namespace lithe {

namespace {

constexpr int kAxes = 12;  // S and Ψ̇ of one DoF

// Rows of a tile into a dense matrix, as many as there are; times `scale`.
template <int Packs>
LITHE_INLINE void store_rows(const Pack (&tile)[Packs], double scale, double* column, int rows_left) {
  const Pack factor = broadcast(scale);
  if (rows_left >= kLanes * Packs) {
    for (int p = 0; p < Packs; ++p) store_anywhere(column + kLanes * p, factor * tile[p]);
  } else {
    for (int k = 0; k < rows_left; ++k) column[k] = scale * tile[k / kLanes][k % kLanes];
  }
}

}  // namespace

JacobianAssembler::JacobianAssembler(const Model& model, const StepRecord& record, StepJacobians::Workspace& work)
    : model_(model),
      tree_(model.tree()),
      record_(record),
      problem_(record.problem),
      work_(work),
      h_(record.options.time_step()) {}

void JacobianAssembler::prepare_columns() {
  InverseDynamicsDerivatives& did = work_.did;
  // ∂r/Δt: springs and armature are diagonal but for balls.
  rnea_derivative_columns(model_, record_.kin, work_.linearization.main.id, 1 / h_, did, record_.control.wrenches);
  for (int dof = 0; dof < tree_.nv; ++dof) {
    const int own = tree_.column_start[dof] + dof - tree_.trees[tree_.chains[tree_.chain[dof]].tree].first_dof;
    did.columns_v[own] -= tree_.armature.at(0, tree_.slot[dof]) / h_;
  }
  for (const int j : tree_.sprung_joints) {
    const DofTree::TreeJoint& joint = tree_.joints[j];
    const int row = joint.dof - tree_.trees[joint.tree].first_dof;
    if (joint.type != JointType::ball) {
      did.columns_q[tree_.column_start[joint.dof] + row] += tree_.resistance[joint.dof].stiffness;
      continue;
    }
    const BallSpring spring = ball_spring(model_, record_, j);
    for (int c = 0; c < 3; ++c) {
      for (int r = 0; r < 3; ++r) {
        did.columns_q[tree_.column_start[joint.dof + c] + row + r] += spring.by_q(r, c) / h_;
        did.columns_v[tree_.column_start[joint.dof + c] + row + r] += spring.by_v(r, c) / h_;
      }
    }
  }
}

// What each touched body's motion S_j and Ψ̇_j does to v⁺: G_S and G_Ψ (rows × 6 each), divided by −Δt.
void JacobianAssembler::prepare_touches() {
  prepare_axes();
  const TouchSpace& space = problem_.touches;
  work_.G_start.resize(space.touches.size());
  std::ptrdiff_t size = 0;
  for (std::size_t t = 0; t < space.touches.size(); ++t) {
    if (space.touches[t].size != 6) continue;
    work_.G_start[t] = size;
    for (const int tree : trees_of(space.touches[t])) size += kAxes * tree_.trees[tree].column_stride;
  }
  grow(work_.G, size);
  for (int t = 0; t < static_cast<int>(space.touches.size()); ++t) {
    if (space.touches[t].size == 6) fill_G(t);
  }
}

// ∂v⁺/∂x = −Δt·(N·columns) + the touches' part, and ∂q⁺/∂x = Δt·∂v⁺/∂x, for x = q (with touches) or v.
void JacobianAssembler::multiply(const AlignedBuffer& columns, bool touches, MatX* dv, MatX* dq) {
  for (const ResponseMatrices::Group& group : work_.matrices.groups()) {
    const auto trees = work_.matrices.trees_of(group);
    for (const int row_tree : trees) {
      for (const int column_tree : trees) {
        for (int c = tree_.trees[column_tree].first_chain; c < tree_.trees[column_tree].chain_end; ++c) {
          const bool touched = touches && group.island >= 0;
          multiply_chain(columns, touched, row_tree, tree_.chains[c], dv, dq);
        }
      }
    }
  }
}

// ∂v⁺/∂τ = Δt·N.
void JacobianAssembler::copy_N(MatX* dv, MatX* dq) {
  for (const ResponseMatrices::Group& group : work_.matrices.groups()) {
    const auto trees = work_.matrices.trees_of(group);
    for (const int row_tree : trees) {
      for (const int column_tree : trees) copy_block(row_tree, column_tree, dv, dq);
    }
  }
}

// Rows that act inside joints: their targets move with the joint itself.
void JacobianAssembler::add_own_touches(MatX* dv, MatX* dq) {
  const TouchSpace& space = problem_.touches;
  for (int p = 0; p < static_cast<int>(problem_.patches.size()); ++p) {
    const Patch& patch = problem_.patches[p];
    const Patch& compressed = work_.linearization.response.patches()[p];
    if (std::max(space.size_of(patch.touch_a), space.size_of(patch.touch_b)) != 1) continue;
    const double* demand = work_.linearization.main.compressed_forms.data() + compressed.start;
    for (const int touch : {patch.touch_a, patch.touch_b}) {
      if (touch < 0) continue;
      add_demand(space.touches[touch], compressed, demand, dv, dq);
      demand += compressed.stride;
    }
  }
}

// Rows with the target −e·J v: by v directly, by q through Ψ̇ under v.
void JacobianAssembler::add_bounces(MatX* dv_dq, MatX* dq_dq, MatX* dv_dv, MatX* dq_dv) {
  for (const auto& [row, restitution] : work_.linearization.main.forms.bouncing) {
    const int p = patch_of(row);
    const Patch& patch = problem_.patches[p];
    const int local = row - patch.first_row;
    for (const bool second : {false, true}) {
      const int touch = second ? patch.touch_b : patch.touch_a;
      if (touch < 0) continue;
      Vec6 form;
      for (int k = 0; k < 6; ++k) form[k] = -restitution * problem_.side(patch, second)[k * patch.stride + local];
      find_response(p, local);
      for (int dof = problem_.touches.touches[touch].dof; dof >= 0; dof = tree_.parent[dof]) {
        const int slot = tree_.slot[dof];
        double by_S = 0, by_Psi = 0;
        for (int k = 0; k < 6; ++k) {
          by_S += form[k] * record_.kin.S.at(k, slot);
          by_Psi += form[k] * record_.kin.Psi_dot.at(k, slot);
        }
        add_column(dof, by_Psi, dv_dq, dq_dq);
        add_column(dof, by_S, dv_dv, dq_dv);
      }
    }
  }
}

std::span<const int> JacobianAssembler::trees_of(const Touch& touch) const {
  const int tree = tree_.chains[tree_.chain[touch.dof]].tree;
  return work_.matrices.trees_of(work_.matrices.groups()[work_.matrices.group_of(tree)]);
}

const ClassResponse::Part& JacobianAssembler::part_of_tree(int tree) const {
  const int island = work_.matrices.groups()[work_.matrices.group_of(tree)].island;
  return work_.linearization.response.parts()[island];
}

void JacobianAssembler::prepare_axes() {
  grow(work_.axes, static_cast<std::size_t>(tree_.nv) * kAxes);
  const Lanes<6>& Psi_dot = work_.linearization.main.Psi_dot;
  for (int dof = 0; dof < tree_.nv; ++dof) {
    double* to = work_.axes.data() + dof * kAxes;
    const int slot = tree_.slot[dof];
    for (int k = 0; k < 6; ++k) {
      to[k] = record_.kin.S.at(k, slot);
      to[6 + k] = Psi_dot.at(k, slot);
    }
  }
}

void JacobianAssembler::fill_G(int t) {
  const TouchSpace& space = problem_.touches;
  const Touch& touch = space.touches[t];
  const int tree = tree_.chains[tree_.chain[touch.dof]].tree;
  const ClassResponse& response = work_.linearization.response;
  const ClassResponse::Part& part = part_of_tree(tree);
  const int island = work_.matrices.groups()[work_.matrices.group_of(tree)].island;
  bool fresh = true;
  for (int p = problem_.first_patch[island]; p < problem_.first_patch[island + 1]; ++p) {
    const Patch& patch = problem_.patches[p];
    const Patch& compressed = response.patches()[p];
    if ((patch.touch_a != t && patch.touch_b != t) || compressed.row_count == 0) continue;
    // −1/Δt times Qᵀ E and −R, twelve columns.
    const bool second = patch.touch_a != t;
    const double* E = problem_.side(work_.linearization.main.compressed_forms.data(), compressed, second);
    const double* R = problem_.side(response.R(), compressed, second);
    double weights[kAxes * kAxes];
    for (int k = 0; k < 6; ++k) {
      for (int c = 0; c < compressed.row_count; ++c) {
        weights[k * kAxes + c] = -E[k * compressed.stride + c] / h_;
        weights[(6 + k) * kAxes + c] = R[k * compressed.stride + c] / h_;
      }
    }
    double* to = work_.G.data() + work_.G_start[t];
    for (const int row_tree : trees_of(touch)) {
      const int stride = tree_.trees[row_tree].column_stride;
      const double* K =
          work_.matrices.K(row_tree) + static_cast<std::ptrdiff_t>(compressed.first_row - part.first) * stride;
      add_products(K, stride, compressed.row_count, weights, kAxes, kAxes, row_tree, fresh, to);
      to += kAxes * stride;
    }
    fresh = false;
  }
  if (fresh) {
    double* to = work_.G.data() + work_.G_start[t];
    for (const int row_tree : trees_of(touch)) {
      std::fill_n(to, kAxes * tree_.trees[row_tree].column_stride, 0.0);
      to += kAxes * tree_.trees[row_tree].column_stride;
    }
  }
  add_pushes(t, island);
}

// to (rows of one tree × columns) = or += Σ_k weights[column][k]·left column k.
void JacobianAssembler::add_products(const double* left, int stride, int count, const double* weights,
                                     int weight_stride, int columns, int row_tree, bool fresh, double* to) const {
  for_each_tile(columns, padded(tree_.trees[row_tree].dof_count), [&]<int Columns, int Packs>(int column, int row) {
    Pack sum[Columns][Packs];
    for (int c = 0; c < Columns; ++c) {
      for (int q = 0; q < Packs; ++q) {
        sum[c][q] = fresh ? Pack{} : as_pack(to + (column + c) * stride + row + kLanes * q);
      }
    }
    add_weighted<Packs, Columns>(left + row, stride, count, weights + column * weight_stride, weight_stride, sum);
    for (int c = 0; c < Columns; ++c) {
      for (int q = 0; q < Packs; ++q) as_pack(to + (column + c) * stride + row + kLanes * q) = sum[c][q];
    }
  });
}

// G_S += N J_Fᵀ T̂, for every side whose wrench moves with this touch.
void JacobianAssembler::add_pushes(int t, int island) {
  for (int p = problem_.first_patch[island]; p < problem_.first_patch[island + 1]; ++p) {
    const Patch& patch = problem_.patches[p];
    const ConstraintForms::Push& push = work_.linearization.main.forms.pushes[p];
    if (push.zero || (patch.touch_a != t && patch.touch_b != t)) continue;
    const bool by_b = patch.touch_a != t;
    if (patch.touch_a >= 0) add_push(t, patch.touch_a, by_b ? push.ab : push.aa);
    if (patch.touch_b >= 0) add_push(t, patch.touch_b, by_b ? push.bb : push.ba);
  }
}

void JacobianAssembler::add_push(int t, int pushed, const Mat6& map) {
  if (work_.linearization.response.holds(pushed)) return;
  const Touch& touch = problem_.touches.touches[pushed];
  const int column_tree = tree_.chains[tree_.chain[touch.dof]].tree;
  const DofTree::Tree& part = tree_.trees[column_tree];
  // −1/Δt·S_iᵀ T̂ for the DoFs of the path, zero elsewhere.
  const int dofs = part.dof_count;
  grow(work_.push_weights, static_cast<std::size_t>(6) * dofs);
  std::fill_n(work_.push_weights.data(), 6 * dofs, 0.0);
  for (int dof = touch.dof; dof >= 0; dof = tree_.parent[dof]) {
    const Eigen::Map<const Vec6> S(work_.axes.data() + dof * kAxes);
    const Vec6 row = -1 / h_ * map.transpose() * S;
    for (int k = 0; k < 6; ++k) work_.push_weights[k * dofs + dof - part.first_dof] = row[k];
  }
  double* to = work_.G.data() + work_.G_start[t];
  for (const int row_tree : trees_of(problem_.touches.touches[t])) {
    const int stride = tree_.trees[row_tree].column_stride;
    const double* N = work_.matrices.N(row_tree, column_tree);
    const DofTree::Chain* chain = &tree_.chains[tree_.chain[touch.dof]];
    for (int count = touch.dof - chain->first_dof + 1;; count = chain->dof_count) {
      const int first = chain->first_dof - part.first_dof;
      add_products(N + first * stride, stride, count, work_.push_weights.data() + first, dofs, 6, row_tree, false, to);
      if (chain->parent < 0) break;
      chain = &tree_.chains[chain->parent];
    }
    to += kAxes * stride;
  }
}

void JacobianAssembler::multiply_chain(const AlignedBuffer& columns, bool touched, int row_tree,
                                       const DofTree::Chain& chain, MatX* dv, MatX* dq) {
  const DofTree::Tree& rows = tree_.trees[row_tree];
  const DofTree::Tree& part = tree_.trees[chain.tree];
  const double* N = work_.matrices.N(row_tree, chain.tree);
  const DofTree::Run* runs = &tree_.comparable_runs[chain.first_run];
  // Bodies that are touched somewhere behind the chain's first DoF. Touches ascend by DoF.
  const std::vector<Touch>& touches = problem_.touches.touches;
  auto first = touches.end(), last = touches.end();
  if (touched) {
    first = std::lower_bound(touches.begin(), touches.end(), chain.first_dof,
                             [](const Touch& touch, int dof) { return touch.dof < dof; });
    for (last = first; last != touches.end() && last->dof < chain.subtree_end;) ++last;
  }
  std::ptrdiff_t G_offset = 0;
  if (first != last) {
    for (const int tree : trees_of(*first)) {
      if (tree == row_tree) break;
      G_offset += kAxes * tree_.trees[tree].column_stride;
    }
  }
  for_each_tile(chain.dof_count, padded(rows.dof_count), [&]<int Columns, int Packs>(int column, int row) {
    const int dof = chain.first_dof + column;
    Pack sum[Columns][Packs];
    weighted_sums<Packs, Columns>(N, rows.column_stride, row, runs, chain.run_count, &columns[tree_.column_start[dof]],
                                  part.column_stride, sum);
    for (auto touch = first; touch != last; ++touch) {
      if (touch->size != 6 || touch->dof < dof) continue;
      const double* axes = work_.axes.data() + dof * kAxes;
      double masked[Columns * kAxes];
      if (touch->dof < dof + Columns - 1) {
        // Only the first of these DoFs move it.
        for (int c = 0; c < Columns; ++c) {
          for (int k = 0; k < kAxes; ++k) masked[c * kAxes + k] = dof + c <= touch->dof ? axes[c * kAxes + k] : 0.0;
        }
        axes = masked;
      }
      const double* G = work_.G.data() + work_.G_start[touch - touches.begin()] + G_offset;
      add_weighted<Packs, Columns>(G + row, rows.column_stride, kAxes, axes, kAxes, sum);
    }
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(dof) * tree_.nv + rows.first_dof + row;
    for (int c = 0; c < Columns; ++c) {
      const int rows_left = rows.dof_count - row;
      if (dv) store_rows(sum[c], -h_, dv->data() + at + c * tree_.nv, rows_left);
      if (dq) store_rows(sum[c], -h_ * h_, dq->data() + at + c * tree_.nv, rows_left);
    }
  });
}

void JacobianAssembler::copy_block(int row_tree, int column_tree, MatX* dv, MatX* dq) const {
  const DofTree::Tree& rows = tree_.trees[row_tree];
  const DofTree::Tree& columns = tree_.trees[column_tree];
  const double* N = work_.matrices.N(row_tree, column_tree);
  for (int j = 0; j < columns.dof_count; ++j, N += rows.column_stride) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(columns.first_dof + j) * tree_.nv + rows.first_dof;
    for (int row = 0; row < rows.dof_count; row += kLanes) {
      const Pack tile[1] = {as_pack(N + row)};
      if (dv) store_rows(tile, h_, dv->data() + at + row, rows.dof_count - row);
      if (dq) store_rows(tile, h_ * h_, dq->data() + at + row, rows.dof_count - row);
    }
  }
}

int JacobianAssembler::patch_of(int row) const {
  int p = 0;
  while (row >= problem_.patches[p].first_row + problem_.patches[p].row_count) ++p;
  return p;
}

// K's answer to a unit demand of one row, into work_.answer (over the group's trees, one after the other).
void JacobianAssembler::find_response(int p, int local_row) {
  const Patch& patch = problem_.patches[p];
  const Patch& compressed = work_.linearization.response.patches()[p];
  const double* Q = work_.linearization.response.Q(p);
  double demand[kAxes];
  for (int c = 0; c < compressed.row_count; ++c) demand[c] = Q[c * patch.stride + local_row];
  work_.answer.setZero(tree_.nv);
  add_answer(compressed, demand, work_.answer.data());
}

void JacobianAssembler::add_answer(const Patch& compressed, const double* demand, double* answer) const {
  const int touch = std::max(compressed.touch_a, compressed.touch_b);
  for (const int t : trees_of(problem_.touches.touches[touch])) {
    const DofTree::Tree& rows = tree_.trees[t];
    const double* K = work_.matrices.K(t) +
                      static_cast<std::ptrdiff_t>(compressed.first_row - part_of_tree(t).first) * rows.column_stride;
    for (int c = 0; c < compressed.row_count; ++c, K += rows.column_stride) {
      for (int i = 0; i < rows.dof_count; ++i) answer[rows.first_dof + i] += K[i] * demand[c];
    }
  }
}

void JacobianAssembler::add_demand(const Touch& touch, const Patch& compressed, const double* demand, MatX* dv,
                                   MatX* dq) const {
  bool any = false;
  for (int c = 0; c < compressed.row_count; ++c) any = any || demand[c] != 0;
  if (!any) return;
  work_.answer.setZero(tree_.nv);
  add_answer(compressed, demand, work_.answer.data());
  add_column(touch.dof, 1, dv, dq);
}

void JacobianAssembler::add_column(int dof, double factor, MatX* dv, MatX* dq) const {
  if (dv) dv->col(dof) += factor * work_.answer;
  if (dq) dq->col(dof) += h_ * factor * work_.answer;
}

}  // namespace lithe

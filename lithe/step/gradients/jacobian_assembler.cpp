#include "lithe/step/gradients/jacobian_assembler.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lithe/dynamics/internal/column_products.h"
#include "lithe/linalg/padded_matrix.h"
#include "lithe/simd/internal/finite.h"

namespace lithe::internal {

namespace {

constexpr int kTwist = 6;

// How many numbers x is past an aligned address.
int past_alignment(const double* x) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(x) / sizeof(double) % kLanes);
}

// `count` numbers into a column of each of `Blocks` dense matrices, which start equally far from an aligned address; times `scale`
// each. Columns start anywhere, and stores across cache lines are dear: only the first and the last one are not aligned, and
// overlap their neighbours.
template <int Blocks>
LITHE_INLINE void store_scaled(const double* from, int count, const double (&scale)[Blocks],
                               double* const (&to)[Blocks]) {
  if (count < kLanes) {
    for (int b = 0; b < Blocks; ++b) {
      for (int k = 0; k < count; ++k) to[b][k] = scale[b] * from[k];
    }
    return;
  }
  const Pack head = load_anywhere(from), tail = load_anywhere(from + count - kLanes);
  for (int b = 0; b < Blocks; ++b) {
    store_anywhere(to[b], broadcast(scale[b]) * head);
    store_anywhere(to[b] + count - kLanes, broadcast(scale[b]) * tail);
  }
  for (int k = kLanes - past_alignment(to[0]); k + kLanes <= count; k += kLanes) {
    const Pack x = load_anywhere(from + k);
    for (int b = 0; b < Blocks; ++b) as_pack(to[b] + k) = broadcast(scale[b]) * x;
  }
}

bool all_zero(const double* block, int stride, int rows, int columns) {
  for (int c = 0; c < columns; ++c) {
    for (int r = 0; r < rows; ++r) {
      if (block[c * stride + r] != 0) return false;
    }
  }
  return true;
}

}  // namespace

JacobianAssembler::JacobianAssembler(const Model& model, const StepRecord& record, StepJacobiansWorkspace& work)
    : model_(model),
      tree_(model.tree()),
      record_(record),
      stages_(mass_stages_of(model, record)),
      problem_(stages_.problem),
      work_(work),
      h_(record.options.time_step) {
  prepare_turns();
}

// How balls take the tangent of q, and Δt v⁺, on to the tangent of q⁺.
void JacobianAssembler::prepare_turns() {
  work_.turns.clear();
  for (const int dof : tree_.balls) {
    const BallMotion motion = ball_motion(record_, dof);
    const Mat3 turn = motion.by_v / h_;
    StepJacobiansWorkspace::BallTurn ball = {.dof = dof, .columns = {}, .by_q = motion.by_q};
    for (int c = 0; c < 3; ++c) ball.columns[c] = Pack{turn(0, c), turn(1, c), turn(2, c), 0};
    work_.turns.push_back(ball);
  }
}

void JacobianAssembler::prepare_columns() {
  prepare_derivative_columns(model_, stages_.kin, work_.linearization.main.id, 1 / h_, stages_.M, work_.did,
                             record_.control.wrenches);
}

// ∂r/Δt by the DoFs of one chain: ∂ID, and springs and armature, which are diagonal but for balls.
void JacobianAssembler::write_columns(const DofTree::Chain& chain) {
  const DofTree::Tree& part = tree_.trees[chain.tree];
  const std::size_t size = static_cast<std::size_t>(chain.dof_count) * part.column_stride;
  grow(work_.columns_q, size);
  grow(work_.columns_v, size);
  write_derivative_columns(tree_, chain, stages_.kin, stages_.M.IS, work_.did, work_.columns_q.data(),
                           work_.columns_v.data());
  const auto place = [&](int row, int dof) {
    return (dof - chain.first_dof) * part.column_stride + row - part.first_dof;
  };
  const int end = chain.first_dof + chain.dof_count;
  const double rate = 1 / h_;
  for (int dof = chain.first_dof; dof < end; ++dof) {
    work_.columns_v[place(dof, dof)] -= rate * tree_.armature.at(0, tree_.slot[dof]);
  }
  const auto dof_of = [&](int j) { return tree_.joints[j].dof; };
  auto sprung = std::ranges::lower_bound(tree_.sprung_joints, chain.first_dof, {}, dof_of);
  for (; sprung != tree_.sprung_joints.end() && dof_of(*sprung) < end; ++sprung) {
    const int first = dof_of(*sprung);
    if (tree_.joints[*sprung].type != JointType::ball) {
      work_.columns_q[place(first, first)] += tree_.resistance[first].stiffness;
      continue;
    }
    const BallSpring spring = ball_spring(model_, record_, *sprung);
    for (int c = 0; c < 3; ++c) {
      for (int r = 0; r < 3; ++r) {
        work_.columns_q[place(first + r, first + c)] += rate * spring.by_q(r, c);
        work_.columns_v[place(first + r, first + c)] += rate * spring.by_v(r, c);
      }
    }
  }
}

// The sides of the patches, by touch.
void JacobianAssembler::prepare_touches() {
  const std::size_t touches = problem_.touches.touches.size();
  const auto for_each_side = [&](auto visit) {
    for (int p = 0; p < static_cast<int>(problem_.patches.size()); ++p) {
      const Patch& patch = problem_.patches[p];
      if (patch.touch_a >= 0) visit(patch.touch_a, p, false);
      if (patch.touch_b >= 0) visit(patch.touch_b, p, true);
    }
  };
  std::vector<int>& first = work_.first_side;
  first.assign(touches + 2, 0);
  for_each_side([&](int touch, int, bool) { ++first[touch + 2]; });
  for (std::size_t t = 0; t < touches; ++t) first[t + 2] += first[t + 1];
  work_.sides.resize(first[touches + 1]);
  // first[touch + 1] goes from a list's start to its end, which is the start of the next.
  for_each_side([&](int touch, int p, bool second) { work_.sides[first[touch + 1]++] = {p, second}; });
}

// Chain by chain: the columns of ∂r by one chain are written and used at once.
void JacobianAssembler::multiply(MatX* dv_dq, MatX* dq_dq, MatX* dv_dv, MatX* dq_dv) {
  for (const ResponseMatrices::Group& group : work_.matrices.groups()) {
    for (const int column_tree : work_.matrices.trees_of(group)) {
      const DofTree::Tree& part = tree_.trees[column_tree];
      for (int c = part.first_chain; c < part.chain_end; ++c) {
        const DofTree::Chain& chain = tree_.chains[c];
        write_columns(chain);
        if (dv_dq || dq_dq) multiply_chain(work_.columns_q, group.island >= 0, group, chain, dv_dq, dq_dq);
        if (dv_dv || dq_dv) multiply_chain(work_.columns_v, false, group, chain, dv_dv, dq_dv);
      }
    }
  }
}

// ∂v⁺/∂τ = Δt·N.
void JacobianAssembler::copy_N(MatX* dv, MatX* dq) {
  if (!work_.matrices.finite()) bounded_ = false;
  for (const ResponseMatrices::Group& group : work_.matrices.groups()) {
    const auto trees = work_.matrices.trees_of(group);
    for (const int row_tree : trees) {
      for (const int column_tree : trees) copy_block(row_tree, column_tree, dv, dq);
    }
  }
}

void JacobianAssembler::add_identity(MatX& dq_dq) const {
  dq_dq.diagonal().array() += 1;
  for (const auto& [dof, columns, by_q] : work_.turns) dq_dq.block<3, 3>(dof, dof) += by_q - Mat3::Identity();
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
          by_S += form[k] * stages_.kin.S.at(k, slot);
          by_Psi += form[k] * stages_.kin.Psi_dot.at(k, slot);
        }
        add_column(dof, by_Psi, dv_dq, dq_dq);
        add_column(dof, by_S, dv_dv, dq_dv);
      }
    }
  }
}

int JacobianAssembler::tree_of(const Touch& touch) const { return tree_.chains[tree_.chain[touch.dof]].tree; }

std::span<const int> JacobianAssembler::trees_of(const Touch& touch) const {
  return work_.matrices.trees_of(work_.matrices.groups()[work_.matrices.group_of(tree_of(touch))]);
}

const ModeResponse::Part& JacobianAssembler::part_of_tree(int tree) const {
  const int island = work_.matrices.groups()[work_.matrices.group_of(tree)].island;
  return work_.linearization.response.parts()[island];
}

// Appends room for `count` weights and returns where it starts; what it holds before is not defined.
int JacobianAssembler::add_weights(int count) {
  const int start = work_.weight_count;
  work_.weight_count += padded(count);
  grow(work_.weights, work_.weight_count);
  return start;
}

// What the motion of a touch by some DoFs asks of the rows of one patch: K Qᵀ (E S_j − T Ψ̇_j).
template <int Columns>
void JacobianAssembler::add_demand(const Side& side, const Touch& touch, int dof, int first_row) {
  const Patch& compressed = work_.linearization.response.patches()[side.patch];
  if (compressed.row_count == 0) return;
  const int stride = compressed.stride;
  const double* E = problem_.side(work_.linearization.main.compressed_forms.data(), compressed, side.second);
  const double* R = problem_.side(work_.linearization.response.R(), compressed, side.second);
  const int start = add_weights(Columns * stride);
  const int moving = std::min(Columns, touch.dof - dof + 1);  // the first ones
  const Pack rate = broadcast(-1 / h_);
  const double* S[Columns];
  const double* Psi_dot[Columns];
  for (int c = 0; c < Columns; ++c) {
    S[c] = stages_.kin.S.rows_of(tree_.slot[dof + c]);
    Psi_dot[c] = work_.linearization.main.Psi_dot.rows_of(tree_.slot[dof + c]);
  }
  for (int r = 0; r < stride; r += kLanes) {
    Pack by_S[Columns] = {}, by_Psi[Columns] = {};
    if (touch.size == 1) {
      by_S[moving - 1] = as_pack(E + r);  // the DoF itself
    } else {
      for (int k = 0; k < kTwist; ++k) {
        const Pack e = as_pack(E + k * stride + r), t = as_pack(R + k * stride + r);
        for (int c = 0; c < Columns; ++c) {
          by_S[c] += broadcast(S[c][kLanes * k]) * e;
          by_Psi[c] += broadcast(Psi_dot[c][kLanes * k]) * t;
        }
      }
    }
    for (int c = 0; c < Columns; ++c) {
      as_pack(&work_.weights[start + c * stride + r]) = c < moving ? rate * (by_S[c] - by_Psi[c]) : Pack{};
    }
  }
  work_.touch_terms.push_back({.tree = -1,
                               .first = compressed.first_row - first_row,
                               .count = compressed.row_count,
                               .weights = start,
                               .weight_stride = stride});
}

Vec6 JacobianAssembler::axis(int dof) const {
  Vec6 S;
  for (int k = 0; k < kTwist; ++k) S[k] = stages_.kin.S.at(k, tree_.slot[dof]);
  return S;
}

// How it moves the wrench on another touch, or on itself: N J_Fᵀ T̂ S_j, along the pushed touch's path.
template <int Columns>
void JacobianAssembler::add_push(const Touch& touch, const Touch& pushed, const Mat6& map, int dof) {
  Vec6 moved[Columns];
  for (int c = 0; c < Columns; ++c) {
    moved[c].setZero();
    if (dof + c <= touch.dof) moved[c] = -1 / h_ * map * axis(dof + c);
  }
  const int tree = tree_of(pushed);
  const DofTree::Chain* chain = &tree_.chains[tree_.chain[pushed.dof]];
  for (int count = pushed.dof - chain->first_dof + 1;; count = chain->dof_count) {
    const int start = add_weights(Columns * count);
    for (int i = 0; i < count; ++i) {
      const Vec6 S = axis(chain->first_dof + i);
      for (int c = 0; c < Columns; ++c) work_.weights[start + c * count + i] = S.dot(moved[c]);
    }
    work_.touch_terms.push_back({.tree = tree,
                                 .first = chain->first_dof - tree_.trees[tree].first_dof,
                                 .count = count,
                                 .weights = start,
                                 .weight_stride = count});
    if (chain->parent < 0) return;
    chain = &tree_.chains[chain->parent];
  }
}

// What the touches behind a chain add to the columns of some of its DoFs. Touches ascend by DoF.
template <int Columns>
void JacobianAssembler::list_touch_terms(const DofTree::Chain& chain, int dof) {
  work_.touch_terms.clear();
  work_.weight_count = 0;
  const std::vector<Touch>& touches = problem_.touches.touches;
  const ModeResponse& response = work_.linearization.response;
  const int first_row = part_of_tree(chain.tree).first;
  auto touch = std::lower_bound(touches.begin(), touches.end(), dof,
                                [](const Touch& one, int first_dof) { return one.dof < first_dof; });
  for (; touch != touches.end() && touch->dof < chain.subtree_end; ++touch) {
    if (touch->size == 1 && touch->dof >= dof + Columns) continue;
    const auto t = touch - touches.begin();
    for (int k = work_.first_side[t]; k < work_.first_side[t + 1]; ++k) {
      const Side& side = work_.sides[k];
      add_demand<Columns>(side, *touch, dof, first_row);
      const Patch& patch = problem_.patches[side.patch];
      const ConstraintForms::Push& push = work_.linearization.main.forms.pushes[side.patch];
      if (push.zero) continue;
      const auto add = [&](int pushed, const Mat6& map) {
        if (pushed >= 0 && !response.holds(pushed)) add_push<Columns>(*touch, touches[pushed], map, dof);
      };
      add(patch.touch_a, side.second ? push.ab : push.aa);
      add(patch.touch_b, side.second ? push.bb : push.ba);
    }
  }
}

// A few columns at a time. Columns of N and K are added up, weighted by ∂r and by what the touches ask for.
void JacobianAssembler::multiply_chain(const AlignedBuffer& columns, bool touched, const ResponseMatrices::Group& group,
                                       const DofTree::Chain& chain, MatX* dv, MatX* dq) {
  const DofTree::Tree& part = tree_.trees[chain.tree];
  const auto runs = std::span(tree_.comparable_runs).subspan(chain.first_run, chain.run_count);
  for_each_few_columns(chain.dof_count, [&]<int Columns>(int column) {
    const int dof = chain.first_dof + column;
    const double* weights = &columns[column * part.column_stride];
    // No force depends on where a floating base is.
    const bool zero = dof == part.first_dof && all_zero(weights, part.column_stride, part.dof_count, Columns);
    work_.touch_terms.clear();
    if (touched) list_touch_terms<Columns>(chain, dof);
    for (const int row_tree : work_.matrices.trees_of(group)) {
      const DofTree::Tree& rows = tree_.trees[row_tree];
      const int stride = rows.column_stride;
      const auto add_term = [&](const double* left, int first, int count, const double* factors, int factor_stride) {
        work_.terms.push_back({.columns = left + static_cast<std::ptrdiff_t>(first) * stride,
                               .weights = factors,
                               .count = count,
                               .column_stride = stride,
                               .weight_stride = factor_stride,
                               .row_begin = 0,
                               .row_end = stride});
      };
      work_.terms.clear();
      const double* N = work_.matrices.N(row_tree, chain.tree);
      for (const DofTree::Run& run : runs) {
        if (!zero) add_term(N, run.first, run.count, weights + run.first, part.column_stride);
      }
      for (const TouchTerm& term : work_.touch_terms) {
        const double* left = term.tree < 0 ? work_.matrices.K(row_tree) : work_.matrices.N(row_tree, term.tree);
        add_term(left, term.first, term.count, &work_.weights[term.weights], term.weight_stride);
      }
      grow(work_.sums, static_cast<std::size_t>(Columns) * stride);
      if (!sum_columns<Columns>(work_.terms, 0, padded(rows.dof_count), work_.sums.data(), stride)) bounded_ = false;
      for (int c = 0; c < Columns; ++c) {
        write_column(work_.sums.data() + c * stride, rows, -h_, dof + c, dv, dq);
      }
    }
  });
}

// ∂q⁺ of balls, over what their DoFs would have if they slid. What follows a ball's three numbers is written as it was.
LITHE_INLINE void JacobianAssembler::turn_balls(const double* from, const DofTree::Tree& rows, double scale,
                                                double* to) const {
  for (const auto& [dof, columns, by_q] : work_.turns) {
    const int row = dof - rows.first_dof;
    if (row < 0 || row >= rows.dof_count) continue;
    const double* x = from + row;
    const Pack rest = unit_lane(kLanes - 1) * load_anywhere(x);
    const Pack turned =
        columns[0] * broadcast(x[0]) + columns[1] * broadcast(x[1]) + (columns[2] * broadcast(x[2]) + rest);
    if (row + kLanes <= rows.dof_count) {
      store_anywhere(to + row, broadcast(scale) * turned);
    } else {
      for (int k = 0; k < 3; ++k) to[row + k] = scale * turned[k];
    }
  }
}

// A column of ∂v⁺ (times `scale`) and of ∂q⁺ (Δt times that).
LITHE_INLINE void JacobianAssembler::write_column(const double* from, const DofTree::Tree& rows, double scale, int dof,
                                                  MatX* dv, MatX* dq) const {
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(dof) * tree_.nv + rows.first_dof;
  double* const to_v = dv ? dv->data() + at : nullptr;
  double* const to_q = dq ? dq->data() + at : nullptr;
  if (to_v && to_q && past_alignment(to_v) == past_alignment(to_q)) {
    store_scaled<2>(from, rows.dof_count, {scale, h_ * scale}, {to_v, to_q});
  } else {
    if (to_v) store_scaled<1>(from, rows.dof_count, {scale}, {to_v});
    if (to_q) store_scaled<1>(from, rows.dof_count, {h_ * scale}, {to_q});
  }
  if (to_q) turn_balls(from, rows, h_ * scale, to_q);
}

void JacobianAssembler::copy_block(int row_tree, int column_tree, MatX* dv, MatX* dq) {
  const DofTree::Tree& rows = tree_.trees[row_tree];
  const DofTree::Tree& columns = tree_.trees[column_tree];
  const double* N = work_.matrices.N(row_tree, column_tree);
  for (int j = 0; j < columns.dof_count; ++j, N += rows.column_stride) {
    write_column(N, rows, h_, columns.first_dof + j, dv, dq);
  }
}

// The patch that a row belongs to. A search suffices, because few rows bounce.
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
  double demand[PatchBasis::kMostColumns];
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

// Adds the answer times `factor` to a column of ∂v⁺, and Δt times that to ∂q⁺, where balls turn it.
void JacobianAssembler::add_column(int dof, double factor, MatX* dv, MatX* dq) {
  if (!all_finite(work_.answer) || !std::isfinite(factor)) bounded_ = false;
  if (dv) dv->col(dof) += factor * work_.answer;
  if (!dq) return;
  dq->col(dof) += h_ * factor * work_.answer;
  for (const auto& [ball, columns, by_q] : work_.turns) {
    for (int k = 0; k < 3; ++k) {
      double turned = -work_.answer[ball + k];
      for (int c = 0; c < 3; ++c) turned += columns[c][k] * work_.answer[ball + c];
      (*dq)(ball + k, dof) += h_ * factor * turned;
    }
  }
}

}  // namespace lithe::internal

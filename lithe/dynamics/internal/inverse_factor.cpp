#include "lithe/dynamics/internal/inverse_factor.h"

#include "lithe/core/check.h"
#include "lithe/dynamics/internal/stage_check.h"

namespace lithe::internal {

namespace {

// X_i = (e_i − Σ_{k above i} L_ik X_k) / L_ii, chain by chain from the roots outwards.

// The part of the chain's rows that lies on the path above it: for `Groups` packs owned by the chain `owner` on the
// path, every DoF from there down to the parent chain contributes.
template <int Rows, int Groups>
LITHE_INLINE void rows_above(const DofTree& tree, const DofTree::Chain& chain, int first_row,
                             const DofTree::Chain& owner, int at, const double* L, double* X) {
  const int start = tree.row_start[chain.first_dof + first_row];
  Pack block[Rows][Groups] = {};
  const DofTree::Chain* above = &tree.chains[chain.parent];
  while (true) {
    const double* x = X + tree.row_start[above->first_dof] + at;
    const double* l = L + start + above->path_begin;
    for (int k = 0; k < above->dof_count; ++k, x += above->path_length, ++l) {
      for (int r = 0; r < Rows; ++r) {
        const Pack w = broadcast(l[r * chain.path_length]);
        for (int g = 0; g < Groups; ++g) block[r][g] -= w * as_pack(x + kLanes * g);
      }
    }
    if (above == &owner) break;
    above = &tree.chains[above->parent];
  }
  for (int r = 0; r < Rows; ++r) {
    for (int g = 0; g < Groups; ++g) as_pack(X + start + r * chain.path_length + at + kLanes * g) = block[r][g];
  }
}

template <int Rows>
LITHE_INLINE void rows_above(const DofTree& tree, const DofTree::Chain& chain, int first_row, const double* L,
                             double* X) {
  for (int c = chain.parent; c >= 0; c = tree.chains[c].parent) {
    const DofTree::Chain& owner = tree.chains[c];
    int at = owner.path_begin;
    for (; at + 3 * kLanes <= owner.path_length; at += 3 * kLanes) {
      rows_above<Rows, 3>(tree, chain, first_row, owner, at, L, X);
    }
    if (owner.path_length - at == 2 * kLanes) rows_above<Rows, 2>(tree, chain, first_row, owner, at, L, X);
    if (owner.path_length - at == kLanes) rows_above<Rows, 1>(tree, chain, first_row, owner, at, L, X);
  }
}

void rows_above(const DofTree& tree, const DofTree::Chain& chain, const double* L, double* X) {
  int r = 0;
  for (; r + 3 <= chain.dof_count; r += 3) rows_above<3>(tree, chain, r, L, X);
  if (chain.dof_count - r == 2) rows_above<2>(tree, chain, r, L, X);
  if (chain.dof_count - r == 1) rows_above<1>(tree, chain, r, L, X);
}

// Adds the chain's own DoFs and scales.
void rows_within(const DofTree& tree, const DofTree::Chain& chain, const MassFactor& factor, double* X) {
  const int stride = chain.path_length;
  double* first = X + tree.row_start[chain.first_dof];
  for (int i = 0; i < chain.dof_count; ++i) {
    double* row = first + i * stride;
    const double* l = factor.L.data() + tree.row_start[chain.first_dof + i] + chain.path_begin;
    const double scale = factor.inverse_diagonal[chain.first_dof + i];
    for (int at = 0; at < chain.path_length; at += kLanes) {
      Pack x = at < chain.path_begin ? as_pack(row + at) : Pack{};
      for (int k = 0; k < i; ++k) x -= l[k] * as_pack(first + k * stride + at);
      as_pack(row + at) = scale * x;
    }
    row[chain.path_begin + i] = scale;
  }
}

}  // namespace

void invert(const Model& model, const MassFactor& factor, InverseFactor& inverse) {
  check_stage(model, factor.layout, "MassFactor", "factorize()");
  const DofTree& tree = model.tree();
  if (inverse.layout.changed(tree)) inverse.rows.resize(tree.row_storage);
  for (const DofTree::Chain& chain : tree.chains) {
    if (chain.parent >= 0) rows_above(tree, chain, factor.L.data(), inverse.rows.data());
    rows_within(tree, chain, factor, inverse.rows.data());
  }
}

void multiply(const Model& model, const InverseFactor& inverse, const Lanes<1>& z, VecRef out) {
  check_stage(model, inverse.layout, "InverseFactor", "invert()");
  const DofTree& tree = model.tree();
  LITHE_CHECK(z.slots() == tree.slot_count && out.size() == tree.nv,
              "z has {} slots and the result {} entries, the model needs {} and nv = {}", z.slots(), out.size(),
              tree.slot_count, tree.nv);
  for (const DofTree::Chain& chain : tree.chains) {
    const double* rows = &inverse.rows[tree.row_start[chain.first_dof]];
    for (int i = 0; i < chain.dof_count; ++i) {
      Pack sum = {};
      for (int g = 0; g < chain.path_length / kLanes; ++g) {
        sum += as_pack(rows + i * chain.path_length + kLanes * g) * z.pack(0, tree.path_groups[chain.first_group + g]);
      }
      out[chain.first_dof + i] = lane_sum(sum);
    }
  }
}

void multiply_transposed(const Model& model, const InverseFactor& inverse, const ConstVecRef& b, Lanes<1>& z) {
  check_stage(model, inverse.layout, "InverseFactor", "invert()");
  const DofTree& tree = model.tree();
  LITHE_CHECK(b.size() == tree.nv, "the right-hand side has {} entries, the model needs nv = {}", b.size(), tree.nv);
  z.resize_zero(tree.slot_count);
  for (const DofTree::Chain& chain : tree.chains) {
    const double* rows = &inverse.rows[tree.row_start[chain.first_dof]];
    for (int g = 0; g < chain.path_length / kLanes; ++g) {
      Pack sum = {};
      for (int i = 0; i < chain.dof_count; ++i) {
        sum += b[chain.first_dof + i] * as_pack(rows + i * chain.path_length + kLanes * g);
      }
      z.pack(0, tree.path_groups[chain.first_group + g]) += sum;
    }
  }
}

void solve(const Model& model, InverseFactor& inverse, const ConstVecRef& b, VecRef out) {
  LITHE_CHECK(b.size() == model.nv() && out.size() == model.nv(),
              "the right-hand side has {} and the result {} entries, the model needs nv = {}", b.size(), out.size(),
              model.nv());
  multiply_transposed(model, inverse, b, inverse.z);
  multiply(model, inverse, inverse.z, out);
}

}  // namespace lithe::internal

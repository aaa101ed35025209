#include "lithe/dynamics/internal/mass_factor.h"

#include <cmath>

#include "lithe/core/check.h"
#include "lithe/dynamics/internal/singular_pivot.h"
#include "lithe/dynamics/internal/stage_check.h"

namespace lithe::internal {

namespace {

// The factor works chain by chain from the leaves inwards. A chain's rows first lose what the DoFs below the chain
// took (a product of dense blocks: `Rows` rows by `Groups` packs stay in registers while the rows below stream by),
// then the chain is eliminated within itself.

template <int Rows, int Groups>
LITHE_INLINE void subtract_below(const DofTree& tree, const DofTree::Chain& chain, int first_row, int first_group,
                                 const double* M, double* L) {
  const int row_start = tree.row_start[chain.first_dof + first_row];
  const int position = chain.path_begin + first_row;
  Pack block[Rows][Groups];
  for (int r = 0; r < Rows; ++r) {
    for (int g = 0; g < Groups; ++g) {
      block[r][g] = as_pack(M + row_start + r * chain.path_length + kLanes * (first_group + g));
    }
  }
  for (int k = chain.first_dof + chain.dof_count; k < chain.subtree_end; ++k) {
    const double* row = L + tree.row_start[k];
    Pack x[Groups];
    for (int g = 0; g < Groups; ++g) x[g] = as_pack(row + kLanes * (first_group + g));
    for (int r = 0; r < Rows; ++r) {
      const Pack w = broadcast(row[position + r]);
      for (int g = 0; g < Groups; ++g) block[r][g] -= w * x[g];
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int g = 0; g < Groups; ++g) {
      as_pack(L + row_start + r * chain.path_length + kLanes * (first_group + g)) = block[r][g];
    }
  }
}

template <int Rows>
LITHE_INLINE void subtract_below(const DofTree& tree, const DofTree::Chain& chain, int first_row, const double* M,
                                 double* L) {
  const int groups = chain.path_length / kLanes;
  int g = 0;
  for (; g + 3 <= groups; g += 3) subtract_below<Rows, 3>(tree, chain, first_row, g, M, L);
  if (groups - g == 2) subtract_below<Rows, 2>(tree, chain, first_row, g, M, L);
  if (groups - g == 1) subtract_below<Rows, 1>(tree, chain, first_row, g, M, L);
}

void subtract_below(const DofTree& tree, const DofTree::Chain& chain, const double* M, double* L) {
  int r = 0;
  for (; r + 3 <= chain.dof_count; r += 3) subtract_below<3>(tree, chain, r, M, L);
  if (chain.dof_count - r == 2) subtract_below<2>(tree, chain, r, M, L);
  if (chain.dof_count - r == 1) subtract_below<1>(tree, chain, r, M, L);
}

// row_i ← scale·(source_i − Σ_{k below i in the chain} L_ki · row_k), for `Groups` packs.
template <int Groups>
LITHE_INLINE void finish_row(const double* source, const double* below, int rows_below, int stride, int position,
                             double scale, double* row) {
  Pack x[Groups];
  for (int g = 0; g < Groups; ++g) x[g] = as_pack(source + kLanes * g);
  for (int k = 0; k < rows_below; ++k, below += stride) {
    const Pack w = broadcast(below[position]);
    for (int g = 0; g < Groups; ++g) x[g] -= w * as_pack(below + kLanes * g);
  }
  for (int g = 0; g < Groups; ++g) as_pack(row + kLanes * g) = scale * x[g];
}

// `source` holds the chain's rows before elimination: M's for a leaf chain, else L's.
void eliminate_within(const DofTree& tree, const DofTree::Chain& chain, const MassMatrix& M, const double* source,
                      const ConstVecRef& added, MassFactor& factor) {
  const int stride = chain.path_length;
  for (int i = chain.dof_count - 1; i >= 0; --i) {
    const int dof = chain.first_dof + i;
    const int start = tree.row_start[dof];
    const int position = chain.path_begin + i;
    const double* from = source + start;
    double* row = factor.L.data() + start;
    const double* below = row + stride;
    const int rows_below = chain.dof_count - 1 - i;

    const double extra = added.size() == 0 ? 0.0 : added[dof];
    double pivot = from[position] + extra;
    for (int k = 0; k < rows_below; ++k) {
      const double l = below[k * stride + position];
      pivot -= l * l;
    }
    double scale = 1 / std::sqrt(pivot);
    if (!(pivot > M.singular.at(0, chain.first_slot + i) + kSingularShare * extra)) [[unlikely]] {
      scale = 0;
      factor.singular_dof = dof;
    }
    factor.inverse_diagonal[dof] = scale;
    const int groups = position / kLanes + 1;
    int g = 0;
    for (; g + 4 <= groups; g += 4) {
      const int at = kLanes * g;
      finish_row<4>(from + at, below + at, rows_below, stride, position - at, scale, row + at);
    }
    const int at = kLanes * g;
    if (groups - g == 3) finish_row<3>(from + at, below + at, rows_below, stride, position - at, scale, row + at);
    if (groups - g == 2) finish_row<2>(from + at, below + at, rows_below, stride, position - at, scale, row + at);
    if (groups - g == 1) finish_row<1>(from + at, below + at, rows_below, stride, position - at, scale, row + at);
    row[position] = pivot * scale;
  }
}

// Calls visit(first DoF, its position, count) for each run of DoFs strictly above `dof`, from `dof` upwards.
template <class Visit>
LITHE_INLINE void for_each_run_above(const DofTree& tree, int dof, Visit visit) {
  const DofTree::Chain* chain = &tree.chains[tree.chain[dof]];
  visit(chain->first_dof, chain->path_begin, dof - chain->first_dof);
  while (chain->parent >= 0) {
    chain = &tree.chains[chain->parent];
    visit(chain->first_dof, chain->path_begin, chain->dof_count);
  }
}

}  // namespace

void factorize(const Model& model, const MassMatrix& M, MassFactor& factor, const ConstVecRef& added_diagonal) {
  check_stage(model, M.layout, "MassMatrix", "mass_matrix()");
  const DofTree& tree = model.tree();
  LITHE_CHECK(added_diagonal.size() == 0 || added_diagonal.size() == tree.nv,
              "added_diagonal has {} entries, the model needs nv = {} (or none)", added_diagonal.size(), tree.nv);
  if (factor.layout.changed(tree)) {
    factor.L.assign(tree.row_storage, 0.0);
    factor.inverse_diagonal.resize(tree.nv);
  }
  factor.singular_dof = -1;
  for (std::size_t c = tree.chains.size(); c-- > 0;) {
    const DofTree::Chain& chain = tree.chains[c];
    const bool leaf = chain.subtree_end == chain.first_dof + chain.dof_count;
    if (!leaf) subtract_below(tree, chain, M.rows.data(), factor.L.data());
    eliminate_within(tree, chain, M, leaf ? M.rows.data() : factor.L.data(), added_diagonal, factor);
  }
}

void solve_in_place(const Model& model, const MassFactor& factor, Eigen::Ref<MatX> b) {
  check_stage(model, factor.layout, "MassFactor", "factorize()");
  const DofTree& tree = model.tree();
  LITHE_CHECK(b.rows() == tree.nv, "the right-hand side has {} rows, the model needs nv = {}", b.rows(), tree.nv);
  for (Eigen::Index column = 0; column < b.cols(); ++column) {
    double* x = b.col(column).data();
    // Lᵀ y = b from the leaves inwards, then L x = y from the roots outwards.
    for (int i = tree.nv - 1; i >= 0; --i) {
      const double* row = &factor.L[tree.row_start[i]];
      const double xi = x[i] *= factor.inverse_diagonal[i];
      for_each_run_above(tree, i, [&](int first, int position, int count) {
        for (int t = 0; t < count; ++t) x[first + t] -= row[position + t] * xi;
      });
    }
    for (int i = 0; i < tree.nv; ++i) {
      const double* row = &factor.L[tree.row_start[i]];
      double sum = x[i];
      for_each_run_above(tree, i, [&](int first, int position, int count) {
        for (int t = 0; t < count; ++t) sum -= row[position + t] * x[first + t];
      });
      x[i] = sum * factor.inverse_diagonal[i];
    }
  }
}

}  // namespace lithe::internal

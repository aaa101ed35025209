#include "lithe/dynamics/inverse_mass_matrix.h"

#include <algorithm>

#include "lithe/dynamics/internal/stage_check.h"

namespace lithe {

using namespace internal;

namespace {

using Elimination = ForwardDynamics::Elimination;

// A spatial vector for 4·Packs neighbouring columns j.
template <int Packs>
struct SixRows {
  Pack row[6][Packs];
};

template <int Packs>
LITHE_INLINE SixRows<Packs> load(const double* rows, int stride, int j) {
  SixRows<Packs> x;
  for (int k = 0; k < 6; ++k) {
    for (int p = 0; p < Packs; ++p) x.row[k][p] = as_pack(rows + k * stride + j + kLanes * p);
  }
  return x;
}

template <int Packs>
LITHE_INLINE void store(double* rows, int stride, int j, const SixRows<Packs>& x) {
  for (int k = 0; k < 6; ++k) {
    for (int p = 0; p < Packs; ++p) as_pack(rows + k * stride + j + kLanes * p) = x.row[k][p];
  }
}

template <int Packs>
LITHE_INLINE Pack dot(const ForwardDynamics::SixPack& one, const SixRows<Packs>& x, int p) {
  return (one.angular[0] * x.row[0][p] + one.angular[1] * x.row[1][p] + one.angular[2] * x.row[2][p]) +
         (one.linear[0] * x.row[3][p] + one.linear[1] * x.row[4][p] + one.linear[2] * x.row[5][p]);
}

template <int Packs>
LITHE_INLINE void add(Pack scale, const ForwardDynamics::SixPack& one, SixRows<Packs>& x, int p) {
  for (int k = 0; k < 3; ++k) {
    x.row[k][p] += scale * one.angular[k];
    x.row[3 + k][p] += scale * one.linear[k];
  }
}

// One chain within its tree: DoFs and columns counted from the tree's first.
struct ChainView {
  const Elimination* eliminations;  // of the chain's first slot
  int first, count, subtree_end;
  double* columns;  // of the tree's block; column i holds row i of M⁻¹ too, by symmetry
  int stride;
};

// Inwards, for the columns j at or below the chain: w_i = (δ_ij − S_i·P_j)/D_i, P_j += U_i w_i. One buffer P serves
// the whole tree, because subtrees are disjoint ranges of j.
template <int Packs>
LITHE_INLINE void eliminate(const ChainView& chain, int j, double* P) {
  SixRows<Packs> force = load<Packs>(P, chain.stride, j);
  // Columns past the subtree belong to a neighbour and must not change; those before it are still zero.
  Pack ours[Packs];
  for (int p = 0; p < Packs; ++p) ours[p] = select_below(chain.subtree_end - j - kLanes * p, broadcast(1), Pack{});
  for (int i = chain.count - 1; i >= 0; --i) {
    const Elimination& e = chain.eliminations[i];
    double* entries = chain.columns + (chain.first + i) * chain.stride + j;
    for (int p = 0; p < Packs; ++p) {
      const Pack u = unit_lane(chain.first + i - j - kLanes * p) - dot(e.S, force, p);
      const Pack w = u * (ours[p] * e.pivot_inverse);
      add(w, e.U, force, p);
      as_pack(entries + kLanes * p) = w;
    }
  }
  store(P, chain.stride, j, force);
}

// Outwards, for the columns from the chain's first DoF on (the others follow by symmetry):
// a_i = w_i − U_i·α/D_i, α += S_i a_i, with w_i = 0 past the subtree.
template <int Packs>
LITHE_INLINE void accelerate(const ChainView& chain, int j, const double* parent_alpha, double* alpha) {
  SixRows<Packs> acceleration = {};
  if (parent_alpha) acceleration = load<Packs>(parent_alpha, chain.stride, j);
  for (int i = 0; i < chain.count; ++i) {
    const Elimination& e = chain.eliminations[i];
    double* entries = chain.columns + (chain.first + i) * chain.stride + j;
    for (int p = 0; p < Packs; ++p) {
      const Pack w = j + kLanes * p < chain.subtree_end ? as_pack(entries + kLanes * p) : Pack{};
      const Pack a = w - e.pivot_inverse * dot(e.U, acceleration, p);
      as_pack(entries + kLanes * p) = a;
      add(a, e.S, acceleration, p);
    }
  }
  store(alpha, chain.stride, j, acceleration);
}

// Calls part(j) with its number of packs as template argument, two packs at a time, for j from `first` to `end`.
template <class Part>
LITHE_INLINE void for_each_pair_of_packs(int first, int end, Part part) {
  int j = first / kLanes * kLanes;
  for (; j + kLanes < end; j += 2 * kLanes) part.template operator()<2>(j);
  if (j < end) part.template operator()<1>(j);
}

// Entries above the diagonal's packs from those below.
void mirror(double* block, int count, int stride) {
  for (int column = 0; column < count; column += kLanes) {
    for (int row = 0; row < column; row += kLanes) {
      Pack x[kLanes];
      for (int k = 0; k < kLanes; ++k) x[k] = as_pack(block + (row + k) * stride + column);
      transpose(x[0], x[1], x[2], x[3]);
      for (int k = 0; k < kLanes && column + k < count; ++k) as_pack(block + (column + k) * stride + row) = x[k];
    }
  }
}

}  // namespace

void inverse_mass_matrix(const Model& model, const ForwardDynamics& fd, InverseMassMatrix& out) {
  check_stage(model, fd.layout, "ForwardDynamics", "aba()");
  const DofTree& tree = model.tree();
  if (out.layout.changed(tree)) {
    out.columns.resize(tree.column_storage);
    int longest = 0;
    int most_chains = 0;
    for (const DofTree::Tree& part : tree.trees) {
      longest = std::max(longest, part.column_stride);
      most_chains = std::max(most_chains, part.chain_end - part.first_chain);
    }
    out.force.resize(6 * longest);
    out.acceleration.resize(static_cast<std::size_t>(6) * longest * most_chains);
  }
  for (const DofTree::Tree& part : tree.trees) {
    const int stride = part.column_stride;
    double* block = &out.columns[tree.column_start[part.first_dof]];
    const auto view = [&](const DofTree::Chain& chain) {
      return ChainView{&fd.eliminations[chain.first_slot],
                       chain.first_dof - part.first_dof,
                       chain.dof_count,
                       chain.subtree_end - part.first_dof,
                       block,
                       stride};
    };
    const auto alpha_of = [&](int chain) { return &out.acceleration[6 * stride * (chain - part.first_chain)]; };
    std::fill_n(out.force.begin(), 6 * stride, 0.0);
    for (int c = part.chain_end; c-- > part.first_chain;) {
      const ChainView chain = view(tree.chains[c]);
      for_each_pair_of_packs(chain.first, chain.subtree_end,
                             [&]<int Packs>(int j) { eliminate<Packs>(chain, j, out.force.data()); });
    }
    for (int c = part.first_chain; c < part.chain_end; ++c) {
      const ChainView chain = view(tree.chains[c]);
      const double* parent_alpha = tree.chains[c].parent < 0 ? nullptr : alpha_of(tree.chains[c].parent);
      for_each_pair_of_packs(chain.first, part.dof_count,
                             [&]<int Packs>(int j) { accelerate<Packs>(chain, j, parent_alpha, alpha_of(c)); });
    }
    mirror(block, part.dof_count, stride);
  }
}

}  // namespace lithe

#include "lithe/dynamics/forward_dynamics_derivatives.h"

#include <cstring>

#include "lithe/dynamics/column_products.h"

namespace lithe {

namespace {

void resize(const Model& model, ForwardDynamicsDerivatives& d) {
  if (!d.layout.changed(model.tree())) return;
  const int nv = model.nv();
  // Blocks between different trees are zero once and for all.
  d.da_dq.setZero(nv, nv);
  d.da_dv.setZero(nv, nv);
  d.da_dtau.setZero(nv, nv);
}

// Rows `row` … of a tile into a column of a dense matrix that has `rows_left` of them.
template <int Packs>
LITHE_INLINE void store_rows(const Pack (&tile)[Packs], double* column, int rows_left) {
  if (rows_left >= kLanes * Packs) {
    for (int p = 0; p < Packs; ++p) std::memcpy(column + kLanes * p, &tile[p], sizeof(Pack));
  } else {
    for (int k = 0; k < rows_left; ++k) column[k] = tile[k / kLanes][k % kLanes];
  }
}

// out = −M⁻¹ D for the columns of one chain: D's entries there are non-zero only in rows above the chain or at or
// below it.
void multiply_chain(const DofTree& tree, const DofTree::Chain& chain, const InverseMassMatrix& M_inverse,
                    const MatX& D, MatX& out) {
  const DofTree::Tree& part = tree.trees[chain.tree];
  const double* block = &M_inverse.columns[tree.column_start[part.first_dof]];
  const DofTree::Run* runs = &tree.comparable_runs[chain.first_run];
  const int nv = tree.nv;
  for_each_tile(chain.dof_count, 0, part.column_length, [&]<int Columns, int Packs>(int column, int row) {
    Pack sum[Columns][Packs];
    const double* weights = D.data() + (chain.first_dof + column) * nv + part.first_dof;
    weighted_sums<Packs, Columns>(block, part.column_length, row, runs, chain.run_count, weights, nv, sum);
    for (int c = 0; c < Columns; ++c) {
      for (int p = 0; p < Packs; ++p) sum[c][p] = -sum[c][p];
      store_rows(sum[c], out.data() + (chain.first_dof + column + c) * nv + part.first_dof + row, part.dof_count - row);
    }
  });
}

}  // namespace

void aba_derivatives(const Model& model, const Kinematics& kin, const ForwardDynamics& fd,
                     ForwardDynamicsDerivatives& out, const ExternalWrenches& wrenches) {
  const DofTree& tree = model.tree();
  resize(model, out);
  rnea(model, kin, fd.a, out.id, wrenches);
  rnea_derivatives(model, kin, out.id, out.did, wrenches);
  inverse_mass_matrix(model, fd, out.M_inverse);
  for (const DofTree::Chain& chain : tree.chains) {
    multiply_chain(tree, chain, out.M_inverse, out.did.dtau_dq, out.da_dq);
    multiply_chain(tree, chain, out.M_inverse, out.did.dtau_dv, out.da_dv);
  }
  for (const DofTree::Tree& part : tree.trees) {
    using Strided = Eigen::Map<const MatX, 0, Eigen::OuterStride<>>;
    out.da_dtau.block(part.first_dof, part.first_dof, part.dof_count, part.dof_count) =
        Strided(&out.M_inverse.columns[tree.column_start[part.first_dof]], part.dof_count, part.dof_count,
                Eigen::OuterStride<>(part.column_length));
  }
}

}  // namespace lithe

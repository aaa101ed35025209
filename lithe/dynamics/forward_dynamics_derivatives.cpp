#include "lithe/dynamics/forward_dynamics_derivatives.h"

#include <cstring>

#include "lithe/dynamics/internal/column_products.h"
#include "lithe/dynamics/internal/stage_check.h"

namespace lithe {

using namespace internal;

namespace {

void resize(const Model& model, ForwardDynamicsDerivatives& d) {
  if (!d.layout.changed(model.tree())) return;
  const int nv = model.nv();
  // Blocks between different trees are zero once and for all.
  d.da_dq.setZero(nv, nv);
  d.da_dv.setZero(nv, nv);
  d.da_dtau.setZero(nv, nv);
}

// −tile into `rows_left` rows of a column, or as many as the tile has.
template <int Packs>
LITHE_INLINE void store_negative(const Pack (&tile)[Packs], double* column, int rows_left) {
  Pack negative[Packs];
  for (int p = 0; p < Packs; ++p) negative[p] = -tile[p];
  if (rows_left >= kLanes * Packs) {
    for (int p = 0; p < Packs; ++p) std::memcpy(column + kLanes * p, &negative[p], sizeof(Pack));
  } else {
    for (int k = 0; k < rows_left; ++k) column[k] = negative[k / kLanes][k % kLanes];
  }
}

// out = −M⁻¹ D for the columns of one chain, where D is non-zero only in the rows of DoFs above, in or below the chain.
void multiply_chain(const DofTree& tree, const DofTree::Chain& chain, const InverseMassMatrix& M_inverse,
                    const AlignedBuffer& D, MatX& out) {
  const DofTree::Tree& part = tree.trees[chain.tree];
  const double* block = &M_inverse.columns[tree.column_start[part.first_dof]];
  const DofTree::Run* runs = &tree.comparable_runs[chain.first_run];
  for_each_tile(chain.dof_count, padded(part.dof_count), [&]<int Columns, int Packs>(int column, int row) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(chain.first_dof + column) * tree.nv + part.first_dof;
    Pack sum[Columns][Packs];
    weighted_sums<Packs, Columns>(block, part.column_stride, row, runs, chain.run_count,
                                  &D[tree.column_start[chain.first_dof + column]], part.column_stride, sum);
    for (int c = 0; c < Columns; ++c) store_negative(sum[c], out.data() + at + c * tree.nv + row, part.dof_count - row);
  });
}

}  // namespace

void aba_derivatives(const Model& model, const Kinematics& kin, const ForwardDynamics& fd,
                     ForwardDynamicsDerivatives& out, const ExternalWrenches& wrenches) {
  check_stage(model, fd.layout, "ForwardDynamics", "aba()");
  const DofTree& tree = model.tree();
  resize(model, out);
  rnea(model, kin, fd.a, out.id, wrenches);
  rnea_derivative_columns(model, kin, out.id, out.did, wrenches);
  inverse_mass_matrix(model, fd, out.M_inverse);
  for (const DofTree::Chain& chain : tree.chains) {
    multiply_chain(tree, chain, out.M_inverse, out.did.columns_q, out.da_dq);
    multiply_chain(tree, chain, out.M_inverse, out.did.columns_v, out.da_dv);
  }
  for (const DofTree::Tree& part : tree.trees) {
    using Strided = Eigen::Map<const MatX, 0, Eigen::OuterStride<>>;
    out.da_dtau.block(part.first_dof, part.first_dof, part.dof_count, part.dof_count) =
        Strided(&out.M_inverse.columns[tree.column_start[part.first_dof]], part.dof_count, part.dof_count,
                Eigen::OuterStride<>(part.column_stride));
  }
}

}  // namespace lithe

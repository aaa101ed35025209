#include "lithe/dynamics/mass_matrix.h"

#include "lithe/core/check.h"
#include "lithe/dynamics/internal/singular_pivot.h"
#include "lithe/dynamics/internal/stage_check.h"
#include "lithe/dynamics/internal/tree_sums.h"

namespace lithe {

using namespace internal;

namespace {

// The rows of one chain: M_ij = S_j · (I_i S_i) for every j on the path, four j at a time. The entries right of the
// diagonal inside the chain come out too; they are not M's and nobody reads them.
void chain_rows(const DofTree& tree, const DofTree::Chain& chain, const Kinematics& kin, MassMatrix& M) {
  for (int g = 0; g < chain.path_length / kLanes; ++g) {
    const Motion<Pack> S = load_motion(kin.S, tree.path_groups[chain.first_group + g]);
    for (int i = 0; i < chain.dof_count; ++i) {
      const int s = chain.first_slot + i;
      const Pack entry = M.IS.at(0, s) * S.w.x + M.IS.at(1, s) * S.w.y + M.IS.at(2, s) * S.w.z + M.IS.at(3, s) * S.v.x +
                         M.IS.at(4, s) * S.v.y + M.IS.at(5, s) * S.v.z;
      as_pack(&M.rows[tree.row_start[chain.first_dof + i] + kLanes * g]) = entry;
    }
  }
}

}  // namespace

void mass_matrix(const Model& model, const Kinematics& kin, MassMatrix& M) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  const DofTree& tree = model.tree();
  if (M.layout.changed(tree)) {
    M.rows.resize(tree.row_storage);
    M.IS.resize(tree.slot_count);
    M.singular.resize(tree.slot_count);
  }
  M.I = kin.I;
  sum_inwards(tree, M.I);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Motion<Pack> S = load_motion(kin.S, s);
    const Inertia10<Pack> I = load_inertia(M.I, s);
    store(M.IS, s, I * S);
    M.singular.pack(0, s) = singular_pivot(S, I, tree.armature.pack(0, s));
  }
  for (const DofTree::Chain& chain : tree.chains) chain_rows(tree, chain, kin, M);
  for (int i = 0; i < tree.nv; ++i) M.rows[tree.row_start[i] + tree.position[i]] += tree.armature.at(0, tree.slot[i]);
}

MatX mass_matrix(const Model& model, const ConstVecRef& q) {
  Kinematics kin;
  MassMatrix M;
  kinematics(model, q, kin);
  mass_matrix(model, kin, M);
  return M.dense(model);
}

MatX MassMatrix::dense(const Model& model) const {
  check_stage(model, layout, "MassMatrix", "mass_matrix()");
  const DofTree& tree = model.tree();
  MatX full = MatX::Zero(tree.nv, tree.nv);
  for (int i = 0; i < tree.nv; ++i) {
    for (int j = i; j >= 0; j = tree.parent[j]) full(i, j) = full(j, i) = rows[tree.row_start[i] + tree.position[j]];
  }
  return full;
}

void multiply(const Model& model, const MassMatrix& M, const ConstVecRef& x, VecRef out) {
  check_stage(model, M.layout, "MassMatrix", "mass_matrix()");
  const DofTree& tree = model.tree();
  LITHE_CHECK(x.size() == tree.nv && out.size() == tree.nv, "multiply: x has {} and the result {} entries, not nv = {}",
              x.size(), out.size(), tree.nv);
  out.setZero();
  for (int i = 0; i < tree.nv; ++i) {
    const double* row = &M.rows[tree.row_start[i]];
    out[i] += row[tree.position[i]] * x[i];
    for (int j = tree.parent[i]; j >= 0; j = tree.parent[j]) {
      out[i] += row[tree.position[j]] * x[j];
      out[j] += row[tree.position[j]] * x[i];
    }
  }
}

}  // namespace lithe

#include "tests/dynamics/dense_matrices.h"

namespace lithe::test {

MatX dense_from_paths(const DofTree& tree, const AlignedBuffer& rows) {
  MatX full = MatX::Zero(tree.nv, tree.nv);
  for (int i = 0; i < tree.nv; ++i) {
    for (int j = i; j >= 0; j = tree.parent[j]) full(i, j) = rows[tree.row_start[i] + tree.position[j]];
  }
  return full;
}

MatX dense(const DofTree& tree, const InverseMassMatrix& inverse) {
  MatX full = MatX::Zero(tree.nv, tree.nv);
  for (const DofTree::Tree& part : tree.trees) {
    for (int j = part.first_dof; j < part.first_dof + part.dof_count; ++j) {
      full.col(j).segment(part.first_dof, part.dof_count) =
          Eigen::Map<const VecX>(&inverse.columns[tree.column_start[j]], part.dof_count);
    }
  }
  return full;
}

}  // namespace lithe::test

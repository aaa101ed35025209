#include "lithe/optimize/solvers/stage_expansion.h"

#include <algorithm>

namespace lithe::internal {

ColumnBlock ColumnBlock::at(int index, int columns) {
  return {kWidth * index, std::min(kWidth, columns - kWidth * index)};
}

void StageExpansion::set_cost(const CostExpansion& cost, bool looks_back) {
  gradient = cost.gradient;
  before = cost.hessian.rightCols(looks_back ? cost.size - cost.u_before : 0);
  tiles.clear();
  curvature.clear();
  // Keeps those tiles of a block of columns that reach up to the diagonal and are not zero.
  const auto add = [&](ColumnBlock columns) {
    for (int row = 0; row < columns.end(); row += ColumnBlock::kWidth) {
      const int rows = std::min(ColumnBlock::kWidth, columns.end() - row);
      const auto tile = cost.hessian.block(row, columns.first, rows, columns.count);
      if (tile.isZero(0)) continue;
      tiles.push_back({row, columns.first, rows, columns.count, static_cast<int>(curvature.size())});
      for (int j = 0; j < columns.count; ++j) {
        for (int i = 0; i < rows; ++i) curvature.push_back(tile(i, j));
      }
    }
  };
  const int n = cost.u, m = cost.u_before - cost.u;
  for (int index = 0; index < ColumnBlock::number(n); ++index) add(ColumnBlock::at(index, n));
  for (int index = 0; index < ColumnBlock::number(m); ++index) {
    ColumnBlock columns = ColumnBlock::at(index, m);
    columns.first += n;
    add(columns);
  }
}

void StageExpansion::add_curvature(int column, MatX& to) const {
  for (const Tile& tile : tiles) {
    if (tile.column != column) continue;
    to.block(tile.row, tile.column, tile.rows, tile.columns) +=
        Eigen::Map<const MatX>(curvature.data() + tile.start, tile.rows, tile.columns);
  }
}

}  // namespace lithe::internal

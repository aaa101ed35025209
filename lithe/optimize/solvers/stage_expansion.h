#pragma once

#include <vector>

#include "lithe/optimize/solvers/cost_expansion.h"

namespace lithe::internal {

// One step of a motion, to first order, and its costs, to second: δx⁺ = [A B] (δx, δu) + gap, x = (q, v). At the end of a motion there
// are only costs.
//
// A motion has hundreds of these, and most of a curvature is zero: it is kept as tiles, so that the models stay in the cache.
struct StageExpansion {
  MatX AB;        // 2nv × (2nv + m)
  VecX gradient;  // of the costs, by (x, u, u_before)
  MatX before;    // their curvature by (x, u, u_before) and u_before; no columns if nothing depends on u_before

  // The curvature by (x, u), above the diagonal: what is not zero of it.
  struct Tile {
    int row, column, rows, columns;
    int start;  // in `curvature`, column by column
  };
  std::vector<Tile> tiles;
  std::vector<double> curvature;

  void set_cost(const CostExpansion& cost, bool looks_back);
  // Adds the tiles that start in this column.
  void add_curvature(int column, MatX& to) const;
};

// Columns are handled in blocks: those of x, then those of u. A tile is a block wide.
struct ColumnBlock {
  static constexpr int kWidth = 16;
  int first, count;
  int end() const { return first + count; }

  // How many there are among some columns, and the one of this number.
  static int number(int columns) { return (columns + kWidth - 1) / kWidth; }
  static ColumnBlock at(int index, int columns);
};

}  // namespace lithe::internal

#pragma once

#include "lithe/model/dof_tree.h"

namespace lithe {

// Products of dense matrices over one tree's DoFs that skip what the tree makes zero.
//
// The left factor is a block of columns (DofTree::column_start). A column of the result is a weighted sum of some of
// them, and which ones is a short list of runs of DoFs. `Columns` results by `Packs` packs of rows stay in registers
// while the weights stream by.

// Nine sums, three packs of rows and a weight fill most of sixteen registers.
inline constexpr int kTileColumns = 3;
inline constexpr int kTilePacks = 3;

template <int Packs, int Columns>
LITHE_INLINE void set_zero(Pack (&sum)[Columns][Packs]) {
  for (int c = 0; c < Columns; ++c) {
    for (int p = 0; p < Packs; ++p) sum[c][p] = Pack{};
  }
}

// sum_c += Σ_k weights[c·stride + k] · column k, for `count` columns and the rows that start at `columns`.
template <int Packs, int Columns>
LITHE_INLINE void add_weighted(const double* columns, int column_stride, int count, const double* weights, int stride,
                               Pack (&sum)[Columns][Packs]) {
  const double* const end = weights + count;
  for (; weights < end; ++weights, columns += column_stride) {
    Pack x[Packs];
    for (int p = 0; p < Packs; ++p) {
      x[p] = as_pack(columns + kLanes * p);
      keep_in_register(x[p]);
    }
    for (int c = 0; c < Columns; ++c) {
      const Pack wc = broadcast(weights[c * stride]);
      for (int p = 0; p < Packs; ++p) sum[c][p] += wc * x[p];
    }
  }
}

// sum_c = Σ_k weights[c·stride + k] · column k over the k in the runs, for the rows from `row` on. Both weights and
// columns count from the tree's first DoF.
template <int Packs, int Columns>
LITHE_INLINE void weighted_sums(const double* block, int column_stride, int row, const DofTree::Run* runs,
                                int run_count, const double* weights, int stride, Pack (&sum)[Columns][Packs]) {
  set_zero(sum);
  for (int r = 0; r < run_count; ++r) {
    add_weighted<Packs, Columns>(block + runs[r].first * column_stride + row, column_stride, runs[r].count,
                                 weights + runs[r].first, stride, sum);
  }
}

// Calls tile(first column, first row) for every tile of a block of `column_count` columns by `row_count` rows,
// with the numbers of columns and of packs as template arguments.
template <class Tile>
LITHE_INLINE void for_each_tile(int column_count, int row_count, Tile tile) {
  const auto rows = [&]<int Columns>(int column) {
    int row = 0;
    for (; row + kTilePacks * kLanes <= row_count; row += kTilePacks * kLanes) {
      tile.template operator()<Columns, kTilePacks>(column, row);
    }
    if (row_count - row == 2 * kLanes) tile.template operator()<Columns, 2>(column, row);
    if (row_count - row == kLanes) tile.template operator()<Columns, 1>(column, row);
  };
  int column = 0;
  for (; column + kTileColumns <= column_count; column += kTileColumns) rows.template operator()<kTileColumns>(column);
  if (column_count - column == 2) rows.template operator()<2>(column);
  if (column_count - column == 1) rows.template operator()<1>(column);
}

}  // namespace lithe

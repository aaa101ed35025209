#pragma once

#include <span>

#include "lithe/model/dof_tree.h"

namespace lithe::internal {

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

// Some columns of a left factor, and the weights they get in each column of the result.
struct WeightedColumns {
  const double* columns;
  const double* weights;
  int count;
  int column_stride;
  int weight_stride;       // from one column of the result to the next
  int row_begin, row_end;  // all other rows are zero
};

template <int Columns, int Packs>
LITHE_INLINE Pack sum_tile(std::span<const WeightedColumns> terms, int row, double* to, int stride) {
  Pack sum[Columns][Packs];
  set_zero(sum);
  for (const WeightedColumns& term : terms) {
    if (row + kLanes * Packs <= term.row_begin || row >= term.row_end) continue;
    add_weighted<Packs, Columns>(term.columns + row, term.column_stride, term.count, term.weights, term.weight_stride,
                                 sum);
  }
  for (int c = 0; c < Columns; ++c) {
    for (int p = 0; p < Packs; ++p) as_pack(to + c * stride + row + kLanes * p) = sum[c][p];
  }
  Pack all[Packs];
  for (int p = 0; p < Packs; ++p) all[p] = sum[0][p];
  for (int c = 1; c < Columns; ++c) {
    for (int p = 0; p < Packs; ++p) all[p] += sum[c][p];
  }
  for (int p = 1; p < Packs; ++p) all[0] += all[p];
  return all[0];
}

// Rows [first_row, row_end) of `Columns` columns (whole packs) = Σ over `terms`. Returns whether all numbers are finite (and not so
// large that their sum overflows). Never inlined: among other code gcc does not keep the sums in registers.
template <int Columns>
[[gnu::noinline]] bool sum_columns(std::span<const WeightedColumns> terms, int first_row, int row_end, double* to,
                                   int stride) {
  Pack all = {};
  int row = first_row;
  for (; row + kTilePacks * kLanes <= row_end; row += kTilePacks * kLanes) {
    all += sum_tile<Columns, kTilePacks>(terms, row, to, stride);
  }
  if (row_end - row == 2 * kLanes) all += sum_tile<Columns, 2>(terms, row, to, stride);
  if (row_end - row == kLanes) all += sum_tile<Columns, 1>(terms, row, to, stride);
  return 0 * lane_sum(all) == 0;
}

// Calls few(first column) for every few columns of `column_count`, with their number as template argument.
template <class Few>
LITHE_INLINE void for_each_few_columns(int column_count, Few few) {
  int column = 0;
  for (; column + kTileColumns <= column_count; column += kTileColumns) few.template operator()<kTileColumns>(column);
  if (column_count - column == 2) few.template operator()<2>(column);
  if (column_count - column == 1) few.template operator()<1>(column);
}

// Calls tile(first column, first row) for every tile of a block of `column_count` columns by `row_count` rows,
// with the numbers of columns and of packs as template arguments.
template <class Tile>
LITHE_INLINE void for_each_tile(int column_count, int row_count, Tile tile) {
  for_each_few_columns(column_count, [&]<int Columns>(int column) {
    int row = 0;
    for (; row + kTilePacks * kLanes <= row_count; row += kTilePacks * kLanes) {
      tile.template operator()<Columns, kTilePacks>(column, row);
    }
    if (row_count - row == 2 * kLanes) tile.template operator()<Columns, 2>(column, row);
    if (row_count - row == kLanes) tile.template operator()<Columns, 1>(column, row);
  });
}

}  // namespace lithe::internal

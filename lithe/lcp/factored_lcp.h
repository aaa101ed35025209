#pragma once

#include "lithe/lcp/boxed_lcp.h"

namespace lithe {

// A boxed LCP whose A is never formed: each row is a linear form g_i on the coordinates of one or two *blocks*, and
//
//   A = G Gᵀ,   G = (g_1 … g_n)ᵀ.
//
// In a step a block is a tree, its coordinates are the tree's DoFs, whitened by the mass matrix; a box on a box acts on two blocks
// of six. A compliance is a coordinate of its own, in any block of its row. n rows are then 12 n numbers, not n².
struct RowGroup {  // neighbouring rows on the same blocks
  int block_a = 0;
  int block_b = -1;  // another one, or none
  int first_row = 0, row_count = 0;
  std::ptrdiff_t start = 0;  // of its first row in G
};

struct FactoredLcp {
  std::span<const LcpRow> rows;
  std::span<const int> block_sizes;
  std::span<const RowGroup> groups;  // of all rows, in their order
  // A row is padded(size of block a) numbers and padded(size of block b) more, on a 32-byte boundary; the padding is zero.
  const double* G = nullptr;
  std::span<const double> diagonal;  // A_ii = g_i·g_i
  std::span<const double> b;
  std::span<const double> target;  // as BoxedLcp's
  LcpScales scales = {};

  int size() const { return static_cast<int>(rows.size()); }
  int width_of(int block) const { return block < 0 ? 0 : padded(block_sizes[block]); }
  int width(const RowGroup& group) const { return width_of(group.block_a) + width_of(group.block_b); }
  // The rows, bounds and velocities; A is null.
  BoxedLcp without_matrix() const {
    return {.rows = rows, .A = nullptr, .stride = 0, .b = b, .target = target, .scales = scales};
  }
};

}  // namespace lithe

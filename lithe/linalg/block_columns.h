#pragma once

#include <type_traits>

#include "lithe/simd/pack.h"

namespace lithe::internal {

// Loops over the columns of blocks, which both the factorisation and the triangular solves of BlockFactor are made of.
// Calls work(size), with the size of a free body's block as a constant: its loops are then unrolled.
template <class Work>
LITHE_INLINE void with_block_size(int size, Work work) {
  if (size == 6) {
    work(std::integral_constant<int, 6>{});
  } else {
    work(size);
  }
}
// The same for two sizes: both six, or any.
template <class Work>
LITHE_INLINE void with_block_sizes(int a, int b, Work work) {
  if (a == 6 && b == 6) {
    work(std::integral_constant<int, 6>{}, std::integral_constant<int, 6>{});
  } else {
    work(a, b);
  }
}

// A column is padded to whole packs; so is y, and where both paddings are zero they stay it.
// y −= x·column, for `rows` numbers, a multiple of kLanes.
LITHE_INLINE void subtract_column(const double* column, double x, double* y, int rows) {
  const Pack factor = broadcast(x);
  for (int r = 0; r < rows; r += kLanes) as_pack(y + r) -= as_pack(column + r) * factor;
}

}  // namespace lithe::internal

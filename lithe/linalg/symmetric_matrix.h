#pragma once

#include <algorithm>
#include <cstddef>

#include "lithe/simd/pack.h"

namespace lithe::internal {

// Copies the lower triangle of a column-major n×n matrix to the upper one, in tiles. Columns are aligned and `stride` apart, at
// least padded(n).
inline void mirror_lower_triangle(double* A, int n, int stride) {
  const auto column = [&](int j) { return A + static_cast<std::ptrdiff_t>(j) * stride; };
  // A tile of four by four is transposed in registers; the tiles on the diagonal go entry by entry.
  for (int j = 0; j < n; j += kLanes) {
    const int columns = std::min(kLanes, n - j);
    for (int a = 0; a < columns; ++a) {
      for (int b = a + 1; b < columns; ++b) column(j + b)[j + a] = column(j + a)[j + b];
    }
    for (int i = j + kLanes; i < n; i += kLanes) {  // then there are four columns
      Pack x[kLanes];
      for (int a = 0; a < kLanes; ++a) x[a] = as_pack(column(j + a) + i);
      transpose(x[0], x[1], x[2], x[3]);
      for (int b = 0; b < std::min(kLanes, n - i); ++b) as_pack(column(i + b) + j) = x[b];
    }
  }
}

}  // namespace lithe::internal

#pragma once

#include "lithe/simd/pack.h"

namespace lithe::internal {

// Vectors of whole packs. `rows` is a multiple of kLanes.

LITHE_INLINE double dot(const double* x, const double* y, int rows) {
  Pack sum = {};
  for (int r = 0; r < rows; r += kLanes) sum += as_pack(x + r) * as_pack(y + r);
  return lane_sum(sum);
}

// The same with y at any address.
LITHE_INLINE double dot_anywhere(const double* x, const double* y, int rows) {
  Pack sum = {};
  for (int r = 0; r < rows; r += kLanes) sum += as_pack(x + r) * load_anywhere(y + r);
  return lane_sum(sum);
}

// Σ x², in four chains of sums that do not wait for one another.
LITHE_INLINE double sum_of_squares(const double* x, int rows) {
  Pack sum[4] = {};
  int r = 0;
  for (; r + 4 * kLanes <= rows; r += 4 * kLanes) {
    for (int k = 0; k < 4; ++k) sum[k] += as_pack(x + r + kLanes * k) * as_pack(x + r + kLanes * k);
  }
  for (; r < rows; r += kLanes) sum[0] += as_pack(x + r) * as_pack(x + r);
  return lane_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

// y += a x
LITHE_INLINE void add_multiple(double a, const double* x, double* y, int rows) {
  const Pack factor = broadcast(a);
  for (int r = 0; r < rows; r += kLanes) as_pack(y + r) += factor * as_pack(x + r);
}

}  // namespace lithe::internal

#pragma once

#include "lithe/core/pack.h"

namespace lithe {

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

// y += a x
LITHE_INLINE void add_multiple(double a, const double* x, double* y, int rows) {
  const Pack factor = broadcast(a);
  for (int r = 0; r < rows; r += kLanes) as_pack(y + r) += factor * as_pack(x + r);
}

}  // namespace lithe

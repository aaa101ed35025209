#pragma once

#include <span>

#include "lithe/core/eigen.h"
#include "lithe/simd/pack.h"

namespace lithe::internal {

// One pass without branches: what is not finite becomes NaN when multiplied by zero, and stays it.
inline bool all_finite(std::span<const double> x) {
  Pack marks[2] = {};
  std::size_t i = 0;
  for (; i + 2 * kLanes <= x.size(); i += 2 * kLanes) {
    marks[0] += 0.0 * load_anywhere(&x[i]);
    marks[1] += 0.0 * load_anywhere(&x[i + kLanes]);
  }
  double mark = lane_sum(marks[0] + marks[1]);
  for (; i < x.size(); ++i) mark += 0 * x[i];
  return mark == 0;
}

inline bool all_finite(const VecX& x) { return all_finite(std::span(x.data(), static_cast<std::size_t>(x.size()))); }
inline bool all_finite(const MatX& x) { return all_finite(std::span(x.data(), static_cast<std::size_t>(x.size()))); }

}  // namespace lithe::internal

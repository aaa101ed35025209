#pragma once

#include <span>

namespace lithe {

// One pass without branches: what is not finite becomes NaN when multiplied by zero, and stays it.
inline bool all_finite(std::span<const double> x) {
  double mark = 0;
  for (const double value : x) mark += 0 * value;
  return mark == 0;
}

}  // namespace lithe

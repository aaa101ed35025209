#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "lithe/lcp/solve_lcp.h"
#include "tests/support/random_model.h"

namespace lithe::test {

inline constexpr RowMode C = RowMode::clamping, S = RowMode::separating;
inline constexpr RowMode kLower = RowMode::at_lower, kUpper = RowMode::at_upper;

inline const LcpOptions kCold = {.cold = true};

inline const std::vector<LcpRow> kTwoNormals(2, LcpRow::make_one_sided());

inline double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

inline MatX random_matrix(std::mt19937_64& random, int rows, int columns) {
  MatX matrix(rows, columns);
  for (int j = 0; j < columns; ++j) matrix.col(j) = random_vector(random, rows, 1);
  return matrix;
}

}  // namespace lithe::test

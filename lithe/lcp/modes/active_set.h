#pragma once

#include <span>

#include "lithe/lcp/modes/prepared_lcp.h"

namespace lithe::internal {

// The two-way active set: rows that break their mode's conditions at f and w = A f + b change it, all at once. The
// conditions are those of the ridge problem, whose velocities are w + ε̄ f:
//
//   impulses within their bounds to min(1e-6·max|f|, 1e-7·s/A_ii),
//   signs of velocities at bounds to max(1e-3·ε̄·max|f|, 1e-14·s) and to what rounding makes of A f.
//
// Returns how many rows moved: none means that the modes are right. Inert rows never move.
int move_violators(const PreparedLcp& problem, double ridge, std::span<const double> f, std::span<const double> w,
                   std::span<RowMode> modes);

}  // namespace lithe::internal

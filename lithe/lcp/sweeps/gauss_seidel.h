#pragma once

#include "lithe/lcp/solve_lcp.h"

namespace lithe::internal {

// Projected Gauss–Seidel: row after row takes the impulse that makes its own w zero, moved to the nearest bound,
//
//   f_i ← clamp(f_i − w_i/A_ii),   w ← w + A e_i Δf_i,
//
// again and again. Friction bounds are those of the normal's impulse of the moment. It starts from f = 0 and stops after
// options.sweeps sweeps, or after one in which no row moved w by more than 1e-12 of the velocity scale. Each sweep costs
// n² and needs no factorisation, which suits very large islands; but heavy bodies on light ones, tall stacks and redundant
// rows take thousands of sweeps, and among the impulses of redundant rows it finds any.
//
// Modes follow from f: a row is at a bound exactly where the projection put it there. Rows that nothing moves (A_ii ≈ 0)
// keep the admissible impulse nearest to zero. report.pivots counts sweeps.
LcpReport solve_gauss_seidel(const BoxedLcp& lcp, const LcpOptions& options, std::span<double> f, std::span<double> w,
                             std::span<RowMode> modes);

}  // namespace lithe::internal

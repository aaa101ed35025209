#pragma once

#include <vector>

#include "lithe/lcp/modes/mode_factor.h"
#include "lithe/lcp/solve_lcp.h"
#include "lithe/linalg/dense_lu.h"

namespace lithe::internal {

// Memory of solve_dantzig(), kept from one call to the next.
struct DantzigBuffers {
  ModeFactor factor;
  std::vector<bool> driven;     // rows that take part by now
  std::vector<int> clamping;    // rows in C among them
  std::vector<int> position;    // of a row in `clamping`, or −1
  DenseLu lu;                   // of A_C with its ridge
  std::vector<double> df, dw;   // n: the tangent
  std::vector<double> x, f, w;  // n: right-hand sides and polished impulses
};

// Baraff's (1994) pivoting in Dantzig's manner, with friction: the method of the paper and of DART, for comparison.
//
// Rows join one after the other, each normal followed by its friction rows. The new row i has some w_i ≠ 0; it becomes
// w_i + θ c_i with c_i = ±1 and θ = |w_i| at first, so that it counts as clamping, and θ goes down to zero,
//
//   A_C df_C = −c_C dθ,   dw = A df + c dθ,   dθ < 0,
//
// while every other row that takes part keeps its conditions: where one of them would break, that row changes its mode
// and θ goes on from there. Without friction this always ends. With friction A_C is no longer symmetric, and θ
// may have to rise for a while before it can fall: this method does not do that (lemke_path.h does) and reports
// `unsolved`. Redundant rows need the ridge ε̄ = 1e-12·mean(diag A) on A's diagonal.
//
// The modes found are polished as by solve_lcp(): f_C = −A_C# b_C where that respects all bounds to 1e-9 of the
// velocity scale, else (`unpolished`) f stays that of the ridge problem if its residual is at most 1e-6. report.pivots
// counts solves with A_C.
LcpReport solve_dantzig(const BoxedLcp& lcp, DantzigBuffers& buffers, std::span<double> f, std::span<double> w,
                        std::span<RowMode> modes);

}  // namespace lithe::internal

#pragma once

#include <span>

#include "lithe/lcp/modes/mode_factor.h"
#include "lithe/lcp/modes/prepared_lcp.h"
#include "lithe/linalg/dense_lu.h"

namespace lithe::internal {

// The impulses that one classification demands in the ridge problem,
//
//   (A_C + ε̄ I) f_C = x,   x := −b_C − A_C0 f₀,
//
// and the polished ones, f_C = A_C# x, their limit for ε̄ → 0 apart from what is inconsistent:
//
//   f_C = A# x + (I − A A#) x / ε̄ − ε̄ A# A# x + O(ε̄²).
//
// Where the rank of A_C is beyond doubt this formula gives both from one factorisation, and x that is consistent up to
// rounding counts as consistent. The last term matters where velocities of rows outside C are zero but for the ridge:
// their sign decides which of several redundant rows slides or leaves. Where the rank is in doubt (mass ratios) the
// ridge system itself is solved.
class RidgeSolution {
 public:
  // `ridge` is ε̄.
  void compute(const PreparedLcp& problem, std::span<const RowMode> modes, double ridge);

  const ModeFactor& factor() const { return factor_; }
  // n impulses of the ridge problem.
  std::span<const double> f() const { return {f_.data(), n_}; }
  // Whether these are the polished ones already.
  bool is_polished() const { return is_polished_; }
  // The polished impulses, n; false where there are none (no group inverse).
  bool polish(const PreparedLcp& problem, std::span<const RowMode> modes, std::span<double> f) const;
  // f_C − A# w_C for polished impulses, where rounding left w_C ≠ 0.
  void refine(const PreparedLcp& problem, std::span<const RowMode> modes, std::span<const double> w,
              std::span<double> f);
  // f_C − (A_C + ε̄I)⁻¹ w_C: from the ridge's impulses on, this goes to the polished ones, too, and where VU is close to
  // singular with less rounding than A# has. Only if the ridge system was solved.
  bool solved_ridge_system() const { return solved_ridge_system_; }
  void refine_by_ridge(const PreparedLcp& problem, std::span<const RowMode> modes, std::span<const double> w,
                       std::span<double> f);
  // By how much the ridge bends the equations: the largest |w_C| that f leaves, up to rounding.
  double bend() const { return bend_; }

 private:
  bool solve_by_limit(const PreparedLcp& problem, double ridge);
  void set_right_side(const PreparedLcp& problem, std::span<const RowMode> modes);
  bool solve_ridge_system(double ridge);

  ModeFactor factor_;
  DenseLu lu_;
  std::size_t n_ = 0;
  AlignedBuffer f_;                                         // n
  AlignedBuffer x_, f_C_, polished_C_, null_part_, twice_;  // m
  bool is_polished_ = false;
  bool solved_ridge_system_ = false;
  double bend_ = 0;
};

}  // namespace lithe::internal

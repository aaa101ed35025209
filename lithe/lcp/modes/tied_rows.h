#pragma once

#include <span>
#include <vector>

#include "lithe/lcp/modes/mode_factor.h"
#include "lithe/lcp/modes/prepared_lcp.h"

namespace lithe::internal {

// Whether f is at a bound and w is zero, both within 1e-9 of the velocity scale (f times A_ii).
bool is_tied(const PreparedLcp& problem, int row, std::span<const double> f, std::span<const double> w);

// Rows of a solution that are about to change their mode: those that are tied.
//
// Most ties are harmless: the velocity of a foot's fourth corner is zero because the other three corners' velocities are. Such
// a row is implied by the clamping rows: J_i lies in the span of J_C, that is A_ii = A_iC A_CC⁺ A_Ci. Where it is not, the
// solution has a kink, and derivatives are those of one side.
class TiedRows {
 public:
  static constexpr double kImplied = 1e-9;  // of A_ii: as much of it may be left

  // `factor` is that of the modes.
  void find(const PreparedLcp& problem, std::span<const RowMode> modes, const ModeFactor& factor,
            std::span<const double> f, std::span<const double> w);

  // Whether there are any, implied or not.
  static bool any(const PreparedLcp& problem, std::span<const double> f, std::span<const double> w);

  int count() const { return static_cast<int>(rows_.size()); }
  // Those that are not implied.
  std::span<const int> kinks() const { return kinks_; }

 private:
  bool is_implied(const PreparedLcp& problem, const ModeFactor& factor, int row);

  std::vector<int> rows_, kinks_;
  ModeFactor factor_;
  std::vector<RowMode> inside_;
  std::vector<double> column_, solution_;
};

}  // namespace lithe::internal

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/lcp/direct/reduced_lcp.h"
#include "lithe/lcp/modes/mode_factor.h"

namespace lithe::internal {

// The polished impulses of redundant modes, f_C = −A_C# b_C, by a factorisation that decides on the rank, on the problem without its soft
// rows (reduced_lcp.h). Soft rows take no part in redundancy, as their own compliance answers whatever presses on them; rows of loops do,
// so these must not be among the eliminated ones.
class RankPolish {
 public:
  // `roles` and `b`: as of ReducedLcp. `modes`: by row that is left. `f`: impulses that solve the modes up to a ridge, by row of the
  // problem; polished in place. False where the mode has no group inverse, or refinement stalls.
  bool run(const PreparedLcp& problem, const LoopStresses& stresses, std::span<const RowRole> roles,
           std::span<const double> b, std::span<const RowMode> modes, std::span<double> f);

 private:
  bool refine(double scale);
  void follow_normals(double* f_R) const;
  void remove_stress();

  ReducedLcp reduced_;
  ModeFactor factor_;
  std::span<const RowMode> modes_;
  AlignedBuffer f_R_, w_R_;
  std::vector<double> x_, u_;  // by clamping row
};

}  // namespace lithe::internal

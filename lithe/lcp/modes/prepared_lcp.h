#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/lcp/boxed_lcp.h"
#include "lithe/simd/lanes.h"

namespace lithe::internal {

// A problem with what the stages of the direct solver ask of it again and again.
//
// Inert rows take no part: rows that no impulse moves (A_ii ≈ 0, so all of row i is), friction rows with μ = 0, and those
// of an inert normal. Their impulse is the admissible one nearest to zero and their mode, which never changes, says so:
// separating, or at the bound that is not zero.
struct PreparedLcp {
  BoxedLcp lcp;
  double scale = 1;          // s, of velocities
  double mean_diagonal = 1;  // of the live rows
  double largest_root = 0;   // √A_ii
  int live_rows = 0;
  bool finite = true;  // A's diagonal; the rest shows in w
  std::vector<std::uint8_t> live;
  AlignedBuffer diagonal, root;  // A_ii and √A_ii, zero in the padding

  // Checks the caller's input, too. Velocities count against least_scale at least.
  void prepare(const BoxedLcp& problem, double least_scale = 0);
  // The same where A is not formed and this is its diagonal.
  void prepare(const BoxedLcp& problem, LcpDiagonal A_diagonal, double least_scale = 0);
  int size() const { return lcp.size(); }

  // Rounding of A f in row i is at most about this times √A_ii, for |A_ij| ≤ √(A_ii A_jj).
  double rounding(std::span<const double> f) const;

  RowMode inert_mode(int i) const;
  // Friction rows of a separating normal separate, those of a clamping one do not; kinds keep to their own modes.
  void make_consistent(std::span<RowMode> modes) const;
  // Normals that leave separate, with their friction rows; everything else that can clamp does.
  void first_modes(std::span<RowMode> modes) const;
  // Whether f = 0 is a solution: no row pushes.
  bool at_rest() const;
};

}  // namespace lithe::internal

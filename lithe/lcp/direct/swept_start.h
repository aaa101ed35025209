#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/lcp/modes/prepared_lcp.h"
#include "lithe/lcp/modes/row_role.h"

namespace lithe::internal {

// Where a path may begin: the last impulses after a few sweeps of projected Gauss–Seidel over all rows. Sweeps get rid of most of the
// changes that follow from signs of velocities alone, as dry friction's and saturated motors', and they tell which rows a path will hardly
// meet.
class SweptStart {
 public:
  void run(const PreparedLcp& problem, std::span<const double> impulses, int sweeps);

  std::span<const double> f() const { return std::span(f_).first(size_); }  // by row

  // Soft rows well between their bounds are eliminated. Rows at a bound whose velocities are far from zero are constant, and so is a
  // normal that leaves, with its friction rows.
  void choose_roles(const PreparedLcp& problem, std::span<RowRole> roles) const;

 private:
  void start(const PreparedLcp& problem, std::span<const double> impulses);
  void sweep(const PreparedLcp& problem);
  double largest_change_ahead(const PreparedLcp& problem) const;

  std::size_t size_ = 0;
  AlignedBuffer f_, w_;
  // 1/A_ii, 0 for rows that are not live, and the bounds, those of friction rows by the normal's impulse of the moment.
  AlignedBuffer inverse_diagonal_, lower_, upper_;
};

}  // namespace lithe::internal

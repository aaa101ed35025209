#pragma once

#include <span>
#include <string>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/lcp/boxed_lcp.h"

namespace lithe::test {

// A judge of LCP solutions that shares no code with the solvers: the conditions row by row, and for small problems all
// classifications one after the other.

// How far f and w are from meeting the conditions, and where most. Impulses count times A_ii, so everything is a velocity,
// as a share of velocity_scale().
//
//   lo ≤ f ≤ hi        by how much f leaves its bounds
//   w > 0 ⇒ f = lo     the smaller one of w and f − lo
//   w < 0 ⇒ f = hi     the smaller one of −w and hi − f
//   w = A f + b        beyond the rounding of a sum, any difference
struct Verdict {
  double violation = 0;
  std::string worst;    // row and condition
  double rounding = 0;  // what A f and A_ii f are rounded by, in the same units

  bool holds(double tolerance) const { return violation <= tolerance + rounding; }
};
Verdict verify(const BoxedLcp& lcp, std::span<const double> f, std::span<const double> w);

struct OracleSolution {
  std::vector<RowMode> modes;
  VecX f, w;
};

// Up to this many rows the enumerations below take milliseconds.
inline constexpr int kMostOracleRows = 6;

// Every solution whose classification determines it, meeting the conditions to `tolerance`: one for each mode with a
// regular matrix. (The same point may come twice, with a tied row in one mode and then in the other.)
std::vector<OracleSolution> regular_solutions(const BoxedLcp& lcp, double tolerance = 1e-9);

// Whether there is any solution, with |f|·A_ii up to `largest` velocity scales. The solutions of one mode form a
// polyhedron; if it is not empty, it has a vertex, where enough rows are tied to determine the point (apart from stresses
// among two-sided rows, which change nothing). So all classifications with all choices of tied rows are tried.
bool solution_exists(const BoxedLcp& lcp, double tolerance = 1e-9, double largest = 1e6);

}  // namespace lithe::test

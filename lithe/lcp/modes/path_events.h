#pragma once

#include <cstdint>
#include <span>

#include "lithe/lcp/boxed_lcp.h"

namespace lithe::internal {

// Where a path on modes is, and which way it goes: impulses and velocities, and what they change by per unit of the path.
struct PathPoint {
  std::span<const LcpRow> rows;
  std::span<const RowMode> modes;
  const double* diagonal = nullptr;  // A_ii; a row that takes no part has 0
  const double *f = nullptr, *w = nullptr;
  const double *df = nullptr, *dw = nullptr;
  int entering = -1;                 // the row that changed its mode last
  RowMode left = RowMode::clamping;  // from this one
};

// A row arrives where its mode ends: a clamping one at a bound, another one's velocity at zero.
struct PathEvent {
  double step = 0, rate = 0;
  int row = -1;  // none: the path went on for the longest step
  RowMode next = RowMode::clamping;
};

// In [0, 1), from 64 mixed bits: paths start from numbers that are a little apart, since rows that change their modes at once may do
// so for ever.
double spread(std::uint64_t key, std::uint64_t seed);

// +1, or −1 where the row that has just changed its mode would not move into the new one unless the path turns round.
double direction_of_entry(const PathPoint& point);

// The first event within the longest step. Of those that happen together the fastest row's comes first.
PathEvent next_event(const PathPoint& point, double direction, double longest);

}  // namespace lithe::internal

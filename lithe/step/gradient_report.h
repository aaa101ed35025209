#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "lithe/lcp/solve_lcp.h"

namespace lithe {

// What a gradient is.
enum class GradientMode : std::uint8_t {
  exact,                  // the derivative of the step as computed
  bounce_mass_metric,     // something bounced, and the derivative is the continuous motion's
  bounce_paper,           // the same by the paper's rule
  complementarity_aware,  // rows were given other modes than the step's: a heuristic
};
const char* to_string(GradientMode mode);

// Every gradient comes with one of these.
struct GradientReport {
  GradientMode mode = GradientMode::exact;
  // Only a one-sided derivative exists, or none: a row is about to change its mode and the others do not imply it
  // (`tied_rows`), or some direction breaks the classification (`inconsistency`).
  bool one_sided = false;

  // The classification, in rows.
  int rows = 0;
  int clamping = 0, separating = 0;
  int sliding = 0;    // friction rows at ±μ f_n
  int saturated = 0;  // motors and dry friction at their bounds
  int rank = 0;       // of A_CC, all islands together; less than `clamping` for every flat foot

  // Strict complementarity: how far the nearest row is from changing its mode, as a velocity (m/s or rad/s; impulses count
  // by A_ii). Infinite where there are no rows.
  double margin = std::numeric_limits<double>::infinity();
  int margin_row = -1;

  // Rows with f and w at zero that the clamping rows do not imply. The derivative is that of the side their mode puts them on.
  std::vector<int> tied_rows;
  // The largest share of the clamping rows' velocities that no impulse can balance when some body moves: rounding
  // as a rule; from 1e-6 on, that motion breaks the classification.
  double inconsistency = 0;
  // The choice of f among many matters, and its derivative is part of the result (rank-deficient rows that slide).
  bool null_space_term = false;

  LcpFlag lcp_flags = LcpFlag::none;  // of all islands together
  bool diverged = false;              // the step stayed where it was: its derivative is the identity
  bool overflowed = false;            // the gradient is too large for a double: zeros stand for it
  // complementarity_aware: rows that were given another mode, and whether that candidate won.
  int relabelled_rows = 0;
};

}  // namespace lithe

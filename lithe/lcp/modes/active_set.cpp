#include "lithe/lcp/modes/active_set.h"

#include <algorithm>
#include <cmath>

namespace lithe::internal {

namespace {

constexpr double kImpulseShare = 1e-6;     // of max|f|
constexpr double kImpulseVelocity = 1e-7;  // of s, in the row itself
constexpr double kRidgeShare = 1e-3;       // of ε̄·max|f|
constexpr double kVelocityShare = 1e-14;   // of s

struct Tolerance {
  double impulse, velocity;
};

// What the mode of a row between two bounds should be. Beyond a bound it goes there; pulled off a bound by its
// velocity it clamps, or goes to the other bound if that is on its way.
RowMode wanted_between(const RowBounds& bounds, double f, double w, double diagonal, const Tolerance& tolerance,
                       RowMode now) {
  const double range = diagonal * (bounds.upper - bounds.lower);
  switch (now) {
    case RowMode::clamping:
      if (f > bounds.upper + tolerance.impulse) return RowMode::at_upper;
      if (f < bounds.lower - tolerance.impulse) return RowMode::at_lower;
      break;
    case RowMode::at_upper:
      if (w > tolerance.velocity) return w > range ? RowMode::at_lower : RowMode::clamping;
      break;
    case RowMode::at_lower:
      if (w < -tolerance.velocity) return -w > range ? RowMode::at_upper : RowMode::clamping;
      break;
    case RowMode::separating: break;  // friction without a normal force
  }
  return now;
}

RowMode wanted_one_sided(double f, double w, const Tolerance& tolerance, RowMode now) {
  if (now == RowMode::clamping) return f < -tolerance.impulse ? RowMode::separating : now;
  return w < -tolerance.velocity ? RowMode::clamping : now;
}

}  // namespace

int move_violators(const PreparedLcp& problem, double ridge, std::span<const double> f, std::span<const double> w,
                   std::span<RowMode> modes) {
  double largest = 0;
  for (const double fi : f) largest = std::max(largest, std::abs(fi));
  const double rounding = problem.rounding(f);
  const double w_tolerance = std::max(kRidgeShare * ridge * largest, kVelocityShare * problem.scale);

  int moved = 0;
  bool normals_moved = false;
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    if (!problem.live[i] || row.kind == RowKind::two_sided) continue;
    const Tolerance tolerance{std::min(kImpulseShare * largest, kImpulseVelocity * problem.scale / problem.diagonal[i]),
                              std::max(w_tolerance, rounding * problem.root[i])};
    const double ridge_w = w[i] + ridge * f[i];
    const RowMode now = modes[i];
    if (row.kind == RowKind::one_sided) {
      modes[i] = wanted_one_sided(f[i], ridge_w, tolerance, now);
      normals_moved = normals_moved || modes[i] != now;
    } else if (row.kind == RowKind::friction || row.lower < row.upper) {
      modes[i] = wanted_between(bounds_of(row, f), f[i], ridge_w, problem.diagonal[i], tolerance, now);
    }
    moved += modes[i] != now;
  }
  if (normals_moved) problem.make_consistent(modes);
  return moved;
}

}  // namespace lithe::internal

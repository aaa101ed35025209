#pragma once

#include <algorithm>
#include <cmath>

#include "lithe/lcp/solve_lcp.h"
#include "lithe/simd/internal/finite.h"

namespace lithe::internal {

// Gauss–Seidel counts a problem as solved when residual() is at most this.
inline constexpr double kGaussSeidelTolerance = 1e-6;

// The iteration of gauss_seidel.h for any representation of A. An `Operator` gives
//
//   double diagonal(int i)                      A_ii
//   double velocity(int i)                      w_i at the impulses so far
//   void push(int i, double change)             f_i += change, felt by all rows
//   void evaluate(span f, span w)               w = A f + b afresh; velocity() and push() go on from there
//   double velocity_scale()                     and
//   double residual(span f, span w)             as for a BoxedLcp
namespace gauss_seidel {

inline constexpr double kStop = 1e-12;
inline constexpr int kSweepsPerRefresh = 50;  // velocities are updated row by row; now and then afresh, against drift

// One sweep over the rows whose A_ii is more than `inert`; returns the largest change of a row's own w.
template <class Operator>
double sweep(std::span<const LcpRow> rows, Operator& A, double inert, std::span<double> f) {
  double largest = 0;
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    const double diagonal = A.diagonal(i);
    if (!(diagonal > inert)) continue;
    const RowBounds bounds = bounds_of(rows[i], f);
    const double next = std::min(std::max(f[i] - A.velocity(i) / diagonal, bounds.lower), bounds.upper);
    const double change = next - f[i];
    if (change == 0) continue;
    f[i] = next;
    A.push(i, change);
    largest = std::max(largest, std::abs(change) * diagonal);
  }
  return largest;
}

// A row is at a bound exactly where the projection put it there.
inline RowMode mode_at(const LcpRow& row, int i, std::span<const double> f, std::span<const double> w) {
  if (row.kind == RowKind::friction && !(row.friction * f[row.normal] > 0)) return RowMode::separating;
  const RowBounds bounds = bounds_of(row, f);
  const bool at_lower = f[i] <= bounds.lower, at_upper = f[i] >= bounds.upper;
  if (row.kind == RowKind::one_sided) return at_lower ? RowMode::separating : RowMode::clamping;
  if (at_lower && at_upper) return w[i] > 0 ? RowMode::at_lower : RowMode::at_upper;
  return at_lower ? RowMode::at_lower : at_upper ? RowMode::at_upper : RowMode::clamping;
}

template <class Operator>
LcpReport iterate(std::span<const LcpRow> rows, Operator& A, const LcpOptions& options, std::span<double> f,
                  std::span<double> w, std::span<RowMode> modes) {
  LcpReport report;
  report.rank = -1;
  const auto start_over = [&] {
    std::fill(f.begin(), f.end(), 0.0);
    clamp_to_bounds(rows, f);
    A.evaluate(f, w);
  };
  start_over();
  const double stop = kStop * A.velocity_scale();
  double inert = 0;
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) inert = std::max(inert, kInertShare * A.diagonal(i));
  bool moving = true;
  while (moving && report.pivots < options.sweeps) {
    moving = sweep(rows, A, inert, f) > stop;
    if (++report.pivots % kSweepsPerRefresh == 0) A.evaluate(f, w);
  }
  // A normal may have let go of friction rows that were swept before it.
  clamp_to_bounds(rows, f);
  A.evaluate(f, w);
  const bool finite = all_finite(f) && all_finite(w);
  if (!finite) start_over();
  report.residual = A.residual(f, w);
  for (double& wi : w) {
    if (!std::isfinite(wi)) wi = 0;  // nothing is known
  }

  for (std::size_t i = 0; i < rows.size(); ++i) {
    modes[i] = mode_at(rows[i], static_cast<int>(i), f, w);
    if (modes[i] == RowMode::clamping) ++report.clamping_rows;
  }
  const bool solved = finite && report.residual <= kGaussSeidelTolerance;
  report.stage = solved ? LcpStage::gauss_seidel : LcpStage::unsolved;
  if (!solved) report.flags = LcpFlag::unsolved;
  return report;
}

}  // namespace gauss_seidel
}  // namespace lithe::internal

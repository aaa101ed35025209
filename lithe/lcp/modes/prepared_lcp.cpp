#include "lithe/lcp/modes/prepared_lcp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/core/check.h"

namespace lithe::internal {

namespace {

// Velocities below this share of the scale do not separate a contact: inner interfaces of a resting stack have b = 0 ± rounding,
// and bear what lies on them.
constexpr double kLeaves = 1e-9;

// Refuses what the caller must not ask for: numbers that are not finite, bounds in the wrong order, friction without a normal.
void check_row(const BoxedLcp& lcp, int i) {
  const LcpRow& row = lcp.rows[i];
  LITHE_CHECK(std::isfinite(lcp.b[i]), "b[{}] is {}", i, lcp.b[i]);
  if (row.kind == RowKind::friction) {
    LITHE_CHECK(row.normal >= 0 && row.normal < lcp.size() && lcp.rows[row.normal].kind == RowKind::one_sided,
                "friction row {} names row {} as its normal, which is no one-sided row", i, row.normal);
    LITHE_CHECK(row.friction >= 0 && std::isfinite(row.friction), "friction row {} has the coefficient {}", i,
                row.friction);
  } else if (row.kind == RowKind::bounded) {
    LITHE_CHECK(std::isfinite(row.lower) && std::isfinite(row.upper) && row.lower <= row.upper,
                "row {} has the bounds [{}, {}]", i, row.lower, row.upper);
  }
}

}  // namespace

void PreparedLcp::prepare(const BoxedLcp& problem, double least_scale) {
  LITHE_CHECK(problem.stride >= problem.size() && problem.stride % kLanes == 0,
              "stride is {}, {} rows need a multiple of {} from there on", problem.stride, problem.size(), kLanes);
  prepare(problem, problem.diagonal(), least_scale);
}

void PreparedLcp::prepare(const BoxedLcp& problem, LcpDiagonal A_diagonal, double least_scale) {
  lcp = problem;
  const int n = lcp.size();
  LITHE_CHECK(static_cast<int>(lcp.b.size()) == n, "b has {} entries, there are {} rows", lcp.b.size(), n);
  LITHE_CHECK(lcp.target.empty() || static_cast<int>(lcp.target.size()) == n,
              "target has {} entries, there are {} rows (or none)", lcp.target.size(), n);
  diagonal.assign(padded(n), 0.0);
  root.assign(padded(n), 0.0);
  live.assign(n, 0);
  double largest = 0;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    check_row(lcp, i);
    diagonal[i] = A_diagonal[i];
    largest = std::max(largest, diagonal[i]);
    sum += diagonal[i];
  }
  finite = std::isfinite(sum);
  largest_root = std::sqrt(largest);
  scale = std::max({velocity_scale(lcp.rows, A_diagonal, lcp.b), lcp.scales.velocity, least_scale});

  live_rows = 0;
  sum = 0;
  for (int i = 0; i < n; ++i) {
    const LcpRow& row = lcp.rows[i];
    // Friction rows of μ = 0, and those of a normal that nothing moves, have no impulse whatever their own A_ii is.
    bool takes_part = diagonal[i] > kInertShare * largest;
    if (row.kind == RowKind::friction) {
      takes_part = takes_part && row.friction > 0 && diagonal[row.normal] > kInertShare * largest;
    }
    live[i] = takes_part;
    if (!takes_part) continue;
    root[i] = std::sqrt(diagonal[i]);
    sum += diagonal[i];
    ++live_rows;
  }
  mean_diagonal = live_rows > 0 ? sum / live_rows : 1.0;
  if (lcp.scales.mean_diagonal > 0) mean_diagonal = lcp.scales.mean_diagonal;
}

double PreparedLcp::rounding(std::span<const double> f) const {
  double sum = 0;
  for (int i = 0; i < size(); ++i) sum += root[i] * std::abs(f[i]);
  return 2 * std::numeric_limits<double>::epsilon() * sum;
}

RowMode PreparedLcp::inert_mode(int i) const {
  const LcpRow& row = lcp.rows[i];
  if (row.kind == RowKind::bounded) {
    if (row.lower >= 0) return RowMode::at_lower;
    if (row.upper <= 0) return RowMode::at_upper;
  }
  return RowMode::separating;
}

void PreparedLcp::make_consistent(std::span<RowMode> modes) const {
  for (int i = 0; i < size(); ++i) {
    RowMode& c = modes[i];
    const LcpRow& row = lcp.rows[i];
    if (!live[i]) {
      c = inert_mode(i);
      continue;
    }
    switch (row.kind) {
      case RowKind::one_sided:
        if (is_at_bound(c)) c = RowMode::separating;
        break;
      case RowKind::friction: break;
      case RowKind::bounded:
        if (row.lower == row.upper) c = RowMode::at_lower;
        if (c == RowMode::separating) c = RowMode::clamping;
        break;
      case RowKind::two_sided: c = RowMode::clamping; break;
    }
  }
  for (int i = 0; i < size(); ++i) {
    if (!live[i] || lcp.rows[i].kind != RowKind::friction) continue;
    if (modes[lcp.rows[i].normal] != RowMode::clamping) {
      modes[i] = RowMode::separating;
    } else if (modes[i] == RowMode::separating) {
      modes[i] = RowMode::clamping;
    }
  }
}

void PreparedLcp::first_modes(std::span<RowMode> modes) const {
  for (int i = 0; i < size(); ++i) {
    const bool leaves = lcp.rows[i].kind == RowKind::one_sided && lcp.b[i] > kLeaves * scale;
    modes[i] = leaves ? RowMode::separating : RowMode::clamping;
  }
  make_consistent(modes);
}

bool PreparedLcp::at_rest() const {
  for (int i = 0; i < size(); ++i) {
    const LcpRow& row = lcp.rows[i];
    const double w = lcp.b[i];
    switch (row.kind) {
      case RowKind::one_sided:
        if (w < 0) return false;
        break;
      case RowKind::friction: break;
      case RowKind::bounded:
        if (row.lower > 0 || row.upper < 0 || (w > 0 && row.lower < 0) || (w < 0 && row.upper > 0)) return false;
        break;
      case RowKind::two_sided:
        if (w != 0) return false;
        break;
    }
  }
  return true;
}

}  // namespace lithe::internal

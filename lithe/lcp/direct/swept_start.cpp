#include "lithe/lcp/direct/swept_start.h"

#include <algorithm>
#include <cmath>

#include "lithe/linalg/padded_matrix.h"
#include "lithe/simd/internal/packed_vectors.h"

namespace lithe::internal {

namespace {

// A soft row is expected between its bounds if it is there with this share of their distance to spare.
constexpr double kSpareShare = 0.05;
// A row is far from a change of its mode if its velocity is more than this share of what clamping rows still lack. Between 0.1 and 3 a step
// of four robots takes the same time: fewer rows are kept against more that turn out to be misjudged.
constexpr double kFar = 0.5;

}  // namespace

void SweptStart::run(const PreparedLcp& problem, std::span<const double> impulses, int sweeps) {
  start(problem, impulses);
  for (int pass = 0; pass < sweeps; ++pass) sweep(problem);
  // A normal may have let go of friction rows that were swept before it. Nobody asks for their velocities.
  clamp_to_bounds(problem.lcp, std::span(f_).first(size_));
}

// f and w where the sweeps begin: the impulses moved into their bounds. Bounds of friction rows follow their normals in each sweep.
void SweptStart::start(const PreparedLcp& problem, std::span<const double> impulses) {
  size_ = impulses.size();
  const int n = problem.size(), rows = padded(n);
  for (AlignedBuffer* buffer : {&f_, &w_, &inverse_diagonal_, &lower_, &upper_}) grow(*buffer, rows);
  for (int i = 0; i < n; ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    f_[i] = problem.live[i] || row.kind == RowKind::bounded ? impulses[i] : 0.0;
    inverse_diagonal_[i] = problem.live[i] ? 1 / problem.diagonal[i] : 0.0;
    const bool friction = row.kind == RowKind::friction;
    const RowBounds bounds = friction ? RowBounds{0, 0} : bounds_of(row, {});
    lower_[i] = bounds.lower;
    upper_[i] = bounds.upper;
  }
  std::fill(inverse_diagonal_.begin() + n, inverse_diagonal_.begin() + rows, 0.0);
  const std::span<double> f = std::span(f_).first(size_);
  clamp_to_bounds(problem.lcp, f);
  evaluate(problem.lcp, f, std::span(w_).first(size_));
}

// One sweep. Rows that are not live stay as they are, since their 1/A_ii is zero.
void SweptStart::sweep(const PreparedLcp& problem) {
  const int rows = padded(problem.size());
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    if (row.kind == RowKind::friction) {
      upper_[i] = row.friction * std::max(f_[row.normal], 0.0);
      lower_[i] = -upper_[i];
    }
    const double next = std::min(std::max(f_[i] - w_[i] * inverse_diagonal_[i], lower_[i]), upper_[i]);
    add_multiple(next - f_[i], problem.lcp.column(i), w_.data(),
                 rows);  // also where nothing changes, which nobody can predict
    f_[i] = next;
  }
}

// The largest velocity of rows between their bounds, which still have to come to rest.
double SweptStart::largest_change_ahead(const PreparedLcp& problem) const {
  const Pack zero = {};
  Pack largest = zero;
  for (int i = 0; i < problem.size(); i += kLanes) {
    const Pack f = as_pack(&f_[i]), size = absolute(as_pack(&w_[i]));
    const auto between =
        (f > as_pack(&lower_[i])) & (f < as_pack(&upper_[i])) & (as_pack(&inverse_diagonal_[i]) > zero);
    const Pack ahead = between ? size : zero;
    largest = ahead > largest ? ahead : largest;
  }
  return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

// The first loop has no branches, because modes are as good as random here.
void SweptStart::choose_roles(const PreparedLcp& problem, std::span<RowRole> roles) const {
  const double far = kFar * largest_change_ahead(problem);
  for (int i = 0; i < problem.size(); ++i) {
    const double f = f_[i], w = w_[i], spare = kSpareShare * (upper_[i] - lower_[i]);
    const bool live = inverse_diagonal_[i] > 0;
    const int soft = problem.lcp.rows[i].soft, above = f > lower_[i] + spare, below = f < upper_[i] - spare;
    const int at_lower = f <= lower_[i], at_upper = f >= upper_[i], rises = w > far, falls = w < -far;
    const bool free = (soft & above & below) != 0;
    const bool stays = ((at_lower & rises) | (at_upper & falls)) != 0;
    const RowRole role = stays ? RowRole::constant : RowRole::kept;
    roles[i] = live ? free ? RowRole::eliminated : role : RowRole::kept;
  }
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    if (row.kind == RowKind::friction) roles[i] = problem.live[i] ? roles[row.normal] : RowRole::kept;
  }
}

}  // namespace lithe::internal

#include "lithe/lcp/swept_start.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/packed_vectors.h"
#include "lithe/lcp/padded_matrix.h"

namespace lithe {

namespace {

// A soft row is expected between its bounds if it is there with this share of their distance to spare.
constexpr double kSpare = 0.05;
// A row is far from a change of its class if its velocity is more than this share of what clamping rows still lack. Between 0.1 and 3 a step of
// four robots takes the same time: fewer rows are kept against more that turn out to be misjudged.
constexpr double kFar = 0.5;

}  // namespace

void SweptStart::run(const PreparedLcp& problem, std::span<const double> impulses, int sweeps) {
  size_ = impulses.size();
  const int rows = padded(problem.size());
  for (AlignedBuffer* buffer : {&f_, &w_}) grow(*buffer, rows);
  for (int i = 0; i < problem.size(); ++i) {
    f_[i] = problem.live[i] || problem.lcp.rows[i].kind == RowKind::bounded ? impulses[i] : 0.0;
  }
  const std::span<double> f = std::span(f_).first(size_);
  clamp_to_bounds(problem.lcp, f);
  evaluate(problem.lcp, f, std::span(w_).first(size_));
  for (int pass = 0; pass < sweeps; ++pass) sweep(problem);
  clamp_to_bounds(problem.lcp, f);
  evaluate(problem.lcp, f, std::span(w_).first(size_));
}

void SweptStart::sweep(const PreparedLcp& problem) {
  const std::span<const double> f = std::span(f_).first(size_);
  for (int i = 0; i < problem.size(); ++i) {
    if (!problem.live[i]) continue;
    const RowBounds bounds = bounds_of(problem.lcp.rows[i], f);
    const double next = std::min(std::max(f_[i] - w_[i] / problem.diagonal[i], bounds.lower), bounds.upper);
    const double change = next - f_[i];
    if (change == 0) continue;
    f_[i] = next;
    add_multiple(change, problem.lcp.column(i), w_.data(), padded(problem.size()));
  }
}

double SweptStart::largest_change_ahead(const PreparedLcp& problem) const {
  double largest = 0;
  for (int i = 0; i < problem.size(); ++i) {
    if (!problem.live[i]) continue;
    const RowBounds bounds = bounds_of(problem.lcp.rows[i], f());
    if (f_[i] > bounds.lower && f_[i] < bounds.upper) largest = std::max(largest, std::abs(w_[i]));
  }
  return largest;
}

void SweptStart::choose_roles(const PreparedLcp& problem, std::span<RowRole> roles) const {
  const double far = kFar * largest_change_ahead(problem);
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    roles[i] = RowRole::kept;
    if (!problem.live[i]) continue;
    if (row.kind == RowKind::bounded) {
      const double spare = kSpare * (row.upper - row.lower);
      if (row.soft && f_[i] > row.lower + spare && f_[i] < row.upper - spare) {
        roles[i] = RowRole::eliminated;
      } else if ((f_[i] <= row.lower && w_[i] > far) || (f_[i] >= row.upper && w_[i] < -far)) {
        roles[i] = RowRole::constant;
      }
    } else if (row.kind == RowKind::one_sided) {
      if (f_[i] <= 0 && w_[i] > far) roles[i] = RowRole::constant;
    }
  }
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    if (row.kind == RowKind::friction && problem.live[i]) roles[i] = roles[row.normal];
  }
}

}  // namespace lithe

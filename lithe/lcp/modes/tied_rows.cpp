#include "lithe/lcp/modes/tied_rows.h"

#include <algorithm>
#include <cmath>

namespace lithe::internal {

namespace {

constexpr double kTied = 1e-9;  // of s

}  // namespace

bool is_tied(const PreparedLcp& problem, int i, std::span<const double> f, std::span<const double> w) {
  const double tolerance = kTied * problem.scale;
  if (!problem.live[i]) return false;
  if (!(std::abs(w[i]) <= tolerance)) return false;
  const LcpRow& row = problem.lcp.rows[i];
  const double a = problem.diagonal[i];
  if (row.kind == RowKind::one_sided) return f[i] * a <= tolerance;
  if (row.kind == RowKind::two_sided) return false;
  const RowBounds bounds = bounds_of(row, f);
  // Without room between the bounds there is no mode to change to.
  if ((bounds.upper - bounds.lower) * a <= tolerance) return false;
  return std::min(f[i] - bounds.lower, bounds.upper - f[i]) * a <= tolerance;
}

void TiedRows::find(const PreparedLcp& problem, std::span<const RowMode> modes, const ModeFactor& factor,
                    std::span<const double> f, std::span<const double> w) {
  rows_.clear();
  kinks_.clear();
  bool clamping = false;
  for (int i = 0; i < problem.size(); ++i) {
    if (!is_tied(problem, i, f, w)) continue;
    rows_.push_back(i);
    clamping = clamping || modes[i] == RowMode::clamping;
  }
  if (rows_.empty()) return;

  // What can imply a row are those that clamp for certain, without ties. The factor at hand may be that of just these rows.
  const ModeFactor* inside = &factor;
  if (clamping || !factor.symmetric()) {
    inside_.assign(modes.begin(), modes.end());
    for (const int i : rows_) inside_[i] = RowMode::separating;
    for (int i = 0; i < problem.size(); ++i) {
      if (problem.lcp.rows[i].kind == RowKind::friction && inside_[i] != RowMode::clamping) {
        inside_[i] = RowMode::separating;
      }
    }
    factor_.compute(problem.lcp, inside_);
    inside = &factor_;
  }
  for (const int i : rows_) {
    if (!is_implied(problem, *inside, i)) kinks_.push_back(i);
  }
}

bool TiedRows::any(const PreparedLcp& problem, std::span<const double> f, std::span<const double> w) {
  for (int i = 0; i < problem.size(); ++i) {
    if (is_tied(problem, i, f, w)) return true;
  }
  return false;
}

// Whether A_ii − A_iC A_CC⁺ A_Ci is rounding.
bool TiedRows::is_implied(const PreparedLcp& problem, const ModeFactor& factor, int row) {
  const double* from = problem.lcp.column(row);
  column_.resize(factor.size());
  solution_.resize(factor.size());
  for (int a = 0; a < factor.size(); ++a) column_[a] = from[factor.clamping()[a]];
  factor.solve(column_, solution_);
  double left = from[row];
  for (int a = 0; a < factor.size(); ++a) left -= column_[a] * solution_[a];
  return left <= kImplied * problem.diagonal[row];
}

}  // namespace lithe::internal

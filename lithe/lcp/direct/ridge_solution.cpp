#include "lithe/lcp/direct/ridge_solution.h"

#include <algorithm>
#include <cmath>

namespace lithe::internal {

namespace {

// The rank is beyond doubt where no pivot lies between these shares.
constexpr double kSurePivot = 1e-7;
constexpr double kSureZero = 1e-12;

// The series ends after the first power of ε̄ where that one is below this share.
constexpr double kSmallCorrection = 1e-4;

// A ridge of this share of the smallest pivot, and a correction of this share of f, is less than the tolerances.
constexpr double kNegligible = 1e-6;

// Inconsistency below this share of the velocity scale is rounding of b.
constexpr double kConsistent = 1e-14;

// The first numbers of a buffer, which may be longer.
std::span<const double> head(const AlignedBuffer& buffer, int size) {
  return {buffer.data(), static_cast<std::size_t>(size)};
}
std::span<double> head(AlignedBuffer& buffer, int size) { return {buffer.data(), static_cast<std::size_t>(size)}; }

}  // namespace

void RidgeSolution::compute(const PreparedLcp& problem, std::span<const RowMode> modes, double ridge) {
  n_ = problem.size();
  factor_.compute(problem.lcp, modes);
  const int m = factor_.size();
  for (AlignedBuffer* buffer : {&x_, &f_C_, &polished_C_, &null_part_, &twice_}) grow(*buffer, padded(m));
  grow(f_, padded(problem.size()));
  set_right_side(problem, modes);
  is_polished_ = false;
  solved_ridge_system_ = false;
  if (!factor_.has_group_inverse() || !solve_by_limit(problem, ridge)) {
    if (factor_.symmetric()) factor_.gather(problem.lcp, modes);
    solved_ridge_system_ = solve_ridge_system(ridge);
    bend_ = ridge * largest_magnitude(head(f_C_, m));
  }
  factor_.expand(problem.lcp, modes, head(f_C_, m), head(f_, problem.size()));
}

// Also gives the polished impulses; false where the limit does not give the ridge's.
bool RidgeSolution::solve_by_limit(const PreparedLcp& problem, double ridge) {
  const int m = factor_.size();
  const auto f_C = head(f_C_, m), polished_C = head(polished_C_, m), null_part = head(null_part_, m);
  // Where every row clamps nobody asks for signs.
  const bool limit_suffices = m == problem.live_rows && ridge < kNegligible * factor_.smallest_pivot();
  const auto twice = head(twice_, limit_suffices ? 0 : m);
  factor_.split(head(x_, m), polished_C, null_part, twice);
  const bool sure = (factor_.rank() == 0 || factor_.last_pivot() > kSurePivot) && factor_.rejected_pivot() < kSureZero;
  if (!sure) return false;

  bend_ = largest_magnitude(null_part);
  const bool consistent = bend_ <= kConsistent * problem.scale;
  const double stretch = consistent ? 0.0 : 1 / ridge;
  for (int a = 0; a < m; ++a) f_C[a] = polished_C[a] + stretch * null_part[a];
  const double share = twice.empty() ? 0.0 : ridge * largest_magnitude(twice) / largest_magnitude(polished_C);
  if (share > kSmallCorrection) return false;
  is_polished_ = consistent && m == problem.live_rows && share <= kNegligible;
  if (is_polished_) {
    bend_ = 0;
  } else {
    if (consistent) bend_ = ridge * largest_magnitude(polished_C);
    for (std::size_t a = 0; a < twice.size(); ++a) f_C[a] -= ridge * twice[a];
  }
  return true;
}

// x = −b_C − A_C0 f₀.
void RidgeSolution::set_right_side(const PreparedLcp& problem, std::span<const RowMode> modes) {
  const BoxedLcp& lcp = problem.lcp;
  const std::span<const int> clamping = factor_.clamping();
  for (std::size_t a = 0; a < clamping.size(); ++a) x_[a] = -lcp.b[clamping[a]];
  for (int i = 0; i < lcp.size(); ++i) {
    const LcpRow& row = lcp.rows[i];
    if (row.kind != RowKind::bounded || modes[i] == RowMode::clamping) continue;
    const double f0 = modes[i] == RowMode::at_upper ? row.upper : modes[i] == RowMode::at_lower ? row.lower : 0.0;
    const double* column = lcp.column(i);
    for (std::size_t a = 0; a < clamping.size(); ++a) x_[a] -= column[clamping[a]] * f0;
  }
}

// LU of A_C + ε̄ I, with one refinement.
bool RidgeSolution::solve_ridge_system(double ridge) {
  const int m = factor_.size();
  lu_.matrix.resize(m, m);
  std::copy_n(factor_.matrix(), static_cast<std::size_t>(lu_.matrix.stride) * m, lu_.matrix.column(0));
  for (int a = 0; a < m; ++a) lu_.matrix.at(a, a) += ridge;
  std::fill_n(f_C_.data(), m, 0.0);
  if (!lu_.factorize()) return false;
  // The first pass solves, the second removes what the first left.
  double* defect = null_part_.data();
  for (int pass = 0; pass < 2; ++pass) {
    for (int a = 0; a < m; ++a) defect[a] = x_[a] - ridge * f_C_[a];
    subtract_product(factor_.matrix(), factor_.matrix_stride(), m, f_C_.data(), defect, padded(m));
    lu_.solve(defect);
    for (int a = 0; a < m; ++a) f_C_[a] += defect[a];
  }
  return true;
}

bool RidgeSolution::polish(const PreparedLcp& problem, std::span<const RowMode> modes, std::span<double> f) const {
  if (!factor_.has_group_inverse()) return false;
  factor_.expand(problem.lcp, modes, head(polished_C_, factor_.size()), f);
  return true;
}

void RidgeSolution::refine(const PreparedLcp& problem, std::span<const RowMode> modes, std::span<const double> w,
                           std::span<double> f) {
  const int m = factor_.size();
  const std::span<const int> clamping = factor_.clamping();
  const auto x = head(x_, m), polished_C = head(polished_C_, m);
  for (int a = 0; a < m; ++a) x[a] = w[clamping[a]];
  factor_.solve(x, x);
  for (int a = 0; a < m; ++a) polished_C[a] -= x[a];
  factor_.expand(problem.lcp, modes, polished_C, f);
}

void RidgeSolution::refine_by_ridge(const PreparedLcp& problem, std::span<const RowMode> modes,
                                    std::span<const double> w, std::span<double> f) {
  const int m = factor_.size();
  const std::span<const int> clamping = factor_.clamping();
  for (int a = 0; a < m; ++a) x_[a] = w[clamping[a]];
  lu_.solve(x_.data());
  for (int a = 0; a < m; ++a) polished_C_[a] = f[clamping[a]] - x_[a];
  factor_.expand(problem.lcp, modes, head(polished_C_, m), f);
}

}  // namespace lithe::internal

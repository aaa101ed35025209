#include "lithe/lcp/reduced_lcp.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/packed_vectors.h"
#include "lithe/lcp/lcp_tolerances.h"

namespace lithe {

void ReducedLcp::reduce(const PreparedLcp& problem, const LoopStresses& stresses,
                        std::span<const std::uint8_t> eliminate, double ridge) {
  problem_ = &problem;
  stresses_ = &stresses;
  ridge_ = ridge;
  list_rows(problem, eliminate);
  factorize(problem);
  fill_A(problem);
  grow(b_, padded_R_);
  reduce_vector(problem.lcp.b, b_.data());
}

// Two-sided rows come first in E, so that the same ones are implied as in LoopStresses.
void ReducedLcp::list_rows(const PreparedLcp& problem, std::span<const std::uint8_t> eliminate) {
  const BoxedLcp& lcp = problem.lcp;
  kept_.clear();
  eliminated_.clear();
  rows_.clear();
  place_.assign(lcp.size(), -1);
  for (int i = 0; i < lcp.size(); ++i) {
    if (!problem.live[i]) continue;
    if (eliminate[i]) {
      if (lcp.rows[i].kind == RowKind::two_sided) eliminated_.push_back(i);
      continue;
    }
    place_[i] = size();
    kept_.push_back(i);
    rows_.push_back(lcp.rows[i]);
  }
  for (int i = 0; i < lcp.size(); ++i) {
    if (problem.live[i] && eliminate[i] && lcp.rows[i].kind != RowKind::two_sided) eliminated_.push_back(i);
  }
  for (LcpRow& row : rows_) {
    if (row.kind == RowKind::friction) row.normal = place_[row.normal];
  }
  padded_R_ = padded(size());
  factor_stride_ = padded_R_ + padded(eliminated_count());
}

// Row by row of E; what it has over R and over E is one vector.
void ReducedLcp::factorize(const PreparedLcp& problem) {
  const int count = eliminated_count();
  grow(factors_, static_cast<std::size_t>(count) * factor_stride_);
  grow(work_, padded(std::max(count, 1)));
  implied_.resize(count);
  for (int q = 0; q < count; ++q) {
    const double* from = problem.lcp.column(eliminated_[q]);
    double* row = factors_.data() + static_cast<std::ptrdiff_t>(q) * factor_stride_;
    implied_[q] = ridge_ == 0 && stresses_->implies(eliminated_[q]);
    if (implied_[q]) {
      std::fill_n(row, factor_stride_, 0.0);
      continue;
    }
    for (int i = 0; i < size(); ++i) row[i] = from[kept_[i]];
    std::fill(row + size(), row + padded_R_, 0.0);
    double* own = row + padded_R_;
    for (int p = 0; p < count; ++p) own[p] = from[eliminated_[p]];
    own[q] += ridge_;
    std::fill(own + count, row + factor_stride_, 0.0);
    for (int p = 0; p < q; ++p) {
      const double share = over_E(p)[q];
      if (share != 0) add_multiple(-share, over_R(p), row, factor_stride_);
    }
    const double scale = 1 / std::sqrt(own[q]);
    for (int i = 0; i < factor_stride_; ++i) row[i] *= scale;
  }
}

void ReducedLcp::fill_A(const PreparedLcp& problem) {
  const int n = size();
  A_.resize(n, n);
  for (int j = 0; j < n; ++j) {
    const double* from = problem.lcp.column(kept_[j]);
    double* to = A_.column(j);
    for (int i = j / kLanes * kLanes; i < n; ++i) to[i] = from[kept_[i]];
    for (int i = n; i < A_.stride; ++i) to[i] = 0;
  }
  if (eliminated_count() > 0) subtract_squares();
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < n; ++i) A_.at(j, i) = A_.at(i, j);
  }
  if (eliminated_count() == 0 || ridge_ > 0) return;
  for (int j = 0; j < n; ++j) {
    if (A_.at(j, j) > kImpliedByLoops * problem.diagonal[kept_[j]]) continue;
    for (int i = 0; i < n; ++i) A_.at(i, j) = A_.at(j, i) = 0;
  }
}

// −ZᵀZ on and below the diagonal, four rows of Z at a time.
void ReducedLcp::subtract_squares() {
  const int count = eliminated_count();
  for (int q = 0; q < count; q += 4) {
    const double* z[4];
    for (int k = 0; k < 4; ++k) z[k] = over_R(std::min(q + k, count - 1));
    for (int j = 0; j < size(); ++j) {
      double* to = A_.column(j);
      Pack c[4];
      for (int k = 0; k < 4; ++k) c[k] = broadcast(q + k < count ? z[k][j] : 0.0);
      for (int i = j / kLanes * kLanes; i < A_.stride; i += kLanes) {
        as_pack(to + i) -=
            c[0] * as_pack(z[0] + i) + c[1] * as_pack(z[1] + i) + c[2] * as_pack(z[2] + i) + c[3] * as_pack(z[3] + i);
      }
    }
  }
}

// y = L⁻¹ b_E.
void ReducedLcp::solve(std::span<const double> b, double* y) const {
  for (int q = 0; q < eliminated_count(); ++q) {
    double sum = b[eliminated_[q]];
    for (int p = 0; p < q; ++p) sum -= over_E(p)[q] * y[p];
    y[q] = implied_[q] ? 0.0 : sum / over_E(q)[q];
  }
}

// x ← L⁻ᵀ x.
void ReducedLcp::solve_transposed(double* x) const {
  for (int q = eliminated_count() - 1; q >= 0; --q) {
    double sum = x[q];
    for (int p = q + 1; p < eliminated_count(); ++p) sum -= over_E(q)[p] * x[p];
    x[q] = implied_[q] ? 0.0 : sum / over_E(q)[q];
  }
}

void ReducedLcp::reduce_vector(std::span<const double> x, double* out) const {
  for (int i = 0; i < size(); ++i) out[i] = x[kept_[i]];
  for (int i = size(); i < padded_R_; ++i) out[i] = 0;
  solve(x, work_.data());
  for (int q = 0; q < eliminated_count(); ++q) add_multiple(-work_[q], over_R(q), out, padded_R_);
}

void ReducedLcp::recover(const double* f_R, std::span<const double> b, std::span<double> f) const {
  const BoxedLcp& lcp = problem_->lcp;
  for (int i = 0; i < lcp.size(); ++i) {
    const LcpRow& row = lcp.rows[i];
    f[i] = !problem_->live[i] && row.kind == RowKind::bounded ? std::clamp(0.0, row.lower, row.upper) : 0.0;
  }
  for (int i = 0; i < size(); ++i) f[kept_[i]] = f_R[i];
  recover_eliminated(f_R, b, f);
}

void ReducedLcp::recover_eliminated(const double* f_R, std::span<const double> b, std::span<double> f) const {
  if (eliminated_count() == 0) return;
  double* x = work_.data();
  solve(b, x);
  for (int q = 0; q < eliminated_count(); ++q) x[q] = -x[q] - dot(over_R(q), f_R, padded_R_);
  solve_transposed(x);
  for (int q = 0; q < eliminated_count(); ++q) f[eliminated_[q]] = x[q];
  if (ridge_ == 0) stresses_->remove_from(f);
}

void ReducedLcp::echo(const double* f_R, std::span<double> f) const {
  double* x = work_.data();
  for (int q = 0; q < eliminated_count(); ++q) x[q] = -dot(over_R(q), f_R, padded_R_);
  solve_transposed(x);
  for (int q = 0; q < eliminated_count(); ++q) f[eliminated_[q]] = x[q];
}

}  // namespace lithe

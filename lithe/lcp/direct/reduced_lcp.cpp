#include "lithe/lcp/direct/reduced_lcp.h"

#include <algorithm>
#include <cmath>

#include "lithe/linalg/symmetric_matrix.h"
#include "lithe/simd/internal/packed_vectors.h"

namespace lithe::internal {

namespace {

// Where the pack begins that holds the entry.
constexpr int pack_of(int entry) { return entry / kLanes * kLanes; }

}  // namespace

void ReducedLcp::reduce(const PreparedLcp& problem, const LoopStresses& stresses, std::span<const RowRole> roles,
                        std::span<const double> b, double ridge) {
  problem_ = &problem;
  ridge_ = ridge;
  list_rows(problem, stresses.rows(), roles);
  factorize(problem);
  fill_A(problem);
  grow(b_, padded_R_);
  reduce_vector(b, b_.data());
}

// Two-sided rows come first in E, in the order of LoopStresses: those that others imply come last.
void ReducedLcp::list_rows(const PreparedLcp& problem, std::span<const int> two_sided, std::span<const RowRole> roles) {
  const BoxedLcp& lcp = problem.lcp;
  kept_.clear();
  eliminated_.clear();
  inert_.clear();
  rows_.clear();
  place_.assign(lcp.size(), -1);
  for (int i = 0; i < lcp.size(); ++i) {
    if (!problem.live[i]) inert_.push_back(i);
    if (!problem.live[i] || roles[i] != RowRole::kept) continue;
    place_[i] = size();
    kept_.push_back(i);
    rows_.push_back(lcp.rows[i]);
  }
  for (const int i : two_sided) {
    if (roles[i] == RowRole::eliminated) eliminated_.push_back(i);
  }
  for (int i = 0; i < lcp.size(); ++i) {
    const bool eliminated = problem.live[i] && roles[i] == RowRole::eliminated;
    if (eliminated && lcp.rows[i].kind != RowKind::two_sided) eliminated_.push_back(i);
  }
  for (LcpRow& row : rows_) {
    if (row.kind == RowKind::friction) row.normal = place_[row.normal];
  }
  padded_R_ = padded(size());
  padded_E_ = padded(eliminated_count());
  factor_stride_ = padded_E_ + padded_R_;
}

// Row by row of E; what it has over E, from the diagonal on, and over R is one vector.
void ReducedLcp::factorize(const PreparedLcp& problem) {
  const int count = eliminated_count();
  grow(factors_, static_cast<std::size_t>(count) * factor_stride_);
  grow(work_, factor_stride_);
  inverse_diagonal_.assign(count, 0.0);
  shares_.resize(count);
  for (int q = 0; q < count; ++q) {
    double* row = factors_.data() + static_cast<std::ptrdiff_t>(q) * factor_stride_;
    gather(problem.lcp.column(eliminated_[q]), q, row);
    row[q] += ridge_;
    for (int p = 0; p < q; ++p) shares_[p] = factor(p)[q];
    const int first = pack_of(q);
    subtract_product(factor(0) + first, factor_stride_, q, shares_.data(), row + first, factor_stride_ - first);
    const double scale = inverse_diagonal_[q] = 1 / std::sqrt(row[q]);
    for (int i = first; i < factor_stride_; ++i) row[i] *= scale;
    std::fill_n(row, q + 1, 0.0);
  }
}

// What a vector over all rows has over E, from its row `first` on, and over R, padded.
void ReducedLcp::gather(const double* x, int first, double* out) const {
  for (int q = first; q < eliminated_count(); ++q) out[q] = x[eliminated_[q]];
  std::fill(out + eliminated_count(), out + padded_E_, 0.0);
  double* over_R = out + padded_E_;
  for (int i = 0; i < size(); ++i) over_R[i] = x[kept_[i]];
  std::fill(over_R + size(), over_R + padded_R_, 0.0);
}

void ReducedLcp::fill_A(const PreparedLcp& problem) {
  const int n = size();
  A_.resize(n, n);
  for (int j = 0; j < n; ++j) {
    const double* from = problem.lcp.column(kept_[j]);
    double* to = A_.column(j);
    for (int i = pack_of(j); i < n; ++i) to[i] = from[kept_[i]];
    for (int i = n; i < A_.stride; ++i) to[i] = 0;
  }
  if (eliminated_count() > 0) subtract_squares();
  mirror_lower_triangle(A_.data.data(), n, A_.stride);
}

// −ZᵀZ on and below the diagonal, in tiles of four columns and up to three packs of rows.
void ReducedLcp::subtract_squares() {
  const int count = eliminated_count();
  const double* Z = factor(0) + padded_E_;
  const auto tile = [&]<int Packs>(int i, int j) {
    Pack sum[kLanes][Packs] = {};
    const double* z = Z;
    for (int q = 0; q < count; ++q, z += factor_stride_) {
      for (int k = 0; k < kLanes; ++k) {
        const Pack c = broadcast(z[j + k]);
        for (int p = 0; p < Packs; ++p) sum[k][p] += c * as_pack(z + i + kLanes * p);
      }
    }
    for (int k = 0; k < std::min(kLanes, size() - j); ++k) {
      for (int p = 0; p < Packs; ++p) as_pack(A_.column(j + k) + i + kLanes * p) -= sum[k][p];
    }
  };
  for (int j = 0; j < size(); j += kLanes) {
    int i = j;
    for (; i + 3 * kLanes <= A_.stride; i += 3 * kLanes) tile.template operator()<3>(i, j);
    if (i + 2 * kLanes == A_.stride) tile.template operator()<2>(i, j);
    if (i + kLanes == A_.stride) tile.template operator()<1>(i, j);
  }
}

// x over E and R, padded, becomes [y, x_R − Zᵀy] with y = L⁻¹ x_E.
void ReducedLcp::eliminate(double* x) const {
  for (int q = 0; q < eliminated_count(); ++q) {
    const double y = x[q] * inverse_diagonal_[q];
    const int first = pack_of(q);
    add_multiple(-y, factor(q) + first, x + first, factor_stride_ - first);
    x[q] = y;
  }
}

// x over E and R, padded: x_E ← L⁻ᵀ(x_E − Z x_R). Beyond the first `count` entries x counts as zero.
void ReducedLcp::substitute(double* x, int count) const {
  for (int q = eliminated_count() - 1; q >= 0; --q) {
    const int first = pack_of(q);
    x[q] = (x[q] - dot(factor(q) + first, x + first, count - first)) * inverse_diagonal_[q];
  }
}

double ReducedLcp::response_left(int i) const {
  double* x = work_.data();
  std::fill_n(x, padded_E_, 0.0);
  for (int q = 0; q < eliminated_count(); ++q) x[q] = factor(q)[padded_E_ + i];
  substitute(x, padded_E_);
  return diagonal(i) - ridge_ * dot(x, x, padded_E_);
}

void ReducedLcp::reduce_vector(std::span<const double> x, double* out) const {
  gather(x.data(), 0, work_.data());
  eliminate(work_.data());
  std::copy_n(work_.data() + padded_E_, padded_R_, out);
}

void ReducedLcp::recover(const double* f_R, std::span<const double> b, std::span<double> f) const {
  const BoxedLcp& lcp = problem_->lcp;
  for (const int i : inert_) {
    const LcpRow& row = lcp.rows[i];
    f[i] = row.kind == RowKind::bounded ? std::clamp(0.0, row.lower, row.upper) : 0.0;
  }
  for (int i = 0; i < size(); ++i) f[kept_[i]] = f_R[i];
  recover_eliminated(f_R, b, f);
}

void ReducedLcp::recover_eliminated(const double* f_R, std::span<const double> b, std::span<double> f) const {
  if (eliminated_count() == 0) return;
  double* x = work_.data();
  gather(b.data(), 0, x);
  eliminate(x);
  for (int q = 0; q < eliminated_count(); ++q) x[q] = -x[q];
  std::copy_n(f_R, padded_R_, x + padded_E_);
  substitute(x, factor_stride_);
  for (int q = 0; q < eliminated_count(); ++q) f[eliminated_[q]] = x[q];
}

}  // namespace lithe::internal

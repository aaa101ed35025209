#include "lithe/lcp/direct/loop_stresses.h"

#include <algorithm>
#include <cmath>

#include "lithe/linalg/padded_matrix.h"
#include "lithe/simd/internal/packed_vectors.h"

namespace lithe::internal {

namespace {

// A column that differs by this share of √A_ii times the largest √A_jj, or less, differs by rounding.
constexpr double kImpliedExactly = 1e-14;

}  // namespace

void LoopStresses::find(const PreparedLcp& problem, double implied_share) {
  rows_.clear();
  for (int i = 0; i < problem.size(); ++i) {
    if (problem.live[i] && problem.lcp.rows[i].kind == RowKind::two_sided) rows_.push_back(i);
  }
  count_ = 0;
  const int n = static_cast<int>(rows_.size());
  stride_ = padded(n);
  L_.assign(static_cast<std::size_t>(n) * stride_, 0.0);
  left_.resize(n);
  for (int q = 0; q < n; ++q) left_[q] = problem.diagonal[rows_[q]];
  const auto share = [&](int q) { return left_[q] / problem.diagonal[rows_[q]]; };
  int rank = 0;
  for (; rank < n; ++rank) {
    int largest = rank;
    for (int q = rank + 1; q < n; ++q) {
      if (share(q) > share(largest)) largest = q;
    }
    if (!(share(largest) > implied_share)) break;
    exchange(rank, largest);
    const double pivot = std::sqrt(left_[rank]), inverse_pivot = 1 / pivot;
    const double* from = problem.lcp.column(rows_[rank]);
    const int begun = padded(rank);  // what is beyond is zero so far
    for (int q = rank + 1; q < n; ++q) {
      const double x = (from[rows_[q]] - dot(row(q), row(rank), begun)) * inverse_pivot;
      row(q)[rank] = x;
      left_[q] -= x * x;
    }
    row(rank)[rank] = pivot;
  }
  implied_.assign(problem.size(), 0);
  // What is left of a row that others imply is nothing; less than nothing shows that A is no matrix of masses, and has no stresses.
  for (int q = rank; q < n; ++q) {
    if (share(q) < -kImpliedByLoops) return;
  }
  x_.assign(stride_, 0.0);
  stresses_.assign(static_cast<std::size_t>(n - rank) * stride_, 0.0);
  shares_.assign(static_cast<std::size_t>(n - rank) * stride_, 0.0);
  for (int q = rank; q < n; ++q) {
    implied_[rows_[q]] = 1;
    add_stress(q, rank);
  }
}

void LoopStresses::exchange(int p, int q) {
  if (p == q) return;
  std::swap(rows_[p], rows_[q]);
  std::swap(left_[p], left_[q]);
  std::swap_ranges(row(p), row(p) + p, row(q));
}

// Row q less its shares of the rows that imply it, e_q − x with Lᵀ x = L_q; made orthonormal to those found before.
void LoopStresses::add_stress(int q, int rank) {
  double* x = shares(count_);
  std::copy_n(row(q), rank, x);
  for (int p = rank - 1; p >= 0; --p) {
    const double share = x[p] / row(p)[p];
    add_multiple(-share, row(p), x, padded(p));  // zero beyond p
    x[p] = share;
  }
  double* stress = this->stress(count_);
  for (int p = 0; p < rank; ++p) stress[p] = -x[p];
  stress[q] = 1;
  for (int pass = 0; pass < 2; ++pass) {
    for (int s = 0; s < count_; ++s) {
      add_multiple(-dot(stress, this->stress(s), stride_), this->stress(s), stress, stride_);
    }
    const double inverse_length = 1 / std::sqrt(dot(stress, stress, stride_));
    for (int i = 0; i < stride_; ++i) stress[i] *= inverse_length;
  }
  ++count_;
}

double LoopStresses::remove_from(std::span<double> x) const {
  if (count_ == 0) return 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) x_[i] = x[rows_[i]];
  double largest = 0;
  for (int s = 0; s < count_; ++s) {
    const double share = dot(stress(s), x_.data(), stride_);
    add_multiple(-share, stress(s), x_.data(), stride_);
    largest = std::max(largest, std::abs(share));
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) x[rows_[i]] = x_[i];
  return largest;
}

// The columns of implied rows as their shares of others make them, but for the rows that are implied themselves; false where A has them
// up to rounding.
bool LoopStresses::find_columns(const PreparedLcp& problem) {
  const int rank = static_cast<int>(rows_.size()) - count_, rows = padded(problem.size());
  columns_.assign(static_cast<std::size_t>(rows) * count_, 0.0);
  bool differs = false;
  for (int s = 0; s < count_; ++s) {
    double* column = columns_.data() + static_cast<std::ptrdiff_t>(rows) * s;
    for (int p = 0; p < rank; ++p) add_multiple(shares(s)[p], problem.lcp.column(rows_[p]), column, rows);
    const double* now = problem.lcp.column(rows_[rank + s]);
    for (int i = 0; i < problem.size(); ++i) {
      const double rounding = kImpliedExactly * problem.root[i] * problem.largest_root;
      differs = differs || (std::abs(column[i] - now[i]) > rounding && !implied_[i]);
    }
  }
  return differs;
}

bool LoopStresses::make_exact(const PreparedLcp& problem, AlignedBuffer& out) {
  if (count_ == 0 || !find_columns(problem)) return false;
  const BoxedLcp& lcp = problem.lcp;
  const int n = lcp.size(), rows = padded(n), rank = static_cast<int>(rows_.size()) - count_;
  grow(out, static_cast<std::size_t>(lcp.stride) * n);
  std::copy_n(lcp.A, static_cast<std::size_t>(lcp.stride) * n, out.data());
  const auto column_of = [&](int i) { return out.data() + static_cast<std::ptrdiff_t>(lcp.stride) * i; };
  for (int s = 0; s < count_; ++s) {
    double* column = columns_.data() + static_cast<std::ptrdiff_t>(rows) * s;
    for (int t = 0; t < count_; ++t) {
      double sum = 0;
      for (int p = 0; p < rank; ++p) sum += shares(t)[p] * column[rows_[p]];
      column[rows_[rank + t]] = sum;
    }
    const int i = rows_[rank + s];
    std::copy_n(column, rows, column_of(i));
    for (int j = 0; j < n; ++j) column_of(j)[i] = column[j];
  }
  return true;
}

}  // namespace lithe::internal

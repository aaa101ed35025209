#include "lithe/lcp/loop_stresses.h"

#include <algorithm>
#include <cmath>

#include "lithe/lcp/lcp_tolerances.h"

namespace lithe {

namespace {

double product(const double* x, const double* y, std::size_t size) {
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace

// Cholesky in the order of the rows. An implied row has no pivot: all of its column in L is zero.
void LoopStresses::find(const PreparedLcp& problem) {
  rows_.clear();
  for (int i = 0; i < problem.size(); ++i) {
    if (problem.live[i] && problem.lcp.rows[i].kind == RowKind::two_sided) rows_.push_back(i);
  }
  implied_.assign(problem.size(), 0);
  stresses_.clear();
  count_ = 0;
  const std::size_t n = rows_.size();
  L_.resize(n * n);
  for (std::size_t q = 0; q < n; ++q) {
    double* row = L_.data() + q * n;
    const double* from = problem.lcp.column(rows_[q]);
    double left = from[rows_[q]];
    for (std::size_t p = 0; p < q; ++p) {
      const double* other = L_.data() + p * n;
      row[p] = implied_[rows_[p]] ? 0.0 : (from[rows_[p]] - product(row, other, p)) / other[p];
      left -= row[p] * row[p];
    }
    implied_[rows_[q]] = !(left > kImpliedByLoops * problem.diagonal[rows_[q]]);
    row[q] = implied_[rows_[q]] ? 0.0 : std::sqrt(left);
    if (implied_[rows_[q]]) add_stress(static_cast<int>(q));
  }
}

// Row q less the rows before it that imply it, e_q − L⁻ᵀ L_q; made orthonormal to those found before.
void LoopStresses::add_stress(int q) {
  const std::size_t n = rows_.size();
  stresses_.resize(stresses_.size() + n, 0.0);
  double* stress = stresses_.data() + n * static_cast<std::size_t>(count_);
  const double* row = L_.data() + static_cast<std::size_t>(q) * n;
  for (int p = q - 1; p >= 0; --p) {
    if (implied_[rows_[p]]) continue;
    double sum = -row[p];
    for (int k = p + 1; k < q; ++k) sum -= L_[static_cast<std::size_t>(k) * n + p] * stress[k];
    stress[p] = sum / L_[static_cast<std::size_t>(p) * n + p];
  }
  stress[q] = 1;
  for (int pass = 0; pass < 2; ++pass) {
    for (int s = 0; s < count_; ++s) {
      const double* other = stresses_.data() + n * static_cast<std::size_t>(s);
      const double share = product(stress, other, n);
      for (std::size_t i = 0; i < n; ++i) stress[i] -= share * other[i];
    }
    const double length = std::sqrt(product(stress, stress, n));
    for (std::size_t i = 0; i < n; ++i) stress[i] /= length;
  }
  ++count_;
}

double LoopStresses::remove_from(std::span<double> x) const {
  const std::size_t n = rows_.size();
  double largest = 0;
  for (int s = 0; s < count_; ++s) {
    const double* stress = stresses_.data() + n * static_cast<std::size_t>(s);
    double share = 0;
    for (std::size_t i = 0; i < n; ++i) share += stress[i] * x[rows_[i]];
    for (std::size_t i = 0; i < n; ++i) x[rows_[i]] -= share * stress[i];
    largest = std::max(largest, std::abs(share));
  }
  return largest;
}

}  // namespace lithe

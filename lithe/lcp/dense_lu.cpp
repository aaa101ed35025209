#include "lithe/lcp/dense_lu.h"

#include <algorithm>
#include <cmath>

namespace lithe {

bool DenseLu::factorize() {
  const int n = matrix.rows, rows = matrix.stride;
  exchanged_.resize(n);
  grow(multipliers_, rows);
  double* multipliers = multipliers_.data();
  std::fill_n(multipliers, rows, 0.0);
  for (int k = 0; k < n; ++k) {
    double* pivot_column = matrix.column(k);
    int p = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::abs(pivot_column[i]) > std::abs(pivot_column[p])) p = i;
    }
    exchanged_[k] = p;
    if (p != k) {
      for (int j = 0; j < n; ++j) std::swap(matrix.at(p, j), matrix.at(k, j));
    }
    const double pivot = pivot_column[k];
    if (!std::isfinite(pivot) || pivot == 0) return false;
    const double inverse_pivot = 1 / pivot;
    // Rows up to k keep their values: their multiplier is zero.
    multipliers[k] = 0;
    for (int i = k + 1; i < n; ++i) multipliers[i] = pivot_column[i] *= inverse_pivot;
    const int first = k / kLanes * kLanes;
    for (int j = k + 1; j < n; ++j) {
      double* column = matrix.column(j);
      const Pack u = broadcast(column[k]);
      for (int i = first; i < rows; i += kLanes) as_pack(column + i) -= u * as_pack(multipliers + i);
    }
  }
  return true;
}

void DenseLu::solve(double* x) const {
  const int n = matrix.rows;
  for (int k = 0; k < n; ++k) std::swap(x[k], x[exchanged_[k]]);
  for (int k = 0; k < n; ++k) {
    const double* column = matrix.column(k);
    for (int i = k + 1; i < n; ++i) x[i] -= column[i] * x[k];
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* column = matrix.column(k);
    x[k] /= column[k];
    for (int i = 0; i < k; ++i) x[i] -= column[i] * x[k];
  }
}

bool invert(PaddedMatrix& A, bool exchange, std::vector<int>& exchanged) {
  const int n = A.rows, rows = padded(n);
  exchanged.resize(n);
  bool regular = true;
  for (int k = 0; k < n && regular; ++k) {
    double* pivot_column = A.column(k);
    int p = k;
    if (exchange) {
      for (int i = k + 1; i < n; ++i) {
        if (std::abs(pivot_column[i]) > std::abs(pivot_column[p])) p = i;
      }
      if (p != k) {
        for (int j = 0; j < n; ++j) std::swap(A.at(p, j), A.at(k, j));
      }
    }
    exchanged[k] = p;
    const double pivot = pivot_column[k];
    regular = std::isfinite(pivot) && pivot != 0;
    const double inverse_pivot = 1 / pivot;
    pivot_column[k] = 0;
    // The pivot's own row is zero in its column now, so it stays as it is in the others until they are all done.
    for_each_row_block(rows, [&]<int Packs>(int row) {
      Pack pivots[Packs];
      for (int g = 0; g < Packs; ++g) pivots[g] = as_pack(pivot_column + row + kLanes * g);
      for (int j = 0; j < n; ++j) {
        if (j == k) continue;
        double* column = A.column(j);
        const Pack t = broadcast(column[k] * inverse_pivot);
        for (int g = 0; g < Packs; ++g) as_pack(column + row + kLanes * g) -= t * pivots[g];
      }
    });
    for (int j = 0; j < n; ++j) {
      if (j != k) A.at(k, j) *= inverse_pivot;
    }
    for (int i = 0; i < rows; i += kLanes) as_pack(pivot_column + i) *= broadcast(-inverse_pivot);
    pivot_column[k] = inverse_pivot;
  }
  for (int k = n - 1; k >= 0 && regular; --k) {
    if (exchanged[k] != k) std::swap_ranges(A.column(k), A.column(k) + rows, A.column(exchanged[k]));
  }
  return regular;
}

}  // namespace lithe

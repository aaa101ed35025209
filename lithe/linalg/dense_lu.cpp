#include "lithe/linalg/dense_lu.h"

#include <algorithm>
#include <cmath>

namespace lithe::internal {

// L (unit diagonal) and U in the place of A, by columns: each pivot's multipliers are taken off all columns to its right. Rows are
// exchanged whole, L's part included, so that solve() can make all exchanges before it substitutes.
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
    // Whole packs, from the one that holds the pivot on.
    const int first = k / kLanes * kLanes;
    for (int j = k + 1; j < n; ++j) {
      double* column = matrix.column(j);
      const Pack u = broadcast(column[k]);
      for (int i = first; i < rows; i += kLanes) as_pack(column + i) -= u * as_pack(multipliers + i);
    }
  }
  return true;
}

// x ← U⁻¹ L⁻¹ x with its rows exchanged.
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

namespace {

// Steps of Gauss–Jordan elimination in place. The pivots' own rows change within their pack: stores of single numbers would keep the
// next loads waiting.

// Pivot k: with p its value, row k becomes a_kj/p, column k −a_ik/p, the pivot 1/p, and all others lose a_ik a_kj/p.
// False where it is zero or not finite.
bool eliminate(PaddedMatrix& A, int k) {
  const int n = A.rows, own_pack = k / kLanes * kLanes;
  double* pivot_column = A.column(k);
  const double pivot = pivot_column[k];
  if (!std::isfinite(pivot) || pivot == 0) return false;
  const double inverse_pivot = 1 / pivot;
  const Pack own = unit_lane(k - own_pack);
  const auto with_own = [&](Pack at_pivot, Pack x) { return own != Pack{} ? at_pivot : x; };
  for_each_row_block(padded(n), [&]<int Packs>(int row) {
    Pack pivots[Packs];
    for (int g = 0; g < Packs; ++g) pivots[g] = as_pack(pivot_column + row + kLanes * g);
    const Pack own_pivots = as_pack(pivot_column + own_pack);
    // The block of rows that holds row k writes it divided: blocks before it divide for themselves, later ones find it done.
    const bool has_own = row <= k && k < row + kLanes * Packs;
    const bool divided = row > k;  // in the block before
    for (int j = 0; j < n; ++j) {
      if (j == k) continue;
      double* column = A.column(j);
      const Pack t = broadcast(divided ? column[k] : column[k] * inverse_pivot);
      const Pack changed = with_own(t, as_pack(column + own_pack) - t * own_pivots);
      for (int g = 0; g < Packs; ++g) as_pack(column + row + kLanes * g) -= t * pivots[g];
      if (has_own) as_pack(column + own_pack) = changed;
    }
  });
  for (int i = 0; i < padded(n); i += kLanes) as_pack(pivot_column + i) *= broadcast(-inverse_pivot);
  as_pack(pivot_column + own_pack) = with_own(broadcast(inverse_pivot), as_pack(pivot_column + own_pack));
  return true;
}

// Pivots k (even) and k + 1 of a symmetric and positive definite A: half the loads and stores, half the waiting. It is the step of one
// pivot with a 2×2 block in its place, whose inverse is (p q; q r). As k is even, both rows are in one pack.
bool eliminate_two(PaddedMatrix& A, int k) {
  const int n = A.rows, own_pack = k / kLanes * kLanes;
  double* first = A.column(k);
  double* second = A.column(k + 1);
  const double determinant = first[k] * second[k + 1] - second[k] * second[k];
  if (!std::isfinite(determinant) || !(determinant > 0) || !(first[k] > 0)) return false;
  // The inverse of the 2×2 block: p, q; q, r.
  const double p = second[k + 1] / determinant, q = -second[k] / determinant, r = first[k] / determinant;
  const Pack own_first = unit_lane(k - own_pack), own_second = unit_lane(k + 1 - own_pack);
  const auto with_own = [&](Pack at_first, Pack at_second, Pack x) {
    const Pack rest = own_second != Pack{} ? at_second : x;
    return own_first != Pack{} ? at_first : rest;
  };
  for_each_row_block(padded(n), [&]<int Packs>(int row) {
    Pack u[Packs], v[Packs];
    for (int g = 0; g < Packs; ++g) {
      u[g] = as_pack(first + row + kLanes * g);
      v[g] = as_pack(second + row + kLanes * g);
    }
    const Pack own_u = as_pack(first + own_pack), own_v = as_pack(second + own_pack);
    const bool has_own = row <= k && k < row + kLanes * Packs;
    const bool divided = row > k;  // in the block before
    for (int j = 0; j < n; ++j) {
      if (j == k || j == k + 1) continue;
      double* column = A.column(j);
      const double a = column[k], b = column[k + 1];
      const Pack s = broadcast(divided ? a : p * a + q * b), t = broadcast(divided ? b : q * a + r * b);
      const Pack changed = with_own(s, t, as_pack(column + own_pack) - s * own_u - t * own_v);
      for (int g = 0; g < Packs; ++g) {
        Pack& x = as_pack(column + row + kLanes * g);
        x = x - s * u[g] - t * v[g];
      }
      if (has_own) as_pack(column + own_pack) = changed;
    }
  });
  for (int i = 0; i < padded(n); i += kLanes) {
    const Pack u = as_pack(first + i), v = as_pack(second + i);
    as_pack(first + i) = -(broadcast(p) * u + broadcast(q) * v);
    as_pack(second + i) = -(broadcast(q) * u + broadcast(r) * v);
  }
  as_pack(first + own_pack) = with_own(broadcast(p), broadcast(q), as_pack(first + own_pack));
  as_pack(second + own_pack) = with_own(broadcast(q), broadcast(r), as_pack(second + own_pack));
  return true;
}

}  // namespace

// Exchanges of rows on the way are exchanges of columns of the inverse, undone in the opposite order.
bool invert(PaddedMatrix& A, std::vector<int>& exchanged) {
  const int n = A.rows;
  exchanged.resize(n);
  for (int k = 0; k < n; ++k) {
    const double* pivot_column = A.column(k);
    int p = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::abs(pivot_column[i]) > std::abs(pivot_column[p])) p = i;
    }
    if (p != k) {
      for (int j = 0; j < n; ++j) std::swap(A.at(p, j), A.at(k, j));
    }
    exchanged[k] = p;
    if (!eliminate(A, k)) return false;
  }
  for (int k = n - 1; k >= 0; --k) {
    if (exchanged[k] != k) std::swap_ranges(A.column(k), A.column(k) + padded(n), A.column(exchanged[k]));
  }
  return true;
}

// An odd size leaves one pivot over.
bool invert_positive(PaddedMatrix& A) {
  int k = 0;
  for (; k + 1 < A.rows; k += 2) {
    if (!eliminate_two(A, k)) return false;
  }
  return k == A.rows || (A.at(k, k) > 0 && eliminate(A, k));
}

}  // namespace lithe::internal

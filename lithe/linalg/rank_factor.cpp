#include "lithe/linalg/rank_factor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lithe::internal {

namespace {

// Finds the largest of many positive numbers and where it was, with nothing but maxima: the lowest bits of each number
// make way for the complement of its index, which costs the order of numbers that agree to 1e-10 or so (n < 2²⁰), and
// among equals the first one wins.
class LargestOf {
 public:
  explicit LargestOf(int size) {
    while (mask_ < size - 1) mask_ = 2 * mask_ + 1;
  }
  // Four neighbouring numbers, the first of which has this index.
  LITHE_INLINE Pack tag(Pack value, int first_index) const {
    const Bits lane = {0, 1, 2, 3};
    return reinterpret_cast<Pack>((reinterpret_cast<Bits>(value) & ~mask_) | (mask_ - first_index - lane));
  }
  // Of a number that tag() has marked.
  int index(double tagged) const { return static_cast<int>(mask_ - (std::bit_cast<std::int64_t>(tagged) & mask_)); }

 private:
  using Bits = std::int64_t __attribute__((vector_size(32)));
  std::int64_t mask_ = 3;
};

LITHE_INLINE Pack larger(Pack a, Pack b) {
  keep_in_register(a);  // else gcc builds masks where one instruction does
  return a > b ? a : b;
}

LITHE_INLINE double largest_lane(Pack x) {
  x = larger(x, __builtin_shufflevector(x, x, 2, 3, 0, 1));
  x = larger(x, __builtin_shufflevector(x, x, 1, 0, 3, 2));
  return x[0];
}

// One column of the Cholesky factor, u = (a − Σ_c U_c U_pc) · scale, for `Packs` packs of rows; takes u² off what remains
// of the diagonal and returns the largest share that is left. All pointers are at the first of these rows but row_p.
template <int Packs>
LITHE_INLINE Pack eliminate(const double* a, const double* U, int stride, int count, const double* row_p, double scale,
                            double* u, double* remaining, const double* weight, const LargestOf& order, int row) {
  Pack sum[Packs];
  for (int k = 0; k < Packs; ++k) sum[k] = as_pack(a + kLanes * k);
  for (int c = 0; c < count; ++c, U += stride, row_p += stride) {
    const Pack factor = broadcast(*row_p);
    for (int k = 0; k < Packs; ++k) sum[k] -= factor * as_pack(U + kLanes * k);
  }
  Pack share[Packs];
  for (int k = 0; k < Packs; ++k) {
    sum[k] *= broadcast(scale);
    as_pack(u + kLanes * k) = sum[k];
    const Pack left = as_pack(remaining + kLanes * k) - sum[k] * sum[k];
    as_pack(remaining + kLanes * k) = left;
    share[k] = order.tag(left * as_pack(weight + kLanes * k), row + kLanes * k);
  }
  for (int width = 1; width < Packs; width *= 2) {
    for (int k = 0; k + width < Packs; k += 2 * width) share[k] = larger(share[k], share[k + width]);
  }
  return share[0];
}

}  // namespace

// One column of U per pivot. A itself is not changed: a column of it loses what the columns of U before make of it, just when its pivot is
// chosen (left-looking), so columns that are never pivots are never read.
void RankFactor::compute_symmetric(const double* matrix, int stride, int matrix_size, std::span<const int> listed,
                                   double tolerance) {
  const int m = static_cast<int>(listed.size());
  const bool whole = m == matrix_size;
  U.resize(m, m);
  Vt.resize(m, 0);
  const int rows = U.stride;
  // What remains of the diagonal, and 1/A_ii, by which it becomes a share.
  grow(remaining_, 2 * static_cast<std::size_t>(rows));
  double* remaining = remaining_.data();
  double* weight = remaining + rows;
  const LargestOf order(rows);
  Pack best{};
  for (int a = 0; a < m; ++a) remaining[a] = matrix[static_cast<std::ptrdiff_t>(listed[a]) * (stride + 1)];
  for (int a = m; a < rows; ++a) remaining[a] = 0;
  for (int a = 0; a < rows; a += kLanes) {
    const Pack diagonal = as_pack(remaining + a);
    as_pack(weight + a) = diagonal > Pack{} ? 1.0 / diagonal : Pack{};
    best = larger(order.tag(diagonal * as_pack(weight + a), a), best);
  }

  rank = 0;
  last_pivot = 0;
  rejected_pivot = 0;
  smallest_pivot = std::numeric_limits<double>::infinity();
  while (rank < m) {
    const double share = largest_lane(best);
    const int p = order.index(share);
    if (!(share > tolerance) || p >= m) {  // the latter where A is not finite
      rejected_pivot = share;
      break;
    }
    last_pivot = share;
    const double* first = U.column(0);
    double* column = U.column(rank);
    const double* from = matrix + static_cast<std::ptrdiff_t>(listed[p]) * stride;
    // The listed rows alone, next to one another.
    if (!whole) {
      for (int a = 0; a < m; ++a) column[a] = from[listed[a]];
      for (int a = m; a < rows; ++a) column[a] = 0;
      from = column;
    }
    smallest_pivot = std::min(smallest_pivot, remaining[p]);
    const double scale = 1 / std::sqrt(remaining[p]);
    double* weight_p = weight + p / kLanes * kLanes;
    as_pack(weight_p) *= broadcast(1) - unit_lane(p % kLanes);  // a pivot counts no more
    best = Pack{};
    for_each_row_block(rows, [&]<int Packs>(int row) {
      best = larger(eliminate<Packs>(from + row, first + row, rows, rank, first + p, scale, column + row,
                                     remaining + row, weight + row, order, row),
                    best);
    });
    ++rank;
  }
  U.columns = rank;
}

// A − Σ u vᵀ is kept in work_ and loses one product per pivot: u is the pivot's column and v the pivot's row divided by the pivot. The
// pivot's column is closed afterwards, its row counts no more.
void RankFactor::compute_general(const PaddedMatrix& A, const double* inverse_scale, double tolerance) {
  const int m = A.rows, rows = A.stride;
  U.resize(m, m);
  Vt.resize(m, m);
  work_.resize(m, m);
  std::copy_n(A.column(0), static_cast<std::size_t>(rows) * m, work_.column(0));
  // remaining_: per column the largest share, then the rows' weights; a row that has been pivot counts no more.
  grow(remaining_, 2 * static_cast<std::size_t>(rows));
  double* column_share = remaining_.data();
  double* weight = column_share + rows;
  for (int i = 0; i < rows; ++i) weight[i] = i < m ? inverse_scale[i] : 0.0;

  // The largest share in column j, of the rows that have not been pivots.
  const auto find_share = [&](int j) {
    Pack largest{};
    const double* column = work_.column(j);
    for (int i = 0; i < rows; i += kLanes) {
      const Pack x = absolute(as_pack(column + i)) * as_pack(weight + i);
      largest = x > largest ? x : largest;
    }
    column_share[j] = inverse_scale[j] * std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
  };

  open_.clear();
  for (int j = 0; j < m; ++j) {
    open_.push_back(j);
    find_share(j);
  }
  rank = 0;
  last_pivot = 0;
  rejected_pivot = 0;
  smallest_pivot = std::numeric_limits<double>::infinity();
  while (rank < m) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < open_.size(); ++k) {
      if (column_share[open_[k]] > column_share[open_[best]]) best = k;
    }
    const int q = open_[best];
    if (!(column_share[q] > tolerance)) {
      rejected_pivot = std::max(column_share[q], 0.0);
      break;
    }
    last_pivot = column_share[q];
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(best));

    double* u = U.column(rank);
    std::copy_n(work_.column(q), rows, u);
    int p = 0;
    for (int i = 1; i < m; ++i) {
      if (std::abs(u[i]) * weight[i] > std::abs(u[p]) * weight[p]) p = i;
    }
    weight[p] = 0;
    smallest_pivot = std::min(smallest_pivot, std::abs(u[p]));
    double* v = Vt.column(rank);
    std::fill_n(v, rows, 0.0);
    v[q] = 1;
    const double inverse_pivot = 1 / u[p];
    for (const int j : open_) {
      double* column = work_.column(j);
      v[j] = column[p] * inverse_pivot;
      const Pack vj = broadcast(v[j]);
      for (int i = 0; i < rows; i += kLanes) as_pack(column + i) -= vj * as_pack(u + i);
      // What is left of the pivot's row is rounding.
      column[p] = 0;
      find_share(j);
    }
    ++rank;
  }
  U.columns = rank;
  Vt.columns = rank;
}

}  // namespace lithe::internal

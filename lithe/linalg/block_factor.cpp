#include "lithe/linalg/block_factor.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "lithe/linalg/padded_matrix.h"

namespace lithe::internal {

namespace {

// Calls work(size), with the size of a free body's block as a constant: its loops are then unrolled.
template <class Work>
LITHE_INLINE void with_block_size(int size, Work work) {
  if (size == 6) {
    work(std::integral_constant<int, 6>{});
  } else {
    work(size);
  }
}
// The same for two sizes: both six, or any.
template <class Work>
LITHE_INLINE void with_block_sizes(int a, int b, Work work) {
  if (a == 6 && b == 6) {
    work(std::integral_constant<int, 6>{}, std::integral_constant<int, 6>{});
  } else {
    work(a, b);
  }
}

// y −= x·column.
LITHE_INLINE void subtract_column(const double* column, double x, double* y, int rows) {
  const Pack factor = broadcast(x);
  for (int r = 0; r < rows; r += kLanes) as_pack(y + r) -= as_pack(column + r) * factor;
}

LITHE_INLINE double dot_column(const double* column, const double* x, int rows) {
  Pack sum = {};
  for (int r = 0; r < rows; r += kLanes) sum += as_pack(column + r) * as_pack(x + r);
  return lane_sum(sum);
}

// y −= B x.
LITHE_INLINE void subtract_block(const double* B, int rows, int columns, const double* x, double* y) {
  with_block_sizes(rows, columns, [&](auto m, auto n) {
    const int stride = padded(m);
    for (int j = 0; j < n; ++j) subtract_column(B + j * stride, x[j], y, stride);
  });
}

// y −= Bᵀ x.
LITHE_INLINE void subtract_block_transposed(const double* B, int rows, int columns, const double* x, double* y) {
  with_block_sizes(rows, columns, [&](auto m, auto n) {
    const int stride = padded(m);
    int j = 0;
    for (; j + kLanes <= n; j += kLanes) {
      Pack sum[kLanes] = {};
      for (int r = 0; r < stride; r += kLanes) {
        const Pack xr = as_pack(x + r);
        for (int k = 0; k < kLanes; ++k) sum[k] += as_pack(B + (j + k) * stride + r) * xr;
      }
      transpose(sum[0], sum[1], sum[2], sum[3]);
      as_pack(y + j) -= (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
    for (; j < n; ++j) y[j] -= dot_column(B + j * stride, x, stride);
  });
}

// A free body's part of a vector, in registers: whoever substitutes waits for each number in turn, and a way through memory would make it
// wait twice as long.
struct Six {
  Pack low, high;

  LITHE_INLINE static Six load(const double* x) { return {as_pack(x), as_pack(x + kLanes)}; }
  LITHE_INLINE void store(double* x) const {
    as_pack(x) = low;
    as_pack(x + kLanes) = high;
  }
  template <int j>
  LITHE_INLINE Pack spread() const {
    if constexpr (j < kLanes) {
      return __builtin_shufflevector(low, low, j, j, j, j);
    } else {
      return __builtin_shufflevector(high, high, j - kLanes, j - kLanes, j - kLanes, j - kLanes);
    }
  }
  LITHE_INLINE void scale(const double* factors) {
    low *= as_pack(factors);
    high *= as_pack(factors + kLanes);
  }
};

// Calls work(0), …, work(5) with constants.
template <class Work>
LITHE_INLINE void for_each_of_six(Work work) {
  [&]<int... j>(std::integer_sequence<int, j...>) {
    (work(std::integral_constant<int, j>{}), ...);
  }(std::make_integer_sequence<int, 6>{});
}

// y −= B x, in two chains of sums.
LITHE_INLINE void subtract_block(const double* B, const Six& x, Six& y) {
  Six odd = {};
  for_each_of_six([&](auto j) {
    const Pack factor = x.spread<j>();
    Six& sum = j % 2 == 0 ? y : odd;
    sum.low -= as_pack(B + 8 * j) * factor;
    sum.high -= as_pack(B + 8 * j + kLanes) * factor;
  });
  y.low += odd.low;
  y.high += odd.high;
}

// sums[j] += lane by lane what makes up column j of Bᵀ y.
LITHE_INLINE void add_block_transposed(const double* B, const Six& y, Pack* sums) {
  for (int j = 0; j < 6; ++j) sums[j] += as_pack(B + 8 * j) * y.low + as_pack(B + 8 * j + kLanes) * y.high;
}
LITHE_INLINE void subtract_sums(Pack* sums, Six& x) {
  Pack none[2] = {};
  transpose(sums[0], sums[1], sums[2], sums[3]);
  transpose(sums[4], sums[5], none[0], none[1]);
  x.low -= (sums[0] + sums[2]) + (sums[1] + sums[3]);
  x.high -= (sums[4] + none[0]) + (sums[5] + none[1]);
}

// Substitution by columns with zeros on and above (below) the diagonal, whose inverse is kept apart.
LITHE_INLINE void substitute_forwards(const double* columns, const double* inverse, Six& x) {
  for_each_of_six([&](auto j) {
    const Pack factor = x.spread<j>() * broadcast(inverse[j]);
    if (j < kLanes - 1) x.low -= as_pack(columns + 8 * j) * factor;
    if (j < 5) x.high -= as_pack(columns + 8 * j + kLanes) * factor;
  });
  x.scale(inverse);
}
LITHE_INLINE void substitute_backwards(const double* columns, const double* inverse, Six& x) {
  for_each_of_six([&](auto k) {
    constexpr int j = 5 - k;
    const Pack factor = x.spread<j>() * broadcast(inverse[j]);
    if (j > 0) x.low -= as_pack(columns + 8 * j) * factor;
    if (j == 5) x.high -= as_pack(columns + 8 * j + kLanes) * factor;
  });
  x.scale(inverse);
}

// C −= L M for blocks L (rows × inner) and M (inner × columns), of which entry (k, j) is M[k·inner_step + j·column_step].
LITHE_INLINE void subtract_product_of_blocks(const double* L, int rows, int inner, const double* M, int inner_step,
                                             int column_step, int columns, double* C) {
  if (rows == 6 && inner == 6) {
    for (int j = 0; j < columns; ++j) {
      double* c = C + 8 * j;
      Pack low = as_pack(c), high = as_pack(c + kLanes);
      for (int k = 0; k < 6; ++k) {
        const Pack factor = broadcast(M[k * inner_step + j * column_step]);
        low -= as_pack(L + 8 * k) * factor;
        high -= as_pack(L + 8 * k + kLanes) * factor;
      }
      as_pack(c) = low;
      as_pack(c + kLanes) = high;
    }
    return;
  }
  const int stride = padded(rows);
  for (int j = 0; j < columns; ++j) {
    for (int k = 0; k < inner; ++k) {
      subtract_column(L + k * stride, M[k * inner_step + j * column_step], C + j * stride, stride);
    }
  }
}

}  // namespace

void BlockFactor::start(const BlockGraph& graph, double diagonal) {
  graph_ = &graph;
  grow(values_, graph.storage());
  grow(inverse_pivots_, graph.coordinates());
  const std::size_t coordinates = graph.coordinates();
  for (std::vector<int>* rows : {&exchanged_, &origin_}) {
    if (rows->size() < coordinates) rows->resize(coordinates);
  }
  std::fill_n(inverse_pivots_.begin(), coordinates, 0.0);  // padding must stay finite
  std::fill_n(values_.begin(), graph.storage(), 0.0);
  for (int k = 0; k < graph.size(); ++k) {
    const BlockGraph::Column& column = graph.column(k);
    for (int j = 0; j < column.size; ++j) values_[column.diagonal + j * (column.stride + 1)] = diagonal;
  }
}

bool BlockFactor::factorize(bool symmetric) {
  symmetric_ = symmetric;
  return symmetric ? factorize_symmetric() : factorize_general();
}

// D = L Lᵀ, in its place without the diagonal and with zeros above it, so that whole columns can be used.
bool BlockFactor::cholesky(const BlockGraph::Column& column) {
  bool positive = true;
  double* D = block(column.diagonal);
  double* inverse = inverse_pivots_.data() + column.start;
  with_block_size(column.size, [&](auto size) {
    const int stride = padded(size);
    for (int j = 0; j < size; ++j) {
      double* own = D + j * stride;
      for (int k = 0; k < j; ++k) subtract_column(D + k * stride, D[k * stride + j], own, stride);
      const double pivot = own[j];
      if (!(pivot > 0 && std::isfinite(pivot))) positive = false;
      inverse[j] = 1 / std::sqrt(pivot);
      for (int i = 0; i <= j; ++i) own[i] = 0;
      for (int r = 0; r < stride; r += kLanes) as_pack(own + r) *= broadcast(inverse[j]);
    }
    double* rows = block(column.spare);  // L by rows
    for (int j = 0; j < size; ++j) {
      for (int i = 0; i < j; ++i) rows[j * stride + i] = D[i * stride + j];
    }
  });
  return positive;
}

bool BlockFactor::factorize_symmetric() {
  for (int k = 0; k < graph_->size(); ++k) {
    const BlockGraph::Column& column = graph_->column(k);
    if (!cholesky(column)) return false;
    const double* D = block(column.diagonal);
    const double* inverse = inverse_pivots_.data() + column.start;
    const auto below = graph_->below(column);
    for (const BlockGraph::Entry& entry : below) {  // X ← X L⁻ᵀ
      double* X = block(entry.lower);
      with_block_sizes(graph_->column(entry.row).size, column.size, [&](auto rows, auto size) {
        const int stride = padded(rows), D_stride = padded(size);
        for (int j = 0; j < size; ++j) {
          double* own = X + j * stride;
          for (int i = 0; i < j; ++i) subtract_column(X + i * stride, D[i * D_stride + j], own, stride);
          for (int r = 0; r < stride; r += kLanes) as_pack(own + r) *= broadcast(inverse[j]);
        }
      });
    }
    for (int b = 0; b < column.count; ++b) {
      const BlockGraph::Column& to = graph_->column(below[b].row);
      for (int a = b; a < column.count; ++a) {
        subtract_product_of_blocks(block(below[a].lower), graph_->column(below[a].row).size, column.size,
                                   block(below[b].lower), to.stride, 1, to.size, block(graph_->target(column, a, b)));
      }
    }
  }
  return true;
}

// D with rows exchanged = L U: L (unit diagonal) into the spare block, U in D's place, both without their diagonals and with zeros on
// the other side of them.
bool BlockFactor::eliminate(const BlockGraph::Column& column) {
  const int size = column.size, stride = column.stride;
  double *U = block(column.diagonal), *L = block(column.spare);
  double* inverse = inverse_pivots_.data() + column.start;
  int* exchanged = exchanged_.data() + column.start;
  std::fill_n(L, static_cast<std::ptrdiff_t>(stride) * size, 0.0);
  for (int j = 0; j < size; ++j) {
    double *u = U + j * stride, *l = L + j * stride;
    int largest = j;
    for (int i = j + 1; i < size; ++i) {
      if (std::abs(u[i]) > std::abs(u[largest])) largest = i;
    }
    exchanged[j] = largest;
    const double pivot = u[largest];
    if (!(std::abs(pivot) > 0 && std::isfinite(pivot))) return false;
    if (largest != j) {
      for (int c = 0; c < size; ++c) std::swap(U[c * stride + j], U[c * stride + largest]);
      for (int c = 0; c < j; ++c) std::swap(L[c * stride + j], L[c * stride + largest]);
    }
    inverse[j] = 1 / pivot;
    for (int i = j + 1; i < size; ++i) l[i] = u[i] * inverse[j];
    for (int i = j; i < size; ++i) u[i] = 0;
    for (int c = j + 1; c < size; ++c) subtract_column(l, U[c * stride + j], U + c * stride, stride);
  }
  int* origin = origin_.data() + column.start;
  for (int j = 0; j < size; ++j) origin[j] = j;
  for (int j = 0; j < size; ++j) std::swap(origin[j], origin[exchanged[j]]);
  return true;
}

bool BlockFactor::factorize_general() {
  for (int k = 0; k < graph_->size(); ++k) {
    const BlockGraph::Column& column = graph_->column(k);
    if (!eliminate(column)) return false;
    const double *U = block(column.diagonal), *L = block(column.spare);
    const double* inverse = inverse_pivots_.data() + column.start;
    const int* exchanged = exchanged_.data() + column.start;
    const auto below = graph_->below(column);
    for (const BlockGraph::Entry& entry : below) {  // X ← X D⁻¹ = X U⁻¹ L⁻¹ P
      double* X = block(entry.lower);
      with_block_sizes(graph_->column(entry.row).size, column.size, [&](auto rows, auto size) {
        const int stride = padded(rows), D_stride = padded(size);
        for (int j = 0; j < size; ++j) {
          double* own = X + j * stride;
          for (int i = 0; i < j; ++i) subtract_column(X + i * stride, U[j * D_stride + i], own, stride);
          for (int r = 0; r < stride; r += kLanes) as_pack(own + r) *= broadcast(inverse[j]);
        }
        for (int j = size - 1; j >= 0; --j) {
          for (int i = j + 1; i < size; ++i) {
            subtract_column(X + i * stride, L[j * D_stride + i], X + j * stride, stride);
          }
        }
        for (int j = size - 1; j >= 0; --j) {
          if (exchanged[j] != j) std::swap_ranges(X + j * stride, X + (j + 1) * stride, X + exchanged[j] * stride);
        }
      });
    }
    for (int b = 0; b < column.count; ++b) {
      const int columns = graph_->column(below[b].row).size;
      for (int a = 0; a < column.count; ++a) {
        subtract_product_of_blocks(block(below[a].lower), graph_->column(below[a].row).size, column.size,
                                   block(below[b].upper), 1, column.stride, columns,
                                   block(graph_->target(column, a, b)));
      }
    }
  }
  return true;
}

namespace {

// Of one block on the diagonal.
struct DiagonalFactor {
  const double *first, *second;  // L of L Lᵀ; or U, and L
  const double* inverse;
  const int* exchanged;
  int size;

  LITHE_INLINE void solve_lower(double* x) const {
    with_block_size(size, [&](auto n) {
      for (int j = 0; j < n; ++j) {
        x[j] *= inverse[j];
        subtract_column(first + j * padded(n), x[j], x, padded(n));
      }
    });
  }
  LITHE_INLINE void solve_lower_transposed(double* x) const {
    with_block_size(size, [&](auto n) {
      for (int j = n - 1; j >= 0; --j) x[j] = (x[j] - dot_column(first + j * padded(n), x, padded(n))) * inverse[j];
    });
  }
  LITHE_INLINE void solve_general(double* x) const {
    with_block_size(size, [&](auto n) {
      for (int j = 0; j < n; ++j) std::swap(x[j], x[exchanged[j]]);
      for (int j = 0; j < n; ++j) subtract_column(second + j * padded(n), x[j], x, padded(n));
      for (int j = n - 1; j >= 0; --j) {
        x[j] *= inverse[j];
        subtract_column(first + j * padded(n), x[j], x, padded(n));
      }
    });
  }
  LITHE_INLINE void solve_general_transposed(double* x) const {
    with_block_size(size, [&](auto n) {
      for (int j = 0; j < n; ++j) x[j] = (x[j] - dot_column(first + j * padded(n), x, padded(n))) * inverse[j];
      for (int j = n - 1; j >= 0; --j) x[j] -= dot_column(second + j * padded(n), x, padded(n));
      for (int j = n - 1; j >= 0; --j) std::swap(x[j], x[exchanged[j]]);
    });
  }
};

}  // namespace

namespace {

// x ← U⁻¹ L⁻¹ x with its rows exchanged.
LITHE_INLINE void substitute_exchanged(const double* L, const double* U, const double* inverse, const int* origin,
                                       Six& x) {
  alignas(32) double before[8];
  x.store(before);
  x.low = Pack{before[origin[0]], before[origin[1]], before[origin[2]], before[origin[3]]};
  x.high = Pack{before[origin[4]], before[origin[5]], 0, 0};
  for_each_of_six([&](auto j) {
    const Pack factor = x.spread<j>();
    if (j < kLanes - 1) x.low -= as_pack(L + 8 * j) * factor;
    if (j < 5) x.high -= as_pack(L + 8 * j + kLanes) * factor;
  });
  substitute_backwards(U, inverse, x);
}

}  // namespace

// Where all blocks are those of free bodies.
void BlockFactor::solve_six(double* x) const {
  for (int k = 0; k < graph_->size(); ++k) {
    const BlockGraph::Column& column = graph_->column(k);
    Six own = Six::load(x + column.start);
    if (symmetric_) {
      substitute_forwards(values_.data() + column.diagonal, inverse_pivots_.data() + column.start, own);
      own.store(x + column.start);
    }
    for (const BlockGraph::Entry& entry : graph_->below(column)) {
      double* at = x + graph_->column(entry.row).start;
      Six other = Six::load(at);
      subtract_block(values_.data() + entry.lower, own, other);
      other.store(at);
    }
  }
  for (int k = graph_->size() - 1; k >= 0; --k) {
    const BlockGraph::Column& column = graph_->column(k);
    const double *second = values_.data() + column.spare, *inverse = inverse_pivots_.data() + column.start;
    Six own = Six::load(x + column.start);
    if (symmetric_) {
      Pack sums[6] = {};
      for (const BlockGraph::Entry& entry : graph_->below(column)) {
        add_block_transposed(values_.data() + entry.lower, Six::load(x + graph_->column(entry.row).start), sums);
      }
      subtract_sums(sums, own);
      substitute_backwards(second, inverse, own);
    } else {
      for (const BlockGraph::Entry& entry : graph_->below(column)) {
        subtract_block(values_.data() + entry.upper, Six::load(x + graph_->column(entry.row).start), own);
      }
      substitute_exchanged(second, values_.data() + column.diagonal, inverse, origin_.data() + column.start, own);
    }
    own.store(x + column.start);
  }
}

void BlockFactor::solve(double* x) const {
  if (graph_->has_only_sixes()) return solve_six(x);
  const auto at = [&](const BlockGraph::Column& column) {
    return DiagonalFactor{values_.data() + column.diagonal, values_.data() + column.spare,
                          inverse_pivots_.data() + column.start, exchanged_.data() + column.start, column.size};
  };
  for (int k = 0; k < graph_->size(); ++k) {
    const BlockGraph::Column& column = graph_->column(k);
    if (symmetric_) at(column).solve_lower(x + column.start);
    for (const BlockGraph::Entry& entry : graph_->below(column)) {
      const BlockGraph::Column& row = graph_->column(entry.row);
      subtract_block(values_.data() + entry.lower, row.size, column.size, x + column.start, x + row.start);
    }
  }
  for (int k = graph_->size() - 1; k >= 0; --k) {
    const BlockGraph::Column& column = graph_->column(k);
    for (const BlockGraph::Entry& entry : graph_->below(column)) {
      const BlockGraph::Column& row = graph_->column(entry.row);
      if (symmetric_) {
        subtract_block_transposed(values_.data() + entry.lower, row.size, column.size, x + row.start, x + column.start);
      } else {
        subtract_block(values_.data() + entry.upper, column.size, row.size, x + row.start, x + column.start);
      }
    }
    if (symmetric_) {
      at(column).solve_lower_transposed(x + column.start);
    } else {
      at(column).solve_general(x + column.start);
    }
  }
}

void BlockFactor::solve_transposed(double* x) const {
  if (symmetric_) return solve(x);
  for (int k = 0; k < graph_->size(); ++k) {
    const BlockGraph::Column& column = graph_->column(k);
    DiagonalFactor{values_.data() + column.diagonal, values_.data() + column.spare,
                   inverse_pivots_.data() + column.start, exchanged_.data() + column.start, column.size}
        .solve_general_transposed(x + column.start);
    for (const BlockGraph::Entry& entry : graph_->below(column)) {
      const BlockGraph::Column& row = graph_->column(entry.row);
      subtract_block_transposed(values_.data() + entry.upper, column.size, row.size, x + column.start, x + row.start);
    }
  }
  for (int k = graph_->size() - 1; k >= 0; --k) {
    const BlockGraph::Column& column = graph_->column(k);
    for (const BlockGraph::Entry& entry : graph_->below(column)) {
      const BlockGraph::Column& row = graph_->column(entry.row);
      subtract_block_transposed(values_.data() + entry.lower, row.size, column.size, x + row.start, x + column.start);
    }
  }
}

}  // namespace lithe::internal

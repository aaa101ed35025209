#include "lithe/lcp/block_factor.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "lithe/lcp/padded_matrix.h"

namespace lithe {

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
  if (exchanged_.size() < static_cast<std::size_t>(graph.coordinates())) exchanged_.resize(graph.coordinates());
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

void BlockFactor::solve(double* x) const {
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

}  // namespace lithe

#include "lithe/linalg/block_factor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lithe/linalg/block_columns.h"
#include "lithe/linalg/padded_matrix.h"

// The factorisation itself; block_factor_solve.cpp solves with it. Columns of blocks are eliminated in the order of the graph. A column
// that is finished takes its products off all later blocks at once, so that each block is ready when its own column comes.
namespace lithe::internal {

namespace {

// Between two free bodies a column of C stays in registers for all six products.
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

// The padding of all blocks starts as zero and stays zero, so that loops over whole packs need not ask where a column ends.
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

// D = L Lᵀ, in its place with zeros on and above the diagonal, so that whole columns can be used; the reciprocals of the diagonal are kept
// apart. The spare block gets L by rows, with which solve_six() goes backwards column by column, too. False where D is not positive
// definite.
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

// S = L Lᵀ, for which only the lower triangle of blocks is read and written.
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
      // S_ab −= X_a X_bᵀ. In blocks on the diagonal the upper half is computed with the lower one, and not used.
      for (int a = b; a < column.count; ++a) {
        subtract_product_of_blocks(block(below[a].lower), graph_->column(below[a].row).size, column.size,
                                   block(below[b].lower), to.stride, 1, to.size, block(graph_->target(column, a, b)));
      }
    }
  }
  return true;
}

// D with rows exchanged = L U: L (unit diagonal) into the spare block, U in D's place, both without their diagonals and with zeros on
// the other side of them. Pivots are looked for inside the block only: to exchange rows of different blocks would fill blocks that the
// graph does not have.
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
  // All exchanges as one permutation, for solves that have the block's six numbers in registers.
  int* origin = origin_.data() + column.start;
  for (int j = 0; j < size; ++j) origin[j] = j;
  for (int j = 0; j < size; ++j) std::swap(origin[j], origin[exchanged[j]]);
  return true;
}

// S = (I + L)(D + U). Blocks below the diagonal are divided by D; those above it stay as elimination has left them.
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
      // S_ab −= X_a U_b, with U_b the block above the diagonal; both triangles of blocks change.
      for (int a = 0; a < column.count; ++a) {
        subtract_product_of_blocks(block(below[a].lower), graph_->column(below[a].row).size, column.size,
                                   block(below[b].upper), 1, column.stride, columns,
                                   block(graph_->target(column, a, b)));
      }
    }
  }
  return true;
}

}  // namespace lithe::internal

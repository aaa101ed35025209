#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "lithe/simd/lanes.h"

namespace lithe::internal {

// Dense columns that start on a 32-byte boundary and are padded to whole packs, and the few products that the solvers
// need of them. An island has 3 to 300 rows; at these sizes calls and remainders cost as much as the arithmetic.

// Sets the size. Memory only grows, content is kept where it fits.
inline void grow(AlignedBuffer& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

// max |x_i|, 0 of none.
inline double largest_magnitude(std::span<const double> x) {
  double largest = 0;
  for (const double xi : x) largest = std::max(largest, std::abs(xi));
  return largest;
}

struct PaddedMatrix {
  AlignedBuffer data;
  int rows = 0, columns = 0, stride = 0;

  // Content is undefined afterwards, the padding too.
  void resize(int row_count, int column_count) {
    rows = row_count;
    columns = column_count;
    stride = padded(row_count);
    grow(data, static_cast<std::size_t>(stride) * column_count);
  }
  double* column(int j) { return data.data() + static_cast<std::ptrdiff_t>(j) * stride; }
  const double* column(int j) const { return data.data() + static_cast<std::ptrdiff_t>(j) * stride; }
  double& at(int i, int j) { return column(j)[i]; }
  double at(int i, int j) const { return column(j)[i]; }
};

// Calls block<Packs>(first row) until all rows (a multiple of kLanes) are covered. Up to twelve packs of sums stay in
// registers, so that a foot's or a humanoid's rows are one block.
template <class Block>
LITHE_INLINE void for_each_row_block(int rows, Block block) {
  int row = 0;
  for (; row + 12 * kLanes <= rows; row += 12 * kLanes) block.template operator()<12>(row);
  switch ((rows - row) / kLanes) {
    case 11: block.template operator()<11>(row); break;
    case 10: block.template operator()<10>(row); break;
    case 9: block.template operator()<9>(row); break;
    case 8: block.template operator()<8>(row); break;
    case 7: block.template operator()<7>(row); break;
    case 6: block.template operator()<6>(row); break;
    case 5: block.template operator()<5>(row); break;
    case 4: block.template operator()<4>(row); break;
    case 3: block.template operator()<3>(row); break;
    case 2: block.template operator()<2>(row); break;
    case 1: block.template operator()<1>(row); break;
    default: break;
  }
}

// In the following, `columns` are `count` columns, `stride` apart, of `rows` rows (a multiple of kLanes).

// to = Σ_k weights[k] · column k.
void multiply(const double* columns, int stride, int count, const double* weights, double* to, int rows);
// from −= Σ_k weights[k] · column k.
void subtract_product(const double* columns, int stride, int count, const double* weights, double* from, int rows);
// to[k] = column k · x.
void multiply_transposed(const double* columns, int stride, int count, const double* x, double* to, int rows);

inline void multiply(const PaddedMatrix& matrix, const double* x, double* to) {
  multiply(matrix.column(0), matrix.stride, matrix.columns, x, to, matrix.stride);
}
inline void subtract_product(const PaddedMatrix& matrix, const double* x, double* from) {
  subtract_product(matrix.column(0), matrix.stride, matrix.columns, x, from, matrix.stride);
}
inline void multiply_transposed(const PaddedMatrix& matrix, const double* x, double* to) {
  multiply_transposed(matrix.column(0), matrix.stride, matrix.columns, x, to, matrix.stride);
}

}  // namespace lithe::internal

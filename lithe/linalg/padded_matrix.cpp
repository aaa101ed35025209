#include "lithe/linalg/padded_matrix.h"

namespace lithe::internal {

// In the first two, sums over all columns stay in registers for one block of rows after the other.
void multiply(const double* columns, int stride, int count, const double* weights, double* to, int rows) {
  for_each_row_block(rows, [&]<int Packs>(int row) {
    Pack sum[Packs] = {};
    const double* column = columns + row;
    for (int k = 0; k < count; ++k, column += stride) {
      const Pack weight = broadcast(weights[k]);
      for (int p = 0; p < Packs; ++p) sum[p] += weight * as_pack(column + kLanes * p);
    }
    for (int p = 0; p < Packs; ++p) as_pack(to + row + kLanes * p) = sum[p];
  });
}

void subtract_product(const double* columns, int stride, int count, const double* weights, double* from, int rows) {
  for_each_row_block(rows, [&]<int Packs>(int row) {
    Pack sum[Packs];
    for (int p = 0; p < Packs; ++p) sum[p] = as_pack(from + row + kLanes * p);
    const double* column = columns + row;
    for (int k = 0; k < count; ++k, column += stride) {
      const Pack weight = broadcast(weights[k]);
      for (int p = 0; p < Packs; ++p) sum[p] -= weight * as_pack(column + kLanes * p);
    }
    for (int p = 0; p < Packs; ++p) as_pack(from + row + kLanes * p) = sum[p];
  });
}

// Four columns at a time: one transposition adds up the lanes of their four sums.
void multiply_transposed(const double* columns, int stride, int count, const double* x, double* to, int rows) {
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    const double* c0 = columns + static_cast<std::ptrdiff_t>(k) * stride;
    const double* c1 = c0 + stride;
    const double* c2 = c1 + stride;
    const double* c3 = c2 + stride;
    Pack s0{}, s1{}, s2{}, s3{};
    for (int i = 0; i < rows; i += kLanes) {
      const Pack xi = as_pack(x + i);
      s0 += xi * as_pack(c0 + i);
      s1 += xi * as_pack(c1 + i);
      s2 += xi * as_pack(c2 + i);
      s3 += xi * as_pack(c3 + i);
    }
    transpose(s0, s1, s2, s3);
    const Pack sum = (s0 + s2) + (s1 + s3);
    for (int t = 0; t < 4; ++t) to[k + t] = sum[t];
  }
  for (; k < count; ++k) {
    const double* column = columns + static_cast<std::ptrdiff_t>(k) * stride;
    Pack sum{};
    for (int i = 0; i < rows; i += kLanes) sum += as_pack(x + i) * as_pack(column + i);
    to[k] = lane_sum(sum);
  }
}

}  // namespace lithe::internal

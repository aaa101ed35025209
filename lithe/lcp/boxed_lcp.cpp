#include "lithe/lcp/boxed_lcp.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/linalg/padded_matrix.h"

namespace lithe {

using namespace internal;

LcpProblem::LcpProblem(const MatX& matrix, const VecX& offset, std::vector<LcpRow> row_kinds, const VecX& targets)
    : rows(std::move(row_kinds)),
      b(offset.begin(), offset.end()),
      target(targets.begin(), targets.end()),
      stride(padded(static_cast<int>(rows.size()))) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  LITHE_CHECK(matrix.rows() == n && matrix.cols() == n, "A is {}×{}, {} rows need {}×{}", matrix.rows(), matrix.cols(),
              n, n, n);
  LITHE_CHECK(offset.size() == n, "b has {} entries, there are {} rows", offset.size(), n);
  LITHE_CHECK(targets.size() == 0 || targets.size() == n, "target has {} entries, there are {} rows (or none)",
              targets.size(), n);
  A.assign(static_cast<std::size_t>(n) * stride, 0.0);
  for (Eigen::Index j = 0; j < n; ++j) std::copy_n(matrix.col(j).data(), n, &A[j * stride]);
}

void clamp_to_bounds(std::span<const LcpRow> rows, std::span<double> f) {
  const auto clamp = [&](std::size_t i) {
    const RowBounds bounds = bounds_of(rows[i], f);
    f[i] = std::min(std::max(f[i], bounds.lower), bounds.upper);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kind != RowKind::friction) clamp(i);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kind == RowKind::friction) clamp(i);
  }
}

void evaluate(const BoxedLcp& lcp, std::span<const double> f, std::span<double> w) {
  const int n = lcp.size();
  const auto rows = [&]<int Packs>(int row) {
    Pack sum[Packs] = {};
    for (int j = 0; j < n; ++j) {
      const double* column = lcp.column(j) + row;
      const Pack fj = broadcast(f[j]);
      for (int p = 0; p < Packs; ++p) sum[p] += fj * as_pack(column + kLanes * p);
    }
    const int end = std::min(n, row + kLanes * Packs);
    for (int i = row; i < end; ++i) w[i] = sum[(i - row) / kLanes][(i - row) % kLanes] + lcp.b[i];
  };
  for_each_row_block(padded(n), rows);
}

double velocity_scale(std::span<const LcpRow> rows, LcpDiagonal diagonal, std::span<const double> b) {
  double scale = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    scale = std::max(scale, std::abs(b[i]));
    const LcpRow& row = rows[i];
    // An impulse that is imposed moves things too.
    if (row.kind == RowKind::bounded) scale = std::max(scale, std::max(row.lower, -row.upper) * diagonal[i]);
  }
  return scale > 0 ? scale : 1;
}

double largest_violation(std::span<const LcpRow> rows, LcpDiagonal diagonal, std::span<const double> f,
                         std::span<const double> w) {
  // Everything times A_ii, so that rows that nothing can move need no division.
  double largest = 0;
  double not_finite = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double a = std::max(diagonal[i], 0.0);
    const double x = f[i] * a;
    not_finite += 0 * w[i] + 0 * f[i];
    double violation = 0;
    switch (rows[i].kind) {
      case RowKind::one_sided: violation = std::min(x, w[i]); break;
      case RowKind::two_sided: violation = w[i]; break;
      case RowKind::friction:
      case RowKind::bounded: {
        const RowBounds bounds = bounds_of(rows[i], f);
        violation = x - std::min(std::max(x - w[i], bounds.lower * a), bounds.upper * a);
      }
    }
    largest = std::max(largest, std::abs(violation));
  }
  return not_finite == 0 ? largest : LcpRow::kInfinity;
}

double residual(std::span<const LcpRow> rows, LcpDiagonal diagonal, std::span<const double> b,
                std::span<const double> f, std::span<const double> w) {
  return largest_violation(rows, diagonal, f, w) / velocity_scale(rows, diagonal, b);
}

}  // namespace lithe

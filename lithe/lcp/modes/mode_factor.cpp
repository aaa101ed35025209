#include "lithe/lcp/modes/mode_factor.h"

#include <algorithm>
#include <cmath>

#include "lithe/linalg/dense_lu.h"

namespace lithe::internal {

namespace {

// Above this condition of VU nothing is left of sixteen digits after two divisions by it.
constexpr double kWorstCore = 1e13;

// What a solve needs, which is const: x itself, padded, and three short vectors. One set per thread.
struct Scratch {
  double *full, *y, *z, *correction;

  Scratch(std::span<const double> x, int rows) {
    thread_local AlignedBuffer buffer;
    grow(buffer, 4 * static_cast<std::size_t>(rows));
    full = buffer.data();
    y = full + rows;
    z = y + rows;
    correction = z + rows;
    std::copy(x.begin(), x.end(), full);
    std::fill(full + x.size(), full + rows, 0.0);
  }
};

// core_ᵀ x; the padding of x is set to zero.
void multiply_transposed_core(const PaddedMatrix& core, double* x, double* to) {
  std::fill(x + core.rows, x + core.stride, 0.0);
  multiply_transposed(core, x, to);
}

double largest_entry(const PaddedMatrix& matrix) {
  double largest = 0;
  for (int j = 0; j < matrix.columns; ++j) {
    for (int i = 0; i < matrix.rows; ++i) largest = std::max(largest, std::abs(matrix.at(i, j)));
  }
  return largest;
}

double sign_of_bound(RowMode row_mode) { return row_mode == RowMode::at_upper ? 1.0 : -1.0; }

}  // namespace

void ModeFactor::compute(const BoxedLcp& lcp, std::span<const RowMode> modes, double rank_tolerance) {
  list_rows(lcp, modes);
  symmetric_ = bounded_.empty();
  if (symmetric_) {
    factor_.compute_symmetric(lcp.A, lcp.stride, lcp.size(), clamping_, rank_tolerance);
  } else {
    gather(lcp, modes);
    factor_.compute_general(matrix_, inverse_scale_.data(), rank_tolerance);
  }
  invert_core();
}

// Lists C, and those friction rows of B whose normals are in C; position_ says where a row is in C.
void ModeFactor::list_rows(const BoxedLcp& lcp, std::span<const RowMode> modes) {
  const int n = lcp.size();
  clamping_.clear();
  bounded_.clear();
  position_.assign(n, -1);
  const auto clamps = [&](int i) {
    const LcpRow& row = lcp.rows[i];
    return modes[i] == RowMode::clamping && (row.kind != RowKind::friction || modes[row.normal] == RowMode::clamping);
  };
  for (int i = 0; i < n; ++i) {
    if (!clamps(i)) continue;
    position_[i] = static_cast<int>(clamping_.size());
    clamping_.push_back(i);
  }
  for (int i = 0; i < n; ++i) {
    const LcpRow& row = lcp.rows[i];
    const bool follows = row.kind == RowKind::friction && row.friction != 0 && is_at_bound(modes[i]);
    if (follows && position_[row.normal] >= 0) bounded_.push_back(i);
  }
}

// A_C = A_CC + A_CB E, and 1/√A_ii by which pivots are judged.
void ModeFactor::gather(const BoxedLcp& lcp, std::span<const RowMode> modes) {
  const int m = size();
  matrix_.resize(m, m);
  const int rows = matrix_.stride;
  grow(inverse_scale_, rows);
  for (int k = 0; k < m; ++k) {
    const double* from = lcp.column(clamping_[k]);
    double* to = matrix_.column(k);
    for (int a = 0; a < m; ++a) to[a] = from[clamping_[a]];
    for (int a = m; a < rows; ++a) to[a] = 0;
  }
  for (int a = 0; a < m; ++a) {
    const double diagonal = matrix_.at(a, a);
    inverse_scale_[a] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 0.0;
  }
  // A_CB E: a row at its bound acts through its normal.
  for (const int i : bounded_) {
    const LcpRow& row = lcp.rows[i];
    const double factor = sign_of_bound(modes[i]) * row.friction;
    const double* from = lcp.column(i);
    double* to = matrix_.column(position_[row.normal]);
    for (int a = 0; a < m; ++a) to[a] += factor * from[clamping_[a]];
  }
}

// (VU)⁻¹, symmetric where A_C is: then only its lower triangle is computed and mirrored. Without a good inverse there is no group inverse.
void ModeFactor::invert_core() {
  const int r = rank();
  core_.resize(r, r);
  for (int j = 0; j < r; ++j) {
    double* column = core_.column(j);
    for (int i = r; i < core_.stride; ++i) column[i] = 0;
    const int first = symmetric_ ? j : 0;
    multiply_transposed(Vt().column(first), Vt().stride, r - first, factor_.U.column(j), column + first,
                        factor_.U.stride);
    if (symmetric_) {
      for (int i = j + 1; i < r; ++i) core_.at(j, i) = column[i];
    }
  }
  if (symmetric_) {
    has_group_inverse_ = invert_positive(core_);
    return;
  }
  const double before = largest_entry(core_);
  has_group_inverse_ = invert(core_, exchanged_) && before * largest_entry(core_) < kWorstCore;
}

// U (VU)⁻¹ (VU)⁻¹ V x.
void ModeFactor::solve(std::span<const double> x, std::span<double> out) const {
  const Scratch s(x, factor_.U.stride);
  multiply_transposed(Vt(), s.full, s.y);
  multiply(core_, s.y, s.z);
  multiply(core_, s.z, s.y);
  multiply(factor_.U, s.y, s.full);
  std::copy_n(s.full, out.size(), out.data());
}

// Vᵀ (VU)⁻ᵀ (VU)⁻ᵀ Uᵀ x.
void ModeFactor::solve_transposed(std::span<const double> x, std::span<double> out) const {
  const Scratch s(x, factor_.U.stride);
  multiply_transposed(factor_.U, s.full, s.y);
  multiply_transposed_core(core_, s.y, s.z);
  multiply_transposed_core(core_, s.z, s.y);
  multiply(Vt(), s.y, s.full);
  std::copy_n(s.full, out.size(), out.data());
}

// x − U (VU)⁻¹ V x: A A# is the projection U (VU)⁻¹ V.
void ModeFactor::project_null(std::span<const double> x, std::span<double> out) const {
  const Scratch s(x, factor_.U.stride);
  multiply_transposed(Vt(), s.full, s.y);
  multiply(core_, s.y, s.z);
  subtract_product(factor_.U, s.z, s.full);
  std::copy_n(s.full, out.size(), out.data());
}

// x − Vᵀ (VU)⁻ᵀ Uᵀ x.
void ModeFactor::project_null_transposed(std::span<const double> x, std::span<double> out) const {
  const Scratch s(x, factor_.U.stride);
  multiply_transposed(factor_.U, s.full, s.y);
  multiply_transposed_core(core_, s.y, s.z);
  subtract_product(Vt(), s.z, s.full);
  std::copy_n(s.full, out.size(), out.data());
}

void ModeFactor::split(std::span<const double> x, std::span<double> solution, std::span<double> null_part,
                       std::span<double> twice) const {
  const Scratch s(x, factor_.U.stride);
  // x = U z + null part. What the first projection leaves of the range is rounding; the second one removes that.
  multiply_transposed(Vt(), s.full, s.y);
  multiply(core_, s.y, s.z);
  subtract_product(factor_.U, s.z, s.full);
  multiply_transposed(Vt(), s.full, s.y);
  multiply(core_, s.y, s.correction);
  subtract_product(factor_.U, s.correction, s.full);
  std::copy_n(s.full, null_part.size(), null_part.data());
  for (int k = 0; k < rank(); ++k) s.z[k] += s.correction[k];
  multiply(core_, s.z, s.y);
  multiply(factor_.U, s.y, s.full);
  std::copy_n(s.full, solution.size(), solution.data());
  if (twice.empty()) return;
  multiply(core_, s.y, s.z);
  multiply(factor_.U, s.z, s.full);
  std::copy_n(s.full, twice.size(), twice.data());
}

void ModeFactor::expand(const BoxedLcp& lcp, std::span<const RowMode> modes, std::span<const double> f_C,
                        std::span<double> f) const {
  for (int i = 0; i < lcp.size(); ++i) {
    const LcpRow& row = lcp.rows[i];
    if (position_[i] >= 0) {
      f[i] = f_C[position_[i]];
    } else if (row.kind == RowKind::friction && is_at_bound(modes[i]) && position_[row.normal] >= 0) {
      f[i] = sign_of_bound(modes[i]) * row.friction * f_C[position_[row.normal]];
    } else if (row.kind == RowKind::bounded && is_at_bound(modes[i])) {
      f[i] = modes[i] == RowMode::at_upper ? row.upper : row.lower;
    } else {
      f[i] = 0;
    }
  }
}

}  // namespace lithe::internal

#include "lithe/lcp/modes/mode_inverse.h"

#include <algorithm>
#include <cmath>

#include "lithe/simd/internal/packed_vectors.h"

namespace lithe::internal {

namespace {

// From this share K⁻¹_ii A_ii on an explicit inverse has too few digits left.
constexpr double kNoDigits = 1e7;
// What is left of a number after subtraction counts as rounding of zero up to this share of it.
constexpr double kVanished = 1e-13;

}  // namespace

// Makes LU factors where they are asked for, and where they are expected and a pivot shows that an inverse would have too few digits. Else
// it makes the inverse, and LU factors take its place only where it turns out to have too few.
bool ModeInverse::set(const PaddedMatrix& K, const double* diagonal, Form form) {
  inverse_.resize(K.rows, K.rows);
  if (form != Form::inverse) {
    uses_lu_ = set_lu(K, diagonal) && (form == Form::lu || smallest_pivot_ < 1 / kNoDigits);
    if (uses_lu_ || form == Form::lu) return uses_lu_;
  }
  std::copy_n(K.column(0), static_cast<std::size_t>(K.stride) * K.rows, inverse_.column(0));
  uses_lu_ = !invert(inverse_, exchanged_) || !(largest_share(diagonal) < kNoDigits);
  return !uses_lu_ || set_lu(K, diagonal);
}

bool ModeInverse::set_lu(const PaddedMatrix& K, const double* diagonal) {
  lu_.matrix.resize(K.rows, K.rows);
  std::copy_n(K.column(0), static_cast<std::size_t>(K.stride) * K.rows, lu_.matrix.column(0));
  if (!lu_.factorize()) return false;
  smallest_pivot_ = 1;
  for (int k = 0; k < K.rows; ++k) {
    smallest_pivot_ = std::min(smallest_pivot_, std::abs(lu_.matrix.at(k, k)) / diagonal[k]);
  }
  return true;
}

ModeInverse::Form ModeInverse::next_form() const {
  return uses_lu_ && smallest_pivot_ < 1 / kNoDigits ? Form::expects_lu : Form::inverse;
}

double ModeInverse::largest_share(const double* diagonal) const {
  double largest = 0;
  for (int k = 0; k < size(); ++k) largest = std::max(largest, std::abs(inverse_.at(k, k)) * diagonal[k]);
  return largest;
}

bool ModeInverse::is_redundant(const double* diagonal) const { return uses_lu_ || largest_share(diagonal) > kFragile; }

// Makes room for one pack more per column.
void ModeInverse::widen() {
  const int m = size(), old_stride = inverse_.stride, stride = old_stride + kLanes;
  grow(inverse_.data, static_cast<std::size_t>(stride) * (m + 1));
  double* data = inverse_.data.data();
  for (int j = m - 1; j >= 0; --j) {
    double* to = data + static_cast<std::ptrdiff_t>(j) * stride;
    std::copy_backward(data + static_cast<std::ptrdiff_t>(j) * old_stride,
                       data + static_cast<std::ptrdiff_t>(j + 1) * old_stride, to + old_stride);
    std::fill_n(to + old_stride, kLanes, 0.0);
  }
  inverse_.stride = stride;
}

// With u = K⁻¹ column, y = row K⁻¹ and s = corner − row·u, the inverse is [K⁻¹ + u y/s, −u/s; −y/s, 1/s].
bool ModeInverse::append(const double* column, const double* row, double corner) {
  const int m = size();
  grow(product_, inverse_.stride);
  double* u = product_.data();
  multiply(inverse_, column, u);
  double s = corner;
  for (int k = 0; k < m; ++k) s -= row[k] * u[k];
  if (!(std::abs(s) > kVanished * std::abs(corner))) return false;
  if (m == inverse_.stride) widen();
  grow(inverse_.data, static_cast<std::size_t>(inverse_.stride) * (m + 1));
  const double inverse_s = 1 / s;
  const int rows = padded(m);
  for (int k = 0; k < m; ++k) {
    double* to = inverse_.column(k);
    const double y = dot(row, to, rows) * inverse_s;
    add_multiple(y, u, to, rows);
    to[m] = -y;
  }
  double* last = inverse_.column(m);
  for (int i = 0; i < inverse_.stride; ++i) last[i] = i < m ? -inverse_s * u[i] : 0.0;
  last[m] = inverse_s;
  inverse_.rows = inverse_.columns = m + 1;
  return true;
}

// Without row and column k of K the inverse has the entries K⁻¹_ij − K⁻¹_ik K⁻¹_kj / K⁻¹_kk.
bool ModeInverse::remove(int k) {
  const int last = size() - 1;
  double* gone = inverse_.column(k);
  if (gone[k] == 0) return false;
  const double scale = 1 / gone[k];
  for (int j = 0; j <= last; ++j) {
    if (j == k) continue;
    double* column = inverse_.column(j);
    add_multiple(-scale * column[k], gone, column, inverse_.stride);
  }
  if (k != last) {
    std::copy_n(inverse_.column(last), inverse_.stride, gone);
    for (int j = 0; j < last; ++j) inverse_.at(k, j) = inverse_.at(last, j);
  }
  for (int j = 0; j < last; ++j) inverse_.at(last, j) = 0;
  inverse_.rows = inverse_.columns = last;
  return true;
}

// The inverse after a change of one column (Sherman & Morrison 1950).
bool ModeInverse::change_column(int k, const double* change) {
  grow(product_, inverse_.stride);
  double* u = product_.data();
  multiply(inverse_, change, u);
  const double s = 1 + u[k];
  if (!(std::abs(s) > kVanished)) return false;
  for (int j = 0; j < size(); ++j) {
    double* column = inverse_.column(j);
    add_multiple(-column[k] / s, u, column, inverse_.stride);
  }
  return true;
}

void ModeInverse::solve(const double* x, double* out) const {
  if (!uses_lu_) {
    multiply(inverse_, x, out);
    return;
  }
  std::copy_n(x, padded(size()), out);
  lu_.solve(out);
}

}  // namespace lithe::internal

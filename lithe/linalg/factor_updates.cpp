#include "lithe/linalg/factor_updates.h"

#include <algorithm>

#include "lithe/simd/internal/packed_vectors.h"

namespace lithe::internal {

// v_k · x.
double FactorUpdates::apply(int k, const double* x) const {
  const Form& form = kept_[k].form;
  const double* v = V_.data() + kept_[k].start;
  return dot(v, x + form.start_a, form.width_a) + dot(v + form.width_a, x + form.start_b, form.width_b);
}

// The new column of Z = S⁻¹ U; the numbers of v go behind those of the products before.
void FactorUpdates::add(const BlockFactor& S, int coordinates, const double* u, const Form& form, const double* v) {
  coordinates_ = coordinates;
  grow(Z_, static_cast<std::size_t>(coordinates) * (count_ + 1));
  std::copy_n(u, coordinates, column(count_));
  S.solve(column(count_));

  kept_.resize(count_ + 1);
  kept_[count_].form = form;
  kept_[count_].start =
      count_ == 0 ? 0 : kept_[count_ - 1].start + kept_[count_ - 1].form.width_a + kept_[count_ - 1].form.width_b;
  const int width = form.width_a + form.width_b;
  grow(V_, kept_[count_].start + width);
  std::copy_n(v, width, V_.data() + kept_[count_].start);
  ++count_;
}

// The small matrix I + Vᵀ Z, and its factors.
bool FactorUpdates::prepare() {
  if (count_ == 0) return true;
  PaddedMatrix& middle = middle_.matrix;
  middle.resize(count_, count_);
  for (int j = 0; j < count_; ++j) {
    std::fill_n(middle.column(j), middle.stride, 0.0);
    for (int i = 0; i < count_; ++i) middle.at(i, j) = apply(i, column(j));
    middle.at(j, j) += 1;
  }
  grow(x_, middle.stride);
  return middle_.factorize();
}

// x ← S⁻¹ x − Z (I + Vᵀ Z)⁻¹ Vᵀ S⁻¹ x.
void FactorUpdates::solve(const BlockFactor& S, double* x) {
  S.solve(x);
  if (count_ == 0) return;
  for (int k = 0; k < count_; ++k) x_[k] = apply(k, x);
  middle_.solve(x_.data());
  subtract_product(Z_.data(), coordinates_, count_, x_.data(), x, coordinates_);
}

}  // namespace lithe::internal

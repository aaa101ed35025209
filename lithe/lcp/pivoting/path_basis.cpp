#include "lithe/lcp/pivoting/path_basis.h"

#include <algorithm>
#include <cmath>

namespace lithe::internal {

namespace {

// A pivot that is this small a share of the terms it is the sum of has lost too many digits to divide by. (The ridge
// alone makes pivots of 1e-9.)
constexpr double kSmallPivot = 1e-13;

}  // namespace

void PathBasis::start(const PaddedMatrix& A, const double* c) {
  A_ = &A;
  c_ = c;
  const int n = A.rows;
  equations_.clear();
  for (int i = 0; i < n; ++i) equations_.push_back(Equation::impulse(i));
  equations_.push_back(Equation::parameter());
  inverse_.resize(n + 1, n + 1);
  std::fill_n(inverse_.column(0), static_cast<std::size_t>(inverse_.stride) * (n + 1), 0.0);
  for (int k = 0; k <= n; ++k) inverse_.at(k, k) = 1;
  grow(scratch_, inverse_.stride);
  grow(product_, inverse_.stride);
  exchanges_ = 0;
}

bool PathBasis::exchange(int slot, const Equation& equation) {
  differentiate(equation);
  equations_[slot] = equation;
  ++exchanges_;
  return replace(slot) || rebuild();
}

// product_ ← the equation's derivatives by all right-hand sides, gᵀ G⁻¹ for its coefficients g.
void PathBasis::differentiate(const Equation& equation) {
  const int size = PathBasis::size();
  double* product = product_.data();
  switch (equation.kind) {
    case Equation::Kind::velocity: {
      double* g = scratch_.data();
      std::fill_n(g, inverse_.stride, 0.0);
      std::copy_n(A_->column(equation.row), size - 1, g);
      g[size - 1] = c_[equation.row];
      multiply_transposed(inverse_, g, product);
      break;
    }
    case Equation::Kind::impulse:
      for (int k = 0; k < size; ++k) product[k] = inverse_.at(equation.row, k);
      if (equation.kappa != 0) {
        for (int k = 0; k < size; ++k) product[k] -= equation.kappa * inverse_.at(equation.normal, k);
      }
      break;
    case Equation::Kind::parameter:
      for (int k = 0; k < size; ++k) product[k] = inverse_.at(size - 1, k);
      break;
  }
}

// The inverse for the equation that product_ belongs to in this slot; false where the pivot is lost in rounding.
bool PathBasis::replace(int slot) {
  const int size = PathBasis::size(), rows = inverse_.stride;
  const double* product = product_.data();
  double* changed = inverse_.column(slot);
  double largest = 0;
  for (int i = 0; i < size; ++i) largest = std::max(largest, std::abs(changed[i]));
  if (!(std::abs(product[slot]) > kSmallPivot * largest)) return false;

  const Pack scale = broadcast(1 / product[slot]);
  for (int i = 0; i < rows; i += kLanes) as_pack(changed + i) *= scale;
  for (int k = 0; k < size; ++k) {
    if (k == slot || product[k] == 0) continue;
    const Pack weight = broadcast(product[k]);
    double* column = inverse_.column(k);
    for (int i = 0; i < rows; i += kLanes) as_pack(column + i) -= weight * as_pack(changed + i);
  }
  return true;
}

// As another equation sets f_normal, only that equation's column of the inverse changes.
void PathBasis::set_kappa(int slot, int normal, int normal_slot, double kappa) {
  const double change = kappa - equations_[slot].kappa;
  equations_[slot].kappa = kappa;
  equations_[slot].normal = normal;
  const double* from = inverse_.column(slot);
  double* to = inverse_.column(normal_slot);
  for (int i = 0; i < inverse_.stride; i += kLanes) as_pack(to + i) += broadcast(change) * as_pack(from + i);
}

bool PathBasis::rebuild() {
  const int size = PathBasis::size();
  target_ = equations_;
  start(*A_, c_);
  // Equations that the start has are there already; place_[k] is the slot where the k-th one is.
  place_.assign(size, -1);
  open_.assign(size, true);
  for (int k = 0; k < size; ++k) {
    const Equation& equation = target_[k];
    if (equation.kind == Equation::Kind::velocity || equation.kappa != 0) continue;
    place_[k] = equation.kind == Equation::Kind::parameter ? size - 1 : equation.row;
    open_[place_[k]] = false;
  }
  for (int k = 0; k < size; ++k) {
    if (place_[k] >= 0) continue;
    differentiate(target_[k]);
    int slot = -1;
    for (int a = 0; a < size; ++a) {
      if (open_[a] && (slot < 0 || std::abs(product_[a]) > std::abs(product_[slot]))) slot = a;
    }
    refine_column(slot);
    differentiate(target_[k]);
    equations_[slot] = target_[k];
    if (!replace(slot)) return false;
    place_[k] = slot;
    open_[slot] = false;
  }
  spare_.resize(size, size);
  for (int k = 0; k < size; ++k) std::copy_n(inverse_.column(place_[k]), inverse_.stride, spare_.column(k));
  std::swap(inverse_, spare_);
  std::swap(equations_, target_);
  return true;
}

// One refinement of a column x of the inverse: takes its defect G x − e out.
void PathBasis::refine_column(int slot) {
  const int size = PathBasis::size();
  double* column = inverse_.column(slot);
  double* velocity = product_.data();
  double* defect = scratch_.data();
  multiply(*A_, column, velocity);
  for (int i = 0; i < size - 1; ++i) velocity[i] += column[size - 1] * c_[i];
  for (int k = 0; k < size; ++k) defect[k] = (k == slot ? 1.0 : 0.0) - value(k, column, velocity);
  multiply(inverse_, defect, velocity);
  for (int i = 0; i < size; ++i) column[i] += velocity[i];
}

double PathBasis::value(int slot, const double* x, const double* velocity) const {
  const Equation& equation = equations_[slot];
  switch (equation.kind) {
    case Equation::Kind::velocity: return velocity[equation.row];
    case Equation::Kind::impulse: return x[equation.row] - equation.kappa * x[equation.normal];
    case Equation::Kind::parameter: break;
  }
  return x[size() - 1];
}

}  // namespace lithe::internal

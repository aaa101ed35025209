#include "lithe/lcp/path_basis.h"

#include <algorithm>
#include <cmath>

#include "lithe/lcp/dense_lu.h"

namespace lithe {

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
  grow(row_, inverse_.stride);
  grow(product_, inverse_.stride);
  exchanges_ = 0;
}

bool PathBasis::exchange(int slot, const Equation& equation) {
  const int size = PathBasis::size(), rows = inverse_.stride;
  // product = gᵀ G⁻¹ for the new equation's coefficients g.
  double* product = product_.data();
  switch (equation.kind) {
    case Equation::Kind::velocity: {
      double* g = row_.data();
      std::fill_n(g, rows, 0.0);
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
  equations_[slot] = equation;
  ++exchanges_;
  const double pivot = product[slot];
  double* changed = inverse_.column(slot);
  double largest = 0;
  for (int i = 0; i < size; ++i) largest = std::max(largest, std::abs(changed[i]));
  if (!(std::abs(pivot) > kSmallPivot * largest)) return refresh();

  const Pack scale = broadcast(1 / pivot);
  for (int i = 0; i < rows; i += kLanes) as_pack(changed + i) *= scale;
  for (int k = 0; k < size; ++k) {
    if (k == slot || product[k] == 0) continue;
    const Pack weight = broadcast(product[k]);
    double* column = inverse_.column(k);
    for (int i = 0; i < rows; i += kLanes) as_pack(column + i) -= weight * as_pack(changed + i);
  }
  return true;
}

void PathBasis::set_kappa(int slot, int normal, int normal_slot, double kappa) {
  const double change = kappa - equations_[slot].kappa;
  equations_[slot].kappa = kappa;
  equations_[slot].normal = normal;
  const double* from = inverse_.column(slot);
  double* to = inverse_.column(normal_slot);
  for (int i = 0; i < inverse_.stride; i += kLanes) as_pack(to + i) += broadcast(change) * as_pack(from + i);
}

bool PathBasis::refresh() {
  const int size = PathBasis::size();
  std::fill_n(inverse_.column(0), static_cast<std::size_t>(inverse_.stride) * size, 0.0);
  for (int k = 0; k < size; ++k) {
    const Equation& equation = equations_[k];
    switch (equation.kind) {
      case Equation::Kind::velocity: {
        const double* a = A_->column(equation.row);
        for (int j = 0; j < size - 1; ++j) inverse_.at(k, j) = a[j];
        inverse_.at(k, size - 1) = c_[equation.row];
        break;
      }
      case Equation::Kind::impulse:
        inverse_.at(k, equation.row) = 1;
        if (equation.kappa != 0) inverse_.at(k, equation.normal) = -equation.kappa;
        break;
      case Equation::Kind::parameter: inverse_.at(k, size - 1) = 1; break;
    }
  }
  exchanges_ = 0;
  return invert(inverse_, true, exchanged_);
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

}  // namespace lithe

#include "lithe/lcp/modes/lcp_sensitivity.h"

#include <Eigen/QR>

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"

namespace lithe::internal {

namespace {

// Pivots below this share count as zero, as in ModeFactor.
constexpr double kRankTolerance = 1e-10;

// out += A x.
void add_product(const BoxedLcp& lcp, std::span<const double> x, std::span<double> out) {
  for (int j = 0; j < lcp.size(); ++j) {
    if (x[j] == 0) continue;
    const double* column = lcp.column(j);
    for (int i = 0; i < lcp.size(); ++i) out[i] += column[i] * x[j];
  }
}

// out += x, and size += |x|; nothing where x is empty.
void add(std::span<const double> x, std::span<double> out, std::span<double> size) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] += x[i];
    size[i] += std::abs(x[i]);
  }
}

double at(std::span<const double> x, int i) { return x.empty() ? 0.0 : x[i]; }

Eigen::Map<const VecX> as_vector(std::span<const double> x) { return {x.data(), static_cast<Eigen::Index>(x.size())}; }

// Refuses a vector that is neither of the problem's size nor, if that is allowed, empty.
void check_size(std::span<const double> x, int n, bool may_be_empty, const char* name) {
  const bool right = static_cast<int>(x.size()) == n || (may_be_empty && x.empty());
  LITHE_CHECK(right, "{} has {} entries, the problem has {} rows", name, x.size(), n);
}

}  // namespace

void LcpSensitivity::compute(const BoxedLcp& lcp, std::span<const RowMode> modes, std::span<const double> f,
                             LcpFlag flags) {
  const int n = lcp.size();
  check_size(f, n, false, "f");
  LITHE_CHECK(static_cast<int>(modes.size()) == n, "there are {} modes, the problem has {} rows", modes.size(), n);
  lcp_ = lcp;
  flags_ = flags;
  modes_.assign(modes.begin(), modes.end());
  f_.assign(f.begin(), f.end());
  factor_.compute(lcp, modes, kRankTolerance);
  for (std::vector<double>* vector : {&g_, &r_, &s_, &size_}) vector->assign(n, 0.0);
  const int m = factor_.size();
  for (std::vector<double>* vector : {&x_C_, &null_C_}) vector->assign(m, 0.0);

  if (!factor_.has_group_inverse()) {
    factor_.gather(lcp, modes);
    const Eigen::Map<const MatX, 0, Eigen::OuterStride<>> A_C(factor_.matrix(), m, m,
                                                              Eigen::OuterStride<>(factor_.matrix_stride()));
    Eigen::CompleteOrthogonalDecomposition<MatX> qr(m, m);
    qr.setThreshold(kRankTolerance);
    pseudo_inverse_ = qr.compute(A_C).pseudoInverse();
  }
  list_bounds();
  find_y();
  if (has(flags, LcpFlag::tied)) find_tied();
}

// Finds where rows are in C, and which rows at a bound move as their μ or their bound does.
void LcpSensitivity::list_bounds() {
  position_.assign(lcp_.size(), -1);
  for (int k = 0; k < factor_.size(); ++k) position_[factor_.clamping()[k]] = k;
  friction_bounds_.clear();
  constant_bounds_.clear();
  side_.assign(lcp_.size(), 0.0);
  evaluate(lcp_, f_, r_);
  for (int i = 0; i < lcp_.size(); ++i) {
    const LcpRow& row = lcp_.rows[i];
    if (modes_[i] == RowMode::at_lower) side_[i] = -1;
    if (modes_[i] == RowMode::at_upper) side_[i] = 1;
    if (row.kind == RowKind::friction && position_[row.normal] >= 0) {
      // Without friction both bounds are zero; as soon as there is some, it opposes the motion.
      if (row.friction == 0) side_[i] = r_[i] > 0 ? -1 : r_[i] < 0 ? 1 : 0;
      if (side_[i] != 0) friction_bounds_.push_back(i);
    }
    if (row.kind == RowKind::bounded && side_[i] != 0) constant_bounds_.push_back(i);
  }
}

// y = X A_C# f_C, if the null space has a say. Rows at constant bounds are no part of it, since f₀ is not X f_C.
void LcpSensitivity::find_y() {
  has_null_term_ = factor_.rank() < factor_.size() && factor_.has_group_inverse() && !has(flags_, LcpFlag::unpolished);
  y_.assign(lcp_.size(), 0.0);
  if (!has_null_term_) return;
  for (int k = 0; k < factor_.size(); ++k) x_C_[k] = f_[factor_.clamping()[k]];
  factor_.solve(x_C_, x_C_);
  factor_.expand(lcp_, modes_, x_C_, y_);
  for (const int i : constant_bounds_) y_[i] = 0;
}

void LcpSensitivity::find_tied() {
  // Ties are those of the problem that was solved, without the targets that the solver dropped.
  g_.assign(lcp_.b.begin(), lcp_.b.end());
  for (int i = 0; i < lcp_.size(); ++i) {
    if (dropped(i)) g_[i] += lcp_.target[i];
  }
  BoxedLcp solved = lcp_;
  solved.b = g_;
  prepared_.prepare(solved);
  evaluate(solved, f_, r_);
  tied_.find(prepared_, modes_, factor_, f_, r_);
}

// The solver took these targets out of b again (see BoxedLcp::target).
bool LcpSensitivity::dropped(int i) const {
  if (!has(flags_, LcpFlag::targets_dropped) || lcp_.target.empty()) return false;
  const RowKind kind = lcp_.rows[i].kind;
  return kind == RowKind::two_sided || (kind == RowKind::one_sided && lcp_.target[i] > 0);
}

// x ← A_C# x.
void LcpSensitivity::solve(std::vector<double>& x) {
  if (factor_.has_group_inverse()) {
    factor_.solve(x, x);
  } else {
    Eigen::Map<VecX>(null_C_.data(), factor_.size()).noalias() = pseudo_inverse_ * as_vector(x);
    std::swap(x, null_C_);
  }
}

// x ← A_C#ᵀ x.
void LcpSensitivity::solve_transposed(std::vector<double>& x) {
  if (factor_.has_group_inverse()) {
    factor_.solve_transposed(x, x);
  } else {
    Eigen::Map<VecX>(null_C_.data(), factor_.size()).noalias() = pseudo_inverse_.transpose() * as_vector(x);
    std::swap(x, null_C_);
  }
}

// What of r_C lies outside the range of A_C, as a share of the terms that r was summed from.
double LcpSensitivity::inconsistency() {
  double largest = 0, size = 0;
  for (int k = 0; k < factor_.size(); ++k) {
    const int i = factor_.clamping()[k];
    x_C_[k] = r_[i];
    size = std::max(size, size_[i]);
  }
  if (factor_.has_group_inverse()) {
    factor_.project_null(x_C_, null_C_);
  } else {
    const Eigen::Map<const MatX, 0, Eigen::OuterStride<>> A_C(factor_.matrix(), factor_.size(), factor_.size(),
                                                              Eigen::OuterStride<>(factor_.matrix_stride()));
    Eigen::Map<VecX>(null_C_.data(), factor_.size()) = as_vector(x_C_) - A_C * (pseudo_inverse_ * as_vector(x_C_));
  }
  for (const double x : null_C_) largest = std::max(largest, std::abs(x));
  return size > 0 ? largest / size : 0;
}

double LcpSensitivity::forward(const LcpDirection& direction, std::span<double> df, std::span<double> dw) {
  const int n = lcp_.size();
  check_direction(direction);
  check_size(df, n, false, "df");
  check_size(dw, n, false, "dw");

  // g: what moves at fixed f_C.
  std::fill(g_.begin(), g_.end(), 0.0);
  for (const int i : friction_bounds_) {
    g_[i] = side_[i] * at(direction.dfriction, i) * f_[lcp_.rows[i].normal];
  }
  for (const int i : constant_bounds_) {
    g_[i] = at(side_[i] > 0 ? direction.dupper : direction.dlower, i);
  }
  for (std::vector<double>* vector : {&r_, &s_, &size_}) std::fill(vector->begin(), vector->end(), 0.0);
  add_product(lcp_, g_, s_);
  add(s_, r_, size_);
  add(direction.db, r_, size_);
  add(direction.dA_f, r_, size_);
  for (int i = 0; i < n; ++i) {
    dw[i] = at(direction.db, i) + at(direction.dA_f, i);
    if (dropped(i)) r_[i] += at(direction.dtarget, i);
  }

  const double broken = inconsistency();
  for (int k = 0; k < factor_.size(); ++k) x_C_[k] = -r_[factor_.clamping()[k]];
  solve(x_C_);
  if (has_null_term_) add_null_term(direction);
  factor_.expand(lcp_, modes_, x_C_, df);
  for (const int i : constant_bounds_) df[i] = g_[i];
  for (const int i : friction_bounds_) df[i] += g_[i];
  add_product(lcp_, df, dw);
  return broken;
}

// x_C += (I − A_C# A_C) s_C; the group inverse commutes with A_C.
void LcpSensitivity::add_null_term(const LcpDirection& direction) {
  std::fill(r_.begin(), r_.end(), 0.0);
  for (const int i : friction_bounds_) {
    r_[i] = side_[i] * at(direction.dfriction, i) * y_[lcp_.rows[i].normal];
  }
  for (int i = 0; i < lcp_.size(); ++i) s_[i] = at(direction.dA_y, i);
  add_product(lcp_, r_, s_);
  for (int k = 0; k < factor_.size(); ++k) null_C_[k] = s_[factor_.clamping()[k]];
  factor_.project_null(null_C_, null_C_);
  for (int k = 0; k < factor_.size(); ++k) x_C_[k] += null_C_[k];
}

void LcpSensitivity::transposed(std::span<const double> f_bar, std::span<const double> w_bar, LcpGradient& gradient) {
  const int n = lcp_.size();
  check_size(f_bar, n, false, "f_bar");
  check_size(w_bar, n, true, "w_bar");
  for (std::vector<double>* vector :
       {&gradient.b, &gradient.target, &gradient.friction, &gradient.lower, &gradient.upper, &gradient.null}) {
    vector->assign(n, 0.0);
  }

  // a = ∂ℓ/∂f with w = A f + b(…) followed through, p_C = Xᵀ a.
  std::vector<double>& a = size_;
  std::copy(f_bar.begin(), f_bar.end(), a.begin());
  if (!w_bar.empty()) add_product(lcp_, w_bar, a);
  for (int k = 0; k < factor_.size(); ++k) x_C_[k] = a[factor_.clamping()[k]];
  for (const int i : friction_bounds_) {
    const LcpRow& row = lcp_.rows[i];
    x_C_[position_[row.normal]] += side_[i] * row.friction * a[i];
  }
  if (has_null_term_) {
    factor_.project_null_transposed(x_C_, null_C_);
    for (int k = 0; k < factor_.size(); ++k) gradient.null[factor_.clamping()[k]] = null_C_[k];
  }
  solve_transposed(x_C_);

  std::fill(r_.begin(), r_.end(), 0.0);
  for (int k = 0; k < factor_.size(); ++k) r_[factor_.clamping()[k]] = -x_C_[k];
  for (int i = 0; i < n; ++i) {
    gradient.b[i] = r_[i] + at(w_bar, i);
    if (dropped(i)) gradient.target[i] = r_[i];
  }
  add_product(lcp_, r_, a);  // now ∂ℓ/∂g
  std::fill(s_.begin(), s_.end(), 0.0);
  add_product(lcp_, gradient.null, s_);  // and ∂ℓ/∂g(y)
  for (const int i : friction_bounds_) {
    const int normal = lcp_.rows[i].normal;
    gradient.friction[i] = side_[i] * (a[i] * f_[normal] + s_[i] * y_[normal]);
  }
  for (const int i : constant_bounds_) {
    (side_[i] > 0 ? gradient.upper : gradient.lower)[i] = a[i];
  }
}

// Every part of a direction is as long as the problem, or left out.
void LcpSensitivity::check_direction(const LcpDirection& direction) const {
  const int n = lcp_.size();
  check_size(direction.dA_f, n, true, "dA_f");
  check_size(direction.dA_y, n, true, "dA_y");
  check_size(direction.db, n, true, "db");
  check_size(direction.dtarget, n, true, "dtarget");
  check_size(direction.dfriction, n, true, "dfriction");
  check_size(direction.dlower, n, true, "dlower");
  check_size(direction.dupper, n, true, "dupper");
}

}  // namespace lithe::internal

#include "lithe/optimize/riccati.h"

#include <algorithm>
#include <limits>

namespace lithe {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastScale = 1e-12;  // of Q_uu, where nothing depends on the controls

}  // namespace

RiccatiPass::RiccatiPass(const Problem& problem) : problem_(problem), policy_(problem.knots()) {}

// Q(x, u, u_before) = ℓ(x, u, u_before) + V(f(x, u), u).
void RiccatiPass::expand(const StepModel& step, int t, const MatX& gaps) {
  const CostExpansion& l = step.cost;
  const int n = static_cast<int>(step.A.rows()), m = problem_.controls();
  if (gaps.size() > 0) {
    V_.x.noalias() += V_.xx * gaps.col(t);
    V_.w.noalias() += V_.wx * gaps.col(t);
  }
  VA_.noalias() = V_.xx * step.A;
  VB_.noalias() = V_.xx * step.B;
  wxA_.noalias() = V_.wx * step.A;
  Qx_ = l.gradient.head(n);
  Qx_.noalias() += step.A.transpose() * V_.x;
  Qu_ = l.gradient.segment(l.u, m) + V_.w;
  Qu_.noalias() += step.B.transpose() * V_.x;
  Qb_ = l.gradient.segment(l.u_before, m);
  Qxx_ = l.hessian.topLeftCorner(n, n);
  Qxx_.noalias() += step.A.transpose() * VA_;
  Qux_ = l.hessian.block(l.u, 0, m, n) + wxA_;
  Qux_.noalias() += step.B.transpose() * VA_;
  regular_.noalias() = V_.wx * step.B;
  Quu_ = l.hessian.block(l.u, l.u, m, m) + V_.ww + regular_ + regular_.transpose();
  Quu_.noalias() += step.B.transpose() * VB_;
  Qbx_ = l.hessian.block(l.u_before, 0, m, n);
  Qbu_ = l.hessian.block(l.u_before, l.u, m, m);
  Qbb_ = l.hessian.block(l.u_before, l.u_before, m, m);
}

// Within a knot the controls before are the same ones.
void RiccatiPass::hold() {
  V_.x = Qx_;
  V_.w = Qu_ + Qb_;
  V_.xx = Qxx_;
  V_.wx = Qux_ + Qbx_;
  V_.ww = Quu_ + Qbb_ + Qbu_ + Qbu_.transpose();
}

bool RiccatiPass::minimise(const MatX& u, int knot, double regularization) {
  const int m = problem_.controls(), n = static_cast<int>(Qx_.size());
  KnotPolicy& policy = policy_[knot];
  policy.open.setZero(m);
  policy.feedback.setZero(m, n);
  policy.previous.setZero(m, m);
  if (m > 0) {
    scale_ = std::max({scale_, Quu_.trace() / m, kLeastScale});
    regular_ = Quu_;
    regular_.diagonal().array() += regularization * scale_;
    lower_ = problem_.lower.size() > 0 ? VecX(problem_.lower - u.col(knot)) : VecX::Constant(m, -kInfinity);
    upper_ = problem_.upper.size() > 0 ? VecX(problem_.upper - u.col(knot)) : VecX::Constant(m, kInfinity);
    qp_.solve(regular_, Qu_, lower_, upper_);
    if (!qp_.solved) return false;
    policy.open = qp_.x;
    if (!qp_.free.empty()) {
      const MatX by_x = qp_.factor.solve(Qux_(qp_.free, Eigen::all));
      const MatX by_before = qp_.factor.solve(Qbu_(Eigen::all, qp_.free).transpose());
      for (std::size_t k = 0; k < qp_.free.size(); ++k) {
        policy.feedback.row(qp_.free[k]) = -by_x.row(k);
        policy.previous.row(qp_.free[k]) = -by_before.row(k);
      }
    }
  }
  const VecX& k = policy.open;
  const MatX& K = policy.feedback;
  const MatX& P = policy.previous;
  first_ += Qu_.dot(k);
  second_ += k.dot(Quu_ * k);
  const VecX bent = Qu_ + Quu_ * k;
  V_.x = Qx_ + K.transpose() * bent + Qux_.transpose() * k;
  V_.w = Qb_ + P.transpose() * bent + Qbu_ * k;
  const MatX KQux = K.transpose() * Qux_;
  V_.xx = Qxx_ + K.transpose() * Quu_ * K + KQux + KQux.transpose();
  V_.wx = Qbx_ + P.transpose() * Quu_ * K + P.transpose() * Qux_ + Qbu_ * K;
  const MatX PQub = P.transpose() * Qbu_.transpose();
  V_.ww = Qbb_ + P.transpose() * Quu_ * P + PQub + PQub.transpose();
  V_.xx = (0.5 * (V_.xx + V_.xx.transpose())).eval();
  V_.ww = (0.5 * (V_.ww + V_.ww.transpose())).eval();
  return V_.x.allFinite() && V_.xx.allFinite();
}

bool RiccatiPass::compute(const std::vector<StepModel>& steps, const MatX& gaps, const MatX& u, double regularization) {
  const int T = problem_.steps, m = problem_.controls();
  const CostExpansion& end = steps[T].cost;
  const int n = end.u;
  first_ = second_ = scale_ = 0;
  V_.x = end.gradient.head(n);
  V_.w = end.gradient.segment(end.u_before, m);
  V_.xx = end.hessian.topLeftCorner(n, n);
  V_.wx = end.hessian.block(end.u_before, 0, m, n);
  V_.ww = end.hessian.block(end.u_before, end.u_before, m, m);
  for (int t = T - 1; t >= 0; --t) {
    if (before_step) before_step(t, V_);
    expand(steps[t], t, gaps);
    if (t % problem_.hold != 0) {
      hold();
    } else if (!minimise(u, t / problem_.hold, regularization)) {
      return false;
    }
  }
  return true;
}

}  // namespace lithe

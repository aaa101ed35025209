#include "lithe/optimize/solvers/riccati.h"

#include <algorithm>
#include <utility>

#include "lithe/core/infinity.h"

namespace lithe::internal {

namespace {

constexpr double kLeastScale = 1e-12;  // stands for the scale of Q_uu where nothing depends on the controls
constexpr int kFewest = 4;             // with fewer blocks than this, sharing them takes longer than doing them

// Fills what is below the diagonal of these columns' rows from what is above it in the columns.
void mirror(MatX& m, ColumnBlock at) {
  m.block(at.first, 0, at.count, at.first) = m.block(0, at.first, at.first, at.count).transpose();
  for (int j = at.first; j < at.end(); ++j) {
    for (int i = at.first; i < j; ++i) m(j, i) = m(i, j);
  }
}

}  // namespace

RiccatiPass::RiccatiPass(const Problem& problem, ThreadPool& pool)
    : problem_(problem),
      team_(pool),
      looks_back_(problem.hold > 1 || CostEvaluator(problem).needs_previous_controls()),
      policy_(problem.knots()) {}

// Does body(block) for each block, by all threads if there are enough blocks.
template <class Body>
void RiccatiPass::share(int blocks, Body&& body) {
  if (blocks >= kFewest) return team_.share(blocks, body);
  for (int index = 0; index < blocks; ++index) body(index);
}

// Expands Q around the step at hand, Q(x, u, u_before) = ℓ(x, u, u_before) + V(f(x, u), u), to second order:
//
//   Q_z = ℓ_z + Fᵀ V_x,   Q_zz = ℓ_zz + Fᵀ V_xx F,   z = (x, u),   F = [A B]
//
// and what V says of the controls themselves. What has to do with u_before is ℓ's alone. V is known around the start of
// the next step; where a gap lies before it, V_x + V_xx gap is its gradient at the end of this one (Mastalli et al.
// 2020).
void RiccatiPass::expand(const StageExpansion& step, int t, const MatX& gaps) {
  const int n = static_cast<int>(step.AB.rows()), m = problem_.controls();
  const auto Vxx = V_.zz.topLeftCorner(n, n);
  const auto Vxw = V_.zz.topRightCorner(n, m), Vww = V_.zz.bottomRightCorner(m, m);
  if (gaps.size() > 0) {
    const VecX bend = Vxx * gaps.col(t);
    gap_first_ += V_.z.head(n).dot(gaps.col(t));
    gap_second_ += bend.dot(gaps.col(t));
    V_.z.head(n) += bend;
    V_.z.tail(m).noalias() += Vxw.transpose() * gaps.col(t);
  }
  VAB_.resize(n, n + m);
  Q_.z.resize(n + m);
  Q_.zz.resize(n + m, n + m);
  // The columns of x, then those of u, each with the rows above its end. The largest come first, so that none is waited for.
  const int of_x = ColumnBlock::number(n), of_u = ColumnBlock::number(m);
  share(of_x + of_u, [&](int item) {
    const int index = of_x + of_u - 1 - item;
    const bool is_u = index >= of_x;
    ColumnBlock at = is_u ? ColumnBlock::at(index - of_x, m) : ColumnBlock::at(index, n);
    const int control = at.first;
    if (is_u) at.first += n;
    const auto F = step.AB.middleCols(at.first, at.count);
    auto VF = VAB_.middleCols(at.first, at.count);
    VF.noalias() = Vxx * F;
    if (is_u && looks_back_) VF += Vxw.middleCols(control, at.count);
    auto Q = Q_.zz.block(0, at.first, at.end(), at.count);
    Q.noalias() = step.AB.leftCols(at.end()).transpose() * VF;
    step.add_curvature(at.first, Q_.zz);
    auto slope = Q_.z.segment(at.first, at.count);
    slope = step.gradient.segment(at.first, at.count);
    slope.noalias() += F.transpose() * V_.z.head(n);
    if (!is_u) return mirror(Q_.zz, at);
    if (looks_back_) {
      const int controls = at.end() - n;
      Q.bottomRows(controls).noalias() += Vxw.leftCols(controls).transpose() * F;
      Q.bottomRows(controls) += Vww.block(0, control, controls, at.count);
      slope += V_.z.segment(at.first, at.count);
    }
  });
}

// Within a knot the controls before are the same ones, so nothing is to be chosen: V(x, w) = Q(x, u = w, u_before = w),
// and derivatives by u and by u_before add up.
void RiccatiPass::hold(const StageExpansion& step) {
  std::swap(V_, Q_);
  if (step.before.cols() == 0) return;
  const int m = problem_.controls(), n = static_cast<int>(step.AB.rows());
  V_.z.tail(m) += step.gradient.tail(m);
  V_.zz.rightCols(m) += step.before.topRows(n + m);
  V_.zz.bottomRightCorner(m, m) += step.before.middleRows(n, m).transpose() + step.before.bottomRows(m);
}

// The first step of a knot, where its controls are chosen: minimises Q over δu within the bounds, with μ·scale added to
// Q_uu's diagonal, and makes V of what is left (Tassa, Mansard & Todorov 2014). False: Q_uu is not positive definite,
// or numbers overflow.
bool RiccatiPass::minimise(const StageExpansion& step, const MatX& u, int knot, double regularization) {
  const int n = static_cast<int>(step.AB.rows()), m = problem_.controls();
  KnotPolicy& policy = policy_[knot];
  policy.open.setZero(m);
  policy.feedback.setZero(m, n);
  policy.previous.setZero(m, m);
  Quu_ = Q_.zz.bottomRightCorner(m, m).selfadjointView<Eigen::Upper>();
  if (m > 0) {
    scale_ = std::max({scale_, Quu_.trace() / m, kLeastScale});
    regular_ = Quu_;
    regular_.diagonal().array() += regularization * scale_;
    lower_ = problem_.lower.size() > 0 ? VecX(problem_.lower - u.col(knot)) : VecX::Constant(m, -kInfinity);
    upper_ = problem_.upper.size() > 0 ? VecX(problem_.upper - u.col(knot)) : VecX::Constant(m, kInfinity);
    qp_.solve(regular_, Q_.z.tail(m), lower_, upper_);
    if (!qp_.solved) return false;
    policy.open = qp_.x;
  }
  answer(policy, step);
  return V_.z.allFinite() && V_.zz.topLeftCorner(n, n).allFinite();
}

// The feedback of a knot whose open step is known, and the value of following it:
//
//   V_xx = Q_xx + KᵀQ_uu K + KᵀQ_ux + Q_xu K = Q_xx + KᵀS + SᵀK,  S = Q_ux + Q_uu K / 2.
void RiccatiPass::answer(KnotPolicy& policy, const StageExpansion& step) {
  const int n = static_cast<int>(step.AB.rows()), m = problem_.controls();
  const auto Qx = Q_.z.head(n), Qu = Q_.z.tail(m);
  const VecX& k = policy.open;
  MatX& K = policy.feedback;
  Qux_.resize(m, n);
  half_.resize(m, n);
  share(ColumnBlock::number(n), [&](int index) {
    const ColumnBlock at = ColumnBlock::at(index, n);
    auto Qux = Qux_.middleCols(at.first, at.count);
    auto feedback = K.middleCols(at.first, at.count);
    Qux = Q_.zz.block(at.first, n, at.count, m).transpose();
    // Controls that a bound holds do not answer: their rows of K stay zero.
    if (!qp_.free.empty()) feedback(qp_.free, Eigen::all) = -qp_.factor.solve(MatX(Qux(qp_.free, Eigen::all)));
    auto half = half_.middleCols(at.first, at.count);
    half = Qux;
    half.noalias() += 0.5 * Quu_ * feedback;
  });
  first_ += Qu.dot(k);
  const VecX bent = Qu + Quu_ * k;
  second_ += k.dot(bent - Qu);
  V_.z.setZero(n + m);
  auto Vx = V_.z.head(n);
  Vx = Qx;
  Vx.noalias() += K.transpose() * bent;
  Vx.noalias() += Qux_.transpose() * k;
  V_.zz.resize(n + m, n + m);
  const int blocks = ColumnBlock::number(n);
  share(blocks, [&](int item) {
    const ColumnBlock at = ColumnBlock::at(blocks - 1 - item, n);
    auto V = V_.zz.block(0, at.first, at.end(), at.count);
    V = Q_.zz.block(0, at.first, at.end(), at.count);
    V.noalias() += K.leftCols(at.end()).transpose() * half_.middleCols(at.first, at.count);
    V.noalias() += half_.leftCols(at.end()).transpose() * K.middleCols(at.first, at.count);
    mirror(V_.zz, at);
  });
  V_.zz.rightCols(m).setZero();
  if (step.before.cols() == 0) return;

  const auto Qxb = step.before.topRows(n), Qub = step.before.middleRows(n, m), Qbb = step.before.bottomRows(m);
  MatX& P = policy.previous;
  if (!qp_.free.empty()) P(qp_.free, Eigen::all) = -qp_.factor.solve(MatX(Qub(qp_.free, Eigen::all)));
  V_.z.tail(m) = step.gradient.tail(m) + P.transpose() * bent + Qub.transpose() * k;
  V_.zz.topRightCorner(n, m) = Qxb + (Quu_ * K + Qux_).transpose() * P + K.transpose() * Qub;
  const MatX PQub = P.transpose() * Qub;
  V_.zz.bottomRightCorner(m, m) = Qbb + P.transpose() * Quu_ * P + PQub + PQub.transpose();
}

bool RiccatiPass::compute(const std::vector<StageExpansion>& steps, const MatX& gaps, const MatX& u,
                          double regularization) {
  bool done = false;
  team_.lead([&] { done = recur(steps, gaps, u, regularization); },
             [&](int worker) {
               if (meanwhile) meanwhile(worker);
             });
  return done;
}

// The recursion itself, by the thread that leads. At the end of the motion V is the costs there.
bool RiccatiPass::recur(const std::vector<StageExpansion>& steps, const MatX& gaps, const MatX& u,
                        double regularization) {
  const int T = problem_.steps, m = problem_.controls();
  if (before_step) before_step(T, nullptr);
  const StageExpansion& end = steps[T];
  const int n = static_cast<int>(end.gradient.size()) - 2 * m;
  first_ = second_ = gap_first_ = gap_second_ = scale_ = 0;
  V_.z.resize(n + m);
  V_.z << end.gradient.head(n), end.gradient.tail(m);
  V_.zz.setZero(n + m, n + m);
  for (int index = 0; index < ColumnBlock::number(n); ++index) {
    const ColumnBlock at = ColumnBlock::at(index, n);
    end.add_curvature(at.first, V_.zz);
    mirror(V_.zz, at);
  }
  if (end.before.cols() > 0) {
    V_.zz.topRightCorner(n, m) = end.before.topRows(n);
    V_.zz.bottomRightCorner(m, m) = end.before.bottomRows(m);
  }
  for (int t = T - 1; t >= 0; --t) {
    if (before_step) before_step(t, &V_);
    expand(steps[t], t, gaps);
    if (t % problem_.hold != 0) {
      hold(steps[t]);
    } else if (!minimise(steps[t], u, t / problem_.hold, regularization)) {
      return false;
    }
  }
  return true;
}

}  // namespace lithe::internal

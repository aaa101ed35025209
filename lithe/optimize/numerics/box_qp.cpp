#include "lithe/optimize/numerics/box_qp.h"

#include <algorithm>

namespace lithe::internal {

namespace {

constexpr int kMostSteps = 100;
constexpr double kSmallestShare = 1e-10;  // of a step in the line search, before rounding is blamed
constexpr double kArmijo = 0.1;           // the share of the decrease to first order that a step must bring

}  // namespace

void BoxQp::solve(const MatX& H, const VecX& g, const VecX& lower, const VecX& upper) {
  const auto n = static_cast<int>(g.size());
  const auto value = [&](const VecX& at) { return at.dot(g) + 0.5 * at.dot(H * at); };
  x = VecX::Zero(n).cwiseMax(lower).cwiseMin(upper);
  solved = false;
  free.clear();
  std::vector<int> last = {-1};
  bool settled = false;  // the last step was a full one, and no bound was in its way
  for (int iteration = 0; iteration < kMostSteps; ++iteration) {
    gradient_ = g + H * x;
    free.clear();
    for (int i = 0; i < n; ++i) {
      // A coordinate is held where it is at a bound and the way down leads beyond it.
      const bool held = (x[i] <= lower[i] && gradient_[i] > 0) || (x[i] >= upper[i] && gradient_[i] < 0);
      if (!held) free.push_back(i);
    }
    // A full Newton step ends at the minimum of its coordinates; what the gradient has left there is rounding.
    if (free.empty() || (settled && free == last)) {
      solved = true;
      return;
    }
    if (free != last) {
      reduced_ = H(free, free);
      factor.compute(reduced_);
      if (factor.info() != Eigen::Success) return;
      last = free;
    }
    // The Newton step of the free coordinates.
    step_.setZero(n);
    const VecX newton = factor.solve(gradient_(free));
    for (std::size_t k = 0; k < free.size(); ++k) step_[free[k]] = -newton[k];
    const double slope = step_.dot(gradient_);
    const double size = std::max(1.0, x.cwiseAbs().maxCoeff());
    if (!(slope < 0) || step_.cwiseAbs().maxCoeff() <= 1e-15 * size) {
      solved = true;
      return;
    }
    const double before = value(x);
    // The Armijo rule along the projected path (Bertsekas 1982): shorter steps until one leads far enough down.
    double share = 1;
    for (;; share /= 2) {
      trial_ = (x + share * step_).cwiseMax(lower).cwiseMin(upper);
      if (value(trial_) <= before + kArmijo * gradient_.dot(trial_ - x)) break;
      if (share < kSmallestShare) {
        solved = true;  // as far as rounding allows
        return;
      }
    }
    settled = share == 1 && trial_ == x + step_;
    x = trial_;
  }
}

}  // namespace lithe::internal

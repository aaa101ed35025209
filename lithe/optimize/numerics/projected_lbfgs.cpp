#include "lithe/optimize/numerics/projected_lbfgs.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lithe::internal {

namespace {

constexpr double kSufficientDecrease = 1e-4;
constexpr int kTrials = 25;  // lengths that are tried along one direction
// A first step along −g is made four times as long up to eight times, while that leads further down.
constexpr int kStretches = 8;
constexpr double kStretch = 4;
// This many steps in a row may leave f as it is. Each of them has to be this share of its direction at least, as any
// step is flat that is short enough.
constexpr int kFlatSteps = 10;
constexpr double kFlatShare = 1e-3;
constexpr double kRounding = 1e-14;  // of a sum such as f, relative to it
constexpr double kNearBound = 1e-2;  // the largest ε within which a variable counts as at its bound
// Pairs whose sᵀy is less than this share of |s| |y| say nothing of the curvature, or the wrong thing.
constexpr double kCurvature = 1e-12;

}  // namespace

ProjectedLbfgs::ProjectedLbfgs(VecX lower, VecX upper, int memory)
    : lower_(std::move(lower)), upper_(std::move(upper)), memory_(memory) {}

void ProjectedLbfgs::forget() {
  pairs_.clear();
  last_y_.resize(0);
  flat_steps_ = 0;
}

// Keeps what the last step showed of the curvature. Pairs without positive curvature would make the approximate Hessian
// indefinite.
void ProjectedLbfgs::remember(const VecX& y, const VecX& gradient) {
  if (last_y_.size() > 0 && memory_ > 0) {
    Pair pair = {y - last_y_, gradient - last_gradient_};
    if (pair.s.dot(pair.y) > kCurvature * pair.s.norm() * pair.y.norm()) {
      if (static_cast<int>(pairs_.size()) == memory_) pairs_.erase(pairs_.begin());
      pairs_.push_back(std::move(pair));
    }
  }
  last_y_ = y;
  last_gradient_ = gradient;
}

// The two-loop recursion (Nocedal & Wright 2006, algorithm 7.4) among the free variables; the others go along −g,
// scaled as the newest pair says (eq. 7.20).
bool ProjectedLbfgs::recur(const VecX& gradient) {
  const std::size_t count = pairs_.size();
  std::vector<double> alpha(count, 0), rho(count, 0);
  direction_ = -gradient.cwiseProduct(free_);
  double scale = 0;
  for (std::size_t k = count; k-- > 0;) {
    const VecX s = pairs_[k].s.cwiseProduct(free_), y = pairs_[k].y.cwiseProduct(free_);
    const double curvature = s.dot(y);
    if (!(curvature > kCurvature * s.norm() * y.norm())) continue;
    if (scale == 0) scale = curvature / y.squaredNorm();
    rho[k] = 1 / curvature;
    alpha[k] = rho[k] * s.dot(direction_);
    direction_ -= alpha[k] * y;
  }
  if (!(scale > 0) || !std::isfinite(scale)) return false;
  direction_ *= scale;
  for (std::size_t k = 0; k < count; ++k) {
    if (rho[k] == 0) continue;
    const double beta = rho[k] * pairs_[k].y.dot(direction_);
    direction_ += (alpha[k] - beta) * pairs_[k].s.cwiseProduct(free_);
  }
  direction_ -= scale * gradient.cwiseProduct(VecX::Ones(free_.size()) - free_);
  return direction_.allFinite() && gradient.cwiseProduct(free_).dot(direction_) <= 0;
}

// ε shrinks with the projected gradient, so that close to the optimum only variables that are at their bounds are held
// (Bertsekas 1982).
void ProjectedLbfgs::choose_direction(const VecX& y, const VecX& gradient) {
  const double near = std::min(kNearBound, (y - project(y - gradient)).cwiseAbs().maxCoeff());
  free_.resize(y.size());
  for (int i = 0; i < y.size(); ++i) {
    const bool held = (gradient[i] > 0 && y[i] <= lower_[i] + near) || (gradient[i] < 0 && y[i] >= upper_[i] - near);
    free_[i] = held ? 0 : 1;
  }
  steepest_ = pairs_.empty() || !recur(gradient);
  if (!steepest_) return;
  // The share of −g that the bounds leave has the length of the last step.
  const double size = gradient.cwiseProduct(free_).norm();
  direction_ = -last_length_ / (size > 0 ? size : gradient.norm()) * gradient;
}

// Where the first step along −g leads down, a longer one may lead further.
double ProjectedLbfgs::stretch(const VecX& y, const VecX& gradient, const Function& f, double value, VecX& next) {
  double share = 1;
  for (int k = 0; k < kStretches; ++k) {
    const VecX further = project(y + kStretch * share * direction_);
    if (further == next) break;
    const double there = f(further);
    if (!(there < value) || !(gradient.dot(further - y) < 0)) {
      f(next);
      break;
    }
    share *= kStretch;
    value = there;
    next = further;
  }
  return value;
}

// Backtracks along the projected path. Returns the length of the step, 0 where none leads down far enough.
double ProjectedLbfgs::search(const VecX& y, double value, const VecX& gradient, const Function& f, VecX& next) {
  double share = 1;
  for (int trial = 0; trial < kTrials; ++trial) {
    next = project(y + share * direction_);
    const double slope = gradient.dot(next - y);
    if (next == y) return 0;
    double factor = 0.5;
    if (slope < 0) {
      double there = f(next);
      const double rounding = kRounding * std::abs(value);
      if (there <= value + kSufficientDecrease * slope ||
          (std::abs(there - value) <= rounding && share >= kFlatShare)) {
        if (steepest_ && trial == 0) there = stretch(y, gradient, f, there, next);
        flat_steps_ = there < value - rounding ? 0 : flat_steps_ + 1;
        return flat_steps_ <= kFlatSteps ? (next - y).norm() : 0;
      }
      // The minimum of the parabola through f(y), its slope and f(next).
      factor = std::isfinite(there) ? std::clamp(-slope / (2 * (there - value - slope)), 0.1, 0.5) : 0.2;
    }
    share *= factor;
  }
  return 0;
}

// A direction from pairs that leads nowhere may be their fault, so steepest descent is tried before giving up.
double ProjectedLbfgs::advance(const VecX& y, double value, const VecX& gradient, const Function& f, VecX& next) {
  remember(y, gradient);
  choose_direction(y, gradient);
  double length = search(y, value, gradient, f, next);
  if (length == 0 && !steepest_ && flat_steps_ <= kFlatSteps) {
    pairs_.clear();
    choose_direction(y, gradient);
    length = search(y, value, gradient, f, next);
  }
  if (length > 0) last_length_ = length;
  return length;
}

}  // namespace lithe::internal

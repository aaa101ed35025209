#include "lithe/optimize/numerics/projected_lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lithe/core/infinity.h"

namespace lithe::test {

using namespace internal;

namespace {

struct Smooth {
  std::function<double(const VecX&)> value;
  std::function<VecX(const VecX&)> gradient;
};

// Rosenbrock's valley: the minimum is at (1, …, 1).
Smooth valley() {
  return {[](const VecX& y) {
            double sum = 0;
            for (int i = 0; i + 1 < y.size(); ++i) {
              sum += 100 * std::pow(y[i + 1] - y[i] * y[i], 2) + std::pow(1 - y[i], 2);
            }
            return sum;
          },
          [](const VecX& y) {
            VecX g = VecX::Zero(y.size());
            for (int i = 0; i + 1 < y.size(); ++i) {
              const double bend = y[i + 1] - y[i] * y[i];
              g[i] += -400 * y[i] * bend - 2 * (1 - y[i]);
              g[i + 1] += 200 * bend;
            }
            return g;
          }};
}

struct Minimum {
  VecX y;
  int steps = 0;
  double first_order = 0;
};

Minimum minimise(const Smooth& f, VecX y, const VecX& lower, const VecX& upper, int most, double tolerance) {
  ProjectedLbfgs lbfgs(lower, upper, 10);
  VecX next, last;
  Minimum outcome;
  const auto project = [&](const VecX& x) -> VecX { return x.cwiseMax(lower).cwiseMin(upper); };
  for (;; ++outcome.steps) {
    const VecX g = f.gradient(y);
    outcome.first_order = (y - project(y - g)).cwiseAbs().maxCoeff();
    if (outcome.steps == most || outcome.first_order < tolerance) break;
    const double value = f.value(y);
    const double length = lbfgs.advance(
        y, value, g,
        [&](const VecX& x) {
          last = x;
          return f.value(x);
        },
        next);
    if (length == 0) break;
    EXPECT_EQ(next, last);  // the last call is where it goes
    EXPECT_EQ(next, project(next));
    EXPECT_NEAR(length, (next - y).norm(), 1e-15);
    EXPECT_LE(f.value(next), value + 1e-13 * std::abs(value));
    y = next;
  }
  outcome.y = y;
  return outcome;
}

VecX all(int n, double x) { return VecX::Constant(n, x); }

}  // namespace

TEST(ProjectedLbfgs, FollowsRosenbrocksValley) {
  const Minimum outcome = minimise(valley(), all(8, -1.2), all(8, -kInfinity), all(8, kInfinity), 500, 1e-9);
  EXPECT_LT(outcome.steps, 200);
  EXPECT_LT((outcome.y - all(8, 1)).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(ProjectedLbfgs, StopsAtTheBoundsOfTheValley) {
  VecX upper = all(2, kInfinity);
  upper[0] = 0.5;
  const Minimum outcome = minimise(valley(), Eigen::Vector2d(-1.2, 1), all(2, -kInfinity), upper, 500, 1e-10);
  EXPECT_EQ(outcome.y[0], 0.5);
  EXPECT_NEAR(outcome.y[1], 0.25, 1e-9);
  EXPECT_LT(outcome.first_order, 1e-10);
}

TEST(ProjectedLbfgs, LeavesAWrongBound) {
  // Starts in a corner that is not the optimum's.
  const Minimum outcome = minimise(valley(), all(4, -2), all(4, -2), all(4, 0.8), 500, 1e-9);
  EXPECT_LT(outcome.first_order, 1e-9);
  EXPECT_LT(outcome.steps, 300);
}

TEST(ProjectedLbfgs, TakesValuesThatAreInfiniteAsWalls) {
  // −log: falls up to 3, and there is nothing beyond.
  const Smooth f = {[](const VecX& y) { return y[0] < 3 ? -std::log(3 - y[0]) + y[0] * y[0] : kInfinity; },
                    [](const VecX& y) -> VecX { return VecX::Constant(1, 1 / (3 - y[0]) + 2 * y[0]); }};
  const Minimum outcome = minimise(f, all(1, 2.9), all(1, -kInfinity), all(1, kInfinity), 100, 1e-10);
  // 1/(3 − y) + 2y = 0
  EXPECT_NEAR(outcome.y[0], (3 - std::sqrt(11)) / 2, 1e-9);
}

TEST(ProjectedLbfgs, CrossesAPlateauAndGivesUpOnAnEndlessOne) {
  // The gradient says downhill long before it is.
  const Smooth step = {[](const VecX& y) { return y[0] < 5 ? 1.0 : std::pow(y[0] - 6, 2); },
                       [](const VecX& y) -> VecX { return VecX::Constant(1, y[0] < 5 ? -1 : 2 * (y[0] - 6)); }};
  const Minimum across = minimise(step, all(1, 0), all(1, -kInfinity), all(1, kInfinity), 100, 1e-9);
  EXPECT_NEAR(across.y[0], 6, 1e-8);

  const Smooth flat = {[](const VecX&) { return 1.0; }, [](const VecX& y) -> VecX { return VecX::Ones(y.size()); }};
  const Minimum lost = minimise(flat, all(2, 0), all(2, -kInfinity), all(2, kInfinity), 100, 1e-9);
  EXPECT_LE(lost.steps, 10);
}

TEST(ProjectedLbfgs, WrongGradientsFindNoStep) {
  const Smooth uphill = {[](const VecX& y) { return y[0]; }, [](const VecX&) -> VecX { return VecX::Constant(1, -1); }};
  const Minimum outcome = minimise(uphill, all(1, 1), all(1, -kInfinity), all(1, kInfinity), 100, 1e-9);
  EXPECT_EQ(outcome.steps, 0);
  EXPECT_EQ(outcome.y[0], 1);
}

}  // namespace lithe::test

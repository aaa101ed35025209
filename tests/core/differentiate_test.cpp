#include "tests/support/differentiate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lithe/core/infinity.h"

namespace lithe::test {
namespace {

// (sin x₀ · e^x₁, x₀ x₁) around (0.3, 0.2), and its derivative.
VecX value(const VecX& delta) {
  const double x = 0.3 + delta[0], y = 0.2 + delta[1];
  return Eigen::Vector2d(std::sin(x) * std::exp(y), x * y);
}
MatX derivative() {
  MatX J(2, 2);
  J << std::cos(0.3) * std::exp(0.2), std::sin(0.3) * std::exp(0.2), 0.2, 0.3;
  return J;
}

TEST(Differentiate, CentralDifferenceOfSmoothFunctionsHasTwelveDigits) {
  EXPECT_LT(relative_error(derivative(), central_difference(value, 2)), 1e-12);
}

TEST(Differentiate, CentralDifferenceIsOfSixthOrder) {
  const auto error = [](double step) { return relative_error(derivative(), central_difference(value, 2, step)); };
  EXPECT_NEAR(std::log2(error(0.4) / error(0.2)), 6, 0.3);
}

TEST(Differentiate, RiddersKnowsItsError) {
  const NumericDerivative numeric = ridders_difference(value, 2);
  EXPECT_LT(relative_error(derivative(), numeric.value), 1e-12);
  EXPECT_LT(numeric.error.maxCoeff(), 1e-10);
  // A noisy function: the estimate says so.
  const auto noisy = [](const VecX& delta) -> VecX {
    return value(delta).unaryExpr([](double x) { return std::round(x * 1e8) / 1e8; });
  };
  const NumericDerivative rough = ridders_difference(noisy, 2);
  const MatX actual = (rough.value - derivative()).cwiseAbs();
  EXPECT_GT(rough.error.maxCoeff(), 1e-9);
  EXPECT_LT(actual.maxCoeff(), 100 * rough.error.maxCoeff());
}

TEST(Differentiate, FunctionsOfNothingHaveNoColumns) {
  const MatX J = central_difference([](const VecX&) -> VecX { return Vec3::Zero(); }, 0);
  EXPECT_EQ(J.rows(), 3);
  EXPECT_EQ(J.cols(), 0);
}

TEST(Differentiate, RelativeErrorIsByTheLargestEntry) {
  EXPECT_DOUBLE_EQ(relative_error(Eigen::Vector2d(10, 1), Eigen::Vector2d(10, 2)), 0.1);
  EXPECT_DOUBLE_EQ(relative_error(Eigen::Vector2d(0, 1e-9), Eigen::Vector2d(0, 0), 1e-3), 1e-6);
  EXPECT_EQ(relative_error(MatX(3, 0), MatX(3, 0)), 0);
}

TEST(Differentiate, NothingFiniteIsCloseToNaNOrToAnotherSize) {
  EXPECT_EQ(relative_error(Vec3(1, std::nan(""), 1), Vec3(1, 1, 1)), kInfinity);
  EXPECT_EQ(relative_error(Vec3(1, 1, 1), Vec3(1, std::nan(""), 1)), kInfinity);
  EXPECT_EQ(relative_error(Vec3(1, 1, 1), Eigen::Vector2d(1, 1)), kInfinity);
}

}  // namespace
}  // namespace lithe::test

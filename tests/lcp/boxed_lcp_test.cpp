#include "lithe/lcp/boxed_lcp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/constants.h"
#include "tests/support/error_text.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_test.h"

namespace lithe::test {
namespace {

TEST(BoxedLcp, EvaluatesVelocitiesOfAnySize) {
  for_random_cases(60, [](std::mt19937_64& random) {
    const SampledLcp factored = random_lcp(LcpFamily::half_rank, random);
    const LcpProblem problem = factored.problem();
    const VecX f = VecX::Random(problem.size());
    VecX w(problem.size());
    evaluate(problem.view(), as_span(f), as_span(w));
    const VecX expected = factored.W * (factored.W.transpose() * f + factored.u) - factored.d;
    EXPECT_LE((w - expected).cwiseAbs().maxCoeff(), 1e-12 * (1 + expected.cwiseAbs().maxCoeff()));
  });
}

TEST(BoxedLcp, PadsItsColumnsWithZeros) {
  const LcpProblem problem(MatX::Ones(5, 5), VecX::Zero(5), std::vector<LcpRow>(5));
  EXPECT_EQ(problem.stride, 8);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(problem.A.data()) % 32, 0u);
  for (int j = 0; j < 5; ++j) {
    for (int i = 0; i < 8; ++i) EXPECT_EQ(problem.view().column(j)[i], i < 5 ? 1 : 0);
  }
}

TEST(BoxedLcp, BoundsFrictionByItsNormal) {
  const std::vector<double> f = {2, 0, -1};
  EXPECT_EQ(bounds_of(LcpRow::make_friction(0, 0.5), f).upper, 1);
  EXPECT_EQ(bounds_of(LcpRow::make_friction(0, 0.5), f).lower, -1);
  EXPECT_EQ(bounds_of(LcpRow::make_friction(2, 0.5), f).upper, 0) << "a pulling normal bounds it to nothing";
  EXPECT_EQ(bounds_of(LcpRow::make_one_sided(), f).lower, 0);
  EXPECT_EQ(bounds_of(LcpRow::make_two_sided(), f).lower, -LcpRow::kInfinity);
  EXPECT_EQ(bounds_of(LcpRow::make_bounded(-3, 4), f).upper, 4);
}

TEST(BoxedLcp, ClampsNormalsBeforeTheFrictionTheyBound) {
  const std::vector<LcpRow> rows = {LcpRow::make_friction(2, 0.5), LcpRow::make_bounded(-1, 1),
                                    LcpRow::make_one_sided(), LcpRow::make_two_sided()};
  std::vector<double> f = {3, -2, -1, -7};
  clamp_to_bounds(rows, f);
  EXPECT_EQ(f, (std::vector<double>{0, -1, 0, -7}));
}

TEST(BoxedLcp, MeasuresVelocitiesAgainstB) {
  const std::vector<LcpRow> rows = {LcpRow::make_one_sided(), LcpRow::make_bounded(-9, 9)};
  EXPECT_EQ(velocity_scale(LcpProblem(MatX::Identity(2, 2), VecX{{-3, 1}}, rows).view()), 3);
  EXPECT_EQ(velocity_scale(LcpProblem(MatX::Identity(2, 2), VecX::Zero(2), rows).view()), 1) << "never zero";
}

TEST(BoxedLcp, MeasuresVelocitiesAgainstImposedImpulses) {
  const std::vector<LcpRow> rows = {LcpRow::make_bounded(5, 9), LcpRow::make_bounded(-9, -6)};
  EXPECT_EQ(velocity_scale(LcpProblem(MatX::Identity(2, 2) * 2, VecX{{1, 1}}, rows).view()), 12);
}

// What residual() makes of one row with A = 2 and scale 4.
double residual_of(const LcpRow& row, double f, double w) {
  const LcpProblem problem(MatX::Identity(2, 2) * 2, VecX{{0, 4}}, {row, LcpRow::make_one_sided()});
  return residual(problem.view(), std::vector{f, 0.0}, std::vector{w, 4.0});
}

TEST(BoxedLcp, ResidualIsZeroExactlyAtSolutions) {
  const LcpRow normal = LcpRow::make_one_sided(), motor = LcpRow::make_bounded(-1, 2);
  EXPECT_EQ(residual_of(normal, 0, 3), 0);
  EXPECT_EQ(residual_of(normal, 3, 0), 0);
  EXPECT_EQ(residual_of(motor, -1, 3), 0);
  EXPECT_EQ(residual_of(motor, 2, -3), 0);
  EXPECT_EQ(residual_of(motor, 1, 0), 0);
  EXPECT_EQ(residual_of(LcpRow::make_two_sided(), -5, 0), 0);
}

TEST(BoxedLcp, ResidualIsTheVelocityThatIsMissing) {
  const LcpRow normal = LcpRow::make_one_sided(), motor = LcpRow::make_bounded(-1, 2);
  EXPECT_EQ(residual_of(normal, 0, -1), 0.25);
  EXPECT_EQ(residual_of(normal, -0.5, 3), 0.25) << "a pull counts times A_ii";
  EXPECT_EQ(residual_of(normal, 3, 1), 0.25);
  EXPECT_EQ(residual_of(motor, 1, 1), 0.25);
  EXPECT_EQ(residual_of(motor, 2.5, 0), 0.25);
  EXPECT_EQ(residual_of(motor, 2, 1), 0.25) << "w > 0 at the upper bound";
  EXPECT_EQ(residual_of(LcpRow::make_two_sided(), 9, -1), 0.25);
}

TEST(BoxedLcp, ResidualIsInfiniteWhereAnythingIsNotFinite) {
  EXPECT_EQ(residual_of(LcpRow::make_one_sided(), kNan, 0), LcpRow::kInfinity);
  EXPECT_EQ(residual_of(LcpRow::make_one_sided(), 0, kNan), LcpRow::kInfinity);
  EXPECT_EQ(residual_of(LcpRow::make_bounded(-1, 1), 0, LcpRow::kInfinity), LcpRow::kInfinity);
}

TEST(BoxedLcp, ResidualCountsRowsThatNothingMovesByTheirVelocity) {
  const auto immovable = [](const LcpRow& row, double w) {
    const LcpProblem problem(MatX::Zero(1, 1), VecX::Constant(1, w), {row});
    return residual(problem.view(), std::vector{0.0}, std::vector{w});
  };
  EXPECT_EQ(immovable(LcpRow::make_one_sided(), -2), 1);
  EXPECT_EQ(immovable(LcpRow::make_one_sided(), 2), 0);
  EXPECT_EQ(immovable(LcpRow::make_two_sided(), 2), 1);
  EXPECT_EQ(immovable(LcpRow::make_bounded(-1, 1), 2), 0);
}

TEST(BoxedLcp, RefusesSizesThatDoNotMatch) {
  const std::vector<LcpRow> rows(3);
  expect_error([&] { LcpProblem(MatX::Zero(3, 2), VecX::Zero(3), rows); }, "A is 3×2", "3×3");
  expect_error([&] { LcpProblem(MatX::Zero(3, 3), VecX::Zero(2), rows); }, "b has 2 entries");
  expect_error([&] { LcpProblem(MatX::Zero(3, 3), VecX::Zero(3), rows, VecX::Zero(1)); }, "target has 1 entries");
}

}  // namespace
}  // namespace lithe::test

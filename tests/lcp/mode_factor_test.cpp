#include "lithe/lcp/modes/mode_factor.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "lithe/lcp/solve_lcp.h"
#include "lithe/linalg/dense_lu.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

// Everything that a ModeFactor can do, as dense matrices.
struct DenseMode {
  ModeFactor factor;
  MatX A, group_inverse, null_projector;

  DenseMode(const LcpProblem& problem, std::span<const RowMode> modes) {
    factor.compute(problem.view(), modes);
    factor.gather(problem.view(), modes);
    const int m = factor.size();
    A = Eigen::Map<const MatX, 0, Eigen::OuterStride<>>(factor.matrix(), m, m,
                                                        Eigen::OuterStride<>(factor.matrix_stride()));
    if (!factor.has_group_inverse()) return;
    group_inverse = columns([&](auto x, auto y) { factor.solve(x, y); });
    null_projector = columns([&](auto x, auto y) { factor.project_null(x, y); });
  }

  template <class Operation>
  MatX columns(Operation operation) const {
    const int m = factor.size();
    MatX result(m, m);
    VecX column(m);
    for (int k = 0; k < m; ++k) {
      const VecX unit = VecX::Unit(m, k);
      operation(as_span(unit), as_span(column));
      result.col(k) = column;
    }
    return result;
  }
};

// A solution's modes, of any family whose matrices are not too far from regular. Some rows clamp.
struct ClassifiedProblem {
  LcpProblem problem;
  LcpSolution solution;
};
ClassifiedProblem random_classified(std::mt19937_64& random) {
  const LcpFamily families[] = {LcpFamily::tiny, LcpFamily::full_rank, LcpFamily::half_rank, LcpFamily::doubled_rows,
                                LcpFamily::foot, LcpFamily::stack,     LcpFamily::motors};
  ClassifiedProblem result;
  do {
    result.problem = random_lcp(families[random() % std::size(families)], random).problem();
    result.solution = solve_lcp(result.problem.view());
  } while (result.solution.report.clamping_rows == 0);  // at rest in one of ten
  return result;
}

double scale_of(const MatX& matrix) { return matrix.size() == 0 ? 0.0 : matrix.cwiseAbs().maxCoeff(); }

double condition_of(const MatX& A, const MatX& inverse) { return std::max(1.0, scale_of(A) * scale_of(inverse)); }

// Runs check(mode, condition) on random ones with a group inverse and a condition of at most `worst`.
template <class Check>
void for_random_modes(int cases, double worst, double max_skipped, Check check) {
  for_random_cases(
      cases,
      [&](std::mt19937_64& random) {
        const auto [problem, solution] = random_classified(random);
        const DenseMode dense(problem, solution.modes);
        if (!dense.factor.has_group_inverse()) return Outcome::skipped;
        const double condition = condition_of(dense.A, dense.group_inverse);
        if (condition > worst) return Outcome::skipped;
        check(dense, condition);
        return Outcome::checked;
      },
      max_skipped);
}

TEST(ModeFactor, GivesTheGroupInverse) {
  // The three equations that define it (Ben-Israel & Greville 2003, §4.4).
  for_random_modes(300, 1e5, 0.1, [](const DenseMode& dense, double condition) {
    const MatX &A = dense.A, &X = dense.group_inverse;
    const double tolerance = 1e-13 * condition * condition;
    EXPECT_LE(scale_of(A * X * A - A), tolerance * scale_of(A) * dense.factor.size());
    EXPECT_LE(scale_of(X * A * X - X), tolerance * scale_of(X) * dense.factor.size());
    EXPECT_LE(scale_of(A * X - X * A), tolerance * dense.factor.size());
  });
}

TEST(ModeFactor, GivesThePseudoInverseWhereNothingSlides) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const LcpProblem problem = random_lcp(LcpFamily::half_rank, random).problem();
    const DenseMode dense(problem, std::vector<RowMode>(problem.size(), RowMode::clamping));
    EXPECT_TRUE(dense.factor.symmetric());
    const Eigen::CompleteOrthogonalDecomposition<MatX> decomposition(dense.A);
    EXPECT_EQ(dense.factor.rank(), decomposition.rank());
    const MatX expected = decomposition.pseudoInverse();
    const double condition = condition_of(dense.A, expected);
    if (condition > 1e5) return Outcome::skipped;
    EXPECT_LE(scale_of(dense.group_inverse - expected), 1e-13 * condition * condition * scale_of(expected));
    return Outcome::checked;
  });
}

TEST(ModeFactor, IsTheLimitOfTheRidge) {
  // With a ridge of 1e-6 the next term is 1e-6 times the condition.
  for_random_modes(200, 1e3, 0.3, [](const DenseMode& dense, double) {
    const int m = dense.factor.size();
    const double ridge = 1e-6 * scale_of(dense.A);
    const MatX expected = (dense.A + ridge * MatX::Identity(m, m)).inverse();
    const MatX limit = dense.group_inverse + dense.null_projector / ridge;
    EXPECT_LE(scale_of(expected - limit), 1e-2 * scale_of(limit));
  });
}

TEST(ModeFactor, TransposesAndProjects) {
  for_random_modes(200, 1e5, 0.1, [](const DenseMode& dense, double condition) {
    const int m = dense.factor.size();
    const MatX &A = dense.A, &X = dense.group_inverse;
    const MatX transposed = dense.columns([&](auto x, auto y) { dense.factor.solve_transposed(x, y); });
    EXPECT_LE(scale_of(transposed - X.transpose()), 1e-12 * scale_of(X) * condition);
    EXPECT_LE(scale_of(dense.null_projector - (MatX::Identity(m, m) - A * X)), 1e-11 * condition);
    const MatX null_transposed = dense.columns([&](auto x, auto y) { dense.factor.project_null_transposed(x, y); });
    EXPECT_LE(scale_of(null_transposed - dense.null_projector.transpose()), 1e-12 * condition);
  });
}

TEST(ModeFactor, SplitsAVectorIntoItsSolutionAndItsNullPart) {
  for_random_modes(200, 1e5, 0.1, [](const DenseMode& dense, double condition) {
    const int m = dense.factor.size();
    const VecX x = VecX::Random(m);
    VecX once(m), null_part(m), twice(m);
    dense.factor.split(as_span(x), as_span(once), as_span(null_part), as_span(twice));
    const double tolerance = 1e-12 * m * condition;
    EXPECT_LE(scale_of(once - dense.group_inverse * x), tolerance * scale_of(dense.group_inverse));
    EXPECT_LE(scale_of(twice - dense.group_inverse * once), tolerance * scale_of(dense.group_inverse) * scale_of(once));
    EXPECT_LE(scale_of(null_part - dense.null_projector * x), tolerance);
    EXPECT_LE(scale_of(dense.A * null_part), 1e-14 * m * condition * scale_of(dense.A)) << "refined";
  });
}

TEST(ModeFactor, LetsRowsAtTheirBoundsActThroughTheirNormals) {
  const MatX A{{4, 1, 2}, {1, 3, 0}, {2, 0, 5}};
  const std::vector<LcpRow> rows = {LcpRow::make_one_sided(), LcpRow::make_friction(0, 0.5),
                                    LcpRow::make_friction(0, 0.25)};
  const LcpProblem problem(A, VecX::Zero(3), rows);
  const std::vector<RowMode> modes = {RowMode::clamping, RowMode::at_upper, RowMode::clamping};
  DenseMode dense(problem, modes);
  EXPECT_FALSE(dense.factor.symmetric());
  EXPECT_TRUE(dense.A.isApprox(MatX{{4 + 0.5 * 1, 2}, {2 + 0.5 * 0, 5}}));
  EXPECT_EQ(dense.factor.clamping()[1], 2);
  EXPECT_EQ(dense.factor.bounded()[0], 1);
  VecX f(3);
  dense.factor.expand(problem.view(), modes, std::vector{6.0, -1.0}, as_span(f));
  EXPECT_EQ(f, VecX({{6, 3, -1}}));
}

TEST(ModeFactor, FillsInConstantBoundsAndZeros) {
  const std::vector<LcpRow> rows = {LcpRow::make_bounded(-1, 2), LcpRow::make_bounded(-1, 2), LcpRow::make_one_sided(),
                                    LcpRow::make_friction(2, 1), LcpRow::make_two_sided()};
  const LcpProblem problem(MatX::Identity(5, 5), VecX::Zero(5), rows);
  const std::vector<RowMode> modes = {RowMode::at_lower, RowMode::at_upper, RowMode::separating,
                                      RowMode::clamping,  // not while its normal separates
                                      RowMode::clamping};
  DenseMode dense(problem, modes);
  EXPECT_EQ(dense.factor.size(), 1);
  EXPECT_TRUE(dense.factor.symmetric());
  VecX f(5);
  dense.factor.expand(problem.view(), modes, std::vector{7.0}, as_span(f));
  EXPECT_EQ(f, VecX({{-1, 2, 0, 0, 7}}));
}

TEST(ModeFactor, SaysWhereThereIsNoGroupInverse) {
  // A_C = (−1 1; −1 1): its square is zero.
  const MatX A{{2, 1, 3}, {1, 1, 2}, {3, 2, 10}};
  const LcpProblem problem(A, VecX::Zero(3),
                           {LcpRow::make_one_sided(), LcpRow::make_one_sided(), LcpRow::make_friction(0, 1)});
  const DenseMode dense(problem, std::vector{RowMode::clamping, RowMode::clamping, RowMode::at_lower});
  EXPECT_TRUE((dense.A * dense.A).isZero(1e-14));
  EXPECT_EQ(dense.factor.rank(), 1);
  EXPECT_FALSE(dense.factor.has_group_inverse());
}

TEST(ModeFactor, JudgesTheRankOfRowsOfAnySizeAlike) {
  // A finger and a tank: three redundant rows each, sixteen magnitudes apart.
  MatX A = MatX::Zero(6, 6);
  A.topLeftCorner<3, 3>().setConstant(1e8);
  A.bottomRightCorner<3, 3>().setConstant(1e-8);
  ModeFactor factor;
  factor.compute(LcpProblem(A, VecX::Zero(6), std::vector<LcpRow>(6)).view(),
                 std::vector<RowMode>(6, RowMode::clamping));
  EXPECT_EQ(factor.rank(), 2);
  EXPECT_NEAR(factor.last_pivot(), 1, 1e-9);
  EXPECT_EQ(factor.smallest_pivot(), 1e-8);
  EXPECT_LE(factor.rejected_pivot(), 1e-15);
}

TEST(ModeFactor, HasNothingToDoWithoutClampingRows) {
  ModeFactor factor;
  factor.compute(LcpProblem(MatX::Identity(3, 3), VecX::Zero(3), std::vector<LcpRow>(3)).view(),
                 std::vector<RowMode>(3, RowMode::separating));
  EXPECT_EQ(factor.size(), 0);
  EXPECT_EQ(factor.rank(), 0);
  EXPECT_TRUE(factor.has_group_inverse());
  factor.solve({}, {});
}

TEST(DenseLu, SolvesAndInverts) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const int n = 1 + static_cast<int>(random() % 40);
    MatX A = MatX::Random(n, n);
    const VecX x = VecX::Random(n);
    DenseLu lu;
    PaddedMatrix inverse;
    for (PaddedMatrix* matrix : {&lu.matrix, &inverse}) {
      matrix->resize(n, n);
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < matrix->stride; ++i) matrix->at(i, j) = i < n ? A(i, j) : 0.0;
      }
    }
    ASSERT_TRUE(lu.factorize());
    VecX y = x;
    lu.solve(y.data());
    const double condition = scale_of(A.inverse());
    EXPECT_LE(scale_of(A * y - x), 1e-14 * n * condition);
    std::vector<int> exchanged;
    ASSERT_TRUE(invert(inverse, exchanged));
    const MatX X =
        Eigen::Map<MatX, 0, Eigen::OuterStride<>>(inverse.column(0), n, n, Eigen::OuterStride<>(inverse.stride));
    EXPECT_LE(scale_of(A * X - MatX::Identity(n, n)), 1e-13 * n * condition);
  });
}

TEST(DenseLu, InvertsPositiveMatrices) {
  for_random_cases(200, [](std::mt19937_64& random) {
    // More rows than one block of the kernel has, too; strides larger than need be.
    const int n = 1 + static_cast<int>(random() % 70);
    const MatX root = MatX::NullaryExpr(n, n, [&] { return std::uniform_real_distribution<double>(-1, 1)(random); });
    const MatX A = root * root.transpose() + 0.1 * n * MatX::Identity(n, n);
    PaddedMatrix inverse;
    inverse.resize(n, n);
    inverse.stride = padded(n + static_cast<int>(random() % 5));
    grow(inverse.data, static_cast<std::size_t>(inverse.stride) * n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < inverse.stride; ++i) inverse.at(i, j) = i < n ? A(i, j) : 0.0;
    }
    ASSERT_TRUE(invert_positive(inverse));
    const MatX X =
        Eigen::Map<MatX, 0, Eigen::OuterStride<>>(inverse.column(0), n, n, Eigen::OuterStride<>(inverse.stride));
    EXPECT_LE(scale_of(A * X - MatX::Identity(n, n)), 1e-13 * n);
  });
}

TEST(DenseLu, RefusesWhatIsNotPositive) {
  for (const double last : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    for (const int n : {1, 2, 3, 6}) {
      PaddedMatrix matrix;
      matrix.resize(n, n);
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < matrix.stride; ++i) matrix.at(i, j) = i == j ? 1.0 : 0.0;
      }
      matrix.at(n - 1, n - 1) = last;
      EXPECT_FALSE(invert_positive(matrix)) << n << ", " << last;
    }
  }
}

}  // namespace
}  // namespace lithe::test

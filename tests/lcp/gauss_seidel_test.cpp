#include "lithe/lcp/sweeps/gauss_seidel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lithe/lcp/sweeps/gauss_seidel_iteration.h"
#include "tests/lcp/lcp_shorthand.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/lcp_oracle.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

LcpSolution gauss_seidel(const LcpProblem& problem, int sweeps = 2000) {
  LcpSolution solution;
  solution.f.resize(problem.size());
  solution.w.resize(problem.size());
  solution.modes.resize(problem.size());
  solution.report = solve_gauss_seidel(problem.view(), {.method = LcpMethod::gauss_seidel, .sweeps = sweeps},
                                       solution.f, solution.w, solution.modes);
  return solution;
}

TEST(GaussSeidel, SolvesIndependentRowsInOneSweep) {
  const LcpProblem problem = {MatX::Identity(4, 4) * 2,
                              VecX{{-4, 3, 8, -1}},
                              {LcpRow::make_one_sided(), LcpRow::make_one_sided(), LcpRow::make_friction(0, 0.5),
                               LcpRow::make_bounded(-1, 0.25)}};
  const LcpSolution solution = gauss_seidel(problem, 1);
  EXPECT_EQ(solution.f, (std::vector<double>{2, 0, -1, 0.25}));
  EXPECT_EQ(solution.w, (std::vector<double>{0, 3, 6, -0.5}));
  const std::vector<RowMode> expected = {RowMode::clamping, RowMode::separating, RowMode::at_lower, RowMode::at_upper};
  EXPECT_EQ(solution.modes, expected);
  EXPECT_EQ(solution.report.stage, LcpStage::gauss_seidel);
  EXPECT_EQ(solution.report.residual, 0);
}

TEST(GaussSeidel, GivesTheFirstTwinAllTheLoad) {
  // Where impulses are ambiguous it takes the first that comes, unlike solve_lcp()'s own (½, ½).
  const LcpSolution solution = gauss_seidel({MatX::Ones(2, 2), VecX{{-1, -1}}, kTwoNormals});
  EXPECT_EQ(solution.f, (std::vector<double>{1, 0}));
  EXPECT_EQ(solution.report.pivots, 2);  // the second sweep moves nothing
}

TEST(GaussSeidel, ConvergesSlowlyUnderAHeavyBody) {
  // 1000 kg on 1 kg on the ground; rows: ground, interface.
  const LcpProblem problem = {MatX{{1, -1}, {-1, 1.001}}, VecX{{-0.05, 0}}, kTwoNormals};
  const LcpSolution some = gauss_seidel(problem, 100);
  EXPECT_EQ(some.report.stage, LcpStage::unsolved);
  EXPECT_TRUE(has(some.report.flags, LcpFlag::unsolved));
  EXPECT_EQ(some.report.pivots, 100);
  const LcpSolution many = gauss_seidel(problem, 100000);
  EXPECT_EQ(many.report.stage, LcpStage::gauss_seidel);
  EXPECT_NEAR(many.f[0], 50.05, 1e-6);
}

TEST(GaussSeidel, IsHonestAboutProblemsWithoutSolution) {
  const LcpSolution solution = gauss_seidel({MatX{{1, -1}, {-1, 1}}, VecX{{-0.1, -0.1}}, kTwoNormals});
  EXPECT_FALSE(solution.report.solved());
  EXPECT_GT(solution.report.residual, kGaussSeidelTolerance);
  EXPECT_TRUE(std::isfinite(solution.f[0]) && std::isfinite(solution.f[1]));
}

TEST(GaussSeidel, LeavesOutRowsThatNothingMoves) {
  const std::vector<LcpRow> rows = {LcpRow::make_one_sided(), LcpRow::make_friction(0, 1), LcpRow::make_two_sided(),
                                    LcpRow::make_bounded(1, 2)};
  MatX A = VecX{{2, 3e-16, 2e-16, 0}}.asDiagonal();  // rounding of zero
  A(0, 1) = A(1, 0) = 3e-14;
  EXPECT_EQ(gauss_seidel({A, VecX{{-1, 3e-15, -1e-15, 0}}, rows}).f, (std::vector<double>{0.5, 0, 0, 1}));
}

TEST(GaussSeidel, CallsNothingSolvedThatIsNotFinite) {
  MatX A = MatX::Identity(2, 2);
  A(0, 1) = A(1, 0) = std::numeric_limits<double>::quiet_NaN();
  const LcpSolution solution = gauss_seidel({A, VecX{{-1, -1}}, kTwoNormals});
  EXPECT_FALSE(solution.report.solved());
  EXPECT_EQ(solution.f, (std::vector<double>{0, 0}));
  EXPECT_EQ(solution.w, (std::vector<double>{0, 0}));
  EXPECT_EQ(solution.report.residual, LcpRow::kInfinity);
}

TEST(GaussSeidel, StaysWithinBoundsAndSolvesWhatItSaysItSolved) {
  for_random_cases(100, [](std::mt19937_64& random) {
    for (const LcpFamily family : all_lcp_families()) {
      const LcpProblem problem = random_lcp(family, random).problem();
      const LcpSolution solution = gauss_seidel(problem, 200);
      const Verdict verdict = verify(problem.view(), solution.f, solution.w);
      EXPECT_NEAR(verdict.violation, solution.report.residual, 1e-9) << to_string(family) << ": " << verdict.worst;
      EXPECT_EQ(solution.report.solved(), solution.report.residual <= kGaussSeidelTolerance);
      for (int i = 0; i < problem.size(); ++i) {
        const RowBounds bounds = bounds_of(problem.rows[i], solution.f);
        EXPECT_TRUE(bounds.lower <= solution.f[i] && solution.f[i] <= bounds.upper)
            << to_string(family) << " row " << i;
      }
    }
  });
}

TEST(GaussSeidel, AllocatesNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  const LcpProblem problem = random_lcp(LcpFamily::stack, random).problem();
  std::vector<double> f(problem.size()), w(problem.size());
  std::vector<RowMode> modes(problem.size());
  const AllocationGuard guard;
  solve_gauss_seidel(problem.view(), {}, f, w, modes);
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace lithe::test

#include "lithe/lcp/pivoting/dantzig.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/lcp/lcp_shorthand.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/lcp_oracle.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

LcpSolution dantzig(const LcpProblem& problem, DantzigBuffers& buffers) {
  LcpSolution solution;
  solution.f.resize(problem.size());
  solution.w.resize(problem.size());
  solution.modes.resize(problem.size());
  solution.report = solve_dantzig(problem.view(), buffers, solution.f, solution.w, solution.modes);
  return solution;
}
LcpSolution dantzig(const LcpProblem& problem) {
  DantzigBuffers buffers;
  return dantzig(problem, buffers);
}

void expect_dantzig_impulses(const LcpSolution& solution, const std::vector<double>& expected) {
  ASSERT_EQ(solution.f.size(), expected.size());
  EXPECT_EQ(solution.report.stage, LcpStage::dantzig);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(solution.f[i], expected[i], 1e-12) << "row " << i;
}

const std::vector<LcpRow> kNormalAndFriction = {LcpRow::make_one_sided(), LcpRow::make_friction(0, 1)};

TEST(Dantzig, SplitsTheLoadOfTwins) {
  expect_dantzig_impulses(dantzig({MatX::Ones(2, 2), VecX{{-1, -1}}, kTwoNormals}), {0.5, 0.5});
}

TEST(Dantzig, LetsGoOfARowThatALaterOneRelieves) {
  // The first row alone needs f = 1; with the second one pushing along it flies off.
  const LcpSolution solution = dantzig({MatX{{1, 1.5}, {1.5, 3}}, VecX{{-1, -3}}, kTwoNormals});
  expect_dantzig_impulses(solution, {0, 1});
  EXPECT_EQ(solution.modes, (std::vector<RowMode>{RowMode::separating, RowMode::clamping}));
}

TEST(Dantzig, SticksAndSlides) {
  const MatX A = MatX::Identity(2, 2);
  expect_dantzig_impulses(dantzig({A, VecX{{-2, 1}}, kNormalAndFriction}), {2, -1});
  const LcpSolution slides = dantzig({A, VecX{{-2, 3}}, kNormalAndFriction});
  expect_dantzig_impulses(slides, {2, -2});
  EXPECT_EQ(slides.modes[1], RowMode::at_lower);
}

TEST(Dantzig, SettlesForNoImpulseWhereThreeSolutionsExist) {
  expect_dantzig_impulses(dantzig({MatX{{1, 2}, {2, 5}}, VecX{{1, 4}}, kNormalAndFriction}), {0, 0});
}

TEST(Dantzig, SolvesAJam) {
  expect_dantzig_impulses(dantzig({MatX{{1, 2}, {2, 5}}, VecX{{-1, 4}}, kNormalAndFriction}), {13, -6});
}

TEST(Dantzig, FailsHonestlyWhereThetaMustRise) {
  // With t₁ at its bound, the matrix of n and t₂ is (7/4 3; 3 5), of negative determinant: pushing t₂ moves it the wrong way.
  const MatX W = MatX{{-1, 1}, {2, 1}, {-1, 2}};
  const LcpProblem problem = {
      W * W.transpose(),
      VecX{{-1, -4, -3}},
      {LcpRow::make_one_sided(), LcpRow::make_friction(0, 0.25), LcpRow::make_friction(0, 0.5)}};
  const std::vector<OracleSolution> all = regular_solutions(problem.view());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NEAR((all[0].f - VecX{{4, 1, 2}} / 13).norm(), 0, 1e-14);
  const LcpSolution solution = dantzig(problem);
  EXPECT_EQ(solution.report.stage, LcpStage::unsolved);
  EXPECT_FALSE(solution.report.solved());
  EXPECT_GT(solution.report.residual, 1e-3);
}

TEST(Dantzig, DrivesMotorsToTheirBounds) {
  const std::vector<LcpRow> rows = {LcpRow::make_bounded(-1, 2), LcpRow::make_bounded(-1, 2),
                                    LcpRow::make_bounded(1, 2), LcpRow::make_two_sided()};
  expect_dantzig_impulses(dantzig({MatX::Identity(4, 4), VecX{{-5, 0.5, 3, 7}}, rows}), {2, -0.5, 1, -7});
}

TEST(Dantzig, LeavesOutRowsThatNothingMoves) {
  const std::vector<LcpRow> rows = {LcpRow::make_one_sided(), LcpRow::make_friction(0, 1), LcpRow::make_two_sided(),
                                    LcpRow::make_bounded(1, 2)};
  MatX A = VecX{{2, 3e-16, 2e-16, 0}}.asDiagonal();  // rounding of zero
  A(0, 1) = A(1, 0) = 3e-14;
  expect_dantzig_impulses(dantzig({A, VecX{{-1, 3e-15, -1e-15, 0}}, rows}), {0.5, 0, 0, 1});
}

TEST(Dantzig, CallsNothingSolvedThatIsNotFinite) {
  MatX A = MatX::Identity(2, 2);
  A(0, 1) = A(1, 0) = std::numeric_limits<double>::quiet_NaN();
  const LcpSolution solution = dantzig({A, VecX{{-1, -1}}, kTwoNormals});
  EXPECT_FALSE(solution.report.solved());
  EXPECT_EQ(solution.f, (std::vector<double>{0, 0}));
  EXPECT_EQ(solution.w, (std::vector<double>{0, 0}));
}

TEST(Dantzig, SolvesWhatItSaysItSolvedAndStaysWithinBounds) {
  for_random_cases(50, [](std::mt19937_64& random) {
    for (const LcpFamily family : all_lcp_families()) {
      const LcpProblem problem = random_lcp(family, random).problem();
      const LcpSolution solution = dantzig(problem);
      const Verdict verdict = verify(problem.view(), solution.f, solution.w);
      const double tolerance = has(solution.report.flags, LcpFlag::unpolished) ? 1e-6 : 1e-9;
      EXPECT_EQ(solution.report.solved(), solution.report.stage == LcpStage::dantzig);
      if (solution.report.solved()) {
        EXPECT_TRUE(verdict.holds(tolerance)) << to_string(family) << ": " << verdict.violation << ' ' << verdict.worst;
      } else {
        EXPECT_TRUE(std::isfinite(verdict.violation)) << to_string(family);
      }
    }
  });
}

// Without friction A_C is symmetric: θ falls all the way.
TEST(Dantzig, AlwaysEndsWithoutFriction) {
  for_random_cases(100, [](std::mt19937_64& random) {
    for (const LcpFamily family : {LcpFamily::tiny, LcpFamily::full_rank, LcpFamily::half_rank, LcpFamily::doubled_rows,
                                   LcpFamily::spread, LcpFamily::foot, LcpFamily::stack, LcpFamily::pile,
                                   LcpFamily::motors, LcpFamily::loops, LcpFamily::humanoid}) {
      SampledLcp lcp = random_lcp(family, random);
      for (LcpRow& row : lcp.rows) row.friction = 0;
      const LcpSolution solution = dantzig(lcp.problem());
      EXPECT_TRUE(solution.report.solved()) << to_string(family) << ", residual " << solution.report.residual;
    }
  });
}

TEST(Dantzig, AllocatesNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  for (const LcpFamily family : all_lcp_families()) {
    const LcpProblem problem = random_lcp(family, random).problem();
    LcpSolution solution;
    DantzigBuffers buffers;
    solution = dantzig(problem, buffers);
    const AllocationGuard guard;
    solve_dantzig(problem.view(), buffers, solution.f, solution.w, solution.modes);
    const long allocations = guard.count();
    EXPECT_EQ(allocations, 0) << to_string(family);
  }
}

}  // namespace
}  // namespace lithe::test

#include "tests/support/lcp_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/error_text.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_test.h"

// The judge of the solvers, on problems small enough to solve by hand.
namespace lithe::test {
namespace {

LcpProblem normal_and_friction(double b_n, double b_t, double mu) {
  return {MatX{{1, 2}, {2, 5}}, VecX{{b_n, b_t}}, {LcpRow::make_one_sided(), LcpRow::make_friction(0, mu)}};
}

LcpProblem two_normals(double coupling, double b0, double b1) {
  return {MatX{{1, coupling}, {coupling, 1}}, VecX{{b0, b1}}, {LcpRow::make_one_sided(), LcpRow::make_one_sided()}};
}

double violation(const LcpProblem& problem, const std::vector<double>& f) {
  std::vector<double> w(f.size());
  evaluate(problem.view(), f, w);
  return verify(problem.view(), f, w).violation;
}

bool contains(const std::vector<OracleSolution>& solutions, const VecX& f) {
  return std::any_of(solutions.begin(), solutions.end(),
                     [&](const OracleSolution& solution) { return (solution.f - f).norm() < 1e-12; });
}

TEST(LcpOracle, FindsAllThreeSolutions) {
  const LcpProblem problem = normal_and_friction(1, 4, 1);
  const std::vector<OracleSolution> solutions = regular_solutions(problem.view());
  EXPECT_EQ(solutions.size(), 3u);
  EXPECT_TRUE(contains(solutions, VecX{{0, 0}}));
  EXPECT_TRUE(contains(solutions, VecX{{1, -1}}));
  EXPECT_TRUE(contains(solutions, VecX{{3, -2}}));
}

TEST(LcpOracle, FindsTheOnlySolutionOfAJam) {
  const LcpProblem problem = normal_and_friction(-1, 4, 1);
  const std::vector<OracleSolution> solutions = regular_solutions(problem.view());
  ASSERT_EQ(solutions.size(), 1u);
  EXPECT_TRUE(contains(solutions, VecX{{13, -6}}));
}

TEST(LcpOracle, KnowsThatASqueezeHasNoSolution) {
  EXPECT_FALSE(solution_exists(two_normals(-1, -0.1, -0.1).view()));
  EXPECT_TRUE(solution_exists(two_normals(-1, -0.1, 0.1).view()));
  EXPECT_TRUE(solution_exists(two_normals(-1, 0, 0).view()));
}

TEST(LcpOracle, KnowsThatTwinsHaveASolution) {
  const LcpProblem twins = two_normals(1, -1, -1);
  EXPECT_TRUE(solution_exists(twins.view()));
  // Each alone carries everything; the mode of both does not determine its solution.
  EXPECT_EQ(regular_solutions(twins.view()).size(), 2u);
}

TEST(LcpOracle, KnowsThatTwoSidedRowsCanContradict) {
  const std::vector<LcpRow> rows(2, LcpRow::make_two_sided());
  const MatX A = MatX::Ones(2, 2);
  EXPECT_TRUE(solution_exists(LcpProblem(A, VecX{{1, 1}}, rows).view()));
  EXPECT_FALSE(solution_exists(LcpProblem(A, VecX{{1, 2}}, rows).view()));
}

TEST(LcpOracle, JudgesEachConditionOfANormal) {
  const LcpProblem problem = {MatX{{2}}, VecX{{-4}}, {LcpRow::make_one_sided()}};
  EXPECT_EQ(violation(problem, {2}), 0);
  EXPECT_EQ(violation(problem, {0}), 1);     // approaches with 4 of 4
  EXPECT_EQ(violation(problem, {-1}), 1.5);  // and, pulled, with 6
  EXPECT_EQ(violation(problem, {3}), 0.5);   // flies off with 2 while pushed by 6
  EXPECT_EQ(violation(problem, {NAN}), LcpRow::kInfinity);
}

TEST(LcpOracle, JudgesEachConditionOfAFrictionRow) {
  const std::vector<LcpRow> rows = {LcpRow::make_one_sided(), LcpRow::make_friction(0, 0.5)};
  const LcpProblem slides = {MatX::Identity(2, 2), VecX{{-4, 3}}, rows};
  EXPECT_EQ(violation(slides, {4, -2}), 0);
  EXPECT_EQ(violation(slides, {4, -1}), 0.25);  // one short of the bound, still sliding
  EXPECT_EQ(violation(slides, {4, -3}), 0.25);  // one beyond it
  EXPECT_EQ(violation(slides, {4, 2}), 1);      // pushes along; four short, or sliding with five
  const LcpProblem sticks = {MatX::Identity(2, 2), VecX{{-4, 1}}, rows};
  EXPECT_EQ(violation(sticks, {4, -1}), 0);
  EXPECT_EQ(violation(sticks, {4, -2}), 0.25);  // at the bound, but against it
}

TEST(LcpOracle, JudgesEachConditionOfABoundedRow) {
  const auto motor = [](double b) { return LcpProblem(MatX{{1}}, VecX{{b}}, {LcpRow::make_bounded(-1, 2)}); };
  EXPECT_EQ(violation(motor(0.5), {-0.5}), 0);
  EXPECT_EQ(violation(motor(4), {-1}), 0);
  EXPECT_EQ(violation(motor(4), {-2}), 0.25);
  EXPECT_EQ(violation(motor(-4), {2}), 0);
  EXPECT_EQ(violation(motor(-4), {3}), 0.25);
  EXPECT_EQ(violation(motor(-4), {1}), 0.25);
}

TEST(LcpOracle, NoticesAWrongW) {
  const LcpProblem problem = {MatX{{2}}, VecX{{-4}}, {LcpRow::make_one_sided()}};
  const std::vector<double> f = {2}, w = {1e-9};
  EXPECT_GT(verify(problem.view(), f, w).violation, 1e-10);
}

TEST(LcpOracle, NamesTheWorstRow) {
  const LcpProblem problem = {
      MatX::Identity(2, 2), VecX{{-1, -3}}, {LcpRow::make_one_sided(), LcpRow::make_one_sided()}};
  const std::vector<double> f = {0, 0}, w = {-1, -3};
  EXPECT_NE(verify(problem.view(), f, w).worst.find("row 1"), std::string::npos);
}

TEST(LcpOracle, RefusesMoreRowsThanItCanEnumerate) {
  const LcpProblem problem = {MatX::Identity(7, 7), VecX::Zero(7), std::vector<LcpRow>(7)};
  expect_error([&] { solution_exists(problem.view()); }, "7 rows");
}

// The fact that makes contact solvable: with no targets, or targets that can be met, there is always a solution.
TEST(LcpOracle, FindsASolutionWhereverOneMustExist) {
  for_random_cases(300, [](std::mt19937_64& random) {
    for (const LcpFamily family : {LcpFamily::tiny, LcpFamily::half_rank, LcpFamily::foot, LcpFamily::targets}) {
      SampledLcp lcp;
      do lcp = random_lcp(family, random);
      while (lcp.size() > kMostOracleRows);
      EXPECT_TRUE(solution_exists(lcp.problem().view(), 1e-9, 1e12)) << to_string(family);
    }
  });
}

}  // namespace
}  // namespace lithe::test

#include <gtest/gtest.h>

#include "lithe/lcp/solve_lcp.h"
#include "tests/lcp/lcp_shorthand.h"
#include "tests/support/lcp_oracle.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// LcpStage::follow: from the impulses of one problem to the solution of the next.
namespace lithe::test {
namespace {

LcpSolution follow(const LcpProblem& problem, const LcpSolution& before) {
  return solve_lcp(problem.view(), {}, LcpGuess(before.modes, before.f, false));
}

TEST(Follow, TakesNoEventWhereNothingChanges) {
  const MatX J{{1, 0}, {0, 1}};
  const LcpProblem problem(J, VecX{{-1.0, 1.0}}, kTwoNormals);
  const LcpSolution solution = solve_lcp(problem.view());
  const LcpSolution again = follow(problem, solution);
  EXPECT_EQ(again.report.stage, LcpStage::follow);
  EXPECT_EQ(again.report.events, 0);
  EXPECT_EQ(again.modes, solution.modes);
  EXPECT_NEAR(again.f[0], 1, 1e-14);
  EXPECT_EQ(again.f[1], 0);
}

TEST(Follow, LetsRowsComeAndGo) {
  const MatX J{{1, 0.2}, {0.2, 1}};
  const LcpProblem before(J, VecX{{-1.0, 1.0}}, kTwoNormals);
  const LcpProblem after(J, VecX{{1.0, -1.0}}, kTwoNormals);
  const LcpSolution solution = follow(after, solve_lcp(before.view()));
  EXPECT_EQ(solution.report.stage, LcpStage::follow);
  EXPECT_EQ(solution.modes, std::vector<RowMode>({S, C}));
  EXPECT_NEAR(solution.f[1], 1, 1e-12);
}

TEST(Follow, PutsAMotorBackThatSaturates) {
  // A soft motor, expected to stay within its limits, and a contact on the same DoF.
  std::vector<LcpRow> rows = {LcpRow::make_bounded(-1, 1), LcpRow::make_one_sided()};
  rows[0].soft = true;
  const MatX A{{1.5, 1}, {1, 1}};  // compliance 0.5
  const LcpProblem before(A, VecX{{-0.3, 1.0}}, rows), after(A, VecX{{-9.0, 1.0}}, rows);
  const LcpSolution solution = follow(after, solve_lcp(before.view()));
  EXPECT_EQ(solution.report.stage, LcpStage::follow);
  EXPECT_EQ(solution.modes[0], RowMode::at_upper);
  EXPECT_EQ(solution.f[0], 1);
  // And one that comes back.
  const LcpSolution back = follow(before, solution);
  EXPECT_EQ(back.modes[0], C);
  EXPECT_NEAR(back.f[0], 0.2, 1e-12);
}

TEST(Follow, DropsOnlyTheTargetsThatContradict) {
  // Two contacts squeeze one body from both sides, each with a target to leave; a third corrects another body.
  const MatX J{{1, 0}, {-1, 0}, {0, 1}};
  const VecX d{{0.1, 0.1, 0.2}};
  const std::vector<LcpRow> rows(3, LcpRow::make_one_sided());
  const LcpProblem problem(J * J.transpose(), -d, rows, d);
  LcpSolution before;
  before.f = {1, 1, 1};
  before.modes = {C, C, C};
  const LcpSolution solution = follow(problem, before);
  ASSERT_TRUE(has(solution.report.flags, LcpFlag::targets_dropped));
  EXPECT_EQ(solution.dropped_targets, std::vector<std::uint8_t>({1, 1, 0}));
  EXPECT_NEAR(solution.w[2], 0, 1e-12) << "the third body moves as its target says";
  EXPECT_NEAR(solution.f[2], 0.2, 1e-12);
}

TEST(Follow, MindsNoImpulsesFromElsewhere) {
  int problems = 0, solved = 0;
  for (const LcpFamily family : all_lcp_families()) {
    if (family == LcpFamily::contradiction || family == LcpFamily::mass_ratio) continue;
    for_random_cases(60, [&](std::mt19937_64& random) {
      const LcpProblem problem = random_lcp(family, random).problem();
      LcpSolution before;
      const double size = std::pow(10.0, uniform_int(random, -6, 12));
      for (int i = 0; i < problem.size(); ++i) {
        before.f.push_back(uniform(random, -size, size));
        before.modes.push_back(static_cast<RowMode>(uniform_int(random, 0, 3)));
      }
      const LcpSolution solution = follow(problem, before);
      ++problems;
      solved += solution.report.solved();
      const double tolerance = has(solution.report.flags, LcpFlag::unpolished) ? 1e-5 : 1e-9;
      if (!solution.report.solved() || has(solution.report.flags, LcpFlag::targets_dropped)) return;
      EXPECT_TRUE(verify(problem.view(), solution.f, solution.w).holds(tolerance));
    });
  }
  EXPECT_GE(solved, 0.999 * problems);
}

// Loops that have drifted apart: the rows that others imply ask for something else.
TEST(Follow, GivesLoopsWhatTheyCanHaveTogether) {
  const MatX J{{1, 0}, {1, 0}, {0, 1}};
  const std::vector<LcpRow> rows = {LcpRow::make_two_sided(1), LcpRow::make_two_sided(2), LcpRow::make_one_sided(3)};
  const VecX b{{0.5 + 1e-7, 0.5 - 1e-7, -1}};
  const LcpProblem problem(J * J.transpose(), b, rows, VecX{{1e-7, -1e-7, 0}});
  LcpSolution before;
  before.f = {0, 0, 0};
  before.modes = {C, C, C};
  for (const LcpSolution& solution : {solve_lcp(problem.view()), follow(problem, before)}) {
    EXPECT_EQ(solution.report.flags, LcpFlag::none);
    EXPECT_NEAR(solution.f[0], -0.25, 1e-12);
    EXPECT_NEAR(solution.f[1], -0.25, 1e-12);
    EXPECT_NEAR(solution.f[2], 1, 1e-12);
  }
}

// Dry friction in a joint that a loop locks shares the loop's impulse, and is polished like everything else.
TEST(Follow, PolishesDryFrictionThatLoopsLock) {
  const MatX J{{1, 0}, {1, 0}, {0, 1}};
  const std::vector<LcpRow> rows = {LcpRow::make_two_sided(1), LcpRow::make_bounded(-1, 1, 2),
                                    LcpRow::make_one_sided(3)};
  const LcpProblem problem(J * J.transpose(), VecX{{0.5, 0.5, -1.0}}, rows);
  LcpSolution before;
  before.f = {-0.1, -0.2, 0.5};
  before.modes = {C, C, C};
  const LcpSolution solution = follow(problem, before);
  EXPECT_EQ(solution.report.stage, LcpStage::follow);
  EXPECT_EQ(solution.report.flags, LcpFlag::none);
  EXPECT_NEAR(solution.f[0], -0.25, 1e-12);
  EXPECT_NEAR(solution.f[1], -0.25, 1e-12);
  EXPECT_NEAR(solution.f[2], 1, 1e-12);
}

// In loops the guess is verified on the rows that decide something, with the ridge that had found it.
TEST(Follow, TakesTheGuessInLoops) {
  const MatX J{{1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const std::vector<LcpRow> rows = {LcpRow::make_two_sided(1), LcpRow::make_bounded(-1, 1, 2),
                                    LcpRow::make_one_sided(3), LcpRow::make_friction(2, 0.5)};
  const LcpProblem problem(J * J.transpose(), VecX{{0.5, 0.5, -1.0, -1.0}}, rows);
  const std::vector<double> impulses = {-0.2, -0.3, 0.9, 0.45};
  for (const double ridge : {1e-9, 1e-11}) {
    const std::vector<RowMode> right = {C, C, C, kUpper}, wrong = {C, C, C, C};
    const LcpSolution guessed = solve_lcp(problem.view(), {}, LcpGuess(right, impulses, true, ridge));
    EXPECT_EQ(guessed.report.stage, LcpStage::guess);
    EXPECT_EQ(guessed.report.ridge, ridge);
    EXPECT_EQ(guessed.report.factorizations, 1);
    const LcpSolution followed = solve_lcp(problem.view(), {}, LcpGuess(wrong, impulses, true, ridge));
    EXPECT_EQ(followed.report.stage, LcpStage::follow);
    for (const LcpSolution& solution : {guessed, followed}) {
      EXPECT_EQ(solution.report.flags, LcpFlag::none);
      EXPECT_EQ(solution.modes, right);
      EXPECT_NEAR(solution.f[0], -0.25, 1e-12);
      EXPECT_NEAR(solution.f[1], -0.25, 1e-12);
      EXPECT_NEAR(solution.f[2], 1, 1e-12);
      EXPECT_NEAR(solution.f[3], 0.5, 1e-12);
    }
  }
}

// Dry friction that is about to slide beside a loop: the answer says that it is tied, and no other stage is asked.
TEST(Follow, TellsOfTiesInLoops) {
  const std::vector<LcpRow> rows = {LcpRow::make_two_sided(1), LcpRow::make_bounded(-1, 1, 2)};
  const LcpProblem problem(MatX::Identity(2, 2), VecX{{0.5, -1.0}}, rows);
  for (const RowMode c : {C, kUpper}) {
    LcpSolution before;
    before.f = {-0.5, 1};
    before.modes = {C, c};
    const LcpSolution solution = follow(problem, before);
    EXPECT_EQ(solution.report.flags, LcpFlag::tied);
    EXPECT_EQ(solution.report.tied_rows, 1);
    EXPECT_LE(solution.report.factorizations, c == C ? 1 : 2) << "at its bound it moves as the ridge creeps";
    EXPECT_NEAR(solution.f[1], 1, 1e-12);
  }
}

// A contact that clamps with no impulse, on a DoF of its own, separates.
TEST(Follow, LeavesTheChoiceOfANormalInLoopsToOthers) {
  const std::vector<LcpRow> rows = {LcpRow::make_two_sided(1), LcpRow::make_one_sided(2)};
  const LcpProblem problem(MatX::Identity(2, 2), VecX{{0.5, 0.0}}, rows);
  const std::vector<RowMode> modes = {C, C};
  const std::vector<double> impulses = {-0.5, 0};
  const LcpSolution solution = solve_lcp(problem.view(), {}, LcpGuess(modes, impulses, true, 1e-11));
  EXPECT_EQ(solution.modes, std::vector<RowMode>({C, S}));
  EXPECT_NEAR(solution.f[0], -0.5, 1e-12);
}

// Beside a light row's large impulse that of a contradiction shows only as the ridge gets smaller: it grows, and the other one does not.
TEST(Follow, FindsAContradictionThatGrowsWithASmallerRidge) {
  const MatX A{{1, -1, 0, 0}, {-1, 1, 0, 0}, {0, 0, 1e-3, 0}, {0, 0, 0, 1}};
  const VecX d{{1e-5, 1e-5, 0, 0.2}};
  const std::vector<LcpRow> rows(4, LcpRow::make_one_sided());
  const LcpProblem problem(A, VecX{{-1e-5, -1e-5, -1, -0.2}}, rows, d);
  LcpSolution before;
  before.f = {1, 1, 1000, 0.2};
  before.modes = {C, C, C, C};
  const LcpSolution solution = follow(problem, before);
  EXPECT_TRUE(has(solution.report.flags, LcpFlag::targets_dropped));
  EXPECT_EQ(solution.dropped_targets, std::vector<std::uint8_t>({1, 1, 0, 0}));
  EXPECT_NEAR(solution.f[2], 1000, 1e-9);
  EXPECT_NEAR(solution.w[3], 0, 1e-12) << "what has no part in it moves as its target says";
}

// Limits at both ends of a loop, each with a target to get back inside. A second loop takes part in their stress by a ten-thousandth.
TEST(Follow, DropsTheTargetsOfAContradictionAtOnce) {
  const MatX J{{1, -1, 1e-4, 0}, {0, 0, 1, 0}, {1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, 0, 1}};
  const VecX d{{0, 1e-3, 0.1, 0.1, 0.2}};
  std::vector<LcpRow> rows(2, LcpRow::make_two_sided());
  rows.resize(5, LcpRow::make_one_sided());
  // x and y may not differ but through z: the limits ask x to rise and y to fall.
  const VecX v{{-0.3, 0.2, 0, -0.1}};
  const LcpProblem problem(J * J.transpose(), J * v - d, rows, d);
  LcpSolution before;
  before.f = {0, 0, 0.1, 0.1, 0.2};
  before.modes = {C, C, C, C, C};
  const LcpSolution solution = follow(problem, before);
  EXPECT_EQ(solution.report.flags, LcpFlag::targets_dropped);
  EXPECT_EQ(solution.dropped_targets, std::vector<std::uint8_t>({0, 1, 1, 1, 0}));
  EXPECT_LE(solution.report.factorizations, 4);
  EXPECT_NEAR(solution.w[4], 0, 1e-12) << "what has no part in it moves as its target says";
}

}  // namespace
}  // namespace lithe::test

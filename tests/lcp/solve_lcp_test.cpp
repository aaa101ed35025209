#include "lithe/lcp/solve_lcp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/lcp/lcp_shorthand.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/constants.h"
#include "tests/support/error_text.h"
#include "tests/support/lcp_oracle.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_test.h"

namespace lithe::test {
namespace {

LcpFamily random_family(std::mt19937_64& random) {
  const auto families = all_lcp_families();
  return families[random() % families.size()];
}

TEST(SolveLcp, SolvesWhatItSaysItSolved) {
  for_random_cases(1000, [](std::mt19937_64& random) {
    const LcpFamily family = random_family(random);
    const LcpProblem problem = random_lcp(family, random).problem();
    for (const LcpOptions& options : {LcpOptions{}, kCold}) {
      const LcpSolution solution = solve_lcp(problem.view(), options);
      if (!solution.report.solved() || has(solution.report.flags, LcpFlag::targets_dropped)) continue;
      const double tolerance = has(solution.report.flags, LcpFlag::unpolished) ? 1e-5 : 1e-9;
      EXPECT_LE(solution.report.residual, tolerance);
      const Verdict verdict = verify(problem.view(), solution.f, solution.w);
      EXPECT_TRUE(verdict.holds(tolerance)) << to_string(family) << ": " << verdict.worst;
    }
  });
}

TEST(SolveLcp, AcceptsItsOwnModesAsAGuess) {
  for_random_cases(
      1000,
      [](std::mt19937_64& random) {
        const LcpFamily family = random_family(random);
        const LcpProblem problem = random_lcp(family, random).problem();
        const LcpSolution first = solve_lcp(problem.view());
        if (!first.report.solved() || first.report.flags != LcpFlag::none) return Outcome::skipped;
        const LcpSolution again = solve_lcp(problem.view(), {}, first.modes);
        const bool nothing = first.report.stage == LcpStage::none && again.report.stage == LcpStage::none;
        EXPECT_EQ(again.report.stage, nothing ? LcpStage::none : LcpStage::guess) << to_string(family);
        EXPECT_EQ(again.modes, first.modes);
        EXPECT_EQ(again.report.pivots, 0);
        EXPECT_LE(largest_difference(again.w, first.w), 1e-9 * velocity_scale(problem.view()));
        return Outcome::checked;
      },
      0.15);
}

TEST(SolveLcp, GuessOrNoneGivesTheSameVelocities) {
  // Any guess, even a wrong one. Several true solutions exist now and then, and then a guess may choose.
  int cases = 0, others = 0;
  for_random_cases(400, [&](std::mt19937_64& random) {
    const LcpFamily family = random() % 2 ? LcpFamily::foot : LcpFamily::stack;
    const LcpProblem problem = random_lcp(family, random).problem();
    std::vector<RowMode> guess(problem.size());
    for (RowMode& c : guess) c = static_cast<RowMode>(random() % 4);
    const LcpSolution cold = solve_lcp(problem.view(), kCold), guessed = solve_lcp(problem.view(), {}, guess);
    EXPECT_TRUE(cold.report.solved());
    EXPECT_TRUE(guessed.report.solved());
    ++cases;
    others += largest_difference(cold.w, guessed.w) > 1e-5 * velocity_scale(problem.view());
  });
  EXPECT_LE(others, 0.02 * cases);
}

TEST(SolveLcp, ColdIgnoresTheGuess) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const LcpProblem problem = random_lcp(LcpFamily::stack, random).problem();
    const LcpSolution cold = solve_lcp(problem.view(), kCold);
    const LcpSolution guessed = solve_lcp(problem.view(), kCold, cold.modes);
    EXPECT_TRUE(guessed.report.stage == LcpStage::path || guessed.report.stage == LcpStage::none);
    EXPECT_EQ(guessed.f, cold.f);
    EXPECT_EQ(guessed.w, cold.w);
  });
}

TEST(SolveLcp, SameInputSameBits) {
  // Whatever the workspace was used for before.
  LcpWorkspace used;
  for_random_cases(300, [&](std::mt19937_64& random) {
    const LcpProblem problem = random_lcp(random_family(random), random).problem();
    const auto n = static_cast<std::size_t>(problem.size());
    std::vector<double> f(n), w(n);
    std::vector<RowMode> modes(n);
    const LcpReport report = solve_lcp(problem.view(), {}, {}, used, f, w, modes);
    const LcpSolution fresh = solve_lcp(problem.view());
    EXPECT_EQ(f, fresh.f);
    EXPECT_EQ(w, fresh.w);
    EXPECT_EQ(modes, fresh.modes);
    EXPECT_EQ(report.stage, fresh.report.stage);
    EXPECT_EQ(report.flags, fresh.report.flags);
    EXPECT_EQ(report.residual, fresh.report.residual);
  });
}

TEST(SolveLcp, RowsInReversedOrderGiveTheSameVelocities) {
  int cases = 0, others = 0;
  for_random_cases(400, [&](std::mt19937_64& random) {
    const LcpFamily families[] = {LcpFamily::foot, LcpFamily::stack, LcpFamily::pile, LcpFamily::loops};
    const LcpProblem problem = random_lcp(families[random() % 4], random).problem();
    const int n = problem.size();
    std::vector<int> order;
    for (int i = n - 1; i >= 0; --i) order.push_back(i);
    LcpSolution reversed = solve_lcp(permuted(problem, order).view());
    const LcpSolution solution = solve_lcp(problem.view());
    std::reverse(reversed.w.begin(), reversed.w.end());
    ++cases;
    others += largest_difference(reversed.w, solution.w) > 1e-5 * velocity_scale(problem.view());
  });
  EXPECT_LE(others, 0.01 * cases);
}

TEST(SolveLcp, AllocatesNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  // Twice through the same problems: those of the second round are no larger than what the workspace has seen.
  std::vector<LcpProblem> problems;
  std::mt19937_64 random(1);
  for (const LcpFamily family : all_lcp_families()) {
    for (int k = 0; k < 10; ++k) problems.push_back(random_lcp(family, random).problem());
  }
  LcpWorkspace workspace;
  std::vector<double> f(1000), w(1000);
  std::vector<RowMode> modes(1000), guess(1000);
  long allocations = 0;
  for (int round = 0; round < 2; ++round) {
    const AllocationGuard guard;
    for (const LcpProblem& problem : problems) {
      const auto n = static_cast<std::size_t>(problem.size());
      const std::span c(modes.data(), n), g(guess.data(), n);
      const std::span of(f.data(), n), ow(w.data(), n);
      solve_lcp(problem.view(), kCold, {}, workspace, of, ow, c);
      std::copy(c.begin(), c.end(), g.begin());
      solve_lcp(problem.view(), {}, g, workspace, of, ow, c);
      solve_lcp(problem.view(), {}, {}, workspace, of, ow, c);
    }
    allocations = guard.count();
  }
  EXPECT_EQ(allocations, 0);
}

TEST(SolveLcp, IsHonestAboutProblemsWithoutSolution) {
  // Two walls that approach each other with a box between, and b that no impulse can produce.
  const LcpProblem problem(MatX{{1, -1, 0}, {-1, 1, 0}, {0, 0, 1}}, VecX{{-0.1, -0.1, -1}},
                           std::vector<LcpRow>(3, LcpRow::make_one_sided()));
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_FALSE(solution.report.solved());
  EXPECT_EQ(solution.report.stage, LcpStage::unsolved);
  EXPECT_EQ(solution.report.residual, residual(problem.view(), solution.f, solution.w));
  EXPECT_GT(solution.report.residual, 0.05);
  for (const double f : solution.f) EXPECT_TRUE(f >= 0 && f < 10) << "harmless: " << f;
  EXPECT_NEAR(solution.f[2], 1, 1e-9) << "the third row is none of the walls' business";
}

TEST(SolveLcp, DropsOnlyTargetsThatCanContradict) {
  // The squeeze again. The friction row's and the motor's targets stay.
  const VecX d{{0.1, 0.1, 0.2, 0.3}};
  MatX A = MatX::Identity(4, 4);
  A.topLeftCorner<2, 2>() << 1, -1, -1, 1;
  const LcpProblem problem(A, VecX{{-1, 1, 0, 0}} - d,
                           {LcpRow::make_one_sided(1), LcpRow::make_one_sided(2), LcpRow::make_friction(0, 1, 3),
                            LcpRow::make_bounded(-5, 5, 4)},
                           d);
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_TRUE(has(solution.report.flags, LcpFlag::targets_dropped));
  EXPECT_NEAR(solution.f[0] - solution.f[1], 1, 1e-9);
  EXPECT_NEAR(solution.f[2], 0.2, 1e-9);
  EXPECT_NEAR(solution.f[3], 0.3, 1e-9);
}

TEST(SolveLcp, WhatTargetsLeaveOfBMayBeRounding) {
  // Without targets b is zero but for rounding that no impulse can answer.
  const VecX d{{0.1, 0.1}};
  const LcpProblem problem(MatX{{1, -1}, {-1, 1}}, VecX{{-5e-17, -4e-17}} - d,
                           std::vector<LcpRow>(2, LcpRow::make_one_sided()), d);
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_TRUE(solution.report.solved());
  EXPECT_TRUE(has(solution.report.flags, LcpFlag::targets_dropped));
  for (const double f : solution.f) EXPECT_LE(f, 1e-6);
}

TEST(SolveLcp, KeepsATargetThatNothingContradicts) {
  const VecX d{{0.5}};
  const LcpProblem problem(MatX::Ones(1, 1), VecX{{-1}} - d, {LcpRow::make_one_sided()}, d);
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_EQ(solution.report.flags, LcpFlag::none);
  EXPECT_EQ(solution.f[0], 1.5);
}

TEST(SolveLcp, MatricesThatAreNotFiniteAreUnsolved) {
  for (const double bad : {kNan, LcpRow::kInfinity}) {
    for (const auto& [i, j] : {std::pair{0, 0}, {1, 0}, {2, 2}}) {
      MatX A = MatX::Identity(3, 3);
      A(i, j) = A(j, i) = bad;
      const LcpProblem problem(A, VecX{{-1, -2, -3}},
                               {LcpRow::make_one_sided(), LcpRow::make_bounded(1, 2), LcpRow::make_two_sided()});
      for (const std::vector<RowMode>& guess : {std::vector<RowMode>{}, std::vector<RowMode>(3)}) {
        const LcpSolution solution = solve_lcp(problem.view(), {}, guess);
        EXPECT_FALSE(solution.report.solved());
        EXPECT_EQ(solution.f, (std::vector<double>{0, 1, 0})) << "nothing, as far as the bounds allow";
        for (const double w : solution.w) EXPECT_TRUE(std::isfinite(w));
      }
    }
  }
}

TEST(SolveLcp, HasNothingToDoWithoutRows) {
  const LcpSolution solution = solve_lcp(LcpProblem().view());
  EXPECT_EQ(solution.report.stage, LcpStage::none);
  EXPECT_TRUE(solution.report.solved());
}

TEST(SolveLcp, HasNothingToDoWhereNothingPushes) {
  const LcpProblem problem(MatX::Identity(3, 3), VecX{{1, 5, 2}},
                           {LcpRow::make_one_sided(), LcpRow::make_friction(0, 1), LcpRow::make_bounded(0, 9)});
  for (const std::vector<RowMode>& guess : {std::vector<RowMode>{}, std::vector<RowMode>(3, RowMode::clamping)}) {
    const LcpSolution solution = solve_lcp(problem.view(), {}, guess);
    EXPECT_EQ(solution.report.stage, LcpStage::none);
    EXPECT_EQ(solution.f, std::vector<double>(3, 0.0));
    EXPECT_EQ(solution.w, problem.b);
    EXPECT_EQ(solution.modes, (std::vector<RowMode>{RowMode::separating, RowMode::separating, RowMode::at_lower}));
  }
}

TEST(SolveLcp, FrictionWithoutCoefficientDoesNothing) {
  const LcpProblem problem(MatX{{1, 0.5}, {0.5, 1}}, VecX{{-1, 3}},
                           {LcpRow::make_one_sided(), LcpRow::make_friction(0, 0)});
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_EQ(solution.f, (std::vector<double>{1, 0}));
  EXPECT_EQ(solution.report.flags, LcpFlag::none);
}

TEST(SolveLcp, RowsThatAreRoundingOfZeroAreLeftAlone) {
  // A tangent along the hinge that carries the body: nothing moves it, apart from rounding.
  const MatX A{{3.4320015158092487, 0, 3.0135805673603546e-14},
               {0, 0.67032620855618319, 0},
               {3.0135805673603546e-14, 0, 3.2371164687875728e-16}};
  const LcpProblem problem(A, VecX{{-2.9373807160662491, 0, 3.1190598998322758e-15}},
                           {LcpRow::make_one_sided(1), LcpRow::make_friction(0, 1, 2), LcpRow::make_friction(0, 1, 3)},
                           VecX{{0.4197, 0, 0}});
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_EQ(solution.report.flags, LcpFlag::none);
  EXPECT_NEAR(solution.f[0], 0.85588, 1e-5);
  EXPECT_EQ(solution.f[1], 0);
  EXPECT_EQ(solution.f[2], 0);
}

TEST(SolveLcp, AppliesImposedImpulses) {
  const LcpProblem problem(MatX{{2, 1}, {1, 2}}, VecX{{1, 0}},
                           {LcpRow::make_one_sided(), LcpRow::make_bounded(-3, -3)});
  for (const LcpOptions& options : {LcpOptions{}, kCold}) {
    const LcpSolution solution = solve_lcp(problem.view(), options);
    EXPECT_EQ(solution.report.flags, LcpFlag::none);
    EXPECT_NEAR(solution.f[0], 1, 1e-12);
    EXPECT_EQ(solution.f[1], -3);
  }
}

TEST(SolveLcp, MotorsStayWithinBoundsThatExcludeZero) {
  const LcpProblem problem(MatX::Identity(2, 2), VecX{{5, 5}},
                           {LcpRow::make_bounded(1, 2), LcpRow::make_bounded(-9, -1)});
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_EQ(solution.f[0], 1);
  EXPECT_NEAR(solution.f[1], -5, 1e-12);
  EXPECT_EQ(solution.modes, (std::vector<RowMode>{RowMode::at_lower, RowMode::clamping}));
}

TEST(SolveLcp, ATiedFrictionRowIsReported) {
  // |b_t| is exactly what friction can hold.
  const LcpProblem problem(MatX::Identity(2, 2), VecX{{-2, 1}},
                           {LcpRow::make_one_sided(), LcpRow::make_friction(0, 0.5)});
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_TRUE(has(solution.report.flags, LcpFlag::tied));
  EXPECT_EQ(solution.report.tied_rows, 1);
}

TEST(SolveLcp, ATieThatClampingRowsImplyIsNone) {
  // Row 2 is the mean of the others and a little more open, so it rests without a force: f = 0 and w = 9e-10, but nothing
  // can happen there.
  const MatX J{{1, 1}, {1, -1}, {1, 0}};
  const MatX A = J * J.transpose();
  const VecX b = J * VecX{{-1, 0}} + VecX{{0, 0, 9e-10}};
  const LcpSolution solution = solve_lcp(LcpProblem(A, b, std::vector<LcpRow>(3, LcpRow::make_one_sided())).view(), {},
                                         std::vector{RowMode::clamping, RowMode::clamping, RowMode::separating});
  EXPECT_TRUE(solution.report.solved());
  EXPECT_EQ(solution.report.tied_rows, 1);
  EXPECT_FALSE(has(solution.report.flags, LcpFlag::tied));
}

TEST(SolveLcp, SweepsWhereThereAreTooManyRows) {
  std::mt19937_64 random(1);
  const LcpProblem problem = random_lcp(LcpFamily::full_rank, random).problem();
  const LcpSolution solution = solve_lcp(problem.view(), {.direct_rows = problem.size() - 1});
  EXPECT_EQ(solution.report.stage, LcpStage::gauss_seidel);
}

TEST(SolveLcp, ACopiedWorkspaceWorks) {
  const LcpProblem problem(MatX::Identity(1, 1), VecX{{-1}}, {LcpRow::make_one_sided()});
  LcpWorkspace first;
  std::vector<double> f(1), w(1);
  std::vector<RowMode> modes(1);
  solve_lcp(problem.view(), {}, {}, first, f, w, modes);
  LcpWorkspace second(first);
  second = first;
  f[0] = 0;
  solve_lcp(problem.view(), {}, {}, second, f, w, modes);
  EXPECT_EQ(f[0], 1);
}

TEST(SolveLcp, NamesItsStages) {
  EXPECT_STREQ(to_string(LcpStage::active_set), "active_set");
  EXPECT_STREQ(to_string(LcpStage::unsolved), "unsolved");
}

TEST(SolveLcp, RefusesWhatIsNoProblem) {
  const auto solve = [](const LcpRow& second, double b) {
    return
        [=] { solve_lcp(LcpProblem(MatX::Identity(2, 2), VecX{{0, b}}, {LcpRow::make_one_sided(), second}).view()); };
  };
  expect_error(solve(LcpRow::make_one_sided(), kNan), "b[1]", "nan");
  expect_error(solve(LcpRow::make_friction(1, 0.5), 0), "friction row 1", "row 1 as its normal");
  expect_error(solve(LcpRow::make_friction(7, 0.5), 0), "row 7 as its normal");
  expect_error(solve(LcpRow::make_friction(0, -0.5), 0), "friction row 1", "-0.5");
  expect_error(solve(LcpRow::make_friction(0, kNan), 0), "nan");
  expect_error(solve(LcpRow::make_bounded(2, 1), 0), "bounds [2, 1]");
  expect_error(solve(LcpRow::make_bounded(0, LcpRow::kInfinity), 0), "inf");
}

TEST(SolveLcp, RefusesSizesThatDoNotMatch) {
  const LcpProblem problem(MatX::Identity(2, 2), VecX::Zero(2), std::vector<LcpRow>(2));
  expect_error([&] { solve_lcp(problem.view(), {}, std::vector<RowMode>(3)); }, "guess has 3 entries");
  LcpWorkspace workspace;
  std::vector<double> f(2), w(1);
  std::vector<RowMode> modes(2);
  expect_error([&] { solve_lcp(problem.view(), {}, {}, workspace, f, w, modes); }, "2, 1 and 2 entries");
  BoxedLcp view = problem.view();
  view.b = view.b.first(1);
  expect_error([&] { solve_lcp(view); }, "b has 1 entries");
  view = problem.view();
  view.stride = 3;
  expect_error([&] { solve_lcp(view); }, "stride is 3");
}

}  // namespace
}  // namespace lithe::test

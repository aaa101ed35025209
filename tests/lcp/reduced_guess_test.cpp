#include "lithe/lcp/direct/reduced_guess.h"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "lithe/lcp/solve_lcp.h"
#include "tests/lcp/lcp_shorthand.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

constexpr int kDofs = 22, kMotors = 16, kFeet = 2, kPoints = 4;

// A robot that stands: a motor with finite gains and dry friction on most DoFs, and two feet with four points each, whose 24 rows
// have rank 12 at most.
struct StandingRobot {
  std::vector<LcpRow> rows;
  MatX A, W;

  explicit StandingRobot(std::mt19937_64& random, double effort) {
    const int n = 2 * kMotors + 3 * kFeet * kPoints;
    MatX J = MatX::Zero(n, kDofs);
    for (int m = 0; m < kMotors; ++m) {
      rows.push_back(LcpRow::make_bounded(-effort, effort));
      rows.back().soft = true;
      J(m, m) = 1;
    }
    for (int m = 0; m < kMotors; ++m) {
      rows.push_back(LcpRow::make_bounded(-0.5, 0.5));
      J(kMotors + m, m) = 1;
    }
    for (int foot = 0; foot < kFeet; ++foot) {
      const MatX motion = random_matrix(random, 6, kDofs);
      for (int point = 0; point < kPoints; ++point) {
        const int normal = static_cast<int>(rows.size());
        rows.push_back(LcpRow::make_one_sided());
        rows.push_back(LcpRow::make_friction(normal, 0.8));
        rows.push_back(LcpRow::make_friction(normal, 0.8));
        const double x = point % 2 == 0 ? -0.1 : 0.1, y = point / 2 == 0 ? -0.05 : 0.05;
        // [t₁; t₂; n]-velocities of a point of a rigid foot, with the normal first.
        const MatX twist{{y, -x, 0, 0, 0, 1}, {0, 0, -y, 1, 0, 0}, {0, 0, x, 0, 1, 0}};
        J.middleRows(normal, 3) = twist * motion;
      }
    }
    const MatX root = random_matrix(random, kDofs, kDofs) + 12 * MatX::Identity(kDofs, kDofs);
    W = J * root.inverse();
    A = W * W.transpose();
    for (int m = 0; m < kMotors; ++m) A(m, m) += uniform(random, 0.01, 0.5);
  }

  LcpProblem with(const VecX& b) const { return {A, b, rows}; }
  // The same problem, of which nobody says that rows are soft.
  LcpProblem plain(const VecX& b) const {
    std::vector<LcpRow> hard = rows;
    for (LcpRow& row : hard) row.soft = false;
    return {A, b, hard};
  }
  // Presses on its feet, most points of which then hold.
  VecX standing(std::mt19937_64& random) const {
    VecX u = random_vector(random, kDofs, 0.1);
    for (int i = 2 * kMotors; i < W.rows(); i += 3) u -= uniform(random, 0, 1) * W.row(i).transpose();
    return W * u;
  }
};

void expect_same_answer(const LcpSolution& a, const LcpSolution& b) {
  EXPECT_EQ(a.modes, b.modes);
  for (std::size_t i = 0; i < a.f.size(); ++i) {
    EXPECT_NEAR(a.f[i], b.f[i], 1e-10 * largest_magnitude(b.f)) << "row " << i;
    EXPECT_NEAR(a.w[i], b.w[i], 1e-12) << "row " << i;
  }
}

TEST(ReducedGuess, AnswersAsTheFactorOfAllRowsDoes) {
  int right = 0, cases = 0;
  for_random_cases(200, [&](std::mt19937_64& random) {
    const StandingRobot robot(random, 10);
    const VecX b = robot.standing(random);
    const LcpProblem problem = robot.with(b), plain = robot.plain(b);
    const LcpSolution cold = solve_lcp(plain.view());
    if (!cold.report.solved() || cold.report.flags != LcpFlag::none) return;
    ++cases;
    const LcpGuess guess(cold.modes, cold.f, true);
    const LcpSolution whole = solve_lcp(plain.view(), {}, guess);
    const LcpSolution reduced = solve_lcp(problem.view(), {}, guess);
    ASSERT_EQ(whole.report.stage, LcpStage::guess);
    EXPECT_EQ(reduced.report.stage, LcpStage::guess);
    EXPECT_EQ(reduced.report.rank, whole.report.rank);
    EXPECT_EQ(reduced.report.clamping_rows, whole.report.clamping_rows);
    EXPECT_EQ(reduced.report.tied_rows, whole.report.tied_rows);
    EXPECT_EQ(reduced.report.flags, whole.report.flags);
    expect_same_answer(reduced, whole);

    PreparedLcp prepared;
    prepared.prepare(problem.view());
    LoopStresses stresses;
    stresses.find(prepared);
    ReducedGuess stage;
    right += stage.run(prepared, stresses, cold.modes, 1e-9 * prepared.mean_diagonal) == ReducedGuess::Outcome::right;
  });
  if (few_cases()) return;
  EXPECT_GE(cases, 150);
  EXPECT_GE(right, cases * 9 / 10) << "of " << cases;
}

bool is_another_solution(const LcpProblem& problem, const LcpSolution& found, const LcpSolution& known) {
  std::vector<double> w(found.f.size());
  evaluate(problem.view(), found.f, w);
  return found.modes != known.modes && residual(problem.view(), found.f, w) <= 1e-9;
}

TEST(ReducedGuess, IsNotMistakenAboutMotorsThatSaturateOrComeBack) {
  int saturated = 0, several = 0, others = 0;
  for_random_cases(200, [&](std::mt19937_64& random) {
    const StandingRobot robot(random, 0.3);
    const VecX b = robot.standing(random);
    const LcpSolution before = solve_lcp(robot.plain(b).view());
    // More is asked of some motors than they can do.
    VecX next = b;
    const int more = uniform_int(random, 1, 3);
    for (int k = 0; k < more; ++k) next[uniform_int(random, 0, kMotors - 1)] += uniform(random, -2, 2);
    const LcpSolution after = solve_lcp(robot.plain(next).view());
    if (before.report.flags != LcpFlag::none || after.report.flags != LcpFlag::none) return;
    int changed = 0;
    for (int m = 0; m < kMotors; ++m) changed += before.modes[m] != after.modes[m];
    saturated += changed > 0;
    several += changed > 1;
    // There, and back again.
    const LcpSolution there = solve_lcp(robot.with(next).view(), {}, LcpGuess(before.modes, before.f, true));
    const LcpSolution back = solve_lcp(robot.with(b).view(), {}, LcpGuess(after.modes, after.f, true));
    // Friction allows for several solutions, rarely.
    if (is_another_solution(robot.plain(next), there, after) || is_another_solution(robot.plain(b), back, before)) {
      ++others;
      return;
    }
    expect_same_answer(there, after);
    expect_same_answer(back, before);
  });
  if (few_cases()) return;
  EXPECT_LE(others, saturated / 50);
  EXPECT_GE(saturated, 50);
  EXPECT_GE(several, 10);
}

TEST(ReducedGuess, LeavesLoopsAndFewMotorsToTheFactorOfAllRows) {
  std::mt19937_64 random(1);
  StandingRobot robot(random, 10);
  robot.rows[kMotors] = LcpRow::make_two_sided();
  const LcpProblem problem = robot.with(robot.standing(random));
  PreparedLcp prepared;
  prepared.prepare(problem.view());
  LoopStresses stresses;
  stresses.find(prepared);
  std::vector<RowMode> modes(problem.size(), RowMode::clamping);
  ReducedGuess stage;
  EXPECT_EQ(stage.run(prepared, stresses, modes, 1e-9), ReducedGuess::Outcome::unsure);
  EXPECT_EQ(stage.factorizations(), 0);
}

}  // namespace
}  // namespace lithe::test

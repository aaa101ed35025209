#include "lithe/lcp/direct/reduced_lcp.h"

#include <gtest/gtest.h>

#include "lithe/lcp/direct/loop_stresses.h"
#include "lithe/lcp/solve_lcp.h"
#include "tests/lcp/lcp_shorthand.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

// LoopRows of J on a few DoFs: `two_sided` of them first, redundant where that is more than there are DoFs.
struct LoopRows {
  MatX J;
  LcpProblem problem;
  LoopRows(std::mt19937_64& random, int two_sided, int others, int dofs)
      : J(random_matrix(random, two_sided + others, dofs)) {
    std::vector<LcpRow> rows(two_sided, LcpRow::make_two_sided());
    rows.resize(two_sided + others, LcpRow::make_bounded(-1, 1));
    problem = LcpProblem(J * J.transpose(), random_vector(random, two_sided + others, 1), rows);
  }
};

std::vector<RowRole> two_sided_rows(const LcpProblem& problem) {
  std::vector<RowRole> roles;
  for (const LcpRow& row : problem.rows) {
    roles.push_back(row.kind == RowKind::two_sided ? RowRole::eliminated : RowRole::kept);
  }
  return roles;
}

TEST(LoopStresses, AreImpulsesThatMoveNothing) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const int two_sided = 9, dofs = uniform_int(random, 3, 12);
    const LoopRows rows(random, two_sided, 2, dofs);
    PreparedLcp prepared;
    prepared.prepare(rows.problem.view());
    LoopStresses stresses;
    stresses.find(prepared);
    EXPECT_EQ(stresses.count(), std::max(0, two_sided - dofs));
    // What is removed of x moves nothing, and nothing is left to remove.
    std::vector<double> x(rows.problem.size(), 0.0);
    for (int i = 0; i < two_sided; ++i) x[i] = uniform(random, -1, 1);
    std::vector<double> y = x;
    stresses.remove_from(y);
    VecX gone(rows.problem.size());
    for (int i = 0; i < gone.size(); ++i) gone[i] = x[i] - y[i];
    EXPECT_LE((rows.J.transpose() * gone).norm(), 1e-9);
    EXPECT_LE(stresses.remove_from(y), 1e-12);
  });
}

// The rows of a ball joint that closes a loop in a plane, in a direction in which the second one hardly responds.
TEST(LoopStresses, AreFoundWhateverTheOrderOfRows) {
  const MatX J{{1, 0}, {1e-3, 3e-7}, {0.3, 1}};
  const int orders[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}};
  for (const auto& order : orders) {
    MatX rows(3, 2);
    for (int i = 0; i < 3; ++i) rows.row(i) = J.row(order[i]);
    const LcpProblem problem(rows * rows.transpose(), VecX::Zero(3), std::vector<LcpRow>(3, LcpRow::make_two_sided()));
    PreparedLcp prepared;
    prepared.prepare(problem.view());
    LoopStresses stresses;
    stresses.find(prepared);
    ASSERT_EQ(stresses.count(), 1);
    std::vector<double> stress = {1, 1, 1};
    stresses.remove_from(stress);
    VecX gone(3);
    for (int i = 0; i < 3; ++i) gone[i] = 1 - stress[i];
    EXPECT_LE((rows.transpose() * gone).norm(), 1e-13) << "order " << order[0] << order[1] << order[2];
  }
}

// A loop closes to six digits: its third row moves a DoF by a millionth.
TEST(LoopStresses, AreNotToBeHadOfAMatrixThatIsNotSemidefinite) {
  const LcpProblem problem(MatX{{1, 2}, {2, 1}}, VecX{{1.0, 1.0}}, std::vector<LcpRow>(2, LcpRow::make_two_sided()));
  PreparedLcp prepared;
  prepared.prepare(problem.view());
  LoopStresses stresses;
  stresses.find(prepared);
  EXPECT_EQ(stresses.count(), 0);
}

TEST(LoopStresses, MakeExactWhatIsImpliedToTheDigitsOfAFile) {
  const MatX J{{1, 0, 0}, {0.5, 1, 0}, {0.3, 0.7, 3e-6}, {0.2, 0.4, 1}};
  std::vector<LcpRow> rows(3, LcpRow::make_two_sided());
  rows.push_back(LcpRow::make_bounded(-1, 1));
  const LcpProblem problem(J * J.transpose(), J * VecX{{0.1, 0.15, -0.5}}, rows);
  PreparedLcp prepared;
  prepared.prepare(problem.view());
  LoopStresses stresses;
  stresses.find(prepared);
  ASSERT_EQ(stresses.count(), 1);
  AlignedBuffer A;
  ASSERT_TRUE(stresses.make_exact(prepared, A));
  LcpProblem exact = problem;
  std::copy(A.begin(), A.end(), exact.A.begin());
  prepared.prepare(exact.view());
  stresses.find(prepared);
  EXPECT_EQ(stresses.count(), 1);
  EXPECT_FALSE(stresses.make_exact(prepared, A)) << "nothing is left to do";
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(exact.view().at(i, j), exact.view().at(j, i));
      EXPECT_NEAR(exact.view().at(i, j), problem.view().at(i, j), 1e-5);
    }
  }
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_EQ(solution.report.flags, LcpFlag::none);
  EXPECT_LE(solution.report.residual, 1e-12);
}

// The third row is implied by the first two up to 1e-9 of itself, which is as much as the fourth needs to move.
TEST(LoopStresses, AreNoneWhereWhatIsLeftOfARowMattersToOthers) {
  const MatX J{{1, -1, 1e4}, {0.1, 0.5, 0}, {1, 0.5, 1e4}, {1e3, 0.5, 0.1}, {0.5, 2, 2}};
  std::vector<LcpRow> rows(3, LcpRow::make_two_sided());
  rows.push_back(LcpRow::make_one_sided());
  rows.push_back(LcpRow::make_bounded(0, 0.5));
  const LcpProblem problem(J * J.transpose(), J * VecX{{-0.1, 0.1, 0.1}}, rows);
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_TRUE(solution.report.solved());
  std::vector<double> w(5);
  evaluate(problem.view(), solution.f, w);
  EXPECT_LE(residual(problem.view(), solution.f, w), 1e-9);
}

TEST(ReducedLcp, GivesTheImpulsesThatHoldTheEliminatedRows) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const int two_sided = uniform_int(random, 0, 9), others = uniform_int(random, 1, 7);
    const int dofs = uniform_int(random, 4, 12);
    const double ridge = 1e-6;
    const LoopRows rows(random, two_sided, others, dofs);
    LcpProblem problem = rows.problem;
    PreparedLcp prepared;
    prepared.prepare(problem.view());
    LoopStresses stresses;
    stresses.find(prepared);
    stresses.remove_from(problem.b);
    prepared.lcp.b = problem.b;
    ReducedLcp reduced;
    reduced.reduce(prepared, stresses, two_sided_rows(problem), prepared.lcp.b, ridge);
    ASSERT_EQ(reduced.size(), others);
    AlignedBuffer f_R(padded(others), 0.0);
    for (int i = 0; i < others; ++i) f_R[i] = uniform(random, -1, 1);
    std::vector<double> f(problem.size()), w(problem.size());
    reduced.recover(f_R.data(), problem.b, f);
    evaluate(problem.view(), f, w);
    double largest = 1;
    for (const double fi : f) largest = std::max(largest, std::abs(fi));
    for (int i = 0; i < two_sided; ++i) EXPECT_NEAR(w[i] + ridge * f[i], 0, 1e-8 * largest) << "row " << i;
    // The others feel what the reduced problem says.
    for (int i = 0; i < others; ++i) {
      double w_R = reduced.b()[i];
      for (int j = 0; j < others; ++j) w_R += reduced.A().at(i, j) * f_R[j];
      EXPECT_NEAR(w_R, w[reduced.kept()[i]], 1e-7 * largest) << "row " << i;
    }
  });
}

TEST(ReducedLcp, LetsRowsCreepThatAreImplied) {
  // A motor on a DoF that a loop holds.
  const MatX J{{1, 0}, {1, 0}, {0, 1}};
  const LcpProblem problem(J * J.transpose(), VecX{{1.0, 1.0, 1.0}},
                           {LcpRow::make_two_sided(), LcpRow::make_bounded(-1, 1), LcpRow::make_one_sided()});
  PreparedLcp prepared;
  prepared.prepare(problem.view());
  LoopStresses stresses;
  stresses.find(prepared);
  ReducedLcp reduced;
  reduced.reduce(prepared, stresses, two_sided_rows(problem), prepared.lcp.b, 1e-6);
  EXPECT_NEAR(reduced.diagonal(0), 1e-6, 1e-11);
  EXPECT_EQ(reduced.diagonal(1), 1);
}

}  // namespace
}  // namespace lithe::test

#include "lithe/lcp/reduced_lcp.h"

#include <gtest/gtest.h>

#include "lithe/lcp/loop_stresses.h"
#include "tests/lcp/lcp_shorthand.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {
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

std::vector<std::uint8_t> two_sided_rows(const LcpProblem& problem) {
  std::vector<std::uint8_t> mask;
  for (const LcpRow& row : problem.rows) mask.push_back(row.kind == RowKind::two_sided);
  return mask;
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

TEST(ReducedLcp, GivesTheImpulsesThatHoldTheEliminatedRows) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const int two_sided = uniform_int(random, 0, 9), others = uniform_int(random, 1, 7);
    const int dofs = uniform_int(random, 4, 12);
    const double ridge = uniform_int(random, 0, 1) * 1e-6;
    const LoopRows rows(random, two_sided, others, dofs);
    LcpProblem problem = rows.problem;
    PreparedLcp prepared;
    prepared.prepare(problem.view());
    LoopStresses stresses;
    stresses.find(prepared);
    stresses.remove_from(problem.b);
    prepared.lcp.b = problem.b;
    ReducedLcp reduced;
    reduced.reduce(prepared, stresses, two_sided_rows(problem), ridge);
    ASSERT_EQ(reduced.size(), others);
    AlignedBuffer f_R(padded(others), 0.0);
    for (int i = 0; i < others; ++i) f_R[i] = reduced.diagonal(i) > 0 ? uniform(random, -1, 1) : 0.0;
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
      if (reduced.diagonal(i) > 0) {
        EXPECT_NEAR(w_R, w[reduced.kept()[i]], 1e-7 * largest) << "row " << i;
      }
    }
    if (ridge == 0) {
      EXPECT_LE(stresses.remove_from(f), 1e-9 * largest) << "of many impulses, those without a stress";
    }
  });
}

TEST(ReducedLcp, LeavesNothingOfRowsThatAreImplied) {
  // A motor on a DoF that a loop holds.
  const MatX J{{1, 0}, {1, 0}, {0, 1}};
  const LcpProblem problem(J * J.transpose(), VecX{{1.0, 1.0, 1.0}},
                           {LcpRow::make_two_sided(), LcpRow::make_bounded(-1, 1), LcpRow::make_one_sided()});
  PreparedLcp prepared;
  prepared.prepare(problem.view());
  LoopStresses stresses;
  stresses.find(prepared);
  ReducedLcp reduced;
  reduced.reduce(prepared, stresses, two_sided_rows(problem), 0);
  EXPECT_EQ(reduced.diagonal(0), 0);
  EXPECT_EQ(reduced.diagonal(1), 1);
  // Where the loop creeps, so does the motor.
  reduced.reduce(prepared, stresses, two_sided_rows(problem), 1e-6);
  EXPECT_NEAR(reduced.diagonal(0), 1e-6, 1e-11);
}

}  // namespace
}  // namespace lithe::test

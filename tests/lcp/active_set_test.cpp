#include "lithe/lcp/modes/active_set.h"

#include <gtest/gtest.h>

#include "lithe/lcp/solve_lcp.h"
#include "tests/lcp/lcp_shorthand.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

// Rows with A = 1 and scale 1 that know nothing of each other.
struct Rows {
  PreparedLcp prepared;
  LcpProblem problem;

  explicit Rows(std::vector<LcpRow> rows) {
    const auto n = static_cast<Eigen::Index>(rows.size());
    problem = LcpProblem(MatX::Identity(n, n), -VecX::Ones(n), std::move(rows));
    prepared.prepare(problem.view());
  }
  std::vector<RowMode> after(std::vector<RowMode> modes, const std::vector<double>& f,
                             const std::vector<double>& w) const {
    moved = move_violators(prepared, 1e-9, f, w, modes);
    return modes;
  }
  mutable int moved = 0;
};

using Modes = std::vector<RowMode>;

TEST(ActiveSet, MovesNormals) {
  const Rows rows({LcpRow::make_one_sided()});
  EXPECT_EQ(rows.after({C}, {-0.1}, {0}), Modes{S});
  EXPECT_EQ(rows.moved, 1);
  EXPECT_EQ(rows.after({S}, {0}, {-0.1}), Modes{C});
  EXPECT_EQ(rows.after({C}, {0.1}, {0}), Modes{C});
  EXPECT_EQ(rows.after({S}, {0}, {0.1}), Modes{S});
  EXPECT_EQ(rows.moved, 0);
}

TEST(ActiveSet, MovesFriction) {
  const Rows rows({LcpRow::make_one_sided(), LcpRow::make_friction(0, 0.5)});
  EXPECT_EQ(rows.after({C, C}, {1, 0.6}, {0, 0}), (Modes{C, kUpper}));
  EXPECT_EQ(rows.after({C, C}, {1, -0.6}, {0, 0}), (Modes{C, kLower}));
  EXPECT_EQ(rows.after({C, kUpper}, {1, 0.5}, {0, 0.1}), (Modes{C, C}));
  EXPECT_EQ(rows.after({C, kUpper}, {1, 0.5}, {0, 1.1}), (Modes{C, kLower})) << "across both bounds";
  EXPECT_EQ(rows.after({C, kLower}, {1, -0.5}, {0, -0.1}), (Modes{C, C}));
  EXPECT_EQ(rows.after({C, kLower}, {1, -0.5}, {0, -1.1}), (Modes{C, kUpper}));
  EXPECT_EQ(rows.after({C, kLower}, {1, -0.5}, {0, 0.1}), (Modes{C, kLower}));
  EXPECT_EQ(rows.moved, 0);
}

TEST(ActiveSet, FrictionComesAndGoesWithItsNormal) {
  const Rows rows({LcpRow::make_one_sided(), LcpRow::make_friction(0, 0.5)});
  EXPECT_EQ(rows.after({C, kUpper}, {-1, -0.5}, {0, -1}), (Modes{S, S}));
  EXPECT_EQ(rows.after({S, S}, {0, 0}, {-1, 3}), (Modes{C, C}));
  EXPECT_EQ(rows.moved, 1) << "the normal's move";
}

TEST(ActiveSet, MovesBoundedRows) {
  const Rows rows({LcpRow::make_bounded(-1, 2)});
  EXPECT_EQ(rows.after({C}, {3}, {0}), Modes{kUpper});
  EXPECT_EQ(rows.after({C}, {-2}, {0}), Modes{kLower});
  EXPECT_EQ(rows.after({kUpper}, {2}, {0.5}), Modes{C});
  EXPECT_EQ(rows.after({kUpper}, {2}, {3.5}), Modes{kLower});
  EXPECT_EQ(rows.after({kUpper}, {2}, {-9}), Modes{kUpper});
}

TEST(ActiveSet, LeavesRowsAloneThatHaveNoChoice) {
  const Rows rows(
      {LcpRow::make_two_sided(), LcpRow::make_bounded(1, 1), LcpRow::make_one_sided(), LcpRow::make_friction(2, 0)});
  const Modes modes = {C, kLower, C, S};
  EXPECT_EQ(rows.after(modes, {-5, 1, 1, 0}, {0, -7, 0, -7}), modes);
  EXPECT_EQ(rows.moved, 0);
}

TEST(ActiveSet, FindsNothingToMoveAtTheRidgeProblemsSolution) {
  // One row: f = −b/(1 + ε̄), and w = −ε̄ f is no violation but what the ridge takes.
  const Rows rows({LcpRow::make_one_sided()});
  const double f = 1 / (1 + 1e-9);
  EXPECT_EQ(rows.after({C}, {f}, {f - 1}), Modes{C});
}

TEST(PreparedLcp, LeavesOutRowsThatNothingMoves) {
  MatX A = MatX::Identity(6, 6);
  A(0, 0) = 0;
  A(3, 3) = 1e-16;
  const LcpProblem problem(A, VecX::Ones(6),
                           {LcpRow::make_one_sided(), LcpRow::make_friction(0, 1), LcpRow::make_one_sided(),
                            LcpRow::make_friction(2, 1), LcpRow::make_friction(2, 0), LcpRow::make_friction(2, 1)});
  PreparedLcp prepared;
  prepared.prepare(problem.view());
  EXPECT_EQ(prepared.live, (std::vector<std::uint8_t>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(prepared.live_rows, 2);
  EXPECT_EQ(prepared.mean_diagonal, 1);
  Modes modes(6, C);
  prepared.make_consistent(modes);
  EXPECT_EQ(modes, (Modes{S, S, C, S, S, C}));
}

TEST(PreparedLcp, MendsGuessesOfAnyKind) {
  const Rows rows({LcpRow::make_one_sided(), LcpRow::make_friction(0, 1), LcpRow::make_one_sided(),
                   LcpRow::make_friction(2, 1), LcpRow::make_bounded(-1, 1), LcpRow::make_two_sided(),
                   LcpRow::make_bounded(3, 3)});
  Modes modes = {kUpper, kUpper, C, S, S, S, C};
  rows.prepared.make_consistent(modes);
  EXPECT_EQ(modes, (Modes{S, S, C, C, C, C, kLower}));
}

TEST(PreparedLcp, KnowsWhenNothingPushes) {
  const auto at_rest = [](const LcpRow& row, double b) {
    PreparedLcp prepared;
    const LcpProblem problem(MatX::Identity(1, 1), VecX::Constant(1, b), {row});
    prepared.prepare(problem.view());
    return prepared.at_rest();
  };
  EXPECT_TRUE(at_rest(LcpRow::make_one_sided(), 0));
  EXPECT_TRUE(at_rest(LcpRow::make_one_sided(), 1));
  EXPECT_FALSE(at_rest(LcpRow::make_one_sided(), -1));
  EXPECT_TRUE(at_rest(LcpRow::make_two_sided(), 0));
  EXPECT_FALSE(at_rest(LcpRow::make_two_sided(), 1));
  EXPECT_FALSE(at_rest(LcpRow::make_bounded(-1, 1), 1));
  EXPECT_TRUE(at_rest(LcpRow::make_bounded(0, 1), 1));
  EXPECT_FALSE(at_rest(LcpRow::make_bounded(0, 1), -1));
  EXPECT_TRUE(at_rest(LcpRow::make_bounded(-1, 0), -1));
  EXPECT_FALSE(at_rest(LcpRow::make_bounded(1, 2), 0)) << "an imposed impulse";
}

TEST(PreparedLcp, BoundsTheRoundingOfVelocities) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const SampledLcp factored = random_lcp(LcpFamily::half_rank, random);
    const LcpProblem problem = factored.problem();
    PreparedLcp prepared;
    prepared.prepare(problem.view());
    VecX f = VecX::Random(problem.size());
    for (int i = 0; i < problem.size(); ++i) f[i] *= prepared.live[i];
    VecX w(problem.size());
    evaluate(problem.view(), as_span(f), as_span(w));
    const Eigen::Matrix<long double, -1, 1> exact =
        Eigen::Map<const MatX, 0, Eigen::OuterStride<>>(problem.A.data(), problem.size(), problem.size(),
                                                        Eigen::OuterStride<>(problem.stride))
                .cast<long double>() *
            f.cast<long double>() +
        Eigen::Map<const VecX>(problem.b.data(), problem.size()).cast<long double>();
    const double rounding = prepared.rounding(as_span(f));
    for (int i = 0; i < problem.size(); ++i) {
      if (!prepared.live[i]) continue;
      const double error = std::abs(static_cast<double>(exact[i] - static_cast<long double>(w[i])));
      EXPECT_LE(error, rounding * prepared.root[i] + 2e-16 * prepared.scale) << "row " << i;
    }
  });
}

}  // namespace
}  // namespace lithe::test

#include "lithe/lcp/pivoting/lemke_path.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lithe/lcp/direct/ridge_solution.h"
#include "lithe/lcp/modes/active_set.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

constexpr double kEpsilon = 1e-9;

struct Followed {
  LemkePath::Result result;
  std::vector<RowMode> modes;
  int pivots;
};

Followed follow(const LcpProblem& problem, int rebuild_interval = 1000, std::uint64_t seed = 1) {
  PreparedLcp prepared;
  prepared.prepare(problem.view());
  LemkePath path;
  path.rebuild_interval = rebuild_interval;
  Followed followed{{}, std::vector<RowMode>(problem.size()), 0};
  followed.result = path.follow(prepared, kEpsilon * prepared.mean_diagonal, seed, followed.modes);
  followed.pivots = path.pivots();
  prepared.make_consistent(followed.modes);
  return followed;
}

// The ridge problem's equations for these modes.
struct Answer {
  int violators;  // of its conditions
  std::vector<double> w;
};
Answer answer_of(const LcpProblem& problem, std::vector<RowMode> modes) {
  PreparedLcp prepared;
  prepared.prepare(problem.view());
  const double ridge = kEpsilon * prepared.mean_diagonal;
  RidgeSolution solution;
  solution.compute(prepared, modes, ridge);
  Answer answer{0, std::vector<double>(problem.size())};
  evaluate(problem.view(), solution.f(), answer.w);
  answer.violators = move_violators(prepared, ridge, solution.f(), answer.w, modes);
  return answer;
}

const LcpFamily kPathFamilies[] = {LcpFamily::tiny,         LcpFamily::full_rank, LcpFamily::half_rank,
                                   LcpFamily::doubled_rows, LcpFamily::foot,      LcpFamily::stack,
                                   LcpFamily::pile,         LcpFamily::motors,    LcpFamily::loops,
                                   LcpFamily::humanoid,     LcpFamily::targets};

TEST(LemkePath, FindsTheRidgeProblemsModes) {
  for_random_cases(1500, [](std::mt19937_64& random) {
    const LcpFamily family = kPathFamilies[random() % std::size(kPathFamilies)];
    const LcpProblem problem = random_lcp(family, random).problem();
    const Followed followed = follow(problem);
    ASSERT_EQ(followed.result, LemkePath::Result::found) << to_string(family);
    // Where 1e-9 is large beside the smallest pivots, rounding may put a row or two at the other side of a tie.
    EXPECT_LE(answer_of(problem, followed.modes).violators, 2)
        << to_string(family) << ", " << problem.size() << " rows";
  });
}

TEST(LemkePath, UpdatesLeadWhereFreshInversesLead) {
  int cases = 0, other_modes = 0;
  for_random_cases(
      300,
      [&](std::mt19937_64& random) {
        const LcpFamily family = kPathFamilies[random() % std::size(kPathFamilies)];
        const LcpProblem problem = random_lcp(family, random).problem();
        if (problem.size() > 60) return Outcome::skipped;  // an inverse per pivot takes its time
        const Followed updated = follow(problem), fresh = follow(problem, 1);
        EXPECT_EQ(updated.result, fresh.result) << to_string(family);
        ++cases;
        other_modes += updated.modes != fresh.modes;
        // At a tie rounding decides about the mode, but not about velocities.
        const Answer a = answer_of(problem, updated.modes), b = answer_of(problem, fresh.modes);
        for (int i = 0; i < problem.size(); ++i) EXPECT_NEAR(a.w[i], b.w[i], 1e-8 * velocity_scale(problem.view()));
        return Outcome::checked;
      },
      0.2);
  EXPECT_LE(other_modes, 0.01 * cases);
}

TEST(LemkePath, TurnsUpwardsWhereFrictionDemandsIt) {
  // The jam: pushing harder pushes the contact deeper, until it sticks. θ must rise on the way.
  const LcpProblem jam(MatX{{1, 2}, {2, 5}}, VecX{{-1, 4}},
                       {LcpRow::make_one_sided(1), LcpRow::make_friction(0, 1, 2)});
  const Followed followed = follow(jam);
  EXPECT_EQ(followed.result, LemkePath::Result::found);
  EXPECT_EQ(followed.modes, (std::vector<RowMode>{RowMode::clamping, RowMode::clamping}));
  EXPECT_EQ(followed.pivots, 2);
}

TEST(LemkePath, HasNowhereToGoFromRest) {
  const LcpProblem problem(MatX::Identity(2, 2), VecX{{1, 2}}, {LcpRow::make_one_sided(), LcpRow::make_friction(0, 1)});
  const Followed followed = follow(problem);
  EXPECT_EQ(followed.result, LemkePath::Result::found);
  EXPECT_EQ(followed.pivots, 0);
  EXPECT_EQ(followed.modes, std::vector<RowMode>(2, RowMode::separating));
}

TEST(LemkePath, DoesNotDependOnTheOrderOfRowsThatHaveKeys) {
  for_random_cases(300, [](std::mt19937_64& random) {
    LcpProblem problem = random_lcp(LcpFamily::half_rank, random).problem();
    for (LcpRow& row : problem.rows) row.key = random() | 1;
    std::vector<int> order;
    for (int i = problem.size() - 1; i >= 0; --i) order.push_back(i);
    const Followed forwards = follow(problem), backwards = follow(permuted(problem, order));
    EXPECT_EQ(forwards.pivots, backwards.pivots);
    for (int k = 0; k < problem.size(); ++k) EXPECT_EQ(backwards.modes[k], forwards.modes[order[k]]);
  });
}

TEST(LemkePath, TakesImposedImpulsesAsGiven) {
  // Row 1 pushes row 0 by a fixed impulse; row 0 has to stop what comes of it.
  const LcpProblem problem(MatX{{2, 1}, {1, 2}}, VecX{{1, 0}},
                           {LcpRow::make_one_sided(), LcpRow::make_bounded(-3, -3)});
  const Followed followed = follow(problem);
  EXPECT_EQ(followed.result, LemkePath::Result::found);
  EXPECT_EQ(followed.modes, (std::vector<RowMode>{RowMode::clamping, RowMode::at_lower}));
}

TEST(PathBasis, KeepsTheInverseOfItsEquations) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const int n = 2 + static_cast<int>(random() % 12);
    const MatX W = MatX::Random(n, n + 2);
    PaddedMatrix A;
    A.resize(n, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < A.stride; ++i) A.at(i, j) = i < n ? W.row(i).dot(W.row(j)) : 0.0;
    }
    const VecX c = VecX::Random(n);
    PathBasis basis;
    basis.start(A, c.data());
    // Every other row clamps; an odd one may follow the row before it instead.
    for (int i = 0; i < n; i += 2) ASSERT_TRUE(basis.exchange(i, PathBasis::Equation::velocity(i)));
    for (int i = 1; i < n; i += 4) ASSERT_TRUE(basis.exchange(i, PathBasis::Equation::impulse(i, i - 1, 0.3)));
    const auto expect_inverse = [&] {
      AlignedBuffer velocity(A.stride);
      for (int k = 0; k <= n; ++k) {
        const double* column = basis.column(k);
        multiply(A, column, velocity.data());
        for (int i = 0; i < n; ++i) velocity[i] += column[n] * c[i];
        for (int slot = 0; slot <= n; ++slot) {
          EXPECT_NEAR(basis.value(slot, column, velocity.data()), slot == k, 1e-9) << "slot " << slot;
        }
      }
    };
    expect_inverse();
    // A follower changes its side while the row it follows is held.
    ASSERT_TRUE(basis.exchange(0, PathBasis::Equation::impulse(0)));
    basis.set_kappa(1, 0, 0, -0.7);
    expect_inverse();
    ASSERT_TRUE(basis.rebuild());
    expect_inverse();
  });
}

TEST(PathBasis, NoticesEquationsThatContradict) {
  PaddedMatrix A;
  A.resize(2, 2);
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < A.stride; ++i) A.at(i, j) = i < 2 ? 1.0 : 0.0;
  }
  const VecX c = VecX::Zero(2);
  PathBasis basis;
  basis.start(A, c.data());
  EXPECT_TRUE(basis.exchange(0, PathBasis::Equation::velocity(0)));
  EXPECT_FALSE(basis.exchange(1, PathBasis::Equation::velocity(1))) << "the same row twice";
}

}  // namespace
}  // namespace lithe::test

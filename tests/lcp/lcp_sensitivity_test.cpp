#include "lithe/lcp/modes/lcp_sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "lithe/lcp/solve_lcp.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"
#include "tests/support/lcp_problems.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

// A line in the space of problems along which the rank stays: rows of W are stretched and columns mixed, u, friction and
// bounds move.
//
//   W(x) = (I + x R) W (I + x Q),   u(x) = u + x u',   μ(x) = μ + x μ', …
struct Motion {
  VecX R;  // diagonal
  MatX Q;
  VecX u, friction, lower, upper;

  SampledLcp at(const SampledLcp& lcp, double x) const {
    SampledLcp moved = lcp;
    const Eigen::Index k = lcp.W.cols();
    moved.W = (VecX::Ones(lcp.size()) + x * R).asDiagonal() * lcp.W * (MatX::Identity(k, k) + x * Q);
    moved.u += x * u;
    for (int i = 0; i < lcp.size(); ++i) {
      moved.rows[i].friction += x * friction[i];
      moved.rows[i].lower += x * lower[i];
      moved.rows[i].upper += x * upper[i];
    }
    return moved;
  }
};

// Each part moves or rests.
Motion random_motion(const SampledLcp& lcp, std::mt19937_64& random) {
  const int n = lcp.size(), k = static_cast<int>(lcp.W.cols());
  const auto scale = [&](double size) { return chance(random, 0.3) ? 0.0 : size; };
  Motion motion;
  motion.R = random_vector(random, n, scale(0.3));
  motion.Q = random_vector(random, k * k, scale(0.3)).reshaped(k, k);
  motion.u = random_vector(random, k, scale(0.1 * lcp.u.cwiseAbs().maxCoeff()));
  motion.friction = VecX::Zero(n);
  motion.lower = motion.upper = VecX::Zero(n);
  const double size = scale(0.1);
  for (int i = 0; i < n; ++i) {
    const LcpRow& row = lcp.rows[i];
    if (row.kind == RowKind::friction) motion.friction[i] = row.friction * random_vector(random, 1, size)[0];
    if (row.kind != RowKind::bounded) continue;
    motion.lower[i] = (row.upper - row.lower) * random_vector(random, 1, size)[0];
    motion.upper[i] = (row.upper - row.lower) * random_vector(random, 1, size)[0];
  }
  return motion;
}

// Dense data of a motion at x = 0.
struct DenseDirection {
  MatX dA;
  VecX db, dA_f, dA_y;

  DenseDirection(const SampledLcp& lcp, const Motion& motion, const LcpSensitivity& sensitivity,
                 const std::vector<double>& f) {
    const MatX dW = motion.R.asDiagonal() * lcp.W + lcp.W * motion.Q;
    dA = dW * lcp.W.transpose() + lcp.W * dW.transpose();
    db = dW * lcp.u + lcp.W * motion.u;
    dA_f = dA * VecX::Map(f.data(), lcp.size());
    dA_y = dA * VecX::Map(sensitivity.y().data(), lcp.size());
  }
  LcpDirection direction(const Motion& motion) const {
    return {.dA_f = as_span(dA_f),
            .dA_y = as_span(dA_y),
            .db = as_span(db),
            .dtarget = {},
            .dfriction = as_span(motion.friction),
            .dlower = as_span(motion.lower),
            .dupper = as_span(motion.upper)};
  }
};

// f and w of a problem, provided that it is solved in these modes and polished; else empty.
VecX solution_in(const SampledLcp& lcp, const std::vector<RowMode>& modes) {
  const LcpProblem problem = lcp.problem();
  const LcpSolution solution = solve_lcp(problem.view(), {}, modes);
  const bool same = solution.report.solved() && solution.modes == modes && solution.report.flags == LcpFlag::none;
  if (!same) return {};
  VecX both(2 * lcp.size());
  both << VecX::Map(solution.f.data(), lcp.size()), VecX::Map(solution.w.data(), lcp.size());
  return both;
}

// ‖A_C‖·‖A_C#‖: by what a solve may multiply errors.
double condition(const LcpProblem& problem, const std::vector<RowMode>& modes) {
  ModeFactor factor;
  factor.compute(problem.view(), modes);
  factor.gather(problem.view(), modes);
  const int m = factor.size();
  const Eigen::Map<const MatX, 0, Eigen::OuterStride<>> A_C(factor.matrix(), m, m,
                                                            Eigen::OuterStride<>(factor.matrix_stride()));
  MatX inverse = MatX::Identity(m, m);
  for (int k = 0; k < m; ++k) {
    const std::span<double> column(inverse.col(k).data(), m);
    factor.solve(column, column);
  }
  return std::max(1.0, A_C.norm() * inverse.norm());
}

const char* mode_of(const LcpSensitivity& sensitivity) {
  const ModeFactor& factor = sensitivity.factor();
  const bool singular = factor.rank() < factor.size();
  if (factor.size() == 0) return "nothing clamps";
  if (!singular) return factor.symmetric() ? "regular" : "regular, friction at bounds";
  return factor.symmetric() ? "singular" : "singular, friction at bounds";
}

constexpr LcpFamily kSensitivityFamilies[] = {
    LcpFamily::tiny,  LcpFamily::full_rank, LcpFamily::half_rank, LcpFamily::doubled_rows, LcpFamily::foot,
    LcpFamily::stack, LcpFamily::pile,      LcpFamily::motors,    LcpFamily::loops,        LcpFamily::humanoid};

SampledLcp random_problem(std::mt19937_64& random) {
  SampledLcp lcp =
      random_lcp(kSensitivityFamilies[uniform_int(random, 0, std::size(kSensitivityFamilies) - 1)], random);
  lcp.d.setZero();
  return lcp;
}

TEST(LcpSensitivity, AgreesWithDifferencesInEveryMode) {
  std::map<std::string, int> modes;
  int at_constant_bounds = 0;
  for_random_cases(
      2000,
      [&](std::mt19937_64& random) {
        const SampledLcp lcp = random_problem(random);
        const LcpProblem problem = lcp.problem();
        const LcpSolution solution = solve_lcp(problem.view());
        if (!solution.report.solved() || solution.report.flags != LcpFlag::none) return Outcome::skipped;
        LcpSensitivity sensitivity;
        sensitivity.compute(problem.view(), solution.modes, solution.f, solution.report.flags);
        if (!sensitivity.factor().has_group_inverse()) return Outcome::skipped;
        const double kappa = condition(problem, solution.modes);
        if (kappa > 1e5) return Outcome::skipped;

        const Motion motion = random_motion(lcp, random);
        bool same_modes = true;
        const MatX numeric = central_difference(
            [&](const VecX& x) {
              const VecX both = solution_in(motion.at(lcp, x[0]), solution.modes);
              if (both.size() == 0) same_modes = false;
              return same_modes ? both : VecX::Zero(2 * lcp.size());
            },
            1, 1e-3);
        if (!same_modes) return Outcome::skipped;

        VecX analytic(2 * lcp.size());
        const DenseDirection dense(lcp, motion, sensitivity, solution.f);
        const double inconsistency = sensitivity.forward(dense.direction(motion), {analytic.data(), lcp.rows.size()},
                                                         {analytic.data() + lcp.size(), lcp.rows.size()});
        EXPECT_LT(inconsistency, LcpSensitivity::kInconsistent) << mode_of(sensitivity);
        for (const int part : {0, 1}) {  // f, then w
          const double error = relative_error(analytic.segment(part * lcp.size(), lcp.size()),
                                              numeric.middleRows(part * lcp.size(), lcp.size()), 1e-2);
          EXPECT_LT(error, 2e-9 * kappa) << mode_of(sensitivity) << (part == 0 ? ", f" : ", w");
        }
        ++modes[mode_of(sensitivity)];
        for (int i = 0; i < lcp.size(); ++i) {
          const bool constant = lcp.rows[i].kind == RowKind::bounded && solution.modes[i] != RowMode::clamping;
          if (constant && motion.lower.squaredNorm() > 0) ++at_constant_bounds;
        }
        return Outcome::checked;
      },
      0.15);
  if (few_cases()) return;
  for (const auto& [mode, count] : modes) RecordProperty(mode, count);
  EXPECT_EQ(modes.size(), 5u);
  for (const auto& [mode, count] : modes) EXPECT_GE(count, 100) << mode;
  EXPECT_GE(at_constant_bounds, 100);
}

double dot(const VecX& x, const std::vector<double>& y) { return x.dot(VecX::Map(y.data(), x.size())); }
// The same without cancellation: what rounding errors are a share of.
double absolute_dot(const VecX& x, const std::vector<double>& y) {
  return x.cwiseAbs().dot(VecX::Map(y.data(), x.size()).cwiseAbs());
}

// Every solution, its flags whatever they are.
TEST(LcpSensitivity, TransposedIsTheTransposeOfForward) {
  for_random_cases(500, [](std::mt19937_64& random) {
    const SampledLcp lcp = random_problem(random);
    const LcpProblem problem = lcp.problem();
    const LcpSolution solution = solve_lcp(problem.view());
    LcpSensitivity sensitivity;
    sensitivity.compute(problem.view(), solution.modes, solution.f, solution.report.flags);

    const Motion motion = random_motion(lcp, random);
    const DenseDirection dense(lcp, motion, sensitivity, solution.f);
    VecX df(lcp.size()), dw(lcp.size());
    sensitivity.forward(dense.direction(motion), as_span(df), as_span(dw));

    const VecX f_bar = random_vector(random, lcp.size()), w_bar = random_vector(random, lcp.size());
    LcpGradient gradient;
    sensitivity.transposed(as_span(f_bar), as_span(w_bar), gradient);
    const double forward = f_bar.dot(df) + w_bar.dot(dw);
    const double by_A = dot(dense.dA_f, gradient.b) + dot(dense.dA_y, gradient.null);
    const double by_bounds = dot(motion.lower, gradient.lower) + dot(motion.upper, gradient.upper);
    const double backward = by_A + dot(dense.db, gradient.b) + dot(motion.friction, gradient.friction) + by_bounds;
    const double size = f_bar.cwiseAbs().dot(df.cwiseAbs()) + w_bar.cwiseAbs().dot(dw.cwiseAbs()) +
                        absolute_dot(dense.dA_f, gradient.b) + absolute_dot(dense.db, gradient.b) +
                        absolute_dot(dense.dA_y, gradient.null);
    const bool invertible = sensitivity.factor().has_group_inverse();
    const double loss = invertible ? std::max(1.0, condition(problem, solution.modes) / 10) : 1e6;
    EXPECT_NEAR(forward, backward, 1e-12 * size * loss) << mode_of(sensitivity);
  });
}

// However f was chosen among the solutions of its mode: clamping rows stay at w = 0, separating ones at f = 0, friction
// at its bound.
TEST(LcpSensitivity, KeepsTheEquationsOfTheMode) {
  for_random_cases(500, [](std::mt19937_64& random) {
    const SampledLcp lcp = random_problem(random);
    const LcpProblem problem = lcp.problem();
    const LcpSolution solution = solve_lcp(problem.view());
    const LcpFlag flags = chance(random, 0.5) ? solution.report.flags : LcpFlag::unpolished;
    LcpSensitivity sensitivity;
    sensitivity.compute(problem.view(), solution.modes, solution.f, flags);
    if (has(flags, LcpFlag::unpolished)) {
      EXPECT_FALSE(sensitivity.has_null_term());
    }

    const Motion motion = random_motion(lcp, random);
    const DenseDirection dense(lcp, motion, sensitivity, solution.f);
    VecX df(lcp.size()), dw(lcp.size());
    const double inconsistency = sensitivity.forward(dense.direction(motion), as_span(df), as_span(dw));
    ASSERT_TRUE(df.allFinite() && dw.allFinite());
    EXPECT_LT(inconsistency, LcpSensitivity::kInconsistent);
    const double size = dense.db.cwiseAbs().maxCoeff() + dense.dA_f.cwiseAbs().maxCoeff() +
                        ((lcp.W * lcp.W.transpose()).cwiseAbs() * df.cwiseAbs()).maxCoeff();
    for (const int i : sensitivity.factor().clamping()) EXPECT_NEAR(dw[i], 0, 1e-8 * size) << mode_of(sensitivity);
    for (int i = 0; i < lcp.size(); ++i) {
      const LcpRow& row = lcp.rows[i];
      if (row.kind == RowKind::one_sided && solution.modes[i] == RowMode::separating) {
        EXPECT_EQ(df[i], 0);
      }
      if (row.kind != RowKind::friction || solution.modes[i] != RowMode::at_upper) continue;
      const double bound = motion.friction[i] * solution.f[row.normal] + row.friction * df[row.normal];
      EXPECT_NEAR(df[i], bound, 1e-12 * (1 + std::abs(bound)));
    }
  });
}

// Problems by hand.

struct HandMade {
  LcpProblem problem;
  std::vector<RowMode> modes;
  std::vector<double> f;
  LcpFlag flags = LcpFlag::none;
};

struct Change {
  VecX df, dw;
  double inconsistency;
};

Change forward(const HandMade& made, const LcpDirection& direction) {
  LcpSensitivity sensitivity;
  sensitivity.compute(made.problem.view(), made.modes, made.f, made.flags);
  Change change = {VecX(made.problem.size()), VecX(made.problem.size()), 0};
  change.inconsistency = sensitivity.forward(direction, as_span(change.df), as_span(change.dw));
  return change;
}

constexpr RowMode kClamping = RowMode::clamping;

HandMade twins() {
  const std::vector<LcpRow> rows(2, LcpRow::make_one_sided());
  return {{MatX::Ones(2, 2), VecX{{-1, -1}}, rows}, {kClamping, kClamping}, {0.5, 0.5}};
}

TEST(LcpSensitivity, SplitsALoadBetweenTwins) {
  const VecX db = VecX{{-1, -1}};
  const Change change = forward(twins(), {.db = as_span(db)});
  EXPECT_NEAR(change.df[0], 0.5, 1e-15);
  EXPECT_NEAR(change.df[1], 0.5, 1e-15);
  EXPECT_LT(change.inconsistency, 1e-15);
}

TEST(LcpSensitivity, TurnsTheSplitWithTheRowsOfTwins) {
  // Rows (1) and (1 + x) of J: f = (1, 1 + x)/(1 + (1 + x)²) at load one each, and ∂f = (−½, 0).
  const MatX dA = MatX{{0, 1}, {1, 2}};
  const VecX f = VecX{{0.5, 0.5}}, y = VecX{{0.25, 0.25}};  // A# f = f/2
  const VecX dA_f = dA * f, dA_y = dA * y, db = VecX{{0, -1}};
  const Change change = forward(twins(), {.dA_f = as_span(dA_f), .dA_y = as_span(dA_y), .db = as_span(db)});
  EXPECT_NEAR(change.df[0], -0.5, 1e-15);
  EXPECT_NEAR(change.df[1], 0, 1e-15);
}

TEST(LcpSensitivity, NoticesADirectionThatBreaksTheMode) {
  const VecX db = VecX{{1, -1}};  // one twin leaves, the other stays
  EXPECT_GT(forward(twins(), {.db = as_span(db)}).inconsistency, 0.5);
}

TEST(LcpSensitivity, ForgetsTargetsThatWereDropped) {
  const VecX target = VecX{{1, -1}}, dtarget = VecX{{3, 4}}, db = -dtarget;
  HandMade made = {{MatX::Ones(2, 2), VecX{{1, 1}} - target, std::vector<LcpRow>(2, LcpRow::make_two_sided()), target},
                   {kClamping, kClamping},
                   {-0.5, -0.5},
                   LcpFlag::targets_dropped};
  const Change dropped = forward(made, {.db = as_span(db), .dtarget = as_span(dtarget)});
  EXPECT_EQ(dropped.df, VecX::Zero(2));
  EXPECT_EQ(dropped.dw, db);
  made.flags = LcpFlag::none;
  EXPECT_NE(forward(made, {.db = as_span(db), .dtarget = as_span(dtarget)}).df, VecX::Zero(2));

  made.flags = LcpFlag::targets_dropped;
  LcpSensitivity sensitivity;
  sensitivity.compute(made.problem.view(), made.modes, made.f, made.flags);
  LcpGradient gradient;
  const VecX f_bar = VecX{{1, 2}};
  sensitivity.transposed(as_span(f_bar), {}, gradient);
  EXPECT_EQ(gradient.target, gradient.b);  // so that −∂d through b and ∂d cancel
  EXPECT_NE(gradient.b[0], 0);
}

TEST(LcpSensitivity, FollowsABoundThatMoves) {
  // A motor at its upper bound pushes a body against a stop.
  const HandMade made = {
      {MatX{{1, -1}, {-1, 1}}, VecX{{-5, 1}}, {LcpRow::make_bounded(-1, 2), LcpRow::make_one_sided()}},
      {RowMode::at_upper, kClamping},
      {2, 1}};
  const VecX dupper = VecX{{1, 0}};
  const Change change = forward(made, {.dupper = as_span(dupper)});
  EXPECT_EQ(change.df, VecX({{1, 1}}));
  EXPECT_EQ(change.dw, VecX({{0, 0}}));
  EXPECT_EQ(forward(made, {.dlower = as_span(dupper)}).df, VecX({{0, 0}}));
}

TEST(LcpSensitivity, LetsFrictionBeginWhereThereWasNone) {
  // Sliding with μ = 0: as soon as there is friction, it opposes the motion.
  const HandMade made = {{MatX::Identity(2, 2), VecX{{-3, 1}}, {LcpRow::make_one_sided(), LcpRow::make_friction(0, 0)}},
                         {kClamping, RowMode::separating},
                         {3, 0}};
  const VecX dfriction = VecX{{0, 1}};
  const Change change = forward(made, {.dfriction = as_span(dfriction)});
  EXPECT_EQ(change.df, VecX({{0, -3}}));
  EXPECT_EQ(change.dw, VecX({{0, -3}}));
}

TEST(LcpSensitivity, StaysFiniteWithoutAGroupInverse) {
  // W = (n₁; n₂; t₂) with t₂ at its lower bound: A_C = (1 −1; 1 −1), whose square is zero.
  const MatX W = MatX{{1, 0}, {1, 0}, {2, 1}};
  HandMade made = {{W * W.transpose(),
                    VecX{{0, 0, 5}},
                    {LcpRow::make_one_sided(), LcpRow::make_one_sided(), LcpRow::make_friction(1, 1)}},
                   {kClamping, kClamping, RowMode::at_lower},
                   {1, 1, -1}};
  LcpSensitivity sensitivity;
  sensitivity.compute(made.problem.view(), made.modes, made.f);
  EXPECT_FALSE(sensitivity.factor().has_group_inverse());
  const VecX db = VecX{{1, 1, 0}}, inconsistent = VecX{{1, -1, 0}};
  const Change change = forward(made, {.db = as_span(db)});
  EXPECT_LT(change.inconsistency, 1e-14);
  EXPECT_NEAR(change.df[0], -0.5, 1e-14);  // the least that keeps w₁ = w₂ = 0
  EXPECT_NEAR(change.df[1], 0.5, 1e-14);
  EXPECT_NEAR(change.dw.head(2).norm(), 0, 1e-14);
  EXPECT_GT(forward(made, {.db = as_span(inconsistent)}).inconsistency, 0.5);

  const VecX f_bar = VecX{{1, 2, 3}};
  LcpGradient gradient;
  sensitivity.transposed(as_span(f_bar), {}, gradient);
  EXPECT_NEAR(dot(db, gradient.b), f_bar.dot(change.df), 1e-14);
}

TEST(LcpSensitivity, NamesTiedRows) {
  // The second normal just touches; the third one is at rest because the first is.
  const LcpProblem problem = {MatX{{1, 0, 1}, {0, 1, 0}, {1, 0, 1}}, VecX{{-1, 0, -1}},
                              std::vector<LcpRow>(3, LcpRow::make_one_sided())};
  const LcpSolution solution = solve_lcp(problem.view());
  EXPECT_TRUE(has(solution.report.flags, LcpFlag::tied));
  LcpSensitivity sensitivity;
  sensitivity.compute(problem.view(), solution.modes, solution.f, solution.report.flags);
  ASSERT_EQ(sensitivity.tied().size(), 1u);
  EXPECT_EQ(sensitivity.tied()[0], 1);
  // It counts as separating: pushed in, it does not push back.
  const VecX db = VecX{{0, -1, 0}};
  VecX df(3), dw(3);
  sensitivity.forward({.db = as_span(db)}, as_span(df), as_span(dw));
  EXPECT_EQ(df, VecX::Zero(3));
  EXPECT_EQ(dw, db);

  sensitivity.compute(problem.view(), solution.modes, solution.f, LcpFlag::none);
  EXPECT_TRUE(sensitivity.tied().empty());
}

TEST(LcpSensitivity, RefusesVectorsOfAnotherSize) {
  const VecX three = VecX::Zero(3);
  expect_error([&] { forward(twins(), {.db = as_span(three)}); }, "db has 3 entries", "2 rows");
}

TEST(LcpSensitivity, AllocatesNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  for_random_cases(50, [](std::mt19937_64& random) {
    const SampledLcp lcp = random_problem(random);
    const LcpProblem problem = lcp.problem();
    const LcpSolution solution = solve_lcp(problem.view());
    LcpSensitivity sensitivity;
    LcpGradient gradient;
    VecX df(lcp.size()), dw(lcp.size());
    const VecX db = random_vector(random, lcp.size());
    const auto run = [&] {
      sensitivity.compute(problem.view(), solution.modes, solution.f, solution.report.flags);
      sensitivity.forward({.db = as_span(db)}, as_span(df), as_span(dw));
      sensitivity.transposed(as_span(db), as_span(db), gradient);
    };
    run();
    if (!sensitivity.factor().has_group_inverse()) return Outcome::skipped;
    const AllocationGuard guard;
    run();
    const long allocations = guard.count();
    EXPECT_EQ(allocations, 0);
    return Outcome::checked;
  });
}

}  // namespace
}  // namespace lithe::test

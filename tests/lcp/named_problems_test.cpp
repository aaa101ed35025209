#include <Eigen/Geometry>
#include <Eigen/QR>
#include <gtest/gtest.h>

#include <cmath>

#include "lithe/lcp/modes/mode_factor.h"
#include "lithe/lcp/solve_lcp.h"
#include "tests/lcp/lcp_shorthand.h"
#include "tests/support/lcp_problems.h"

namespace lithe::test {

using namespace internal;
namespace {

// Small problems that show one difficulty each, with the answers that the ridge problem's limit gives.

void expect_impulses(const LcpSolution& solution, const std::vector<double>& expected, double tolerance = 1e-12) {
  ASSERT_EQ(solution.f.size(), expected.size());
  EXPECT_TRUE(solution.report.solved());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(solution.f[i], expected[i], tolerance) << "row " << i;
}

LcpSolution solve(const LcpProblem& problem, const LcpOptions& options = {}, std::vector<RowMode> guess = {}) {
  return solve_lcp(problem.view(), options, guess);
}

const std::vector<LcpRow> kContact = {LcpRow::make_one_sided(1), LcpRow::make_friction(0, 1, 2)};
std::vector<LcpRow> normals(int count) {
  std::vector<LcpRow> rows;
  for (int i = 0; i < count; ++i) rows.push_back(LcpRow::make_one_sided(1 + static_cast<std::uint64_t>(i)));
  return rows;
}

const MatX kCoupled = MatX{{1, 2}, {2, 5}};

TEST(NamedProblems, T1ThreeSolutions) {
  const LcpProblem problem(kCoupled, VecX{{1, 4}}, kContact);
  expect_impulses(solve(problem, kCold), {0, 0});
  expect_impulses(solve(problem), {0, 0});
  // Among true solutions the guess chooses.
  const LcpSolution sliding = solve(problem, {}, {C, kLower});
  expect_impulses(sliding, {1, -1});
  EXPECT_EQ(sliding.report.stage, LcpStage::guess);
  const LcpSolution sticking = solve(problem, {}, {C, C});
  expect_impulses(sticking, {3, -2});
  EXPECT_EQ(sticking.report.stage, LcpStage::guess);
  // Without leave.
  expect_impulses(solve(problem, kCold, {C, C}), {0, 0});
}

TEST(NamedProblems, T2Jam) {
  const LcpProblem problem(kCoupled, VecX{{-1, 4}}, kContact);
  expect_impulses(solve(problem), {13, -6});
  const LcpSolution cold = solve(problem, kCold);
  expect_impulses(cold, {13, -6});
  EXPECT_EQ(cold.report.stage, LcpStage::path);
  EXPECT_EQ(cold.modes, (std::vector<RowMode>{C, C}));
}

TEST(NamedProblems, AJointThatTheRidgeHoldsSlides) {
  // Dry friction falls short of holding the first row by a ten-thousandth, less than the ridge lets it creep beside a row that moves far more.
  const LcpProblem problem(MatX(VecX{{1e-3, 2000}}.asDiagonal()), VecX{{-1e-3 * (1 + 1e-4), -2}},
                           {LcpRow::make_bounded(-1, 1, 1), LcpRow::make_one_sided(2)});
  for (const LcpOptions& options : {LcpOptions(), kCold}) {
    const LcpSolution solution = solve(problem, options);
    expect_impulses(solution, {1, 1e-3});
    EXPECT_EQ(solution.modes, (std::vector<RowMode>{kUpper, C}));
    EXPECT_NEAR(solution.w[0], -1e-7, 1e-15);
    EXPECT_EQ(solution.report.flags, LcpFlag::none);
  }
}

TEST(NamedProblems, T3SqueezeDropsItsTargets) {
  const VecX d{{0.1, 0.1}};
  const LcpProblem problem(MatX{{1, -1}, {-1, 1}}, -d, normals(2), d);
  const LcpSolution solution = solve(problem);
  expect_impulses(solution, {0, 0});
  EXPECT_TRUE(has(solution.report.flags, LcpFlag::targets_dropped));
  EXPECT_EQ(solution.w, (std::vector<double>{-0.1, -0.1})) << "w is that of the problem as it was given";
}

TEST(NamedProblems, TargetsOfRowsThatNothingMovesAreDroppedAtOnce) {
  // Hulls that overlap at the axis of their joint, and a contact beside them whose target can be met.
  const MatX A = VecX{{0, 1, 0}}.asDiagonal();
  const VecX d{{0.1, 0.2, 0.3}};
  const LcpProblem problem(A, VecX{{-0.1, -0.2, 0.1}}, normals(3), d);
  for (const LcpOptions& options : {LcpOptions(), kCold}) {
    const LcpSolution solution = solve(problem, options);
    expect_impulses(solution, {0, 0.2, 0});
    EXPECT_EQ(solution.report.flags, LcpFlag::targets_dropped);
    EXPECT_EQ(solution.dropped_targets, std::vector<std::uint8_t>({1, 0, 0})) << "the third moves as it is asked to";
    EXPECT_LE(solution.report.factorizations, 2);
  }
}

TEST(NamedProblems, T3SqueezeWithoutTargetsIsUnsolved) {
  const LcpSolution solution = solve({MatX{{1, -1}, {-1, 1}}, VecX{{-0.1, -0.1}}, normals(2)});
  EXPECT_FALSE(solution.report.solved());
  EXPECT_EQ(solution.report.stage, LcpStage::unsolved);
  EXPECT_GT(solution.report.residual, 0.1);
  for (const double f : solution.f) EXPECT_TRUE(f >= 0 && f < 1) << f;
}

TEST(NamedProblems, T4TwinsShareTheLoad) {
  const MatX A = MatX::Ones(2, 2);
  const LcpSolution equal = solve({A, VecX{{-1, -1}}, normals(2)});
  expect_impulses(equal, {0.5, 0.5});
  EXPECT_EQ(equal.report.rank, 1);
  EXPECT_FALSE(has(equal.report.flags, LcpFlag::tied));
  const LcpSolution unequal = solve({A, VecX{{-1, -1.0000001}}, normals(2)});
  expect_impulses(unequal, {0, 1.0000001});
  const LcpSolution swept = solve({A, VecX{{-1, -1}}, normals(2)}, {.method = LcpMethod::gauss_seidel});
  expect_impulses(swept, {1, 0});
}

// Four corners of a plate in ring order: J = (1, x, y).
const MatX kCorners = MatX{{1, 1, 1}, {1, -1, 1}, {1, -1, -1}, {1, 1, -1}};

TEST(NamedProblems, T5FourCorners) {
  const MatX A = kCorners * kCorners.transpose();
  for (const LcpOptions& options : {LcpOptions{}, kCold}) {
    expect_impulses(solve({A, -VecX::Ones(4), normals(4)}, options), {0.25, 0.25, 0.25, 0.25});
    // A corner that sits a little deeper takes the load with the opposite one.
    const LcpSolution warped = solve({A, VecX{{-1, -1, -1, -1.00001}}, normals(4)}, options);
    expect_impulses(warped, {0, 0.5, 0, 0.5}, 1e-5);
    EXPECT_EQ(warped.modes, (std::vector<RowMode>{S, C, S, C}));
  }
}

TEST(NamedProblems, T6Tipping) {
  const LcpProblem problem(kCorners * kCorners.transpose(), VecX{{-1.9, -0.1, -0.1, -1.9}}, normals(4));
  expect_impulses(solve(problem), {0.475, 0.025, 0.025, 0.475});
  expect_impulses(solve(problem, kCold), {0.475, 0.025, 0.025, 0.475});
  expect_impulses(solve(problem, {.method = LcpMethod::gauss_seidel}), {0.5, 0, 0.05, 0.45}, 1e-9);
}

TEST(NamedProblems, T7TieSeparates) {
  for (const std::vector<RowMode>& guess : {std::vector<RowMode>{}, {S}, {C}}) {
    const LcpSolution solution = solve({MatX::Ones(1, 1), VecX::Zero(1), normals(1)}, {}, guess);
    expect_impulses(solution, {0});
    EXPECT_EQ(solution.modes[0], S);
    EXPECT_TRUE(has(solution.report.flags, LcpFlag::tied));
    EXPECT_EQ(solution.report.tied_rows, 1);
  }
}

// Rows n, t, n, t of a box on the floor, in the plane: (x, y, angle), mass 1, M⁻¹ = diag(1, 1, 1.5), μ = ½.
LcpProblem planar_box(double speed) {
  const MatX J{{0, 1, 1}, {1, 0, 1}, {0, 1, -1}, {1, 0, 1}};
  const VecX v{{speed, -1, 0}};
  return {J * Vec3(1, 1, 1.5).asDiagonal() * J.transpose(),
          J * v,
          {LcpRow::make_one_sided(1), LcpRow::make_friction(0, 0.5, 2), LcpRow::make_one_sided(3),
           LcpRow::make_friction(2, 0.5, 4)}};
}

TEST(NamedProblems, T8PlanarBoxSticksAndSlides) {
  expect_impulses(solve(planar_box(0.3)), {0.65, -0.15, 0.35, -0.15});
  expect_impulses(solve(planar_box(0.6)), {0.75, -0.375, 0.25, -0.125});
  for (const double speed : {0.3, 0.6}) EXPECT_FALSE(has(solve(planar_box(speed)).report.flags, LcpFlag::tied));
  EXPECT_TRUE(has(solve(planar_box(0.5)).report.flags, LcpFlag::tied)) << "between sticking and sliding";
}

// Boxes on top of each other in the plane, half a metre wide and high, with two contacts each below; g Δt = 0.05.
LcpProblem planar_stack(const std::vector<double>& masses, double friction) {
  const int bodies = static_cast<int>(masses.size());
  MatX J = MatX::Zero(4 * bodies, 3 * bodies);
  MatX inverse_mass = MatX::Zero(3 * bodies, 3 * bodies);
  VecX v = VecX::Zero(3 * bodies);
  std::vector<LcpRow> rows;
  for (int k = 0; k < bodies; ++k) {
    inverse_mass.diagonal().segment<3>(3 * k) = Vec3(1, 1, 24) / masses[k];
    v[3 * k + 1] = -0.05;
    for (const double x : {-0.25, 0.25}) {
      const int i = static_cast<int>(rows.size());
      J.block<2, 3>(i, 3 * k) << 0, 1, x, 1, 0, 0.25;
      if (k > 0) J.block<2, 3>(i, 3 * k - 3) << 0, -1, -x, -1, 0, 0.25;
      rows.push_back(LcpRow::make_one_sided(1 + static_cast<std::uint64_t>(i)));
      rows.push_back(LcpRow::make_friction(i, friction, 2 + static_cast<std::uint64_t>(i)));
    }
  }
  return {J * inverse_mass * J.transpose(), J * v, rows};
}

TEST(NamedProblems, T9HeavyOnLight) {
  const LcpProblem problem = planar_stack({1, 1e6}, 0.5);
  for (const LcpOptions& options : {LcpOptions{}, kCold}) {
    const LcpSolution solution = solve(problem, options);
    EXPECT_TRUE(solution.report.solved());
    EXPECT_LE(solution.report.residual, 1e-9);
    EXPECT_FALSE(has(solution.report.flags, LcpFlag::unpolished));
    const double top = 0.5 * 1e6 * 0.05, bottom = 0.5 * 1000001 * 0.05;
    const std::vector<double> expected = {bottom, 0, bottom, 0, top, 0, top, 0};
    for (int i = 0; i < 8; ++i) EXPECT_NEAR(solution.f[i], expected[i], 1e-4) << "row " << i;
  }
  // Sweeps lift the heavy one by a millionth each.
  EXPECT_FALSE(solve(problem, {.method = LcpMethod::gauss_seidel}).report.solved());
}

// A box of mass 1 with the corners (±0.1, ±0.15, −0.05) on the floor: rows n, t₁, t₂ each. v = (ω, v).
struct BoxOnFloor {
  MatX W = MatX::Zero(12, 6);
  std::vector<LcpRow> rows;

  explicit BoxOnFloor(double friction) {
    const Vec3 half(0.1, 0.15, 0.05);
    const Vec3 inertia = Vec3(half.y() * half.y() + half.z() * half.z(), half.x() * half.x() + half.z() * half.z(),
                              half.x() * half.x() + half.y() * half.y()) /
                         3;
    for (int corner = 0; corner < 4; ++corner) {
      const Vec3 p(corner % 2 ? half.x() : -half.x(), corner / 2 ? half.y() : -half.y(), -half.z());
      for (int k = 0; k < 3; ++k) {
        const Vec3 direction = Vec3::Unit((k + 2) % 3);
        const Vec3 moment = p.cross(direction).array() / inertia.array().sqrt();
        W.row(3 * corner + k) << moment.transpose(), direction.transpose();
        const auto key = static_cast<std::uint64_t>(3 * corner + k + 1);
        rows.push_back(k == 0 ? LcpRow::make_one_sided(key) : LcpRow::make_friction(3 * corner, friction, key));
      }
    }
  }
  // u: (√I ω, v) before contact.
  LcpProblem moving(const Vec6& u) const { return {W * W.transpose(), W * u, rows}; }
};

TEST(Pitfalls, AFlatFootHasTwelveRowsOfRankSix) {
  const BoxOnFloor box(0.5);
  const LcpSolution solution = solve(box.moving(Vec6{{0, 0, 0, 0.01, 0, -0.05}}));
  EXPECT_EQ(solution.report.clamping_rows, 12);
  EXPECT_EQ(solution.report.rank, 6);
  EXPECT_LE(solution.report.residual, 1e-14);
  EXPECT_EQ(solution.report.flags, LcpFlag::none);
  for (int corner = 0; corner < 4; ++corner) EXPECT_GT(solution.f[3 * corner], 0.01);
}

// f_C of least norm, as the pseudo-inverse gives it, for the modes of a solution; all rows.
VecX least_norm_impulses(const LcpProblem& problem, const LcpSolution& solution) {
  ModeFactor factor;
  factor.compute(problem.view(), solution.modes);
  factor.gather(problem.view(), solution.modes);
  const int m = factor.size();
  const Eigen::Map<const MatX, 0, Eigen::OuterStride<>> A_C(factor.matrix(), m, m,
                                                            Eigen::OuterStride<>(factor.matrix_stride()));
  VecX x(m);
  for (int a = 0; a < m; ++a) x[a] = -problem.b[factor.clamping()[a]];
  Eigen::CompleteOrthogonalDecomposition<MatX> decomposition;
  decomposition.setThreshold(1e-10);
  decomposition.compute(A_C);
  const VecX f_C = decomposition.solve(x);
  VecX f(problem.size());
  factor.expand(problem.view(), solution.modes, as_span(f_C), as_span(f));
  return f;
}

TEST(Pitfalls, LeastNormMayLeaveTheBoundsWhereTheRidgeStaysWithin) {
  // Sliding and spinning boxes: sliding rows make v⁺ depend on the split of the load among the corners.
  int least_norm_fails = 0, cases = 0;
  for (const double friction : {0.1, 0.3, 0.5, 1.0}) {
    const BoxOnFloor box(friction);
    for (int k = 0; k < 60; ++k) {
      const double angle = 0.11 * k;
      const LcpProblem problem =
          box.moving(Vec6{{0, 0, 0.03 * (k % 7), 0.2 * std::cos(angle), 0.2 * std::sin(angle), -0.05}});
      const LcpSolution solution = solve(problem);
      EXPECT_TRUE(solution.report.solved());
      EXPECT_LE(solution.report.residual, 1e-5);
      if (has(solution.report.flags, LcpFlag::unpolished)) continue;
      EXPECT_LE(solution.report.residual, 1e-9);
      ++cases;
      const VecX f = least_norm_impulses(problem, solution);
      VecX w(12);
      evaluate(problem.view(), as_span(f), as_span(w));
      least_norm_fails += residual(problem.view(), as_span(f), as_span(w)) > 1e-9;
    }
  }
  EXPECT_GE(cases, 230);
  EXPECT_GT(least_norm_fails, 0);
}

TEST(Pitfalls, ASpinningBoxHasOneAnswerWhateverTheGuess) {
  const BoxOnFloor box(0.4);
  const LcpProblem problem = box.moving(Vec6{{0, 0, 0.3, 0.05, 0.02, -0.05}});
  const LcpSolution plain = solve(problem);
  EXPECT_TRUE(plain.report.solved());
  for (const LcpSolution& other :
       {solve(problem, kCold), solve(problem, {}, std::vector<RowMode>(12, C)),
        solve(problem, {}, std::vector<RowMode>(12, kLower)), solve(problem, {}, plain.modes)}) {
    for (int i = 0; i < 12; ++i) {
      EXPECT_NEAR(other.f[i], plain.f[i], 1e-9) << "row " << i;
      EXPECT_NEAR(other.w[i], plain.w[i], 1e-9) << "row " << i;
    }
  }
}

TEST(Pitfalls, TargetsThatDifferALittleChangeTheModes) {
  // A foot whose corners disagree by 1e-7 cannot rest on all four; by rounding it can.
  const BoxOnFloor box(0.5);
  LcpProblem problem = box.moving(Vec6{{0, 0, 0, 0, 0, -0.05}});
  problem.b[0] -= 1e-17;
  EXPECT_EQ(solve(problem).report.clamping_rows, 12);
  problem.b[0] -= 1e-7;
  const LcpSolution tilted = solve(problem);
  EXPECT_TRUE(tilted.report.solved());
  EXPECT_LE(tilted.report.residual, 1e-5);
  EXPECT_LT(tilted.report.clamping_rows, 12);
}

TEST(Pitfalls, LoopsWithContradictoryTargetsLetGoOfThem) {
  // One hinge closed twice, with different targets, and a contact besides.
  const MatX J{{1, 0}, {1, 0}, {0, 1}};
  const VecX d{{0.2, -0.2, 0}};
  const VecX v{{0.5, -1}};
  const LcpProblem problem(J * J.transpose(), J * v - d,
                           {LcpRow::make_two_sided(1), LcpRow::make_two_sided(2), LcpRow::make_one_sided(3)}, d);
  const LcpSolution solution = solve(problem);
  EXPECT_TRUE(has(solution.report.flags, LcpFlag::targets_dropped));
  expect_impulses(solution, {-0.25, -0.25, 1});
}

}  // namespace
}  // namespace lithe::test

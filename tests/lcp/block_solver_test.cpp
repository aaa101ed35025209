#include <Eigen/QR>
#include <gtest/gtest.h>

#include <random>

#include "lithe/lcp/block/solver.h"
#include "lithe/lcp/modes/active_set.h"
#include "lithe/lcp/modes/tolerances.h"
#include "lithe/linalg/padded_matrix.h"

// Problems given by factors against the same problems with their matrix.
namespace lithe::test {

using namespace internal;
namespace {

struct FactoredProblem {
  std::vector<LcpRow> rows;
  std::vector<int> sizes;
  std::vector<RowGroup> groups;
  AlignedBuffer G;
  std::vector<double> diagonal, b, target;

  FactoredLcp view() const {
    return {.rows = rows,
            .block_sizes = sizes,
            .groups = groups,
            .G = G.data(),
            .diagonal = diagonal,
            .b = b,
            .target = target};
  }
  MatX forms() const {
    int coordinates = 0;
    std::vector<int> start;
    for (const int size : sizes) {
      start.push_back(coordinates);
      coordinates += size;
    }
    MatX dense = MatX::Zero(static_cast<int>(rows.size()), coordinates);
    const FactoredLcp lcp = view();
    for (const RowGroup& group : groups) {
      for (int r = 0; r < group.row_count; ++r) {
        const double* row = G.data() + group.start + r * lcp.width(group);
        for (int k = 0; k < sizes[group.block_a]; ++k) dense(group.first_row + r, start[group.block_a] + k) = row[k];
        if (group.block_b < 0) continue;
        const double* second = row + lcp.width_of(group.block_a);
        for (int k = 0; k < sizes[group.block_b]; ++k) {
          dense(group.first_row + r, start[group.block_b] + k) = second[k];
        }
      }
    }
    return dense;
  }
  LcpProblem with_matrix() const {
    const MatX g = forms();
    return LcpProblem(g * g.transpose(), Eigen::Map<const VecX>(b.data(), static_cast<int>(b.size())), rows,
                      Eigen::Map<const VecX>(target.data(), static_cast<int>(target.size())));
  }
};

// Bodies of six coordinates and one larger block with loops and motors, in contact with one another and with the ground. Points of
// one pair of bodies are redundant as a foot's corners are: three rows are combinations of few forms.
FactoredProblem random_problem(std::mt19937_64& random, bool loops, bool targets) {
  std::uniform_real_distribution<double> number(-1, 1);
  std::uniform_int_distribution<int> count(2, 7);
  FactoredProblem problem;
  const int blocks = count(random);
  for (int k = 0; k < blocks; ++k) problem.sizes.push_back(6);
  if (loops) problem.sizes[0] = 9;
  const auto width_of = [&](int block) { return block < 0 ? 0 : padded(problem.sizes[block]); };
  const auto add_group = [&](int a, int b, int points, RowKind kind) {
    RowGroup group{.block_a = a, .block_b = b, .first_row = static_cast<int>(problem.rows.size())};
    group.start = static_cast<std::ptrdiff_t>(problem.G.size());
    const int width = width_of(a) + width_of(b);
    const auto add_row = [&](const LcpRow& row, const VecX& form) {
      problem.rows.push_back(row);
      for (int k = 0; k < width; ++k) problem.G.push_back(k < form.size() ? form[k] : 0.0);
      ++group.row_count;
    };
    const auto random_form = [&] {
      VecX form = VecX::Zero(width);
      for (int k = 0; k < problem.sizes[a]; ++k) form[k] = number(random);
      for (int k = 0; b >= 0 && k < problem.sizes[b]; ++k) form[width_of(a) + k] = number(random);
      return form;
    };
    if (kind == RowKind::bounded || kind == RowKind::two_sided) {
      for (int p = 0; p < points; ++p) {
        VecX form = random_form();
        if (p == 1) form[problem.sizes[a] - 1] = 0.7;  // a compliance
        add_row(kind == RowKind::bounded ? LcpRow::make_bounded(-0.5 + 0.4 * number(random), 0.5)
                                         : LcpRow::make_two_sided(),
                form);
      }
    } else {
      const VecX normal = random_form(), first = random_form(), second = random_form(), lever = random_form();
      for (int p = 0; p < points; ++p) {
        const int row = static_cast<int>(problem.rows.size());
        const double mu = 0.3 + 0.3 * (1 + number(random));
        add_row(LcpRow::make_one_sided(),
                normal + (p % 2 == 0 ? 0.5 : -0.5) * lever + (p / 2 == 0 ? 0.5 : -0.5) * first);
        add_row(LcpRow::make_friction(row, mu), first + (p % 2 == 0 ? 0.1 : -0.1) * lever);
        add_row(LcpRow::make_friction(row, mu), second);
      }
    }
    problem.groups.push_back(group);
  };
  if (loops) {
    add_group(0, -1, 2, RowKind::bounded);
    add_group(0, 1, 3, RowKind::two_sided);
  }
  std::uniform_int_distribution<int> points(1, 4);
  for (int k = 0; k < blocks; ++k) {
    if (number(random) < 0.3) add_group(k, -1, points(random), RowKind::one_sided);
    if (k > 0) add_group(k - 1, k, points(random), RowKind::one_sided);
  }
  const MatX g = problem.forms();
  problem.diagonal.resize(problem.rows.size());
  VecX::Map(problem.diagonal.data(), g.rows()) = g.rowwise().squaredNorm();
  VecX v(g.cols());
  for (double& vi : v) vi = number(random);
  problem.target.assign(problem.rows.size(), 0.0);
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    if (targets && problem.rows[i].kind == RowKind::one_sided && number(random) > 0.5) problem.target[i] = 0.1;
  }
  problem.b.resize(problem.rows.size());
  VecX::Map(problem.b.data(), g.rows()) = g * v - VecX::Map(problem.target.data(), g.rows());
  return problem;
}

struct BlockAnswer {
  std::vector<double> f, w;
  std::vector<RowMode> modes;
  LcpReport report;
};
BlockAnswer solve(const FactoredProblem& problem, LcpWorkspace& workspace, const LcpGuess& guess = {}) {
  BlockAnswer answer;
  const std::size_t n = problem.rows.size();
  answer.f.resize(n);
  answer.w.resize(n);
  answer.modes.resize(n);
  answer.report = solve_lcp(problem.view(), {}, guess, workspace, answer.f, answer.w, answer.modes);
  return answer;
}

TEST(BlockSolver, MovesAsTheDenseSolverDoes) {
  std::mt19937_64 random(11);
  LcpWorkspace workspace;
  int skipped = 0, other_motion = 0, compared = 0, other_modes = 0;
  constexpr int kSamples = 3000;
  for (int sample = 0; sample < kSamples; ++sample) {
    const FactoredProblem problem = random_problem(random, sample % 3 == 0, sample % 4 == 0);
    const LcpProblem dense = problem.with_matrix();
    const LcpSolution wanted = solve_lcp(dense.view());
    const BlockAnswer got = solve(problem, workspace);
    ASSERT_TRUE(got.report.solved()) << "sample " << sample;
    const bool dropped = has(got.report.flags, LcpFlag::targets_dropped);
    if (!wanted.report.solved() || dropped || has(wanted.report.flags, LcpFlag::targets_dropped)) {
      ++skipped;
      continue;
    }
    const double limit = has(got.report.flags, LcpFlag::unpolished) ? 1e-5 : 1e-9;
    EXPECT_LE(residual(dense.view(), got.f, got.w), limit) << "sample " << sample;
    const MatX G = problem.forms();
    const auto motion = [&](const std::vector<double>& f) -> VecX {
      return G.transpose() * Eigen::Map<const VecX>(f.data(), static_cast<int>(f.size()));
    };
    const double difference = (motion(got.f) - motion(wanted.f)).cwiseAbs().maxCoeff();
    ++compared;
    if (difference > 1e-6) {
      ++other_motion;  // friction allows for several; both are solutions
      continue;
    }
    EXPECT_LT(difference, 1e-7) << "sample " << sample;
    if (got.modes != wanted.modes) ++other_modes;
    if (got.modes == wanted.modes && !has(got.report.flags | wanted.report.flags, LcpFlag::unpolished)) {
      for (std::size_t i = 0; i < got.f.size(); ++i) {
        EXPECT_NEAR(got.f[i], wanted.f[i], 1e-6 * (1 + std::abs(wanted.f[i]))) << "sample " << sample;
      }
    }
  }
  RecordProperty("skipped", skipped);
  RecordProperty("other_motion", other_motion);
  RecordProperty("other_modes", other_modes);
  EXPECT_LT(skipped, kSamples / 10);
  EXPECT_LT(other_motion, compared / 20);
  EXPECT_LT(other_modes, compared / 50);
}

// As from one step to the next: the same contacts, other velocities.
TEST(BlockPath, ArrivesAtRightModesFromTheImpulsesOfANeighbour) {
  std::mt19937_64 random(29);
  std::normal_distribution<double> number;
  LcpWorkspace workspace;
  BlockGraphs graphs;
  BlockModeSystem system;
  BlockPath path;
  int arrived = 0, wrong = 0;
  constexpr int kSamples = 500;
  for (int sample = 0; sample < kSamples; ++sample) {
    const FactoredProblem problem = random_problem(random, sample % 3 == 0, false);
    const FactoredLcp lcp = problem.view();
    const int n = lcp.size();
    PreparedLcp prepared;
    prepared.prepare(lcp.without_matrix(), {lcp.diagonal.data(), 1});
    system.bind(lcp, graphs.graph_of(lcp));
    FactoredProblem neighbour = problem;
    VecX v = VecX::Zero(problem.forms().cols());
    for (double& vi : v) vi = 0.1 * number(random);
    VecX::Map(neighbour.b.data(), n) += problem.forms() * v;
    const BlockAnswer before = solve(neighbour, workspace);
    std::vector<double> w(n);
    const double ridge = kRidgeLevels[0] * prepared.mean_diagonal;
    if (!path.follow(prepared, ridge, before.f, 4 * n, system)) continue;
    ++arrived;
    std::vector<RowMode> modes(path.modes().begin(), path.modes().end());
    const std::vector<RowMode> found = modes;
    ASSERT_TRUE(system.factorize(found, ridge)) << "sample " << sample;
    system.solve(ridge, prepared.scale);
    system.evaluate(system.f(), w);
    wrong += move_violators(prepared, ridge, system.f(), w, modes) != 0;
  }
  EXPECT_GT(arrived, kSamples * 9 / 10);
  EXPECT_LE(wrong, arrived / 100);
}

// A guess that was wrong the last time is a place to start from: another velocity of the same contacts.
TEST(BlockSolver, FindsTheSolutionFromTheImpulsesOfANeighbour) {
  std::mt19937_64 random(37);
  std::normal_distribution<double> number;
  LcpWorkspace workspace;
  int skipped = 0, other_motion = 0;
  constexpr int kSamples = 500;
  for (int sample = 0; sample < kSamples; ++sample) {
    const FactoredProblem problem = random_problem(random, sample % 3 == 0, false);
    FactoredProblem neighbour = problem;
    const MatX G = problem.forms();
    VecX v = VecX::Zero(G.cols());
    for (double& vi : v) vi = 0.1 * number(random);
    VecX::Map(neighbour.b.data(), G.rows()) += G * v;
    const BlockAnswer before = solve(neighbour, workspace), cold = solve(problem, workspace);
    const BlockAnswer warm = solve(problem, workspace, LcpGuess(before.modes, before.f, false));
    ASSERT_TRUE(warm.report.solved()) << "sample " << sample;
    EXPECT_NE(warm.report.stage, LcpStage::guess) << "sample " << sample;
    if (has(cold.report.flags | warm.report.flags, LcpFlag::unpolished)) {
      ++skipped;
      continue;
    }
    EXPECT_LE(residual(problem.with_matrix().view(), warm.f, warm.w), 1e-9) << "sample " << sample;
    const VecX difference = VecX::Map(warm.f.data(), G.rows()) - VecX::Map(cold.f.data(), G.rows());
    other_motion += (G.transpose() * difference).cwiseAbs().maxCoeff() > 1e-7;  // friction allows for several
  }
  EXPECT_LT(skipped, kSamples / 10);
  EXPECT_LT(other_motion, kSamples / 20);
}

// Against A_ii − A_iC A_CC⁺ A_Ci of the group's clamping rows C.
TEST(BlockModeSystem, KnowsWhichRowsTheirGroupImplies) {
  std::mt19937_64 random(41);
  std::uniform_int_distribution<int> coin(0, 2);
  BlockGraphs graphs;
  BlockModeSystem system;
  int implied = 0, free = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const FactoredProblem problem = random_problem(random, sample % 2 == 0, false);
    const FactoredLcp lcp = problem.view();
    system.bind(lcp, graphs.graph_of(lcp));
    const MatX G = problem.forms();
    std::vector<RowMode> modes;
    for (int i = 0; i < lcp.size(); ++i) modes.push_back(coin(random) > 0 ? RowMode::clamping : RowMode::separating);
    for (const RowGroup& group : problem.groups) {
      for (int i = group.first_row; i < group.first_row + group.row_count; ++i) {
        std::vector<int> clamping;
        for (int c = group.first_row; c < group.first_row + group.row_count; ++c) {
          if (c != i && modes[c] == RowMode::clamping) clamping.push_back(c);
        }
        const VecX g = G.row(i);
        const MatX J = G(clamping, Eigen::all).transpose();
        const VecX left = clamping.empty() ? g : VecX(g - J * J.completeOrthogonalDecomposition().solve(g));
        const double share = left.squaredNorm() / g.squaredNorm();
        ASSERT_TRUE(share < 1e-20 || share > 1e-6) << "sample " << sample;  // no doubtful ones
        EXPECT_EQ(system.implied_by_group(i, modes, 1e-9), share < 1e-9) << "sample " << sample << ", row " << i;
        ++(share < 1e-9 ? implied : free);
      }
    }
  }
  EXPECT_GT(implied, 500);
  EXPECT_GT(free, 500);
}

TEST(BlockModeSystem, IsTheSameByUpdatesOfItsFactor) {
  std::mt19937_64 random(31);
  std::normal_distribution<double> number;
  std::uniform_int_distribution<int> any_mode(0, 3), few(1, 4);
  BlockGraphs graphs;
  BlockModeSystem updated, fresh;
  int compared = 0;
  for (int sample = 0; sample < 300; ++sample) {
    const FactoredProblem problem = random_problem(random, sample % 2 == 0, false);
    const FactoredLcp lcp = problem.view();
    const int n = lcp.size();
    PreparedLcp prepared;
    prepared.prepare(lcp.without_matrix(), {lcp.diagonal.data(), 1});
    updated.bind(lcp, graphs.graph_of(lcp));
    fresh.bind(lcp, graphs.graph_of(lcp));
    const double ridge = 1e-3 * prepared.mean_diagonal;
    std::vector<RowMode> modes(n, RowMode::clamping);
    prepared.make_consistent(modes);
    if (!updated.factorize(modes, ridge)) continue;
    for (int k = few(random); k > 0; --k) {
      modes[random() % n] = static_cast<RowMode>(any_mode(random));
      prepared.make_consistent(modes);
    }
    if (!updated.refactorize(modes) || !fresh.factorize(modes, ridge)) continue;
    std::vector<double> r(n), by_updates(n, 0.0), anew(n, 0.0);
    for (double& ri : r) ri = number(random);
    updated.correct(r, by_updates);
    fresh.correct(r, anew);
    const auto vector = [](const std::vector<double>& x) { return VecX::Map(x.data(), static_cast<int>(x.size())); };
    if (!(vector(anew).norm() < 1e6)) continue;  // friction has made it all but singular
    ++compared;
    EXPECT_LT((vector(by_updates) - vector(anew)).norm(), 1e-6 * (1 + vector(anew).norm())) << "sample " << sample;
  }
  EXPECT_GT(compared, 250);
}

TEST(BlockSolver, TakesARightGuess) {
  std::mt19937_64 random(3);
  LcpWorkspace workspace;
  int skipped = 0, dense = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const FactoredProblem problem = random_problem(random, sample % 2 == 0, false);
    const BlockAnswer first = solve(problem, workspace);
    if (has(first.report.flags, LcpFlag::tied) || first.report.residual > 1e-9) {
      ++skipped;
      continue;
    }
    const BlockAnswer second = solve(problem, workspace, first.modes);
    EXPECT_EQ(second.report.stage, LcpStage::guess) << "sample " << sample;
    EXPECT_LE(second.report.rounds, 1);
    EXPECT_EQ(second.modes, first.modes);
    if (second.report.rounds == 0) ++dense;
  }
  EXPECT_LT(skipped, 20);
  // Where soft directions leave too few digits, which depends on the processor's rounding, the dense stages take it.
  EXPECT_LT(dense, 10);
}

TEST(BlockSolver, GivesTheSameBitsWhateverItSolvedBefore) {
  std::mt19937_64 random(7);
  LcpWorkspace used;
  for (int sample = 0; sample < 30; ++sample) {
    const FactoredProblem problem = random_problem(random, true, true);
    LcpWorkspace fresh;
    const BlockAnswer a = solve(problem, used), b = solve(problem, fresh);
    EXPECT_EQ(a.f, b.f);
    EXPECT_EQ(a.w, b.w);
    EXPECT_EQ(a.modes, b.modes);
  }
}

// A body between two walls that both push it towards the other.
TEST(BlockSolver, DropsTargetsThatContradictOneAnother) {
  FactoredProblem problem;
  problem.sizes = {6};
  for (const double side : {1.0, -1.0}) {
    problem.groups.push_back({.block_a = 0,
                              .first_row = static_cast<int>(problem.rows.size()),
                              .row_count = 1,
                              .start = static_cast<std::ptrdiff_t>(problem.G.size())});
    problem.rows.push_back(LcpRow::make_one_sided());
    problem.G.insert(problem.G.end(), {side, 0, 0, 0, 0, 0, 0, 0});
    problem.diagonal.push_back(1);
    problem.target.push_back(0.1);
    problem.b.push_back(side * 0.02 - 0.1);
  }
  LcpWorkspace workspace;
  const BlockAnswer answer = solve(problem, workspace);
  EXPECT_TRUE(answer.report.solved());
  EXPECT_TRUE(has(answer.report.flags, LcpFlag::targets_dropped));
  EXPECT_LE(answer.report.rounds, 4);                   // one look proves it
  EXPECT_NEAR(answer.f[0] - answer.f[1], -0.02, 1e-9);  // the body stops
  EXPECT_NEAR(answer.w[0], -0.1, 1e-9);                 // of the problem as it was given
}

TEST(BlockSolver, SaysWhenNumbersAreNotFinite) {
  std::mt19937_64 random(1);
  FactoredProblem problem = random_problem(random, false, false);
  problem.G[0] = std::numeric_limits<double>::infinity();
  problem.diagonal[0] = std::numeric_limits<double>::infinity();
  LcpWorkspace workspace;
  const BlockAnswer answer = solve(problem, workspace);
  EXPECT_FALSE(answer.report.solved());
  for (const double f : answer.f) EXPECT_TRUE(std::isfinite(f));
}

}  // namespace
}  // namespace lithe::test

#include "lithe/lcp/block/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/lcp/modes/active_set.h"
#include "lithe/lcp/modes/doubtful_target.h"
#include "lithe/lcp/modes/tolerances.h"
#include "lithe/simd/internal/finite.h"

// The plan of a solve: which problem is solved, with which modes and ridges, and how much work that may take. solver_stages.cpp looks for
// right modes, solver_answer.cpp makes impulses of them.
namespace lithe::internal {

namespace {

// What targets leave of b when they are taken out counts as rounding up to this share of the velocity scale, as in DirectSolver.
constexpr double kRoundingOfTargets = 1e-13;

// Up to so many violators sit in a few spots, which are repaired sooner than a path over the whole island gets there.
constexpr int kFewViolators = 40;
// A stress counts as moving nothing, and targets as working on it, by this share.
constexpr double kContradiction = 1e-6;

// Bounds of work: so many attempts, and on small islands as many as so many multiplications allow.
constexpr double kMostAttempts = 40;
constexpr double kLeastWork = 1e7;
// What comes where these are not enough has its own bounds: enough for most heaps, and so little that no island of up to a thousand rows
// took 20 ms where this was measured (bench_step, islands/heap_100 and heap_200). Larger ones need more.
constexpr double kAttemptsOfApproach = 70;
constexpr double kAttemptsOfPaths = 60;
constexpr double kLeastWorkOfPaths = 3.5e7;
constexpr double kRowsOfThese = 1000;

}  // namespace

BlockSolver::BlockSolver(const FactoredLcp& lcp, const LcpOptions& options, BlockBuffers& buffers)
    : lcp_(lcp), options_(options), buffers_(buffers), graph_(buffers.graphs.graph_of(lcp)) {
  const std::size_t n = lcp.rows.size();
  buffers_.problem.prepare(lcp.without_matrix(), {lcp.diagonal.data(), 1});
  buffers_.system.bind(lcp, graph_);
  for (auto* modes : {&buffers_.modes, &buffers_.tried, &buffers_.best, &buffers_.right}) modes->resize(n);
  for (auto* vector : {&buffers_.w, &buffers_.f_polished, &buffers_.w_polished, &buffers_.f_before, &buffers_.f_swept,
                       &buffers_.w_swept, &buffers_.f_least}) {
    vector->resize(n);
  }
  grow(buffers_.u, graph_.coordinates());
  // One attempt, in multiplications: the factorisation and solves go by the graph, products by the numbers of G.
  double numbers = 0;
  for (const RowGroup& group : lcp.groups) numbers += static_cast<double>(group.row_count) * lcp.width(group);
  attempt_work_ = 4 * graph_.flops() + 40 * numbers;
  work_ = std::max(kMostAttempts * attempt_work_, kLeastWork);
  const double size = std::max(1.0, static_cast<double>(n) / kRowsOfThese);
  approach_work_ = kAttemptsOfApproach * size * size * attempt_work_;
  path_work_ = std::max(kAttemptsOfPaths * size * size * attempt_work_, kLeastWorkOfPaths);
}

// With all targets, or without those that may contradict one another.
bool BlockSolver::solve(const LcpGuess& guess, std::span<double> f, std::span<double> w, std::span<RowMode> modes) {
  if (!buffers_.problem.finite) return false;
  impulses_ = options_.cold ? std::span<const double>() : guess.impulses;
  for (int i = 0; i < lcp_.size(); ++i) has_targets_ = has_targets_ || doubtful_target(i) != 0;
  bool solved = solve_prepared(guess);
  if (!solved && has_targets_) {
    drop_targets();
    solved = solve_prepared(guess);
    if (solved) report_.flags = report_.flags | LcpFlag::targets_dropped;
  }
  if (!solved) return false;
  write_answer(f, w, modes);
  find_ties(f, w, modes);
  if (has(report_.flags, LcpFlag::targets_dropped)) {
    buffers_.system.bind(lcp_, graph_);
    buffers_.system.evaluate(f, w);
  }
  return true;
}

// Modes that were wrong the last time are hardly right now: then the rounds start from what a few sweeps make of the last impulses.
bool BlockSolver::solve_prepared(const LcpGuess& guess) {
  const PreparedLcp& problem = buffers_.problem;
  const bool guessed = !options_.cold && !guess.modes.empty();
  if (!guessed && problem.at_rest() && rest()) return true;
  fewest_ = std::numeric_limits<int>::max();
  approached_ = followed_ = swept_ = false;
  contradicted_ = false;
  const bool moving = guessed && !guess.steady && !impulses_.empty();
  if (moving) {
    sweep_given();
  } else if (guessed) {
    std::ranges::copy(guess.modes, buffers_.modes.begin());
    problem.make_consistent(buffers_.modes);
  } else {
    problem.first_modes(buffers_.modes);
  }
  if (run_continuation(guessed && !moving)) return true;
  return guessed && !contradicted_ && problem.at_rest() && rest();
}

// Tries f = 0, with bounded rows that have a bound at zero at that bound.
bool BlockSolver::rest() {
  const PreparedLcp& problem = buffers_.problem;
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    RowMode& c = buffers_.modes[i];
    c = RowMode::separating;
    if (row.kind != RowKind::bounded) continue;
    if (row.lower == 0 && problem.lcp.b[i] >= 0) {
      c = RowMode::at_lower;
    } else if (row.upper == 0) {
      c = RowMode::at_upper;
    }
  }
  problem.make_consistent(buffers_.modes);
  report_.stage = LcpStage::none;
  return attempt(kRidgeLevels[0]) == 0 && (take_polished() || take_best());
}

// Right modes for smaller and smaller ridges, until their polished impulses are a solution, the ridge no longer bends too much, or
// none are found.
bool BlockSolver::run_continuation(bool guessed) {
  double right_at = 0;
  report_.stage = LcpStage::active_set;
  for (const double epsilon : kRidgeLevels) {
    if (!find_modes(epsilon)) break;
    if (guessed && right_at == 0 && right_at_once_) report_.stage = LcpStage::guess;
    if (take_polished()) return true;
    if (contradicts()) {
      contradicted_ = true;
      return false;
    }
    right_at = epsilon;
    buffers_.right = buffers_.tried;
    if (!bends()) return take_best();
  }
  if (right_at == 0) return false;
  // There is no further level: back to the last modes that were right.
  buffers_.modes = buffers_.right;
  return attempt(right_at) >= 0 && (take_polished() || take_best());
}

// Right modes for this ridge, from the present ones. A few violators are repaired sooner than anything else gets there; where there are
// many, repair comes last.
bool BlockSolver::find_modes(double epsilon) {
  right_at_once_ = false;
  if (settle(epsilon)) return true;
  if (work_ <= 0) return false;
  if (!swept_) {
    sweep_given();
    const bool settled = settle(epsilon);
    right_at_once_ = false;  // this was no guess
    if (settled) return true;
  }
  const bool few = fewest_ <= kFewViolators;
  if (!few && (approach(epsilon) || follow(epsilon))) return true;
  if (fewest_ < std::numeric_limits<int>::max() && repair(epsilon)) return true;
  return few && (approach(epsilon) || follow(epsilon));
}

// Solves for the present modes and moves violators; returns how many there were, or −1 where the equations are singular.
int BlockSolver::attempt(double epsilon) {
  const PreparedLcp& problem = buffers_.problem;
  const double ridge = epsilon * problem.mean_diagonal;
  work_ -= attempt_work_;
  report_.ridge = epsilon;
  // `tried` belongs to the system's impulses; `modes` becomes the next guess.
  buffers_.tried = buffers_.modes;
  if (!buffers_.system.factorize(buffers_.tried, std::max(epsilon, kLeastRidge) * problem.mean_diagonal)) return -1;
  buffers_.system.solve(ridge, problem.scale);
  buffers_.system.evaluate(buffers_.system.f(), buffers_.w);
  if (!all_finite(std::span<const double>(buffers_.w))) return -1;
  return move_violators(problem, ridge, buffers_.system.f(), buffers_.w, buffers_.modes);
}

bool BlockSolver::bends() const { return buffers_.system.bend() > kBend * buffers_.problem.scale; }

// The modes are right and the targets not met: what is inconsistent is a stress r within the friction cones that moves nothing,
// Gᵀr = 0, and on which the targets work. (Without friction that proves that there is no solution at all.)
bool BlockSolver::contradicts() {
  if (!has_targets_ || !bends() || buffers_.system.consistent()) return false;
  const PreparedLcp& problem = buffers_.problem;
  std::vector<double>& r = buffers_.f_swept;
  buffers_.system.inconsistent_part(r);
  double work = 0, size = 0, largest = 0, pull = 0, squares = 0;
  for (int i = 0; i < problem.size(); ++i) {
    if (problem.lcp.rows[i].kind == RowKind::bounded) r[i] = 0;
    work -= problem.lcp.b[i] * r[i];
    size += std::abs(problem.lcp.b[i] * r[i]);
    largest = std::max(largest, std::abs(r[i]));
    squares += r[i] * r[i];
    if (problem.lcp.rows[i].kind == RowKind::one_sided) pull = std::max(pull, -r[i]);
  }
  buffers_.system.push(r, buffers_.u.data());
  double motion = 0;
  for (int k = 0; k < graph_.coordinates(); ++k) motion += buffers_.u[k] * buffers_.u[k];
  return work > kContradiction * size && pull <= kContradiction * largest &&
         std::sqrt(motion) <= kContradiction * problem.largest_root * std::sqrt(squares);
}

// The part of row i's target that may contradict others'.
double BlockSolver::doubtful_target(int i) const {
  return lcp_.target.empty() ? 0.0 : internal::doubtful_target(lcp_.rows[i], lcp_.target[i]);
}

// Goes on with the problem without these targets. The velocity scale stays that of the problem as given; at least a quarter of the work is
// there again.
void BlockSolver::drop_targets() {
  PreparedLcp& problem = buffers_.problem;
  buffers_.b_free.assign(lcp_.b.begin(), lcp_.b.end());
  const double nothing = kRoundingOfTargets * problem.scale;
  for (int i = 0; i < lcp_.size(); ++i) {
    double& b = buffers_.b_free[i];
    b += doubtful_target(i);
    if (std::abs(b) <= nothing) b = 0;
  }
  free_ = lcp_;
  free_.b = buffers_.b_free;
  solving_ = &free_;
  problem.prepare(free_.without_matrix(), {lcp_.diagonal.data(), 1}, problem.scale);
  buffers_.system.bind(free_, graph_);
  has_targets_ = false;
  work_ = std::max(work_, 0.25 * std::max(kMostAttempts * attempt_work_, kLeastWork));
}

}  // namespace lithe::internal

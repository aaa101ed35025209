#include "lithe/lcp/direct/direct_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/lcp/modes/active_set.h"
#include "lithe/lcp/modes/tolerances.h"

// The order of the stages. direct_solver_targets.cpp says which problem they are given, direct_solver_answer.cpp what is made of right
// modes.
namespace lithe::internal {

namespace {

// Rounds of the active set, at most; and Lemke's paths, which differ by their covering vectors.
constexpr int kRounds = 12;
constexpr std::uint64_t kPaths = 2;  // each with a hash of its own

}  // namespace

LcpReport DirectSolver::solve(const LcpGuess& guess, std::span<double> f, std::span<double> w,
                              std::span<RowMode> modes) {
  const int n = lcp_.size();
  buffers_.w.resize(n);
  buffers_.modes.resize(n);
  bool solved = solve_with_targets(guess);
  if (solved && !holds_as_given() && !close_by_correction()) {
    implied_share_ = kImpliedByRounding;
    buffers_.problem.prepare(lcp_, buffers_.problem.scale);
    report_.flags = LcpFlag::none;
    solved = solve_with_targets(guess) && holds_as_given();
  }
  if (!solved) {
    write_least_residual(f, w, modes);
    if (has(report_.flags, LcpFlag::unsolved) || !polish_modes(modes)) return report_;
  }
  write_answer(f, w, modes);
  if (!ties_are_settled_) choose_at_ties(f, w, modes);
  const bool changed = has(report_.flags, LcpFlag::targets_dropped) || buffers_.stresses.count() > 0;
  if (changed) evaluate(lcp_, f, w);
  return report_;
}

// The stages in their order, on the problem as it is prepared.
bool DirectSolver::solve_prepared(const LcpGuess& guess) {
  const PreparedLcp& problem = buffers_.problem;
  const bool guessed = !options_.cold && !guess.modes.empty();
  const bool follows = !options_.cold && !guess.impulses.empty();
  const bool tries_guess = guess.steady && !(follows && has_loops() && !is_told_at_once(guess));
  contradiction_ = false;
  if (guessed && tries_guess && try_guess(guess)) return true;
  if (problem.at_rest() && rest()) return true;
  if (follows) {
    switch (follow(guess)) {
      case FollowStage::Outcome::solved: return true;
      case FollowStage::Outcome::contradiction: contradiction_ = true; return false;
      case FollowStage::Outcome::modes:
        // Without motors these have been looked at.
        if (try_whole_guess(buffers_.follow.modes(), kRidgeLevels[0])) return true;
        buffers_.modes = buffers_.after_guess;
        break;
      case FollowStage::Outcome::failed:
        if (guessed && !tries_guess && try_guess(guess)) return true;
        take_first_modes(guessed);
        break;
    }
    if (run_continuation(true, 1)) return true;
  } else if (!options_.cold) {
    take_first_modes(guessed);
    if (run_continuation(true, 1)) return true;
  }
  // What the guess, or one path, leads to may be a dead end: a mode of contradictory rows, or a breakdown in rounding.
  for (std::uint64_t seed = 1; seed <= kPaths; ++seed) {
    if (run_continuation(false, seed)) return true;
  }
  return false;
}

// Whether one factorisation of all rows is likely to verify the guess: nothing slides, and the first ridge had found it. Otherwise, where
// there are loops, `follow` verifies the guess first, and takes less time for it.
bool DirectSolver::is_told_at_once(const LcpGuess& guess) const {
  if (guess.ridge < 0.5 * kRidgeLevels[0]) return false;
  for (int i = 0; i < lcp_.size(); ++i) {
    if (lcp_.rows[i].kind == RowKind::friction && is_at_bound(guess.modes[i])) return false;
  }
  return true;
}

// The modes from which the active set begins: the guess with its violators moved or, without a guess, the first modes.
void DirectSolver::take_first_modes(bool guessed) {
  if (guessed) {
    buffers_.modes = buffers_.after_guess;
  } else {
    buffers_.problem.first_modes(buffers_.modes);
  }
}

// The stage `follow`, with the first modes in the place of a guess where only impulses are given; takes its answer over.
FollowStage::Outcome DirectSolver::follow(const LcpGuess& guess) {
  const PreparedLcp& problem = buffers_.problem;
  LcpGuess start = guess;
  if (guess.modes.empty()) {
    buffers_.first_guess.resize(problem.size());
    problem.first_modes(buffers_.first_guess);
    start = LcpGuess(buffers_.first_guess, guess.impulses, false);
  }
  FollowStage& stage = buffers_.follow;
  const std::span<const double> b_free =
      has_targets_ ? std::span<const double>(buffers_.b_free) : std::span<const double>();
  const auto outcome = stage.run(problem, buffers_.stresses, start, b_free);
  report_.events += stage.events();
  report_.factorizations += stage.inversions();
  if (outcome == FollowStage::Outcome::solved) {
    report_.stage = stage.took_guess() ? LcpStage::guess : LcpStage::follow;
    ties_are_settled_ = true;
    report_.ridge = stage.epsilon();
    report_.residual = stage.residual();
    if (!stage.is_polished()) report_.flags = report_.flags | LcpFlag::unpolished;
    report_.tied_rows = stage.tied_rows();
    if (stage.has_kinks()) report_.flags = report_.flags | LcpFlag::tied;
    report_.rank = -1;
    buffers_.modes.assign(stage.modes().begin(), stage.modes().end());
    report_.clamping_rows =
        static_cast<int>(std::count(buffers_.modes.begin(), buffers_.modes.end(), RowMode::clamping));
    f_ = stage.f();
    w_ = stage.w();
  }
  return outcome;
}

// Without loops, modes that a smaller ridge had found are verified with it: with the first one some would be wrong by next to nothing.
double DirectSolver::first_level(const LcpGuess& guess) const {
  if (has_loops() || !(guess.ridge > 0)) return kRidgeLevels[0];
  for (const double epsilon : kRidgeLevels) {
    if (epsilon <= 2 * guess.ridge) return epsilon;
  }
  return kRidgeLevels[0];
}

// The stage `guess`: the modes as they are, verified without the rows of motors if that tells enough, else with all rows.
bool DirectSolver::try_guess(const LcpGuess& guess) {
  const PreparedLcp& problem = buffers_.problem;
  ReducedGuess& reduced = buffers_.reduced_guess;
  buffers_.modes.assign(guess.modes.begin(), guess.modes.end());
  problem.make_consistent(buffers_.modes);
  const double ridge = first_level(guess);
  const auto outcome = reduced.run(problem, buffers_.stresses, buffers_.modes, ridge * problem.mean_diagonal);
  report_.factorizations += reduced.factorizations();
  if (outcome == ReducedGuess::Outcome::unsure) return try_whole_guess(guess.modes, ridge);
  report_.stage = LcpStage::guess;
  report_.ridge = ridge;
  if (outcome == ReducedGuess::Outcome::wrong) {
    buffers_.after_guess.assign(reduced.moved().begin(), reduced.moved().end());
    return false;
  }
  ties_are_settled_ = true;
  report_.tied_rows = reduced.tied().count();
  if (!reduced.tied().kinks().empty()) report_.flags = report_.flags | LcpFlag::tied;
  report_.rank = reduced.rank();
  report_.clamping_rows = reduced.clamping_rows();
  report_.residual = reduced.residual();
  f_ = reduced.f();
  w_ = reduced.w();
  return true;
}

// Verifies modes with all rows: with the given ridge, and with smaller ones while the ridge bends the equations too much.
bool DirectSolver::try_whole_guess(std::span<const RowMode> guess, double first_ridge) {
  report_.stage = LcpStage::guess;
  const auto is_right = [&](double epsilon) {
    buffers_.modes.assign(guess.begin(), guess.end());
    buffers_.problem.make_consistent(buffers_.modes);
    return attempt(epsilon) == 0;
  };
  double right_at = 0;
  for (const double epsilon : kRidgeLevels) {
    if (epsilon > first_ridge) continue;
    const bool right = is_right(epsilon);
    if (right && (take_polished() || take_almost_polished())) return true;
    if (epsilon == first_ridge) buffers_.after_guess = buffers_.modes;
    if (!bends()) return right && (take_at_bounds() || take_best());
    if (right) right_at = epsilon;
  }
  return right_at != 0 && is_right(right_at) && !take_polished() && take_best();
}

// Called after write_least_residual() has found a solution all the same. Whether its modes are right; if not, the report stays as it was.
bool DirectSolver::polish_modes(std::span<const RowMode> modes) {
  const LcpReport before = report_;
  report_.flags = LcpFlag::none;
  if (try_whole_guess(modes, kRidgeLevels[0]) && !has(report_.flags, LcpFlag::unpolished)) return true;
  report_ = before;
  return false;
}

// The stage `none`: tries f = 0, with bounded rows that have a bound at zero at that bound.
bool DirectSolver::rest() {
  const PreparedLcp& problem = buffers_.problem;
  report_.stage = LcpStage::none;
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    RowMode& c = buffers_.modes[i];
    c = RowMode::separating;
    if (row.kind != RowKind::bounded) continue;
    if (row.lower == 0 && problem.lcp.b[i] >= 0)
      c = RowMode::at_lower;
    else if (row.upper == 0)
      c = RowMode::at_upper;
  }
  problem.make_consistent(buffers_.modes);
  return attempt(kRidgeLevels[0]) == 0 && (take_polished() || take_best());
}

// Right modes for smaller and smaller ridges, until their polished impulses are a solution, the ridge no longer bends
// too much, or none are found.
bool DirectSolver::run_continuation(bool warm, std::uint64_t seed) {
  report_.stage = LcpStage::active_set;
  double right_at = 0;
  for (const double epsilon : kRidgeLevels) {
    if (!find_modes(epsilon, warm || right_at > 0, seed)) break;
    if (take_polished() || take_almost_polished()) return true;
    if (!bends()) return take_at_bounds() || take_best();
    right_at = epsilon;
    buffers_.right = buffers_.modes;
  }
  if (right_at == 0) return false;
  buffers_.modes = buffers_.right;
  attempt(right_at);
  return take_polished() || take_best();
}

// Right modes for this ridge: by rounds from the present ones if these are worth it (`warm`), else by Lemke's path and rounds from its end.
bool DirectSolver::find_modes(double epsilon, bool warm, std::uint64_t seed) {
  const PreparedLcp& problem = buffers_.problem;
  if (warm && settle(epsilon)) return true;
  report_.stage = LcpStage::path;
  const auto result = buffers_.path.follow(problem, epsilon * problem.mean_diagonal, seed, buffers_.modes);
  report_.pivots += buffers_.path.pivots();
  if (result != LemkePath::Result::found) return false;
  problem.make_consistent(buffers_.modes);
  return settle(epsilon);
}

// Rounds of the active set from the present modes, as long as violators get fewer. Then no modes come twice.
bool DirectSolver::settle(double epsilon) {
  int before = std::numeric_limits<int>::max();
  for (int round = 0; round < kRounds; ++round) {
    ++report_.rounds;
    const int moved = attempt(epsilon);
    if (moved == 0) return true;
    if (moved >= before) return false;
    before = moved;
  }
  return false;
}

// Solves for the present modes and moves violators; returns how many there were.
int DirectSolver::attempt(double epsilon) {
  const PreparedLcp& problem = buffers_.problem;
  const double ridge = epsilon * problem.mean_diagonal;
  report_.ridge = epsilon;
  ++report_.factorizations;
  buffers_.solution.compute(problem, buffers_.modes, ridge);
  find_velocities(buffers_.solution.f(), buffers_.w);
  return move_violators(problem, ridge, buffers_.solution.f(), buffers_.w, buffers_.modes);
}

// w = A f + b, but for what two-sided rows cannot have together.
void DirectSolver::find_velocities(std::span<const double> f, std::span<double> w) const {
  evaluate(buffers_.problem.lcp, f, w);
  buffers_.stresses.remove_from(w);
}

bool DirectSolver::bends() const { return buffers_.solution.bend() > kBend * buffers_.problem.scale; }

}  // namespace lithe::internal

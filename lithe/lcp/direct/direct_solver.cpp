#include "lithe/lcp/direct/direct_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/lcp/modes/active_set.h"
#include "lithe/lcp/modes/tolerances.h"
#include "lithe/lcp/sweeps/gauss_seidel.h"

namespace lithe::internal {

namespace {

constexpr double kRefine = 1e-13;  // of s
constexpr int kMostRefinements = 20;
constexpr double kHarmless = 1e3;  // of s, as A_ii f_i, where nothing was solved
constexpr int kSweeps = 500;       // of Gauss–Seidel, there
constexpr int kRounds = 12;
constexpr std::uint64_t kPaths = 2;  // each with a hash of its own

// The modes that f suggests.
void classify(const BoxedLcp& lcp, std::span<const double> f, std::span<RowMode> modes) {
  for (int i = 0; i < lcp.size(); ++i) {
    const RowBounds bounds = bounds_of(lcp.rows[i], f);
    modes[i] = f[i] <= bounds.lower ? RowMode::at_lower : f[i] >= bounds.upper ? RowMode::at_upper : RowMode::clamping;
  }
}

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

// Whether one factorisation of all rows is likely to verify the guess: nothing slides, and the first ridge had found it. Else, in loops, `follow`
// takes less time for it, and begins with it.
bool DirectSolver::is_told_at_once(const LcpGuess& guess) const {
  if (guess.ridge < 0.5 * kRidgeLevels[0]) return false;
  for (int i = 0; i < lcp_.size(); ++i) {
    if (lcp_.rows[i].kind == RowKind::friction && is_at_bound(guess.modes[i])) return false;
  }
  return true;
}

// Where the active set begins: at the guess with its violators moved, or at none.
void DirectSolver::take_first_modes(bool guessed) {
  if (guessed) {
    buffers_.modes = buffers_.after_guess;
  } else {
    buffers_.problem.first_modes(buffers_.modes);
  }
}

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

// The modes as they are: without the rows of motors, if that tells enough.
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

// After take_polished() has failed. The ridge lets clamping rows creep, and so it holds some that slide more slowly than that, as a joint that dry
// friction brings to rest: their polished impulses are beyond their bounds by next to nothing. Takes the modes with these at their
// bounds, if a smaller ridge calls them right; else all stays as it was.
bool DirectSolver::take_at_bounds() {
  const PreparedLcp& problem = buffers_.problem;
  if (has_loops() || !std::isfinite(report_.residual) || report_.ridge < 0.5 * kRidgeLevels[0]) return false;
  const LcpReport before = report_;
  std::vector<RowMode>& modes = buffers_.modes;
  buffers_.right = modes;
  bool any = false;
  for (int i = 0; i < problem.size(); ++i) {
    if (modes[i] != RowMode::clamping || problem.lcp.rows[i].kind == RowKind::one_sided) continue;
    const RowBounds bounds = bounds_of(problem.lcp.rows[i], f_);
    if (f_[i] >= bounds.lower && f_[i] <= bounds.upper) continue;
    modes[i] = f_[i] > bounds.upper ? RowMode::at_upper : RowMode::at_lower;
    any = true;
  }
  if (!any) return false;
  if (attempt(kRidgeLevels[1]) == 0 && take_polished()) return true;
  const int factorizations = report_.factorizations;
  modes = buffers_.right;
  attempt(before.ridge);
  take_polished();
  report_.factorizations = factorizations + 1;
  return false;
}

// After write_least_residual() has found a solution all the same: whether these modes are right. Else all stays as it was.
bool DirectSolver::polish_modes(std::span<const RowMode> modes) {
  const LcpReport before = report_;
  report_.flags = LcpFlag::none;
  if (try_whole_guess(modes, kRidgeLevels[0]) && !has(report_.flags, LcpFlag::unpolished)) return true;
  report_ = before;
  return false;
}

// f = 0: rows whose bound is zero are at it.
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

// The modes are right, and solution and w belong to them: takes the polished impulses if they are a solution.
bool DirectSolver::take_polished() {
  const PreparedLcp& problem = buffers_.problem;
  RidgeSolution& solution = buffers_.solution;
  report_.rank = solution.factor().rank();
  report_.clamping_rows = solution.factor().size();
  if (solution.is_polished()) {
    f_ = solution.f();
    w_ = buffers_.w;
    report_.residual = largest_violation(problem.lcp, f_, w_) / problem.scale;
    if (report_.residual <= kRefine) return true;
  }
  report_.residual = LcpRow::kInfinity;
  buffers_.f_polished.resize(problem.size());
  buffers_.w_polished.resize(problem.size());
  f_ = buffers_.f_polished;
  w_ = buffers_.w_polished;
  if (solution.polish(problem, buffers_.modes, buffers_.f_polished) && refine(&RidgeSolution::refine)) return true;
  if (!solution.solved_ridge_system()) return false;
  std::copy(solution.f().begin(), solution.f().end(), buffers_.f_polished.begin());
  if (!refine(&RidgeSolution::refine_by_ridge)) return false;
  // Without a group inverse these impulses depend on the ridge: refinement that stops short of rounding shows it.
  const bool depends_on_ridge = !solution.factor().has_group_inverse() && report_.residual > kRefine;
  if (depends_on_ridge) report_.flags = report_.flags | LcpFlag::unpolished;
  return true;
}

// Improves the polished impulses as long as that helps.
bool DirectSolver::refine(Refinement improve) {
  const PreparedLcp& problem = buffers_.problem;
  std::vector<double>&f = buffers_.f_polished, &w = buffers_.w_polished;
  report_.residual = LcpRow::kInfinity;
  for (int round = 0; round <= kMostRefinements; ++round) {
    find_velocities(f, w);
    const double now = largest_violation(problem.lcp, f, w) / problem.scale;
    if (!(now < 0.5 * report_.residual) && round > 0) {
      f = buffers_.f_candidate;
      find_velocities(f, w);
      break;
    }
    report_.residual = now;
    if (now <= kRefine || round == kMostRefinements) break;
    buffers_.f_candidate = f;
    (buffers_.solution.*improve)(problem, buffers_.modes, w, f);
  }
  return report_.residual <= kPolishedResidual;
}

// After take_polished() has failed: takes them all the same in loops, where a smaller ridge is not worth its while.
bool DirectSolver::take_almost_polished() {
  if (!has_loops() || !(report_.residual <= kAlmostPolished)) return false;
  report_.flags = report_.flags | LcpFlag::unpolished;
  return true;
}

// After take_polished() has failed: takes the ridge's impulses or the polished ones, which are better, if that is good
// enough.
bool DirectSolver::take_best() {
  const PreparedLcp& problem = buffers_.problem;
  const bool polished = std::isfinite(report_.residual);
  bool good = false;
  if (bends() && has_targets_) {
    // Rounding may not allow for better. An inconsistency that the ridge turns into huge impulses is another matter, and
    // without targets there will be none.
    const double floor = polished ? problem.rounding(f_) * problem.largest_root / problem.scale : 0.0;
    good = report_.residual <= std::min(kUnpolishedResidual, floor);
  } else {
    const double bent = largest_violation(problem.lcp, buffers_.solution.f(), buffers_.w) / problem.scale;
    if (bent < report_.residual) {
      f_ = buffers_.solution.f();
      w_ = buffers_.w;
      report_.residual = bent;
    }
    good = report_.residual <= kUnpolishedResidual;
  }
  if (good) {
    report_.flags = report_.flags | LcpFlag::unpolished;
  } else if (polished) {
    remember(f_);
  }
  return good;
}

// A tied normal that clamps separates, and its friction rows with it, if these modes are right as well.
void DirectSolver::choose_at_ties(std::span<double> f, std::span<double> w, std::span<RowMode> modes) {
  const PreparedLcp& problem = buffers_.problem;
  buffers_.tied.find(problem, modes, buffers_.solution.factor(), f, w);
  report_.tied_rows = buffers_.tied.count();
  if (buffers_.tied.kinks().empty()) return;
  report_.flags = report_.flags | LcpFlag::tied;

  bool any = false;
  for (const int i : buffers_.tied.kinks()) {
    if (problem.lcp.rows[i].kind != RowKind::one_sided || modes[i] != RowMode::clamping) continue;
    buffers_.modes[i] = RowMode::separating;
    any = true;
  }
  if (!any) return;
  problem.make_consistent(buffers_.modes);
  const LcpReport before = report_;
  if (attempt(report_.ridge) == 0 && take_polished()) {
    write_answer(f, w, modes);
  } else {
    report_ = before;
  }
}

void DirectSolver::write_answer(std::span<double> f, std::span<double> w, std::span<RowMode> modes) const {
  std::copy(f_.begin(), f_.end(), f.begin());
  std::copy(w_.begin(), w_.end(), w.begin());
  std::copy(buffers_.modes.begin(), buffers_.modes.end(), modes.begin());
}

// Keeps f, moved into its bounds, if none was better so far. Impulses out of all proportion are harmful whatever their
// residual is.
void DirectSolver::remember(std::span<const double> f) {
  const PreparedLcp& problem = buffers_.problem;
  std::vector<double>&candidate = buffers_.f_candidate, &w = buffers_.w_candidate;
  candidate.assign(f.begin(), f.end());
  w.resize(f.size());
  clamp_to_bounds(lcp_, candidate);
  evaluate(lcp_, candidate, w);
  const double r = residual(lcp_, candidate, w);
  double largest = 0;
  for (int i = 0; i < problem.size(); ++i) largest = std::max(largest, problem.diagonal[i] * std::abs(candidate[i]));
  if (!(r < best_residual_) || largest > kHarmless * problem.scale) return;
  best_residual_ = r;
  buffers_.f_best = candidate;
}

// The least residual of all impulses tried, of f = 0 and of Gauss–Seidel's. It may even be a solution.
void DirectSolver::write_least_residual(std::span<double> f, std::span<double> w, std::span<RowMode> modes) {
  buffers_.problem.prepare(lcp_);
  report_.rank = -1;
  std::fill(f.begin(), f.end(), 0.0);
  if (buffers_.problem.finite) {
    remember(f);
    LcpOptions options = options_;
    options.sweeps = std::min(options.sweeps, kSweeps);
    solve_gauss_seidel(lcp_, options, f, w, modes);
    remember(f);
  }
  if (std::isfinite(best_residual_)) {
    std::copy(buffers_.f_best.begin(), buffers_.f_best.end(), f.begin());
    evaluate(lcp_, f, w);
  } else {
    std::fill(f.begin(), f.end(), 0.0);
    clamp_to_bounds(lcp_, f);
    std::copy(lcp_.b.begin(), lcp_.b.end(), w.begin());
  }
  classify(lcp_, f, modes);
  buffers_.problem.make_consistent(modes);
  report_.clamping_rows = static_cast<int>(std::count(modes.begin(), modes.end(), RowMode::clamping));
  report_.residual = best_residual_;
  const bool solved = best_residual_ <= kUnpolishedResidual;
  report_.flags = solved ? LcpFlag::unpolished : LcpFlag::unsolved;
  if (!solved) report_.stage = LcpStage::unsolved;
}

}  // namespace lithe::internal

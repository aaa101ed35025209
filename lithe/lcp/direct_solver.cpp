#include "lithe/lcp/direct_solver.h"

#include <algorithm>
#include <cmath>

#include "lithe/lcp/active_set.h"

namespace lithe {

namespace {

constexpr double kRungs[] = {1e-9, 1e-11, 1e-13};
constexpr double kBend = 1e-6;        // of s
constexpr double kPolished = 1e-9;    // residual
constexpr double kUnpolished = 1e-5;  // residual
constexpr double kRefine = 1e-13;     // of s
constexpr int kRounds = 12;
constexpr std::uint64_t kPaths = 2;  // each with a hash of its own

std::uint64_t hash(std::span<const RowClass> classes) {
  std::uint64_t h = 0xcbf29ce484222325;  // FNV-1a
  for (const RowClass c : classes) h = (h ^ static_cast<std::uint64_t>(c)) * 0x100000001b3;
  return h;
}

}  // namespace

LcpReport DirectSolver::solve(std::span<const RowClass> guess, std::span<double> f, std::span<double> w,
                              std::span<RowClass> classes) {
  const int n = lcp_.size();
  buffers_.w.resize(n);
  buffers_.classes.resize(n);
  bool solved = buffers_.problem.finite && solve_prepared(guess);
  if (!solved && buffers_.problem.finite && without_targets()) {
    solved = solve_prepared(guess);
    if (solved) {
      report_.flags = report_.flags | LcpFlag::targets_dropped;
      evaluate(lcp_, f_, buffers_.w);
    }
  }
  if (!solved) {
    write_unsolved(f, w, classes);
    return report_;
  }
  std::copy(f_.begin(), f_.end(), f.begin());
  std::copy(w_.begin(), w_.end(), w.begin());
  std::copy(buffers_.classes.begin(), buffers_.classes.end(), classes.begin());
  return report_;
}

bool DirectSolver::solve_prepared(std::span<const RowClass> guess) {
  const PreparedLcp& problem = buffers_.problem;
  const bool guessed = !options_.cold && !guess.empty();
  if (guessed && try_guess(guess)) return true;
  if (problem.at_rest() && rest()) return true;
  if (options_.cold) return climb_ladder(false);
  if (guessed) {
    buffers_.classes.assign(guess.begin(), guess.end());
    problem.make_consistent(buffers_.classes);
  } else {
    problem.first_classes(buffers_.classes);
  }
  // What a guess leads to may be a dead end.
  return climb_ladder(true) || climb_ladder(false);
}

// The classes as they are, on the first rung where the ridge does not bend too much, or else the last where they are
// right.
bool DirectSolver::try_guess(std::span<const RowClass> guess) {
  report_.stage = LcpStage::guess;
  const auto is_right = [&](double epsilon) {
    buffers_.classes.assign(guess.begin(), guess.end());
    buffers_.problem.make_consistent(buffers_.classes);
    return attempt(epsilon) == 0;
  };
  double right_at = 0;
  for (const double epsilon : kRungs) {
    const bool right = is_right(epsilon);
    if (right) right_at = epsilon;
    if (!bends()) return right && finish();
  }
  if (right_at == 0) return false;
  return (right_at == report_.ridge || is_right(right_at)) && finish();
}

// f = 0: rows whose bound is zero are at it.
bool DirectSolver::rest() {
  const PreparedLcp& problem = buffers_.problem;
  report_.stage = LcpStage::none;
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    RowClass& c = buffers_.classes[i];
    c = RowClass::separating;
    if (row.kind != RowKind::bounded) continue;
    if (row.lower == 0 && problem.lcp.b[i] >= 0) c = RowClass::at_lower;
    else if (row.upper == 0) c = RowClass::at_upper;
  }
  problem.make_consistent(buffers_.classes);
  return attempt(kRungs[0]) == 0 && finish();
}

// Right classes for smaller and smaller ridges, until the ridge no longer bends too much or none are found.
bool DirectSolver::climb_ladder(bool warm) {
  report_.stage = LcpStage::active_set;
  double right_at = 0;
  for (const double epsilon : kRungs) {
    if (!find_classes(epsilon, warm || right_at > 0)) break;
    right_at = epsilon;
    buffers_.right = buffers_.classes;
    if (!bends()) return finish();
  }
  if (right_at == 0) return false;
  if (right_at != report_.ridge || buffers_.classes != buffers_.right) {
    buffers_.classes = buffers_.right;
    attempt(right_at);
  }
  return finish();
}

bool DirectSolver::find_classes(double epsilon, bool warm) {
  const PreparedLcp& problem = buffers_.problem;
  if (warm && settle(epsilon)) return true;
  report_.stage = LcpStage::path;
  for (std::uint64_t seed = 1; seed <= kPaths; ++seed) {
    const auto result = buffers_.path.follow(problem, epsilon * problem.mean_diagonal, seed, buffers_.classes);
    report_.pivots += buffers_.path.pivots();
    if (result != ClassPath::Result::found) continue;
    problem.make_consistent(buffers_.classes);
    if (settle(epsilon)) return true;
  }
  return false;
}

// Rounds of the active set from the present classes.
bool DirectSolver::settle(double epsilon) {
  buffers_.seen.clear();
  for (int round = 0; round < kRounds && !seen_before(); ++round) {
    ++report_.rounds;
    if (attempt(epsilon) == 0) return true;
  }
  return false;
}

// Solves for the present classes and moves violators; returns how many there were.
int DirectSolver::attempt(double epsilon) {
  const PreparedLcp& problem = buffers_.problem;
  const double ridge = epsilon * problem.mean_diagonal;
  report_.ridge = epsilon;
  buffers_.solution.compute(problem, buffers_.classes, ridge);
  evaluate(problem.lcp, buffers_.solution.f(), buffers_.w);
  return move_violators(problem, ridge, buffers_.solution.f(), buffers_.w, buffers_.classes);
}

bool DirectSolver::bends() const { return buffers_.solution.bend() > kBend * buffers_.problem.scale; }

bool DirectSolver::seen_before() {
  const std::uint64_t h = hash(buffers_.classes);
  if (std::find(buffers_.seen.begin(), buffers_.seen.end(), h) != buffers_.seen.end()) return true;
  buffers_.seen.push_back(h);
  return false;
}

// The classes are right, and solution and w belong to them: takes the polished impulses, or the ridge's where those are
// better.
bool DirectSolver::finish() {
  const PreparedLcp& problem = buffers_.problem;
  report_.rank = buffers_.solution.factor().rank();
  report_.clamping_rows = buffers_.solution.factor().size();
  const double polished = polish();
  f_ = buffers_.f_polished;
  w_ = buffers_.w_polished;
  report_.residual = polished;
  if (polished <= kPolished) return true;

  // Rounding may not allow for better. An inconsistency that the ridge turned into huge impulses is another matter.
  bool good = polished <= std::min(kUnpolished, problem.rounding(f_) * problem.largest_root / problem.scale);
  if (!bends()) {
    const double bent = residual(problem.lcp, buffers_.solution.f(), buffers_.w);
    if (bent < polished) {
      f_ = buffers_.solution.f();
      w_ = buffers_.w;
      report_.residual = bent;
    }
    good = report_.residual <= kUnpolished;
  }
  if (good) {
    report_.flags = report_.flags | LcpFlag::unpolished;
    return true;
  }
  remember(f_);
  return false;
}

// Writes the polished impulses and velocities and returns their residual.
double DirectSolver::polish() {
  const PreparedLcp& problem = buffers_.problem;
  RidgeSolution& solution = buffers_.solution;
  std::vector<double>&f = buffers_.f_polished, &w = buffers_.w_polished;
  f.resize(problem.size());
  w.resize(problem.size());
  if (!solution.polish(problem, buffers_.classes, f)) return LcpRow::kInfinity;
  if (solution.is_polished()) {
    w = buffers_.w;
  } else {
    evaluate(problem.lcp, f, w);
  }
  double left = 0;
  for (const int i : solution.factor().clamping()) left = std::max(left, std::abs(w[i]));
  if (left > kRefine * problem.scale) {
    solution.refine(problem, buffers_.classes, w, f);
    evaluate(problem.lcp, f, w);
  }
  return residual(problem.lcp, f, w);
}

bool DirectSolver::without_targets() {
  if (lcp_.target.empty()) return false;
  bool any = false;
  buffers_.b_free.assign(lcp_.b.begin(), lcp_.b.end());
  for (int i = 0; i < lcp_.size(); ++i) {
    const RowKind kind = lcp_.rows[i].kind;
    const double d = lcp_.target[i];
    if (!(kind == RowKind::two_sided ? d != 0 : kind == RowKind::one_sided && d > 0)) continue;
    buffers_.b_free[i] += d;
    any = true;
  }
  if (!any) return false;
  BoxedLcp free = lcp_;
  free.b = buffers_.b_free;
  buffers_.problem.prepare(free);
  return true;
}

void DirectSolver::remember(std::span<const double> f) {
  std::vector<double>& best = buffers_.f_best;
  std::vector<double>& w = buffers_.w_polished;
  if (std::isinf(best_residual_)) best.assign(f.size(), 0.0);
  std::vector<double>& candidate = buffers_.f_polished;
  candidate.assign(f.begin(), f.end());
  clamp_to_bounds(lcp_, candidate);
  evaluate(lcp_, candidate, w);
  const double r = residual(lcp_, candidate, w);
  if (r < best_residual_) {
    best_residual_ = r;
    best = candidate;
  }
}

void DirectSolver::write_unsolved(std::span<double> f, std::span<double> w, std::span<RowClass> classes) {
  const PreparedLcp& problem = buffers_.problem;
  report_.stage = LcpStage::unsolved;
  report_.flags = LcpFlag::unsolved;
  std::fill(f.begin(), f.end(), 0.0);
  clamp_to_bounds(lcp_, f);
  evaluate(lcp_, f, w);
  report_.residual = residual(lcp_, f, w);
  if (best_residual_ < report_.residual) {
    std::copy(buffers_.f_best.begin(), buffers_.f_best.end(), f.begin());
    evaluate(lcp_, f, w);
    report_.residual = best_residual_;
  }
  for (double& wi : w) {
    if (!std::isfinite(wi)) wi = 0;
  }
  problem.first_classes(classes);
}

}  // namespace lithe

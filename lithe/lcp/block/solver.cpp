#include "lithe/lcp/block/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/core/check.h"
#include "lithe/lcp/modes/active_set.h"
#include "lithe/lcp/modes/doubtful_target.h"
#include "lithe/lcp/modes/tied_rows.h"
#include "lithe/lcp/modes/tolerances.h"
#include "lithe/lcp/sweeps/gauss_seidel_iteration.h"
#include "lithe/simd/internal/finite.h"

namespace lithe::internal {

namespace {

// As DirectSolver's.
constexpr double kAsGoodAsItGets = 1e-13;     // residual
constexpr double kRoundingOfTargets = 1e-13;  // of s

// The factor's own ε is never less: rounding in S, of 1e-16 of its largest entry, must stay below the ridge where masses differ.
constexpr double kLeastRidge = 1e-11;
constexpr int kMostRounds = 12;
constexpr int kGrace = 2;
constexpr int kRepairGrace = 7;
constexpr int kLeastEventsOfRepair = 20;
constexpr int kMostImprovements = 20;
// Where friction slides A_C# need not exist, and impulses that cannot be polished better than this may depend on the ridge.
constexpr double kSurelyPolished = 1e-10;
// A stress counts as moving nothing, and targets as working on it, by this share.
constexpr double kContradiction = 1e-6;
// Up to so many violators sit in a few spots, which are repaired sooner than a path over the whole island gets there.
constexpr int kFewViolators = 40;
constexpr int kSweepsAheadOfPath[] = {3, 0, 30};
// Ridges from which the first level is approached. With the first one sweeps lead to right modes, since the problem is almost that of each
// row alone; each next one leaves a few dozen violators in a heap of a thousand rows.
constexpr double kSoftRidges[] = {3e-3, 3e-6};
constexpr int kSoftSweeps = 20;
// With more violators than that, a ridge is no way to the next one.
constexpr int kManyViolators = 120;
// Sweeps that suggest modes: from given impulses, and from none.
constexpr int kWarmSweeps = 40;
constexpr int kColdSweeps = 100;
constexpr double kSweepsPerAttempt = 20;  // in work
constexpr int kLastSweeps = 150;
constexpr int kMostTies = 64;  // that are looked at one by one

// Bounds of work: so many attempts, and on small islands as many as so many multiplications allow.
constexpr double kMostAttempts = 40;
constexpr double kLeastWork = 1e7;
// What comes where these are not enough has its own bounds: enough for most heaps, and so little that no island of up to a thousand rows took
// 20 ms where this was measured (bench_step, islands/heap_100 and heap_200). Larger ones need more.
constexpr double kAttemptsOfApproach = 70;
constexpr double kAttemptsOfPaths = 60;
constexpr double kLeastWorkOfPaths = 3.5e7;
constexpr double kRowsOfThese = 1000;
constexpr double kWorkOfEvent = 0.3;  // of an attempt
constexpr int kAttemptsAfterPath = 4;

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
  double numbers = 0;
  for (const RowGroup& group : lcp.groups) numbers += static_cast<double>(group.row_count) * lcp.width(group);
  attempt_work_ = 4 * graph_.flops() + 40 * numbers;
  work_ = std::max(kMostAttempts * attempt_work_, kLeastWork);
  const double size = std::max(1.0, static_cast<double>(n) / kRowsOfThese);
  approach_work_ = kAttemptsOfApproach * size * size * attempt_work_;
  path_work_ = std::max(kAttemptsOfPaths * size * size * attempt_work_, kLeastWorkOfPaths);
}

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

// f = 0: rows whose bound is zero are at it.
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
  buffers_.modes = buffers_.right;
  return attempt(right_at) >= 0 && (take_polished() || take_best());
}

// From the present modes. A few violators are repaired sooner than anything else gets there.
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

// By way of larger ridges. Redundant rows, as the corners of a box on a box, are what makes modes hard to find: impulses shift among them at
// no cost, and sweeps leave them anywhere. A large ridge makes that a cost, and its modes are close to those of the next one.
bool BlockSolver::approach(double epsilon) {
  if (approached_) return false;
  approached_ = true;
  std::swap(work_, approach_work_);
  bool found = settle_softly(kSoftRidges[0]);
  for (const double next : {kSoftRidges[1], epsilon}) {
    if (!found) break;
    buffers_.modes = buffers_.tried;
    fewest_ = std::numeric_limits<int>::max();
    found = settle(next) || repair_few(next);
  }
  std::swap(work_, approach_work_);
  right_at_once_ = false;
  return found;
}

// Rounds in which sweeps suggest the modes, each from the impulses of the round before.
bool BlockSolver::settle_softly(double epsilon) {
  start_sweeps();
  fewest_ = std::numeric_limits<int>::max();
  for (int grace = kGrace; grace > 0 && work_ > 0; --grace) {
    suggest_modes(epsilon, kSoftSweeps);
    ++report_.rounds;
    const int moved = attempt(epsilon);
    if (moved < 0) return false;
    if (moved == 0) return true;
    if (moved < fewest_) {
      fewest_ = moved;
      buffers_.best = buffers_.tried;
      grace = kGrace + 1;
    }
    std::ranges::copy(buffers_.system.f(), buffers_.f_swept.begin());
  }
  return repair_few(epsilon);
}

bool BlockSolver::repair_few(double epsilon) { return fewest_ <= kManyViolators && repair(epsilon); }

// From what a few sweeps make of the given impulses, which saves a third of the events; where that leads nowhere, from the impulses as they were, then
// from what more sweeps make of them.
bool BlockSolver::follow(double epsilon) {
  if (followed_ || impulses_.empty()) return false;
  followed_ = true;
  const PreparedLcp& problem = buffers_.problem;
  const double ridge = std::max(epsilon, kLeastRidge) * problem.mean_diagonal;
  const double event_work = kWorkOfEvent * attempt_work_;
  for (const int sweeps : kSweepsAheadOfPath) {
    if (!(path_work_ > 0)) return false;
    std::ranges::copy(impulses_, buffers_.f_swept.begin());
    if (sweeps > 0) sweep(0, buffers_.f_swept, sweeps);
    const double longest = std::min<double>(problem.size() + 50, path_work_ / event_work);
    const bool arrived =
        buffers_.path.follow(problem, ridge, buffers_.f_swept, static_cast<int>(longest), buffers_.system);
    report_.events += buffers_.path.events();
    path_work_ -= (buffers_.path.events() + 1) * event_work;
    if (!arrived) continue;
    report_.stage = LcpStage::follow;
    work_ = std::max(work_, kAttemptsAfterPath * attempt_work_);
    std::ranges::copy(buffers_.path.modes(), buffers_.modes.begin());
    const bool settled = settle(epsilon);
    right_at_once_ = false;  // this was no guess
    if (settled) return true;
  }
  return false;
}

// From the best modes seen: pivots on the rows in dispute, until none is.
bool BlockSolver::repair(double epsilon) {
  const PreparedLcp& problem = buffers_.problem;
  report_.stage = LcpStage::path;
  std::vector<RowMode>& base = buffers_.right;
  base = buffers_.best;
  buffers_.repair.start(*solving_);
  int fewest = std::numeric_limits<int>::max();
  int grace = kRepairGrace;
  while (work_ > 0) {
    buffers_.modes = base;
    const int moved = attempt(epsilon);
    if (moved <= 0) return moved == 0;
    if (moved < fewest) {
      fewest = moved;
      grace = kRepairGrace;
    } else if (--grace == 0) {
      return false;
    }
    buffers_.repair.join(problem, base, buffers_.modes);
    const int clusters = buffers_.repair.find_clusters();
    bool any = false;
    for (int c = 0; c < clusters && work_ > 0; ++c) {
      const double ridge = std::max(epsilon, kLeastRidge) * problem.mean_diagonal;
      const double event_work = buffers_.repair.work_per_event(c);
      const int events = kLeastEventsOfRepair + static_cast<int>(std::min(work_ / event_work, 1e6));
      any = buffers_.repair.resolve(c, ridge, events, buffers_.system, base) || any;
      report_.pivots += buffers_.repair.events();
      work_ -= (0.5 + buffers_.repair.rows_in(c) / 16.0) * attempt_work_ + buffers_.repair.events() * event_work;
    }
    if (!any) return false;
    problem.make_consistent(base);
  }
  return false;
}

// Rounds of the active set. A hash of the modes sees cycles.
bool BlockSolver::settle(double epsilon) {
  int fewest = std::numeric_limits<int>::max();
  int grace = kGrace;
  buffers_.seen.clear();
  for (int round = 0; round < kMostRounds && work_ > 0; ++round) {
    if (!is_new(buffers_.modes)) return false;
    ++report_.rounds;
    const int moved = attempt(epsilon);
    if (moved < 0) return false;
    right_at_once_ = round == 0;
    if (moved == 0) return true;
    if (moved < fewest_) {
      fewest_ = moved;
      buffers_.best = buffers_.tried;
    }
    if (moved < fewest) {
      fewest = moved;
      grace = kGrace;
    } else if (--grace == 0) {
      return false;
    }
  }
  return false;
}

bool BlockSolver::is_new(std::span<const RowMode> modes) {
  std::uint64_t hash = 1469598103934665603ull;  // FNV-1a
  for (const RowMode c : modes) hash = (hash ^ static_cast<std::uint64_t>(c)) * 1099511628211ull;
  if (std::find(buffers_.seen.begin(), buffers_.seen.end(), hash) != buffers_.seen.end()) return false;
  buffers_.seen.push_back(hash);
  return true;
}

// Solves for the present modes and moves violators; returns how many there were, or −1 where the equations are singular.
int BlockSolver::attempt(double epsilon) {
  const PreparedLcp& problem = buffers_.problem;
  const double ridge = epsilon * problem.mean_diagonal;
  work_ -= attempt_work_;
  report_.ridge = epsilon;
  buffers_.tried = buffers_.modes;
  if (!buffers_.system.factorize(buffers_.tried, std::max(epsilon, kLeastRidge) * problem.mean_diagonal)) return -1;
  buffers_.system.solve(ridge, problem.scale);
  buffers_.system.evaluate(buffers_.system.f(), buffers_.w);
  if (!all_finite(std::span<const double>(buffers_.w))) return -1;
  return move_violators(problem, ridge, buffers_.system.f(), buffers_.w, buffers_.modes);
}

bool BlockSolver::bends() const { return buffers_.system.bend() > kBend * buffers_.problem.scale; }

// The modes are right: takes the polished impulses if they are a solution.
bool BlockSolver::take_polished() {
  const PreparedLcp& problem = buffers_.problem;
  BlockModeSystem& system = buffers_.system;
  std::vector<double>&f = buffers_.f_polished, &w = buffers_.w_polished;
  report_.rank = -1;
  report_.clamping_rows = system.clamping_rows();
  report_.residual = LcpRow::kInfinity;
  f_ = f;
  w_ = w;
  if (system.is_plain()) {  // the ridge's impulses are where it starts, and their velocities are known
    std::ranges::copy(system.f(), f.begin());
    w = buffers_.w;
  } else {
    system.start_polish(f);
    system.evaluate(f, w);
  }
  for (int round = 0; round <= kMostImprovements; ++round) {
    if (round > 0) system.evaluate(f, w);
    const double now = largest_violation(problem.lcp.rows, {problem.diagonal.data(), 1}, f, w) / problem.scale;
    const bool by_velocities = round > 1 || (round == 1 && !system.is_plain());
    if (by_velocities && !(now < 0.5 * report_.residual)) {
      if (now < report_.residual) {
        report_.residual = now;
      } else {
        f = buffers_.f_before;
        system.evaluate(f, w);
      }
      break;
    }
    report_.residual = now;
    if (now <= kAsGoodAsItGets || round == kMostImprovements) break;
    buffers_.f_before = f;
    if (round == 0 && system.is_plain()) {
      system.improve_plain_polish(f);
    } else {
      system.improve_polish(w, f);
    }
    work_ -= 0.1 * attempt_work_;
  }
  if (report_.residual > kPolishedResidual) return false;
  if (!system.symmetric() && report_.residual > kSurelyPolished) report_.flags = report_.flags | LcpFlag::unpolished;
  return true;
}

// After take_polished() has failed: takes the ridge's impulses or the polished ones, which are better, if that is good enough.
bool BlockSolver::take_best() {
  const PreparedLcp& problem = buffers_.problem;
  double enough = kUnpolishedResidual;
  if (bends() && has_targets_) {
    // Rounding may not allow for better. An inconsistency that the ridge turns into huge impulses is another matter.
    const double floor = problem.rounding(f_) * problem.largest_root / problem.scale;
    enough = std::min(enough, floor);
  } else {
    const double bent =
        largest_violation(problem.lcp.rows, {problem.diagonal.data(), 1}, buffers_.system.f(), buffers_.w) /
        problem.scale;
    if (bent < report_.residual) {
      f_ = buffers_.system.f();
      w_ = buffers_.w;
      report_.residual = bent;
    }
  }
  if (!(report_.residual <= enough)) return false;
  report_.flags = report_.flags | LcpFlag::unpolished;
  return true;
}

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

// Projected Gauss–Seidel with the ridge ε, from f on.
void BlockSolver::sweep(double epsilon, std::span<double> f, int sweeps) {
  const PreparedLcp& problem = buffers_.problem;
  const double ridge = epsilon * problem.mean_diagonal;
  clamp_to_bounds(problem.lcp.rows, f);
  buffers_.system.push(f, buffers_.u.data());
  const double inert = kInertShare * problem.largest_root * problem.largest_root;
  const double still = gauss_seidel::kStop * problem.scale;
  for (int k = 0; k < sweeps; ++k) {
    if (buffers_.system.sweep(ridge, inert, f, buffers_.u.data()) <= still) break;
  }
  clamp_to_bounds(problem.lcp.rows, f);
  for (double& fi : f) {
    if (!std::isfinite(fi)) fi = 0;
  }
}

// From the given impulses, if there are any.
void BlockSolver::start_sweeps() {
  std::fill(buffers_.f_swept.begin(), buffers_.f_swept.end(), 0.0);
  std::ranges::copy(impulses_, buffers_.f_swept.begin());
}

// The modes that sweeps lead to.
void BlockSolver::suggest_modes(double epsilon, int sweeps) {
  const PreparedLcp& problem = buffers_.problem;
  const double ridge = epsilon * problem.mean_diagonal;
  sweep(epsilon, buffers_.f_swept, sweeps);
  buffers_.system.evaluate(buffers_.f_swept, buffers_.w_swept);
  for (int i = 0; i < problem.size(); ++i) {
    buffers_.w_swept[i] += ridge * buffers_.f_swept[i];
    buffers_.modes[i] = gauss_seidel::mode_at(problem.lcp.rows[i], i, buffers_.f_swept, buffers_.w_swept);
  }
  problem.make_consistent(buffers_.modes);
  work_ -= sweeps / kSweepsPerAttempt * attempt_work_;
}

// The same without a ridge, from the given impulses.
void BlockSolver::sweep_given() {
  swept_ = true;
  start_sweeps();
  suggest_modes(0, impulses_.empty() ? kColdSweeps : kWarmSweeps);
}

// What implies a row are the rows that clamp for certain: where these leave it nothing to move, ε̄ g_i S⁻¹ g_i is of the ridge's size.
bool BlockSolver::is_implied(int row) {
  buffers_.system.respond(row, buffers_.u.data());
  return buffers_.system.form(row, buffers_.u.data()) <= TiedRows::kImplied * buffers_.problem.diagonal[row];
}

// As TiedRows and DirectSolver do: a tied normal that clamps separates, if these modes are right as well.
void BlockSolver::find_ties(std::span<double> f, std::span<double> w, std::span<RowMode> modes) {
  const PreparedLcp& problem = buffers_.problem;
  std::vector<int>& tied = buffers_.tied;
  tied.clear();
  for (int i = 0; i < problem.size(); ++i) {
    if (is_tied(problem, i, f, w)) tied.push_back(i);
  }
  report_.tied_rows = static_cast<int>(tied.size());
  if (tied.empty()) return;
  if (tied.size() > kMostTies) {  // so many are not looked at
    report_.flags = report_.flags | LcpFlag::tied;
    return;
  }
  std::vector<RowMode>& certain = buffers_.right;
  certain.assign(modes.begin(), modes.end());
  for (const int i : tied) certain[i] = RowMode::separating;
  for (int i = 0; i < problem.size(); ++i) {
    if (problem.lcp.rows[i].kind == RowKind::friction && certain[i] != RowMode::clamping) {
      certain[i] = RowMode::separating;
    }
  }
  // Mostly the other rows of the same two bodies imply it, as the corners of a brick do; the whole island is asked where they do not.
  std::erase_if(tied, [&](int i) { return buffers_.system.implied_by_group(i, certain, TiedRows::kImplied); });
  if (tied.empty()) return;
  if (buffers_.system.factorize(certain, kLeastRidge * problem.mean_diagonal)) {
    std::erase_if(tied, [&](int i) { return is_implied(i); });
  }
  if (tied.empty()) return;
  report_.flags = report_.flags | LcpFlag::tied;

  buffers_.modes.assign(modes.begin(), modes.end());
  bool any = false;
  for (const int i : tied) {
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

void BlockSolver::write_answer(std::span<double> f, std::span<double> w, std::span<RowMode> modes) const {
  std::copy(f_.begin(), f_.end(), f.begin());
  std::copy(w_.begin(), w_.end(), w.begin());
  std::copy(buffers_.tried.begin(), buffers_.tried.end(), modes.begin());
}

double BlockSolver::doubtful_target(int i) const {
  return lcp_.target.empty() ? 0.0 : internal::doubtful_target(lcp_.rows[i], lcp_.target[i]);
}

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

// Sweeps over the problem as it was given, from the last step's impulses if there are any.
void BlockSolver::write_least_residual(std::span<double> f, std::span<double> w, std::span<RowMode> modes) {
  PreparedLcp& problem = buffers_.problem;
  problem.prepare(lcp_.without_matrix(), {lcp_.diagonal.data(), 1});
  buffers_.system.bind(lcp_, graph_);
  std::fill(f.begin(), f.end(), 0.0);
  std::ranges::copy(impulses_, f.begin());
  if (problem.finite) sweep(0, f, std::min(options_.sweeps, kLastSweeps));
  clamp_to_bounds(lcp_.rows, f);
  buffers_.system.evaluate(f, w);
  report_.residual = residual(lcp_.rows, {lcp_.diagonal.data(), 1}, lcp_.b, f, w);
  for (double& wi : w) {
    if (!std::isfinite(wi)) wi = 0;  // nothing is known
  }
  for (int i = 0; i < lcp_.size(); ++i) modes[i] = gauss_seidel::mode_at(lcp_.rows[i], i, f, w);
  problem.make_consistent(modes);
  report_.rank = -1;
  report_.clamping_rows = static_cast<int>(std::count(modes.begin(), modes.end(), RowMode::clamping));
  const bool solved = report_.residual <= kUnpolishedResidual;
  report_.flags = solved ? LcpFlag::unpolished : LcpFlag::unsolved;
  report_.stage = solved ? LcpStage::gauss_seidel : LcpStage::unsolved;
}

}  // namespace lithe::internal

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/lcp/block/solver.h"
#include "lithe/lcp/sweeps/gauss_seidel_iteration.h"

// The stages that look for right modes: rounds of the active set, the approach by larger ridges, paths from the last impulses, repair of a
// few rows, and the sweeps that suggest modes.
namespace lithe::internal {

namespace {

// Rounds of the active set, at most, and how many in a row without fewer violators end them.
constexpr int kMostRounds = 12;
constexpr int kGrace = 2;
// The same number for repair; and events that each path of it may take, however little work is left.
constexpr int kRepairGrace = 7;
constexpr int kLeastEventsOfRepair = 20;

// Sweeps before the first, the second and the third path.
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

// A path is paid for by its events; where one arrives, what follows may take so many attempts whatever is left.
constexpr double kWorkOfEvent = 0.3;  // of an attempt
constexpr int kAttemptsAfterPath = 4;

}  // namespace

// By way of larger ridges. Redundant rows, as the corners of a box on a box, are what makes modes hard to find: impulses shift among them
// at no cost, and sweeps leave them anywhere. A large ridge makes that a cost, and its modes are close to those of the next one.
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

// Repair as a part of the approach, where that is likely to end.
bool BlockSolver::repair_few(double epsilon) { return fewest_ <= kManyViolators && repair(epsilon); }

// From what a few sweeps make of the given impulses, which saves a third of the events; where that leads nowhere, from the impulses as they
// were, then from what more sweeps make of them.
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

// Rounds of the active set: all violators move at once. They end where modes come back, where violators do not get fewer, or without work.
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

// Whether these rounds have not tried the modes before, by a hash.
bool BlockSolver::is_new(std::span<const RowMode> modes) {
  std::uint64_t hash = 1469598103934665603ull;  // FNV-1a
  for (const RowMode c : modes) hash = (hash ^ static_cast<std::uint64_t>(c)) * 1099511628211ull;
  if (std::find(buffers_.seen.begin(), buffers_.seen.end(), hash) != buffers_.seen.end()) return false;
  buffers_.seen.push_back(hash);
  return true;
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

// The modes that sweeps over the ridge problem lead to, from f_swept.
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

// The modes that sweeps without a ridge lead to, from the given impulses or, with more sweeps, from none.
void BlockSolver::sweep_given() {
  swept_ = true;
  start_sweeps();
  suggest_modes(0, impulses_.empty() ? kColdSweeps : kWarmSweeps);
}

}  // namespace lithe::internal

#include <algorithm>
#include <cmath>

#include "lithe/lcp/direct/direct_solver.h"
#include "lithe/lcp/modes/doubtful_target.h"
#include "lithe/lcp/modes/tolerances.h"

// Which problem is solved: with the targets that can be met together, and with loops that are closed.
namespace lithe::internal {

namespace {

constexpr double kRounding = 1e-13;    // of s
constexpr int kMostDrops = 3;          // of targets: what contradicts, twice, then all
constexpr double kLoopsApart = 1e-3;   // of s: loops' targets contradict one another by more than drift
constexpr double kStressShare = 1e-6;  // of the largest impulse of a stress, as √A_ii f_i: part of a contradiction

}  // namespace

// With all targets, or with as many as do not contradict one another.
bool DirectSolver::solve_with_targets(const LcpGuess& guess) {
  buffers_.dropped.assign(lcp_.size(), 0);
  ties_are_settled_ = false;
  const bool finite = buffers_.problem.finite;
  has_targets_ = find_targets();
  const bool out_of_reach = finite && has_targets_ && mark_targets_out_of_reach();
  if (out_of_reach) {
    leave_dropped_targets();
  } else if (finite) {
    make_loops_consistent();
  }
  bool solved = finite && solve_prepared(guess);
  if (solved && out_of_reach) report_.flags = report_.flags | LcpFlag::targets_dropped;
  for (int drop = 1; !solved && finite && has_targets_ && drop <= kMostDrops; ++drop) {
    drop_targets(contradiction_ && drop < kMostDrops);
    solved = solve_prepared(guess);
    if (solved) report_.flags = report_.flags | LcpFlag::targets_dropped;
  }
  return solved;
}

// Whether the answer solves the problem with A as given, where loops close to the digits of a file only. The little response that is left
// of an implied row may be much beside rows that move far more than the others.
bool DirectSolver::holds_as_given() {
  const PreparedLcp& problem = buffers_.problem;
  if (problem.lcp.A == lcp_.A) return true;
  BoxedLcp given = problem.lcp;
  given.A = lcp_.A;
  std::vector<double>& w = buffers_.w_candidate;
  w.resize(problem.size());
  evaluate(given, f_, w);
  buffers_.stresses.remove_from(w);
  return largest_violation(given, f_, w) <= kUnpolishedResidual * problem.scale;
}

// The same loops once more, with what they leave of the answer as part of b: where that is little, the modes stay, and the answer is the
// problem's as it was given. A robot at rest needs it, whose velocities are small beside what its impulses make of loops that do not quite
// close. Else all is as it was.
bool DirectSolver::close_by_correction() {
  PreparedLcp& problem = buffers_.problem;
  const int n = problem.size();
  const LcpReport before = report_;
  std::vector<double>&left = buffers_.w_candidate, &f = buffers_.f_closed;
  left.resize(n);
  f.assign(f_.begin(), f_.end());
  buffers_.modes_closed = buffers_.modes;
  BoxedLcp given = problem.lcp;
  given.A = lcp_.A;
  evaluate(given, f, left);
  evaluate(problem.lcp, f, buffers_.w);
  for (int i = 0; i < n; ++i) left[i] -= buffers_.w[i];
  buffers_.stresses.remove_from(left);
  buffers_.b_closed.assign(given.b.begin(), given.b.end());
  for (int i = 0; i < n; ++i) left[i] += given.b[i];
  buffers_.b_corrected = left;
  problem.lcp.b = buffers_.b_corrected;
  report_.flags = LcpFlag::none;
  const bool solved = solve_prepared(LcpGuess(buffers_.modes_closed, f, true, before.ridge));
  problem.lcp.b = buffers_.b_closed;
  report_.flags = report_.flags | before.flags;
  return solved && holds_as_given();
}

// Takes out of b what loops ask for and cannot have together, and makes A of loops that almost close that of loops which do. The scale of
// velocities stays as it was prepared.
void DirectSolver::make_loops_consistent() {
  PreparedLcp& problem = buffers_.problem;
  buffers_.stresses.find(problem, implied_share_);
  if (buffers_.stresses.count() == 0) return;
  buffers_.b_consistent.assign(problem.lcp.b.begin(), problem.lcp.b.end());
  const double apart = buffers_.stresses.remove_from(buffers_.b_consistent);
  problem.lcp.b = buffers_.b_consistent;
  if (buffers_.stresses.make_exact(problem, buffers_.A_exact)) problem.lcp.A = buffers_.A_exact.data();
  if (apart > kLoopsApart * problem.scale) report_.flags = report_.flags | LcpFlag::targets_dropped;
}

double DirectSolver::doubtful_target(int i) const {
  return lcp_.target.empty() ? 0.0 : lithe::doubtful_target(lcp_.rows[i], lcp_.target[i]);
}

// Whether there are targets that could be dropped; b_free becomes b without them.
bool DirectSolver::find_targets() {
  bool any = false;
  for (int i = 0; i < lcp_.size() && !any; ++i) any = doubtful_target(i) != 0;
  if (!any) return false;
  buffers_.b_free.assign(lcp_.b.begin(), lcp_.b.end());
  for (int i = 0; i < lcp_.size(); ++i) buffers_.b_free[i] += doubtful_target(i);
  return true;
}

// Rows that no impulse moves keep their b. Targets that ask them for more, as those of hulls that overlap at the axis of their joint, can
// be dropped before anything is solved. True if there are any.
bool DirectSolver::mark_targets_out_of_reach() {
  const PreparedLcp& problem = buffers_.problem;
  bool any = false;
  for (int i = 0; i < lcp_.size(); ++i) {
    if (problem.live[i] || doubtful_target(i) == 0) continue;
    const bool violated = lcp_.rows[i].kind == RowKind::two_sided ? lcp_.b[i] != 0 : lcp_.b[i] < 0;
    if (!violated) continue;
    buffers_.dropped[i] = 1;
    any = true;
  }
  return any;
}

// Drops all targets, or those alone that contradict one another: these work on rows which take part in the stress that `follow` has found.
void DirectSolver::drop_targets(bool contradicting_only) {
  const PreparedLcp& problem = buffers_.problem;
  const std::span<const double> stress = buffers_.follow.stress();
  double largest = 0;
  for (int i = 0; i < lcp_.size() && contradicting_only; ++i) {
    largest = std::max(largest, problem.root[i] * std::abs(stress[i]));
  }
  for (int i = 0; i < lcp_.size(); ++i) {
    const bool contradicts = !contradicting_only || problem.root[i] * std::abs(stress[i]) > kStressShare * largest;
    if (doubtful_target(i) != 0 && contradicts) buffers_.dropped[i] = 1;
  }
  leave_dropped_targets();
}

// The problem without the targets that are marked.
void DirectSolver::leave_dropped_targets() {
  PreparedLcp& problem = buffers_.problem;
  buffers_.b_kept.assign(lcp_.b.begin(), lcp_.b.end());
  has_targets_ = false;
  // Often nothing moves but the targets; what rounding leaves of them is no velocity to solve for.
  const double nothing = kRounding * problem.scale;
  for (int i = 0; i < lcp_.size(); ++i) {
    double& b = buffers_.b_kept[i];
    if (buffers_.dropped[i]) b = buffers_.b_free[i];
    if (std::abs(b) <= nothing) b = 0;
    has_targets_ = has_targets_ || (doubtful_target(i) != 0 && !buffers_.dropped[i]);
  }
  BoxedLcp rest = lcp_;
  rest.b = buffers_.b_kept;
  // What remains of b may be rounding of b and targets, and is to be judged as such.
  problem.prepare(rest, problem.scale);
  make_loops_consistent();
}

}  // namespace lithe::internal

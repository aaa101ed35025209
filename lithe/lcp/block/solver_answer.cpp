#include <algorithm>
#include <cmath>

#include "lithe/lcp/block/solver.h"
#include "lithe/lcp/modes/tied_rows.h"
#include "lithe/lcp/modes/tolerances.h"
#include "lithe/lcp/sweeps/gauss_seidel_iteration.h"

// What becomes of right modes: the polished impulses or the ridge's, rows that are tied, and the least residual where no modes are right.
namespace lithe::internal {

namespace {

// Polishing ends at this residual, as in DirectSolver, or after so many improvements.
constexpr double kAsGoodAsItGets = 1e-13;
constexpr int kMostImprovements = 20;
// Where friction slides A_C# need not exist, and impulses that cannot be polished better than this may depend on the ridge.
constexpr double kSurelyPolished = 1e-10;

// Sweeps that the least residual is made of, at most.
constexpr int kLastSweeps = 150;
constexpr int kMostTies = 64;  // that are looked at one by one

}  // namespace

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
    // The improvement of plain impulses, the first one, need not halve the residual; those that are made from velocities must.
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

#include <algorithm>
#include <cmath>

#include "lithe/lcp/direct/direct_solver.h"
#include "lithe/lcp/modes/tolerances.h"
#include "lithe/lcp/sweeps/gauss_seidel.h"

// What becomes of right modes: the polished impulses or the ridge's, a choice at ties, and the least residual where nothing is solved.
namespace lithe::internal {

namespace {

// Refinement ends at this residual, or after so many rounds.
constexpr double kRefine = 1e-13;  // of s
constexpr int kMostRefinements = 20;
constexpr double kHarmless = 1e3;  // of s, as A_ii f_i, where nothing was solved
constexpr int kSweeps = 500;       // of Gauss–Seidel, there

// The modes that f suggests: a row is at a bound where its impulse is.
void classify(const BoxedLcp& lcp, std::span<const double> f, std::span<RowMode> modes) {
  for (int i = 0; i < lcp.size(); ++i) {
    const RowBounds bounds = bounds_of(lcp.rows[i], f);
    modes[i] = f[i] <= bounds.lower ? RowMode::at_lower : f[i] >= bounds.upper ? RowMode::at_upper : RowMode::clamping;
  }
}

}  // namespace

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

// Called after take_polished() has failed. Takes the polished impulses all the same in loops, where a smaller ridge is not worth its time.
bool DirectSolver::take_almost_polished() {
  if (!has_loops() || !(report_.residual <= kAlmostPolished)) return false;
  report_.flags = report_.flags | LcpFlag::unpolished;
  return true;
}

// Called after take_polished() has failed. The ridge lets clamping rows creep, and so it holds rows that slide more slowly than they would
// creep, such as a joint that dry friction brings to rest. The polished impulses of such rows are beyond their bounds by next to nothing.
// Puts these rows at their bounds, if a smaller ridge calls the modes right; if not, all stays as it was.
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

// Called after take_polished() has failed. Takes the better of the ridge's impulses and the polished ones, if they are good enough.
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

// Keeps f, moved into its bounds, if no impulses were better so far. Impulses out of all proportion are not kept, because they do harm
// whatever their residual is.
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

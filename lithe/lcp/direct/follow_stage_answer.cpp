#include <algorithm>
#include <cmath>

#include "lithe/lcp/direct/follow_stage.h"
#include "lithe/lcp/modes/active_set.h"
#include "lithe/lcp/modes/tied_rows.h"
#include "lithe/lcp/modes/tolerances.h"
#include "lithe/linalg/padded_matrix.h"

// From the modes that a path arrives at to impulses: the ridge's ones, their verification, the polished ones, and what is tied.
namespace lithe::internal {

namespace {

// What may remain of the clamping rows' equations, with the ridge and without.
constexpr double kRidgeGoal = 1e-15, kRidgeEnough = 1e-12;  // of s
constexpr double kPolishGoal = 1e-14;                       // of s
// A contradiction's impulses fall by this where targets do not push.
constexpr double kWithoutTargets = 1e-2;

// What may be left of a stress, of f, after it was taken out once.
constexpr double kNoStress = 1e-3;
constexpr int kMostCorrections = 6;

}  // namespace

// The ridge's impulses of the modes at which the path is; false where rounding keeps it from them.
bool FollowStage::find_impulses(const PreparedLcp& problem) {
  write_modes(problem);
  reduced_.recover(path_.f(), b_, f_);
  // Without loops rows that creep by as little are tied, and left to others.
  const double goal = has_loops() ? kRidgeGoal : kRidgeEnough;
  return refine(problem, goal * problem.scale, kRidgeEnough * problem.scale);
}

// The modes of all rows: those of the path, constant rows with their own, eliminated rows clamping.
void FollowStage::write_modes(const PreparedLcp& problem) {
  modes_.assign(problem.size(), RowMode::clamping);
  for (int i = 0; i < reduced_.size(); ++i) modes_[reduced_.kept()[i]] = path_.modes()[i];
  for (int i = 0; i < problem.size(); ++i) {
    if (roles_[i] == RowRole::constant) modes_[i] = constant_modes_[i];
  }
  problem.make_consistent(modes_);
}

// Calls visit(row) for all clamping rows, those of E among them.
template <class Visit>
void FollowStage::for_each_clamping_row(Visit visit) const {
  for (const int i : reduced_.eliminated()) visit(i);
  for (int k = 0; k < reduced_.size(); ++k) {
    if (path_.modes()[k] == RowMode::clamping) visit(reduced_.kept()[k]);
  }
}

// A f + ε̄ f + b of the clamping rows, with w at hand; zero elsewhere. What two-sided rows cannot have together is no
// error of the problem without a ridge.
void FollowStage::find_error(const PreparedLcp& problem, double ridge) {
  r_.assign(problem.size(), 0.0);
  for_each_clamping_row([&](int i) { r_[i] = w_[i] + ridge * f_[i]; });
  if (ridge == 0) stresses_->remove_from(r_);
}

// The correction that takes the error r out of the ridge problem's impulses.
void FollowStage::find_correction() {
  grow(r_R_, padded(reduced_.size()));
  correction_.assign(r_.size(), 0.0);
  reduced_.reduce_vector(r_, r_R_.data());
  const double* correction_R = path_.answer_to(r_R_.data());
  for (int i = 0; i < reduced_.size(); ++i) correction_[reduced_.kept()[i]] = correction_R[i];
  reduced_.recover_eliminated(correction_R, r_, correction_);
}

// Adds this correction to f.
void FollowStage::correct(std::span<double> f) {
  find_correction();
  for (std::size_t i = 0; i < f.size(); ++i) f[i] += correction_[i];
}

// The ridge's impulses of the modes, by corrections with the inverse at hand. False where more than `enough` remains.
bool FollowStage::refine(const PreparedLcp& problem, double goal, double enough) {
  double before = LcpRow::kInfinity;
  for (int round = 0;; ++round) {
    evaluate(problem.lcp, f_, w_);
    find_error(problem, ridge_);
    const double worst = largest_magnitude(r_);
    if (worst <= goal) return true;
    if (round == kMostCorrections || !(worst <= 0.5 * before)) return worst <= enough;
    before = worst;
    correct(f_);
  }
}

// Whether targets push against one another: the impulses of the same modes without targets are then far smaller than `largest`, the largest
// one with them. Weights on light bodies bend the ridge as well, but their impulses stay.
bool FollowStage::targets_push(const PreparedLcp& problem, double largest, std::span<const double> b_free) {
  if (b_free.empty()) return false;
  evaluate(problem.lcp, f_, w_);
  for (int i = 0; i < problem.size(); ++i) w_[i] += b_free[i] - problem.lcp.b[i];
  find_error(problem, ridge_);
  f_free_ = f_;
  correct(f_free_);
  return largest_magnitude(f_free_) < kWithoutTargets * largest;
}

// Verifies the modes and polishes their impulses. f are the ridge's impulses here, and w = A f + b.
FollowStage::Outcome FollowStage::verify(const PreparedLcp& problem, bool bends) {
  f_ridge_ = f_;
  stresses_->remove_from(w_);
  moved_ = modes_;
  if (move_violators(problem, ridge_, f_, w_, moved_) != 0) {
    modes_ = moved_;
    return Outcome::modes;
  }
  residual_ = polish(problem) ? violation(problem) : LcpRow::kInfinity;
  polished_residual_ = residual_;
  is_polished_ = residual_ <= kPolishedResidual;
  if (!is_polished_) take_better(problem);
  const double enough = has_loops() ? kAlmostPolished : kPolishedResidual;
  const bool good = polished_residual_ <= enough || (!bends && residual_ <= kUnpolishedResidual);
  return good && settle_ties(problem) ? Outcome::solved : Outcome::modes;
}

// Goes back to the ridge's impulses if they are better than what polishing has made of them.
void FollowStage::take_better(const PreparedLcp& problem) {
  f_free_ = f_;
  f_ = f_ridge_;
  evaluate(problem.lcp, f_, w_);
  const double bent = violation(problem);
  if (bent < residual_) {
    residual_ = bent;
    return;
  }
  f_ = f_free_;
  evaluate(problem.lcp, f_, w_);
  stresses_->remove_from(w_);
}

// Counts the rows that are tied. False where that is left to the other stages: without loops, and where there is a choice, as of a normal
// that clamps and may as well separate, or of soft rows.
bool FollowStage::settle_ties(const PreparedLcp& problem) {
  tied_rows_ = 0;
  has_kinks_ = false;
  if (!has_loops()) return !TiedRows::any(problem, f_, w_);
  for (int i = 0; i < reduced_.size(); ++i) {
    const int row = reduced_.kept()[i];
    if (!is_tied(problem, row, f_, w_)) continue;
    ++tied_rows_;
    if (is_implied(problem, i)) continue;
    has_kinks_ = true;
    if (path_.modes()[i] == RowMode::clamping && problem.lcp.rows[row].kind == RowKind::one_sided) return false;
  }
  return std::ranges::none_of(reduced_.eliminated(), [&](int row) { return is_tied(problem, row, f_, w_); });
}

// Whether row i of the reduced problem moves only if clamping rows do, as dry friction in loops.
bool FollowStage::is_implied(const PreparedLcp& problem, int i) {
  const int row = reduced_.kept()[i];
  const double little = TiedRows::kImplied * problem.diagonal[row];
  if (reduced_.response_left(i) <= little) return true;
  const bool clamps = path_.modes()[i] == RowMode::clamping;
  return (clamps ? response_left_by_others(problem, row) : response_left(problem, row)) <= little;
}

// What the clamping rows, held still, leave of the row's response to its own impulse: A_ii − aᵀx with (A + ε̄I) x = a, but for ε̄ x², by
// which those rows creep.
double FollowStage::response_left(const PreparedLcp& problem, int row) {
  const double* a = problem.lcp.column(row);
  r_.assign(problem.size(), 0.0);
  for_each_clamping_row([&](int i) { r_[i] = a[i]; });
  find_correction();
  double left = problem.diagonal[row];
  for (int i = 0; i < problem.size(); ++i) left += a[i] * correction_[i];
  for_each_clamping_row([&](int i) { left -= ridge_ * correction_[i] * correction_[i]; });
  return left;
}

// What the other clamping rows leave of the response of a row that clamps: 1/x_i with (A + ε̄I) x = e_i, but for ε̄ (x/x_i)².
double FollowStage::response_left_by_others(const PreparedLcp& problem, int row) {
  r_.assign(problem.size(), 0.0);
  r_[row] = -1;
  find_correction();
  double squares = 0;
  for_each_clamping_row([&](int i) { squares += correction_[i] * correction_[i]; });
  const double x = correction_[row];
  return 1 / x - ridge_ * squares / (x * x);
}

// The residual of f and w = A f + b. What two-sided rows cannot have together is left out, of w, too.
double FollowStage::violation(const PreparedLcp& problem) {
  stresses_->remove_from(w_);
  return largest_violation(problem.lcp, f_, w_) / problem.scale;
}

// From the ridge's impulses to f_C = −A_C# b_C, with the inverse of the ridge problem: corrections by it go to what solves the equations
// without a ridge, and what is out of A_C's range is taken out of them, because many impulses move redundant rows alike. Without loops a
// factorisation decides which rows are redundant: contacts a micrometre apart are not, and the ridge's inverse has too few digits to tell.
bool FollowStage::polish(const PreparedLcp& problem) {
  const bool redundant = path_.is_redundant();
  if (redundant && !has_loops()) {
    ++inversions_;
    if (!rank_polish_.run(problem, *stresses_, roles_, b_, path_.modes(), f_)) return false;
    evaluate(problem.lcp, f_, w_);
    return true;
  }
  if (redundant && !remove_stress()) return false;
  double before = LcpRow::kInfinity;
  for (int round = 0;; ++round) {
    if (round > 0 || has_loops()) {  // else w is at hand
      stresses_->remove_from(f_);
      evaluate(problem.lcp, f_, w_);
    }
    find_error(problem, 0);
    const double worst = largest_magnitude(r_);
    if (worst <= kPolishGoal * problem.scale) return true;
    if (round == kMostCorrections || !(worst <= 0.5 * before)) return worst <= kAlmostPolished * problem.scale;
    before = worst;
    correct(f_);
    if (!redundant) continue;
    stress_ = correction_;
    find_stress();
    for (std::size_t i = 0; i < f_.size(); ++i) f_[i] -= stress_[i];
  }
}

// ε̄ (A_C + ε̄I)⁻¹ x of impulses x, in place: what x has outside A_C's range, and a share of ε̄ of what it has there.
void FollowStage::find_stress() {
  r_.assign(stress_.size(), 0.0);
  for_each_clamping_row([&](int i) { r_[i] = ridge_ * stress_[i]; });
  find_correction();
  for (std::size_t i = 0; i < stress_.size(); ++i) stress_[i] = -correction_[i];
}

// Takes the stress out of f. False where to do it once more changes the impulses: then no group inverse exists, or rows are almost
// redundant.
bool FollowStage::remove_stress() {
  for (int pass = 0; pass < 2; ++pass) {
    stress_ = f_;
    find_stress();
    const double before = largest_magnitude(f_);
    for (std::size_t i = 0; i < f_.size(); ++i) f_[i] -= stress_[i];
    if (pass == 1) return largest_magnitude(stress_) <= kNoStress * before;
  }
  return true;
}

}  // namespace lithe::internal

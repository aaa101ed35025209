#include "lithe/lcp/follow_stage.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/packed_vectors.h"
#include "lithe/lcp/active_set.h"
#include "lithe/lcp/lcp_tolerances.h"
#include "lithe/lcp/tied_rows.h"

namespace lithe {

namespace {

constexpr int kSweepsAhead = 2;
constexpr double kNear = 1e-4;     // of s: what velocities may lack for the last impulses to be a start as they are
constexpr double kMostWork = 2e6;  // multiply-adds of one path
constexpr double kMostWorkInLoops = 2e7;  // the same in loops, where other stages take far longer than in their absence
constexpr int kMostRedone = 2;            // times that saturated rows are put back
constexpr double kRidgeGoal = 1e-15, kRidgeEnough = 1e-12;  // of s
constexpr double kPolishGoal = 1e-14;                       // of s
// A contradiction's impulses fall by this where targets do not push.
constexpr double kWithoutTargets = 1e-2;
// A soft row is expected between its bounds if it was there with this share of their distance to spare.
constexpr double kSpare = 0.1;
// What may be left of a stress, of f, after it was taken out once.
constexpr double kNoStress = 1e-3;
constexpr int kMostCorrections = 6;

}  // namespace

FollowStage::Outcome FollowStage::run(const PreparedLcp& problem, const LoopStresses& stresses,
                                      std::span<const RowClass> guess, std::span<const double> impulses,
                                      std::span<const double> b_free) {
  stresses_ = &stresses;
  events_ = inversions_ = 0;
  keep_.assign(problem.size(), 0);
  // All at once, so that no later step finds something missing.
  for (auto* vector : {&start_, &swept_start_}) vector->reserve(problem.size());
  for (auto* vector : {&f_, &w_, &f_ridge_, &f_free_, &r_, &correction_, &stress_}) vector->resize(problem.size());
  for (int redone = 0; redone <= kMostRedone; ++redone) {
    choose_eliminated(problem, guess, impulses);
    reduced_.reduce(problem, stresses, eliminate_, kRungs[0] * problem.mean_diagonal);
    start_.resize(reduced_.size());
    for (int i = 0; i < reduced_.size(); ++i) start_[i] = impulses[reduced_.kept()[i]];
    const Outcome outcome = climb(problem, guess, b_free);
    if (!keep_saturated(problem)) return outcome;
  }
  return Outcome::classes;
}

// Right classes for the ridge and, where it bends the equations too much for the polished impulses to be a solution, for a smaller
// one.
FollowStage::Outcome FollowStage::climb(const PreparedLcp& problem, std::span<const RowClass> guess,
                                        std::span<const double> b_free) {
  for (const double epsilon : {kRungs[0], kRungs[1]}) {  // with smaller ones an inverse has no digits left
    epsilon_ = epsilon;
    const bool first = epsilon == kRungs[0];
    const double ridge = epsilon * problem.mean_diagonal;
    if (!first) reduced_.reduce(problem, *stresses_, eliminate_, ridge);
    if (!follow(problem, ridge, first, guess)) return first ? Outcome::failed : Outcome::classes;
    write_classes(problem);
    reduced_.recover(path_.f(), problem.lcp.b, f_);
    const bool exact = refine(problem, ridge, kRidgeGoal * problem.scale, kRidgeEnough * problem.scale);
    for (int i = 0; i < reduced_.size(); ++i) start_[i] = f_[reduced_.kept()[i]];
    const double largest = largest_magnitude(f_);
    const bool bends = ridge * largest > kBend * problem.scale;
    if (!bends && !exact) return Outcome::classes;
    // A bend of this size is no weight's.
    const bool hopeless = ridge * largest > problem.scale;
    if (exact && !hopeless) {
      const Outcome outcome = verify(problem, ridge, bends);
      // In loops a lever may turn what the ridge lets pass into motion: then polished impulses break the conditions of the same classes.
      const bool final = !first || polished_residual_ <= kAlmostPolished || !has_loops(problem);
      if (outcome == Outcome::solved ? final : !bends) return outcome;
    }
    if (first && targets_push(problem, ridge, largest, b_free)) {
      stress_ = f_;
      for (int pass = 0; pass < 2; ++pass) find_stress(ridge);
      return Outcome::contradiction;
    }
  }
  return Outcome::classes;
}

void FollowStage::choose_eliminated(const PreparedLcp& problem, std::span<const RowClass> guess,
                                    std::span<const double> impulses) {
  eliminate_.assign(problem.size(), 0);
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    if (row.kind == RowKind::two_sided) eliminate_[i] = 1;
    if (row.kind != RowKind::bounded || !row.soft || keep_[i] || guess[i] != RowClass::clamping) continue;
    const double spare = kSpare * (row.upper - row.lower);
    eliminate_[i] = impulses[i] > row.lower + spare && impulses[i] < row.upper - spare;
  }
}

// From impulses after two sweeps, on a short leash: sweeps save most of the events, but spread impulses over redundant rows,
// from where some paths get nowhere. Those begin anew from the impulses as they were. These are not kept with all digits; in loops, where
// that matters, rows that were at their bounds are exactly there, and where next to nothing has changed that comes first.
bool FollowStage::follow(const PreparedLcp& problem, double ridge, bool first, std::span<const RowClass> guess) {
  const int n = reduced_.size();
  const double most_work = has_loops(problem) ? kMostWorkInLoops : kMostWork;
  const auto follow_from_start = [&](int sweeps, int events) {
    path_.start(reduced_, ridge, start_);
    if (sweeps > 0) path_.sweep(sweeps);
    const bool found = path_.follow({.events = events, .work = most_work});
    events_ += path_.events();
    inversions_ += path_.inversions();
    return found;
  };
  const int few = 30 + n / 2, many = 2 * n + 50;
  if (!first) return follow_from_start(0, many);
  if (!has_loops(problem)) return follow_from_start(kSweepsAhead, few) || follow_from_start(0, many);
  swept_start_ = start_;
  for (int i = 0; i < n; ++i) {
    const RowClass was = guess[reduced_.kept()[i]];
    if (is_at_bound(was)) start_[i] = was == RowClass::at_upper ? LcpRow::kInfinity : -LcpRow::kInfinity;
  }
  path_.start(reduced_, ridge, start_);
  const bool near = path_.distance() <= kNear * problem.scale;
  if (near && follow_from_start(0, few)) return true;
  std::swap(start_, swept_start_);
  if (follow_from_start(kSweepsAhead, few)) return true;
  std::swap(start_, swept_start_);
  return follow_from_start(0, many);
}

void FollowStage::write_classes(const PreparedLcp& problem) {
  classes_.assign(problem.size(), RowClass::clamping);
  for (int i = 0; i < reduced_.size(); ++i) classes_[reduced_.kept()[i]] = path_.classes()[i];
  problem.make_consistent(classes_);
}

// E among them.
template <class Visit>
void FollowStage::for_each_clamping_row(Visit visit) const {
  for (const int i : reduced_.eliminated()) visit(i);
  for (int k = 0; k < reduced_.size(); ++k) {
    if (path_.classes()[k] == RowClass::clamping) visit(reduced_.kept()[k]);
  }
}

// A f + ε̄ f + b of the clamping rows, with w at hand; zero elsewhere. What two-sided rows cannot have together is no
// error of the problem without a ridge.
void FollowStage::find_error(const PreparedLcp& problem, double ridge) {
  r_.assign(problem.size(), 0.0);
  for_each_clamping_row([&](int i) { r_[i] = w_[i] + ridge * f_[i]; });
  if (ridge == 0) stresses_->remove_from(r_);
}

// What takes the error r out of the ridge problem's impulses.
void FollowStage::find_correction() {
  grow(r_R_, padded(reduced_.size()));
  correction_.assign(r_.size(), 0.0);
  reduced_.reduce_vector(r_, r_R_.data());
  const double* correction_R = path_.answer_to(r_R_.data());
  for (int i = 0; i < reduced_.size(); ++i) correction_[reduced_.kept()[i]] = correction_R[i];
  reduced_.recover_eliminated(correction_R, r_, correction_);
}

void FollowStage::correct(std::span<double> f) {
  find_correction();
  for (std::size_t i = 0; i < f.size(); ++i) f[i] += correction_[i];
}

// Impulses of the classes, by corrections with the inverse at hand; `ridge` is that of the inverse, or zero. False where more than
// `enough` remains.
bool FollowStage::refine(const PreparedLcp& problem, double ridge, double goal, double enough) {
  double before = LcpRow::kInfinity;
  for (int round = 0;; ++round) {
    evaluate(problem.lcp, f_, w_);
    find_error(problem, ridge);
    const double worst = largest_magnitude(r_);
    if (worst <= goal) return true;
    if (round == kMostCorrections || !(worst <= 0.5 * before)) return worst <= enough;
    before = worst;
    correct(f_);
  }
}

// Soft rows that were expected between their bounds and are not: true if there are any.
bool FollowStage::keep_saturated(const PreparedLcp& problem) {
  bool any = false;
  for (const int i : reduced_.eliminated()) {
    const LcpRow& row = problem.lcp.rows[i];
    if (row.kind != RowKind::bounded || (f_[i] > row.lower && f_[i] < row.upper)) continue;
    keep_[i] = 1;
    any = true;
  }
  return any;
}

// The same classes without targets; `largest` impulse is that with them. Targets that push against one another have impulses that grow as the
// ridge gets smaller, and without them all is well; weights on light bodies, which also bend the ridge, stay.
bool FollowStage::targets_push(const PreparedLcp& problem, double ridge, double largest,
                               std::span<const double> b_free) {
  if (b_free.empty()) return false;
  evaluate(problem.lcp, f_, w_);
  for (int i = 0; i < problem.size(); ++i) w_[i] += b_free[i] - problem.lcp.b[i];
  find_error(problem, ridge);
  f_free_ = f_;
  correct(f_free_);
  return largest_magnitude(f_free_) < kWithoutTargets * largest;
}

FollowStage::Outcome FollowStage::verify(const PreparedLcp& problem, double ridge, bool bends) {
  f_ridge_ = f_;
  const double bent = violation(problem);
  moved_ = classes_;
  if (move_violators(problem, ridge, f_, w_, moved_) != 0) {
    classes_ = moved_;
    return Outcome::classes;
  }
  residual_ = polish(problem, ridge) ? violation(problem) : LcpRow::kInfinity;
  polished_residual_ = residual_;
  is_polished_ = residual_ <= kPolishedResidual;
  if (!is_polished_ && bent < residual_) {
    f_ = f_ridge_;
    residual_ = violation(problem);
  }
  const double enough = has_loops(problem) ? kAlmostPolished : kPolishedResidual;
  const bool good = polished_residual_ <= enough || (!bends && residual_ <= kUnpolishedResidual);
  return good && !has_kinks(problem, ridge) ? Outcome::solved : Outcome::classes;
}

// Whether rows are tied that the clamping rows do not imply, as dry friction in loops is implied. Without loops, and where a tied row
// clamps, that is left to others.
bool FollowStage::has_kinks(const PreparedLcp& problem, double ridge) {
  if (!has_loops(problem)) return TiedRows::any(problem, f_, w_);
  for (int i = 0; i < reduced_.size(); ++i) {
    const int row = reduced_.kept()[i];
    if (!is_tied(problem, row, f_, w_)) continue;
    const bool clamps = path_.classes()[i] == RowClass::clamping;
    if (clamps || response_left(problem, ridge, row) > TiedRows::kImplied * problem.diagonal[row]) return true;
  }
  return std::ranges::any_of(reduced_.eliminated(), [&](int row) { return is_tied(problem, row, f_, w_); });
}

// What the clamping rows, held still, leave of the row's response to its own impulse: A_ii − aᵀx with (A + ε̄I) x = a, but for ε̄ x², by which
// those rows creep.
double FollowStage::response_left(const PreparedLcp& problem, double ridge, int row) {
  const double* a = problem.lcp.column(row);
  r_.assign(problem.size(), 0.0);
  for_each_clamping_row([&](int i) { r_[i] = a[i]; });
  find_correction();
  double left = problem.diagonal[row];
  for (int i = 0; i < problem.size(); ++i) left += a[i] * correction_[i];
  for_each_clamping_row([&](int i) { left -= ridge * correction_[i] * correction_[i]; });
  return left;
}

// The residual of f, which w is found for. What two-sided rows cannot have together is left out.
double FollowStage::violation(const PreparedLcp& problem) {
  evaluate(problem.lcp, f_, w_);
  stresses_->remove_from(w_);
  return largest_violation(problem.lcp, f_, w_) / problem.scale;
}

// From the ridge's impulses to f_C = −A_C# b_C, with the inverse of the ridge problem: corrections by it go to what solves the equations
// without a ridge, and what is out of A_C's range is taken out of them, because many impulses move redundant rows alike. Without loops a
// factorisation decides which rows are redundant: contacts a micrometre apart are not, and the ridge's inverse has too few digits to tell.
bool FollowStage::polish(const PreparedLcp& problem, double ridge) {
  const bool redundant = path_.is_redundant();
  if (redundant && !has_loops(problem)) {
    ++inversions_;
    return rank_polish_.run(problem, *stresses_, eliminate_, path_.classes(), f_);
  }
  if (redundant && !remove_stress(ridge)) return false;
  double before = LcpRow::kInfinity;
  for (int round = 0;; ++round) {
    stresses_->remove_from(f_);
    evaluate(problem.lcp, f_, w_);
    find_error(problem, 0);
    const double worst = largest_magnitude(r_);
    if (worst <= kPolishGoal * problem.scale) return true;
    if (round == kMostCorrections || !(worst <= 0.5 * before)) return worst <= kAlmostPolished * problem.scale;
    before = worst;
    find_correction();
    for (std::size_t i = 0; i < f_.size(); ++i) f_[i] += correction_[i];
    if (!redundant) continue;
    stress_ = correction_;
    find_stress(ridge);
    for (std::size_t i = 0; i < f_.size(); ++i) f_[i] -= stress_[i];
  }
}

// ε̄ (A_C + ε̄I)⁻¹ x of impulses x, in place: what x has outside A_C's range, and a share of ε̄ of what it has there.
void FollowStage::find_stress(double ridge) {
  r_.assign(stress_.size(), 0.0);
  for_each_clamping_row([&](int i) { r_[i] = ridge * stress_[i]; });
  find_correction();
  for (std::size_t i = 0; i < stress_.size(); ++i) stress_[i] = -correction_[i];
}

// False where taking it out once more changes the impulses: then no group inverse exists, or rows are almost redundant.
bool FollowStage::remove_stress(double ridge) {
  for (int pass = 0; pass < 2; ++pass) {
    stress_ = f_;
    find_stress(ridge);
    const double before = largest_magnitude(f_);
    for (std::size_t i = 0; i < f_.size(); ++i) f_[i] -= stress_[i];
    if (pass == 1) return largest_magnitude(stress_) <= kNoStress * before;
  }
  return true;
}

// Only two-sided rows of E take part in stresses: soft rows would answer them by their own compliance.
bool FollowStage::has_loops(const PreparedLcp& problem) const {
  return std::ranges::any_of(reduced_.eliminated(),
                             [&](int i) { return problem.lcp.rows[i].kind == RowKind::two_sided; });
}

}  // namespace lithe

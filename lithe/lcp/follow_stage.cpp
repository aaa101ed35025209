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
constexpr double kMostWork = 2e6;                           // multiply-adds of one path
constexpr int kMostRedone = 2;                              // times that saturated rows are put back
constexpr double kRidgeGoal = 1e-15, kRidgeEnough = 1e-12;  // of s
constexpr double kPolishGoal = 1e-14;                       // of s
// A contradiction's impulses fall by this where targets do not push.
constexpr double kWithoutTargets = 1e-2;
// A soft row is expected between its bounds if it was there with this share of their distance to spare.
constexpr double kSpare = 0.1;
// What may be left of a stress, of f.
constexpr double kNoStress = 1e-12;
constexpr int kStressPasses = 12;
constexpr int kMostRedundantRefinements = 8;

}  // namespace

FollowStage::Outcome FollowStage::run(const PreparedLcp& problem, const LoopStresses& stresses,
                                      std::span<const RowClass> guess, std::span<const double> impulses,
                                      std::span<const double> b_free) {
  stresses_ = &stresses;
  events_ = inversions_ = 0;
  keep_.assign(problem.size(), 0);
  f_.resize(problem.size());
  w_.resize(problem.size());
  for (int redone = 0; redone <= kMostRedone; ++redone) {
    choose_eliminated(problem, guess, impulses);
    reduced_.reduce(problem, stresses, eliminate_);
    start_.resize(reduced_.size());
    for (int i = 0; i < reduced_.size(); ++i) {
      // Impulses are not kept with all digits, but a row at its bound is exactly there.
      const int row = reduced_.kept()[i];
      start_[i] = guess[row] == RowClass::at_upper   ? LcpRow::kInfinity
                  : guess[row] == RowClass::at_lower ? -LcpRow::kInfinity
                                                     : impulses[row];
    }
    const Outcome outcome = climb(problem, b_free);
    if (!keep_saturated(problem)) return outcome;
  }
  return Outcome::classes;
}

// Right classes for the ridge and, where it bends the equations too much for the polished impulses to be a solution, for a smaller
// one.
FollowStage::Outcome FollowStage::climb(const PreparedLcp& problem, std::span<const double> b_free) {
  for (const double epsilon : {kRungs[0], kRungs[1]}) {  // with smaller ones an inverse has no digits left
    epsilon_ = epsilon;
    const bool first = epsilon == kRungs[0];
    const double ridge = epsilon * problem.mean_diagonal;
    if (!follow(ridge, first)) return first ? Outcome::failed : Outcome::classes;
    write_classes(problem);
    const bool exact = path_.solve_ridge(reduced_.b(), kRidgeGoal * problem.scale, kRidgeEnough * problem.scale);
    std::copy_n(path_.f(), reduced_.size(), start_.begin());
    reduced_.recover(path_.f(), problem.lcp.b, f_);
    const double largest = largest_magnitude(f_);
    const bool bends = ridge * largest > kBend * problem.scale;
    if (!bends && !exact) return Outcome::classes;
    // A bend of this size is no weight's.
    const bool hopeless = ridge * largest > problem.scale;
    if (exact && !hopeless) {
      const Outcome outcome = verify(problem, ridge, bends);
      if (outcome == Outcome::solved || !bends) return outcome;
    }
    if (first && targets_push(largest, b_free)) return Outcome::contradiction;
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
// from where some paths get nowhere. Those begin anew from the impulses as they were.
bool FollowStage::follow(double ridge, bool sweep) {
  const int n = reduced_.size();
  const auto follow_from_start = [&](int sweeps, int events) {
    path_.start(reduced_, ridge, start_);
    if (sweeps > 0) path_.sweep(sweeps);
    const bool found = path_.follow({.events = events, .work = kMostWork});
    events_ += path_.events();
    inversions_ += path_.inversions();
    return found;
  };
  return (sweep && follow_from_start(kSweepsAhead, 30 + n / 2)) || follow_from_start(0, 2 * n + 50);
}

void FollowStage::write_classes(const PreparedLcp& problem) {
  classes_.assign(problem.size(), RowClass::clamping);
  for (int i = 0; i < reduced_.size(); ++i) classes_[reduced_.kept()[i]] = path_.classes()[i];
  problem.make_consistent(classes_);
  implied_rows_clamp_ = false;
  for (int i = 0; i < reduced_.size(); ++i) {
    const bool implied = !(reduced_.diagonal(i) > 0);
    implied_rows_clamp_ = implied_rows_clamp_ || (implied && classes_[reduced_.kept()[i]] == RowClass::clamping);
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
bool FollowStage::targets_push(double largest, std::span<const double> b_free) {
  if (b_free.empty()) return false;
  grow(b_, padded(reduced_.size()));
  reduced_.reduce_vector(b_free, b_.data());
  path_.solve_ridge(b_.data(), 0, 0);
  f_free_.resize(f_.size());
  reduced_.recover(path_.f(), b_free, f_free_);
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
  if (implied_rows_clamp_) return Outcome::classes;
  residual_ = polish(problem) ? violation(problem) : LcpRow::kInfinity;
  is_polished_ = residual_ <= kPolishedResidual;
  if (!is_polished_ && bent < residual_) {
    f_ = f_ridge_;
    residual_ = violation(problem);
  }
  const bool good = is_polished_ || (!bends && residual_ <= kUnpolishedResidual);
  return good && !TiedRows::any(problem, f_, w_) ? Outcome::solved : Outcome::classes;
}

// The residual of f, which w is found for. What two-sided rows cannot have together is left out.
double FollowStage::violation(const PreparedLcp& problem) {
  evaluate(problem.lcp, f_, w_);
  stresses_->remove_from(w_);
  return largest_violation(problem.lcp, f_, w_) / problem.scale;
}

// From the ridge's impulses to f_C = −A_C# b_C.
bool FollowStage::polish(const PreparedLcp& problem) {
  if (!path_.is_redundant()) {
    if (!path_.polish(reduced_.b(), kPolishGoal * problem.scale, kPolishedResidual * problem.scale)) return false;
    reduced_.recover(path_.f(), problem.lcp.b, f_);
    return true;
  }
  const PaddedMatrix& A = reduced_.A();
  const BoxedLcp reduced = {.rows = reduced_.rows(), .A = A.column(0), .stride = A.stride, .b = {}, .target = {}};
  ++inversions_;
  factor_.compute(reduced, path_.classes());
  if (!factor_.has_group_inverse() || !polish_redundant(problem, reduced)) return false;
  reduced_.recover(f_R_.data(), problem.lcp.b, f_);
  return !stresses_reach_eliminated_rows(problem) || remove_stress();
}

// Friction rows at their bounds.
void FollowStage::follow_normals(double* f_R) const {
  for (const int i : factor_.bounded()) {
    const LcpRow& row = reduced_.rows()[i];
    f_R[i] = (path_.classes()[i] == RowClass::at_upper ? row.friction : -row.friction) * f_R[row.normal];
  }
}

bool FollowStage::polish_redundant(const PreparedLcp& problem, const BoxedLcp& reduced) {
  const std::span<const int> clamping = factor_.clamping();
  const int rows = reduced.stride;
  grow(f_R_, rows);
  grow(w_R_, rows);
  grow(stress_R_, rows);
  x_.resize(clamping.size());
  u_.resize(clamping.size());
  std::copy_n(path_.f(), rows, f_R_.data());
  find_stress(f_R_.data(), stress_R_.data());
  add_multiple(-1, stress_R_.data(), f_R_.data(), rows);
  double before = LcpRow::kInfinity;
  for (int round = 0;; ++round) {
    follow_normals(f_R_.data());
    multiply(reduced_.A(), f_R_.data(), w_R_.data());
    double worst = 0;
    for (std::size_t k = 0; k < clamping.size(); ++k) {
      x_[k] = w_R_[clamping[k]] + reduced_.b()[clamping[k]];
      worst = std::max(worst, std::abs(x_[k]));
    }
    if (worst <= kPolishGoal * problem.scale) return true;
    if (round == kMostRedundantRefinements || !(worst <= 0.5 * before))
      return worst <= kPolishedResidual * problem.scale;
    before = worst;
    factor_.solve(x_, u_);
    for (std::size_t k = 0; k < clamping.size(); ++k) f_R_[clamping[k]] -= u_[k];
  }
}

// What f_R has outside the range of the class's matrix.
void FollowStage::find_stress(const double* f_R, double* stress) {
  const std::span<const int> clamping = factor_.clamping();
  for (std::size_t k = 0; k < clamping.size(); ++k) x_[k] = f_R[clamping[k]];
  factor_.project_null(x_, u_);
  std::fill_n(stress, reduced_.A().stride, 0.0);
  for (std::size_t k = 0; k < clamping.size(); ++k) stress[clamping[k]] = u_[k];
  follow_normals(stress);
}

// Soft rows have no part in a stress: their own compliance would answer it.
bool FollowStage::stresses_reach_eliminated_rows(const PreparedLcp& problem) const {
  return std::ranges::any_of(reduced_.eliminated(),
                             [&](int i) { return problem.lcp.rows[i].kind == RowKind::two_sided; });
}

// Of many impulses that move the model alike, the answer is that in the range of the class's matrix, that of all rows. Stresses that
// reach into the eliminated rows are taken out by minimal residuals.
bool FollowStage::remove_stress() {
  const int rows = reduced_.A().stride;
  for (AlignedBuffer* buffer : {&folded_, &stress_R_, &next_stress_R_}) grow(*buffer, rows);
  stress_.assign(f_.size(), 0.0);
  const double tolerance = kNoStress * largest_magnitude(f_);
  for (int pass = 0; pass < kStressPasses; ++pass) {
    reduced_.reduce_vector(f_, folded_.data());
    find_stress(folded_.data(), stress_R_.data());
    if (largest_magnitude(std::span(stress_R_).first(reduced_.size())) <= tolerance) return true;
    // The stress in all rows, and how much of it is felt as such.
    reduced_.echo(stress_R_.data(), stress_);
    for (int i = 0; i < reduced_.size(); ++i) stress_[reduced_.kept()[i]] = stress_R_[i];
    reduced_.reduce_vector(stress_, folded_.data());
    find_stress(folded_.data(), next_stress_R_.data());
    const double square = dot(next_stress_R_.data(), next_stress_R_.data(), rows);
    if (!(square > 0)) return false;
    const double share = dot(stress_R_.data(), next_stress_R_.data(), rows) / square;
    for (std::size_t i = 0; i < f_.size(); ++i) f_[i] -= share * stress_[i];
  }
  return false;
}

}  // namespace lithe

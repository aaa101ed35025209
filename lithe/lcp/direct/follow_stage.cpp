#include "lithe/lcp/direct/follow_stage.h"

#include <algorithm>
#include <cmath>

#include "lithe/lcp/modes/tolerances.h"
#include "lithe/linalg/padded_matrix.h"
#include "lithe/simd/internal/packed_vectors.h"

// Which rows are left in the problem and which paths are followed on it; follow_stage_answer.cpp verifies and polishes what they arrive at.
namespace lithe::internal {

namespace {

// Of robots with 20 to 50 rows on joints the third one takes half of the events; more take as long as they save.
constexpr int kSweepsAhead = 3;
constexpr int kSweepsInLoops = 2;
constexpr double kNear = 1e-4;     // of s: what velocities may lack for the last impulses to be a start as they are
constexpr double kMostWork = 2e6;  // multiply-adds of one path
constexpr double kMostWorkInLoops = 2e7;  // the same in loops, where other stages take far longer than in their absence
constexpr int kMostRedone = 2;            // times that saturated rows are put back
// A path that takes more inversions than this is given up, and taken by way of the larger ε that follow.
constexpr int kFewInversions = 3;
constexpr int kFewInversionsInLoops = 12;
constexpr double kLargerRidges[] = {1e-4, 1e-6};
// Up to so many rows Lemke's path from nothing takes less time than one more from the last impulses, if there are no loops.
constexpr int kFewRows = 40;

// A soft row is expected between its bounds if it was there with this share of their distance to spare.
constexpr double kSpare = 0.1;

}  // namespace

FollowStage::Outcome FollowStage::run(const PreparedLcp& problem, const LoopStresses& stresses, const LcpGuess& guess,
                                      std::span<const double> b_free) {
  stresses_ = &stresses;
  events_ = inversions_ = 0;
  keep_.assign(problem.size(), 0);
  guess_.assign(guess.modes.begin(), guess.modes.end());
  problem.make_consistent(guess_);
  // All at once, so that no later step finds something missing.
  for (auto* vector : {&start_, &swept_start_, &soft_start_, &guess_start_}) vector->reserve(problem.size());
  for (auto* vector : {&f_, &w_, &f_ridge_, &f_free_, &r_, &correction_, &stress_}) vector->resize(problem.size());
  return has_loops() ? run_in_loops(problem, guess, b_free) : run_ahead(problem, guess, b_free);
}

FollowStage::Outcome FollowStage::run_in_loops(const PreparedLcp& problem, const LcpGuess& guess,
                                               std::span<const double> b_free) {
  for (int redone = 0; redone <= kMostRedone; ++redone) {
    choose_eliminated(problem, guess.impulses);
    const Outcome outcome = settle_nearby(problem, guess) ? Outcome::solved : climb(problem, guess.impulses, b_free);
    if (!keep_saturated(problem)) return outcome;
  }
  return Outcome::modes;
}

// Sweeps come first: they tell which rows a path will hardly meet. Where they were wrong, the solution of the smaller problem is the next
// start.
FollowStage::Outcome FollowStage::run_ahead(const PreparedLcp& problem, const LcpGuess& guess,
                                            std::span<const double> b_free) {
  took_guess_ = false;
  swept_.run(problem, guess.impulses, kSweepsAhead);
  roles_.resize(problem.size());
  swept_.choose_roles(problem, roles_);
  std::ranges::copy(swept_.f(), f_.begin());
  for (int redone = 0;; ++redone) {
    set_roles(problem);
    start_.assign(f_.begin(), f_.end());
    const Outcome outcome = climb(problem, start_, b_free);
    if (outcome == Outcome::failed && keep_all()) {
      f_.assign(guess.impulses.begin(), guess.impulses.end());
      continue;
    }
    if (!keep_misjudged(problem)) return outcome;
    if (redone == kMostRedone) keep_all();
  }
}

// What rows with constant impulses push becomes part of b. Which rows these are is as good as random, so they are listed without branches.
// A constant row's mode is what its impulse says.
void FollowStage::set_roles(const PreparedLcp& problem) {
  reduced_with_ = compared_with_ = 0;
  const int n = problem.size();
  constant_modes_.resize(n);
  pushing_.resize(static_cast<std::size_t>(n) + 1);
  int count = 0;
  for (int i = 0; i < n; ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    const RowMode bound = f_[i] <= row.lower ? RowMode::at_lower : RowMode::at_upper;
    constant_modes_[i] = row.kind == RowKind::bounded ? bound : RowMode::separating;
    pushing_[count] = i;
    const int constant = roles_[i] == RowRole::constant, pushes = f_[i] != 0;
    count += constant & pushes;
  }
  b_constant_.assign(padded(n), 0.0);
  std::ranges::copy(problem.lcp.b, b_constant_.begin());
  for (int k = 0; k < count; ++k) {
    add_multiple(f_[pushing_[k]], problem.lcp.column(pushing_[k]), b_constant_.data(), padded(n));
  }
  b_ = std::span(b_constant_).first(n);
}

// No row is constant any more: true if there was one.
bool FollowStage::keep_all() {
  bool any = false;
  for (RowRole& role : roles_) {
    any = any || role == RowRole::constant;
    if (role == RowRole::constant) role = RowRole::kept;
  }
  return any;
}

// Keeps the rows whose role turns out to be wrong, eliminated ones that are not between their bounds and constant ones whose mode is
// another: true if there are any.
bool FollowStage::keep_misjudged(const PreparedLcp& problem) {
  bool any = false;
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    const bool saturated =
        roles_[i] == RowRole::eliminated && problem.live[i] && !(f_[i] > row.lower && f_[i] < row.upper);
    const bool moves = roles_[i] == RowRole::constant && modes_[i] != constant_modes_[i];
    if (!saturated && !moves) continue;
    // A normal and its friction rows go together.
    roles_[i] = RowRole::kept;
    any = true;
  }
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    if (row.kind == RowKind::friction && roles_[row.normal] == RowRole::kept) roles_[i] = RowRole::kept;
  }
  return any;
}

// Makes the problem without E for this ε, if it is not at hand.
void FollowStage::reduce(const PreparedLcp& problem, double epsilon) {
  epsilon_ = epsilon;
  ridge_ = epsilon * problem.mean_diagonal;
  if (reduced_with_ == epsilon) return;
  reduced_with_ = epsilon;
  reduced_.reduce(problem, *stresses_, roles_, b_, ridge_);
}

// In loops, where next to nothing has changed: the guessed modes, with the ridge that had found them, or those to which a short path leads
// from their impulses. The last impulses are no such start, since they are not kept with all digits, which is much for rows that others
// imply; and the modes that are right for one ridge may be far from those for another.
bool FollowStage::settle_nearby(const PreparedLcp& problem, const LcpGuess& guess) {
  took_guess_ = has_guess_start_ = false;
  if (!has_loops()) return false;
  const bool small = guess.ridge > 0 && guess.ridge < 0.5 * kRidgeLevels[0];
  reduce(problem, kRidgeLevels[small ? 1 : 0]);
  if (!guess.steady && !is_near(problem, guess.impulses)) return false;
  rest_guess_.resize(reduced_.size());
  for (int i = 0; i < reduced_.size(); ++i) rest_guess_[i] = guess_[reduced_.kept()[i]];
  const bool regular = path_.take_modes(reduced_, ridge_, rest_guess_);
  inversions_ += path_.inversions();
  if (!regular) return false;
  const ModeInverse::Form form = path_.next_form();
  took_guess_ = is_settled(problem);
  if (took_guess_) return true;
  if (!(ridge_ * largest_magnitude(f_ridge_) <= problem.scale)) return false;
  guess_start_.resize(reduced_.size());
  for (int i = 0; i < reduced_.size(); ++i) guess_start_[i] = f_ridge_[reduced_.kept()[i]];
  has_guess_start_ = !small;
  if (!small || !is_near(problem, guess.impulses)) return false;
  return follow_from(guess_start_, 0, few_events(), form) && is_settled(problem);
}

// Whether the last impulses almost solve the problem as they are. start_ then has them, with rows that were at a bound exactly there.
bool FollowStage::is_near(const PreparedLcp& problem, std::span<const double> impulses) {
  if (compared_with_ == epsilon_) return is_near_;
  compared_with_ = epsilon_;
  start_.resize(reduced_.size());
  for (int i = 0; i < reduced_.size(); ++i) {
    const int row = reduced_.kept()[i];
    start_[i] = guess_[row] == RowMode::at_upper   ? LcpRow::kInfinity
                : guess_[row] == RowMode::at_lower ? -LcpRow::kInfinity
                                                   : impulses[row];
  }
  path_.start(reduced_, ridge_, start_);
  is_near_ = path_.distance() <= kNear * problem.scale;
  return is_near_;
}

// Whether the modes at which the path is are an answer beyond doubt.
bool FollowStage::is_settled(const PreparedLcp& problem) {
  const bool exact = find_impulses(problem);
  f_ridge_ = f_;
  const double bend = ridge_ * largest_magnitude(f_);
  if (!exact || bend > problem.scale) return false;
  return verify(problem, bend > kBend * problem.scale) == Outcome::solved && residual_ <= kAlmostPolished && is_final();
}

// Finds right modes for the first ridge and, where it bends the equations too much for the polished impulses to be a solution, for a
// smaller one.
FollowStage::Outcome FollowStage::climb(const PreparedLcp& problem, std::span<const double> impulses,
                                        std::span<const double> b_free) {
  for (const double epsilon : {kRidgeLevels[0], kRidgeLevels[1]}) {  // with smaller ones an inverse has no digits left
    const bool first = epsilon == kRidgeLevels[0];
    reduce(problem, epsilon);
    if (!(first ? follow(problem, impulses) : follow_from(start_, 0, many_events(), path_.next_form()))) {
      return first ? Outcome::failed : Outcome::modes;
    }
    const bool exact = find_impulses(problem);
    start_.resize(reduced_.size());
    for (int i = 0; i < reduced_.size(); ++i) start_[i] = f_[reduced_.kept()[i]];
    const double largest = largest_magnitude(f_);
    const bool bends = ridge_ * largest > kBend * problem.scale;
    if (!bends && !exact) return Outcome::modes;
    // Weights do not bend the equations by the whole velocity scale.
    const bool hopeless = ridge_ * largest > problem.scale;
    if (exact && !hopeless) {
      const Outcome outcome = verify(problem, bends);
      if (outcome == Outcome::solved ? is_final() : !bends) return outcome;
    }
    if (targets_push(problem, largest, b_free)) {
      stress_ = f_;
      for (int pass = 0; pass < 2; ++pass) find_stress();
      return Outcome::contradiction;
    }
  }
  return Outcome::modes;
}

// Whether what verify() found is an answer, and no smaller ridge is to be tried: in loops a lever may turn what the ridge lets pass into
// motion, and then polished impulses break the conditions of the same modes.
bool FollowStage::is_final() const {
  return epsilon_ != kRidgeLevels[0] || polished_residual_ <= kAlmostPolished || !has_loops();
}

// In loops E are the two-sided rows, and the soft ones that the last impulses show well between their bounds.
void FollowStage::choose_eliminated(const PreparedLcp& problem, std::span<const double> impulses) {
  reduced_with_ = compared_with_ = 0;
  b_ = problem.lcp.b;
  roles_.assign(problem.size(), RowRole::kept);
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    if (row.kind == RowKind::two_sided) roles_[i] = RowRole::eliminated;
    if (row.kind != RowKind::bounded || !row.soft || keep_[i] || guess_[i] != RowMode::clamping) continue;
    const double spare = kSpare * (row.upper - row.lower);
    if (impulses[i] > row.lower + spare && impulses[i] < row.upper - spare) roles_[i] = RowRole::eliminated;
  }
}

// A path from the last impulses. In loops two sweeps come first, and few events are allowed: sweeps save most of the events, but they
// spread impulses over redundant rows, from where some paths get nowhere. Those paths begin anew from the impulses as they were. Impulses
// are not kept with all digits, which matters in loops. There rows that were at their bounds are put exactly there, and where next to
// nothing has changed a path from these impulses comes first.
bool FollowStage::follow(const PreparedLcp& problem, std::span<const double> impulses) {
  const int n = reduced_.size();
  swept_start_.resize(n);
  for (int i = 0; i < n; ++i) swept_start_[i] = impulses[reduced_.kept()[i]];
  const bool loops = has_loops();
  if (loops && is_near(problem, impulses) && follow_from(has_guess_start_ ? guess_start_ : start_, 0, few_events())) {
    return true;
  }
  const int sweeps = loops ? kSweepsInLoops : 0;
  const int inversions = loops ? kFewInversionsInLoops : kFewInversions;
  if (follow_from(swept_start_, sweeps, loops ? few_events() : many_events(), ModeInverse::Form::inverse, inversions)) {
    return true;
  }
  const bool cut_short = path_.inversions() > inversions;
  if (cut_short && follow_softly(problem, sweeps)) return true;
  if (loops) return follow_from(start_, 0, many_events());
  return cut_short && n > kFewRows && follow_from(swept_start_, 0, many_events());
}

// A path by way of larger ridges. Where rows are redundant, as where many contacts come at once, the inverse of the first level is made
// anew at every event. With the largest ridge it never is, and from each ridge to the next a few events are left.
bool FollowStage::follow_softly(const PreparedLcp& problem, int sweeps) {
  const double epsilon = epsilon_;
  soft_start_ = swept_start_;
  bool found = true;
  for (const double soft : kLargerRidges) {
    if (!found) break;
    reduce(problem, soft);
    found = follow_from(soft_start_, soft == kLargerRidges[0] ? sweeps : 0, many_events());
    soft_start_.assign(path_.f(), path_.f() + reduced_.size());
  }
  reduce(problem, epsilon);
  return found && follow_from(soft_start_, 0, many_events(), ModeInverse::Form::expects_lu);
}

// One path from these impulses, after so many sweeps and within these limits.
bool FollowStage::follow_from(std::span<const double> start, int sweeps, int events, ModeInverse::Form form,
                              int inversions) {
  path_.start(reduced_, ridge_, start);
  if (sweeps > 0) path_.sweep(sweeps);
  const double work = has_loops() ? kMostWorkInLoops : kMostWork;
  const bool found = path_.follow({.events = events, .work = work, .inversions = inversions, .form = form});
  events_ += path_.events();
  inversions_ += path_.inversions();
  return found;
}

// Soft rows that were expected between their bounds and are not are kept from now on: true if there are any.
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

// Whether there are two-sided rows. Only these take part in stresses: soft rows would answer them by their own compliance.
bool FollowStage::has_loops() const { return !stresses_->rows().empty(); }

}  // namespace lithe::internal

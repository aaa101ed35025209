#include "lithe/lcp/direct/follow_stage.h"

#include <algorithm>
#include <cmath>

#include "lithe/lcp/modes/active_set.h"
#include "lithe/lcp/modes/tied_rows.h"
#include "lithe/lcp/modes/tolerances.h"
#include "lithe/simd/internal/packed_vectors.h"

namespace lithe::internal {

namespace {

// Of robots with 20 to 50 rows on joints the third one takes half of the events; more take as long as they save.
constexpr int kSweepsAhead = 3;
constexpr int kSweepsInLoops = 2;
constexpr double kNear = 1e-4;     // of s: what velocities may lack for the last impulses to be a start as they are
constexpr double kMostWork = 2e6;  // multiply-adds of one path
constexpr double kMostWorkInLoops = 2e7;  // the same in loops, where other stages take far longer than in their absence
constexpr int kMostRedone = 2;            // times that saturated rows are put back
// A path that takes more inversions than that goes by way of these ε.
constexpr int kFewInversions = 3;
constexpr int kFewInversionsInLoops = 12;
constexpr double kLargerRidges[] = {1e-4, 1e-6};
// Up to so many rows Lemke's path from nothing takes less time than one more from the last impulses, if there are no loops.
constexpr int kFewRows = 40;
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

// Sweeps come first: they tell which rows a path will hardly meet. Where they were wrong, the solution of the smaller problem is the next start.
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

bool FollowStage::keep_all() {
  bool any = false;
  for (RowRole& role : roles_) {
    any = any || role == RowRole::constant;
    if (role == RowRole::constant) role = RowRole::kept;
  }
  return any;
}

// Rows whose role turns out to be wrong: true if there are any.
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

// Without E, if that is not at hand.
void FollowStage::reduce(const PreparedLcp& problem, double epsilon) {
  epsilon_ = epsilon;
  ridge_ = epsilon * problem.mean_diagonal;
  if (reduced_with_ == epsilon) return;
  reduced_with_ = epsilon;
  reduced_.reduce(problem, *stresses_, roles_, b_, ridge_);
}

// In loops, where next to nothing has changed: the guessed modes, with the ridge that had found them, or those to which a short path leads from their
// impulses. The last impulses are no such start, since they are not kept with all digits, which is much for rows that others imply; and the
// modes that are right for one ridge may be far from those for another.
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

// Whether the last impulses, those at bounds exactly there, almost solve the problem as they are; start_ then has them.
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

// The ridge's impulses of the modes at which the path is; false where rounding keeps it from them.
bool FollowStage::find_impulses(const PreparedLcp& problem) {
  write_modes(problem);
  reduced_.recover(path_.f(), b_, f_);
  // Without loops rows that creep by as little are tied, and left to others.
  const double goal = has_loops() ? kRidgeGoal : kRidgeEnough;
  return refine(problem, goal * problem.scale, kRidgeEnough * problem.scale);
}

// Right modes for the ridge and, where it bends the equations too much for the polished impulses to be a solution, for a smaller
// one.
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
    // A bend of this size is no weight's.
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

// Whether what verify() found is an answer, and no smaller ridge is to be tried: in loops a lever may turn what the ridge lets pass into motion, and then
// polished impulses break the conditions of the same modes.
bool FollowStage::is_final() const {
  return epsilon_ != kRidgeLevels[0] || polished_residual_ <= kAlmostPolished || !has_loops();
}

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

// From impulses after two sweeps, on a short leash: sweeps save most of the events, but spread impulses over redundant rows,
// from where some paths get nowhere. Those begin anew from the impulses as they were. These are not kept with all digits; in loops, where
// that matters, rows that were at their bounds are exactly there, and where next to nothing has changed that comes first.
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

// By way of larger ridges. Where rows are redundant, as where many contacts come at once, the inverse of the first level is made anew at every
// event; with the largest ridge never, and from each one to the next a few events are left.
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

void FollowStage::write_modes(const PreparedLcp& problem) {
  modes_.assign(problem.size(), RowMode::clamping);
  for (int i = 0; i < reduced_.size(); ++i) modes_[reduced_.kept()[i]] = path_.modes()[i];
  for (int i = 0; i < problem.size(); ++i) {
    if (roles_[i] == RowRole::constant) modes_[i] = constant_modes_[i];
  }
  problem.make_consistent(modes_);
}

// E among them.
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

// The same modes without targets; `largest` impulse is that with them. Targets that push against one another have impulses that grow as the
// ridge gets smaller, and without them all is well; weights on light bodies, which also bend the ridge, stay.
bool FollowStage::targets_push(const PreparedLcp& problem, double largest, std::span<const double> b_free) {
  if (b_free.empty()) return false;
  evaluate(problem.lcp, f_, w_);
  for (int i = 0; i < problem.size(); ++i) w_[i] += b_free[i] - problem.lcp.b[i];
  find_error(problem, ridge_);
  f_free_ = f_;
  correct(f_free_);
  return largest_magnitude(f_free_) < kWithoutTargets * largest;
}

// f are the ridge's impulses and w = A f + b.
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

// The ridge's impulses, if they are better than what polishing has made of them.
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

// Rows that are tied. Without loops that is left to others, and so is a choice: of a normal that clamps and may as well separate, and of soft rows.
// False there.
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

// What the clamping rows, held still, leave of the row's response to its own impulse: A_ii − aᵀx with (A + ε̄I) x = a, but for ε̄ x², by which
// those rows creep.
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

// The same of a row that clamps, by the others: 1/x_i with (A + ε̄I) x = e_i, but for ε̄ (x/x_i)².
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

// False where taking it out once more changes the impulses: then no group inverse exists, or rows are almost redundant.
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

// Only two-sided rows of E take part in stresses: soft rows would answer them by their own compliance.
bool FollowStage::has_loops() const { return !stresses_->rows().empty(); }

}  // namespace lithe::internal

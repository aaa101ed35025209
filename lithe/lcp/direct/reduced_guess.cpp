#include "lithe/lcp/direct/reduced_guess.h"

#include <algorithm>

#include "lithe/lcp/modes/active_set.h"
#include "lithe/lcp/modes/tolerances.h"

namespace lithe::internal {

namespace {

// The detour is the shorter way where one of so many clamping rows is soft, and there are enough of them.
constexpr int kOneIn = 4, kFewest = 24;
constexpr double kLeastLeft = 1e-4;      // of A_ii, that stiff motors leave: with less, ranks are told from all rows
constexpr double kGuessRefined = 1e-13;  // of s
constexpr int kMostGuessRefinements = 20;

}  // namespace

ReducedGuess::Outcome ReducedGuess::run(const PreparedLcp& problem, const LoopStresses& stresses,
                                        std::span<const RowMode> modes, double ridge) {
  factorizations_ = 0;
  if (!choose_eliminated(problem, modes)) return Outcome::unsure;
  reduced_.reduce(problem, stresses, roles_, problem.lcp.b, ridge);
  if (!prepare_reduced(problem, modes)) return Outcome::unsure;
  ++factorizations_;
  solution_.compute(rest_, rest_modes_, ridge);
  if (solution_.bend() > kBend * problem.scale) return Outcome::unsure;

  for (auto* vector : {&f_, &w_, &best_, &r_, &change_}) vector->resize(problem.size());
  for (AlignedBuffer* buffer : {&f_R_, &r_R_, &change_R_}) buffer->assign(padded(reduced_.size()), 0.0);
  std::ranges::copy(solution_.f(), f_R_.begin());
  reduced_.recover(f_R_.data(), problem.lcp.b, f_);
  evaluate(problem.lcp, f_, w_);
  moved_.assign(modes.begin(), modes.end());
  if (move_violators(problem, ridge, f_, w_, moved_) != 0) return Outcome::wrong;
  return polish(problem, modes) && settle_ties(problem) ? Outcome::right : Outcome::unsure;
}

// Soft rows that clamp. Two-sided rows may share stresses with others, which are no matter of the smaller problem alone.
bool ReducedGuess::choose_eliminated(const PreparedLcp& problem, std::span<const RowMode> modes) {
  roles_.assign(problem.size(), RowRole::kept);
  int count = 0, clamping = 0;
  for (int i = 0; i < problem.size(); ++i) {
    const LcpRow& row = problem.lcp.rows[i];
    if (!problem.live[i] || modes[i] != RowMode::clamping) continue;
    if (row.kind == RowKind::two_sided) return false;
    ++clamping;
    if (row.kind != RowKind::bounded || !row.soft) continue;
    roles_[i] = RowRole::eliminated;
    ++count;
  }
  return clamping >= kFewest && kOneIn * count >= clamping;
}

// The reduced problem as a prepared one, with its modes. False where stiff motors leave a row so little of its response that ranks are
// uncertain, or none.
bool ReducedGuess::prepare_reduced(const PreparedLcp& problem, std::span<const RowMode> modes) {
  const int n = reduced_.size();
  rest_modes_.resize(n);
  for (int i = 0; i < n; ++i) {
    if (!(reduced_.diagonal(i) > kLeastLeft * reduced_.whole_diagonal(i))) return false;
    rest_modes_[i] = modes[reduced_.kept()[i]];
  }
  const std::span<const double> b(reduced_.b(), static_cast<std::size_t>(n));
  rest_.prepare(
      {.rows = reduced_.rows(), .A = reduced_.A().column(0), .stride = reduced_.A().stride, .b = b, .target = {}});
  if (rest_.live_rows != n) return false;
  // Rows are judged as those of the whole problem.
  rest_.scale = problem.scale;
  for (int i = 0; i < n; ++i) rest_.diagonal[i] = reduced_.whole_diagonal(i);
  return true;
}

// Polished impulses, improved as long as that helps; false where they are no solution.
bool ReducedGuess::polish(const PreparedLcp& problem, std::span<const RowMode> modes) {
  const std::span<double> f_R = std::span(f_R_).first(reduced_.size());
  if (!solution_.is_polished()) {
    if (!solution_.polish(rest_, rest_modes_, f_R)) return false;
    reduced_.recover(f_R_.data(), problem.lcp.b, f_);
    evaluate(problem.lcp, f_, w_);
  }
  residual_ = LcpRow::kInfinity;
  for (int round = 0;; ++round) {
    const double now = largest_violation(problem.lcp, f_, w_) / problem.scale;
    if (round > 0 && !(now < 0.5 * residual_)) {
      f_ = best_;
      evaluate(problem.lcp, f_, w_);
      break;
    }
    residual_ = now;
    if (now <= kGuessRefined || round == kMostGuessRefinements) break;
    best_ = f_;
    correct(modes);
    evaluate(problem.lcp, f_, w_);
  }
  return residual_ <= kPolishedResidual;
}

// Takes what the clamping rows have of w out of f.
void ReducedGuess::correct(std::span<const RowMode> modes) {
  const int n = reduced_.size();
  for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = modes[i] == RowMode::clamping ? w_[i] : 0.0;
  reduced_.reduce_vector(r_, r_R_.data());
  for (int i = 0; i < n; ++i) change_R_[i] = -f_R_[i];
  solution_.refine(rest_, rest_modes_, std::span(r_R_).first(n), std::span(f_R_).first(n));
  for (int i = 0; i < n; ++i) {
    change_R_[i] += f_R_[i];
    f_[reduced_.kept()[i]] = f_R_[i];
  }
  reduced_.recover_eliminated(change_R_.data(), r_, change_);
  for (const int i : reduced_.eliminated()) f_[i] += change_[i];
}

// What is tied. False where a choice is to be made: of a normal that clamps, which may as well separate, and of soft rows.
bool ReducedGuess::settle_ties(const PreparedLcp& problem) {
  for (const int i : reduced_.eliminated()) {
    if (is_tied(problem, i, f_, w_)) return false;
  }
  const int n = reduced_.size();
  for (int i = 0; i < n; ++i) {
    f_R_[i] = f_[reduced_.kept()[i]];
    r_R_[i] = w_[reduced_.kept()[i]];
  }
  tied_.find(rest_, rest_modes_, solution_.factor(), std::span(f_R_).first(n), std::span(r_R_).first(n));
  return std::ranges::none_of(tied_.kinks(), [&](int i) {
    return reduced_.rows()[i].kind == RowKind::one_sided && rest_modes_[i] == RowMode::clamping;
  });
}

}  // namespace lithe::internal

#include "lithe/lcp/block/path.h"

#include <algorithm>
#include <cmath>

#include "lithe/linalg/padded_matrix.h"

namespace lithe::internal {

namespace {

constexpr double kNeverComesBack = 100;  // t
// Rates are corrected until they leave no more than the first share of p in the equations, and count as found below the second. Where more
// than two corrections are needed the factor is to blame.
constexpr double kRatesGoal = 1e-15, kRatesEnough = 1e-7;
constexpr double kRoundingOfRates = 1e-12;  // of the largest push
constexpr int kMostCorrectionsOfRates = 4;

// Impulses and velocities start apart by shares of this size: the corners of a brick are mirror images of one another, and rows that
// change their modes at once may do so for ever.
constexpr double kApart = 1e-3;

}  // namespace

PathPoint BlockPath::point() const {
  return {.rows = problem_->lcp.rows,
          .modes = modes_,
          .diagonal = diagonal_.data(),
          .f = f_.data(),
          .w = w_.data(),
          .df = df_.data(),
          .dw = dw_.data(),
          .entering = entering_,
          .left = left_};
}

void BlockPath::start(std::span<const double> f) {
  n_ = problem_->size();
  events_ = 0;
  seen_.clear();
  t_ = 1;
  entering_ = -1;
  for (auto* vector : {&w_, &p_, &df_, &dw_, &r_, &diagonal_}) vector->assign(n_, 0.0);
  modes_.assign(n_, RowMode::separating);
  tangents_.assign(2 * static_cast<std::size_t>(n_), -1);
  f_.assign(f.begin(), f.end());
  for (int i = 0; i < n_; ++i) {
    diagonal_[i] = problem_->live[i] ? problem_->diagonal[i] : 0.0;
    if (!moves(i) && row(i).kind != RowKind::bounded) f_[i] = 0;
    if (row(i).kind == RowKind::one_sided) f_[i] *= 1 + apart(i);
    if (row(i).kind != RowKind::friction) continue;
    int* of_normal = &tangents_[2 * static_cast<std::size_t>(row(i).normal)];
    of_normal[of_normal[0] < 0 ? 0 : 1] = i;
  }
  clamp_to_bounds(problem_->lcp.rows, f_);
  system_->evaluate(f_, w_);
  classify();
  find_perturbation();
}

double BlockPath::apart(int i) const {
  return kApart * spread(row(i).key != 0 ? row(i).key : static_cast<std::uint64_t>(i), 1);
}

// In each classification the path is one piece of a line. One that comes back is a loop, or lost in rounding.
bool BlockPath::is_new() {
  std::uint64_t hash = 0;
  for (int i = 0; i < n_; ++i) hash = (hash ^ static_cast<std::uint64_t>(modes_[i])) * 1099511628211ull;  // FNV
  if (std::ranges::find(seen_, hash) != seen_.end()) return false;
  seen_.push_back(hash);
  return true;
}

// The modes that f suggests: at a bound where f is, else clamping.
void BlockPath::classify() {
  for (int i = 0; i < n_; ++i) {
    const RowBounds bounds = bounds_of(row(i), f_);
    RowMode& c = modes_[i];
    if (!moves(i)) {
      c = problem_->inert_mode(i);
    } else if (row(i).kind == RowKind::two_sided) {
      c = RowMode::clamping;
    } else if (row(i).kind == RowKind::one_sided || (row(i).kind == RowKind::friction && !(bounds.upper > 0))) {
      c = row(i).kind == RowKind::one_sided && f_[i] > 0 ? RowMode::clamping : RowMode::separating;
    } else {
      c = f_[i] <= bounds.lower ? RowMode::at_lower : f_[i] >= bounds.upper ? RowMode::at_upper : RowMode::clamping;
    }
  }
}

// p, and w of the ridge problem with b + p: zero where rows clamp, of the right sign at bounds.
void BlockPath::find_perturbation() {
  for (int i = 0; i < n_; ++i) {
    w_[i] += ridge_ * f_[i];
    if (!moves(i)) continue;
    const RowMode c = modes_[i];
    if (c == RowMode::clamping) {
      p_[i] = -w_[i];
      w_[i] = 0;
    } else if (row(i).kind != RowKind::friction || c != RowMode::separating) {
      const double side = c == RowMode::at_upper ? -1.0 : 1.0;
      const bool imposed = row(i).kind == RowKind::bounded && row(i).lower == row(i).upper;
      if (imposed) continue;
      const double wanted = side * std::abs(w_[i]) * (1 + apart(i));
      p_[i] = wanted - w_[i];
      w_[i] = wanted;
    }
  }
}

// Sets the impulses of friction rows at their bounds from those of their normals.
void BlockPath::take_along(std::span<double> f) const {
  for (int i = 0; i < n_; ++i) {
    if (row(i).kind != RowKind::friction || !is_at_bound(modes_[i])) continue;
    f[i] = (modes_[i] == RowMode::at_upper ? row(i).friction : -row(i).friction) * f[row(i).normal];
  }
}

// df and dw for dt = −1: (A + ε̄) df = p in the clamping rows. The rates before the last event are where it starts, unless they are
// further off than none.
bool BlockPath::correct_rates() {
  double size = 0;
  for (int i = 0; i < n_; ++i) {
    if (modes_[i] == RowMode::clamping) {
      size = std::max(size, std::abs(p_[i]));
    } else {
      df_[i] = 0;
    }
  }
  take_along(df_);
  double before = LcpRow::kInfinity;
  for (int pass = 0;; ++pass) {
    system_->apply(df_, dw_);
    double left = 0, pushed = 0;
    for (int i = 0; i < n_; ++i) {
      dw_[i] += ridge_ * df_[i] - p_[i];
      if (modes_[i] == RowMode::clamping) left = std::max(left, std::abs(dw_[i]));
      pushed = std::max(pushed, std::abs(df_[i]) * diagonal_[i]);
    }
    if (left <= kRatesGoal * size) return true;
    if (pass == kMostCorrectionsOfRates || (pass > 1 && !(left < 0.5 * before))) {
      return left <= kRatesEnough * size + kRoundingOfRates * pushed;
    }
    before = left;
    if (pass == 0 && left > size) {
      std::fill(df_.begin(), df_.end(), 0.0);
      r_ = p_;
    } else {
      for (int i = 0; i < n_; ++i) r_[i] = -dw_[i];
    }
    system_->correct(r_, df_);
    take_along(df_);
  }
}

bool BlockPath::find_rates() {
  if (!system_->refactorize(modes_)) return false;
  if (correct_rates()) return true;
  return system_->updated() && system_->factorize(modes_, ridge_) && correct_rates();
}

// A normal that comes finds its friction rows sliding against their velocity; one that goes lets them go.
void BlockPath::enter(const PathEvent& event) {
  ++events_;
  entering_ = event.row;
  left_ = modes_[event.row];
  modes_[event.row] = event.next;
  if (event.next == RowMode::clamping) w_[event.row] = 0;
  if (event.next == RowMode::separating) f_[event.row] = 0;
  if (row(event.row).kind != RowKind::one_sided) return;
  for (int s = 0; s < 2; ++s) {
    const int tangent = tangents_[2 * static_cast<std::size_t>(event.row) + s];
    if (tangent < 0) continue;
    if (event.next == RowMode::clamping && moves(tangent)) {
      modes_[tangent] = w_[tangent] > 0 ? RowMode::at_lower : RowMode::at_upper;
    } else {
      modes_[tangent] = RowMode::separating;
      f_[tangent] = 0;
    }
  }
}

bool BlockPath::follow(const PreparedLcp& problem, double ridge, std::span<const double> f, int longest,
                       BlockModeSystem& system) {
  problem_ = &problem;
  system_ = &system;
  ridge_ = ridge;
  start(f);
  if (!system.factorize(modes_, ridge)) return false;
  while (events_ <= longest) {
    if (!find_rates()) return false;
    const double direction = direction_of_entry(point());
    const PathEvent event = next_event(point(), direction, direction > 0 ? t_ : LcpRow::kInfinity);
    if (!std::isfinite(event.step)) return false;
    for (int i = 0; i < n_; ++i) {
      f_[i] += direction * event.step * df_[i];
      w_[i] += direction * event.step * dw_[i];
    }
    t_ -= direction * event.step;
    if (event.row < 0) return true;
    if (!(t_ <= kNeverComesBack)) return false;
    enter(event);
    if (!is_new()) return false;
  }
  return false;
}

}  // namespace lithe::internal

#include "lithe/lcp/direct/solution_path.h"

#include <algorithm>
#include <cmath>

#include "lithe/simd/internal/packed_vectors.h"

namespace lithe::internal {

namespace {

constexpr double kFarthest = 1e3;  // t beyond which nothing comes back

// +1 at an upper bound, −1 at a lower one.
double sign_of(RowMode bound) { return bound == RowMode::at_upper ? 1.0 : -1.0; }
// Whether the row's impulse is given, so that it has no mode to change.
bool is_imposed(const LcpRow& row) { return row.kind == RowKind::bounded && row.lower == row.upper; }

}  // namespace

// Whether friction row i is at its bound, and the share of its normal's impulse that it then has.
bool SolutionPath::slides(int i) const { return row(i).kind == RowKind::friction && is_at_bound(modes_[i]); }
double SolutionPath::coupling(int i) const { return sign_of(modes_[i]) * row(i).friction; }

void SolutionPath::prepare(const ReducedLcp& problem, double ridge) {
  problem_ = &problem;
  ridge_ = ridge;
  n_ = problem.size();
  events_ = inversions_ = 0;
  work_ = 0;
  const int rows = padded(n_);
  // An inverse that has shrunk still writes the packs that it had.
  for (AlignedBuffer* buffer : {&f_, &w_, &p_, &df_, &dw_, &x_, &u_, &v_, &diagonal_, &row_diagonal_}) {
    buffer->assign(static_cast<std::size_t>(rows) + kLanes, 0.0);
  }
  for (int i = 0; i < n_; ++i) row_diagonal_[i] = problem.diagonal(i);
  modes_.assign(n_, RowMode::separating);
  place_.assign(n_, -1);
  tangents_.assign(2 * static_cast<std::size_t>(n_), -1);
  for (int i = 0; i < n_; ++i) {
    if (row(i).kind != RowKind::friction) continue;
    int* of_normal = &tangents_[2 * static_cast<std::size_t>(row(i).normal)];
    of_normal[of_normal[0] < 0 ? 0 : 1] = i;
  }
}

void SolutionPath::start(const ReducedLcp& problem, double ridge, std::span<const double> f) {
  prepare(problem, ridge);
  for (int i = 0; i < n_; ++i) f_[i] = moves(i) || row(i).kind == RowKind::bounded ? f[i] : 0.0;
  clamp_to_bounds(problem.rows(), std::span(f_).first(n_));
  evaluate(problem.b());
}

bool SolutionPath::take_modes(const ReducedLcp& problem, double ridge, std::span<const RowMode> modes) {
  prepare(problem, ridge);
  for (int i = 0; i < n_; ++i) {
    modes_[i] = modes[i] == RowMode::clamping && !moves(i) ? RowMode::separating : modes[i];
  }
  if (!build_inverse(ModeInverse::Form::lu)) return false;
  set_bound_impulses();
  evaluate(problem.b());
  const double* change = answer_to(w_.data());
  for (int i = 0; i < n_; ++i) f_[i] += change[i];
  return true;
}

// w = A f + b.
void SolutionPath::evaluate(const double* b) {
  multiply(problem_->A(), f_.data(), w_.data());
  for (int i = 0; i < padded(n_); i += kLanes) as_pack(&w_[i]) += as_pack(b + i);
}

void SolutionPath::sweep(int count) {
  for (int pass = 0; pass < count; ++pass) {
    for (int i = 0; i < n_; ++i) {
      if (!moves(i)) continue;
      const RowBounds bounds = bounds_of(row(i), f_);
      const double next = std::min(std::max(f_[i] - w_[i] / problem_->diagonal(i), bounds.lower), bounds.upper);
      const double change = next - f_[i];
      if (change == 0) continue;
      f_[i] = next;
      add_multiple(change, column(i), w_.data(), padded(n_));
    }
  }
  // A normal may have let go of friction rows that were swept before it.
  clamp_to_bounds(problem_->rows(), std::span(f_).first(n_));
  evaluate(problem_->b());
}

// The modes that f has by itself.
void SolutionPath::classify() {
  for (int i = 0; i < n_; ++i) {
    const RowBounds bounds = bounds_of(row(i), f_);
    RowMode& c = modes_[i];
    if (row(i).kind == RowKind::two_sided) {
      c = RowMode::clamping;
    } else if (row(i).kind == RowKind::one_sided || (row(i).kind == RowKind::friction && !(bounds.upper > 0))) {
      c = row(i).kind == RowKind::one_sided && f_[i] > 0 ? RowMode::clamping : RowMode::separating;
    } else {
      c = f_[i] <= bounds.lower ? RowMode::at_lower : f_[i] >= bounds.upper ? RowMode::at_upper : RowMode::clamping;
    }
    if (c == RowMode::clamping && !moves(i)) c = RowMode::separating;
  }
}

// p, and w of the ridge problem with b + p: zero where rows clamp, of the right sign at bounds.
void SolutionPath::find_perturbation() {
  for (int i = 0; i < n_; ++i) {
    w_[i] += ridge_ * f_[i];
    p_[i] = 0;
    if (!moves(i)) continue;
    if (modes_[i] == RowMode::clamping) {
      p_[i] = -w_[i];
      w_[i] = 0;
    } else if (row(i).kind != RowKind::friction || modes_[i] != RowMode::separating) {
      const double side = modes_[i] == RowMode::at_upper ? -1.0 : 1.0;
      if (side * w_[i] >= 0 || is_imposed(row(i))) continue;
      p_[i] = -2 * w_[i];
      w_[i] = -w_[i];
    }
  }
}

double SolutionPath::distance() {
  classify();
  double largest = 0;
  for (int i = 0; i < n_; ++i) {
    if (!moves(i) || is_imposed(row(i))) continue;
    const bool held = row(i).kind == RowKind::friction && modes_[i] == RowMode::separating;
    const double wrong = modes_[i] == RowMode::clamping   ? std::abs(w_[i])
                         : modes_[i] == RowMode::at_upper ? w_[i]
                                                          : -w_[i];
    if (!held) largest = std::max(largest, wrong);
  }
  return largest;
}

// Column of K that belongs to row i, over the clamping rows: A's, and what slides along with a normal.
void SolutionPath::fill_column(int i, double* out) const {
  const int m = static_cast<int>(clamping_.size());
  const double* from = column(i);
  for (int k = 0; k < m; ++k) out[k] = from[clamping_[k]];
  for (int k = m; k < padded(m); ++k) out[k] = 0;
  if (row(i).kind != RowKind::one_sided) return;
  for (int s = 0; s < 2; ++s) {
    const int tangent = tangents_[2 * static_cast<std::size_t>(i) + s];
    if (tangent < 0 || !slides(tangent)) continue;
    const double factor = coupling(tangent);
    for (int k = 0; k < m; ++k) out[k] += factor * column(tangent)[clamping_[k]];
  }
}

// Row i of K over the columns of the clamping rows.
void SolutionPath::fill_row(int i, double* out) const {
  const int m = static_cast<int>(clamping_.size());
  const double* from = column(i);  // A is symmetric
  for (int k = 0; k < m; ++k) {
    const int j = clamping_[k];
    out[k] = from[j];
    if (row(j).kind != RowKind::one_sided) continue;
    for (int s = 0; s < 2; ++s) {
      const int tangent = tangents_[2 * static_cast<std::size_t>(j) + s];
      if (tangent >= 0 && slides(tangent)) out[k] += coupling(tangent) * from[tangent];
    }
  }
  for (int k = m; k < padded(m); ++k) out[k] = 0;
}

// K of the present modes, and its inverse, made anew.
bool SolutionPath::build_inverse(ModeInverse::Form form) {
  clamping_.clear();
  for (int i = 0; i < n_; ++i) {
    place_[i] = -1;
    if (modes_[i] != RowMode::clamping) continue;
    place_[i] = static_cast<int>(clamping_.size());
    diagonal_[clamping_.size()] = problem_->diagonal(i);
    clamping_.push_back(i);
  }
  const int m = static_cast<int>(clamping_.size());
  K_.resize(m, m);
  for (int k = 0; k < m; ++k) {
    fill_column(clamping_[k], K_.column(k));
    K_.at(k, k) += ridge_;
  }
  ++inversions_;
  work_ += static_cast<double>(m) * m * m;
  return inverse_.set(K_, diagonal_.data(), form);
}

// Row i joins the clamping rows, with what slides along with it if it is a normal.
bool SolutionPath::append(int i) {
  fill_column(i, u_.data());
  fill_row(i, v_.data());
  double corner = problem_->diagonal(i) + ridge_;
  if (row(i).kind == RowKind::one_sided) {
    for (int s = 0; s < 2; ++s) {
      const int tangent = tangents_[2 * static_cast<std::size_t>(i) + s];
      if (tangent >= 0 && slides(tangent)) corner += coupling(tangent) * column(tangent)[i];
    }
  }
  if (!inverse_.append(u_.data(), v_.data(), corner)) return false;
  place_[i] = static_cast<int>(clamping_.size());
  diagonal_[clamping_.size()] = problem_->diagonal(i);
  clamping_.push_back(i);
  return true;
}

// Row i leaves the clamping rows; the last one takes its place in K.
bool SolutionPath::remove(int i) {
  const int k = place_[i];
  if (!inverse_.remove(k)) return false;
  const int last = clamping_.back();
  clamping_[k] = last;
  diagonal_[k] = problem_->diagonal(last);
  place_[last] = k;
  clamping_.pop_back();
  place_[i] = -1;
  return true;
}

// Friction row i begins (`factor` = its coupling) or ends (the negative) to slide along with its normal.
bool SolutionPath::slide(int i, double factor) {
  const int m = static_cast<int>(clamping_.size());
  for (int k = 0; k < m; ++k) v_[k] = factor * column(i)[clamping_[k]];
  for (int k = m; k < padded(m); ++k) v_[k] = 0;
  return inverse_.change_column(place_[row(i).normal], v_.data());
}

// Whether taking the row out by an update would leave nothing but rounding.
bool SolutionPath::is_fragile(int i) const {
  const auto fragile = [&](int j) {
    return j >= 0 && place_[j] >= 0 &&
           std::abs(inverse_.diagonal(place_[j])) * problem_->diagonal(j) > ModeInverse::kFragile;
  };
  const int normal = row(i).kind == RowKind::friction ? row(i).normal : i;
  return fragile(normal) || fragile(tangents_[2 * static_cast<std::size_t>(normal)]) ||
         fragile(tangents_[2 * static_cast<std::size_t>(normal) + 1]);
}

// Gives row i its new mode: by an update of the inverse where that keeps enough digits, else by a new one.
bool SolutionPath::change_mode(int i, RowMode next) {
  const bool only_adds = next == RowMode::clamping && row(i).kind != RowKind::friction;
  if (!inverse_.uses_lu() && (only_adds || !is_fragile(i)) && update(i, next)) {
    work_ += 3.0 * n_ * static_cast<double>(clamping_.size());
    return true;
  }
  modes_[i] = next;
  return build_inverse(inverse_.next_form());
}

// Brings the inverse up to date. Where a change of it fails, the modes of the friction rows are right all the same.
bool SolutionPath::update(int i, RowMode next) {
  const RowMode now = modes_[i];
  switch (row(i).kind) {
    case RowKind::one_sided: {
      modes_[i] = next;
      if (next == RowMode::clamping) return append(i);
      for (int s = 0; s < 2; ++s) {
        const int tangent = tangents_[2 * static_cast<std::size_t>(i) + s];
        if (tangent >= 0 && place_[tangent] >= 0 && !remove(tangent)) return false;
      }
      return remove(i);
    }
    case RowKind::friction:
      if (next == RowMode::clamping) {
        if (!slide(i, -sign_of(now) * row(i).friction)) return false;
        modes_[i] = next;
        return append(i);
      }
      if (!remove(i)) return false;
      modes_[i] = next;
      return slide(i, coupling(i));
    case RowKind::bounded:
    case RowKind::two_sided: break;
  }
  modes_[i] = next;
  return next == RowMode::clamping ? append(i) : remove(i);
}

// df and dw for dt = −1.
void SolutionPath::find_direction() {
  const int m = static_cast<int>(clamping_.size());
  for (int k = 0; k < m; ++k) x_[k] = p_[clamping_[k]];
  for (int k = m; k < padded(m); ++k) x_[k] = 0;
  inverse_.solve(x_.data(), u_.data());
  std::fill(df_.begin(), df_.end(), 0.0);
  for (int k = 0; k < m; ++k) df_[clamping_[k]] = u_[k];
  push_bounded(df_.data());
  multiply(problem_->A(), df_.data(), dw_.data());
  for (int i = 0; i < n_; ++i) dw_[i] += ridge_ * df_[i] - p_[i];
  work_ += static_cast<double>(n_) * n_ + static_cast<double>(m) * m;
}

// Sets the impulses of friction rows at their bounds from those of their normals.
void SolutionPath::push_bounded(double* f) const {
  for (int i = 0; i < n_; ++i) {
    if (slides(i)) f[i] = coupling(i) * f[row(i).normal];
  }
}

PathPoint SolutionPath::point() const {
  return {.rows = problem_->rows(),
          .modes = modes_,
          .diagonal = row_diagonal_.data(),
          .f = f_.data(),
          .w = w_.data(),
          .df = df_.data(),
          .dw = dw_.data(),
          .entering = entering_,
          .left = left_};
}

bool SolutionPath::follow(const Limits& limits) {
  classify();
  find_perturbation();
  if (!build_inverse(limits.form)) return false;
  t_ = 1;
  entering_ = -1;
  for (int count = 0; count <= limits.events && work_ <= limits.work && inversions_ <= limits.inversions; ++count) {
    find_direction();
    const PathPoint here = point();
    const double direction = direction_of_entry(here);  // −1: t rises
    const PathEvent event = next_event(here, direction, direction > 0 ? t_ : LcpRow::kInfinity);
    if (!std::isfinite(event.step)) return false;
    add_multiple(direction * event.step, df_.data(), f_.data(), padded(n_));
    add_multiple(direction * event.step, dw_.data(), w_.data(), padded(n_));
    t_ -= direction * event.step;
    if (event.row < 0) {
      set_bound_impulses();
      push_bounded(f_.data());
      return true;
    }
    if (!(t_ <= kFarthest)) return false;
    ++events_;
    entering_ = event.row;
    left_ = modes_[event.row];
    const bool normal = row(event.row).kind == RowKind::one_sided;
    for (int s = 0; s < 2 && normal; ++s) {
      const int tangent = tangents_[2 * static_cast<std::size_t>(event.row) + s];
      if (tangent < 0) continue;
      // A normal that comes finds its friction rows sliding against their velocity; one that goes lets them go.
      if (event.next == RowMode::clamping && moves(tangent)) {
        modes_[tangent] = w_[tangent] > 0 ? RowMode::at_lower : RowMode::at_upper;
      } else {
        modes_[tangent] = RowMode::separating;
        f_[tangent] = 0;
      }
    }
    if (event.next == RowMode::clamping) w_[event.row] = 0;
    if (event.next == RowMode::separating) f_[event.row] = 0;
    if (!change_mode(event.row, event.next)) return false;
  }
  return false;
}

// Sets the impulses that the modes give by themselves: at constant bounds and of separating rows.
void SolutionPath::set_bound_impulses() {
  for (int i = 0; i < n_; ++i) {
    if (row(i).kind == RowKind::bounded && is_at_bound(modes_[i])) {
      f_[i] = modes_[i] == RowMode::at_upper ? row(i).upper : row(i).lower;
    } else if (modes_[i] == RowMode::separating) {
      f_[i] = row(i).kind == RowKind::bounded ? std::clamp(0.0, row(i).lower, row(i).upper) : 0.0;
    }
  }
}

const double* SolutionPath::answer_to(const double* r) {
  const int m = static_cast<int>(clamping_.size());
  for (int k = 0; k < m; ++k) x_[k] = -r[clamping_[k]];
  for (int k = m; k < padded(m); ++k) x_[k] = 0;
  inverse_.solve(x_.data(), u_.data());
  std::fill(df_.begin(), df_.end(), 0.0);
  for (int k = 0; k < m; ++k) df_[clamping_[k]] = u_[k];
  push_bounded(df_.data());
  return df_.data();
}

// Rows count by their whole A_ii, because a row that eliminated ones imply responds to the ridge alone.
bool SolutionPath::is_redundant() {
  for (std::size_t k = 0; k < clamping_.size(); ++k) x_[k] = problem_->whole_diagonal(clamping_[k]);
  return inverse_.is_redundant(x_.data());
}

}  // namespace lithe::internal

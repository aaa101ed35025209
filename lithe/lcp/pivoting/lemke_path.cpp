#include "lithe/lcp/pivoting/lemke_path.h"

#include <algorithm>
#include <cmath>

#include "lithe/lcp/modes/path_events.h"

namespace lithe::internal {

namespace {

// Equations that the inverse leaves unsatisfied by more than this, relative to the unknowns, are refined.
constexpr double kDefect = 1e-13;
// Where they are unsatisfied by more than this even after a refinement, the inverse is useless.
constexpr double kUseless = 1e-7;
constexpr int kRefinements = 2;
// Slower than this, relative to the fastest unknown, counts as standing still.
constexpr double kStill = 1e-14;
// Steps that differ by less than this share happen at once; then the fastest row goes first.
constexpr double kAtOnce = 1e-12;
// θ beyond this multiple of its start and of b will not come back.
constexpr double kFarAway = 1e6;

double largest_magnitude(const AlignedBuffer& x, int size) {
  double largest = 0;
  for (int i = 0; i < size; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest;
}

}  // namespace

LemkePath::Result LemkePath::follow(const PreparedLcp& problem, double ridge, std::uint64_t seed,
                                    std::span<RowMode> modes) {
  gather(problem, ridge, seed);
  const int size = static_cast<int>(rows_.size());
  const int longest = 20 * size + 200;
  pivots_ = 0;
  if (!start()) return Result::singular;
  const double theta_start = x_[size];
  bool arrived = !(theta_start > 0);
  while (!arrived) {
    if (++pivots_ > longest) return Result::too_long;
    if (!turn()) return Result::singular;
    const Event event = next_event();
    if (event.row < 0) return Result::ray;
    for (int i = 0; i <= size; ++i) x_[i] += event.step * dx_[i];
    for (int i = 0; i < size; ++i) w_[i] += event.step * dw_[i];
    if (x_[size] > kFarAway * std::max(theta_start, scale_)) return Result::ray;
    arrived = event.row == size;
    if (!arrived && !change(event.row, event.next)) return Result::singular;
  }
  for (const Row& row : rows_) modes[row.index] = row.now;
  return Result::found;
}

// The path's rows, scaled so that A_ii = 1, with b and the covering vector c. Rows that are not live, or have no room between their
// bounds, take no part.
void LemkePath::gather(const PreparedLcp& problem, double ridge, std::uint64_t seed) {
  const BoxedLcp& lcp = problem.lcp;
  rows_.clear();
  path_row_.assign(lcp.size(), -1);
  for (int i = 0; i < lcp.size(); ++i) {
    const LcpRow& row = lcp.rows[i];
    const bool imposed = row.kind == RowKind::bounded && row.lower == row.upper;
    if (!problem.live[i] || imposed) continue;
    path_row_[i] = static_cast<int>(rows_.size());
    rows_.push_back({.index = i, .kind = row.kind, .now = RowMode::separating});
  }
  const int size = static_cast<int>(rows_.size());
  A_.resize(size, size);
  for (AlignedBuffer* buffer : {&c_, &b_, &x_, &w_, &dx_, &dw_, &rhs_, &defect_, &change_}) {
    buffer->assign(padded(size + 1), 0.0);
  }
  for (int k = 0; k < size; ++k) {
    Row& row = rows_[k];
    const LcpRow& from = lcp.rows[row.index];
    const double root = problem.root[row.index];
    const double* column = lcp.column(row.index);
    double* to = A_.column(k);
    for (int a = 0; a < size; ++a) to[a] = column[rows_[a].index] / (root * problem.root[rows_[a].index]);
    for (int a = size; a < A_.stride; ++a) to[a] = 0;
    to[k] += ridge / problem.diagonal[row.index];
    b_[k] = lcp.b[row.index] / root;
    const double u = spread(from.key != 0 ? from.key : static_cast<std::uint64_t>(row.index), seed);
    switch (row.kind) {
      case RowKind::one_sided: c_[k] = 1 + u; break;
      case RowKind::friction:
        c_[k] = (u - 0.5) / 50;
        row.normal = path_row_[from.normal];
        row.kappa = from.friction * root / problem.root[from.normal];
        break;
      case RowKind::bounded:
        c_[k] = 1 + u;
        row.lower = from.lower * root;
        row.upper = from.upper * root;
        row.now = RowMode::at_lower;
        break;
      case RowKind::two_sided: row.now = RowMode::clamping; break;
    }
  }
  // Impulses that are imposed are part of b.
  for (int i = 0; i < lcp.size(); ++i) {
    if (path_row_[i] >= 0 || lcp.rows[i].kind != RowKind::bounded) continue;
    const double f = std::clamp(0.0, lcp.rows[i].lower, lcp.rows[i].upper);
    for (int k = 0; k < size; ++k) b_[k] += lcp.at(rows_[k].index, i) * f / problem.root[rows_[k].index];
  }
  scale_ = largest_magnitude(b_, size);
}

// At the θ where the first row is about to leave its bound. False where the two-sided rows alone are singular.
bool LemkePath::start() {
  const int size = static_cast<int>(rows_.size());
  basis_.start(A_, c_.data());
  for (int k = 0; k < size; ++k) {
    rows_[k].slot = k;
    if (rows_[k].kind == RowKind::two_sided && !basis_.exchange(k, PathBasis::Equation::velocity(k))) return false;
  }
  driving_slot_ = size;
  find_start();
  int first = -1;
  double theta = 0;
  for (int k = 0; k < size; ++k) {
    if (rows_[k].kind != RowKind::one_sided && rows_[k].kind != RowKind::bounded) continue;
    if (-w_[k] > theta * c_[k]) {
      theta = -w_[k] / c_[k];
      first = k;
    }
  }
  x_[size] = theta;
  for (int k = 0; k < size; ++k) w_[k] += theta * c_[k];
  return first < 0 || change(first, RowMode::clamping);
}

// to = A f + c θ.
void LemkePath::velocities(const double* x, double* to) const {
  const int size = static_cast<int>(rows_.size());
  multiply(A_, x, to);
  const double theta = x[size];
  for (int k = 0; k < size; ++k) to[k] += theta * c_[k];
}

// The right-hand side of the equation that a row contributes in this mode.
double LemkePath::right_side(const Row& row, RowMode row_mode) const {
  if (row_mode == RowMode::clamping) return -b_[&row - rows_.data()];
  if (row.kind != RowKind::bounded) return 0;
  return row_mode == RowMode::at_upper ? row.upper : row.lower;
}

PathBasis::Equation LemkePath::equation_of(int k, RowMode row_mode) const {
  const Row& row = rows_[k];
  if (row_mode == RowMode::clamping) return PathBasis::Equation::velocity(k);
  if (row.kind != RowKind::friction || row_mode == RowMode::separating) return PathBasis::Equation::impulse(k);
  return PathBasis::Equation::impulse(k, row.normal, row_mode == RowMode::at_upper ? row.kappa : -row.kappa);
}

// The edge's direction: the driving row enters its new mode.
bool LemkePath::turn() {
  const int size = static_cast<int>(rows_.size());
  const bool from_clamping = left_ == RowMode::clamping;
  const RowMode bound = from_clamping ? rows_[driving_row_].now : left_;
  const double direction = bound == RowMode::at_upper ? -1.0 : 1.0;
  for (int trial = 0; trial < 2; ++trial) {
    const double* column = basis_.column(driving_slot_);
    for (int i = 0; i <= size; ++i) dx_[i] = direction * column[i];
    for (int pass = 0; pass <= kRefinements; ++pass) {
      velocities(dx_.data(), dw_.data());
      double worst = 0;
      for (int k = 0; k <= size; ++k) {
        defect_[k] = basis_.value(k, dx_.data(), dw_.data()) - (k == driving_slot_ ? direction : 0.0);
        worst = std::max(worst, std::abs(defect_[k]));
      }
      const double largest = largest_magnitude(dx_, size + 1);
      const bool exact = worst <= kDefect * largest;
      if (exact || (pass == kRefinements && worst <= kUseless * largest)) {
        if (pass > 0) keep_direction(direction);
        return true;
      }
      basis_.solve(defect_.data(), change_.data());
      for (int i = 0; i <= size; ++i) dx_[i] -= change_[i];
    }
    if (!basis_.rebuild()) return false;
  }
  return false;
}

// Keeps a direction that has been refined, as a better column of the inverse.
void LemkePath::keep_direction(double direction) {
  const int size = static_cast<int>(rows_.size());
  for (int i = 0; i <= size; ++i) change_[i] = direction * dx_[i];
  basis_.set_column(driving_slot_, change_.data());
}

// The first row that comes to the end of its mode along the edge, or θ = 0.
LemkePath::Event LemkePath::next_event() const {
  const int size = static_cast<int>(rows_.size());
  const double still = kStill * largest_magnitude(dx_, size + 1);
  Event first;
  const auto consider = [&](int k, double slack, double rate, RowMode next) {
    if (!(rate < -still)) return;
    const double step = std::max(slack, 0.0) / -rate;
    const bool sooner = step < first.step * (1 - kAtOnce);
    const bool at_once = step <= first.step * (1 + kAtOnce) && -rate > first.rate;
    if (sooner || at_once) first = {step, -rate, k, next};
  };
  consider(size, x_[size], dx_[size], RowMode::clamping);
  for (int k = 0; k < size; ++k) {
    const Row& row = rows_[k];
    if (row.kind == RowKind::two_sided || (row.kind == RowKind::friction && !normal_clamps(row))) continue;
    // The driving row cannot go back where it has just come from.
    const bool driving = k == driving_row_;
    if (row.now != RowMode::clamping) {
      if (driving) continue;
      const double side = row.now == RowMode::at_upper ? -1.0 : 1.0;
      consider(k, side * w_[k], side * dw_[k], RowMode::clamping);
      continue;
    }
    if (row.kind == RowKind::one_sided) {
      if (!driving) consider(k, x_[k], dx_[k], RowMode::separating);
      continue;
    }
    const bool friction = row.kind == RowKind::friction;
    const double lower = friction ? -row.kappa * x_[row.normal] : row.lower;
    const double upper = friction ? row.kappa * x_[row.normal] : row.upper;
    const double upper_rate = friction ? row.kappa * dx_[row.normal] : 0.0;
    const double lower_rate = -upper_rate;
    if (!(driving && left_ == RowMode::at_upper)) {
      consider(k, upper - x_[k], upper_rate - dx_[k], RowMode::at_upper);
    }
    if (!(driving && left_ == RowMode::at_lower)) {
      consider(k, x_[k] - lower, dx_[k] - lower_rate, RowMode::at_lower);
    }
  }
  return first;
}

// The row takes its new mode; its old equation drives the next edge, and the old driving equation is gone.
bool LemkePath::change(int k, RowMode next) {
  Row& row = rows_[k];
  const bool normal = row.kind == RowKind::one_sided;
  if (normal && next == RowMode::clamping) aim_friction(k);
  const int old_slot = row.slot;
  if (!basis_.exchange(driving_slot_, equation_of(k, next))) return false;
  row.slot = driving_slot_;
  driving_slot_ = old_slot;
  driving_row_ = k;
  left_ = row.now;
  row.now = next;
  if (normal && next == RowMode::separating && !release_friction(k)) return false;
  if (basis_.exchanges_since_rebuild() >= rebuild_interval && !basis_.rebuild()) return false;
  snap();
  return true;
}

// A normal is about to clamp: its friction rows slide to the side that their velocity asks for.
void LemkePath::aim_friction(int normal) {
  for (int k = 0; k < static_cast<int>(rows_.size()); ++k) {
    Row& row = rows_[k];
    if (row.normal != normal) continue;
    row.now = w_[k] > 0 ? RowMode::at_lower : RowMode::at_upper;
    basis_.set_kappa(row.slot, normal, rows_[normal].slot, equation_of(k, row.now).kappa);
  }
}

// A normal has left: its friction rows have no impulse, and nothing to do until it comes back.
bool LemkePath::release_friction(int normal) {
  for (int k = 0; k < static_cast<int>(rows_.size()); ++k) {
    Row& row = rows_[k];
    if (row.normal != normal) continue;
    if (row.now != RowMode::clamping) {
      basis_.set_kappa(row.slot, normal, rows_[normal].slot, 0);
    } else if (!basis_.exchange(row.slot, PathBasis::Equation::impulse(k))) {
      return false;
    }
    row.now = RowMode::separating;
  }
  return true;
}

// Makes the present modes' equations hold exactly. Rounding has moved x and w off them, and off w = A f + θc + b, by
// 1e-15 or so per step. They are not brought back: x moved along an edge and must not jump, least of all in directions
// that only the ridge holds, where 1e-15 in w is 1e-6 in f. Rather the path is that of a b which differs by as much.
void LemkePath::snap() {
  const int size = static_cast<int>(rows_.size());
  for (int k = 0; k < size; ++k) {
    const Row& row = rows_[k];
    if (row.now == RowMode::clamping) {
      w_[k] = 0;
    } else if (row.kind == RowKind::bounded) {
      x_[k] = row.now == RowMode::at_upper ? row.upper : row.lower;
    } else if (row.now == RowMode::separating) {
      x_[k] = 0;
    }
  }
  for (int k = 0; k < size; ++k) {
    const Row& row = rows_[k];
    if (row.kind != RowKind::friction || row.now == RowMode::clamping || row.now == RowMode::separating) continue;
    x_[k] = (row.now == RowMode::at_upper ? row.kappa : -row.kappa) * x_[row.normal];
  }
}

// f of the start, where θ is large and only two-sided rows clamp.
void LemkePath::find_start() {
  const int size = static_cast<int>(rows_.size());
  for (int k = 0; k < size; ++k) rhs_[k] = right_side(rows_[k], rows_[k].now);
  rhs_[size] = 0;
  std::fill(x_.begin(), x_.end(), 0.0);
  for (int pass = 0; pass <= kRefinements; ++pass) {
    velocities(x_.data(), w_.data());
    for (int k = 0; k <= size; ++k) defect_[k] = rhs_[k] - basis_.value(k, x_.data(), w_.data());
    basis_.solve(defect_.data(), change_.data());
    for (int i = 0; i <= size; ++i) x_[i] += change_[i];
  }
  velocities(x_.data(), w_.data());
  for (int i = 0; i < size; ++i) w_[i] += b_[i];
  snap();
}

}  // namespace lithe::internal

#include "lithe/lcp/pivoting/small_lemke_path.h"

#include <algorithm>
#include <cmath>

#include "lithe/lcp/modes/path_events.h"

namespace lithe::internal {

namespace {

// Steps that differ by less than this share happen at once; then the fastest row goes first.
constexpr double kSameStep = 1e-12;
// θ beyond this multiple of its start will not come back.
constexpr double kLost = 1e4;
// How far inside its mode a row is put at the start, as a share of the largest impulse or velocity, times 0.5 to 1.5.
constexpr double kInside = 0.05;
// How far inside its mode a friction row that sticks is put, as a share of its bound.
constexpr double kInsideCone = 0.2;

bool slides(RowMode c) { return c == RowMode::at_lower || c == RowMode::at_upper; }

// max |x_i|.
double largest_size(std::span<const double> x) {
  double largest = 0;
  for (const double xi : x) largest = std::max(largest, std::abs(xi));
  return largest;
}

}  // namespace

// A number in [0, 1) for the row, from its key if it has one.
double SmallLemkePath::apart(int row, std::uint64_t seed) const {
  return spread(rows[row].key != 0 ? rows[row].key : static_cast<std::uint64_t>(row), seed);
}

bool SmallLemkePath::follow(std::span<RowMode> modes, int longest) {
  modes_ = modes;
  events_ = 0;
  if (!factorize()) return false;
  cover();
  return walk(1, longest);
}

// Lemke's start: at a θ that is large enough everything rests at f = 0, bounded rows at their lower bound.
bool SmallLemkePath::follow_from_rest(std::span<RowMode> modes, int longest) {
  modes_ = modes;
  events_ = 0;
  c_.assign(rows.size(), 0.0);
  double theta = 0;
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    const double root = std::sqrt(std::max(M.at(i, i), 0.0));
    const double u = apart(i, 3);
    switch (rows[i].kind) {
      case RowKind::one_sided:
      case RowKind::bounded:
        modes[i] = rows[i].kind == RowKind::bounded ? RowMode::at_lower : RowMode::separating;
        c_[i] = root * (1 + u);
        if (c_[i] > 0) theta = std::max(theta, -q[i] / c_[i]);
        break;
      case RowKind::friction:
        modes[i] = RowMode::separating;
        c_[i] = root * (u - 0.5) / 50;
        break;
      case RowKind::two_sided: modes[i] = RowMode::clamping; break;
    }
  }
  return walk(theta * (1 + 1e-9), longest);
}

// LU of the equations M_C f_C = …, friction rows that slide taken along by their normals.
bool SmallLemkePath::factorize() {
  const int m = static_cast<int>(rows.size());
  clamping_.clear();
  place_.assign(m, -1);
  for (int i = 0; i < m; ++i) {
    if (modes_[i] != RowMode::clamping) continue;
    place_[i] = static_cast<int>(clamping_.size());
    clamping_.push_back(i);
  }
  const int size = static_cast<int>(clamping_.size());
  lu_.matrix.resize(size, size);
  for (int b = 0; b < size; ++b) {
    double* column = lu_.matrix.column(b);
    const double* from = M.column(clamping_[b]);
    for (int a = 0; a < size; ++a) column[a] = from[clamping_[a]];
    std::fill(column + size, column + lu_.matrix.stride, 0.0);
  }
  for (int i = 0; i < m; ++i) {
    if (rows[i].kind != RowKind::friction || !slides(modes_[i]) || place_[rows[i].normal] < 0) continue;
    const double share = modes_[i] == RowMode::at_upper ? rows[i].friction : -rows[i].friction;
    double* column = lu_.matrix.column(place_[rows[i].normal]);
    for (int a = 0; a < size; ++a) column[a] += share * M.at(clamping_[a], i);
  }
  grow(x_, padded(size));
  return size == 0 || lu_.factorize();
}

// w = M f + offset.
void SmallLemkePath::velocities(std::span<const double> f, std::span<const double> offset,
                                std::vector<double>& w) const {
  w.assign(offset.begin(), offset.end());
  for (std::size_t j = 0; j < f.size(); ++j) {
    if (f[j] == 0) continue;
    const double* column = M.column(static_cast<int>(j));
    for (std::size_t i = 0; i < w.size(); ++i) w[i] += column[i] * f[j];
  }
}

// f and w for that offset; `affine`: with bounded rows at their bounds. One refinement takes out what rounding leaves.
void SmallLemkePath::solve(std::span<const double> offset, bool affine, std::vector<double>& f,
                           std::vector<double>& w) {
  const int m = static_cast<int>(rows.size()), size = static_cast<int>(clamping_.size());
  f.assign(m, 0.0);
  for (int i = 0; affine && i < m; ++i) {
    if (rows[i].kind != RowKind::bounded || !slides(modes_[i])) continue;
    f[i] = modes_[i] == RowMode::at_upper ? rows[i].upper : rows[i].lower;
  }
  velocities(f, offset, w);
  for (int pass = 0; pass < 2 && size > 0; ++pass) {
    for (int a = 0; a < size; ++a) x_[a] = -w[clamping_[a]];
    lu_.solve(x_.data());
    for (int a = 0; a < size; ++a) f[clamping_[a]] += x_[a];
    for (int i = 0; i < m; ++i) {
      if (rows[i].kind != RowKind::friction || !slides(modes_[i]) || place_[rows[i].normal] < 0) continue;
      f[i] = (modes_[i] == RowMode::at_upper ? rows[i].friction : -rows[i].friction) * f[rows[i].normal];
    }
    velocities(f, offset, w);
  }
}

// c such that the modes are right at θ = 1, every row some way inside its mode.
void SmallLemkePath::cover() {
  const int m = static_cast<int>(rows.size());
  solve(q, true, f_, w_);
  const double typical = largest_size(f_), fast = largest_size(q);
  for (int i = 0; i < m; ++i) {
    const LcpRow& row = rows[i];
    const double inside = kInside * (0.5 + apart(i, 1));
    if (row.kind == RowKind::one_sided && modes_[i] == RowMode::clamping) {
      f_[i] = std::max(f_[i], inside * typical);
    } else if (row.kind == RowKind::friction) {
      const double limit = row.friction * std::max(f_[row.normal], 0.0);
      const double most = limit * (1 - kInsideCone * (0.5 + apart(i, 1)));
      if (modes_[row.normal] != RowMode::clamping)
        f_[i] = 0;
      else if (modes_[i] == RowMode::clamping)
        f_[i] = std::clamp(f_[i], -most, most);
      else
        f_[i] = modes_[i] == RowMode::at_upper ? limit : -limit;
    } else if (row.kind == RowKind::bounded && modes_[i] == RowMode::clamping) {
      const double margin = 2 * inside * (row.upper - row.lower);
      f_[i] = std::clamp(f_[i], row.lower + margin, row.upper - margin);
    }
  }
  velocities(f_, q, w_);
  c_.assign(m, 0.0);
  for (int i = 0; i < m; ++i) {
    const double gap = kInside * (0.5 + apart(i, 1)) * fast;
    if (modes_[i] == RowMode::clamping) {
      c_[i] = -w_[i];
    } else if (rows[i].kind == RowKind::friction && modes_[rows[i].normal] != RowMode::clamping) {
      continue;
    } else if (modes_[i] == RowMode::at_upper) {
      c_[i] = std::min(w_[i], -gap) - w_[i];
    } else {
      c_[i] = std::max(w_[i], gap) - w_[i];
    }
  }
}

// The first row that comes to the end of its mode as θ moves on in this direction.
SmallLemkePath::Event SmallLemkePath::next_event(double theta, double direction) const {
  Event first;
  // A slack and its derivative by θ.
  const auto consider = [&](int i, RowMode next, double at_zero, double slope) {
    const double rate = direction * slope;
    if (!(rate < 0)) return;
    const double step = std::max(at_zero + theta * slope, 0.0) / -rate;
    const bool sooner = step < first.step * (1 - kSameStep);
    const bool at_once = step <= first.step * (1 + kSameStep) && -rate > first.rate;
    if (sooner || at_once) first = {step, -rate, i, next};
  };
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    const LcpRow& row = rows[i];
    if (row.kind == RowKind::two_sided) continue;
    if (row.kind == RowKind::friction && modes_[row.normal] != RowMode::clamping) continue;
    const bool driving = i == driving_;  // it cannot go back where it has just come from
    if (modes_[i] != RowMode::clamping) {
      const double side = modes_[i] == RowMode::at_upper ? -1.0 : 1.0;
      if (!driving) consider(i, RowMode::clamping, side * w_[i], side * dw_[i]);
      continue;
    }
    if (row.kind == RowKind::one_sided) {
      if (!driving) consider(i, RowMode::separating, f_[i], df_[i]);
      continue;
    }
    const bool friction = row.kind == RowKind::friction;
    const double upper = friction ? row.friction * f_[row.normal] : row.upper;
    const double lower = friction ? -upper : row.lower;
    const double upper_rate = friction ? row.friction * df_[row.normal] : 0.0;
    if (!(driving && left_ == RowMode::at_upper)) {
      consider(i, RowMode::at_upper, upper - f_[i], upper_rate - df_[i]);
    }
    if (!(driving && left_ == RowMode::at_lower)) {
      consider(i, RowMode::at_lower, f_[i] - lower, df_[i] + upper_rate);
    }
  }
  return first;
}

// Goes from event to event, down to θ = 0. False at a ray, at a breakdown, or after `longest` events.
bool SmallLemkePath::walk(double theta, int longest) {
  const double start = theta;
  driving_ = -1;
  double direction = -1;
  for (; events_ < longest; ++events_) {
    if (!factorize()) return false;
    solve(q, true, f_, w_);
    solve(c_, false, df_, dw_);
    if (driving_ >= 0) {  // in the direction in which it enters its new mode
      const LcpRow& row = rows[driving_];
      const RowMode now = modes_[driving_];
      const RowMode bound = now == RowMode::clamping ? left_ : now;
      const double side = bound == RowMode::at_upper ? -1.0 : 1.0;
      double rate = side * dw_[driving_];
      if (now == RowMode::clamping) {
        rate = side * df_[driving_];
        if (row.kind == RowKind::friction) rate += row.friction * df_[row.normal];
      }
      if (rate == 0 || !std::isfinite(rate)) return false;
      direction = rate > 0 ? 1 : -1;
    }
    const Event event = next_event(theta, direction);
    if (direction < 0 && (event.row < 0 || event.step >= theta)) return true;
    if (event.row < 0) return false;  // a ray
    theta += direction * event.step;
    if (theta > kLost * start) return false;
    left_ = modes_[event.row];
    driving_ = event.row;
    // The friction rows of a normal slide against their velocity when it begins to press, and have no impulse when it ceases to.
    if (rows[event.row].kind == RowKind::one_sided) {
      for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
        if (rows[i].kind != RowKind::friction || rows[i].normal != event.row) continue;
        const RowMode slide = w_[i] + theta * dw_[i] > 0 ? RowMode::at_lower : RowMode::at_upper;
        modes_[i] = event.next == RowMode::clamping ? slide : RowMode::separating;
      }
    }
    modes_[event.row] = event.next;
  }
  return false;
}

}  // namespace lithe::internal

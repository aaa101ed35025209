#include "lithe/lcp/modes/path_events.h"

#include <algorithm>
#include <cmath>

#include "lithe/simd/pack.h"

namespace lithe::internal {

namespace {

constexpr double kSameMoment = 1e-12;   // events this close, of the step, happen together
constexpr double kStandsStill = 1e-14;  // of the largest rate

double sign_at(RowMode bound) { return bound == RowMode::at_upper ? 1.0 : -1.0; }

// Looks for the first of many events.
class FirstEvent {
 public:
  FirstEvent(double longest, double still) : still_(still) { first_.step = longest; }

  // Nearly all events are later than the first so far; that is the only branch. A row that stands still takes for ever.
  void consider(int row, double slack, double rate, RowMode next) {
    const double speed = rate < -still_ ? -rate : 0.0;
    const double step = std::max(slack, 0.0) / speed;
    if (!(step <= first_.step * (1 + kSameMoment)) || speed == 0) return;
    const bool sooner = step < first_.step * (1 - kSameMoment);
    const bool at_once = first_.row >= 0 && speed > first_.rate;
    if (sooner || at_once) first_ = {step, speed, row, next};
  }
  const PathEvent& found() const { return first_; }

 private:
  double still_;
  PathEvent first_;
};

// The largest rate of all rows. Rates of impulses count times A_ii, so that all of them are velocities.
double fastest_rate(const PathPoint& point) {
  const std::size_t n = point.rows.size(), packed = n / kLanes * kLanes;
  Pack fastest = {};
  const auto take = [&](Pack rate) { fastest = rate > fastest ? rate : fastest; };
  for (std::size_t i = 0; i < packed; i += kLanes) {
    take(absolute(load_anywhere(point.dw + i)));
    take(absolute(load_anywhere(point.df + i)) * load_anywhere(point.diagonal + i));
  }
  double largest = std::max(std::max(fastest[0], fastest[1]), std::max(fastest[2], fastest[3]));
  for (std::size_t i = packed; i < n; ++i) {
    largest = std::max(largest, std::max(std::abs(point.dw[i]), std::abs(point.df[i]) * point.diagonal[i]));
  }
  return largest;
}

}  // namespace

// The bits are mixed as by SplitMix64 (Steele, Lea & Flood 2014).
double spread(std::uint64_t key, std::uint64_t seed) {
  std::uint64_t z = key + seed * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

double direction_of_entry(const PathPoint& point) {
  const int i = point.entering;
  if (i < 0) return 1;
  const LcpRow& row = point.rows[i];
  const RowMode now = point.modes[i];
  double good = 0;
  if (now == RowMode::separating) {
    good = point.dw[i];
  } else if (now != RowMode::clamping) {
    good = -sign_at(now) * point.dw[i];
  } else if (row.kind == RowKind::one_sided) {
    good = point.df[i];
  } else {
    const double side = sign_at(point.left);
    const double bound = row.kind == RowKind::friction ? side * row.friction * point.df[row.normal] : 0.0;
    good = -side * (point.df[i] - bound);
  }
  return good < 0 ? -1.0 : 1.0;
}

PathEvent next_event(const PathPoint& point, double direction, double longest) {
  FirstEvent first(longest, kStandsStill * fastest_rate(point));
  for (int i = 0; i < static_cast<int>(point.rows.size()); ++i) {
    const LcpRow& row = point.rows[i];
    const bool imposed = row.kind == RowKind::bounded && row.lower == row.upper;
    const double a = point.diagonal[i];
    if (!(a > 0) || row.kind == RowKind::two_sided || imposed) continue;
    const RowMode now = point.modes[i];
    const bool entering = i == point.entering;  // it cannot go back where it has just come from
    if (now != RowMode::clamping) {
      if (entering || (row.kind == RowKind::friction && now == RowMode::separating)) continue;
      const double side = now == RowMode::at_upper ? -1.0 : 1.0;
      first.consider(i, side * point.w[i], side * direction * point.dw[i], RowMode::clamping);
    } else if (row.kind == RowKind::one_sided) {
      if (!entering) first.consider(i, a * point.f[i], a * direction * point.df[i], RowMode::separating);
    } else {
      const bool friction = row.kind == RowKind::friction;
      const double upper = friction ? row.friction * point.f[row.normal] : row.upper;
      const double lower = friction ? -upper : row.lower;
      const double rate = friction ? row.friction * point.df[row.normal] : 0.0;
      if (!entering || point.left != RowMode::at_upper) {
        first.consider(i, a * (upper - point.f[i]), a * direction * (rate - point.df[i]), RowMode::at_upper);
      }
      if (!entering || point.left != RowMode::at_lower) {
        first.consider(i, a * (point.f[i] - lower), a * direction * (point.df[i] + rate), RowMode::at_lower);
      }
    }
  }
  return first.found();
}

}  // namespace lithe::internal

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lithe::plot {

// How values become places along an axis: by themselves, or by their logarithms.
enum class AxisScale : std::uint8_t { linear, log };

// From the smallest to the largest value that an axis shows; on a logarithmic one both are positive.
struct AxisRange {
  double from = 0, to = 1;
};

// One mark on an axis. Minor ticks have no label.
struct Tick {
  double at = 0;
  std::string label = {};     // empty: a minor tick
  std::string exponent = {};  // raised behind the label: 10³
};

struct Ticks {
  std::vector<Tick> ticks = {};  // in ascending order
  int power = 0;                 // labels are in units of 10^power
};

// About as many labelled ticks as asked for, if that is three or more: at least two, and at most one more, or six.
//
//   linear   1, 2 or 5 times a power of ten apart
//   log      whole decades, with minor ticks at 2 … 9 between them; where fewer than two decades are in sight, 1, 2 and 5 of each
Ticks ticks_of(const AxisRange& range, AxisScale scale, int wanted);

// Whether a value has a place on such an axis: it is finite (and not so large that differences overflow), and positive on a
// logarithmic one.
bool has_place(double value, AxisScale scale);

// The least range around all values that have a place, widened by a few per cent so that no curve runs along the frame. False, and
// the range as it was, where there is no such value.
bool fit_range(const std::vector<double>& values, AxisScale scale, AxisRange& range);

// 0 at the beginning of the axis, 1 at its end.
double share_of(double value, const AxisRange& range, AxisScale scale);

}  // namespace lithe::plot

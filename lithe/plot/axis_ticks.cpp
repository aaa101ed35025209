#include "lithe/plot/axis_ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace lithe::plot {

namespace {

constexpr double kLargest = 1e300;  // differences of larger values may overflow
constexpr double kMargin = 0.04;    // on either side of the values, in shares of their range
constexpr double kRounding = 1e-9;  // of a step: a tick at the very end still counts

// A hyphen is too short for a minus sign.
std::string with_minus(std::string text) {
  if (!text.empty() && text.front() == '-') text.replace(0, 1, "−");
  return text;
}

// 1, 2 or 5 times a power of ten, not below `least`.
double nice_step(double least) {
  const double decade = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * decade >= least * (1 - kRounding)) return factor * decade;
  }
  return 10 * decade;
}

// The power of ten that labels are in units of. Beyond these sizes they are shorter so; within, plain numbers are
// easier to read.
int power_of(double largest) {
  const bool plain = largest == 0 || (largest >= 0.01 && largest < 1e5);
  return plain ? 0 : static_cast<int>(std::floor(std::log10(largest)));
}

// Multiples of a nice step within the range, all with as many decimals as the step needs.
Ticks linear_ticks(const AxisRange& range, int wanted) {
  // Numbers of ticks, counted in steps from zero.
  const auto first = [&](double step) { return std::ceil(range.from / step - kRounding); };
  const auto last = [&](double step) { return std::floor(range.to / step + kRounding); };
  double step = nice_step((range.to - range.from) / wanted);
  if (last(step) - first(step) < 1) step = nice_step(step / 2.5);  // the next smaller one: a single tick says little
  Ticks out = {.power = power_of(std::max(std::abs(range.from), std::abs(range.to)))};
  const double unit = std::pow(10, out.power);
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step / unit) + kRounding)));
  // Where the range is narrower than what numbers of this size can tell apart, adding 1 would not move on.
  if (!(last(step) - first(step) < 2 * wanted + 4) || first(step) + 1 == first(step)) return out;
  for (double i = first(step); i <= last(step); ++i) {
    const double value = i * step + 0.0;  // no −0
    out.ticks.push_back({.at = value, .label = with_minus(fmt::format("{:.{}f}", value / unit, decimals))});
  }
  return out;
}

// Every how many decades there is a label, so that there are no more than wanted.
int decades_per_label(int count, int wanted) {
  for (const int stride : {1, 2, 3, 5, 10, 20, 50}) {
    if (count <= stride * wanted) return stride;
  }
  return 100;
}

// Powers of ten, numbered from `first` to `last`. Minor ticks begin in the decade below the first, which the range may
// reach into; they are drawn only where every decade has a label.
Ticks decades(int first, int last, const AxisRange& range, int wanted) {
  Ticks out;
  const int stride = decades_per_label(last - first + 1, wanted);
  for (int decade = first - 1; decade <= last; ++decade) {
    const double ten = std::pow(10, decade);
    const bool labelled = decade >= first && decade % stride == 0;
    if (decade >= first) {
      out.ticks.push_back({.at = ten,
                           .label = labelled ? "10" : "",
                           .exponent = labelled ? with_minus(fmt::format("{}", decade)) : ""});
    }
    for (int factor = 2; stride == 1 && factor <= 9; ++factor) {
      if (const double at = factor * ten; at >= range.from && at <= range.to) out.ticks.push_back({.at = at});
    }
  }
  return out;
}

// Ticks at every multiple of a power of ten, for one decade or two: 1, 2 and 5 of each have labels.
Ticks within_decades(int first, int last, const AxisRange& range) {
  Ticks out;
  for (int decade = first; decade <= last; ++decade) {
    for (int factor = 1; factor <= 9; ++factor) {
      const double at = factor * std::pow(10, decade);
      const bool labelled = factor == 1 || factor == 2 || factor == 5;
      if (at < range.from || at > range.to) continue;
      out.ticks.push_back({.at = at, .label = labelled ? fmt::format("{:g}", at) : ""});
    }
  }
  return out;
}

// Whole decades where two or more are in sight. A shorter range has 1, 2 and 5 of each decade as labels. Where these
// are fewer than three, it is so short that it looks almost linear, and linear ticks say more.
Ticks log_ticks(const AxisRange& range, int wanted) {
  const double from = std::log10(range.from), to = std::log10(range.to);
  const int first = static_cast<int>(std::ceil(from - kRounding)), last = static_cast<int>(std::floor(to + kRounding));
  if (last - first >= 1) return decades(first, last, range, wanted);
  Ticks few = within_decades(static_cast<int>(std::floor(from)), last, range);
  const auto labelled = std::ranges::count_if(few.ticks, [](const Tick& tick) { return !tick.label.empty(); });
  return labelled >= 3 ? few : linear_ticks(range, wanted);
}

}  // namespace

Ticks ticks_of(const AxisRange& range, AxisScale scale, int wanted) {
  const int count = std::max(1, wanted);
  return scale == AxisScale::linear ? linear_ticks(range, count) : log_ticks(range, count);
}

bool has_place(double value, AxisScale scale) {
  if (!std::isfinite(value) || std::abs(value) > kLargest) return false;
  return scale == AxisScale::linear || value >= std::numeric_limits<double>::min();
}

bool fit_range(const std::vector<double>& values, AxisScale scale, AxisRange& range) {
  AxisRange found = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const double value : values) {
    if (!has_place(value, scale)) continue;
    found = {std::min(found.from, value), std::max(found.to, value)};
  }
  if (found.from > found.to) return false;
  if (scale == AxisScale::log) {
    // A single value gets half a decade on either side.
    // The margin is a factor here, as distances on this axis are ratios.
    const double decades_wide = std::log10(found.to / found.from);
    const double margin = std::pow(10, decades_wide > 1e-6 ? kMargin * decades_wide : 0.5);
    range = {std::max(found.from / margin, std::numeric_limits<double>::min()), std::min(found.to * margin, kLargest)};
    return true;
  }
  // A single value (or several that only rounding tells apart) gets half its size on either side, and zero gets 1.
  const double size = std::max(std::abs(found.from), std::abs(found.to));
  const double width = found.to - found.from;
  const double margin = width > 1e-9 * size ? kMargin * width : std::max(0.5 * size, size == 0 ? 1.0 : 0.0);
  range = {found.from - margin, found.to + margin};
  return true;
}

double share_of(double value, const AxisRange& range, AxisScale scale) {
  if (scale == AxisScale::linear) return (value - range.from) / (range.to - range.from);
  return std::log10(value / range.from) / std::log10(range.to / range.from);
}

}  // namespace lithe::plot

#include "lithe/plot/internal/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lithe/plot/internal/style.h"

namespace lithe::internal {

using namespace plot_style;

namespace {

constexpr double kRightMargin = 18;
constexpr double kTickLength = 5, kMinorTickLength = 3;
constexpr double kBetweenXTicks = 60, kBetweenYTicks = 33;  // px between labelled ticks, about
// Points outside of the frame are drawn no further away than this (px): viewers may compute in single precision.
constexpr double kFarAway = 1e5;
// A curve of more than kMostMarkers points has about kSomeMarkers markers; on a shorter one each point has its marker.
constexpr std::size_t kMostMarkers = 25, kSomeMarkers = 12;

// What is written along an axis: "Time (s)".
std::string axis_title(const Axis& axis) {
  if (axis.unit.empty()) return axis.label;
  return axis.label.empty() ? axis.unit : fmt::format("{} ({})", axis.label, axis.unit);
}

// The width of a tick's label with its exponent.
double label_width(const Tick& tick) {
  return text_width(tick.label, kTickSize) + text_width(tick.exponent, kRaisedSize * kTickSize);
}

// How much room the labels of an axis take sideways.
double widest_label(const Ticks& ticks) {
  double width = 0;
  for (const Tick& tick : ticks.ticks) width = std::max(width, label_width(tick));
  return width;
}

// Adds points along a line, a few pixels apart. Legends and labels look for places without such points.
void add_along(CanvasPoint from, CanvasPoint to, std::vector<CanvasPoint>& out) {
  const int count = static_cast<int>(std::min(2000.0, std::hypot(to.x - from.x, to.y - from.y) / 4)) + 1;
  for (int i = 0; i <= count; ++i) {
    const double share = static_cast<double>(i) / count;
    out.push_back({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)});
  }
}

}  // namespace

// The order matters: margins at top and bottom say how many ticks fit, and the ticks' labels say how much the left
// margin needs.
PlotPanel::PlotPanel(const Panel& panel, double width, double height) : panel_(panel), width_(width), height_(height) {
  bottom_margin_ = 28 + (axis_title(panel.x).empty() ? 0 : 18);
  top_margin_ = panel.title.empty() ? 12 : 30;
  fit();
  if (has_data_) make_ticks();
  const double y_title = axis_title(panel.y).empty() ? 0 : kLabelSize + 8;
  left_margin_ = 12 + y_title + widest_label(y_ticks_) + kTickLength + 3;
  if (y_ticks_.power != 0) top_margin_ = std::max(top_margin_, panel.title.empty() ? 24.0 : 44.0);
}

// Decides the ranges: what the caller chose, else what the data need. Targets widen the y axis, but without data there
// is nothing to compare them with, and the panel says so.
void PlotPanel::fit() {
  std::vector<double> xs, ys;
  const auto add = [&](double x, double y) {
    has_points_ = true;
    if (!has_place(x, panel_.x.scale) || !has_place(y, panel_.y.scale)) return;
    xs.push_back(x);
    ys.push_back(y);
  };
  for (const Curve& curve : panel_.curves) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) add(curve.x[i], curve.y[i]);
  }
  for (const Band& band : panel_.bands) {
    for (std::size_t i = 0; i < band.x.size(); ++i) {
      add(band.x[i], band.lower[i]);
      add(band.x[i], band.upper[i]);
    }
  }
  has_data_ = !xs.empty();
  if (!has_data_) return;
  for (const TargetLine& target : panel_.targets) ys.push_back(target.y);
  fit_range(xs, panel_.x.scale, x_);
  fit_range(ys, panel_.y.scale, y_);
  // Along x lines may reach the frame, for time starts at 0; markers would be cut in half.
  const auto [first, last] = std::ranges::minmax(xs);
  if (first < last && std::ranges::none_of(panel_.curves, &Curve::markers)) x_ = {first, last};
  if (panel_.x.range) x_ = *panel_.x.range;
  if (panel_.y.range) y_ = *panel_.y.range;
}

// Chooses as many ticks as there is room for.
void PlotPanel::make_ticks() {
  const double plot_height = height_ - top_margin_ - bottom_margin_;
  y_ticks_ = ticks_of(y_, panel_.y.scale, std::max(2, static_cast<int>(plot_height / kBetweenYTicks)));
  const double plot_width = width_ - kRightMargin - 60;
  int wanted = std::max(2, static_cast<int>(plot_width / kBetweenXTicks));
  x_ticks_ = ticks_of(x_, panel_.x.scale, wanted);
  // Long labels need more space between them.
  while (wanted > 1 && (wanted + 1) * (widest_label(x_ticks_) + 14) > plot_width) {
    x_ticks_ = ticks_of(x_, panel_.x.scale, --wanted);
  }
}

int PlotPanel::style_of_curve(std::size_t curve) const {
  return panel_.curves[curve].style >= 0 ? panel_.curves[curve].style : static_cast<int>(curve);
}

int PlotPanel::style_of_band(std::size_t band) const {
  return panel_.bands[band].style >= 0 ? panel_.bands[band].style : static_cast<int>(band);
}

// The legend of what has a label: curves, then bands.
PlotLegend PlotPanel::legend() const {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < panel_.curves.size(); ++i) {
    const Curve& curve = panel_.curves[i];
    if (!curve.label.empty()) entries.push_back({curve.label, style_of_curve(i), true, curve.markers, false});
  }
  for (std::size_t i = 0; i < panel_.bands.size(); ++i) {
    if (!panel_.bands[i].label.empty())
      entries.push_back({panel_.bands[i].label, style_of_band(i), false, false, true});
  }
  return PlotLegend(std::move(entries));
}

// Where a value is in the plot. y counts from the top, as SVG's does.
CanvasPoint PlotPanel::place(double x, double y, Size size) const {
  const double px = size.width * share_of(x, x_, panel_.x.scale);
  const double py = size.height * (1 - share_of(y, y_, panel_.y.scale));
  return {std::clamp(px, -kFarAway, kFarAway), std::clamp(py, -kFarAway, kFarAway)};
}

// A curve breaks where a point has no place. Stairs get a corner before each of their points.
std::vector<PlotPanel::Points> PlotPanel::stretches(const Curve& curve, Size size) const {
  std::vector<Points> out;
  bool broken = true;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (!has_place(curve.x[i], panel_.x.scale) || !has_place(curve.y[i], panel_.y.scale)) {
      broken = true;
      continue;
    }
    const CanvasPoint p = place(curve.x[i], curve.y[i], size);
    if (broken) out.emplace_back();
    if (!broken && curve.stairs) out.back().push_back({p.x, out.back().back().y});
    out.back().push_back(p);
    broken = false;
  }
  return out;
}

// Tries above the line before below it, and the right end before the left one. Where data run through all four places,
// the label covers them; its white rim keeps it readable.
PlotPanel::Label PlotPanel::target_label(const TargetLine& target, Size size, const Points& data) const {
  const double line = place(x_.to, target.y, size).y, width = text_width(target.label, kTickSize);
  const double above = line - 5, below = line + kTickSize + 2;
  for (const double y : {above, below}) {
    for (const double x : {size.width - 6 - width, 6.0}) {
      const bool inside = y - kTickSize >= 0 && y <= size.height;
      const bool crossed = std::ranges::any_of(data, [&](const CanvasPoint& p) {
        return p.x >= x && p.x <= x + width && p.y >= y - kTickSize && p.y <= y + 2;
      });
      if (inside && !crossed) return x == 6 ? Label{{x, y}, Anchor::start} : Label{{x + width, y}, Anchor::end};
    }
  }
  return {{size.width - 6, above - kTickSize < 0 ? below : above}, Anchor::end};
}

// Points along all curves and across all bands.
PlotPanel::Points PlotPanel::along_data(Size size) const {
  Points out;
  for (const Curve& curve : panel_.curves) {
    for (const Points& points : stretches(curve, size)) {
      out.push_back(points.front());
      for (std::size_t i = 1; i < points.size(); ++i) add_along(points[i - 1], points[i], out);
    }
  }
  for (const Band& band : panel_.bands) {
    for (std::size_t i = 0; i < band.x.size(); ++i) {
      if (!has_place(band.x[i], panel_.x.scale) || !has_place(band.lower[i], panel_.y.scale) ||
          !has_place(band.upper[i], panel_.y.scale)) {
        continue;
      }
      add_along(place(band.x[i], band.lower[i], size), place(band.x[i], band.upper[i], size), out);
    }
  }
  return out;
}

// Points along the target lines and around their labels, so that the legend covers neither.
PlotPanel::Points PlotPanel::along_targets(Size size, const Points& data) const {
  Points out;
  for (const TargetLine& target : panel_.targets) {
    if (!has_place(target.y, panel_.y.scale)) continue;
    add_along(place(x_.from, target.y, size), place(x_.to, target.y, size), out);
    const auto [at, anchor] = target_label(target, size, data);
    const double width = text_width(target.label, kTickSize), left = anchor == Anchor::end ? at.x - width : at.x;
    for (const double y : {at.y - kTickSize, at.y}) add_along({left, y}, {left + width, y}, out);
  }
  return out;
}

// What is drawn later covers what was drawn earlier: the grid is beneath the data, axes are above them, and the legend
// is above all.
void PlotPanel::draw(SvgCanvas& canvas, CanvasPoint corner, double left_margin) const {
  CanvasPoint plot = {corner.x + left_margin, corner.y + top_margin_};
  Size size = {std::max(10.0, width_ - left_margin - kRightMargin),
               std::max(10.0, height_ - top_margin_ - bottom_margin_)};
  if (!has_data_) {
    draw_titles(canvas, corner, plot, size);
    draw_no_data(canvas, plot, size);
    return;
  }
  const PlotLegend legend = this->legend();
  std::optional<CanvasPoint> list;
  if (!legend.empty()) {
    Points taken = along_data(size);
    const Points targets = along_targets(size, taken);
    taken.insert(taken.end(), targets.begin(), targets.end());
    list = legend.free_corner(size.width, size.height, taken);
  }
  if (!legend.empty() && !list) {
    // The rows take their height from the plot; a mark of the axis' power stays below them.
    const double rows = legend.rows_height(size.width) + 4;
    legend.draw_rows(canvas, {plot.x, plot.y - (y_ticks_.power != 0 ? 18 : 4)}, size.width);
    plot.y += rows;
    size.height = std::max(10.0, size.height - rows);
  }
  draw_titles(canvas, corner, plot, size);
  draw_grid(canvas, plot, size);
  canvas.open_window(plot, size.width, size.height);
  for (std::size_t i = 0; i < panel_.bands.size(); ++i) draw_band(canvas, panel_.bands[i], style_of_band(i), size);
  for (std::size_t i = 0; i < panel_.curves.size(); ++i) draw_curve(canvas, panel_.curves[i], style_of_curve(i), size);
  if (!panel_.targets.empty()) {
    const Points data = along_data(size);
    for (const TargetLine& target : panel_.targets) draw_target(canvas, target, size, data);
  }
  canvas.close_window();
  draw_axes(canvas, plot, size);
  if (list) legend.draw_list(canvas, {plot.x + list->x, plot.y + list->y});
}

// The title of the panel, and those of its axes beside and below them.
void PlotPanel::draw_titles(SvgCanvas& canvas, CanvasPoint corner, CanvasPoint plot, Size size) const {
  const double middle = plot.x + size.width / 2;
  if (!panel_.title.empty()) {
    canvas.text({plot.x, corner.y + 17}, panel_.title, {.size = kLabelSize, .bold = true});
  }
  canvas.text({middle, plot.y + size.height + 40}, axis_title(panel_.x),
              {.size = kLabelSize, .anchor = Anchor::middle});
  if (const std::string title = axis_title(panel_.y); !title.empty()) {
    canvas.text({corner.x + kLabelSize + 4, plot.y + size.height / 2}, title,
                {.size = kLabelSize, .anchor = Anchor::middle, .upwards = true});
  }
}

// Lines through labelled ticks only: minor ones would be too many.
void PlotPanel::draw_grid(SvgCanvas& canvas, CanvasPoint plot, Size size) const {
  for (const Tick& tick : y_ticks_.ticks) {
    const double y = plot.y + place(x_.from, tick.at, size).y;
    if (!tick.label.empty()) canvas.line({plot.x, y}, {plot.x + size.width, y}, {kGrid});
  }
  for (const Tick& tick : x_ticks_.ticks) {
    const double x = plot.x + place(tick.at, y_.from, size).x;
    if (!tick.label.empty()) canvas.line({x, plot.y}, {x, plot.y + size.height}, {kGrid});
  }
}

// The two axes with their ticks and labels. Where labels are in units of a power of ten, "×10³" stands at the end of
// the axis.
void PlotPanel::draw_axes(SvgCanvas& canvas, CanvasPoint plot, Size size) const {
  const double bottom = plot.y + size.height, right = plot.x + size.width;
  canvas.line({plot.x, plot.y}, {plot.x, bottom}, {kInk});
  canvas.line({plot.x, bottom}, {right, bottom}, {kInk});
  const auto length = [](const Tick& tick) { return tick.label.empty() ? kMinorTickLength : kTickLength; };
  for (const Tick& tick : y_ticks_.ticks) {
    const double y = plot.y + place(x_.from, tick.at, size).y;
    canvas.line({plot.x - length(tick), y}, {plot.x, y}, {kInk});
    if (tick.label.empty()) continue;
    canvas.text({plot.x - kTickLength - 3, y + 0.35 * kTickSize}, tick.label,
                {.size = kTickSize, .anchor = Anchor::end}, tick.exponent);
  }
  for (const Tick& tick : x_ticks_.ticks) {
    const double x = plot.x + place(tick.at, y_.from, size).x;
    canvas.line({x, bottom}, {x, bottom + length(tick)}, {kInk});
    if (tick.label.empty()) continue;
    canvas.text({x, bottom + kTickLength + kTickSize + 2}, tick.label, {.size = kTickSize, .anchor = Anchor::middle},
                tick.exponent);
  }
  const auto power = [](const Ticks& ticks) {
    return fmt::format("{}{}", ticks.power < 0 ? "−" : "", std::abs(ticks.power));
  };
  if (y_ticks_.power != 0) canvas.text({plot.x - kTickLength, plot.y - 8}, "×10", {.size = kTickSize}, power(y_ticks_));
  if (x_ticks_.power != 0) {
    canvas.text({right, bottom + 40}, "×10", {.size = kTickSize, .anchor = Anchor::end}, power(x_ticks_));
  }
}

// Draws an empty frame and says in it why none of the points could be shown.
void PlotPanel::draw_no_data(SvgCanvas& canvas, CanvasPoint plot, Size size) const {
  const double bottom = plot.y + size.height;
  canvas.line({plot.x, plot.y}, {plot.x, bottom}, {kInk});
  canvas.line({plot.x, bottom}, {plot.x + size.width, bottom}, {kInk});
  const bool log = panel_.x.scale == AxisScale::log || panel_.y.scale == AxisScale::log;
  const char* text = "no data";
  if (has_points_) text = log ? "no data: nothing that is finite and positive" : "no data: nothing that is finite";
  canvas.text({plot.x + size.width / 2, plot.y + size.height / 2}, text,
              {.size = kLabelSize, .anchor = Anchor::middle, .colour = kFaint});
}

// A band is a polygon, along its upper side and back along the lower one. It breaks where a point has no place.
void PlotPanel::draw_band(SvgCanvas& canvas, const Band& band, int style, Size size) const {
  Points upper, lower;
  const auto finish = [&] {
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    if (!upper.empty()) canvas.polygon(upper, plot_style::style(style).colour, kBandOpacity);
    upper.clear();
    lower.clear();
  };
  for (std::size_t i = 0; i < band.x.size(); ++i) {
    if (!has_place(band.x[i], panel_.x.scale) || !has_place(band.lower[i], panel_.y.scale) ||
        !has_place(band.upper[i], panel_.y.scale)) {
      finish();
      continue;
    }
    upper.push_back(place(band.x[i], band.upper[i], size));
    lower.push_back(place(band.x[i], band.lower[i], size));
  }
  finish();
}

// Draws the line, and markers on its points; of many points only some have one.
void PlotPanel::draw_curve(SvgCanvas& canvas, const Curve& curve, int style, Size size) const {
  const Style& look = plot_style::style(style);
  for (const Points& points : stretches(curve, size)) {
    if (points.size() == 1 && !curve.markers) {
      canvas.circle(points.front(), kCurveWidth, look.colour);  // a line of one point would not show
    } else if (points.size() > 1) {
      canvas.polyline(points, {look.colour, kCurveWidth, look.dashes});
    }
  }
  if (!curve.markers) return;
  const std::size_t count = curve.x.size(),
                    every = count <= kMostMarkers ? 1 : (count + kSomeMarkers - 1) / kSomeMarkers;
  for (std::size_t i = 0; i < count; i += every) {
    if (!has_place(curve.x[i], panel_.x.scale) || !has_place(curve.y[i], panel_.y.scale)) continue;
    draw_marker(canvas, place(curve.x[i], curve.y[i], size), look);
  }
}

void PlotPanel::draw_target(SvgCanvas& canvas, const TargetLine& target, Size size, const Points& data) const {
  if (!has_place(target.y, panel_.y.scale)) return;
  const double y = place(x_.from, target.y, size).y;
  canvas.line({0, y}, {size.width, y}, {kFaint, 1.2, "5 4"});
  const auto [at, anchor] = target_label(target, size, data);
  canvas.text(at, target.label, {.size = kTickSize, .anchor = anchor, .colour = kFaint, .halo = true});
}

}  // namespace lithe::internal

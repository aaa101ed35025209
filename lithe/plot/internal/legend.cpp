#include "lithe/plot/internal/legend.h"

#include <algorithm>

#include "lithe/plot/internal/style.h"

namespace lithe::internal {

namespace {

constexpr double kSample = 30;   // px, the length of a line's sample
constexpr double kGap = 7;       // between a sample and its label
constexpr double kLine = 17;     // from one line to the next
constexpr double kPadding = 6;   // around the list
constexpr double kInset = 8;     // between the list and the plot's frame
constexpr double kBetween = 20;  // from one entry to the next in a row

// The width of an entry: its sample, a gap and its label.
double entry_width(const LegendEntry& entry) { return kSample + kGap + text_width(entry.label, plot_style::kTickSize); }

}  // namespace

double PlotLegend::list_width() const {
  double width = 0;
  for (const LegendEntry& entry : entries_) width = std::max(width, entry_width(entry));
  return width + 2 * kPadding;
}

double PlotLegend::list_height() const { return kLine * static_cast<double>(entries_.size()) + kPadding; }

std::optional<CanvasPoint> PlotLegend::free_corner(double width, double height,
                                                   const std::vector<CanvasPoint>& taken) const {
  const double w = list_width(), h = list_height();
  if (w + 2 * kInset > width || h + 2 * kInset > height) return {};
  const double left = kInset, right = width - kInset - w, top = kInset, bottom = height - kInset - h;
  for (const CanvasPoint& corner : {CanvasPoint{right, top}, {right, bottom}, {left, top}, {left, bottom}}) {
    const bool crossed = std::ranges::any_of(taken, [&](const CanvasPoint& p) {
      return p.x >= corner.x && p.x <= corner.x + w && p.y >= corner.y && p.y <= corner.y + h;
    });
    if (!crossed) return corner;
  }
  return {};
}

void PlotLegend::draw_list(SvgCanvas& canvas, CanvasPoint corner) const {
  canvas.box(corner, list_width(), list_height(), "#ffffff", 0.85);  // hides the grid
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    draw_entry(canvas, entries_[i], {corner.x + kPadding, corner.y + kPadding / 2 + kLine * static_cast<double>(i)});
  }
}

// Fills rows from left to right; an entry that no longer fits begins the next one.
double PlotLegend::place_rows(double width, std::vector<CanvasPoint>* places) const {
  CanvasPoint next;
  for (const LegendEntry& entry : entries_) {
    const double wanted = entry_width(entry);
    if (next.x > 0 && next.x + wanted > width) next = {0, next.y + kLine};
    if (places) places->push_back(next);
    next.x += wanted + kBetween;
  }
  return entries_.empty() ? 0 : next.y + kLine;
}

double PlotLegend::rows_height(double width) const { return place_rows(width, nullptr); }

void PlotLegend::draw_rows(SvgCanvas& canvas, CanvasPoint corner, double width) const {
  std::vector<CanvasPoint> places;
  place_rows(width, &places);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    draw_entry(canvas, entries_[i], {corner.x + places[i].x, corner.y + places[i].y});
  }
}

void PlotLegend::draw_entry(SvgCanvas& canvas, const LegendEntry& entry, CanvasPoint corner) const {
  const plot_style::Style& style = plot_style::style(entry.style);
  const double middle = corner.y + kLine / 2;
  if (entry.band) canvas.box({corner.x, middle - 5}, kSample, 10, style.colour, plot_style::kBandOpacity);
  if (entry.line) {
    canvas.line({corner.x, middle}, {corner.x + kSample, middle},
                {style.colour, plot_style::kCurveWidth, style.dashes});
  }
  if (entry.marker) plot_style::draw_marker(canvas, {corner.x + kSample / 2, middle}, style);
  canvas.text({corner.x + kSample + kGap, middle + 0.35 * plot_style::kTickSize}, entry.label,
              {.size = plot_style::kTickSize});
}

}  // namespace lithe::internal

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "lithe/core/check.h"
#include "lithe/plot/internal/panel.h"
#include "lithe/plot/internal/style.h"
#include "lithe/plot/svg_plot.h"

namespace lithe::plot {

using namespace internal;

namespace {

constexpr double kTitleHeight = 30, kBetweenPanels = 8, kBottom = 6;  // px

// A range that the caller chose must be one that the scale can show.
void check_axis(const Axis& axis, const char* name, std::size_t panel) {
  if (!axis.range) return;
  LITHE_CHECK(has_place(axis.range->from, axis.scale) && has_place(axis.range->to, axis.scale) &&
                  axis.range->from < axis.range->to,
              "panel {}: its {} axis cannot go from {} to {}", panel, name, axis.range->from, axis.range->to);
}

// Refuses sizes that leave no room for a plot, and data whose parts do not belong together.
void check_figure(const Figure& figure) {
  LITHE_CHECK(figure.columns > 0, "a figure cannot have {} columns", figure.columns);
  LITHE_CHECK(std::isfinite(figure.width) && figure.width >= 100 * figure.columns,
              "a figure of {} columns cannot be {} px wide", figure.columns, figure.width);
  LITHE_CHECK(std::isfinite(figure.panel_height) && figure.panel_height >= 100, "a panel cannot be {} px high",
              figure.panel_height);
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    const Panel& panel = figure.panels[p];
    check_axis(panel.x, "x", p);
    check_axis(panel.y, "y", p);
    for (const Curve& curve : panel.curves) {
      LITHE_CHECK(curve.x.size() == curve.y.size(), "panel {}: curve '{}' has {} x for {} y", p, curve.label,
                  curve.x.size(), curve.y.size());
    }
    for (const Band& band : panel.bands) {
      LITHE_CHECK(band.x.size() == band.lower.size() && band.x.size() == band.upper.size(),
                  "panel {}: band '{}' has {} x, {} lower and {} upper values", p, band.label, band.x.size(),
                  band.lower.size(), band.upper.size());
    }
  }
}

}  // namespace

// Panels are prepared before any is drawn, because those of one column share the largest of their left margins.
std::string svg(const Figure& figure) {
  check_figure(figure);
  const auto columns = static_cast<std::size_t>(figure.columns);
  const std::size_t rows = (figure.panels.size() + columns - 1) / columns;
  const double width = figure.width / figure.columns, height = figure.panel_height;
  std::vector<PlotPanel> panels;
  // The left margin that each column needs.
  std::vector<double> left(columns, 0);
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    panels.emplace_back(figure.panels[i], width, height);
    left[i % columns] = std::max(left[i % columns], panels.back().left_margin());
  }
  const double top = figure.title.empty() ? 4 : kTitleHeight;
  const double total = top + static_cast<double>(rows) * (height + kBetweenPanels) + kBottom;
  SvgCanvas canvas(figure.width, total, figure.title);
  if (!figure.title.empty()) {
    canvas.text({figure.width / 2, 20}, figure.title,
                {.size = plot_style::kTitleSize, .anchor = Anchor::middle, .bold = true});
  }
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::size_t column = i % columns, row = i / columns;
    const CanvasPoint corner = {static_cast<double>(column) * width,
                                top + static_cast<double>(row) * (height + kBetweenPanels)};
    panels[i].draw(canvas, corner, left[column]);
  }
  return canvas.finish();
}

void write_svg(const Figure& figure, const std::string& path) {
  const std::string text = svg(figure);
  const auto reason = [] { return std::strerror(errno); };
  std::FILE* file = std::fopen(path.c_str(), "wb");
  LITHE_CHECK(file != nullptr, "cannot write {}: {}", path, reason());
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  LITHE_CHECK(written && closed, "cannot write {}: {}", path, reason());
}

}  // namespace lithe::plot

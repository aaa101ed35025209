#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lithe/plot/internal/svg_canvas.h"

namespace lithe::internal {

// One line of a legend: a label, and what its sample shows of the style.
struct LegendEntry {
  std::string label;
  int style = 0;
  bool line = true, marker = false, band = false;
};

// What the styles of a panel's curves mean: a list in a corner where no curve runs, or rows above the plot.
class PlotLegend {
 public:
  explicit PlotLegend(std::vector<LegendEntry> entries) : entries_(std::move(entries)) {}

  bool empty() const { return entries_.empty(); }

  // The upper left of the list in a corner of a plot of this size that none of these points lies in, if there is one.
  std::optional<CanvasPoint> free_corner(double width, double height, const std::vector<CanvasPoint>& taken) const;
  void draw_list(SvgCanvas& canvas, CanvasPoint corner) const;

  // The same above the plot, in rows of at most this width.
  double rows_height(double width) const;
  void draw_rows(SvgCanvas& canvas, CanvasPoint corner, double width) const;

 private:
  // The places of the entries, row by row, and the height of all.
  double place_rows(double width, std::vector<CanvasPoint>* places) const;
  double list_width() const;
  double list_height() const;
  void draw_entry(SvgCanvas& canvas, const LegendEntry& entry, CanvasPoint corner) const;

  std::vector<LegendEntry> entries_;
};

}  // namespace lithe::internal

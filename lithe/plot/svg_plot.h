#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lithe/plot/axis_ticks.h"

namespace lithe::plot {

// Line plots as SVG text: panels with labelled axes, side by side or stacked. Colours can be told apart by the colour-blind (Okabe &
// Ito 2008), and every curve has dashes of its own, for print without colours.

// Points in their order. Where one has no place (NaN, infinite, not positive on a logarithmic axis), the line breaks.
struct Curve {
  std::string label = {};  // in the legend; empty: not there
  std::vector<double> x = {}, y = {};
  // The number of its colour, dashes and marker. Curves of the same kind in several panels share one. −1: its place among the curves.
  int style = -1;
  bool markers = false;  // on the points; of many, on some
  bool stairs = false;   // each y holds until the next x
};

// The space between two curves, lightly filled.
struct Band {
  std::string label = {};
  std::vector<double> x = {}, lower = {}, upper = {};
  int style = -1;  // as Curve::style, and best that of the curve it belongs to
};

// A horizontal line that says what a curve should come to.
struct TargetLine {
  double y = 0;
  std::string label = {};
};

// What one axis of a panel shows, and how.
struct Axis {
  std::string label = {};
  std::string unit = {};
  AxisScale scale = AxisScale::linear;
  std::optional<AxisRange> range = {};  // else what the data need
};

// One plot of a figure: everything that shares a pair of axes.
struct Panel {
  std::string title = {};
  Axis x = {}, y = {};
  std::vector<Curve> curves = {};
  std::vector<Band> bands = {};
  std::vector<TargetLine> targets = {};
};

// Panels in rows and columns below a common title.
struct Figure {
  std::string title = {};
  std::vector<Panel> panels = {};  // row by row
  int columns = 1;
  double width = 600;  // px, of all columns together
  double panel_height = 260;
};

// A panel without a point to show says so. Curves whose x and y differ in size, ranges that are empty and the like are an Error that
// names the panel.
std::string svg(const Figure& figure);

// An Error if the file cannot be written.
void write_svg(const Figure& figure, const std::string& path);

}  // namespace lithe::plot

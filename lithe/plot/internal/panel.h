#pragma once

#include <vector>

#include "lithe/plot/internal/legend.h"
#include "lithe/plot/svg_plot.h"

namespace lithe::internal {

using namespace plot;

// One panel with its ranges, ticks and margins decided, ready to be drawn.
class PlotPanel {
 public:
  // `width` and `height` are of the whole panel, its labels included, in px. `panel` must outlive this.
  PlotPanel(const Panel& panel, double width, double height);

  // What the labels on the left need. Panels above one another share the largest, so that their frames line up.
  double left_margin() const { return left_margin_; }
  void draw(SvgCanvas& canvas, CanvasPoint corner, double left_margin) const;

 private:
  using Points = std::vector<CanvasPoint>;

  void fit();
  void make_ticks();
  PlotLegend legend() const;
  int style_of_curve(std::size_t curve) const;
  int style_of_band(std::size_t band) const;

  // The size of the plot itself, in px. Places below are in its own coordinates, from its upper left.
  struct Size {
    double width, height;
  };
  CanvasPoint place(double x, double y, Size size) const;
  // The stretches of a curve without breaks.
  std::vector<Points> stretches(const Curve& curve, Size size) const;
  // Points along everything that a legend or a label should not cover: curves and bands, and targets.
  Points along_data(Size size) const;
  Points along_targets(Size size, const Points& data) const;
  // Where the label of a target line goes: at either end of the line, above or below it, in the first of these places
  // that the data leave free.
  struct Label {
    CanvasPoint at;
    Anchor anchor;
  };
  Label target_label(const TargetLine& target, Size size, const Points& data) const;

  void draw_titles(SvgCanvas& canvas, CanvasPoint corner, CanvasPoint plot, Size size) const;
  void draw_grid(SvgCanvas& canvas, CanvasPoint plot, Size size) const;
  void draw_axes(SvgCanvas& canvas, CanvasPoint plot, Size size) const;
  void draw_no_data(SvgCanvas& canvas, CanvasPoint plot, Size size) const;
  void draw_band(SvgCanvas& canvas, const Band& band, int style, Size size) const;
  void draw_curve(SvgCanvas& canvas, const Curve& curve, int style, Size size) const;
  void draw_target(SvgCanvas& canvas, const TargetLine& target, Size size, const Points& data) const;

  const Panel& panel_;
  double width_, height_;
  bool has_data_ = false;
  bool has_points_ = false;  // though maybe none that these axes can show
  AxisRange x_, y_;
  Ticks x_ticks_, y_ticks_;
  double left_margin_ = 0, top_margin_ = 0, bottom_margin_ = 0;
};

}  // namespace lithe::internal

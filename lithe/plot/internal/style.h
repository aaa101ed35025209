#pragma once

#include <array>
#include <string_view>

#include "lithe/plot/internal/svg_canvas.h"

namespace lithe::internal {

// How figures look.
namespace plot_style {

inline constexpr double kTickSize = 12, kLabelSize = 13, kTitleSize = 14;  // px, of letters
inline constexpr std::string_view kInk = "#262626", kGrid = "#e6e6e6", kFaint = "#737373";
inline constexpr double kCurveWidth = 1.8, kMarkerRadius = 3.2;
inline constexpr double kBandOpacity = 0.2;

enum class Marker : std::uint8_t { circle, square, triangle, diamond };

// What a curve looks like. Colour, dashes and marker each tell it apart by themselves, for print without colours.
struct Style {
  std::string_view colour, dashes;
  Marker marker;
};

// Okabe and Ito's colours, without the yellow that is lost on white.
inline constexpr std::array<Style, 7> kStyles = {{
    {"#0072b2", "", Marker::circle},
    {"#d55e00", "7 3", Marker::square},
    {"#009e73", "2 2.4", Marker::triangle},
    {"#cc79a7", "9 3 2 3", Marker::diamond},
    {"#e69f00", "4 2", Marker::circle},
    {"#56b4e9", "12 3", Marker::square},
    {"#000000", "9 2.5 2 2.5 2 2.5", Marker::triangle},
}};

// Styles begin anew where there are more curves than styles.
inline const Style& style(int number) { return kStyles[static_cast<std::size_t>(number) % kStyles.size()]; }

// Draws a marker. The sizes s, t and d make squares, triangles and diamonds look as large as a circle of this radius.
inline void draw_marker(SvgCanvas& canvas, CanvasPoint at, const Style& style, double radius = kMarkerRadius) {
  const double s = 0.88 * radius, t = 1.15 * radius, d = 1.3 * radius;
  switch (style.marker) {
    case Marker::circle: canvas.circle(at, radius, style.colour); return;
    case Marker::square: canvas.box({at.x - s, at.y - s}, 2 * s, 2 * s, style.colour, 1); return;
    case Marker::triangle:
      canvas.polygon({{at.x - t, at.y + 0.8 * t}, {at.x + t, at.y + 0.8 * t}, {at.x, at.y - 1.1 * t}}, style.colour, 1);
      return;
    case Marker::diamond:
      canvas.polygon({{at.x - d, at.y}, {at.x, at.y - d}, {at.x + d, at.y}, {at.x, at.y + d}}, style.colour, 1);
      return;
  }
}

}  // namespace plot_style

}  // namespace lithe::internal

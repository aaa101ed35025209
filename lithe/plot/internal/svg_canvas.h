#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lithe::internal {

struct CanvasPoint {
  double x = 0, y = 0;  // px, from the upper left
};

// How a line is drawn.
struct Stroke {
  std::string_view colour = "#262626";
  double width = 1;
  std::string_view dashes = {};  // lengths of strokes and gaps in px; empty: a full line
};

// Which point of a text is at the place that is given for it.
enum class Anchor : std::uint8_t { start, middle, end };

struct TextStyle {
  double size = 12;  // px
  Anchor anchor = Anchor::start;
  std::string_view colour = "#262626";
  bool bold = false;
  bool upwards = false;  // turned by 90°, read from below
  bool halo = false;     // a white rim, for text on curves
};

inline constexpr double kRaisedSize = 0.72;  // of an exponent, in shares of the size

// SVG 1.1 under construction: text of elements, on white.
class SvgCanvas {
 public:
  SvgCanvas(double width, double height, std::string_view title);

  void line(CanvasPoint from, CanvasPoint to, const Stroke& stroke);
  void polyline(const std::vector<CanvasPoint>& points, const Stroke& stroke);
  void polygon(const std::vector<CanvasPoint>& points, std::string_view fill, double opacity);
  void circle(CanvasPoint centre, double radius, std::string_view fill);
  void box(CanvasPoint corner, double width, double height, std::string_view fill, double opacity);
  // The point is on the baseline. What is `raised` follows as an exponent (of text that is not turned).
  void text(CanvasPoint at, std::string_view text, const TextStyle& style, std::string_view raised = {});

  // Until the window is closed, coordinates count from its corner, and nothing shows outside of it.
  void open_window(CanvasPoint corner, double width, double height);
  void close_window();

  std::string finish() const { return elements_ + "</svg>\n"; }

 private:
  void plain_text(CanvasPoint at, std::string_view text, const TextStyle& style);

  std::string elements_;
};

// With &, <, > and quotes as XML wants them; control characters, which XML has no way to say, become '?'.
std::string xml_escaped(std::string_view text);

// About how wide a sans-serif font sets it, in px. The viewer's font decides in the end.
double text_width(std::string_view text, double size);

}  // namespace lithe::internal

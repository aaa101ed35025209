#include "lithe/plot/internal/svg_canvas.h"

#include <fmt/format.h>

#include <cmath>

namespace lithe::internal {

namespace {

constexpr std::string_view kFont = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";
constexpr double kRaisedBy = 0.42;  // how far an exponent is raised, in shares of the size

// A number as SVG text, without zeros at its end. A hundredth of a pixel is finer than anybody sees.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

// A stroke as attributes of an SVG element.
std::string stroke_text(const Stroke& stroke) {
  std::string text = fmt::format(R"(stroke="{}" stroke-width="{}")", stroke.colour, number(stroke.width));
  if (!stroke.dashes.empty()) text += fmt::format(R"( stroke-dasharray="{}")", stroke.dashes);
  return text;
}

// The points of a polyline or polygon. Those that fall on the one before say nothing and are left out, which keeps long
// curves small.
std::string points_text(const std::vector<CanvasPoint>& points) {
  std::string text, last;
  for (const CanvasPoint& p : points) {
    std::string next = number(p.x) + "," + number(p.y);
    if (next == last) continue;
    if (!text.empty()) text += ' ';
    text += next;
    last = std::move(next);
  }
  return text;
}

const char* anchor_text(Anchor anchor) {
  switch (anchor) {
    case Anchor::start: return "start";
    case Anchor::middle: return "middle";
    case Anchor::end: return "end";
  }
  return "start";
}

// About how wide a letter is, in shares of the font's size, after Helvetica. All that is not ASCII counts as an average
// letter.
double letter_width(unsigned char c) {
  if (std::string_view("ijl|'!.,:;I()[] t/f").find(static_cast<char>(c)) != std::string_view::npos) return 0.3;
  if (std::string_view("mwMW%@").find(static_cast<char>(c)) != std::string_view::npos) return 0.87;
  if (c >= 'A' && c <= 'Z') return 0.69;
  return 0.56;
}

}  // namespace

// The SVG element with its title, which viewers show and read out, and a white background: without it, a figure on a
// dark page could not be read.
SvgCanvas::SvgCanvas(double width, double height, std::string_view title) {
  const std::string w = number(width), h = number(height);
  elements_ = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" viewBox="0 0 {} {}" font-family="{}">)", w, h,
      w, h, kFont);
  elements_ += fmt::format("\n<title>{}</title>\n", xml_escaped(title));
  elements_ += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", w, h);
}

void SvgCanvas::line(CanvasPoint from, CanvasPoint to, const Stroke& stroke) {
  elements_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", number(from.x), number(from.y),
                           number(to.x), number(to.y), stroke_text(stroke));
}

void SvgCanvas::polyline(const std::vector<CanvasPoint>& points, const Stroke& stroke) {
  elements_ += fmt::format("<polyline points=\"{}\" fill=\"none\" {} stroke-linejoin=\"round\"/>\n",
                           points_text(points), stroke_text(stroke));
}

void SvgCanvas::polygon(const std::vector<CanvasPoint>& points, std::string_view fill, double opacity) {
  elements_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"{}\"/>\n", points_text(points), fill,
                           number(opacity));
}

void SvgCanvas::circle(CanvasPoint centre, double radius, std::string_view fill) {
  elements_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", number(centre.x), number(centre.y),
                           number(radius), fill);
}

void SvgCanvas::box(CanvasPoint corner, double width, double height, std::string_view fill, double opacity) {
  elements_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}" fill-opacity="{}"/>)",
                           number(corner.x), number(corner.y), number(width), number(height), fill, number(opacity));
  elements_ += '\n';
}

void SvgCanvas::text(CanvasPoint at, std::string_view text, const TextStyle& style, std::string_view raised) {
  if (raised.empty()) return plain_text(at, text, style);
  // Two elements that meet where the exponent begins: viewers disagree on how to anchor one with parts.
  const double width = text_width(text, style.size), raised_width = text_width(raised, kRaisedSize * style.size);
  double seam = at.x + width;
  if (style.anchor == Anchor::middle) seam = at.x + (width - raised_width) / 2;
  if (style.anchor == Anchor::end) seam = at.x - raised_width;
  TextStyle part = style;
  part.anchor = Anchor::end;
  plain_text({seam, at.y}, text, part);
  part.anchor = Anchor::start;
  part.size *= kRaisedSize;
  plain_text({seam + 0.5, at.y - kRaisedBy * style.size}, raised, part);
}

void SvgCanvas::plain_text(CanvasPoint at, std::string_view text, const TextStyle& style) {
  std::string place = fmt::format(R"(x="{}" y="{}")", number(at.x), number(at.y));
  if (style.upwards) place += fmt::format(" transform=\"rotate(-90 {} {})\"", number(at.x), number(at.y));
  const std::string content = xml_escaped(text);
  const std::string look = fmt::format(R"(font-size="{}" text-anchor="{}"{})", number(style.size),
                                       anchor_text(style.anchor), style.bold ? R"( font-weight="bold")" : "");
  // Draws the text once more beneath itself, as a thick white outline.
  if (style.halo) {
    elements_ += fmt::format("<text {} {} stroke=\"#ffffff\" stroke-width=\"4\" stroke-linejoin=\"round\">{}</text>\n",
                             place, look, content);
  }
  elements_ += fmt::format("<text {} {} fill=\"{}\">{}</text>\n", place, look, style.colour, content);
}

// An inner <svg> has coordinates of its own and cuts off what is outside of it.
void SvgCanvas::open_window(CanvasPoint corner, double width, double height) {
  elements_ += fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\n", number(corner.x), number(corner.y),
                           number(width), number(height));
}

void SvgCanvas::close_window() { elements_ += "</svg>\n"; }

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      case '\t':
      case '\n':
      case '\r': out += ' '; break;
      default: out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
  }
  return out;
}

double text_width(std::string_view text, double size) {
  double width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) width += letter_width(byte);  // one per character, however many bytes it has
  }
  return size * width;
}

}  // namespace lithe::internal

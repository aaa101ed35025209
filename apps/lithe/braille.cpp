#include "apps/lithe/braille.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lithe::cli {

namespace {

// The bit of each dot in U+2800…U+28FF. The eighth dots came to braille last, hence the order.
constexpr std::uint8_t kDotBit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

// U+2800 + dots in UTF-8.
void append_braille(std::string& out, std::uint8_t dots) {
  out += '\xe2';
  out += static_cast<char>(0xa0 | (dots >> 6));
  out += static_cast<char>(0x80 | (dots & 0x3f));
}

}  // namespace

BrailleCanvas::BrailleCanvas(int columns, int rows) : columns_(columns), rows_(rows), cells_(columns * rows) {}

void BrailleCanvas::dot(int x, int y, std::uint8_t colour) {
  if (x < 0 || y < 0 || x >= width() || y >= height()) return;
  Cell& cell = cells_[(y / 4) * columns_ + x / 2];
  cell.dots |= kDotBit[y % 4][x % 2];
  cell.colour = colour;
}

void BrailleCanvas::line(double x0, double y0, double x1, double y1, std::uint8_t colour) {
  const int steps = std::max(1, static_cast<int>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0)))));
  for (int i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    dot(static_cast<int>(std::lround(x0 + t * (x1 - x0))), static_cast<int>(std::lround(y0 + t * (y1 - y0))), colour);
  }
}

std::string BrailleCanvas::text(bool coloured) const {
  std::string out;
  for (int row = 0; row < rows_; ++row) {
    const Cell* first = &cells_[row * columns_];
    const Cell* end = first + columns_;
    while (end != first && (end - 1)->dots == 0) --end;
    int current = -1;  // the colour that the terminal is set to
    for (const Cell* cell = first; cell != end; ++cell) {
      if (cell->dots == 0) {
        out += ' ';
        continue;
      }
      if (coloured && cell->colour != current) {
        out += fmt::format("\x1b[38;5;{}m", cell->colour);
        current = cell->colour;
      }
      append_braille(out, cell->dots);
    }
    if (current >= 0) out += "\x1b[0m";
    out += '\n';
  }
  return out;
}

}  // namespace lithe::cli

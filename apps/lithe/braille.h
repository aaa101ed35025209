#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lithe::cli {

// A picture made of Unicode's braille patterns: every character cell holds 2×4 dots, and since a cell is about twice
// as high as wide, the dots lie on a square grid. A cell has one colour (of the terminal's 256), that of its last dot.
class BrailleCanvas {
 public:
  BrailleCanvas(int columns, int rows);

  int width() const { return 2 * columns_; }  // in dots
  int height() const { return 4 * rows_; }

  // (0, 0) is the upper left. Dots outside are dropped.
  void dot(int x, int y, std::uint8_t colour);
  void line(double x0, double y0, double x1, double y1, std::uint8_t colour);

  // UTF-8, one line per row, no blanks at the lines' ends.
  std::string text(bool coloured) const;

 private:
  struct Cell {
    std::uint8_t dots = 0;
    std::uint8_t colour = 0;
  };
  int columns_, rows_;
  std::vector<Cell> cells_;
};

}  // namespace lithe::cli

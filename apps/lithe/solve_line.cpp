#include "apps/lithe/solve_line.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "apps/lithe/terminal.h"

namespace lithe::cli {

SolveLine::SolveLine(std::string title) : title_(std::move(title)), shown_(stderr_is_terminal()) {}

SolveLine::~SolveLine() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void SolveLine::update(const lithe::Progress& progress) {
  const Clock::time_point now = Clock::now();
  if (!shown_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  std::string text = fmt::format("{}  iteration {}  cost {:.6g}", title_, progress.iteration, progress.cost);
  if (progress.infeasibility > 0) text += fmt::format("  violation {:.1e}", progress.infeasibility);
  text += fmt::format("  step {:.2g}  {:.1f} s", progress.step, progress.seconds);
  // A line that wraps could not be taken back. All of it is ASCII but the title, which is cut last.
  const auto columns = static_cast<std::size_t>(stderr_columns() - 1);
  if (text.size() > columns) text.resize(columns);
  fmt::print(stderr, "\r{}\x1b[K", text);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace lithe::cli

#pragma once

#include <chrono>
#include <string>

#include "lithe/optimize/solve.h"

namespace lithe::cli {

// A line on stderr that says how far a solver has come, and is gone at the end. Where stderr is no terminal, nothing is shown.
class SolveLine {
 public:
  explicit SolveLine(std::string title);
  ~SolveLine();
  SolveLine(const SolveLine&) = delete;
  SolveLine& operator=(const SolveLine&) = delete;

  // Draws at most ten times a second.
  void update(const lithe::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point next_ = Clock::now();
};

}  // namespace lithe::cli

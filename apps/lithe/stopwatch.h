#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

namespace lithe::cli {

// The shortest of several runs: noise only ever adds.
template <class Action>
double best_seconds(int runs, Action action) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    action();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace lithe::cli

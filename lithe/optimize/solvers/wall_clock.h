#pragma once

#include <chrono>

namespace lithe::internal {

// Seconds since some moment; only differences mean something.
inline double wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace lithe::internal

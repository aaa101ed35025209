#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

namespace lithe::bench {

inline double microseconds_of(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

// What this thread has had of the processor, and what all threads of the process have had. On a busy machine others run in between, which
// the wall's clock would count.
inline double thread_microseconds() { return microseconds_of(CLOCK_THREAD_CPUTIME_ID); }
inline double process_microseconds() { return microseconds_of(CLOCK_PROCESS_CPUTIME_ID); }

inline double wall_microseconds() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What an action takes on this thread, less what reading the clock twice takes by itself: a tenth of a small model's step.
template <class Action>
double thread_microseconds_of(Action action) {
  static const double clock = [] {
    double shortest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 2000; ++i) {
      const double start = thread_microseconds();
      shortest = std::min(shortest, thread_microseconds() - start);
    }
    return shortest;
  }();
  const double start = thread_microseconds();
  action();
  return thread_microseconds() - start - clock;
}

}  // namespace lithe::bench

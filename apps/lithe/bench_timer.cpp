#include "apps/lithe/bench_timer.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <utility>

namespace lithe::cli {

namespace {

constexpr double kWindow = 1e-4;  // s; reading the clock twice takes some 0.3 % of it
constexpr double kLong = 5e-3;    // s; caches do not matter to it
constexpr int kFewestWindows = 3;

double processor_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Action>
double seconds_of(Action action) {
  const double start = processor_seconds();
  action();
  return processor_seconds() - start;
}

}  // namespace

int RoundTimer::add_loop(std::function<void(int)> loop) {
  // The first call allocates, but what takes this long is not called thrice just to see how long it takes.
  double seconds = seconds_of([&] { loop(1); });
  if (seconds < kLong) seconds = std::min(seconds_of([&] { loop(1); }), seconds_of([&] { loop(1); }));
  const double calls = std::clamp(std::ceil(kWindow / seconds), 1.0, 1e5);
  const double windows = std::max<double>(kFewestWindows, std::floor(allowance_ / (calls * seconds)));
  entries_.push_back({.loop = std::move(loop),
                      .calls = static_cast<int>(calls),
                      .stride = std::max(1, static_cast<int>(rounds_ / windows)),
                      .is_long = seconds >= kLong,
                      .best = std::numeric_limits<double>::infinity()});
  return static_cast<int>(entries_.size()) - 1;
}

bool RoundTimer::run(const std::function<bool(int)>& keep_going) {
  for (int round = 0; round < rounds_; ++round) {
    for (Entry& entry : entries_) {
      if (round % entry.stride != 0) continue;
      if (!keep_going(round)) return false;
      if (!entry.is_long) entry.loop(1);
      entry.best = std::min(entry.best, seconds_of([&] { entry.loop(entry.calls); }) / entry.calls);
    }
  }
  return true;
}

}  // namespace lithe::cli

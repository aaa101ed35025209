#pragma once

#include <chrono>
#include <ctime>

namespace lithe::test {

// The clocks of the tests. CONTRIBUTING.md names the tests that judge by them, and why each must: a machine may be slow, busy or both.

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The time that the processor spends on it, whatever else runs on the machine.
template <class Action>
double cpu_seconds(Action action) {
  const std::clock_t start = std::clock();
  action();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// More than any machine's processor takes for what is linear in a file's size, with sanitizers and without optimisation too; a loop
// within a loop takes far longer.
inline constexpr double kLong = 20;  // s

}  // namespace lithe::test

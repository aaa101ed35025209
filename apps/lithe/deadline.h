#pragma once

#include <chrono>

namespace lithe::cli {

// So many seconds from when it was made.
class Deadline {
 public:
  explicit Deadline(double seconds) : seconds_(seconds) {}

  double passed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool over() const { return passed() > seconds_; }

 private:
  using Clock = std::chrono::steady_clock;

  double seconds_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace lithe::cli

#pragma once

#include <algorithm>
#include <chrono>

namespace lithe::internal {

// A limit of so many events per second, and for a moment more (a token bucket): the bucket fills steadily, and each
// event takes one from it.
class RateLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  RateLimit(double per_second, double burst) : per_second_(per_second), burst_(burst), left_(burst) {}

  // An event at a time that does not go back: whether it is within the limit.
  bool allow(Time now) {
    if (last_ != Time()) {
      left_ = std::min(burst_, left_ + per_second_ * std::chrono::duration<double>(now - last_).count());
    }
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double per_second_, burst_, left_;
  Time last_ = {};
};

}  // namespace lithe::internal

#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace lithe::internal {

// Normal numbers from a seed. The standard fixes every bit of std::mt19937_64 but leaves std::normal_distribution to the library, so
// the transform is our own (Box & Muller 1958).
class NormalDraws {
 public:
  explicit NormalDraws(std::uint64_t seed) : random_(seed) {}

  // Each transform gives two numbers, of which the second is kept for the next call. 1 − uniform() is never zero, so
  // its logarithm is finite.
  double next() {
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - uniform())), angle = 2 * std::numbers::pi * uniform();
    second_ = radius * std::sin(angle);
    has_second_ = true;
    return radius * std::cos(angle);
  }

 private:
  double uniform() { return std::ldexp(static_cast<double>(random_() >> 11), -53); }  // 0 ≤ x < 1, from 53 random bits

  std::mt19937_64 random_;
  double second_ = 0;
  bool has_second_ = false;
};

}  // namespace lithe::internal

#pragma once

#include <limits>
#include <numbers>

namespace lithe::test {

inline constexpr double kPi = std::numbers::pi;
inline constexpr double kDegree = kPi / 180;
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline constexpr double kGravity = 9.81;  // m/s², the default of models

}  // namespace lithe::test

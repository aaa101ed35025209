#pragma once

#include <limits>

namespace lithe {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace lithe

#pragma once

#include <cmath>

#include "lithe/core/eigen.h"

namespace lithe::internal {

// |v| without overflow, and with the same bits wherever v lies in memory: Eigen's stableNorm() sums in an order that depends on its address.
inline double robust_norm(const Vec3& v) { return std::hypot(v.x(), v.y(), v.z()); }

}  // namespace lithe::internal

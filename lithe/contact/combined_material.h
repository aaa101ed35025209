#pragma once

#include <algorithm>

#include "lithe/model/shape.h"

namespace lithe::internal {

// What two surfaces are to each other.
//
//   friction      2 μ_a μ_b / (μ_a + μ_b): that of either where they are equal, none where one has none, and smooth
//   restitution   the larger: a ball that bounces does so on any floor
inline Material combined(const Material& a, const Material& b) {
  const double sum = a.friction + b.friction;
  return {.friction = sum > 0 ? 2 * a.friction * (b.friction / sum) : 0.0,
          .restitution = std::max(a.restitution, b.restitution)};
}

}  // namespace lithe::internal

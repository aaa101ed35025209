#pragma once

#include <cstdint>
#include <vector>

#include "lithe/viz/document/show_document.h"

namespace lithe::internal {

// A shape as triangles, ready for a graphics card: vertices with normals, in the shape's frame G.
struct Surface {
  std::vector<float> positions, normals;      // n × 3
  std::vector<std::uint32_t> triangles = {};  // m × 3, anticlockwise seen from outside
};

// Round surfaces have smooth normals, flat ones their own vertices for each triangle. Of a plane, a square of
// 2·kPlaneHalfSize around its origin. Triangles without area are left out: the result may be empty.
inline constexpr double kPlaneHalfSize = 20;  // m
Surface surface_of(const ShowShape& shape);

}  // namespace lithe::internal

#include "lithe/collision/hull/finish.h"
#include "lithe/collision/hull/hull.h"

namespace lithe::internal {

Hull box_hull(const Vec3& half_size) {
  // Directions and ranks come from the cube of half size 1, where all of them are exact.
  Hull hull;
  for (int i = 0; i < 8; ++i) hull.vertices.emplace_back(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
  for (int axis = 0; axis < 3; ++axis) {
    // Bits of the two other axes, so that (axis, u, v) is right-handed.
    const int bit = 1 << axis, u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3;
    for (const int sign : {1, -1}) {
      Vec3 normal = Vec3::Zero();
      normal[axis] = sign;
      hull.faces.push_back({normal, 0, 0, size_of(hull.ring), 4});
      const int base = sign > 0 ? bit : 0;
      // Counter-clockwise from outside; the lowest vertex first.
      const std::array<int, 4> corners = sign > 0 ? std::array{0, u, u | v, v} : std::array{0, v, u | v, u};
      for (const int corner : corners) hull.ring.push_back(base | corner);
    }
  }
  finish_hull(hull);
  for (Vec3& vertex : hull.vertices) vertex = vertex.cwiseProduct(half_size);
  measure_hull(hull);
  return hull;
}

}  // namespace lithe::internal

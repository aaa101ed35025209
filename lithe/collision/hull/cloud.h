#pragma once

#include <span>
#include <string>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/core/infinity.h"

namespace lithe::internal {

// The points of a mesh, and the lengths that count as small. All lengths are relative to the size, but never below the
// resolution of the coordinates, which is coarse far from the origin.
struct Cloud {
  std::vector<Vec3> points;
  Vec3 centre = Vec3::Zero();  // of the bounds
  double size = 0;             // diagonal of the bounds
  double weld = 0;             // points closer than this are one
  double thinnest = 0;
  double thickness = 0;  // about that of the hull
};

// A cloud without its points yet. Refuses (Error) coordinates that are not finite or beyond any unit of length, and
// fewer than three points. `name` is for the messages, here and below.
Cloud measure_cloud(std::span<const Vec3> points, const std::string& name);

// The numbers of the distinct ones among `points`: those that are not nearly equal to one before, in the order of `among`.
std::vector<int> distinct_among(std::span<const Vec3> points, std::span<const int> among, const Cloud& cloud);

// All of that: a cloud of the distinct points in order of first appearance.
Cloud distinct_points(std::span<const Vec3> points, const std::string& name);

// A plane through three points that are far apart: the first by its coordinates, the farthest from it, and the farthest from the line
// through both. No other plane has the points within much less than a fifth of this one's distance. Refuses points on a
// line.
struct WidestPlane {
  Vec3 normal;
  double breadth;  // of the third point from the line
};
WidestPlane widest_plane(std::span<const Vec3> points, const Cloud& cloud, const std::string& name);

struct Slab {
  double low = kInfinity, high = -kInfinity;  // along the normal, from the origin
  double thickness() const { return high - low; }
};
Slab slab_of(std::span<const Vec3> points, const Vec3& origin, const Vec3& normal);

}  // namespace lithe::internal

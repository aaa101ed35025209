// From points to their exact hull: bad input is refused, nearly equal points become one, qhull gives facets, these are
// merged to faces (hull_merge.h), and what is too flat becomes a thin plate.
#include <Eigen/Geometry>

#include <algorithm>

#include "lithe/collision/hull/cloud.h"
#include "lithe/collision/hull/exact.h"
#include "lithe/collision/hull/facets.h"
#include "lithe/collision/hull/finish.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/collision/hull/merge.h"
#include "lithe/core/check.h"
#include "lithe/core/internal/size_of.h"

namespace lithe::internal {
namespace {

// Normal of a polygon whose corners are nearly in a plane, by Newell's method: the sum of the cross products is twice
// the area vector, however the corners deviate.
Vec3 newell_normal(const std::vector<Vec3>& points, const std::vector<int>& ring) {
  Vec3 sum = Vec3::Zero();
  const Vec3& origin = points[ring[0]];
  for (std::size_t k = 1; k + 1 < ring.size(); ++k) {
    sum += (points[ring[k]] - origin).cross(points[ring[k + 1]] - origin);
  }
  return sum.normalized();
}

// Numbers the points that are corners in order of appearance, and builds the hull from them. Nothing if there are too
// many.
std::optional<Hull> hull_of_rings(const Cloud& cloud, const std::vector<std::vector<int>>& rings) {
  std::vector<int> number(cloud.points.size(), -1);
  for (const std::vector<int>& ring : rings) {
    for (const int p : ring) number[p] = 0;
  }
  Hull hull;
  for (std::size_t p = 0; p < number.size(); ++p) {
    if (number[p] < 0) continue;
    number[p] = size_of(hull.vertices);
    hull.vertices.push_back(cloud.points[p]);
  }
  if (size_of(hull.vertices) > kMaxHullVertices) return std::nullopt;
  for (const std::vector<int>& ring : rings) {
    hull.faces.push_back({newell_normal(cloud.points, ring), 0, 0, size_of(hull.ring), size_of(ring)});
    for (const int p : ring) hull.ring.push_back(number[p]);
  }
  finish_hull(hull);
  return hull;
}

std::optional<Hull> hull_of(const Cloud& cloud, const std::string& name) {
  // qhull's tolerances, and ours, are best met by coordinates around 1.
  std::vector<Vec3> scaled;
  scaled.reserve(cloud.points.size());
  for (const Vec3& p : cloud.points) scaled.push_back((p - cloud.centre) / cloud.size);
  const std::vector<HullFacet> facets = hull_facets(scaled, name);
  // Of a thin hull, much less may be cut away.
  const MergeTolerance tolerance = {cloud.weld / cloud.size, std::max(cloud.weld, 0.01 * cloud.thickness) / cloud.size};
  const std::vector<std::vector<int>> rings = merge_facets(scaled, facets, tolerance);
  LITHE_CHECK(!rings.empty(), "mesh '{}': qhull found no closed convex hull; simplify the mesh", name);
  return hull_of_rings(cloud, rings);
}

// The plate of some thickness around the middle of a slab, with the outline of the points.
Cloud plate(const Cloud& cloud, const Vec3& normal, double thickness) {
  const Slab slab = slab_of(cloud.points, cloud.centre, normal);
  const double middle = 0.5 * (slab.low + slab.high);
  Cloud result = cloud;
  result.points.clear();
  result.thickness = thickness;
  for (const Vec3& p : cloud.points) {
    const double h = normal.dot(p - cloud.centre);
    for (const double side : {0.5, -0.5}) result.points.push_back(p + (middle + side * thickness - h) * normal);
  }
  return result;
}

// The side of a direction and its opposite on which its largest component is positive.
Vec3 canonical_direction(const Vec3& d) {
  Eigen::Index axis;
  d.cwiseAbs().maxCoeff(&axis);
  return d[axis] < 0 ? Vec3(-d) : d;
}

std::optional<HullResult> thickened(const Cloud& cloud, Vec3 normal, const std::string& name) {
  normal = canonical_direction(normal);
  const double found = slab_of(cloud.points, cloud.centre, normal).thickness();
  const double thickness = std::max(cloud.thinnest, found);
  std::optional<Hull> hull = hull_of(plate(cloud, normal, thickness), name);
  if (!hull) return std::nullopt;
  HullResult result;
  result.hull = std::move(*hull);
  result.warnings.push_back(
      fmt::format("mesh '{}': its points lie in a plane (thickness {:.3g}, at a size of {:.3g}), so it was made a "
                  "plate of thickness {:.3g} along ({:.4g}, {:.4g}, {:.4g}); use a mesh with a volume, or a box, if "
                  "that is not meant",
                  name, found, cloud.size, thickness, normal.x(), normal.y(), normal.z()));
  return result;
}

}  // namespace

std::optional<HullResult> exact_hull(std::span<const Vec3> points, const std::string& name) {
  Cloud cloud = distinct_points(points, name);
  const Vec3 normal = widest_plane(cloud.points, cloud, name).normal;
  cloud.thickness = slab_of(cloud.points, cloud.centre, normal).thickness();
  // So flat that rounding would decide on facets.
  if (cloud.thickness < 0.01 * cloud.thinnest) return thickened(cloud, normal, name);

  std::optional<Hull> hull = hull_of(cloud, name);
  if (!hull) return std::nullopt;
  // The tolerance lets a plate of just the smallest thickness pass in any orientation.
  const bool flat = hull->faces.size() < 4 || hull->width < (1 - 1e-6) * cloud.thinnest;
  if (!flat) {
    HullResult result;
    result.hull = std::move(*hull);
    return result;
  }
  const auto thickness_along = [&](const Hull::Face& face) {
    return slab_of(hull->vertices, cloud.centre, face.normal).thickness();
  };
  const Hull::Face& flattest =
      *std::min_element(hull->faces.begin(), hull->faces.end(),
                        [&](const auto& a, const auto& b) { return thickness_along(a) < thickness_along(b); });
  return thickened(cloud, flattest.normal, name);
}

}  // namespace lithe::internal

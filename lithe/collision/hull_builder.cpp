// From points to a hull: bad input is refused, nearly equal points become one, qhull gives facets, these are merged to
// faces (hull_merge.h), and what is too flat becomes a thin plate.
#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "lithe/collision/hull.h"
#include "lithe/collision/hull_facets.h"
#include "lithe/collision/hull_finish.h"
#include "lithe/collision/hull_merge.h"
#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/core/size_of.h"

namespace lithe {
namespace {

// Points closer than this, relative to the size of the mesh, are one. It is above the resolution of files with
// numbers in single precision, and well below the thinnest hull.
constexpr double kWeldDistance = 1e-7;

// The distinct points of a mesh in order of first appearance, and the lengths that count as small. All lengths
// are relative to the size, but never below the resolution of the coordinates, which is coarse far from the origin.
struct Cloud {
  std::vector<Vec3> points;
  Vec3 centre = Vec3::Zero();  // of the bounds
  double size = 0;             // diagonal of the bounds
  double weld = 0;
  double thinnest = 0;
  double thickness = 0;  // about that of the hull
};

void check_finite(std::span<const Vec3> points, const std::string& name) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3& p = points[i];
    LITHE_CHECK(p.allFinite(), "mesh '{}': point {} is ({}, {}, {}); every coordinate must be finite", name, i, p.x(),
                p.y(), p.z());
  }
}

Cloud measure_cloud(std::span<const Vec3> points, const std::string& name) {
  Vec3 low = Vec3::Constant(kInfinity), high = Vec3::Constant(-kInfinity);
  for (const Vec3& p : points) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const double largest = std::max(low.lpNorm<Eigen::Infinity>(), high.lpNorm<Eigen::Infinity>());
  // Far beyond any unit of length, and products of four lengths are still numbers.
  LITHE_CHECK(largest < 1e50, "mesh '{}': a coordinate is {}; use units in which coordinates are below 1e50", name,
              largest);
  Cloud cloud;
  cloud.centre = 0.5 * (low + high);
  cloud.size = (high - low).norm();
  const double resolution = std::numeric_limits<double>::epsilon() * largest;
  cloud.weld = std::max({kWeldDistance * cloud.size, 16 * resolution, std::numeric_limits<double>::min()});
  cloud.thinnest = std::max(kThinnestHull * cloud.size, 256 * resolution);
  LITHE_CHECK(cloud.size == 0 || cloud.size > 1e-50, "mesh '{}': its size is {}; use units in which it is above 1e-50",
              name, cloud.size);
  return cloud;
}

// Finds whether some point was met before within a distance, by sorting the points into cells.
class PointGrid {
 public:
  explicit PointGrid(double distance) : distance_(distance), cell_(4 * distance) {}

  // Adds p (measured from the cloud's centre) unless an earlier one is near.
  bool add_if_new(const Vec3& p) {
    const Vec3 low = cell_of(p - Vec3::Constant(distance_)), high = cell_of(p + Vec3::Constant(distance_));
    for (double x = low.x(); x <= high.x(); ++x) {
      for (double y = low.y(); y <= high.y(); ++y) {
        for (double z = low.z(); z <= high.z(); ++z) {
          if (has_near(key(Vec3(x, y, z)), p)) return false;
        }
      }
    }
    cells_[key(cell_of(p))].push_back(p);
    return true;
  }

 private:
  Vec3 cell_of(const Vec3& p) const { return (p / cell_).array().floor(); }
  // Cells are within ±1e7, so that three numbers fit into 64 bits up to a harmless wrap-around.
  static std::uint64_t key(const Vec3& cell) {
    const auto bits = [](double x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); };
    return (bits(cell.x()) << 42) ^ (bits(cell.y()) << 21) ^ bits(cell.z());
  }
  bool has_near(std::uint64_t cell, const Vec3& p) const {
    const auto found = cells_.find(cell);
    if (found == cells_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(),
                       [&](const Vec3& q) { return (p - q).squaredNorm() <= distance_ * distance_; });
  }

  double distance_, cell_;
  std::unordered_map<std::uint64_t, std::vector<Vec3>> cells_;
};

Cloud distinct_points(std::span<const Vec3> points, const std::string& name) {
  check_finite(points, name);
  LITHE_CHECK(points.size() >= 3, "mesh '{}' has {} points; a hull needs at least three that are not on a line", name,
              points.size());
  Cloud cloud = measure_cloud(points, name);
  PointGrid grid(cloud.weld);
  for (const Vec3& p : points) {
    if (grid.add_if_new(p - cloud.centre)) cloud.points.push_back(p);
  }
  LITHE_CHECK(cloud.points.size() >= 3,
              "mesh '{}' has {} points, but only {} distinct; a hull needs at least three that are not on a line", name,
              points.size(), cloud.points.size());
  return cloud;
}

template <class Measure>
const Vec3& largest_by(const std::vector<Vec3>& points, Measure measure) {
  return *std::max_element(points.begin(), points.end(),
                           [&](const Vec3& a, const Vec3& b) { return measure(a) < measure(b); });
}

// The normal of a plane through three points that are far apart: a first point, the farthest from it, and the farthest
// from the line through both. No other plane has the points within much less than a fifth of this one's
// distance. Refuses points on a line.
Vec3 widest_normal(const Cloud& cloud, const std::string& name) {
  const Vec3& a = cloud.points[0];
  const Vec3& b = largest_by(cloud.points, [&](const Vec3& p) { return (p - a).squaredNorm(); });
  const Vec3 along = (b - a).normalized();
  const auto off_line = [&](const Vec3& p) { return along.cross(p - a).norm(); };
  const Vec3& c = largest_by(cloud.points, off_line);
  LITHE_CHECK(
      off_line(c) > cloud.thinnest,
      "mesh '{}': its {} points lie on a line (within {:.3g}, at a size of {:.3g}); a hull needs at least three "
      "that do not, use a capsule or a thin box instead",
      name, cloud.points.size(), off_line(c), cloud.size);
  return along.cross(c - a).normalized();
}

struct Slab {
  double low = kInfinity, high = -kInfinity;  // along the normal, from the origin
  double thickness() const { return high - low; }
};
Slab slab_of(std::span<const Vec3> points, const Vec3& origin, const Vec3& normal) {
  Slab slab;
  for (const Vec3& p : points) {
    const double h = normal.dot(p - origin);
    slab.low = std::min(slab.low, h);
    slab.high = std::max(slab.high, h);
  }
  return slab;
}

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

// Numbers the points that are corners in order of appearance, and builds the hull from them.
Hull hull_of_rings(const Cloud& cloud, const std::vector<std::vector<int>>& rings, const std::string& name) {
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
  LITHE_CHECK(size_of(hull.vertices) <= kMaxHullVertices,
              "mesh '{}': its convex hull has {} vertices, at most {} are allowed; simplify the mesh", name,
              hull.vertices.size(), kMaxHullVertices);
  for (const std::vector<int>& ring : rings) {
    hull.faces.push_back({newell_normal(cloud.points, ring), 0, 0, size_of(hull.ring), size_of(ring)});
    for (const int p : ring) hull.ring.push_back(number[p]);
  }
  detail::finish_hull(hull);
  return hull;
}

Hull hull_of(const Cloud& cloud, const std::string& name) {
  // qhull's tolerances, and ours, are best met by coordinates around 1.
  std::vector<Vec3> scaled;
  scaled.reserve(cloud.points.size());
  for (const Vec3& p : cloud.points) scaled.push_back((p - cloud.centre) / cloud.size);
  const std::vector<detail::HullFacet> facets = detail::hull_facets(scaled, name);
  // Of a thin hull, much less may be cut away.
  const detail::MergeTolerance tolerance = {cloud.weld / cloud.size,
                                            std::max(cloud.weld, 0.01 * cloud.thickness) / cloud.size};
  const std::vector<std::vector<int>> rings = detail::merge_facets(scaled, facets, tolerance);
  LITHE_CHECK(!rings.empty(), "mesh '{}': qhull found no closed convex hull; simplify the mesh", name);
  return hull_of_rings(cloud, rings, name);
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

HullResult thickened(const Cloud& cloud, Vec3 normal, const std::string& name) {
  normal = canonical_direction(normal);
  const double found = slab_of(cloud.points, cloud.centre, normal).thickness();
  const double thickness = std::max(cloud.thinnest, found);
  HullResult result;
  result.hull = hull_of(plate(cloud, normal, thickness), name);
  result.warnings.push_back(
      fmt::format("mesh '{}': its points lie in a plane (thickness {:.3g}, at a size of {:.3g}), so it was made a "
                  "plate of thickness {:.3g} along ({:.4g}, {:.4g}, {:.4g}); use a mesh with a volume, or a box, if "
                  "that is not meant",
                  name, found, cloud.size, thickness, normal.x(), normal.y(), normal.z()));
  return result;
}

}  // namespace

HullResult build_hull(std::span<const Vec3> points, const std::string& name) {
  Cloud cloud = distinct_points(points, name);
  const Vec3 normal = widest_normal(cloud, name);
  cloud.thickness = slab_of(cloud.points, cloud.centre, normal).thickness();
  // So flat that rounding would decide on facets.
  if (cloud.thickness < 0.01 * cloud.thinnest) return thickened(cloud, normal, name);

  HullResult result = {hull_of(cloud, name), {}};
  const Hull& hull = result.hull;
  // The tolerance lets a plate of just the smallest thickness pass in any orientation.
  const bool flat = hull.faces.size() < 4 || hull.width < (1 - 1e-6) * cloud.thinnest;
  if (!flat) return result;
  const auto thickness_along = [&](const Hull::Face& face) {
    return slab_of(hull.vertices, cloud.centre, face.normal).thickness();
  };
  const Hull::Face& flattest =
      *std::min_element(hull.faces.begin(), hull.faces.end(),
                        [&](const auto& a, const auto& b) { return thickness_along(a) < thickness_along(b); });
  return thickened(cloud, flattest.normal, name);
}

}  // namespace lithe

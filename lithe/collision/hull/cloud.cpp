#include "lithe/collision/hull/cloud.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "lithe/collision/hull/hull.h"
#include "lithe/core/check.h"

namespace lithe::internal {
namespace {

// Relative to the size of the mesh. It is above the resolution of files with numbers in single precision, and well
// below the thinnest hull.
constexpr double kWeldDistance = 1e-7;

void check_finite(std::span<const Vec3> points, const std::string& name) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3& p = points[i];
    LITHE_CHECK(p.allFinite(), "mesh '{}': point {} is ({}, {}, {}); every coordinate must be finite", name, i, p.x(),
                p.y(), p.z());
  }
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

template <class Measure>
const Vec3& largest_by(std::span<const Vec3> points, Measure measure) {
  const Vec3* best = points.data();
  double largest = measure(*best);
  for (const Vec3& p : points) {
    const double m = measure(p);
    if (m > largest) {
      largest = m;
      best = &p;
    }
  }
  return *best;
}

}  // namespace

Cloud measure_cloud(std::span<const Vec3> points, const std::string& name) {
  check_finite(points, name);
  LITHE_CHECK(points.size() >= 3, "mesh '{}' has {} points; a hull needs at least three that are not on a line", name,
              points.size());
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

std::vector<int> distinct_among(std::span<const Vec3> points, std::span<const int> among, const Cloud& cloud) {
  PointGrid grid(cloud.weld);
  std::vector<int> distinct;
  for (const int i : among) {
    if (grid.add_if_new(points[i] - cloud.centre)) distinct.push_back(i);
  }
  return distinct;
}

Cloud distinct_points(std::span<const Vec3> points, const std::string& name) {
  Cloud cloud = measure_cloud(points, name);
  std::vector<int> all(points.size());
  std::iota(all.begin(), all.end(), 0);
  for (const int i : distinct_among(points, all, cloud)) cloud.points.push_back(points[i]);
  LITHE_CHECK(cloud.points.size() >= 3,
              "mesh '{}' has {} points, but only {} distinct; a hull needs at least three that are not on a line", name,
              points.size(), cloud.points.size());
  return cloud;
}

WidestPlane widest_plane(std::span<const Vec3> points, const Cloud& cloud, const std::string& name) {
  const Vec3& a = *std::min_element(points.begin(), points.end(), [](const Vec3& p, const Vec3& q) {
    return std::tie(p.x(), p.y(), p.z()) < std::tie(q.x(), q.y(), q.z());
  });
  const Vec3& b = largest_by(points, [&](const Vec3& p) { return (p - a).squaredNorm(); });
  const Vec3 along = (b - a).normalized();
  const auto off_line = [&](const Vec3& p) { return along.cross(p - a).norm(); };
  const Vec3& c = largest_by(points, off_line);
  LITHE_CHECK(
      off_line(c) > cloud.thinnest,
      "mesh '{}': its {} points lie on a line (within {:.3g}, at a size of {:.3g}); a hull needs at least three "
      "that do not, use a capsule or a thin box instead",
      name, points.size(), off_line(c), cloud.size);
  return {along.cross(c - a).normalized(), off_line(c)};
}

Slab slab_of(std::span<const Vec3> points, const Vec3& origin, const Vec3& normal) {
  Slab slab;
  for (const Vec3& p : points) {
    const double h = normal.dot(p - origin);
    slab.low = std::min(slab.low, h);
    slab.high = std::max(slab.high, h);
  }
  return slab;
}

}  // namespace lithe::internal

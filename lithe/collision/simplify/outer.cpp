#include "lithe/collision/simplify/outer.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "lithe/collision/hull/facets.h"
#include "lithe/core/check.h"
#include "lithe/core/internal/size_of.h"
#include "lithe/simd/lanes.h"

namespace lithe::internal {
namespace {

constexpr int kFewPoints = 500;       // not worth the trouble
constexpr int kDirections = 64;       // a multiple of kLanes
constexpr double kWellInside = 1e-9;  // of the size
constexpr int kCellsAlong = 40;

// Vectors in packs of four.
struct PackedVectors {
  AlignedBuffer x, y, z, w;
  void add(const Vec3& v, double offset) {
    x.push_back(v.x());
    y.push_back(v.y());
    z.push_back(v.z());
    w.push_back(offset);
  }
  // Repeats the last one until the packs are full.
  void fill() {
    while (size_of(x) % kLanes != 0) add(Vec3(x.back(), y.back(), z.back()), w.back());
  }
};

// Spread evenly over the sphere, on a spiral.
PackedVectors spiral_directions() {
  PackedVectors directions;
  const double golden = std::numbers::pi * (3 - std::sqrt(5.0));
  for (int k = 0; k < kDirections; ++k) {
    const double z = 1 - (2.0 * k + 1) / kDirections, r = std::sqrt(1 - z * z);
    directions.add(Vec3(r * std::cos(golden * k), r * std::sin(golden * k), z), 0);
  }
  return directions;
}

// The points that are highest along the directions, and the extremes along the axes, each once.
std::vector<Vec3> extremes(std::span<const Vec3> points) {
  static const PackedVectors directions = spiral_directions();
  std::array<int, kDirections> best{};
  alignas(64) std::array<double, kDirections> height;
  height.fill(-kInfinity);
  std::array<int, 6> along_axes{};
  for (int i = 0; i < size_of(points); ++i) {
    const Vec3& p = points[i];
    for (int k = 0; k < kDirections; k += kLanes) {
      const Pack h =
          as_pack(&directions.x[k]) * p.x() + as_pack(&directions.y[k]) * p.y() + as_pack(&directions.z[k]) * p.z();
      const auto higher = h > as_pack(&height[k]);
      if (!(higher[0] | higher[1] | higher[2] | higher[3])) continue;
      for (int lane = 0; lane < kLanes; ++lane) {
        if (!higher[lane]) continue;
        height[k + lane] = h[lane];
        best[k + lane] = i;
      }
    }
    for (int axis = 0; axis < 3; ++axis) {
      if (p[axis] > points[along_axes[2 * axis]][axis]) along_axes[2 * axis] = i;
      if (p[axis] < points[along_axes[2 * axis + 1]][axis]) along_axes[2 * axis + 1] = i;
    }
  }
  std::vector<int> chosen(best.begin(), best.end());
  chosen.insert(chosen.end(), along_axes.begin(), along_axes.end());
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  std::vector<Vec3> result;
  for (const int i : chosen) result.push_back(points[i]);
  return result;
}

// Whether p is below all planes n·x = w, in packs.
bool below_all(const PackedVectors& planes, const Vec3& p) {
  for (int k = 0; k < size_of(planes.x); k += kLanes) {
    const Pack h = as_pack(&planes.x[k]) * p.x() + as_pack(&planes.y[k]) * p.y() + as_pack(&planes.z[k]) * p.z();
    const auto above = h > as_pack(&planes.w[k]);
    if (above[0] | above[1] | above[2] | above[3]) return false;
  }
  return true;
}

}  // namespace

std::vector<int> outer_points(std::span<const Vec3> points, const Cloud& cloud) {
  std::vector<int> outer(points.size());
  std::iota(outer.begin(), outer.end(), 0);
  if (size_of(points) < kFewPoints) return outer;
  std::vector<Vec3> inner = extremes(points);
  for (Vec3& p : inner) p = (p - cloud.centre) / cloud.size;
  PackedVectors planes;
  try {
    for (const HullFacet& facet : hull_facets(inner, "inner"))
      planes.add(facet.normal, cloud.size * (facet.offset - kWellInside) + facet.normal.dot(cloud.centre));
  } catch (const Error&) {
    return outer;  // flat, or nearly so
  }
  planes.fill();
  std::erase_if(outer, [&](int i) { return below_all(planes, points[i]); });
  return outer;
}

std::vector<int> thinned_points(std::span<const Vec3> points, std::span<const int> among, const Cloud& cloud) {
  // Per cell, the point that is outermost along each sum of some of the three axes, taken away from the middle.
  constexpr int kSums = 7;
  struct Cell {
    std::array<double, kSums> height;
    std::array<int, kSums> point;
  };
  constexpr int kAlong = 2 * kCellsAlong;
  std::vector<int> cell_of(kAlong * kAlong * kAlong, -1);
  std::vector<Cell> cells;
  const auto before = [&](int i, int j) {
    return std::lexicographical_compare(points[i].data(), points[i].data() + 3, points[j].data(), points[j].data() + 3);
  };
  for (const int i : among) {
    const Vec3 p = points[i] - cloud.centre, outward = p.cwiseAbs();
    const Eigen::Vector3i place = (p * (kCellsAlong / cloud.size)).array().floor().cast<int>() + kCellsAlong;
    int& number = cell_of[(place.x() * kAlong + place.y()) * kAlong + place.z()];
    if (number < 0) {
      number = size_of(cells);
      cells.emplace_back();
      cells.back().height.fill(-kInfinity);
    }
    Cell& cell = cells[number];
    for (int k = 0; k < kSums; ++k) {
      const int axes = k + 1;
      double height = 0;
      for (int axis = 0; axis < 3; ++axis) height += axes >> axis & 1 ? outward[axis] : 0;
      if (height < cell.height[k] || (height == cell.height[k] && !before(i, cell.point[k]))) continue;
      cell.height[k] = height;
      cell.point[k] = i;
    }
  }
  std::vector<int> thinned;
  for (const Cell& cell : cells) thinned.insert(thinned.end(), cell.point.begin(), cell.point.end());
  std::sort(thinned.begin(), thinned.end());
  thinned.erase(std::unique(thinned.begin(), thinned.end()), thinned.end());
  return thinned;
}

}  // namespace lithe::internal

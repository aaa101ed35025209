#include "tests/collision/hull_checks.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "lithe/collision/hull/hull.h"
#include "lithe/core/internal/size_of.h"
#include "tests/support/random_model.h"

namespace lithe::test {

using namespace internal;
namespace {

void expect_closed_surface(const Hull& hull) {
  // Euler: V − E + F = 2.
  EXPECT_EQ(size_of(hull.vertices) - size_of(hull.edges) + size_of(hull.faces), 2);
  std::map<std::pair<int, int>, int> face_of;  // of each directed side
  std::set<int> used;
  for (int f = 0; f < size_of(hull.faces); ++f) {
    const auto ring = hull.face_vertices(f);
    EXPECT_GE(ring.size(), 3u);
    EXPECT_EQ(ring[0], *std::min_element(ring.begin(), ring.end()));
    for (std::size_t k = 0; k < ring.size(); ++k) {
      used.insert(ring[k]);
      EXPECT_TRUE(face_of.emplace(std::pair(ring[k], ring[(k + 1) % ring.size()]), f).second);
    }
  }
  EXPECT_EQ(used.size(), hull.vertices.size());
  EXPECT_EQ(face_of.size(), 2 * hull.edges.size());
  std::pair<int, int> previous = {-1, -1};
  for (const Hull::Edge& edge : hull.edges) {
    const auto [low, high] = edge.vertex;
    EXPECT_LT(low, high);
    EXPECT_LT(previous, std::pair(low, high));
    previous = {low, high};
    EXPECT_EQ(face_of.at({low, high}), edge.face[0]);
    EXPECT_EQ(face_of.at({high, low}), edge.face[1]);
    EXPECT_LT((edge.direction - (hull.vertices[high] - hull.vertices[low]).normalized()).norm(), 1e-14);
  }
}

void expect_consistent_adjacency(const Hull& hull) {
  std::size_t neighbours = 0, faces = 0;
  for (int v = 0; v < size_of(hull.vertices); ++v) {
    const auto around = hull.neighbours_of(v);
    neighbours += around.size();
    EXPECT_TRUE(std::is_sorted(around.begin(), around.end()));
    for (std::size_t k = 0; k < around.size(); ++k) {
      const int edge = hull.edges_of(v)[k];
      EXPECT_EQ(hull.edge_between(v, around[k]), edge);
      EXPECT_EQ(hull.edge_between(around[k], v), edge);
      EXPECT_EQ(hull.edges[edge].vertex[0] + hull.edges[edge].vertex[1], v + around[k]);
    }
    faces += hull.faces_of(v).size();
    EXPECT_EQ(hull.faces_of(v).size(), around.size());
    for (const int f : hull.faces_of(v)) {
      const auto ring = hull.face_vertices(f);
      EXPECT_EQ(std::count(ring.begin(), ring.end(), v), 1);
    }
    EXPECT_EQ(hull.edge_between(v, v), -1);
  }
  EXPECT_EQ(neighbours, 2 * hull.edges.size());
  EXPECT_EQ(faces, hull.ring.size());
}

// `flatness`: how far a face's own vertices may lie below its plane, relative to the radius.
void expect_planes_hold(const Hull& hull, double flatness) {
  const double rounding = 1e-14 * (hull.radius + hull.centre.norm());
  double width = 1e300;
  for (const Hull::Face& face : hull.faces) {
    EXPECT_NEAR(face.normal.norm(), 1, 1e-14);
    double low = 1e300, high = -1e300;
    for (const Vec3& x : hull.vertices) {
      low = std::min(low, face.normal.dot(x));
      high = std::max(high, face.normal.dot(x));
    }
    EXPECT_NEAR(high, face.offset, rounding);
    width = std::min(width, high - low);
    Vec3 area = Vec3::Zero();
    for (int k = face.first; k < face.first + face.count; ++k) {
      const Vec3& x = hull.vertices[hull.ring[k]];
      const Vec3& next = hull.vertices[hull.ring[k + 1 < face.first + face.count ? k + 1 : face.first]];
      EXPECT_GT(face.normal.dot(x), face.offset - flatness * hull.radius - rounding);
      area += 0.5 * (x - hull.centre).cross(next - hull.centre);
      const Hull::Side& side = hull.sides[k];
      EXPECT_NEAR(side.normal.norm(), 1, 1e-14);
      EXPECT_NEAR(side.normal.dot(face.normal), 0, 1e-12);
      EXPECT_NEAR(side.normal.dot(x), side.offset, rounding);
      EXPECT_NEAR(side.normal.dot(next), side.offset, rounding);
    }
    // Counter-clockwise from outside.
    EXPECT_NEAR(area.dot(face.normal), face.area, 1e-10 * hull.radius * hull.radius);
    EXPECT_GT(face.area, 0);
  }
  EXPECT_NEAR(hull.width, width, 2 * rounding);
}

void expect_bounds_hold(const Hull& hull) {
  const double rounding = 1e-14 * (hull.radius + hull.centre.norm());
  Vec3 mean = Vec3::Zero();
  double farthest = 0;
  for (const Vec3& x : hull.vertices) {
    mean += x / static_cast<double>(hull.vertices.size());
    farthest = std::max(farthest, (x - hull.centre).norm());
    EXPECT_LE(((x - hull.box_centre).cwiseAbs() - hull.box_half).maxCoeff(), rounding);
  }
  EXPECT_LT((mean - hull.centre).norm(), rounding * 10);
  EXPECT_DOUBLE_EQ(farthest, hull.radius);  // the same sum, which compilers may round differently
  EXPECT_LT(height_above(hull, hull.centre), 0);
}

void expect_packs_repeat(const Hull& hull) {
  ASSERT_EQ(size_of(hull.x), hull.vertex_packs() * kLanes);
  ASSERT_EQ(size_of(hull.offset), hull.face_packs() * kLanes);
  for (int i = 0; i < size_of(hull.x); ++i) {
    EXPECT_EQ(Vec3(hull.x[i], hull.y[i], hull.z[i]), hull.vertices[i < size_of(hull.vertices) ? i : 0]);
  }
  for (int i = 0; i < size_of(hull.offset); ++i) {
    const Hull::Face& face = hull.faces[i < size_of(hull.faces) ? i : 0];
    EXPECT_EQ(Vec3(hull.normal_x[i], hull.normal_y[i], hull.normal_z[i]), face.normal);
    EXPECT_EQ(hull.offset[i], face.offset);
  }
}

void expect_ranks_are_orders(const Hull& hull) {
  for (const Hull::Face& face : hull.faces) {
    std::vector<int> ranks(&hull.rank[face.first], &hull.rank[face.first] + face.count);
    std::sort(ranks.begin(), ranks.end());
    for (int k = 0; k < face.count; ++k) EXPECT_EQ(ranks[k], k);
  }
}

}  // namespace

double height_above(const Hull& hull, const Vec3& x) {
  double highest = -1e300;
  for (const Hull::Face& face : hull.faces) highest = std::max(highest, face.normal.dot(x) - face.offset);
  return highest;
}

Points cube_corners() { return box_hull(Vec3::Ones()).vertices; }

Points cube_grid(int n) {
  Points points;
  const auto place = [n](int i) { return -1 + 2.0 * i / (n - 1); };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) points.emplace_back(place(i), place(j), place(k));
    }
  }
  return points;
}

Points on_sphere(int n, std::mt19937_64& random) {
  Points points;
  for (int i = 0; i < n; ++i) points.push_back(random_vec3(random).normalized());
  return points;
}

Points polygon(int n, double z) {
  Points points;
  for (int i = 0; i < n; ++i)
    points.emplace_back(std::cos(2 * std::numbers::pi * i / n), std::sin(2 * std::numbers::pi * i / n), z);
  return points;
}

Points joined(Points a, const Points& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Hull hull_of(const Points& points) {
  HullResult result = build_hull(points, "shape");
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
  return std::move(result.hull);
}

void expect_valid(const Hull& hull, double flatness) {
  expect_closed_surface(hull);
  expect_consistent_adjacency(hull);
  expect_planes_hold(hull, flatness);
  expect_bounds_hold(hull);
  expect_packs_repeat(hull);
  expect_ranks_are_orders(hull);
}

}  // namespace lithe::test

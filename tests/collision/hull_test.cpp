#include "lithe/collision/hull/hull.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "lithe/core/internal/size_of.h"
#include "tests/collision/hull_checks.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

int brute_force_support(const Hull& hull, const Vec3& d) {
  int best = 0;
  for (int i = 1; i < size_of(hull.vertices); ++i) {
    if (d.dot(hull.vertices[i]) > d.dot(hull.vertices[best])) best = i;
  }
  return best;
}

TEST(BoxHull, NumbersVerticesByBitsAndFacesByAxes) {
  const Vec3 h(1, 2, 3);
  const Hull box = box_hull(h);
  expect_valid(box);
  ASSERT_EQ(box.vertices.size(), 8u);
  EXPECT_EQ(box.vertices[0], Vec3(-1, -2, -3));
  EXPECT_EQ(box.vertices[1], Vec3(1, -2, -3));
  EXPECT_EQ(box.vertices[2], Vec3(-1, 2, -3));
  EXPECT_EQ(box.vertices[4], Vec3(-1, -2, 3));
  ASSERT_EQ(box.faces.size(), 6u);
  for (int f = 0; f < 6; ++f) {
    const int axis = f / 2;
    EXPECT_EQ(box.faces[f].normal, (f % 2 == 0 ? 1 : -1) * Vec3::Unit(axis));
    EXPECT_EQ(box.faces[f].offset, h[axis]);
    EXPECT_EQ(box.faces[f].area, 4 * h[(axis + 1) % 3] * h[(axis + 2) % 3]);
  }
  EXPECT_EQ(box.edges.size(), 12u);
  EXPECT_EQ(box.width, 2);
  EXPECT_EQ(box.radius, h.norm());
  EXPECT_EQ(box.centre, Vec3::Zero());
  EXPECT_EQ(box.box_half, h);
  EXPECT_EQ(box.edge_between(0, 7), -1);
  EXPECT_EQ(box.edge_between(0, 1), 0);
}

TEST(BoxHull, KeepsItsDirectionsWhenSizesAreZero) {
  const Hull cube = box_hull(Vec3::Ones());
  for (const Vec3& h : {Vec3(1, 2, 0), Vec3(0, 0, 3), Vec3(0, 0, 0)}) {
    const Hull flat = box_hull(h);
    EXPECT_EQ(flat.ring, cube.ring);
    EXPECT_EQ(flat.rank, cube.rank);
    EXPECT_EQ(flat.width, 0);
    EXPECT_EQ(flat.radius, h.norm());
    for (int f = 0; f < 6; ++f) {
      EXPECT_EQ(flat.faces[f].normal, cube.faces[f].normal);
      EXPECT_EQ(flat.faces[f].offset, h[f / 2]);
    }
    for (std::size_t e = 0; e < 12; ++e) EXPECT_EQ(flat.edges[e].direction, cube.edges[e].direction);
    for (std::size_t k = 0; k < 24; ++k) EXPECT_EQ(flat.sides[k].normal, cube.sides[k].normal);
  }
}

TEST(HullRank, KeepsTheWidestTrianglesLongest) {
  // A rectangle with its corners 0 … 3 and a blunt corner 4 on one long side: 4 spans the smallest triangle with its
  // neighbours, so it goes first; then all corners of the rectangle are equal and the highest number goes first.
  const Points outline = {{0, 0, 0}, {4, 0, 0}, {4, 2, 0}, {0, 2, 0}, {2, -0.25, 0}};
  Points points = outline;
  for (const Vec3& p : outline) points.push_back(p + Vec3(0, 0, 1));
  const Hull hull = hull_of(points);
  ASSERT_EQ(hull.vertices.size(), 10u);
  int found = 0;
  for (const Hull::Face& face : hull.faces) {
    if (face.normal.z() > -0.5) continue;
    ++found;
    ASSERT_EQ(face.count, 5);
    for (int k = face.first; k < face.first + face.count; ++k) EXPECT_EQ(hull.rank[k], hull.ring[k]);
  }
  EXPECT_EQ(found, 1);
}

TEST(HullRank, OrdersARegularPolygonByNumbersWhateverTheRounding) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Mat3 turn = random_rotation(random);
    Points points, turned;
    for (const Vec3& p : joined(polygon(16, 0), polygon(16, 1))) points.push_back(p);
    for (const Vec3& p : points) turned.push_back(turn * p);
    EXPECT_EQ(hull_of(points).rank, hull_of(turned).rank);
  });
}

TEST(SupportVertex, IsTheFarthestOneFromAnyStart) {
  for_random_cases(30, [](std::mt19937_64& random) {
    const int n = static_cast<int>(std::pow(10, uniform(random, 1, 3.3)));
    Points points = on_sphere(n, random);
    for (Vec3& p : points) p = p.cwiseProduct(Vec3(1, 2, 0.2)) + Vec3(1, 1, 1);
    const Hull hull = hull_of(points);
    int at = 0;
    for (int i = 0; i < 1000; ++i) {
      const Vec3 d = random_vec3(random) * std::pow(10, uniform(random, -3, 3));
      const int expected = brute_force_support(hull, d);
      at = support_vertex(hull, d, i % 2 == 0 ? expected : i % size_of(hull.vertices));
      ASSERT_NEAR(d.dot(hull.vertices[at]), d.dot(hull.vertices[expected]), 1e-14 * d.norm());
      ASSERT_EQ(at, support_vertex(hull, d, 0));
      const auto around = hull.neighbours_of(at);
      ASSERT_EQ(at, support_vertex(hull, d, around[i % around.size()]));
    }
  });
}

// Many vertices, faces with many corners, and bent faces that were merged.
Hull rough_tower(double noise, std::mt19937_64& random) {
  Points points;
  for (int level = 0; level < 12; ++level) {
    const double radius = std::cos(0.1 * level);
    for (const Vec3& p : polygon(60, 0.2 * level)) {
      points.push_back(Vec3(radius * p.x(), radius * p.y(), p.z()) + noise * random_vec3(random));
    }
  }
  return hull_of(points);
}

TEST(SupportVertex, DoesNotDependOnTheStartWhenFacesAreBent) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Hull hull = rough_tower(std::pow(10, uniform(random, -17, -5)), random);
    ASSERT_GT(hull.vertices.size(), 300u);
    for (int i = 0; i < 500; ++i) {
      // Half of them nearly along the normals of faces, where many vertices are equally high.
      Vec3 d = random_vec3(random).normalized();
      if (i % 2 == 0) {
        d = hull.faces[i % size_of(hull.faces)].normal + std::pow(10, uniform(random, -16, -3)) * d;
      }
      const int expected = support_vertex(hull, d, 0);
      ASSERT_NEAR(d.dot(hull.vertices[expected]), d.dot(hull.vertices[brute_force_support(hull, d)]), 1e-14);
      for (int k = 0; k < 10; ++k) {
        const int start = uniform_int(random, 0, size_of(hull.vertices) - 1);
        ASSERT_EQ(support_vertex(hull, d, start), expected);
      }
      for (const int neighbour : hull.neighbours_of(expected)) ASSERT_EQ(support_vertex(hull, d, neighbour), expected);
    }
  });
}

TEST(SupportVertex, IsTheLowestNumberAmongEqualOnes) {
  const Hull box = box_hull(Vec3(1, 2, 3));
  EXPECT_EQ(support_vertex(box, Vec3(1, 0, 0)), 1);
  EXPECT_EQ(support_vertex(box, Vec3(0, 1, 0)), 2);
  EXPECT_EQ(support_vertex(box, Vec3(0, 0, -1)), 0);
  EXPECT_EQ(support_vertex(box, Vec3(-1, 1, 0)), 2);
  EXPECT_EQ(support_vertex(box, Vec3(1, 1, 1)), 7);

  const Hull drum = hull_of(joined(polygon(200, 0), polygon(200, 1)));
  for (const int start : {0, 57, 250, 399}) {
    EXPECT_EQ(support_vertex(drum, Vec3(0, 0, -1), start), 0);
    EXPECT_EQ(support_vertex(drum, Vec3(0, 0, 1), start), 200);
    EXPECT_EQ(support_vertex(drum, Vec3(1, 0, 0), start), 0);
  }
}

TEST(SupportVertex, OfNoDirectionIsTheFirst) {
  std::mt19937_64 random(4);
  EXPECT_EQ(support_vertex(box_hull(Vec3::Ones()), Vec3::Zero(), 3), 0);
  EXPECT_EQ(support_vertex(hull_of(on_sphere(1000, random)), Vec3::Zero(), 500), 0);
}

TEST(SupportVertex, HandlesEveryPadding) {
  std::mt19937_64 random(6);
  for (int n = 4; n < 24; ++n) {
    const Hull hull = hull_of(on_sphere(n, random));
    for (int v = 0; v < n; ++v) EXPECT_EQ(support_vertex(hull, hull.vertices[v]), v);
  }
}

}  // namespace
}  // namespace lithe::test

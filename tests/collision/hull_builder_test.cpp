#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "lithe/collision/hull/facets.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/core/check.h"
#include "lithe/core/internal/size_of.h"
#include "tests/collision/hull_checks.h"
#include "tests/support/error_text.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

double volume(const Hull& hull) {
  double sum = 0;
  for (const Hull::Face& face : hull.faces) {
    sum += face.area * (face.offset - face.normal.dot(hull.centre)) / 3;
  }
  return sum;
}

void expect_same_hull(const Hull& a, const Hull& b) {
  EXPECT_EQ(a.vertices, b.vertices);
  EXPECT_EQ(a.ring, b.ring);
  EXPECT_EQ(a.rank, b.rank);
  ASSERT_EQ(a.faces.size(), b.faces.size());
  for (std::size_t f = 0; f < a.faces.size(); ++f) {
    EXPECT_EQ(a.faces[f].normal, b.faces[f].normal);
    EXPECT_EQ(a.faces[f].offset, b.faces[f].offset);
    EXPECT_EQ(a.faces[f].first, b.faces[f].first);
  }
}

bool before(const Vec3& a, const Vec3& b) {
  return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
}

// Vertices and faces in an order that does not depend on the numbering.
std::set<std::vector<double>> faces_by_coordinates(const Hull& hull) {
  std::set<std::vector<double>> result;
  for (int f = 0; f < size_of(hull.faces); ++f) {
    Points corners;
    for (const int v : hull.face_vertices(f)) corners.push_back(hull.vertices[v]);
    std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end(), before), corners.end());
    std::vector<double> numbers;
    for (const Vec3& x : corners) numbers.insert(numbers.end(), x.data(), x.data() + 3);
    result.insert(numbers);
  }
  return result;
}

TEST(BuildHull, MakesABoxOfItsCorners) {
  const Hull box = box_hull(Vec3(1, 2, 3));
  const Hull hull = hull_of(box.vertices);
  expect_valid(hull);
  EXPECT_EQ(hull.vertices, box.vertices);
  EXPECT_EQ(faces_by_coordinates(hull), faces_by_coordinates(box));
  EXPECT_EQ(hull.width, box.width);
}

TEST(BuildHull, NumbersVerticesInOrderOfFirstAppearance) {
  Points points = cube_corners();
  std::reverse(points.begin(), points.end());
  Points with_others = {Vec3::Zero(), points[0], points[0]};  // one inside, one twice
  with_others.insert(with_others.end(), points.begin() + 1, points.end());
  with_others.push_back(points[3]);
  EXPECT_EQ(hull_of(with_others).vertices, points);
}

TEST(BuildHull, DropsPointsOnFacesAndEdgesOfACube) {
  const Hull hull = hull_of(cube_grid(6));
  expect_valid(hull);
  EXPECT_EQ(hull.vertices.size(), 8u);
  EXPECT_EQ(hull.faces.size(), 6u);
  EXPECT_EQ(faces_by_coordinates(hull), faces_by_coordinates(box_hull(Vec3::Ones())));
}

TEST(BuildHull, DropsThemInAnyOrientationWithNoise) {
  for_random_cases(60, [](std::mt19937_64& random) {
    const Mat3 turn = random_rotation(random);
    // From rounding alone to the resolution of files in single precision.
    const double noise = std::pow(10, uniform(random, -17, -7.3));
    Points points;
    for (const Vec3& p : cube_grid(5)) points.push_back(turn * p + noise * random_vec3(random));
    const Hull hull = hull_of(points);
    expect_valid(hull, 1e-6);
    EXPECT_EQ(hull.vertices.size(), 8u);
    EXPECT_EQ(hull.faces.size(), 6u);
  });
}

TEST(BuildHull, MergesThePolygonsOfAPrism) {
  const Hull prism = hull_of(joined(polygon(60, -1), polygon(60, 1)));
  expect_valid(prism);
  EXPECT_EQ(prism.vertices.size(), 120u);
  EXPECT_EQ(prism.faces.size(), 62u);
}

TEST(BuildHull, DoesNotAddUpSmallBends) {
  // A roof of many strips, each bent by a little less than the merge angle against its neighbours.
  constexpr int kStrips = 400;
  Points points;
  for (int i = 0; i <= kStrips; ++i) {
    const double angle = 0.9 * kMergeAngle * (i - 0.5 * kStrips);
    for (const double y : {-1.0, 1.0}) points.emplace_back(50 * std::sin(angle), y, 50 * std::cos(angle));
  }
  points.emplace_back(0, 0, 40);
  const Hull hull = hull_of(points);
  expect_valid(hull, kMergeAngle);
  for (const Vec3& p : points) EXPECT_LT(height_above(hull, p), 2 * kMergeAngle * hull.radius / kStrips);
  // Each roof face takes in one strip on either side of it at most.
  EXPECT_GE(hull.faces.size(), static_cast<std::size_t>(kStrips / 3));
  EXPECT_LE(hull.faces.size(), static_cast<std::size_t>(kStrips + 4));
}

TEST(BuildHull, KeepsEveryPointOfASphere) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const int n = uniform_int(random, 4, 400);
    const Points points = on_sphere(n, random);
    const Hull hull = hull_of(points);
    expect_valid(hull, 0.5 * kMergeAngle);
    EXPECT_EQ(hull.vertices, points);
  });
}

TEST(BuildHull, ContainsItsPoints) {
  for_random_cases(40, [](std::mt19937_64& random) {
    const int n = uniform_int(random, 4, 3000);
    Points points;
    for (int i = 0; i < n; ++i) points.push_back(random_vec3(random).cwiseProduct(Vec3(1, 0.3, 2)) + Vec3(3, -1, 2));
    const Hull hull = hull_of(points);
    expect_valid(hull, kMergeAngle);
    for (const Vec3& p : points) EXPECT_LT(height_above(hull, p), kMergeAngle * hull.radius);
    // Vertices are among the points, in their order.
    auto at = points.begin();
    for (const Vec3& v : hull.vertices) {
      at = std::find(at, points.end(), v);
      ASSERT_NE(at, points.end());
    }
  });
}

TEST(BuildHull, TakesLatticesWithAllTheirTies) {
  for_random_cases(60, [](std::mt19937_64& random) {
    Points points;
    for (int i = 0; i < 150; ++i) {
      const int x = uniform_int(random, -3, 3), y = uniform_int(random, -3, 3), z = uniform_int(random, -3, 3);
      if (std::abs(x) + std::abs(y) + std::abs(z) <= 6) points.emplace_back(x, y, z);
    }
    const Mat3 turn = random_rotation(random);
    Points turned;
    for (const Vec3& p : points) turned.push_back(turn * p);
    const Hull hull = hull_of(points), turned_hull = hull_of(turned);
    expect_valid(hull);
    expect_valid(turned_hull);
    for (const Vec3& p : points) EXPECT_LT(height_above(hull, p), 1e-13);
    EXPECT_EQ(hull.ring, turned_hull.ring);
    EXPECT_NEAR(volume(hull), volume(turned_hull), 1e-11 * volume(hull));
  });
}

TEST(BuildHull, IsFreeOfScaleAndOrigin) {
  std::mt19937_64 random(7);
  const Points points = joined(on_sphere(60, random), cube_grid(4));
  const Hull hull = hull_of(points);
  for (const double scale : {1e-6, 1e-3, 1e3, 1e6}) {
    for (const double shift : {0.0, 1e4}) {
      Points moved;
      for (const Vec3& p : points) moved.push_back(scale * (p + shift * Vec3(1, -2, 0.5)));
      const Hull other = hull_of(moved);
      expect_valid(other, 1e-6);
      EXPECT_EQ(other.ring, hull.ring) << scale << " " << shift;
      EXPECT_NEAR(other.width, scale * hull.width, 1e-10 * scale);
    }
  }
  // One metre large, ten kilometres away.
  Points far;
  for (const Vec3& p : cube_grid(4)) far.push_back(0.5 * p + Vec3(1e4, 1e4, -1e4));
  EXPECT_EQ(hull_of(far).faces.size(), 6u);
}

TEST(BuildHull, GivesTheSameHullEveryTime) {
  std::mt19937_64 random(3);
  const Points points = on_sphere(300, random);
  const Hull first = hull_of(points);
  for (int i = 0; i < 3; ++i) expect_same_hull(first, hull_of(points));
}

TEST(BuildHull, KeepsTheGeometryWhenPointsArePermuted) {
  for_random_cases(20, [](std::mt19937_64& random) {
    Points points = joined(cube_grid(4), on_sphere(40, random));
    for (Vec3& p : points) p = p.cwiseProduct(Vec3(1, 1.2, 1.7));
    const Hull hull = hull_of(points);
    std::shuffle(points.begin(), points.end(), random);
    const Hull other = hull_of(points);
    EXPECT_EQ(faces_by_coordinates(hull), faces_by_coordinates(other));
  });
}

TEST(BuildHull, JoinsPointsThatNearlyCoincide) {
  std::mt19937_64 random(5);
  Points points = cube_corners();
  for (int k = 0; k < 20; ++k) {
    for (int i = 0; i < 8; ++i) points.push_back(points[i] + 1e-8 * random_vec3(random).normalized());
  }
  const Hull hull = hull_of(points);
  expect_valid(hull);
  EXPECT_EQ(hull.vertices, cube_corners());
}

TEST(BuildHull, TakesAHundredThousandPoints) {
  std::mt19937_64 random(9);
  Points points;
  for (int i = 0; i < 100'000; ++i) points.push_back(random_vec3(random).cwiseMax(-1).cwiseMin(1));
  const Hull hull = hull_of(points);
  EXPECT_EQ(hull.vertices.size(), 8u);
  EXPECT_EQ(hull.faces.size(), 6u);
}

TEST(BuildHull, RefusesNumbersThatAreNotFinite) {
  Points points = cube_corners();
  points[5].y() = std::nan("");
  expect_error([&] { build_hull(points, "foot"); }, "mesh 'foot'", "point 5", "nan", "finite");
  points[5].y() = -INFINITY;
  expect_error([&] { build_hull(points, "foot"); }, "mesh 'foot'", "point 5", "-inf", "finite");
  points[5].y() = 1e60;
  expect_error([&] { build_hull(points, "foot"); }, "mesh 'foot'", "1e+60", "units");
  Points tiny;
  for (const Vec3& p : cube_corners()) tiny.push_back(1e-70 * p);
  expect_error([&] { build_hull(tiny, "foot"); }, "mesh 'foot'", "units");
}

TEST(BuildHull, RefusesFewerThanThreeDistinctPoints) {
  expect_error([] { build_hull({}, "foot"); }, "mesh 'foot'", "0 points", "at least three");
  const Points one(5, Vec3(1, 2, 3));
  expect_error([&] { build_hull(one, "foot"); }, "mesh 'foot'", "5 points", "only 1 distinct", "at least three");
  Points two(4, Vec3(1, 2, 3));
  two.emplace_back(1, 2, 4);
  expect_error([&] { build_hull(two, "foot"); }, "mesh 'foot'", "5 points", "only 2 distinct", "at least three");
}

TEST(BuildHull, RefusesPointsOnALine) {
  Points points;
  for (int i = 0; i < 10; ++i) points.push_back(Vec3(1, 2, 3) + 0.1 * i * Vec3(1, -1, 0.3));
  expect_error([&] { build_hull(points, "pole"); }, "mesh 'pole'", "10 points", "on a line", "capsule");
}

TEST(BuildHull, TurnsAFailureOfQhullIntoAnError) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  expect_error([] { internal::hull_facets(polygon(5, 0), "sheet"); }, "mesh 'sheet'", "qhull", "QH6", "simplify");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(BuildHull, MakesAPlateOfPointsInAPlane) {
  for_random_cases(30, [](std::mt19937_64& random) {
    const Mat3 turn = random_rotation(random);
    const Vec3 place = 3 * random_vec3(random), normal = turn.col(2);
    const double noise = std::pow(10, uniform(random, -17, -8));
    Points points;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) {
        points.push_back(place + turn * Vec3(0.25 * i, 0.5 * j, noise * uniform(random, -1, 1)));
      }
    }
    const HullResult result = build_hull(points, "sheet");
    ASSERT_EQ(result.warnings.size(), 1u);
    for (const char* part : {"mesh 'sheet'", "in a plane", "plate of thickness"}) {
      EXPECT_NE(result.warnings[0].find(part), std::string::npos) << result.warnings[0];
    }
    const Hull& hull = result.hull;
    expect_valid(hull, 1e-7);
    EXPECT_EQ(hull.vertices.size(), 8u);
    EXPECT_EQ(hull.faces.size(), 6u);
    // The size is the diagonal of the bounds along the axes, between that of the rectangle and √3 times it.
    const double diagonal = std::hypot(1, 2);
    EXPECT_GT(hull.width, 0.999 * kThinnestHull * diagonal);
    EXPECT_LT(hull.width, 1.8 * kThinnestHull * diagonal);
    // Symmetric about the plane.
    double low = 1e300, high = -1e300;
    for (const Vec3& v : hull.vertices) {
      low = std::min(low, normal.dot(v - place));
      high = std::max(high, normal.dot(v - place));
    }
    EXPECT_NEAR(low, -high, 3 * noise + 1e-14);
  });
}

TEST(BuildHull, MakesAPlateOfATriangle) {
  const HullResult result = build_hull(Points{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}, "flag");
  EXPECT_EQ(result.warnings.size(), 1u);
  expect_valid(result.hull, 1e-9);
  EXPECT_EQ(result.hull.vertices.size(), 6u);
  EXPECT_EQ(result.hull.faces.size(), 5u);
}

TEST(BuildHull, KeepsAThinPlateThatIsThickEnough) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Mat3 turn = random_rotation(random);
    const double half = std::pow(10, uniform(random, -5, -2));
    Points points;
    for (const Vec3& p : cube_grid(4)) points.push_back(turn * p.cwiseProduct(Vec3(1, 1, half)));
    const Hull hull = hull_of(points);
    expect_valid(hull, 1e-9);
    EXPECT_EQ(hull.vertices.size(), 8u);
    EXPECT_EQ(hull.faces.size(), 6u);
    EXPECT_NEAR(hull.width, 2 * half, 1e-13);
  });
}

TEST(BuildHull, MakesAPlateOfALensFlatterThanTheMergeAngle) {
  // All of its upper facets are one face within the merge angle, and all of its lower ones.
  Points points = polygon(12, 0);
  points.emplace_back(0, 0, 1e-5);
  points.emplace_back(0, 0, -1e-5);
  const HullResult result = build_hull(points, "lens");
  ASSERT_EQ(result.warnings.size(), 1u);
  expect_valid(result.hull, 1e-9);
  EXPECT_EQ(result.hull.faces.size(), 14u);
  EXPECT_NEAR(result.hull.width, 2e-5, 1e-12);
}

}  // namespace
}  // namespace lithe::test

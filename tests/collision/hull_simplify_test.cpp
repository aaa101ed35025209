#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/simplify/simplify.h"
#include "lithe/core/internal/size_of.h"
#include "tests/collision/hull_checks.h"
#include "tests/support/error_text.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

double support_of(const Points& points, const Vec3& d) {
  double highest = -1e300;
  for (const Vec3& p : points) highest = std::max(highest, d.dot(p));
  return highest;
}

double size_of_bounds(const Points& points) {
  Vec3 low = points[0], high = points[0];
  for (const Vec3& p : points) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  return (high - low).norm();
}

Points kept_points(const Points& points, const HullResult& result) {
  Points kept;
  for (const int i : result.kept) kept.push_back(points[i]);
  return kept;
}

bool by_coordinates(const Vec3& a, const Vec3& b) {
  return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
}

Points sorted(Points points) {
  std::sort(points.begin(), points.end(), by_coordinates);
  return points;
}

Points kept_set(const Points& points, const HullTolerance& tolerance = {}) {
  return sorted(kept_points(points, build_hull(points, "shape", tolerance)));
}

// What every simplified hull promises, without looking at how it was made: support functions alone.
HullResult expect_bounded(const Points& points, std::mt19937_64& random, const HullTolerance& tolerance = {}) {
  HullResult result = build_hull(points, "shape", tolerance);
  EXPECT_TRUE(result.warnings.empty()) << result.warnings[0];
  EXPECT_LE(result.error, result.tolerance);
  const double size = size_of_bounds(points);
  EXPECT_LE(result.tolerance, tolerance.relative * size * (1 + 1e-12));
  EXPECT_LE(result.tolerance, std::max(tolerance.absolute, 5e-4 * size));
  EXPECT_LE(result.tolerance, 0.1 * result.hull.width * (1 + 1e-12));
  EXPECT_LE(result.kept.size(), static_cast<std::size_t>(kMostKeptVertices));
  EXPECT_LE(size_of(result.hull.vertices), result.exact_vertices);
  expect_valid(result.hull, kMergeAngle);

  const Points kept = kept_points(points, result);
  EXPECT_TRUE(std::includes(kept.begin(), kept.end(), result.hull.vertices.begin(), result.hull.vertices.end(),
                            [&](const Vec3& a, const Vec3& b) {
                              return std::find(kept.begin(), kept.end(), a) < std::find(kept.begin(), kept.end(), b);
                            }));
  double largest = 0;
  for (int k = 0; k < 3000; ++k) {
    const Vec3 d = random_vec3(random).normalized();
    const double lost = support_of(points, d) - support_of(result.hull.vertices, d);
    EXPECT_GE(lost, -1e-14 * size);
    largest = std::max(largest, lost);
  }
  EXPECT_LE(largest, result.error + 1e-13 * size);
  // A robot stands as high as before.
  for (int axis = 0; axis < 3; ++axis) {
    for (const double sign : {-1.0, 1.0}) {
      const Vec3 d = sign * Vec3::Unit(axis);
      EXPECT_NEAR(support_of(points, d), support_of(result.hull.vertices, d), 1.001e-6 * size);
    }
  }
  return result;
}

TEST(SimplifiedHull, KeepsToItsBoundOnRandomClouds) {
  for_random_cases(40, [](std::mt19937_64& random) {
    const int n = uniform_int(random, 4, 3000);
    const Vec3 shape(1, std::pow(10, uniform(random, -2, 0)), std::pow(10, uniform(random, -1, 0)));
    const double scale = std::pow(10, uniform(random, -2, 0.5));
    const Mat3 turn = random_rotation(random);
    const bool round = uniform_int(random, 0, 1) == 1;
    Points points;
    for (int i = 0; i < n; ++i) {
      Vec3 p = random_vec3(random);
      if (round) p.normalize();
      points.push_back(scale * (turn * p.cwiseProduct(shape)) + Vec3(0.3, -0.1, 0.2));
    }
    expect_bounded(points, random, {1, std::pow(10, uniform(random, -2.3, -1))});
  });
}

TEST(SimplifiedHull, OfASphereKeepsAFewHundredVertices) {
  std::mt19937_64 random(4);
  Points points = on_sphere(3000, random);
  for (Vec3& p : points) p *= 0.1;
  const HullResult result = expect_bounded(points, random);
  EXPECT_EQ(result.exact_vertices, 3000);
  EXPECT_LT(result.kept.size(), 500u);
  EXPECT_GT(result.error, 0.5 * result.tolerance);
}

TEST(SimplifiedHull, OfACylinderKeepsAsManySidesAsItsRadiusNeeds) {
  std::mt19937_64 random(5);
  for (const auto& [radius, most] : {std::pair(0.02, 64u), std::pair(0.2, 100u)}) {
    Points points = joined(polygon(720, -1), polygon(720, 1));
    for (Vec3& p : points) p *= radius;
    const HullResult result = expect_bounded(points, random);
    EXPECT_LE(result.kept.size(), most);
    // Both ends are flat.
    for (const double sign : {-1.0, 1.0}) {
      EXPECT_TRUE(std::any_of(result.hull.faces.begin(), result.hull.faces.end(),
                              [&](const Hull::Face& face) { return face.normal.z() * sign > 1 - 1e-12; }));
    }
  }
}

TEST(SimplifiedHull, LeavesABoxAsItIs) {
  const Points points = cube_grid(20);
  const HullResult result = build_hull(points, "box", HullTolerance{});
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.hull.vertices.size(), 8u);
  EXPECT_EQ(result.kept.size(), 8u);
  EXPECT_EQ(result.hull.faces.size(), 6u);
}

// A sole of 25 × 10 cm under a rounded foot, bumpy by tenths of a millimetre, as those of real robots are.
Points bumpy_foot(std::mt19937_64& random, double bumps) {
  Points points;
  for (int i = 0; i <= 20; ++i) {
    for (int j = 0; j <= 8; ++j)
      points.emplace_back(0.0125 * i - 0.125, 0.0125 * j - 0.05, bumps * uniform(random, 0, 1));
  }
  for (int i = 0; i < 400; ++i) {
    const double t = std::numbers::pi * uniform(random, 0, 1), u = uniform(random, -1, 1);
    points.emplace_back(0.12 * u, 0.045 * std::cos(t), 0.01 + 0.06 * std::sqrt(1 - 0.9 * u * u) * std::sin(t));
  }
  return points;
}

TEST(SimplifiedHull, KeepsTheOutlineOfASoleThatIsNotQuiteFlat) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const double bumps = uniform(random, 0, 2e-4);
    const Points points = bumpy_foot(random, bumps);
    const HullResult result = expect_bounded(points, random);
    Points on_sole;
    for (const Vec3& v : result.hull.vertices) {
      if (v.z() <= 0.25 * result.tolerance) on_sole.push_back(v);
    }
    // As seen from below it is all there.
    EXPECT_GT(internal::outline_along(on_sole, -Vec3::UnitZ()).area, 0.99 * 0.25 * 0.1);
    EXPECT_LT(result.kept.size(), 150u);
  });
}

TEST(SimplifiedHull, KeepsTheThicknessOfAPlate) {
  std::mt19937_64 random(6);
  for (const double thickness : {1e-6, 1e-5, 1e-3}) {
    const Mat3 turn = random_rotation(random);
    Points points;
    for (const Vec3& p : cube_grid(8)) points.push_back(turn * p.cwiseProduct(Vec3(0.2, 0.1, 0.5 * thickness)));
    const HullResult result = build_hull(points, "plate", HullTolerance{});
    EXPECT_TRUE(result.warnings.empty());
    EXPECT_EQ(result.hull.vertices.size(), 8u);
    EXPECT_NEAR(result.hull.width, thickness, 1e-3 * thickness);
    EXPECT_NEAR(result.tolerance, std::min(1e-3, 0.1 * thickness), 1e-3 * thickness);
  }
  // And of one that is round, where that asks for more corners than there may be: it is told so.
  Points disc = joined(polygon(1500, 0), polygon(1500, 1));
  for (Vec3& p : disc) p = p.cwiseProduct(Vec3(0.1, 0.1, 1e-6));
  const HullResult round = build_hull(disc, "disc", HullTolerance{});
  EXPECT_NEAR(round.hull.width, 1e-6, 1e-12);
  EXPECT_GT(round.error, round.tolerance);
  EXPECT_LT(round.error, 1e-5);
  ASSERT_EQ(round.warnings.size(), 1u);
  for (const char* part : {"mesh 'disc'", "3000 vertices", "at most 512", "simplify"}) {
    EXPECT_NE(round.warnings[0].find(part), std::string::npos) << round.warnings[0];
  }
}

TEST(SimplifiedHull, SimplifiesTheOutlineOfPointsInAPlane) {
  for_random_cases(10, [](std::mt19937_64& random) {
    const Mat3 turn = random_rotation(random);
    Points points;
    for (const Vec3& p : polygon(2000, 0)) points.push_back(turn * (0.1 * p) + Vec3(1, 2, 3));
    for (int i = 0; i < 500; ++i) points.push_back(turn * Vec3(uniform(random, -0.05, 0.05), 0.05, 0) + Vec3(1, 2, 3));
    const HullResult result = build_hull(points, "sheet", HullTolerance{});
    ASSERT_EQ(result.warnings.size(), 1u);
    EXPECT_NE(result.warnings[0].find("in a plane"), std::string::npos);
    EXPECT_LE(result.error, result.tolerance);
    EXPECT_LE(result.kept.size(), 80u);
    EXPECT_NEAR(result.exact_vertices, 2000, 3);
  });
  // A shape needs four points, even where three say all.
  const HullResult triangle =
      build_hull(Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2, 0.2, 0}, {0.5, 0, 0}}, "flag", {});
  EXPECT_EQ(triangle.kept.size(), 4u);
  EXPECT_EQ(triangle.hull.vertices.size(), 6u);
}

TEST(SimplifiedHull, DoesNotDependOnTheOrderOfThePoints) {
  for_random_cases(20, [](std::mt19937_64& random) {
    Points points = uniform_int(random, 0, 1) ? bumpy_foot(random, 1e-4) : joined(cube_grid(6), on_sphere(500, random));
    for (Vec3& p : points) p *= 0.3;
    const Points kept = kept_set(points);
    for (int k = 0; k < 3; ++k) {
      std::shuffle(points.begin(), points.end(), random);
      EXPECT_EQ(kept_set(points), kept);
    }
  });
}

TEST(SimplifiedHull, KeepsMirrorImagesOfASymmetricBody) {
  for_random_cases(20, [](std::mt19937_64& random) {
    Points points;
    for (int i = 0; i < 300; ++i) {
      const Vec3 p = 0.1 * random_vec3(random).normalized().cwiseProduct(Vec3(1, 0.7, 2));
      points.push_back(p);
      points.emplace_back(p.x(), -p.y(), p.z());
    }
    // The middle of the bounds is on the plane of symmetry, and the tie between twins is decided for both of them.
    const Points kept = kept_set(points);
    Points mirrored;
    for (const Vec3& p : kept) mirrored.emplace_back(p.x(), -p.y(), p.z());
    EXPECT_EQ(sorted(mirrored), kept);
  });
}

TEST(SimplifiedHull, ScalesWithItsTolerance) {
  std::mt19937_64 random(8);
  const Points points = on_sphere(800, random);
  const Points kept = kept_set(points, {0.01, 0.05});
  for (const double scale : {1.0 / 1024, 1024.0}) {
    Points scaled;
    for (const Vec3& p : points) scaled.push_back(scale * p);
    Points expected;
    for (const Vec3& p : kept) expected.push_back(scale * p);
    EXPECT_EQ(kept_set(scaled, {0.01 * scale, 0.05}), expected);
  }
}

TEST(SimplifiedHull, OfItsOwnVerticesIsTheSame) {
  std::mt19937_64 random(9);
  const Points points = bumpy_foot(random, 1e-4);
  const HullResult result = build_hull(points, "foot", HullTolerance{});
  const HullResult again = build_hull(kept_points(points, result), "foot");
  EXPECT_EQ(again.hull.vertices, result.hull.vertices);
  EXPECT_EQ(again.hull.ring, result.hull.ring);
}

TEST(SimplifiedHull, TakesMorePointsThanQhullShould) {
  // All of 30,000 points are vertices, so that they are thinned first.
  std::mt19937_64 random(10);
  Points points = on_sphere(30'000, random);
  for (Vec3& p : points) p = 0.1 * p.cwiseProduct(Vec3(1, 0.5, 0.8));
  // Spikes that no cell's outermost points need to show.
  for (int i = 0; i < 20; ++i) points.push_back(1.06 * points[100 * i]);
  const HullResult result = expect_bounded(points, random);
  const Points kept = sorted(kept_points(points, result));
  std::shuffle(points.begin(), points.end(), random);
  EXPECT_EQ(kept_set(points), kept);
}

TEST(SimplifiedHull, ThatIsToBeExactKeepsAsManyAsAHullMayHave) {
  std::mt19937_64 random(2);
  const Points points = on_sphere(kMaxHullVertices + 100, random);
  const HullResult result = build_hull(points, "ball");
  EXPECT_GT(size_of(result.hull.vertices), kMaxHullVertices - 8);
  EXPECT_LE(size_of(result.hull.vertices), kMaxHullVertices);
  EXPECT_EQ(result.exact_vertices, size_of(points));
  EXPECT_GT(result.error, 0);
  EXPECT_LT(result.error, 1e-3);
  ASSERT_EQ(result.warnings.size(), 1u);
  for (const char* part : {"mesh 'ball'", "4196 vertices", "at most 4096", "0 m are allowed"}) {
    EXPECT_NE(result.warnings[0].find(part), std::string::npos) << result.warnings[0];
  }
}

TEST(SimplifiedHull, ChecksWhatOthersClaimToHaveKept) {
  std::mt19937_64 random(12);
  Points points = on_sphere(600, random);
  for (Vec3& p : points) p *= 0.1;
  const HullTolerance tolerance = {};
  const HullResult result = build_hull(points, "ball", tolerance);
  const auto same = hull_of_kept(points, result.kept, "ball", tolerance);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->hull.vertices, result.hull.vertices);
  EXPECT_EQ(same->error, result.error);
  EXPECT_EQ(same->tolerance, result.tolerance);

  const auto refused = [&](std::vector<int> kept) { return !hull_of_kept(points, kept, "ball", tolerance); };
  std::vector<int> kept = result.kept;
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({1, 2, 3, 4}));  // too coarse
  kept.back() = 600;
  EXPECT_TRUE(refused(kept));
  kept = result.kept;
  kept.front() = -1;
  EXPECT_TRUE(refused(kept));
  kept = result.kept;
  std::swap(kept[3], kept[4]);
  EXPECT_TRUE(refused(kept));
  kept[4] = kept[3];
  EXPECT_TRUE(refused(kept));
  kept.assign(600, 0);
  for (int i = 0; i < 600; ++i) kept[i] = i;
  EXPECT_TRUE(refused(kept));  // more than are ever kept
  Points line;
  for (int i = 0; i < 10; ++i) line.push_back(i * Vec3(1, 2, 3));
  EXPECT_FALSE(hull_of_kept(line, std::vector{0, 4, 9}, "line", tolerance));
}

TEST(SimplifiedHull, RefusesWhatHasNoHull) {
  Points line;
  for (int i = 0; i < 1000; ++i) line.push_back(0.001 * i * Vec3(1, 2, 3));
  expect_error([&] { build_hull(line, "pole", HullTolerance{}); }, "mesh 'pole'", "on a line", "capsule");
  expect_error([&] { build_hull(Points(9, Vec3::Ones()), "dot", HullTolerance{}); }, "mesh 'dot'", "on a line");
  expect_error([&] { build_hull(cube_corners(), "cube", {-1, 0.1}); }, "tolerance", "-1");
  expect_error([&] { build_hull(cube_corners(), "cube", {0.1, std::nan("")}); }, "tolerance", "nan");
}

}  // namespace
}  // namespace lithe::test

#include "tests/support/oracle.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lithe/spatial/rotation.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// The oracle that judges the pair tests, against formulas that fit in a line.
namespace lithe::test {
namespace {

constexpr int kCases = 1000;
constexpr double kOracleTolerance = 1e-8;

void expect_distance(const Geometry& a, const Pose& X_WA, const Geometry& b, const Pose& X_WB, double expected) {
  const SignedDistance found = signed_distance(a, X_WA, b, X_WB, kOracleTolerance);
  EXPECT_LE(found.gap, expected + 1e-12);
  EXPECT_GE(found.gap, expected - 1.01 * kOracleTolerance);
  EXPECT_GE(found.bound, expected - 1e-12);
  EXPECT_LE(found.bound, expected + 1.01 * kOracleTolerance);
  EXPECT_NEAR(found.gap, separation(a, X_WA, b, X_WB, found.n), 1e-12);
}

Pose anywhere(std::mt19937_64& random) { return {random_rotation(random), random_vec3(random)}; }

TEST(Oracle, KnowsTheDistanceOfSpheres) {
  for_random_cases(kCases, [](std::mt19937_64& random) {
    const Pose X_WA = anywhere(random), X_WB = anywhere(random);
    const double r_a = uniform(random, 0.1, 1), r_b = uniform(random, 0.1, 1);
    expect_distance(Sphere{r_a}, X_WA, Sphere{r_b}, X_WB, (X_WA.p - X_WB.p).norm() - r_a - r_b);
  });
}

// Outside: the distance to the clamped point. Inside: the nearest face.
double point_to_box(const Vec3& x, const Vec3& half) {
  const Vec3 outside = (x.cwiseAbs() - half).cwiseMax(0);
  return outside.isZero(0) ? (x.cwiseAbs() - half).maxCoeff() : outside.norm();
}

TEST(Oracle, KnowsTheDistanceOfASphereFromABox) {
  for_random_cases(kCases, [](std::mt19937_64& random) {
    const Vec3 half = Vec3(uniform(random, 0.1, 1), uniform(random, 0.1, 1), uniform(random, 0.1, 1));
    const Pose X_WA = anywhere(random), X_WB = anywhere(random);
    const double r = uniform(random, 0, 1);
    expect_distance(Sphere{r}, X_WA, Box{half}, X_WB, point_to_box(X_WB.inverse() * X_WA.p, half) - r);
  });
}

TEST(Oracle, KnowsTheDistanceOfAPointFromACylinder) {
  for_random_cases(kCases, [](std::mt19937_64& random) {
    const Cylinder cylinder{uniform(random, 0.1, 1), uniform(random, 0.1, 1)};
    const Pose X_WA = anywhere(random), X_WB = anywhere(random);
    const Vec3 x = X_WB.inverse() * X_WA.p;
    // In the half-plane of the axis a cylinder is a rectangle.
    const double expected =
        point_to_box(Vec3(std::hypot(x.x(), x.y()), x.z(), 0), Vec3(cylinder.radius, cylinder.half_length, 1e9));
    expect_distance(Sphere{0}, X_WA, cylinder, X_WB, expected);
  });
}

TEST(Oracle, KnowsTheDistanceOfAlignedBoxes) {
  for_random_cases(kCases, [](std::mt19937_64& random) {
    const Vec3 half_a(uniform(random, 0.1, 1), uniform(random, 0.1, 1), uniform(random, 0.1, 1));
    const Vec3 half_b(uniform(random, 0.1, 1), uniform(random, 0.1, 1), uniform(random, 0.1, 1));
    const Pose X_WB = anywhere(random);
    const Vec3 offset = random_vec3(random);
    expect_distance(Box{half_a}, X_WB * Pose::translation(offset), Box{half_b}, X_WB,
                    point_to_box(offset, half_a + half_b));
  });
}

// A box turned so that an edge crosses an edge of the other one.
TEST(Oracle, KnowsTheDepthOfCrossedRidges) {
  const Geometry box = Box{Vec3(1, 0.1, 0.1)};
  const Mat3 ridge_up = rotation_about(Vec3::UnitX(), std::acos(-1) / 4);
  const Mat3 across = rotation_about(Vec3::UnitZ(), std::acos(-1) / 2);
  const double ridge = 0.1 * std::sqrt(2.0);
  for (const double gap : {0.02, 0.0, -0.02}) {
    const Pose X_WA{across * ridge_up, Vec3(0, 0, 2 * ridge + gap)};
    expect_distance(box, X_WA, box, Pose{ridge_up, Vec3::Zero()}, gap);
  }
}

TEST(Oracle, KnowsTheDistanceOfShapesFromPlanes) {
  const Pose X_WB{rotation_exp(Vec3(0.3, -0.2, 0.1)), Vec3(1, 2, 3)};
  const Pose up = X_WB * Pose::translation(5, 6, 2);
  expect_distance(Sphere{0.5}, up, Plane{}, X_WB, 1.5);
  expect_distance(Plane{}, X_WB, Capsule{0.5, 1}, up, 0.5);
  expect_distance(Box{Vec3(1, 2, 3)}, up, Plane{}, X_WB, -1);
}

TEST(Oracle, AMeshOfABoxIsABox) {
  for_random_cases(kCases, [](std::mt19937_64& random) {
    const Vec3 half(uniform(random, 0.1, 1), uniform(random, 0.1, 1), uniform(random, 0.1, 1));
    ConvexMesh mesh;
    for (int i = 0; i < 8; ++i)
      mesh.points.push_back(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1).cwiseProduct(half));
    const Pose X = anywhere(random);
    const Vec3 x = random_vec3(random), d = random_vec3(random).normalized();
    EXPECT_NEAR(support(mesh, X, d), support(Box{half}, X, d), 1e-14);
    EXPECT_NEAR(surface_error(mesh, X, x), surface_error(Box{half}, X, x), 1e-10);
  });
}

TEST(Oracle, SupportPointsAreOnTheSurfaceAndOwnTheirDirection) {
  for_random_cases(kCases, [](std::mt19937_64& random) {
    for (const ShapeType type :
         {ShapeType::sphere, ShapeType::capsule, ShapeType::cylinder, ShapeType::box, ShapeType::mesh}) {
      SCOPED_TRACE(lithe::to_string(type));
      const Geometry shape = random_geometry(type, random);
      const Pose X = anywhere(random);
      const Vec3 d = random_vec3(random).normalized();
      const Vec3 x = support_point(shape, X, d);
      EXPECT_NEAR(d.dot(x), support(shape, X, d), 1e-14);
      EXPECT_LE(surface_error(shape, X, x), 1e-10);
      EXPECT_LE(support_error(shape, X, d, x), 1e-10);
      EXPECT_GE(support_error(shape, X, d, x + 1e-4 * d), 0.99e-4);
    }
  });
}

}  // namespace
}  // namespace lithe::test

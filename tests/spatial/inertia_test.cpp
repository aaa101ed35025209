#include "lithe/spatial/inertia.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "lithe/spatial/rotation.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe {
namespace {

void expect_principal(const SpatialInertia& inertia, double mass, const Vec3& moments) {
  EXPECT_EQ(inertia.mass, mass);
  EXPECT_EQ(inertia.first_moment, Vec3::Zero().eval());
  EXPECT_LT((inertia.rotational - Mat3(moments.asDiagonal())).norm(), 1e-14 * moments.norm());
}

TEST(SpatialInertia, BoxHasTextbookMoments) {
  expect_principal(SpatialInertia::box(12, {1, 2, 3}), 12, {4 + 9, 1 + 9, 1 + 4});
}

TEST(SpatialInertia, SphereHasTextbookMoments) { expect_principal(SpatialInertia::sphere(5, 0.5), 5, {0.5, 0.5, 0.5}); }

TEST(SpatialInertia, CylinderHasTextbookMoments) {
  expect_principal(SpatialInertia::cylinder(12, 1, 3), 12, {3 + 9, 3 + 9, 6});
}

TEST(SpatialInertia, PointHasNoMomentsAboutItself) {
  const SpatialInertia point = SpatialInertia::point(2, {0, 0, -3});
  EXPECT_EQ(point.centre(), Vec3(0, 0, -3));
  EXPECT_EQ(point.rotational, Mat3(Vec3(18, 18, 0).asDiagonal()));
  EXPECT_EQ(point.about_centre(), Mat3::Zero().eval());
}

TEST(SpatialInertia, CapsuleAgreesWithTheIntegralOverItsDiscs) {
  // A disc of radius R at height z and thickness dz adds ½R²dm about z and (¼R² + z²)dm across; Simpson's rule, exact
  // to rounding on these pieces of polynomials with enough of them.
  const double radius = 0.3, length = 0.8, mass = 2.5;
  double volume = 0, along = 0, across = 0;
  const auto integrate = [&](double from, double to) {
    const int n = 2000;
    const double dz = (to - from) / n;
    for (int i = 0; i <= n; ++i) {
      const double z = from + i * dz;
      const double beyond = std::max(0.0, std::abs(z) - length / 2);
      const double R2 = std::max(0.0, radius * radius - beyond * beyond);
      const double weight = (i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2) * dz / 3 * std::numbers::pi * R2;
      volume += weight;
      along += weight * R2 / 2;
      across += weight * (R2 / 4 + z * z);
    }
  };
  integrate(-length / 2 - radius, -length / 2);
  integrate(-length / 2, length / 2);
  integrate(length / 2, length / 2 + radius);
  const SpatialInertia capsule = SpatialInertia::capsule(mass, radius, length);
  EXPECT_NEAR(capsule.rotational(2, 2), along * mass / volume, 1e-12);
  EXPECT_NEAR(capsule.rotational(0, 0), across * mass / volume, 1e-12);
  EXPECT_NEAR(capsule.rotational(1, 1), across * mass / volume, 1e-12);
}

TEST(SpatialInertia, CapsuleWithoutLengthIsASphere) {
  const SpatialInertia capsule = SpatialInertia::capsule(3, 0.2, 0);
  EXPECT_LT((capsule.matrix() - SpatialInertia::sphere(3, 0.2).matrix()).norm(), 1e-15);
}

TEST(SpatialInertia, FromCentreAddsTheParallelAxisTerm) {
  const SpatialInertia inertia = SpatialInertia::from_centre(2, {1, 0, 0}, Mat3::Identity());
  EXPECT_EQ(inertia.rotational, Mat3(Vec3(1, 3, 3).asDiagonal()));
  EXPECT_EQ(inertia.first_moment, Vec3(2, 0, 0));
  EXPECT_EQ(inertia.about_centre(), Mat3::Identity());
}

TEST(SpatialInertia, RoundTripsThroughItsTenParameters) {
  Vec10 p;
  p << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
  const SpatialInertia inertia = SpatialInertia::from_parameters(p);
  EXPECT_EQ(inertia.parameters(), p);
  EXPECT_EQ(inertia.first_moment, Vec3(2, 3, 4));
  EXPECT_EQ(inertia.rotational(0, 1), 6);
  EXPECT_EQ(inertia.rotational, inertia.rotational.transpose().eval());
}

TEST(SpatialInertia, MatrixGivesMomentumOfAMovingPoint) {
  // A point at c moves with v₀ + ω × c; its momentum is m times that, about the origin c × that.
  const Vec3 c(0.3, -0.2, 0.5), w(1, 2, 3), v0(-1, 0.5, 2);
  const Vec3 p = 2.0 * (v0 + w.cross(c));
  Vec6 V, expected;
  V << w, v0;
  expected << c.cross(p), p;
  EXPECT_LT((SpatialInertia::point(2, c).matrix() * V - expected).norm(), 1e-14);
}

TEST(SpatialInertia, SeenFromAnotherFrameIsTheCongruenceOfTheMatrix) {
  test::for_random_cases(50, [](std::mt19937_64& random) {
    const SpatialInertia inertia = test::random_inertia(random);
    const Pose X = test::random_pose(random);
    const Mat6 inverse = test::adjoint(X.inverse());
    const Mat6 expected = inverse.transpose() * inertia.matrix() * inverse;
    EXPECT_LT((inertia.in(X).matrix() - expected).norm(), 1e-13 * expected.norm());
    EXPECT_LT((inertia.in(X).centre() - X * inertia.centre()).norm(), 1e-14);
  });
}

TEST(SpatialInertia, AddsUp) {
  SpatialInertia sum = SpatialInertia::point(1, {1, 0, 0});
  sum += SpatialInertia::point(3, {-1, 0, 0});
  EXPECT_EQ(sum.mass, 4);
  EXPECT_EQ(sum.centre(), Vec3(-0.5, 0, 0));
}

TEST(SpatialInertia, NothingHasItsCentreAtTheOrigin) {
  EXPECT_EQ(SpatialInertia{}.centre(), Vec3::Zero().eval());
  EXPECT_EQ(SpatialInertia{}.about_centre(), Mat3::Zero().eval());
}

}  // namespace
}  // namespace lithe

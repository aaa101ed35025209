#include "lithe/collision/curved/line_rim.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "lithe/collision/collide.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// Where straight parts end on a rim.
namespace lithe::test {

using namespace internal;
namespace {

constexpr double kCanRadius = 0.5, kCanHalfLength = 0.4;

SolidCylinder can() { return {Vec3::Zero(), Vec3::UnitZ(), kCanHalfLength, kCanRadius}; }

TEST(LineRim, IsPerpendicularToBoth) {
  int found = 0;
  for_random_cases(2000, [&](std::mt19937_64& random) {
    std::uniform_real_distribution<double> u(-1, 1);
    // Over the cap, across its rim near angle 0.
    const Vec3 e = Vec3(1, 0.5 * u(random), 0.1 * u(random)).normalized();
    const Vec3 x(kCanRadius + 0.1 * u(random), 0.1 * u(random), kCanHalfLength + 0.1);
    const LineRim r = closest_line_rim(x, e, can(), 1, Vec3::UnitX(), Vec3::UnitZ());
    if (!r.found) return;
    ++found;
    EXPECT_NEAR(across(r.on_rim, Vec3::UnitZ()).norm(), kCanRadius, 1e-14);
    EXPECT_NEAR(r.on_rim.z(), kCanHalfLength, 1e-15);
    EXPECT_NEAR((r.on_line - x).cross(e).norm(), 0, 1e-13);
    EXPECT_NEAR((r.on_line - r.on_rim - r.gap * r.n).norm(), 0, 1e-13);
    EXPECT_NEAR(r.n.dot(e), 0, 1e-14);
    EXPECT_NEAR(r.n.dot(r.tangent), 0, 1e-14);
  });
  if (few_cases()) return;
  EXPECT_GE(found, 1900);
}

TEST(LineRim, IsNotThereWhereNewtonsMethodRunsToAndFro) {
  // A chord that hardly cuts the disc: of its two ends one has such a point, and steps from the other one never settle.
  int found = 0, neither = 0;
  for_random_cases(2000, [&](std::mt19937_64& random) {
    std::uniform_real_distribution<double> u(-1, 1);
    const double tilt = 0.08 * u(random), aside = kCanRadius * (1 - std::pow(10, -2 + 1.5 * u(random)));
    const Vec3 e(std::cos(tilt), 0, std::sin(tilt)), x(0.1 * u(random), aside, kCanHalfLength + 0.2 + 0.1 * u(random));
    const LineOverDisc chord(x, e, Vec3::Zero(), Vec3::UnitZ(), kCanRadius);
    ASSERT_GE(chord.half, 0);
    int of_this = 0;
    for (const double leaves : {chord.middle - chord.half, chord.middle + chord.half}) {
      const Vec3 u0 = radial_direction(x + leaves * e, Vec3::UnitZ());
      const LineRim r = closest_line_rim(x, e, can(), 1, u0, Vec3::UnitZ());
      if (!r.found) continue;
      ++of_this;
      EXPECT_NEAR((r.on_line - r.on_rim - r.gap * r.n).norm(), 0, 1e-13);
      EXPECT_NEAR((r.on_line - x).cross(e).norm(), 0, 1e-12);
    }
    found += of_this;
    neither += of_this == 0;
  });
  if (few_cases()) return;
  EXPECT_GE(found, 200);
  EXPECT_GE(neither, 200);
}

// What lies almost flat over a cap, aside from its middle up to where it leaves the disc.
Pose lying(std::mt19937_64& random, double radius, double half_length, const Cylinder& base) {
  std::uniform_real_distribution<double> u(-1, 1);
  const double tilt = 0.09 * u(random), aside = base.radius * (1 - std::pow(10, -2.5 + 2.2 * u(random)));
  const Vec3 axis(std::cos(tilt), 0, std::sin(tilt));
  Pose X;
  X.R << Vec3::UnitY().cross(axis), Vec3::UnitY(), axis;
  X.p << half_length * u(random), aside, base.half_length + radius * (1 / std::cos(tilt) - 0.01 * (1 + u(random)));
  const Mat3 turn = Eigen::AngleAxisd(std::numbers::pi * u(random), Vec3::UnitZ()).toRotationMatrix();
  return {turn * X.R, turn * X.p};
}

TEST(LineRim, MakesNoManifoldDeeperThanTheShapesAre) {
  int two_points = 0, touching = 0;
  for_random_cases(20000, [&](std::mt19937_64& random) {
    std::uniform_real_distribution<double> u(0.1, 1);
    const double radius = u(random), half_length = u(random);
    const Cylinder base{u(random), u(random)};
    const bool capsule = random() % 2 == 0;
    const Geometry above = capsule ? Geometry(Capsule{radius, half_length}) : Geometry(Cylinder{radius, half_length});
    const TestShape a = make_test_shape(above, 0), b = make_test_shape(base, 1);
    const Pose X = lying(random, radius, half_length, base);
    PairScratch scratch;
    std::vector<Contact> contacts;
    collide(a.collider, X, b.collider, Pose(), scratch, contacts, kMaxPoints);
    if (contacts.empty()) return;
    ++touching;
    two_points += contacts.size() == 2;
    const double depth = distance(a.collider, X, b.collider, Pose(), scratch).gap;
    for (const Contact& contact : contacts) EXPECT_GE(contact.gap, depth - 1e-3 * (radius + base.radius));
  });
  if (few_cases()) return;
  EXPECT_GE(touching, 15000);
  EXPECT_GE(two_points, 1500);
}

}  // namespace
}  // namespace lithe::test

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <variant>
#include <vector>

#include "lithe/collision/collide.h"
#include "lithe/collision/contact_derivatives.h"
#include "lithe/collision/curved/cap_manifold.h"
#include "tests/collision/expect_contact.h"
#include "tests/support/pair_fixtures.h"

// A cylinder over the ground. Radius 0.3, half-length 0.4, so the margin is 0.5 mm.
namespace lithe::test {

using namespace internal;
namespace {

constexpr double kRadius = 0.3, kHalf = 0.4;

// The axis turned away from the vertical by `tilt`, in the direction `heading` of the ground; spin about the axis.
Mat3 tilted(double tilt, double heading = 0, double spin = 0) {
  using Turn = Eigen::AngleAxisd;
  return (Turn(heading, Vec3::UnitZ()) * Turn(tilt, Vec3::UnitY()) * Turn(spin - heading, Vec3::UnitZ()))
      .toRotationMatrix();
}

class CylinderPlane : public testing::Test {
 protected:
  // Its lowest point at this height.
  Pose at_height(double height, const Mat3& R, const Cylinder& c) const {
    const Vec3 a = R.col(2);
    const double reach = c.half_length * std::abs(a.z()) + c.radius * std::hypot(a.x(), a.y());
    return {R, Vec3(0.1, -0.2, height + reach)};
  }
  std::vector<Contact> contacts(double height, const Mat3& R, const Cylinder& c = {kRadius, kHalf},
                                int max_points = 8) {
    std::vector<Contact> out;
    collide(make_test_shape(c, 0).collider, at_height(height, R, c), ground_.collider, Pose{}, scratch_, out,
            max_points);
    return out;
  }
  Contact closest(double height, const Mat3& R, const Cylinder& c = {kRadius, kHalf}) {
    return distance(make_test_shape(c, 0).collider, at_height(height, R, c), ground_.collider, Pose{}, scratch_);
  }

  TestShape ground_ = make_test_shape(Plane{}, 1);
  PairScratch scratch_;
};

TEST_F(CylinderPlane, LyingTouchesWithBothRims) {
  const auto found = contacts(-1e-4, tilted(std::numbers::pi / 2));
  ASSERT_EQ(found.size(), 2u);
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(found[k].code_a, FeatureCode::rim(k));
    EXPECT_EQ(found[k].code_b, FeatureCode::face(0));
    EXPECT_NEAR(found[k].gap, -1e-4, 1e-15);
    EXPECT_LE((found[k].p - Vec3(0.1 + (k == 0 ? -kHalf : kHalf), -0.2, -5e-5)).norm(), 1e-14);
    EXPECT_EQ(found[k].n, Vec3(0, 0, 1));
  }
}

TEST_F(CylinderPlane, LeaningTouchesWithOneRim) {
  const auto found = contacts(-1e-4, tilted(0.7));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code_a, FeatureCode::rim(0));
  EXPECT_NEAR(found[0].gap, -1e-4, 1e-15);
}

TEST_F(CylinderPlane, StandingTouchesWithFourPointsAlongTheGroundsAxes) {
  const auto found = contacts(-1e-4, tilted(0, 0, 0.7));
  ASSERT_EQ(found.size(), 4u);
  const Vec3 directions[4] = {Vec3::UnitX(), Vec3::UnitY(), -Vec3::UnitX(), -Vec3::UnitY()};
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(found[k].code_a, FeatureCode::rim_point(0, k));
    EXPECT_NEAR(found[k].gap, -1e-4, 1e-15);
    EXPECT_LE((found[k].p - (Vec3(0.1, -0.2, -1e-4) + kRadius * directions[k])).norm(), 1e-14);
  }
  // On its head it stands on the other rim.
  EXPECT_EQ(contacts(-1e-4, tilted(std::numbers::pi))[0].code_a, FeatureCode::rim_point(1, 0));
}

// A wheel that turns on its hub cap: the points of contact must stay, or friction would pump energy.
TEST_F(CylinderPlane, SpinningStandingCylinderKeepsItsPoints) {
  const auto before = contacts(-1e-4, tilted(1e-4, 0.3, 0.0)), after = contacts(-1e-4, tilted(1e-4, 0.3, 0.9));
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t k = 0; k < before.size(); ++k) {
    EXPECT_EQ(before[k].id(), after[k].id());
    EXPECT_LE((before[k].p - after[k].p).norm(), 1e-14);
    // And the derivative knows: spin about the axis moves body points past p, and p stays.
    const Mat3 R = tilted(1e-4, 0.3);
    const Vec3 axis = R.col(2), centre = at_height(-1e-4, R, {kRadius, kHalf}).p;
    Eigen::Matrix<double, 6, 1> spin;
    spin << axis, axis.cross(before[k].p - centre);
    EXPECT_LE((contact_derivatives(before[k]).by_a * spin).norm(), 1e-14);
  }
}

TEST_F(CylinderPlane, StandingOverTheEdgeOfItsCapAddsTheDeepestPoint) {
  const double tilt = 2e-3;
  const auto found = contacts(-2e-3, tilted(tilt, 0.5));
  EXPECT_EQ(count_of(found, FeatureCode::Part::rim_point), 4);
  EXPECT_EQ(count_of(found, FeatureCode::Part::rim), 1);
  EXPECT_NEAR(found.back().gap, -2e-3, 1e-14);
  // It is ρ/σ = 150 m per radian away from rest.
  const auto& jets = std::get<ClosestFeatures>(found.back().feature);
  EXPECT_NEAR(jets.a.bend, kRadius / std::sin(tilt), 1e-9);
}

// The depth of the manifold as the tilt grows: continuous where it stops standing; below kFlatSine the four points may
// lack 0.29 ρσ of it.
TEST_F(CylinderPlane, DepthChangesLittleWhereTheSetOfPointsChanges) {
  for (double heading : {0.0, 0.3, std::numbers::pi / 4}) {
    for (double sine : {kFlatSine, kStandingSine}) {
      double gap[2];
      for (int side = 0; side < 2; ++side) {
        const double tilt = std::asin(sine) + (side == 0 ? -1e-9 : 1e-9);
        gap[side] = 0;
        for (const Contact& c : contacts(-1e-3, tilted(tilt, heading))) gap[side] = std::min(gap[side], c.gap);
      }
      EXPECT_NEAR(gap[1], -1e-3, 1e-12) << "the deepest point is there";
      EXPECT_NEAR(gap[0], gap[1], sine == kFlatSine ? 0.293e-3 * kRadius : 1e-9);
    }
  }
}

// Every point that goes where the cylinder stops standing was higher than the one that stays.
TEST_F(CylinderPlane, WhereStandingEndsTheDeepestPointStays) {
  const double tilt = std::asin(kStandingSine);
  const auto standing = contacts(-1e-4, tilted(tilt - 1e-9, 0.2)), leaning = contacts(-1e-4, tilted(tilt + 1e-9, 0.2));
  ASSERT_EQ(leaning.size(), 1u);
  ASSERT_GE(standing.size(), 1u);
  EXPECT_EQ(standing.back().id(), leaning[0].id());
  EXPECT_LE((standing.back().p - leaning[0].p).norm(), 1e-7);
  for (const Contact& c : standing) EXPECT_GE(c.gap, standing.back().gap);
}

TEST_F(CylinderPlane, NearlyFlatCoinHasNoSensitivePoint) {
  const Cylinder coin{0.012, 0.001};
  for (double tilt : {0.0, 1e-12, 1e-9, 1e-6, 1e-4}) {
    const auto found = contacts(-1e-6, tilted(tilt, 0.4), coin);
    EXPECT_EQ(found.size(), 4u) << tilt;
    for (const Contact& c : found) {
      EXPECT_EQ(c.flags, ContactFlag::none);
      EXPECT_LE(contact_derivatives(c).by_a.cwiseAbs().maxCoeff(), 2);
    }
  }
  // The closest features are exact all the same, and say what they are.
  EXPECT_TRUE(has(closest(1e-3, tilted(1e-6), coin).flags, ContactFlag::sensitive_point));
}

// √(1 − (n·a)²) has lost half its digits here.
TEST_F(CylinderPlane, CapNormalKeepsDigits) {
  for (double tilt : {1e-5, 1e-7, 1e-8, 1e-9, 1e-11}) {
    const Mat3 R = tilted(tilt, 0.3);
    const Contact found = distance(make_test_shape(Cylinder{kRadius, kHalf}, 0).collider, Pose{R, Vec3(0, 0, 1)},
                                   ground_.collider, Pose{}, scratch_);
    EXPECT_NEAR(found.gap, 1 - kHalf * std::cos(tilt) - kRadius * std::sin(tilt), 2e-16);
    const Vec3 lowest = R.transpose() * (found.point_on_a() - Vec3(0, 0, 1));
    EXPECT_NEAR(lowest.head<2>().norm(), kRadius, 1e-15);
    EXPECT_NEAR(lowest.z(), -kHalf, 1e-15);
  }
}

TEST_F(CylinderPlane, ParallelCapTouchesAtItsCentre) {
  const Contact found = closest(0.2, Mat3::Identity());
  EXPECT_EQ(found.code_a, FeatureCode::cap(0));
  EXPECT_NEAR(found.gap, 0.2, 1e-15);
  EXPECT_LE((found.p - Vec3(0.1, -0.2, 0.1)).norm(), 1e-15);
}

TEST_F(CylinderPlane, CoinWithoutThicknessHasOneRim) {
  const Cylinder coin{0.1, 0};
  EXPECT_EQ(contacts(-1e-6, tilted(0), coin).size(), 4u);
  EXPECT_EQ(contacts(-1e-6, tilted(0.5), coin).size(), 1u);
  EXPECT_EQ(contacts(-1e-6, tilted(std::numbers::pi / 2), coin).size(), 1u);
  // With a little of it, it stands on its edge on two points.
  EXPECT_EQ(contacts(-1e-6, tilted(std::numbers::pi / 2), {0.1, 1e-4}).size(), 2u);
}

TEST_F(CylinderPlane, FewerPointsKeepTheDeepest) {
  const auto all = contacts(-2e-3, tilted(2e-3, 0.5)), three = contacts(-2e-3, tilted(2e-3, 0.5), {kRadius, kHalf}, 3);
  ASSERT_EQ(all.size(), 5u);
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[0].id(), all[0].id());
  EXPECT_EQ(three[1].id(), all[1].id());
  EXPECT_EQ(three[2].id(), all[4].id());
}

TEST_F(CylinderPlane, ExistsUpToTheMargin) {
  const double margin = bands_of(make_test_shape(Cylinder{kRadius, kHalf}, 0).collider, ground_.collider).margin;
  EXPECT_EQ(contacts(0.999 * margin, tilted(0.4)).size(), 1u);
  EXPECT_EQ(contacts(1.001 * margin, tilted(0.4)).size(), 0u);
}

}  // namespace
}  // namespace lithe::test

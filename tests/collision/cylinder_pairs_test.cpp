#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "lithe/collision/collide.h"
#include "lithe/collision/contact_derivatives.h"
#include "lithe/collision/curved/rim_arc.h"
#include "lithe/collision/curved/rim_rim.h"
#include "lithe/spatial/rotation.h"
#include "tests/collision/collider_pair.h"
#include "tests/collision/expect_contact.h"
#include "tests/support/constants.h"
#include "tests/support/differentiate.h"
#include "tests/support/oracle.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// Capsules and cylinders with cylinders: values by hand, manifolds, ties and degenerate sizes.
namespace lithe::test {

using namespace internal;
namespace {

using Part = FeatureCode::Part;

// Whether a vertical load at x rests inside the points, seen from above.
bool holds(const std::vector<Contact>& contacts, double x, double y) {
  for (int i = 0; i < 64; ++i) {
    const double angle = 2 * kPi * i / 64;
    const Vec3 d(std::cos(angle), std::sin(angle), 0);
    const bool supported =
        std::any_of(contacts.begin(), contacts.end(), [&](const Contact& c) { return d.dot(c.p - Vec3(x, y, 0)) > 0; });
    if (!supported) return false;
  }
  return true;
}

// ---- rim_arc.h ------------------------------------------------------------------------------------------------------

double separation_of(const SolidCylinder& c, const Vec3& x, const Vec3& n) { return n.dot(c.o - x) - reach(c, n); }

// max F over the arc from angle `from` to `to` about e, by sampling and golden section.
double scan(const SolidCylinder& c, const Vec3& x, const Vec3& e, double from, double to) {
  constexpr int kSamples = 400;
  const Vec3 f1 = e.unitOrthogonal(), f2 = e.cross(f1);
  const auto F = [&](double angle) { return separation_of(c, x, std::cos(angle) * f1 + std::sin(angle) * f2); };
  const double step = (to - from) / kSamples;
  double best = from;
  for (int i = 1; i <= kSamples; ++i) {
    if (F(from + i * step) > F(best)) best = from + i * step;
  }
  double low = std::max(from, best - step), high = std::min(to, best + step);
  for (int i = 0; i < 60; ++i) {
    const double third = 0.381966 * (high - low);
    (F(low + third) < F(high - third) ? low : high) += F(low + third) < F(high - third) ? third : -third;
  }
  return F(0.5 * (low + high));
}

Vec3 lattice_direction(std::mt19937_64& random) {
  Vec3 v = Vec3::Zero();
  while (v.isZero()) v = Vec3(uniform_int(random, -1, 1), uniform_int(random, -1, 1), uniform_int(random, -1, 1));
  return v.normalized();
}

struct LineCase {
  SolidCylinder cylinder;
  Vec3 x, e;
};

LineCase random_line_case(std::mt19937_64& random) {
  LineCase c{{random_vec3(random), random_vec3(random).normalized(), uniform(random, 0, 1), uniform(random, 0, 1)},
             random_vec3(random, 0.5),
             random_vec3(random).normalized()};
  // Nearly along the axis, and nearly across it, where F has its cusps.
  if (chance(random, 0.1)) c.e = (c.cylinder.a + 1e-7 * c.e).normalized();
  if (chance(random, 0.1)) c.e = (c.e.cross(c.cylinder.a).normalized() + 1e-9 * c.e).normalized();
  if (chance(random, 0.1)) c.cylinder.h = 0;
  if (chance(random, 0.1)) c.cylinder.rho = 0;
  return c;
}

// Sizes and shifts of quarters, directions of 45°: F′ = 0 wherever one might sample it.
LineCase lattice_line_case(std::mt19937_64& random) {
  const auto quarters = [&](int most) { return 0.25 * uniform_int(random, 0, most); };
  return {{Vec3(quarters(2), quarters(2), quarters(2)), lattice_direction(random), quarters(4), quarters(4)},
          Vec3::Zero(),
          lattice_direction(random)};
}

void expect_best_of_circle(const LineCase& c) {
  const RimArcMaximum found = rim_circle_maximum(c.cylinder, c.x, c.e);
  EXPECT_NEAR(found.n.norm(), 1, kTiny);
  EXPECT_NEAR(found.n.dot(c.e), 0, kTiny);
  EXPECT_NEAR(found.F, separation_of(c.cylinder, c.x, found.n), kTiny);
  EXPECT_GE(found.F, scan(c.cylinder, c.x, c.e, -kPi, kPi) - 1e-12);
}

TEST(RimArc, CircleMaximumIsThatOfAScan) {
  for_random_cases(1000, [&](std::mt19937_64& random) { expect_best_of_circle(random_line_case(random)); });
}

TEST(RimArc, StationaryAtSample) {
  for_random_cases(1000, [&](std::mt19937_64& random) { expect_best_of_circle(lattice_line_case(random)); });
}

// The best normal of an arc is one of its ends or one of the maxima found.
TEST(RimArc, ArcMaximaAreThoseOfAScan) {
  for_random_cases(1000, [&](std::mt19937_64& random) {
    const LineCase c = chance(random, 0.5) ? lattice_line_case(random) : random_line_case(random);
    const Vec3 f1 = c.e.unitOrthogonal(), f2 = c.e.cross(f1);
    const auto normal = [&](double angle) { return Vec3(std::cos(angle) * f1 + std::sin(angle) * f2); };
    const double from = 0.25 * kPi * uniform_int(random, 0, 7), to = from + uniform(random, 0.1, 3);
    const Vec3 n0 = normal(from), n1 = normal(to);
    const RimArcMaxima maxima = rim_arc_maxima(c.cylinder, c.x, c.e, n0, n1);
    double best = std::max(separation_of(c.cylinder, c.x, n0), separation_of(c.cylinder, c.x, n1));
    for (int i = 0; i < maxima.count; ++i) {
      const RimArcMaximum& m = maxima.at[i];
      EXPECT_GT(n0.cross(m.n).dot(c.e), -1e-15);
      EXPECT_GT(m.n.cross(n1).dot(c.e), -1e-15);
      EXPECT_GE(maxima.at[0].F, m.F);
      best = std::max(best, m.F);
    }
    EXPECT_NEAR(best, scan(c.cylinder, c.x, c.e, from, to), 1e-12);
  });
}

// Newton's last step is far below its bracket's width: the normal is right to rounding, not to half the digits.
TEST(RimArc, ConvergedNewtonStays) {
  for_random_cases(
      1000,
      [&](std::mt19937_64& random) {
        LineCase c{{random_vec3(random, 2), random_vec3(random).normalized(), uniform(random, 0.1, 1), 0.5},
                   Vec3::Zero(),
                   random_vec3(random).normalized()};
        if (sine_between(c.cylinder.a, c.e) > 0.99) return Outcome::skipped;  // the cusp is near
        const RimArcMaximum found = rim_circle_maximum(c.cylinder, c.x, c.e);
        if (found.on_side) return Outcome::checked;
        const double cosine = found.n.dot(c.cylinder.a);
        const int rim = cosine > 0 ? 0 : 1;
        const Vec3 on_rim = c.cylinder.cap_centre(rim) - c.cylinder.rho * radial_direction(found.n, c.cylinder.a);
        EXPECT_NEAR(c.e.cross(found.n).dot(on_rim - c.x), 0, 2e-15 * (1 + c.cylinder.o.norm()));
        return Outcome::checked;
      },
      0.2);
}

TEST(RimArc, LineOverTheMiddleOfACapFindsTheCap) {
  const SolidCylinder c{Vec3::Zero(), Vec3::UnitZ(), 0.5, 1};
  const RimArcMaximum found = rim_circle_maximum(c, Vec3(0, 0.3, 0.7), Vec3::UnitX());
  expect_vec(found.n, -Vec3::UnitZ());
  EXPECT_NEAR(found.F, 0.2, kTiny);
}

// ---- capsule and cylinder -------------------------------------------------------------------------------------------

TEST(CapsuleCylinder, EndIsClosestToCapSideAndRim) {
  const ColliderPair pair(Capsule{0.25, 1}, Cylinder{0.5, 1});
  const Contact cap = pair.distance(Pose::translation(0.1, 0, 2.5));
  expect_contact(cap, Vec3(0.1, 0, 1.125), Vec3::UnitZ(), 0.25);
  expect_codes(cap, FeatureCode::end(0), FeatureCode::cap(1));
  const Contact side = pair.distance({along_x(), Vec3(2, 0, 0.5)});
  expect_contact(side, Vec3(0.625, 0, 0.5), Vec3::UnitX(), 0.25);
  expect_codes(side, FeatureCode::end(0), FeatureCode::side());
  // 3-4-5 from the rim.
  const Contact rim = pair.distance({along_x(), Vec3(0.5 + 3 + 1, 0, 1 + 4)});
  EXPECT_NEAR(rim.gap, 5 - 0.25, kTiny);
  expect_vec(rim.n, Vec3(0.6, 0, 0.8));
  expect_codes(rim, FeatureCode::end(0), FeatureCode::rim(1));
}

TEST(CapsuleCylinder, PipeTouchesSideWhereTheyCross) {
  const ColliderPair pair(Capsule{0.25, 1}, Cylinder{0.5, 1});
  const Contact c = pair.distance({along_x(), Vec3(0.2, 0.7, 0.3)});
  expect_contact(c, Vec3(0, 0.475, 0.3), Vec3::UnitY(), -0.05);
  expect_codes(c, FeatureCode::pipe(), FeatureCode::side());
}

// The slope of the rim's ellipse: a line that leans over the rim touches it, not the cap.
TEST(CapsuleCylinder, PipeLeansOnRim) {
  const ColliderPair pair(Capsule{0.1, 2}, Cylinder{0.5, 1});
  const Mat3 R = turn_y(kPi / 4);
  const Vec3 n(-1 / std::sqrt(2), 0, 1 / std::sqrt(2));
  const Contact c = pair.distance({R, Vec3(-0.5, 0, 1) + 0.4 * n});
  EXPECT_NEAR(c.gap, 0.3, 1e-12);
  expect_vec(c.n, n, 1e-12);
  expect_vec(c.point_on_b(), Vec3(-0.5, 0, 1), 1e-12);
  expect_codes(c, FeatureCode::pipe(), FeatureCode::rim(1));
}

TEST(CapsuleCylinder, CapsuleLyingOnCan) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Cylinder{0.5, 1});
  const std::vector<Contact> inside = pair.contacts({along_x(), Vec3(0.1, 0, 1.0999)});
  ASSERT_EQ(inside.size(), 2u);
  for (int k = 0; k < 2; ++k) {
    expect_codes(inside[k], FeatureCode::end(k), FeatureCode::cap(1));
    expect_contact(inside[k], Vec3(k == 0 ? -0.2 : 0.4, 0, 0.99995), Vec3::UnitZ(), -1e-4, 1e-12);
  }
  const std::vector<Contact> over = pair.contacts({along_x(), Vec3(0.4, 0, 1.0999)});
  ASSERT_EQ(over.size(), 2u);
  expect_codes(over[0], FeatureCode::end(0), FeatureCode::cap(1));
  expect_codes(over[1], FeatureCode::pipe(), FeatureCode::cap_side(1, 1));
  expect_contact(over[1], Vec3(0.5, 0, 0.99995), Vec3::UnitZ(), -1e-4, 1e-12);
  // A chord: both ends out.
  const ColliderPair beam(Capsule{0.1, 2}, Cylinder{0.5, 1});
  const std::vector<Contact> across_can = beam.contacts({along_x(), Vec3(0, 0.3, 1.0999)});
  ASSERT_EQ(across_can.size(), 2u);
  EXPECT_NEAR(across_can[0].p.x(), -0.4, 1e-12);
  EXPECT_NEAR(across_can[1].p.x(), 0.4, 1e-12);
}

// The pipe stays on both ends of its chord, and the points move little, as it tilts through the horizontal.
TEST(CapsuleCylinder, LyingOverTheRimIsContinuousInTilt) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Cylinder{0.5, 1});
  std::optional<Vec3> before;
  for (double tilt = -5e-4; tilt <= 5e-4; tilt += 1e-5) {
    const std::vector<Contact> contacts = pair.contacts({turn_y(tilt) * along_x(), Vec3(0.4, 0, 1.0999)});
    ASSERT_EQ(contacts.size(), 2u) << "tilt " << tilt;
    EXPECT_LE((contacts[1].p - before.value_or(contacts[1].p)).norm(), 1e-5);
    before = contacts[1].p;
  }
}

TEST(CapsuleCylinder, StandsOnCanWithOneEnd) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Cylinder{0.5, 1});
  const std::vector<Contact> contacts = pair.contacts(Pose::translation(0.2, 0, 1.3999));
  ASSERT_EQ(contacts.size(), 1u);
  expect_codes(contacts[0], FeatureCode::end(0), FeatureCode::cap(1));
}

TEST(CapsuleCylinder, LiesAlongTheSide) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Cylinder{0.2, 1});
  const std::vector<Contact> inside = pair.contacts(Pose::translation(0.2999, 0, 0.2));
  ASSERT_EQ(inside.size(), 2u);
  expect_codes(inside[0], FeatureCode::end(0), FeatureCode::side());
  expect_contact(inside[0], Vec3(0.19995, 0, -0.1), Vec3::UnitX(), -1e-4, 1e-12);
  expect_contact(inside[1], Vec3(0.19995, 0, 0.5), Vec3::UnitX(), -1e-4, 1e-12);
  const std::vector<Contact> beyond = pair.contacts(Pose::translation(0.2999, 0, 0.9));
  ASSERT_EQ(beyond.size(), 2u);
  expect_codes(beyond[1], FeatureCode::pipe(), FeatureCode::rim(1));
  EXPECT_NEAR(beyond[1].p.z(), 1, 1e-12);
  // Parallel, the distance takes the middle of the overlap.
  EXPECT_NEAR(pair.distance(Pose::translation(0.5, 0, 0.9)).p.z(), 0.8, 1e-12);
}

TEST(CapsuleCylinder, AxisOnAxisHasItsNormalByConvention) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Cylinder{0.2, 1});
  const Contact c = pair.distance(Pose::translation(0, 0, 0.1));
  EXPECT_TRUE(by_convention(c));
  expect_contact(c, Vec3(0.05, 0, 0.1), Vec3::UnitX(), -0.3, 1e-12);
  EXPECT_EQ(pair.contacts(Pose::translation(0, 0, 0.1)).size(), 1u);
}

// ---- two cylinders --------------------------------------------------------------------------------------------------

TEST(CylinderCylinder, PartsAsTextbooksHaveThem) {
  const ColliderPair pair(Cylinder{0.5, 1}, Cylinder{0.5, 1});
  // Rims of parallel cylinders: 3-4-5.
  const Contact rims = pair.distance(Pose::translation(1 + 3, 0, 2 + 4));
  expect_contact(rims, Vec3(2, 0, 3), Vec3(0.6, 0, 0.8), 5, 1e-12);
  expect_codes(rims, FeatureCode::rim(0), FeatureCode::rim(1));
  // Crossing at right angles.
  const Contact sides = pair.distance({along_x(), Vec3(0.3, 0.9, 0.2)});
  expect_contact(sides, Vec3(0, 0.45, 0.2), Vec3::UnitY(), -0.1);
  expect_codes(sides, FeatureCode::side(), FeatureCode::side());
  // A rim over a cap.
  const Contact rim = pair.distance({turn_y(kPi / 4), Vec3(0, 0, 1 + 1.5 / std::sqrt(2) + 0.1)});
  EXPECT_NEAR(rim.gap, 0.1, 1e-12);
  expect_codes(rim, FeatureCode::rim(0), FeatureCode::cap(1));
}

// Two rims at right angles to each other: the closest points solve a quartic, whose residuals must vanish.
TEST(CylinderCylinder, RimsAreExactlyAsFarAsTheNormalSays) {
  const ColliderPair pair(Cylinder{0.4, 0.3}, Cylinder{0.5, 0.2});
  const Contact c = pair.distance({turn_x(0.4) * turn_y(1.1), Vec3(0.9, 0.35, 0.75)});
  EXPECT_EQ(c.code_a.part(), Part::rim);
  EXPECT_EQ(c.code_b.part(), Part::rim);
  EXPECT_NEAR((c.point_on_a() - c.point_on_b()).norm(), c.gap, kTiny);
  const ClosestFeatures& jets = std::get<ClosestFeatures>(c.feature);
  EXPECT_NEAR(jets.a.direction.dot(c.n), 0, kTiny);
  EXPECT_NEAR(jets.b.direction.dot(c.n), 0, kTiny);
}

TEST(CylinderCylinder, CoaxialCylinders) {
  const ColliderPair pair(Cylinder{0.5, 1}, Cylinder{0.3, 2});
  const Contact apart = pair.distance(Pose::translation(0, 0, 4));
  EXPECT_NEAR(apart.gap, 1, kTiny);
  expect_vec(apart.n, Vec3::UnitZ());
  expect_codes(apart, FeatureCode::cap(0), FeatureCode::cap(1));
  const Contact inside = pair.distance(Pose::translation(0, 0, 0.5));
  EXPECT_NEAR(inside.gap, -0.8, kTiny);
  EXPECT_TRUE(by_convention(inside));
  expect_vec(inside.n, Vec3::UnitX());
  // Spinning about the common axis, and turned upside down, nothing changes.
  for (const Mat3& R : {turn_z(1), turn_x(kPi), Mat3(turn_x(kPi) * turn_z(0.3))}) {
    const Contact turned = pair.distance({R, Vec3(0, 0, 0.5)});
    EXPECT_NEAR(turned.gap, -0.8, 1e-12);
    EXPECT_TRUE(by_convention(turned));
  }
}

TEST(CylinderCylinder, CoincidentCentresAtEveryTurnOf45Degrees) {
  const ColliderPair pair(Cylinder{0.5, 1}, Cylinder{0.5, 1});
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      const Pose X = Pose::rotation(turn_x(i * kPi / 4) * turn_y(j * kPi / 4));
      const Contact c = pair.distance(X);
      ASSERT_TRUE(is_finite(c));
      const SignedDistance truth = signed_distance(pair.a(), X, pair.b(), Pose(), 1e-7, &c.n);
      EXPECT_LE(truth.gap, c.gap + 1e-7);
      EXPECT_LE((c.point_on_a() - c.point_on_b() - c.gap * c.n).norm(), kTiny);
    }
  }
}

// Lattice poses where two rims separate a deep overlap best, so that a search from the caps and sides alone misses it.
TEST(CylinderCylinder, OverlapSeed) {
  constexpr ShapePair kPair{ShapeType::cylinder, ShapeType::cylinder};
  PairScratch scratch;
  for_random_cases(1500, [&](std::mt19937_64& random) {
    PairCase c = lattice_case(kPair, random);
    c.X_WA.p = c.X_WB.p + 0.25 * (c.X_WA.p - c.X_WB.p);
    const Contact found = distance(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch);
    ASSERT_TRUE(is_finite(found));
    const SignedDistance truth = signed_distance(c.a.geometry, c.X_WA, c.b.geometry, c.X_WB, 1e-6, &found.n);
    EXPECT_LE(truth.gap, found.gap + 1e-6) << describe(c);
  });
}

// A gap is of second order in the normal, so a normal that is off by 1e-7 still gives it. Its derivative does not.
TEST(CylinderCylinder, PolishNormal) {
  constexpr ShapePair kPair{ShapeType::cylinder, ShapeType::cylinder};
  PairScratch scratch;
  for_random_cases(
      300,
      [&](std::mt19937_64& random) {
        const PairCase c = random_case(kPair, random);
        const Contact here = distance(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch);
        const ContactDerivatives analytic = contact_derivatives(here);
        if (!analytic.regular || by_convention(here) || analytic.by_a.cwiseAbs().maxCoeff() > 30)
          return Outcome::skipped;
        bool same = true;
        const auto moved_by = [&](const VecX& delta) {
          const Mat3 R = rotation_exp(delta.head<3>());
          const Pose X{R * c.X_WA.R, here.p + R * (c.X_WA.p - here.p) + delta.tail<3>()};
          const Contact there = distance(c.a.collider, X, c.b.collider, c.X_WB, scratch);
          // Another maximum may take over, of other parts or the same; the gap goes on without a jump.
          same = same && there.id() == here.id() && there.n.dot(here.n) > 0.9;
          EXPECT_LE(std::abs(there.gap - here.gap), delta.norm() * (1 + 2 * c.extent()));
          VecX value(7);
          value << there.p, there.n, there.gap;
          return value;
        };
        const MatX numeric = central_difference(moved_by, 6, 3e-5);
        if (!same) return Outcome::skipped;
        EXPECT_LE((numeric - analytic.by_a).cwiseAbs().maxCoeff(), 1e-7 * (1 + analytic.by_a.cwiseAbs().maxCoeff()))
            << describe(c);
        return Outcome::checked;
      },
      0.2);
}

TEST(CylinderCylinder, StackedCans) {
  const ColliderPair pair(Cylinder{0.3, 0.5}, Cylinder{0.5, 0.5});
  const std::vector<Contact> contacts = pair.contacts(Pose::translation(0.1, 0, 0.9999));
  ASSERT_EQ(contacts.size(), 4u);
  for (int q = 0; q < 4; ++q) {
    expect_codes(contacts[q], FeatureCode::rim_point(0, q), FeatureCode::cap(1));
    const double angle = 0.5 * kPi * q;
    expect_contact(contacts[q], Vec3(0.1 + 0.3 * std::cos(angle), 0.3 * std::sin(angle), 0.4999), Vec3::UnitZ(), -1e-4,
                   1e-12);
    EXPECT_TRUE(std::holds_alternative<RimPoint>(contacts[q].feature));
  }
  // Spinning leaves the points where they are.
  const std::vector<Contact> spun = pair.contacts({turn_z(0.7), Vec3(0.1, 0, 0.9999)});
  ASSERT_EQ(spun.size(), 4u);
  for (int q = 0; q < 4; ++q) expect_vec(spun[q].p, contacts[q].p, 1e-12);
  // The large one on the small one: the small one still carries the points.
  const ColliderPair reversed(Cylinder{0.5, 0.5}, Cylinder{0.3, 0.5});
  const std::vector<Contact> under = reversed.contacts(Pose::translation(0.1, 0, 0.9999));
  ASSERT_EQ(under.size(), 4u);
  expect_codes(under[0], FeatureCode::cap(0), FeatureCode::rim_point(1, 0));
  expect_vec(under[0].n, Vec3::UnitZ(), 1e-12);
}

TEST(CylinderCylinder, EqualCansStandOnFourPoints) {
  const ColliderPair pair(Cylinder{0.4, 0.5}, Cylinder{0.4, 0.5});
  for (double shift : {0.0, 1e-9, 1e-6}) {
    EXPECT_EQ(pair.contacts(Pose::translation(shift, 0, 0.9999)).size(), 4u) << "shift " << shift;
    EXPECT_EQ(pair.contacts({turn_x(1e-7), Vec3(shift, 0, 0.9999)}).size(), 4u) << "shift " << shift;
  }
}

// An overhanging can is held wherever its middle is over the one below, and only there.
TEST(CylinderCylinder, OverhangingCanIsHeldByTheLens) {
  const ColliderPair pair(Cylinder{0.4, 0.5}, Cylinder{0.4, 0.5});
  for (double turn : {0.0, 0.3, kPi / 4}) {
    for (double shift : {0.02, 0.1, 0.2, 0.27, 0.39, 0.45}) {
      const double x = shift * std::cos(turn), y = shift * std::sin(turn);
      const std::vector<Contact> contacts = pair.contacts(Pose::translation(x, y, 0.9999));
      // Four points of a circle leave out up to 0.29 of its radius.
      const bool held = holds(contacts, x, y);
      EXPECT_TRUE(held || shift > 0.28) << "shift " << shift << ", turn " << turn;
      EXPECT_FALSE(held && shift > 0.4) << "shift " << shift << ", turn " << turn;
      for (const Contact& c : contacts) {
        EXPECT_LE(c.p.head<2>().norm(), 0.4 + 1e-4);
        EXPECT_LE((c.p - Vec3(x, y, c.p.z())).norm(), 0.4 + 1e-4);
        EXPECT_NEAR(c.gap, -1e-4, 1e-12);
      }
    }
  }
}

// Every kind of point that two caps have, against differences, while both are tilted a little.
TEST(CylinderCylinder, CapPointsMoveAsTheirDerivativesSay) {
  const ColliderPair pair(Cylinder{0.4, 0.5}, Cylinder{0.45, 0.5});
  const Pose X_WA{turn_x(4e-3) * turn_y(-3e-3) * turn_z(0.4), Vec3(0.22, 0.1, 0.998)};
  const std::vector<Contact> here = pair.contacts(X_WA);
  std::array<int, 5> kinds = {};
  for (const Contact& c : here) {
    ++kinds[c.feature.index()];
    const auto moved_by = [&](const VecX& delta) {
      const Mat3 R = rotation_exp(delta.head<3>());
      const std::vector<Contact> there = pair.contacts({R * X_WA.R, c.p + R * (X_WA.p - c.p) + delta.tail<3>()});
      const auto same = std::find_if(there.begin(), there.end(), [&](const Contact& t) { return t.id() == c.id(); });
      VecX value = VecX::Constant(7, std::nan(""));
      if (same != there.end()) value << same->p, same->n, same->gap;
      return value;
    };
    const MatX numeric = central_difference(moved_by, 6, 1e-5);
    const ContactDerivatives analytic = contact_derivatives(c);
    EXPECT_LE(relative_error(analytic.by_a, numeric), 1e-6) << "kind " << c.feature.index();
  }
  EXPECT_GE(kinds[0], 1);  // the deepest
  EXPECT_GE(kinds[2], 1);  // crossings of the rims
  EXPECT_GE(kinds[3], 1);  // the lower rim
  EXPECT_GE(kinds[4], 1);  // the upper rim
}

TEST(CylinderCylinder, LiesOnACap) {
  const ColliderPair pair(Cylinder{0.1, 0.3}, Cylinder{0.5, 1});
  const std::vector<Contact> inside = pair.contacts({along_x(), Vec3(0.1, 0, 1.0999)});
  ASSERT_EQ(inside.size(), 2u);
  expect_codes(inside[0], FeatureCode::rim(0), FeatureCode::cap(1));
  expect_contact(inside[0], Vec3(-0.2, 0, 0.99995), Vec3::UnitZ(), -1e-4, 1e-12);
  const std::vector<Contact> over = pair.contacts({along_x(), Vec3(0.4, 0, 1.0999)});
  ASSERT_EQ(over.size(), 2u);
  expect_codes(over[1], FeatureCode::side(), FeatureCode::cap_side(1, 1));
  expect_contact(over[1], Vec3(0.5, 0, 0.99995), Vec3::UnitZ(), -1e-4, 1e-12);
}

// r 0.1, half-length 0.5: at 1e-4 rad the crossing would move by 1e3 m per rad, so it is left to the ends.
TEST(CylinderCylinder, CrossedLogs) {
  const ColliderPair logs(Cylinder{0.1, 0.5}, Cylinder{0.1, 0.5});
  const ColliderPair pipes(Capsule{0.1, 0.5}, Cylinder{0.1, 0.5});
  for (const ColliderPair* pair : {&logs, &pipes}) {
    for (double angle : {0.0, 1e-9, 1e-4, 2e-3}) {
      EXPECT_EQ(pair->contacts({turn_x(angle), Vec3(0.1999, 0, 0.1)}).size(), 2u) << "angle " << angle;
    }
    // Here the ends are off by up to 0.014 (r_a + r_b) and more: the crossing carries.
    EXPECT_EQ(pair->contacts({turn_x(0.01), Vec3(0.1999, 0, 0.1)}).size(), 3u);
    EXPECT_EQ(pair->contacts({turn_x(0.5), Vec3(0.1999, 0, 0.1)}).size(), 1u);
  }
}

TEST(CylinderCylinder, FewerPointsAreTheFirstAndTheDeepest) {
  const ColliderPair pair(Cylinder{0.4, 0.5}, Cylinder{0.4, 0.5});
  const Pose X{turn_y(2e-3), Vec3(0.1, 0.05, 0.9995)};
  const std::vector<Contact> all = pair.contacts(X, 16);
  ASSERT_GT(all.size(), 5u);
  const auto less = [](const Contact& x, const Contact& y) { return x.gap < y.gap; };
  for (int most : {1, 2, 4, 5}) {
    const std::vector<Contact> few = pair.contacts(X, most);
    ASSERT_EQ(few.size(), static_cast<std::size_t>(most));
    EXPECT_EQ(std::min_element(few.begin(), few.end(), less)->gap, std::min_element(all.begin(), all.end(), less)->gap);
  }
}

// ---- sizes at the limit ---------------------------------------------------------------------------------------------

// Coins (no length), needles (no radius), rods and plates.
Cylinder extreme_cylinder(std::mt19937_64& random) {
  constexpr std::array<std::array<double, 2>, 6> kSizes = {
      {{0.5, 0}, {0, 0.5}, {1e-3, 1}, {1, 1e-3}, {1e-6, 1}, {0.3, 0.4}}};
  const auto& size = kSizes[static_cast<std::size_t>(uniform_int(random, 0, 5))];
  return {size[0], size[1]};
}

void expect_closest_points(const Geometry& a, const Geometry& b, std::mt19937_64& random) {
  const TestShape first = make_test_shape(a, 0), second = make_test_shape(b, 1);
  PairScratch scratch;
  Pose X_WA{chance(random, 0.3) ? Mat3(turn_x(0.25 * kPi * uniform_int(random, 0, 7))) : random_rotation(random),
            random_vec3(random, 0.5)};
  if (chance(random, 0.2)) X_WA.p.setZero();
  const Contact found = distance(first.collider, X_WA, second.collider, Pose(), scratch);
  ASSERT_TRUE(is_finite(found));
  EXPECT_NEAR(found.n.norm(), 1, 1e-12);
  EXPECT_NEAR(separation(a, X_WA, b, Pose(), found.n), found.gap, 1e-12);
  EXPECT_LE(surface_error(a, X_WA, found.point_on_a()), 1e-9);
  EXPECT_LE(surface_error(b, Pose(), found.point_on_b()), 1e-9);
  const SignedDistance truth = signed_distance(a, X_WA, b, Pose(), 1e-6, &found.n);
  EXPECT_LE(truth.gap, found.gap + 1e-6);
  std::vector<Contact> contacts;
  collide(first.collider, X_WA, second.collider, Pose(), scratch, contacts);
  for (const Contact& c : contacts) EXPECT_TRUE(is_finite(c));
}

TEST(CapsuleCylinder, ExtremeSizesMatchTheOracle) {
  for_random_cases(2000, [&](std::mt19937_64& random) {
    const Cylinder like = extreme_cylinder(random);
    expect_closest_points(Capsule{like.radius, like.half_length}, extreme_cylinder(random), random);
  });
}

TEST(CylinderCylinder, ExtremeSizesMatchTheOracle) {
  for_random_cases(2000, [&](std::mt19937_64& random) {
    expect_closest_points(extreme_cylinder(random), extreme_cylinder(random), random);
  });
}

TEST(CylinderCylinder, FarAway) {
  const ColliderPair pair(Cylinder{0.3, 0.4}, Cylinder{0.5, 0.2});
  const Pose X_WA{turn_x(0.5), Vec3(0.2, 0.4, 0.6)};
  const Contact here = pair.distance(X_WA);
  const Pose far{turn_y(1), Vec3(1e4, -1e4, 1e4)};
  const Contact there = pair.distance(far * X_WA, far);
  EXPECT_EQ(there.id(), here.id());
  EXPECT_NEAR(there.gap, here.gap, 1e-11);
  EXPECT_NEAR(there.n.norm(), 1, kTiny);
  expect_vec(there.n, far.R * here.n, 1e-10);
}

}  // namespace
}  // namespace lithe::test

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "lithe/collision/collide.h"
#include "tests/collision/expect_contact.h"
#include "tests/support/oracle.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// distance() for every pair of shapes against what defines it: gap = max over unit n of sep(n), attained at n, by
// points of the two surfaces that are gap·n apart.
namespace lithe::test {
namespace {

constexpr int kDistancePoses = 4000;
constexpr int kLatticePoses = 300;

constexpr double kExact = 1e-9;  // what sums of a few rounding errors may reach, relative to the extent of the pair
constexpr double kOnSurface =
    5e-9;                          // edges beat faces only by 1e-9 of the size: within that, points are off by about it
constexpr double kOptimal = 1e-6;  // how far a gap may fall short of the best direction's, relative to the same
constexpr double kPolished = 1e-8;  // how exact normals are where the surfaces bend

class PairDistance : public testing::TestWithParam<ShapePair> {
 protected:
  Contact distance_of(const PairCase& c) { return distance(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch_); }

 private:
  PairScratch scratch_;
};

// A jet is what contact.h says: unit directions ⟂ n, and curvatures that bend outward.
void expect_valid_jet(const SupportJet& jet, const Vec3& n) {
  EXPECT_TRUE(std::isfinite(jet.round) && jet.round >= 0);
  EXPECT_TRUE(std::isfinite(jet.bend) && jet.bend >= 0);
  if (jet.freedom == SupportJet::Freedom::line || jet.bend != 0) {
    EXPECT_NEAR(jet.direction.norm(), 1, 1e-9);
    EXPECT_NEAR(jet.direction.dot(n), 0, 1e-7);
  }
}

void expect_valid_features(const Contact& found) {
  ASSERT_TRUE(std::holds_alternative<ClosestFeatures>(found.feature));
  const ClosestFeatures& jets = std::get<ClosestFeatures>(found.feature);
  expect_valid_jet(jets.a, found.n);
  expect_valid_jet(jets.b, found.n);
  EXPECT_FALSE(jets.a.freedom == SupportJet::Freedom::face && jets.b.freedom == SupportJet::Freedom::face);
}

// That n separates by just `gap`, and that the witness points are where n is the surfaces' normal.
void expect_attained(const PairCase& c, const Contact& found) {
  ASSERT_TRUE(is_finite(found));
  EXPECT_NEAR(found.n.norm(), 1, 1e-12);
  EXPECT_NEAR(separation(c.a.geometry, c.X_WA, c.b.geometry, c.X_WB, found.n), found.gap, kExact * c.extent());
  EXPECT_LE(surface_error(c.a.geometry, c.X_WA, found.point_on_a()), kOnSurface * c.extent());
  EXPECT_LE(surface_error(c.b.geometry, c.X_WB, found.point_on_b()), kOnSurface * c.extent());
  EXPECT_LE(support_error(c.a.geometry, c.X_WA, -found.n, found.point_on_a()), kPolished * c.extent());
  EXPECT_LE(support_error(c.b.geometry, c.X_WB, found.n, found.point_on_b()), kPolished * c.extent());
}

// That no direction separates more. Skipped where the oracle could neither prove it nor find one.
Outcome expect_optimal(const PairCase& c, const Contact& found) {
  const double tolerance = kOptimal * c.extent();
  const SignedDistance truth = signed_distance(c.a.geometry, c.X_WA, c.b.geometry, c.X_WB, 0.5 * tolerance, &found.n);
  EXPECT_LE(truth.gap, found.gap + tolerance) << "better: n = " << truth.n.transpose();
  return truth.bound <= found.gap + tolerance || testing::Test::HasFailure() ? Outcome::checked : Outcome::skipped;
}

// All that makes a signed distance, at one pose.
Outcome check_distance(const PairCase& c, const Contact& found) {
  expect_attained(c, found);
  expect_valid_features(found);
  const Outcome outcome = expect_optimal(c, found);
  if (testing::Test::HasFailure()) ADD_FAILURE() << describe(c);
  return outcome;
}

TEST_P(PairDistance, IsTheLargestSeparation) {
  const auto check = [&](std::mt19937_64& random) {
    const PairCase c = random_case(GetParam(), random);
    return check_distance(c, distance_of(c));
  };
  for_random_cases(kDistancePoses, check, 0.001);
}

// Two flat parts face each other, touching, almost parallel or parallel.
TEST_P(PairDistance, IsTheLargestSeparationAtRest) {
  const auto check = [&](std::mt19937_64& random) {
    const PairCase c = resting_case(GetParam(), random);
    return check_distance(c, distance_of(c));
  };
  for_random_cases(kDistancePoses / 10, check, 0.001);
}

// Every tie at once: parallel edges, coplanar faces, coincident centres.
TEST_P(PairDistance, IsTheLargestSeparationOnALattice) {
  for_random_cases(kLatticePoses, [&](std::mt19937_64& random) {
    const PairCase c = lattice_case(GetParam(), random);
    return check_distance(c, distance_of(c));
  });
}

TEST_P(PairDistance, ExchangingTheShapesTurnsTheNormalAround) {
  for_random_cases(kDistancePoses, [&](std::mt19937_64& random) {
    const PairCase c = chance(random, 0.2) ? lattice_case(GetParam(), random) : random_case(GetParam(), random);
    const Contact found = distance_of(c), mirrored = distance_of(swapped(c));
    EXPECT_EQ(mirrored.gap, found.gap);
    EXPECT_EQ(mirrored.n, Vec3(-found.n));
    EXPECT_EQ(mirrored.p, found.p);
    EXPECT_EQ(mirrored.a, found.b);
    EXPECT_EQ(mirrored.b, found.a);
    EXPECT_EQ(mirrored.code_a, found.code_b);
    EXPECT_EQ(mirrored.code_b, found.code_a);
    EXPECT_EQ(mirrored.flags, found.flags);
    if (HasFailure()) ADD_FAILURE() << describe(c);
  });
}

TEST_P(PairDistance, MovesWithTheShapes) {
  for_random_cases(
      kDistancePoses,
      [&](std::mt19937_64& random) {
        const PairCase c = random_case(GetParam(), random);
        const Pose X{random_rotation(random), random_vec3(random, 3)};
        const Contact here = distance_of(c), there = distance_of(moved(c, X));
        const double tolerance = kExact * (1 + c.extent());
        EXPECT_NEAR(there.gap, here.gap, tolerance);
        if (there.id() != here.id()) return Outcome::skipped;  // two features are as close, up to rounding
        EXPECT_LE((there.n - X.R * here.n).norm(), 1e-7);
        EXPECT_LE((there.p - X * here.p).norm(), 1e-7 * (1 + c.extent()));
        if (HasFailure()) ADD_FAILURE() << describe(c);
        return Outcome::checked;
      },
      0.01);
}

INSTANTIATE_TEST_SUITE_P(AllPairs, PairDistance, testing::ValuesIn(all_pairs()), name_of_pair);

}  // namespace
}  // namespace lithe::test

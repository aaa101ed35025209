#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <variant>
#include <vector>

#include "lithe/collision/collide.h"
#include "tests/collision/expect_contact.h"
#include "tests/support/constants.h"
#include "tests/support/oracle.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// Cylinders (a) and boxes or meshes (b), which rest in the world's frame unless they are said to move.
namespace lithe::test {
namespace {

using Part = FeatureCode::Part;

Mat3 turn(double angle, const Vec3& axis) { return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix(); }
const Mat3 kAlongX = turn(kPi / 2, Vec3::UnitY());

struct Scene {
  TestShape cylinder, other;
  PairScratch scratch = {};

  Scene(const Cylinder& c, const Geometry& geometry)
      : cylinder(make_test_shape(c, 0)), other(make_test_shape(geometry, 1)) {}

  Contact closest(const Pose& X) { return distance(cylinder.collider, X, other.collider, Pose{}, scratch); }
  std::vector<Contact> contacts(const Pose& X, int max_points = kMaxPoints) {
    std::vector<Contact> out;
    collide(cylinder.collider, X, other.collider, Pose{}, scratch, out, max_points);
    return out;
  }
  double margin() const { return bands_of(cylinder.collider, other.collider).margin; }

  // What every answer to closest() must be, and how far the gap is from the oracle's.
  double error_of(const Contact& found, const Pose& X, double tolerance = 1e-9) const {
    EXPECT_LE(surface_error(cylinder.geometry, X, found.point_on_a()), 1e-10);
    EXPECT_LE(surface_error(other.geometry, Pose{}, found.point_on_b()), 1e-10);
    return std::abs(signed_distance(cylinder.geometry, X, other.geometry, Pose{}, tolerance, &found.n).gap - found.gap);
  }
};

void expect_touch(const Contact& found, FeatureCode a, FeatureCode b, double gap, const Vec3& n) {
  EXPECT_EQ(found.code_a, a);
  EXPECT_EQ(found.code_b, b);
  EXPECT_NEAR(found.gap, gap, 1e-14);
  EXPECT_LE((found.n - n).norm(), 1e-14);
}

// ---- Closest features, one of each pair. The box is 2 × 2 × 2.

TEST(CylinderBox, EveryPairOfFeaturesHasItsDistance) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  const Vec3 z = Vec3::UnitZ();
  // Rim over face: leaning by 30°.
  const Mat3 leaning = turn(kPi / 6, Vec3::UnitY());
  const double reach = 0.4 * std::cos(kPi / 6) + 0.3 * std::sin(kPi / 6);
  expect_touch(s.closest({leaning, Vec3(0, 0, 1.5 + reach)}), FeatureCode::rim(0), FeatureCode::face(4), 0.5, z);
  // Cap on face, side on face.
  expect_touch(s.closest({Mat3::Identity(), Vec3(0, 0, 2)}), FeatureCode::cap(0), FeatureCode::face(4), 0.6, z);
  expect_touch(s.closest({kAlongX, Vec3(0, 0, 2)}), FeatureCode::side(), FeatureCode::face(4), 0.7, z);
  // Side and vertex: from (1, 1, 1), the axis passes in direction (1, 1, 1), along (1, −1, 0).
  const Vec3 diagonal = Vec3::Ones().normalized(), across_it = Vec3(1, -1, 0).normalized();
  Mat3 R;
  R << diagonal, across_it.cross(diagonal), across_it;
  expect_touch(s.closest({R, Vec3::Ones() + 0.8 * diagonal}), FeatureCode::side(), FeatureCode::vertex(7), 0.5,
               diagonal);
  // Cap on vertex.
  Mat3 upright;
  upright << across_it, diagonal.cross(across_it), diagonal;
  expect_touch(s.closest({upright, Vec3::Ones() + 0.9 * diagonal}), FeatureCode::cap(0), FeatureCode::vertex(7), 0.5,
               diagonal);
  // Side across the edge along y at (1, ·, 1).
  const Vec3 out = Vec3(1, 0, 1).normalized();
  const Mat3 across_edge = turn(kPi / 4, Vec3::UnitY()) * kAlongX;
  const Contact side_edge = s.closest({across_edge, Vec3(1, 0.2, 1) + 0.5 * out});
  EXPECT_EQ(side_edge.code_a, FeatureCode::side());
  EXPECT_EQ(side_edge.code_b.part(), Part::edge);
  EXPECT_NEAR(side_edge.gap, 0.2, 1e-14);
  EXPECT_LE((side_edge.p - Vec3(1, 0.2, 1) - 0.1 * out).norm(), 1e-14);
  // Rim and vertex: beside and above the vertex by 0.3 and 0.4.
  const Contact rim_vertex = s.closest({Mat3::Identity(), Vec3(1, 1, 1) + 0.6 * Vec3(1, 1, 0).normalized() + 0.8 * z});
  EXPECT_EQ(rim_vertex.code_a, FeatureCode::rim(0));
  EXPECT_EQ(rim_vertex.code_b, FeatureCode::vertex(7));
  EXPECT_NEAR(rim_vertex.gap, 0.5, 1e-14);
  // Rim and edge: beside the edge by 0.3, above by 0.4.
  const Contact rim_edge = s.closest({Mat3::Identity(), Vec3(1.6, 0.2, 1.8)});
  EXPECT_EQ(rim_edge.code_a, FeatureCode::rim(0));
  EXPECT_EQ(rim_edge.code_b.part(), Part::edge);
  EXPECT_NEAR(rim_edge.gap, 0.5, 1e-14);
  EXPECT_LE((rim_edge.n - Vec3(0.6, 0, 0.8)).norm(), 1e-14);
}

TEST(CylinderBox, SideAlongAnEdgeMeetsInTheMiddleOfTheOverlap) {
  Scene s({0.3, 0.5}, Box{Vec3::Ones()});
  // Along y, from 0.5 to 1.5: it shares 0.5 … 1 with the edge.
  const Contact found = s.closest({turn(kPi / 2, Vec3::UnitX()), Vec3(1.6, 1, 1.8)});
  EXPECT_NEAR(found.gap, 0.7, 1e-14);
  EXPECT_NEAR(found.p.y(), 0.75, 1e-14);
  EXPECT_EQ(found.code_a, FeatureCode::side());
}

TEST(CylinderBox, PartlyOverAFaceWitnessesAreOnBoth) {
  Scene s({0.5, 0.5}, Box{Vec3::Ones()});
  // The cap's centre is beside the face.
  const Pose X{Mat3::Identity(), Vec3(1.25, 1.2, 1.75)};
  const Contact found = s.closest(X);
  EXPECT_NEAR(found.gap, 0.25, 1e-14);
  EXPECT_LE((found.point_on_b() - Vec3::Ones()).norm(), 1e-14);
  EXPECT_LE(s.error_of(found, X), 1e-8);
}

// The normal is a function of the pose as smooth as the features, not just as good as the gap needs.
TEST(CylinderBox, NormalIsExactNotOnlyTheGap) {
  for_random_cases(500, [](std::mt19937_64& random) {
    const PairCase c = random_case({ShapeType::cylinder, ShapeType::box}, random);
    PairScratch scratch;
    const Contact found = distance(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch);
    // Where n is off by ε, so are the support points, by ε times the radius of curvature.
    EXPECT_LE(support_error(c.a.geometry, c.X_WA, -found.n, found.point_on_a()), 1e-9 * c.extent());
    EXPECT_LE(support_error(c.b.geometry, c.X_WB, found.n, found.point_on_b()), 1e-9 * c.extent());
  });
}

// 45° poses: maxima lie exactly on ends and middles of arcs, and tie.
TEST(CylinderBox, StationaryAtSample) {
  Scene s({0.5, 0.5}, Box{Vec3(1, 0.5, 0.75)});
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      for (const Vec3& p : {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(1, 0.5, 0), Vec3(1, 0.5, 0.75), Vec3(0, 1, 1)}) {
        const Pose X{turn(i * kPi / 4, Vec3::UnitX()) * turn(j * kPi / 4, Vec3::UnitY()), p};
        const Contact found = s.closest(X);
        EXPECT_LE(s.error_of(found, X, 1e-7), 1e-6) << i << ' ' << j << ' ' << p.transpose();
      }
    }
  }
}

TEST(CylinderBox, DeepInsideLeavesTheShortestWay) {
  Scene s({0.1, 0.3}, Box{Vec3(1, 2, 3)});
  expect_touch(s.closest({Mat3::Identity(), Vec3(0.2, 0, 0)}), FeatureCode::side(), FeatureCode::face(0), -0.9,
               Vec3::UnitX());
  // Centre upon centre: the lowest face of the best.
  expect_touch(s.closest({Mat3::Identity(), Vec3::Zero()}), FeatureCode::side(), FeatureCode::face(0), -1.1,
               Vec3::UnitX());
  // A needle through the box leaves it sideways.
  Scene needle({0.01, 10}, Box{Vec3(1, 2, 3)});
  EXPECT_NEAR(needle.closest({Mat3::Identity(), Vec3(0.2, 0.1, 0)}).gap, -0.81, 1e-14);
}

TEST(CylinderBox, CoinWithoutThickness) {
  Scene s({0.3, 0}, Box{Vec3::Ones()});
  EXPECT_NEAR(s.closest({Mat3::Identity(), Vec3(0, 0, 1.5)}).gap, 0.5, 1e-15);
  EXPECT_NEAR(s.closest({kAlongX, Vec3(0, 0, 1.5)}).gap, 0.2, 1e-15);
  EXPECT_NEAR(s.closest({Mat3::Identity(), Vec3(1.6, 0, 0)}).gap, 0.3, 1e-15);
  EXPECT_NEAR(s.closest({Mat3::Identity(), Vec3(0, 0, 0.9)}).gap, -0.1, 1e-15);
  EXPECT_EQ(s.contacts({Mat3::Identity(), Vec3(0, 0, 1)}).size(), 4u);
  for_random_cases(200, [&](std::mt19937_64& random) {
    const Pose X{random_rotation(random), random_vec3(random)};
    EXPECT_LE(s.error_of(s.closest(X), X, 1e-7), 1e-6);
  });
}

TEST(CylinderBox, HugeAspectRatiosStayFinite) {
  for (const Cylinder& c : {Cylinder{1e-3, 100}, Cylinder{100, 1e-3}, Cylinder{1e-6, 1}, Cylinder{1, 1e-6}}) {
    for (const Vec3& half : {Vec3(1, 1, 1), Vec3(100, 1e-3, 1), Vec3(50, 50, 1e-4), Vec3(1, 1, 0)}) {
      Scene s(c, Box{half});
      for_random_cases(50, [&](std::mt19937_64& random) {
        const Pose X{random_rotation(random), random_vec3(random)};
        const Contact found = s.closest(X);
        ASSERT_TRUE(found.p.allFinite() && found.n.allFinite() && std::isfinite(found.gap));
        EXPECT_NEAR(found.n.norm(), 1, 1e-14);
        EXPECT_NEAR(separation(s.cylinder.geometry, X, s.other.geometry, Pose{}, found.n), found.gap, 1e-11);
        for (const Contact& contact : s.contacts(X)) ASSERT_TRUE(contact.p.allFinite() && contact.n.allFinite());
      });
    }
  }
}

TEST(CylinderBox, FarFromTheOriginNothingChanges) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  for_random_cases(200, [&](std::mt19937_64& random) {
    const Pose X{random_rotation(random), random_vec3(random)}, far = Pose::translation(1e4, -1e4, 1e4);
    const Contact here = s.closest(X);
    const Contact there = distance(s.cylinder.collider, far * X, s.other.collider, far, s.scratch);
    EXPECT_NEAR(there.gap, here.gap, 1e-11);
    EXPECT_NEAR(there.n.norm(), 1, 1e-14);
  });
}

TEST(CylinderMesh, ABoxOfPointsIsABox) {
  ConvexMesh points;
  for (int i = 0; i < 8; ++i) points.points.push_back({i & 1 ? 1. : -1., i & 2 ? .5 : -.5, i & 4 ? .7 : -.7});
  Scene mesh({0.3, 0.4}, points), box({0.3, 0.4}, Box{Vec3(1, .5, .7)});
  for_random_cases(500, [&](std::mt19937_64& random) {
    const Pose X{random_rotation(random), random_vec3(random)};
    EXPECT_NEAR(mesh.closest(X).gap, box.closest(X).gap, 1e-13);
    EXPECT_EQ(mesh.contacts(X).size(), box.contacts(X).size());
  });
}

// ---- Standing. The box is 2 × 2 × 2, its top face at z = 1.

Pose standing(double x, double y, double height, double tilt = 0, double heading = 0, double spin = 0) {
  const Mat3 R = turn(heading, Vec3::UnitZ()) * turn(tilt, Vec3::UnitY()) * turn(spin - heading, Vec3::UnitZ());
  return {R, Vec3(x, y, 1 + height + 0.4 * std::cos(tilt) + 0.3 * std::sin(tilt))};
}

TEST(CylinderBox, StandingTouchesWithFourPointsAlongTheFacesSides) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  const auto found = s.contacts(standing(0.2, -0.1, -1e-5, 0, 0, 0.6));
  ASSERT_EQ(found.size(), 4u);
  for (const Contact& c : found) {
    EXPECT_TRUE(std::holds_alternative<RimPoint>(c.feature));
    EXPECT_EQ(c.code_b, FeatureCode::face(4));
    EXPECT_NEAR(c.gap, -1e-5, 1e-15);
    const Vec3 from_axis = c.p - Vec3(0.2, -0.1, c.p.z());
    EXPECT_NEAR(from_axis.norm(), 0.3, 1e-14);
    EXPECT_NEAR(from_axis.cwiseAbs().maxCoeff(), 0.3, 1e-14);
  }
}

TEST(CylinderBox, SpinningStandingCylinderKeepsItsPoints) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  for (double x : {0.2, 0.8}) {
    const auto before = s.contacts(standing(x, 0, -1e-5)), after = s.contacts(standing(x, 0, -1e-5, 0, 0, 1));
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t k = 0; k < before.size(); ++k) {
      EXPECT_EQ(before[k].id(), after[k].id());
      EXPECT_LE((before[k].p - after[k].p).norm(), 1e-14);
    }
  }
}

// Half of the cap is beyond the edge x = 1.
TEST(CylinderBox, StandingPartlyBeyondAnEdgeEndsAtTheEdge) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  const auto found = s.contacts(standing(0.9, 0, -1e-5));
  EXPECT_EQ(count_of(found, Part::rim_point), 3);
  EXPECT_EQ(count_of(found, Part::rim_crossing), 2);
  EXPECT_EQ(found.size(), 5u);
  for (const Contact& c : found) {
    EXPECT_LE(c.p.x(), 1 + 1e-14);
    if (c.code_a.part() == Part::rim_crossing) {
      EXPECT_NEAR(c.p.x(), 1, 1e-14);
      EXPECT_NEAR(std::abs(c.p.y()), std::sqrt(0.09 - 0.01), 1e-14);
      EXPECT_EQ(c.code_b.part(), Part::face_side);
      const EdgeCrossing& crossing = std::get<EdgeCrossing>(c.feature);
      EXPECT_LE((crossing.m - Vec3::UnitX()).norm(), 1e-15);
      EXPECT_NEAR(crossing.e.dot(c.p - Vec3(0.9, 0, c.p.z())), 0, 1e-14);
    }
  }
}

TEST(CylinderBox, StandingOverACornerHasTheCorner) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  const auto found = s.contacts(standing(0.9, 0.9, -1e-5));
  EXPECT_EQ(count_of(found, Part::rim_point), 2);
  EXPECT_EQ(count_of(found, Part::rim_crossing), 2);
  EXPECT_EQ(count_of(found, Part::cap), 1);
  const auto corner =
      std::find_if(found.begin(), found.end(), [](const Contact& c) { return c.code_a.part() == Part::cap; });
  ASSERT_NE(corner, found.end());
  EXPECT_EQ(corner->code_b, FeatureCode::vertex(7));
  EXPECT_TRUE(std::holds_alternative<CornerUnderFace>(corner->feature));
  EXPECT_EQ(corner->p, Vec3(1, 1, 1));
  EXPECT_NEAR(corner->gap, -1e-5, 1e-15);
}

TEST(CylinderBox, FaceUnderALargerCapHasItsCorners) {
  Scene s({3, 0.4}, Box{Vec3::Ones()});
  const auto found = s.contacts({Mat3::Identity(), Vec3(0.1, 0, 1.4 - 1e-5)});
  EXPECT_EQ(found.size(), 4u);
  EXPECT_EQ(count_of(found, Part::cap), 4);
}

// Beyond the side by less than δ = 0.05 mm, the rim's own point stays; then two crossings take its place.
TEST(CylinderBox, RimBeyondAnEdgeTurnsIntoTwoCrossings) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  const auto inside = s.contacts(standing(0.70004, 0, -1e-5)), beyond = s.contacts(standing(0.7002, 0, -1e-5));
  EXPECT_EQ(inside.size(), 4u);
  EXPECT_EQ(count_of(beyond, Part::rim_crossing), 2);
  EXPECT_EQ(count_of(beyond, Part::rim_point), 3);
}

TEST(CylinderBox, NearlyFlatCoinHasNoSensitivePoint) {
  Scene s({0.012, 0.001}, Box{Vec3::Ones()});
  for (double tilt : {0., 1e-12, 1e-9, 1e-6, 1e-4}) {
    const Pose X{turn(tilt, Vec3(1, 0.3, 0)), Vec3(0.3, 0.2, 1.001 - 1e-6)};
    const auto found = s.contacts(X);
    EXPECT_EQ(found.size(), 4u) << tilt;
    for (const Contact& c : found) EXPECT_EQ(c.flags, ContactFlag::none);
  }
}

// A resting cylinder trembles by less than the bands: the same points every time.
TEST(CylinderBox, RestingKeepsItsPointsUnderNoise) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  const Mat3 lying = turn(0.3, Vec3::UnitZ()) * kAlongX;
  const Pose poses[] = {standing(0.2, 0.1, 0),
                        standing(0.9, 0.1, 0),
                        standing(0.85, 0.85, 0),
                        {lying, Vec3(0, 0, 1.3)},
                        {lying, Vec3(0.9, 0, 1.3)}};
  for (const Pose& rest : poses) {
    const auto ids_of = [](const std::vector<Contact>& contacts) {
      std::vector<FeatureId> ids;
      for (const Contact& c : contacts) ids.push_back(c.id());
      return ids;
    };
    const auto expected = ids_of(s.contacts(rest));
    EXPECT_GE(expected.size(), 2u);
    for_random_cases(200, [&](std::mt19937_64& random) {
      for (double noise : {1e-12, 1e-9, 1e-7, 1e-6}) {
        const Vec3 w = random_vec3(random, noise);
        const Pose X{turn(w.norm(), w) * rest.R, rest.p + random_vec3(random, noise)};
        EXPECT_EQ(ids_of(s.contacts(X)), expected) << noise;
      }
    });
  }
}

// ---- Lying

TEST(CylinderBox, LyingOnAFaceTouchesWithBothRims) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  const auto found = s.contacts({kAlongX, Vec3(0.1, 0.2, 1.3 - 1e-5)});
  ASSERT_EQ(found.size(), 2u);
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(found[k].code_a, FeatureCode::rim(k));
    EXPECT_NEAR(found[k].gap, -1e-5, 1e-15);
    EXPECT_LE((found[k].p - Vec3(0.1 + (k == 0 ? -0.4 : 0.4), 0.2, 1 - 5e-6)).norm(), 1e-14);
  }
}

TEST(CylinderBox, LyingAcrossAnEdgeEndsAtTheEdge) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  for (double tilt : {0., 1e-9, -1e-9, 1e-5, -1e-5}) {
    const auto found = s.contacts({turn(tilt, Vec3::UnitY()) * kAlongX, Vec3(0.9, 0.2, 1.3 - 1e-5)});
    ASSERT_EQ(found.size(), 2u) << tilt;
    EXPECT_EQ(found[0].code_a, FeatureCode::rim(0));
    EXPECT_EQ(found[1].code_a, FeatureCode::side());
    EXPECT_EQ(found[1].code_b.part(), Part::edge);
    EXPECT_LE((found[0].p - Vec3(0.5, 0.2, 1)).norm(), 2e-5);
    EXPECT_LE((found[1].p - Vec3(1, 0.2, 1)).norm(), 2e-5);
  }
  // Across the whole box: two edges.
  Scene log({0.3, 4}, Box{Vec3::Ones()});
  const auto found = log.contacts({turn(0.2, Vec3::UnitZ()) * kAlongX, Vec3(0, 0, 1.3)});
  ASSERT_EQ(found.size(), 2u);
  for (const Contact& c : found) {
    EXPECT_EQ(c.code_a, FeatureCode::side());
    EXPECT_NEAR(std::abs(c.p.x()), 1, 1e-12);
  }
}

// ---- The polytope on a cap. The cylinder is upside down under it, as it were: n = −z.

TEST(CylinderBox, VertexOnACapIsAVertexOverTheCap) {
  Scene s({1, 0.4}, Box{Vec3::Constant(0.2)});
  const Mat3 R = Eigen::Quaterniond::FromTwoVectors(Vec3::Ones(), Vec3::UnitZ()).toRotationMatrix().transpose();
  const double reach = std::sqrt(3.) * 0.2;
  const auto found = s.contacts({R, R * Vec3(0.1, 0, reach + 0.4 - 1e-6)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code_a, FeatureCode::cap(0));
  EXPECT_EQ(found[0].code_b, FeatureCode::vertex(7));
  EXPECT_TRUE(std::holds_alternative<VertexOverFace>(found[0].feature));
  EXPECT_NEAR(found[0].gap, -1e-6, 1e-14);
}

TEST(CylinderBox, EdgeAcrossACapEndsAtTheRim) {
  // The edge along y at (1, ·, 1), under the cap, seen along (1, 0, 1).
  const Vec3 out = Vec3(1, 0, 1).normalized();
  const Mat3 R = turn(kPi / 4, Vec3::UnitY());
  Scene small({0.3, 0.4}, Box{Vec3::Ones()}), large({3, 0.4}, Box{Vec3::Ones()});
  for (double slope : {0., 1e-9, -1e-9, 1e-6}) {
    const Pose X{turn(slope, Vec3(1, 0, -1)) * R, Vec3(1, 0.2, 1) + (0.4 - 1e-5) * out};
    const auto ends = small.contacts(X);
    ASSERT_EQ(ends.size(), 2u) << slope;
    for (const Contact& c : ends) {
      EXPECT_EQ(c.code_a.part(), Part::cap_side);
      EXPECT_TRUE(std::holds_alternative<EdgeCrossing>(c.feature));
      EXPECT_NEAR(std::abs(c.p.y() - 0.2), 0.3, 1e-5);
    }
    const auto vertices = large.contacts(X);
    ASSERT_EQ(vertices.size(), 2u) << slope;
    for (const Contact& c : vertices) EXPECT_EQ(c.code_a, FeatureCode::cap(0));
  }
}

// ---- Sharp features

// Against a vertex the rim's normal turns by a radian within the gap; a contact takes a steadier one.
TEST(CylinderBox, ContactsAvoidNormalsThatTurnWithinTheMargin) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  const double g = 0.2 * s.margin();
  const Pose X{Mat3::Identity(), Vec3(1, 1, 1) + (0.3 + g) * Vec3(1, 1, 0).normalized() + Vec3(0, 0, 0.4 + g)};
  EXPECT_EQ(s.closest(X).code_b, FeatureCode::vertex(7));
  EXPECT_NEAR(s.closest(X).gap, g * std::numbers::sqrt2, 1e-14);
  const auto found = s.contacts(X);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].code_a.part() == Part::rim && found[0].code_b.part() == Part::vertex);
  EXPECT_LE(found[0].gap, g * std::numbers::sqrt2);
  EXPECT_GE(found[0].gap, 0);
}

TEST(CylinderBox, FewerPointsKeepTheDeepest) {
  Scene s({0.3, 0.4}, Box{Vec3::Ones()});
  const Pose X = standing(0.9, 0.9, -2e-4, 1.2e-3, 2.6);
  const auto all = s.contacts(X), two = s.contacts(X, 2);
  ASSERT_GT(all.size(), 4u);
  ASSERT_EQ(two.size(), 2u);
  double deepest = 0;
  for (const Contact& c : all) deepest = std::min(deepest, c.gap);
  EXPECT_EQ(std::min(two[0].gap, two[1].gap), deepest);
}

}  // namespace
}  // namespace lithe::test

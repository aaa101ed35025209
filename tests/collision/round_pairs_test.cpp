#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <variant>
#include <vector>

#include "lithe/collision/collide.h"
#include "lithe/collision/contact_derivatives.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/box_features.h"
#include "lithe/spatial/rotation.h"
#include "tests/collision/collider_pair.h"
#include "tests/collision/expect_contact.h"
#include "tests/support/constants.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// Spheres and capsules with each other, with planes and boxes, and spheres with cylinders: values by hand, manifolds,
// degenerate poses, and what must not jump.
namespace lithe::test {

using namespace internal;
namespace {

void expect_same_everywhere(const ColliderPair& capsule, const ColliderPair& sphere) {
  for_random_cases(200, [&](std::mt19937_64& random) {
    const Pose X{random_rotation(random), random_vec3(random, 0.3)};
    const Contact x = capsule.distance(X), y = sphere.distance(X);
    expect_contact(x, y.p, y.n, y.gap);
    EXPECT_EQ(x.id(), y.id());
    EXPECT_EQ(capsule.contacts(X).size(), sphere.contacts(X).size());
  });
}

const SupportJet& jet_a(const Contact& c) { return std::get<ClosestFeatures>(c.feature).a; }
const SupportJet& jet_b(const Contact& c) { return std::get<ClosestFeatures>(c.feature).b; }

std::set<FeatureId> ids_of(const std::vector<Contact>& contacts) {
  std::set<FeatureId> ids;
  for (const Contact& c : contacts) ids.insert(c.id());
  return ids;
}

// The largest jump of any point or normal from one manifold to the next; infinite if a name comes or goes.
double jump(const std::vector<Contact>& before, const std::vector<Contact>& after) {
  if (ids_of(before) != ids_of(after)) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const Contact& x : before) {
    for (const Contact& y : after) {
      if (x.id() == y.id()) largest = std::max({largest, (x.p - y.p).norm(), (x.n - y.n).norm()});
    }
  }
  return largest;
}

// ---- sphere – sphere

TEST(SphereSphere, TouchOnTheLineOfCentres) {
  const ColliderPair pair(Sphere{0.2}, Sphere{0.3});
  const Contact c = pair.distance(Pose::translation(0, 3, 4));
  // x_a = 4.8 n, x_b = 0.3 n.
  expect_contact(c, 2.55 * Vec3(0, 0.6, 0.8), Vec3(0, 0.6, 0.8), 4.5);
  expect_codes(c, FeatureCode::end(0), FeatureCode::end(0));
  EXPECT_EQ(jet_a(c).round, 0.2);
  EXPECT_EQ(jet_b(c).round, 0.3);
  EXPECT_TRUE(pair.contacts(Pose::translation(0, 3, 4)).empty());
  ASSERT_EQ(pair.contacts(Pose::translation(0, 0.24, 0.32)).size(), 1);
}

TEST(SphereSphere, ExistUpToTheMargin) {
  const ColliderPair pair(Sphere{0.2}, Sphere{0.3});
  EXPECT_EQ(pair.contacts(Pose::translation(0.5 + 0.999 * pair.margin(), 0, 0)).size(), 1);
  EXPECT_EQ(pair.contacts(Pose::translation(0.5 + 1.001 * pair.margin(), 0, 0)).size(), 0);
}

TEST(SphereSphere, CoincidentCentresTakeTheSecondOnesXAxis) {
  const ColliderPair pair(Sphere{0.2}, Sphere{0.3});
  for (const double off : {0.0, 1e-12}) {
    const Contact c = pair.distance({turn_x(1), Vec3(0, off, 0)});
    expect_contact(c, Vec3(0.05, 0, 0), Vec3::UnitX(), -0.5, 1e-11);
    EXPECT_TRUE(by_convention(c));
    EXPECT_EQ(jet_b(c).freedom, SupportJet::Freedom::face);
  }
  EXPECT_FALSE(by_convention(pair.distance(Pose::translation(0, 1e-8, 0))));
}

TEST(SphereSphere, PointsHaveDistances) {
  const ColliderPair pair(Sphere{0}, Sphere{0});
  expect_contact(pair.distance(Pose::translation(0, 0, -2)), Vec3(0, 0, -1), -Vec3::UnitZ(), 2);
  expect_contact(pair.distance(Pose()), Vec3::Zero(), Vec3::UnitX(), 0);
}

// ---- capsules with spheres and capsules

TEST(CapsuleCapsule, EndsAndPipesMeet) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Capsule{0.2, 0.5});
  const Contact crossing = pair.distance({along_x(), Vec3(0.1, 1, 0.2)});
  expect_contact(crossing, Vec3(0, 0.55, 0.2), Vec3::UnitY(), 0.7);
  expect_codes(crossing, FeatureCode::pipe(), FeatureCode::pipe());
  expect_vec(jet_a(crossing).direction, Vec3::UnitX());
  expect_vec(jet_b(crossing).direction, Vec3::UnitZ());

  const Contact end_pipe = pair.distance({along_x(), Vec3(1, 0, 0.2)});  // a's end 0 at (0.5, 0, 0.2)
  expect_contact(end_pipe, Vec3(0.3, 0, 0.2), Vec3::UnitX(), 0.2);
  expect_codes(end_pipe, FeatureCode::end(0), FeatureCode::pipe());

  const Contact pipe_end = pair.distance({along_x(), Vec3(0.2, 0, 1)});
  expect_contact(pipe_end, Vec3(0, 0, 0.8), Vec3::UnitZ(), 0.2);
  expect_codes(pipe_end, FeatureCode::pipe(), FeatureCode::end(1));

  const Contact ends = pair.distance({turn_x(0.1), Vec3(0, 0.3, -1.3)});
  expect_codes(ends, FeatureCode::end(1), FeatureCode::end(0));
}

TEST(CapsuleCapsule, SideBySideTouchAtBothEndsOfTheOverlap) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Capsule{0.1, 0.3});
  const std::vector<Contact> contacts = pair.contacts(Pose::translation(0.199, 0, 0.4));
  ASSERT_EQ(contacts.size(), 2);
  expect_contact(contacts[0], Vec3(0.0995, 0, -0.1), Vec3::UnitX(), -0.001);
  expect_contact(contacts[1], Vec3(0.0995, 0, 0.3), Vec3::UnitX(), -0.001);
  expect_codes(contacts[0], FeatureCode::end(0), FeatureCode::pipe());
  expect_codes(contacts[1], FeatureCode::pipe(), FeatureCode::end(1));

  // The same lying the other way round.
  const std::vector<Contact> reversed = pair.contacts({turn_x(kPi), Vec3(0.199, 0, 0.4)});
  ASSERT_EQ(reversed.size(), 2);
  EXPECT_EQ(reversed[0].code_b, FeatureCode::end(1));
  EXPECT_EQ(reversed[1].code_a, FeatureCode::end(1));

  EXPECT_EQ(pair.contacts(Pose::translation(0.199, 0, 0.4), 1).size(), 1);
  expect_contact(pair.distance(Pose::translation(0.199, 0, 0.4)), Vec3(0.0995, 0, 0.1), Vec3::UnitX(), -0.001);
}

TEST(CapsuleCapsule, EndToEndIsOnePoint) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Capsule{0.1, 0.3});
  const std::vector<Contact> contacts = pair.contacts(Pose::translation(0, 0, 0.9999));
  ASSERT_EQ(contacts.size(), 1);
  expect_contact(contacts[0], Vec3(0, 0, 0.39995), Vec3::UnitZ(), -1e-4);
  expect_codes(contacts[0], FeatureCode::end(0), FeatureCode::end(1));
}

// Each end has its own gap: of a tilted one, the far end does not touch.
TEST(CapsuleCapsule, TiltedOneTouchesAtTheLowEnd) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Capsule{0.1, 0.5});
  const std::vector<Contact> contacts = pair.contacts({turn_y(0.02), Vec3(0.2 + 0.5 * std::sin(0.02), 0, 0)});
  ASSERT_EQ(contacts.size(), 1);
  EXPECT_NEAR(contacts[0].gap, 0, kTiny);
  EXPECT_EQ(contacts[0].code_a, FeatureCode::end(0));
}

TEST(CapsuleCapsule, CrossedLogsKeepTheirTwoPoints) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Capsule{0.1, 0.5});
  std::vector<Contact> before;
  for (double theta = -1e-4; theta <= 1e-4; theta += 1e-5) {
    const std::vector<Contact> now = pair.contacts({turn_x(theta), Vec3(0.1999, 1e-6, 0.1)});
    EXPECT_EQ(now.size(), 2) << theta;
    EXPECT_LE(before.empty() ? 0 : jump(before, now), 1e-4) << theta;
    before = now;
  }
}

TEST(CapsuleCapsule, CrossingIsAThirdPointWhereItIsDeeper) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Capsule{0.1, 0.5});
  // Lateral offset at the ends: 0.01; the rule's limit is 0.0028.
  const std::vector<Contact> contacts = pair.contacts({turn_x(0.02), Vec3(0.1995, 0, 0)});
  ASSERT_EQ(contacts.size(), 3);
  expect_codes(contacts[2], FeatureCode::pipe(), FeatureCode::pipe());
  expect_contact(contacts[2], Vec3(0.09975, 0, 0), Vec3::UnitX(), -5e-4);
  EXPECT_LE(pair.contacts({turn_x(0.02), Vec3(0.1995, 0, 0)}, 2).size(), 2);
}

TEST(CapsuleCapsule, CrossingAxesHaveOneNormal) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Capsule{0.2, 0.5});
  for (const double above : {0.0, 1e-15, 1e-11}) {
    const Contact c = pair.distance({along_x(), Vec3(0.1, above, 0.2)});
    EXPECT_FALSE(by_convention(c));
    EXPECT_NEAR(std::abs(c.n.y()), 1, kTiny);
    EXPECT_NEAR(c.gap, above - 0.3, kTiny);
    EXPECT_EQ(jet_a(c).freedom, SupportJet::Freedom::line);
    EXPECT_TRUE(above == 0 || c.n.y() > 0);
  }
}

TEST(CapsuleCapsule, CoaxialOverlapTakesANormalAcross) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Capsule{0.2, 0.5});
  const Contact c = pair.distance({turn_z(1), Vec3(0, 0, 0.6)});
  EXPECT_TRUE(by_convention(c));
  expect_contact(c, Vec3(0.05, 0, 0.3), Vec3::UnitX(), -0.3);
  for (const Contact& contact : pair.contacts({turn_z(1), Vec3(0, 0, 0.6)})) {
    EXPECT_TRUE(by_convention(contact));
    expect_vec(contact.n, Vec3::UnitX());
  }
  // An end on the other's axis.
  const Contact tee = pair.distance({along_x(), Vec3(0.5, 0, 0)});
  EXPECT_TRUE(by_convention(tee));
  EXPECT_NEAR(tee.gap, -0.3, kTiny);
  EXPECT_NEAR(std::abs(tee.n.y()), 1, kTiny);
}

TEST(CapsuleCapsule, OneOfNoLengthIsASphere) {
  const ColliderPair ball(Capsule{0.1, 0}, Capsule{0.2, 0.5}), sphere(Sphere{0.1}, Capsule{0.2, 0.5});
  expect_same_everywhere(ball, sphere);
}

TEST(CapsuleCapsule, SegmentsHaveNormalsWhereTheyTouch) {
  const ColliderPair pair(Capsule{0, 0.5}, Capsule{0, 0.5});
  const Contact c = pair.distance({along_x() * turn_y(0.3), Vec3(0.1, 0, 0.2)});
  EXPECT_NEAR(std::abs(c.n.y()), 1, kTiny);
  EXPECT_NEAR(c.gap, 0, kTiny);
  EXPECT_FALSE(by_convention(c));
}

// ---- with a plane

TEST(CapsulePlane, LyingTouchesAtBothEnds) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Plane{});
  const std::vector<Contact> contacts = pair.contacts({along_x(), Vec3(1, 2, 0.099)});
  ASSERT_EQ(contacts.size(), 2);
  expect_contact(contacts[0], Vec3(0.5, 2, -0.0005), Vec3::UnitZ(), -0.001);
  expect_contact(contacts[1], Vec3(1.5, 2, -0.0005), Vec3::UnitZ(), -0.001);
  expect_codes(contacts[0], FeatureCode::end(0), FeatureCode::face(0));
  expect_codes(contacts[1], FeatureCode::end(1), FeatureCode::face(0));
  EXPECT_EQ(pair.contacts({along_x(), Vec3(1, 2, 0.099)}, 1).size(), 1);
}

TEST(CapsulePlane, EachEndHasItsOwnGap) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Plane{});
  const double tilt = 1e-4;
  const std::vector<Contact> contacts = pair.contacts({along_x() * turn_y(tilt), Vec3(0, 0, 0.1)});
  ASSERT_EQ(contacts.size(), 2);
  EXPECT_NEAR(contacts[0].gap, 0.5 * std::sin(tilt), kTiny);
  EXPECT_NEAR(contacts[1].gap, -0.5 * std::sin(tilt), kTiny);
  EXPECT_EQ(pair.distance({along_x() * turn_y(tilt), Vec3(0, 0, 0.1)}).code_a, FeatureCode::end(1));
  EXPECT_EQ(pair.contacts({along_x() * turn_y(0.1), Vec3(0, 0, 0.1)}).size(), 1);
}

TEST(CapsulePlane, StandingTouchesOnce) {
  const ColliderPair pair(Capsule{0.1, 0.5}, Plane{});
  const std::vector<Contact> contacts = pair.contacts(Pose::translation(0, 0, 0.6));
  ASSERT_EQ(contacts.size(), 1);
  expect_contact(contacts[0], Vec3::Zero(), Vec3::UnitZ(), 0);
  expect_codes(pair.distance({turn_x(kPi), Vec3(0, 0, 5)}), FeatureCode::end(1), FeatureCode::face(0));
}

TEST(CapsulePlane, OneOfNoLengthTouchesOnce) {
  EXPECT_EQ(ColliderPair(Capsule({0.1, 0}), Plane{}).contacts(Pose::translation(0, 0, 0.1)).size(), 1);
  EXPECT_EQ(ColliderPair(Sphere{0.1}, Plane{}).contacts(Pose::translation(0, 0, 0.1)).size(), 1);
}

// ---- sphere – box

TEST(BoxFeatures, AreNumberedLikeTheHulls) {
  const Hull hull = box_hull(Vec3(1, 2, 3));
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 3; ++k) EXPECT_EQ(box_edge(k, i), hull.edge_between(i, i ^ 1 << k));
  }
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(hull.faces[box_face(k, false)].normal, Vec3::Unit(k));
    EXPECT_EQ(hull.faces[box_face(k, true)].normal, -Vec3::Unit(k));
  }
}

TEST(SphereBox, TouchesFacesEdgesAndVertices) {
  const ColliderPair pair(Sphere{0.5}, Box{Vec3(1, 2, 3)});
  const Contact face = pair.distance(Pose::translation(0.5, -3, 1));
  expect_contact(face, Vec3(0.5, -2.25, 1), -Vec3::UnitY(), 0.5);
  expect_codes(face, FeatureCode::end(0), FeatureCode::face(3));
  EXPECT_EQ(jet_b(face).freedom, SupportJet::Freedom::face);

  const Contact edge = pair.distance(Pose::translation(1.6, 1, -3.8));  // 0.6, 0.8 from it
  expect_contact(edge, Vec3(1, 1, -3) + 0.25 * Vec3(0.6, 0, -0.8), Vec3(0.6, 0, -0.8), 0.5);
  expect_codes(edge, FeatureCode::end(0), FeatureCode::edge(pair.hull().edge_between(1, 3)));
  expect_vec(jet_b(edge).direction, Vec3::UnitY());

  const Contact vertex = pair.distance(Pose::translation(-3, 4, -4));  // 2, 2, 1 from it
  expect_contact(vertex, Vec3(-1, 2, -3) + 1.25 * Vec3(-2, 2, -1) / 3, Vec3(-2, 2, -1) / 3, 2.5);
  expect_codes(vertex, FeatureCode::end(0), FeatureCode::vertex(2));
}

TEST(SphereBox, InsideLeavesThroughTheNearestFace) {
  const ColliderPair pair(Sphere{0.5}, Box{Vec3(1, 2, 3)});
  expect_contact(pair.distance(Pose::translation(0, 1.5, 0)), Vec3(0, 1.5, 0), Vec3::UnitY(), -1);
  const Contact c = pair.distance(Pose());
  expect_contact(c, Vec3(0.25, 0, 0), Vec3::UnitX(), -1.5);
  EXPECT_FALSE(by_convention(c));
  expect_contact(ColliderPair(Sphere{0.5}, Box{Vec3(1, 1, 1)}).distance(Pose()), Vec3(0.25, 0, 0), Vec3::UnitX(), -1.5);
}

TEST(SphereBox, CentreOnTheSurfaceTakesAFace) {
  const ColliderPair pair(Sphere{0.5}, Box{Vec3(1, 2, 3)});
  expect_contact(pair.distance(Pose::translation(0.5, 0, -3)), Vec3(0.5, 0, -3.25 + 0.5), -Vec3::UnitZ(), -0.5);
  for (const Vec3& centre : {Vec3(1, 2, 0), Vec3(1, 2, 3), Vec3(1, 0, 3)}) {
    const Contact c = pair.distance(Pose::translation(centre));
    expect_contact(c, centre - Vec3(0.25, 0, 0), Vec3::UnitX(), -0.5);
    expect_codes(c, FeatureCode::end(0), FeatureCode::face(0));
  }
}

// Around an edge, from face to edge to face, neither point nor normal jumps.
TEST(SphereBox, SphereLeavesBoxEdge) {
  const ColliderPair pair(Sphere{0.1}, Box{Vec3(0.5, 0.5, 0.5)});
  const double height = 0.1 - 1e-3;
  for (const double x : {0.5, 0.49, 0.5 + 0.06}) {
    const double z = 0.5 + (x > 0.5 ? std::sqrt(height * height - (x - 0.5) * (x - 0.5)) : height);
    for (const double step : {1e-9, -1e-9}) {
      const Contact before = pair.distance(Pose::translation(x, 0, z)),
                    after = pair.distance(Pose::translation(x + step, 0, z));
      EXPECT_NEAR(before.gap, -1e-3, kTiny);
      EXPECT_LE((before.p - after.p).norm(), 2e-9);
      EXPECT_LE((before.n - after.n).norm(), 2e-8);
    }
  }
}

TEST(SphereBox, PlateOfNoThicknessHasTwoSides) {
  const ColliderPair pair(Sphere{0.1}, Box{Vec3(1, 1, 0)});
  expect_contact(pair.distance(Pose::translation(0, 0, 0.05)), Vec3(0, 0, -0.025), Vec3::UnitZ(), -0.05);
  expect_contact(pair.distance(Pose::translation(0, 0, -0.05)), Vec3(0, 0, 0.025), -Vec3::UnitZ(), -0.05);
  expect_contact(pair.distance(Pose()), Vec3(0, 0, -0.05), Vec3::UnitZ(), -0.1);
  expect_contact(pair.distance(Pose::translation(1.2, 0, 0)), Vec3(1.05, 0, 0), Vec3::UnitX(), 0.1);
}

// ---- capsule – box

TEST(CapsuleBox, LyingOnAFaceTouchesAtBothEnds) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Box{Vec3(1, 1, 0.5)});
  for (const double yaw : {0.0, 0.3, kPi / 4, 2.0}) {
    const std::vector<Contact> contacts = pair.contacts({turn_z(yaw) * along_x(), Vec3(0, 0, 0.599)});
    ASSERT_EQ(contacts.size(), 2);
    const Vec3 end = 0.3 * turn_z(yaw).col(0);
    expect_contact(contacts[0], Vec3(0, 0, 0.4995) - end, Vec3::UnitZ(), -0.001);
    expect_contact(contacts[1], Vec3(0, 0, 0.4995) + end, Vec3::UnitZ(), -0.001);
    expect_codes(contacts[0], FeatureCode::end(0), FeatureCode::face(4));
    expect_codes(contacts[1], FeatureCode::end(1), FeatureCode::face(4));
  }
  EXPECT_EQ(pair.contacts({along_x(), Vec3(0, 0, 0.599)}, 1).size(), 1);
}

TEST(CapsuleBox, StandingOnAFaceTouchesOnce) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Box{Vec3(1, 1, 0.5)});
  const std::vector<Contact> contacts = pair.contacts(Pose::translation(0.2, 0, 0.9));
  ASSERT_EQ(contacts.size(), 1);
  expect_contact(contacts[0], Vec3(0.2, 0, 0.5), Vec3::UnitZ(), 0);
  expect_codes(contacts[0], FeatureCode::end(0), FeatureCode::face(4));
}

TEST(CapsuleBox, AcrossAnEdgeTouchesItWithThePipe) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Box{Vec3(0.5, 0.5, 0.5)});
  const std::vector<Contact> contacts = pair.contacts({along_x(), Vec3(0.4, 0.2, 0.599)});
  ASSERT_EQ(contacts.size(), 2);
  expect_contact(contacts[0], Vec3(0.1, 0.2, 0.4995), Vec3::UnitZ(), -0.001);
  expect_contact(contacts[1], Vec3(0.5, 0.2, 0.4995), Vec3::UnitZ(), -0.001);
  expect_codes(contacts[0], FeatureCode::end(0), FeatureCode::face(4));
  expect_codes(contacts[1], FeatureCode::pipe(), FeatureCode::edge(pair.hull().edge_between(5, 7)));
  EXPECT_EQ(jet_a(contacts[1]).freedom, SupportJet::Freedom::line);
  EXPECT_EQ(jet_b(contacts[1]).freedom, SupportJet::Freedom::line);
}

// Longer than the box: two edges.
TEST(CapsuleBox, BeamOverABoxTouchesTwoEdges) {
  const ColliderPair pair(Capsule{0.1, 3}, Box{Vec3(0.5, 0.5, 0.5)});
  const std::vector<Contact> contacts = pair.contacts({turn_z(0.3) * along_x(), Vec3(0, 0, -0.5995)});
  ASSERT_EQ(contacts.size(), 2);
  for (const Contact& c : contacts) {
    EXPECT_EQ(c.code_a, FeatureCode::pipe());
    EXPECT_EQ(c.code_b.part(), FeatureCode::Part::edge);
    EXPECT_NEAR(std::abs(c.p.x()), 0.5, kTiny);
    EXPECT_NEAR(c.gap, -5e-4, kTiny);
    expect_vec(c.n, -Vec3::UnitZ());
  }
}

// At rest over an edge the normal e × edge is on the border of what the edge supports: nothing must happen there.
TEST(CapsuleBox, CapsuleOverBoxEdge) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Box{Vec3(0.5, 0.5, 0.5)});
  std::vector<Contact> before;
  for (double tilt = -5e-4; tilt <= 5e-4; tilt += 1e-6) {
    const std::vector<Contact> now = pair.contacts({along_x() * turn_y(tilt), Vec3(0.4, 0.2, 0.5999)});
    EXPECT_EQ(now.size(), 2) << tilt;
    EXPECT_LE(before.empty() ? 0 : jump(before, now), 2e-6) << tilt;
    before = now;
  }
}

TEST(CapsuleBox, AlongAnEdgeTouchesItWithBothEnds) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Box{Vec3(0.5, 0.5, 0.5)});
  const double off = (0.1 - 1e-4) / std::sqrt(2.0);
  for (const double yaw : {0.0, 1e-9, -1e-6, 1e-4}) {
    const std::vector<Contact> contacts = pair.contacts({turn_z(yaw) * along_x(), Vec3(0, 0.5 + off, 0.5 + off)});
    ASSERT_EQ(contacts.size(), 2) << yaw;
    for (int k = 0; k < 2; ++k) {
      expect_codes(contacts[k], FeatureCode::end(k), FeatureCode::edge(pair.hull().edge_between(6, 7)));
      expect_vec(contacts[k].n, Vec3(0, 1, 1) / std::sqrt(2.0), 1e-3);
      EXPECT_NEAR(contacts[k].p.x(), k == 0 ? -0.3 : 0.3, 1e-6);
    }
  }
}

TEST(CapsuleBox, LongerThanTheEdgeItLiesAlongTouchesItsVertices) {
  const ColliderPair pair(Capsule{0.1, 3}, Box{Vec3(0.5, 0.5, 0.5)});
  const double off = (0.1 - 1e-4) / std::sqrt(2.0);
  const std::vector<Contact> contacts = pair.contacts({along_x(), Vec3(0, 0.5 + off, 0.5 + off)});
  ASSERT_EQ(contacts.size(), 2);
  expect_codes(contacts[0], FeatureCode::pipe(), FeatureCode::vertex(6));
  expect_codes(contacts[1], FeatureCode::pipe(), FeatureCode::vertex(7));
  for (const Contact& c : contacts) EXPECT_NEAR(c.gap, -1e-4, kTiny);
}

// The axis exactly over an edge, turned a little either way: where it crosses the edge is a matter of rounding, the two
// points are not.
TEST(CapsuleBox, OverAnEdgeAndAlongItKeepsItsTwoPoints) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Box{Vec3(0.5, 0.5, 0.5)});
  for (double yaw = -2e-3; yaw <= 2e-3; yaw += 1e-4) {
    const std::vector<Contact> contacts = pair.contacts({turn_z(yaw) * along_x(), Vec3(0, 0.5, 0.5999)});
    ASSERT_EQ(contacts.size(), 2) << yaw;
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(contacts[k].code_a, FeatureCode::end(k));
      EXPECT_NEAR(contacts[k].gap, -1e-4, 3e-6);
      EXPECT_NEAR(contacts[k].p.x(), k == 0 ? -0.3 : 0.3, 1e-6);
    }
  }
}

// Turned more, one end hangs beside the box: the crossing of edge and pipe holds it instead.
TEST(CapsuleBox, CrossingAnEdgeAtASmallAngleTouchesIt) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Box{Vec3(0.5, 0.5, 0.5)});
  const std::vector<Contact> contacts = pair.contacts({turn_z(0.08) * along_x(), Vec3(0.05, 0.5, 0.5999)});
  ASSERT_EQ(contacts.size(), 2);
  expect_codes(contacts[0], FeatureCode::end(0), FeatureCode::face(4));
  expect_codes(contacts[1], FeatureCode::pipe(), FeatureCode::edge(pair.hull().edge_between(6, 7)));
  expect_contact(contacts[1], Vec3(0.05, 0.5, 0.49995), Vec3::UnitZ(), -1e-4);
}

TEST(CapsuleBox, AxisInsideLeavesByFaceOrAcrossAnEdge) {
  const ColliderPair pair(Capsule{0.1, 2}, Box{Vec3(0.5, 0.5, 3)});
  // Through the middle, leaning over the edge along z: the shortest way out is across it.
  const Contact c = pair.distance({turn_z(-kPi / 4) * turn_y(kPi / 2), Vec3(0.4, 0.4, 0)});
  expect_contact(c, Vec3(0.45, 0.45, 0) - 0.05 * Vec3(1, 1, 0) / std::sqrt(2.0), Vec3(1, 1, 0) / std::sqrt(2.0),
                 -0.1 * std::sqrt(2.0) - 0.1);
  expect_codes(c, FeatureCode::pipe(), FeatureCode::edge(pair.hull().edge_between(3, 7)));
  // Along z, through a face, in the middle of what is inside.
  const Contact face = pair.distance(Pose::translation(0.4, 0, 2));
  expect_contact(face, Vec3(0.4, 0, 1.5), Vec3::UnitX(), -0.2);
  EXPECT_EQ(jet_a(face).freedom, SupportJet::Freedom::none);
}

// Two parallel lines have no crossing: the point is then a's.
TEST(CapsuleBox, ParallelToAnEdgeHasAPointThatTheCapsuleCarries) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Box{Vec3(0.5, 0.5, 0.5)});
  const Mat3 R = turn_z(0.7).transpose() * turn_z(0.7) * along_x();  // x, up to rounding
  const Contact c = pair.distance({R, Vec3(0.4, 0.6, 0.6)});
  expect_codes(c, FeatureCode::pipe(), FeatureCode::edge(pair.hull().edge_between(6, 7)));
  EXPECT_EQ(jet_a(c).freedom, SupportJet::Freedom::none);
  EXPECT_EQ(jet_b(c).freedom, SupportJet::Freedom::line);
  EXPECT_NEAR(c.p.x(), 0.3, kTiny);  // the middle of 0.1 … 0.5
  EXPECT_TRUE(has(c.flags, ContactFlag::sensitive_point));
  EXPECT_TRUE(contact_derivatives(c).by_a.allFinite());
}

TEST(CapsuleBox, SegmentTouchesAnEdgeAcross) {
  const ColliderPair pair(Capsule{0, 0.5}, Box{Vec3(0.5, 0.5, 0.5)});
  const Contact c = pair.distance({turn_x(kPi / 4), Vec3(0.1, 0.5, 0.5)});
  EXPECT_NEAR(c.gap, 0, kTiny);
  expect_vec(c.n, Vec3(0, 1, 1) / std::sqrt(2.0));
  EXPECT_EQ(c.code_a, FeatureCode::pipe());
}

TEST(CapsuleBox, OneOfNoLengthIsASphere) {
  const ColliderPair ball(Capsule{0.1, 0}, Box{Vec3(0.2, 0.3, 0.4)}), sphere(Sphere{0.1}, Box{Vec3(0.2, 0.3, 0.4)});
  expect_same_everywhere(ball, sphere);
}

TEST(CapsuleBox, PlateOfNoThicknessCarriesACapsule) {
  const ColliderPair pair(Capsule{0.1, 0.3}, Box{Vec3(1, 1, 0)});
  for (const double side : {1.0, -1.0}) {
    const std::vector<Contact> contacts = pair.contacts({along_x(), Vec3(0, 0, 0.0999 * side)});
    ASSERT_EQ(contacts.size(), 2);
    for (const Contact& c : contacts) expect_vec(c.n, side * Vec3::UnitZ());
  }
}

// ---- sphere – cylinder

TEST(SphereCylinder, TouchesSideCapAndRim) {
  const ColliderPair pair(Sphere{0.5}, Cylinder{1, 2});
  const Contact side = pair.distance(Pose::translation(0, 2, 1));
  expect_contact(side, Vec3(0, 1.25, 1), Vec3::UnitY(), 0.5);
  expect_codes(side, FeatureCode::end(0), FeatureCode::side());
  const Contact cap = pair.distance(Pose::translation(0.5, 0, -3));
  expect_contact(cap, Vec3(0.5, 0, -2.25), -Vec3::UnitZ(), 0.5);
  expect_codes(cap, FeatureCode::end(0), FeatureCode::cap(0));
  const Contact rim = pair.distance(Pose::translation(1.6, 0, 2.8));
  expect_contact(rim, Vec3(1, 0, 2) + 0.25 * Vec3(0.6, 0, 0.8), Vec3(0.6, 0, 0.8), 0.5);
  expect_codes(rim, FeatureCode::end(0), FeatureCode::rim(1));
  EXPECT_NEAR(jet_b(rim).bend, 1 / 0.6, kTiny);
  expect_vec(jet_b(rim).direction, Vec3::UnitY());
}

TEST(SphereCylinder, InsideLeavesByTheNearerOfSideAndCap) {
  const ColliderPair pair(Sphere{0.5}, Cylinder{1, 2});
  expect_contact(pair.distance(Pose::translation(0.5, 0, 1)), Vec3(0.5, 0, 1), Vec3::UnitX(), -1);
  expect_contact(pair.distance(Pose::translation(0.5, 0, 1.8)), Vec3(0.5, 0, 1.65), Vec3::UnitZ(), -0.7);
}

TEST(SphereCylinder, CentreOnTheAxisTakesANormalAcross) {
  const Contact side = ColliderPair(Sphere{0.5}, Cylinder{1, 2}).distance(Pose::translation(0, 0, 0.5));
  expect_contact(side, Vec3(0.25, 0, 0.5), Vec3::UnitX(), -1.5);
  EXPECT_TRUE(by_convention(side));
  EXPECT_EQ(jet_b(side).freedom, SupportJet::Freedom::face);
  const Contact cap = ColliderPair(Sphere{0.5}, Cylinder{1, 0.5}).distance(Pose());
  expect_contact(cap, Vec3(0, 0, 0), Vec3::UnitZ(), -1);
  EXPECT_FALSE(by_convention(cap));
}

TEST(SphereCylinder, CentreOnTheRimTakesTheCap) {
  const Contact c = ColliderPair(Sphere{0.5}, Cylinder{1, 2}).distance(Pose::translation(0, 1, 2));
  expect_contact(c, Vec3(0, 1, 1.75), Vec3::UnitZ(), -0.5);
  expect_codes(c, FeatureCode::end(0), FeatureCode::cap(1));
}

}  // namespace
}  // namespace lithe::test

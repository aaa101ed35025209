#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/face_manifold.h"
#include "lithe/collision/manifold/manifold_reduction.h"
#include "lithe/collision/pairs/pairs.h"
#include "tests/collision/polytope_scenes.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/constants.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

Collider plane_collider() { return make_test_shape(Plane{}, 99).collider; }

std::vector<Contact> contacts_on_plane(const Collider& a, const Pose& X_BA, int max_points = 100) {
  const Collider plane = plane_collider();
  PairBuffers scratch;
  std::vector<Contact> contacts;
  polytope_plane_contacts({a, plane, X_BA, bands_of(a, plane), max_points, scratch}, contacts);
  return contacts;
}

Contact distance_to_plane(const Collider& a, const Pose& X_BA) {
  const Collider plane = plane_collider();
  PairBuffers scratch;
  return polytope_plane_distance({a, plane, X_BA, bands_of(a, plane), 8, scratch});
}

std::vector<int> vertices_of(const std::vector<Contact>& contacts) {
  std::vector<int> vertices;
  for (const Contact& contact : contacts) vertices.push_back(contact.code_a.index());
  return vertices;
}

TEST(PolytopePlane, BoxAtRestTouchesWithItsLowerFace) {
  const auto contacts = contacts_on_plane(box_collider(0.3, 0.2, 0.1, 0), Pose::translation(1, 2, 0.1));
  EXPECT_EQ(kinds(contacts), "V4");
  EXPECT_EQ(vertices_of(contacts), (std::vector{0, 1, 2, 3}));
  for (const Contact& contact : contacts) {
    EXPECT_EQ(contact.n, Vec3::UnitZ());
    EXPECT_EQ(contact.code_b, FeatureCode::face(0));
    EXPECT_NEAR(contact.gap, 0, 1e-15);
    EXPECT_NEAR(std::abs(contact.p.x() - 1), 0.3, 1e-15);
    EXPECT_NEAR(std::abs(contact.p.y() - 2), 0.2, 1e-15);
  }
}

TEST(PolytopePlane, PointsExistUpToTheMarginOfTheirOwnGap) {
  const Collider box = box_collider(0.5, 0.5, 0.5, 0);
  const double margin = bands_of(box, plane_collider()).margin;
  EXPECT_EQ(contacts_on_plane(box, Pose::translation(0, 0, 0.5 + 0.999 * margin)).size(), 4u);
  EXPECT_EQ(contacts_on_plane(box, Pose::translation(0, 0, 0.5 + 1.001 * margin)).size(), 0u);
  // Tilted until the far edge has just left.
  const double angle = std::asin(1.001 * margin);
  const Pose X_BA{turn_y(angle), Vec3(0, 0, 0.5 * (std::cos(angle) + std::sin(angle)))};
  EXPECT_EQ(contacts_on_plane(box, X_BA).size(), 2u);
}

TEST(PolytopePlane, DeepBoxKeepsTheVerticesOfFacesThatLookDown) {
  const Collider box = box_collider(0.3, 0.2, 0.1, 0);
  EXPECT_EQ(vertices_of(contacts_on_plane(box, Pose::translation(0, 0, -1))), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(vertices_of(contacts_on_plane(box, {turn_x(kPi), Vec3(0, 0, -1)})), (std::vector{4, 5, 6, 7}));
  // Less than kFacing of tilt changes nothing, more adds the side that looks down.
  EXPECT_EQ(contacts_on_plane(box, {turn_x(0.04), Vec3(0, 0, -1)}).size(), 4u);
  EXPECT_EQ(contacts_on_plane(box, {turn_x(0.06), Vec3(0, 0, -1)}).size(), 6u);
}

TEST(PolytopePlane, BoxWithoutThicknessTouchesAtFourVertices) {
  for (const double tilt : {0.0, 1e-9, 1e-6}) {
    EXPECT_EQ(kinds(contacts_on_plane(box_collider(0.3, 0.2, 0, 0), {turn_x(tilt), Vec3::Zero()})), "V4") << tilt;
  }
}

// All faces at the tip are steeper than kFacing.
TEST(PolytopePlane, BoxWithoutThicknessTurnedOverTouchesAtItsOtherFourVertices) {
  const Collider sheet = box_collider(0.5, 0.5, 0, 0);
  const Mat3 over = turn_y(kPi);
  for (const double tilt : {0.0, 1e-12, -1e-12, 1e-10, -1e-10, 1e-7, -1e-7}) {
    const auto contacts = contacts_on_plane(sheet, {turn_y(tilt) * over, Vec3(0, 0, -1e-6)});
    EXPECT_EQ(vertices_of(contacts), (std::vector{4, 5, 6, 7})) << tilt;
  }
}

TEST(PolytopePlane, NeedleTouchesWithItsTip) {
  std::vector<Vec3> points = {Vec3::Zero()};
  for (int i = 0; i < 12; ++i) points.emplace_back(0.1 * std::cos(i * kPi / 6), 0.1 * std::sin(i * kPi / 6), 10);
  const auto contacts = contacts_on_plane(mesh_collider(points, 0), Pose::translation(0, 0, -1e-5));
  ASSERT_EQ(contacts.size(), 1u);
  EXPECT_NEAR(contacts[0].gap, -1e-5, 1e-15);
}

TEST(PolytopePlane, BoxOnItsEdgeAndOnItsVertex) {
  const Collider box = box_collider(0.5, 0.5, 0.5, 0);
  EXPECT_EQ(contacts_on_plane(box, {turn_x(kPi / 4), Vec3(0, 0, std::sqrt(0.5))}).size(), 2u);
  const Mat3 on_vertex = turn_x(std::atan(std::sqrt(0.5))) * turn_y(kPi / 4);
  EXPECT_EQ(contacts_on_plane(box, {on_vertex, Vec3(0, 0, std::sqrt(0.75))}).size(), 1u);
}

TEST(PolytopePlane, DistanceIsThatOfTheDeepestVertex) {
  const Contact contact = distance_to_plane(box_collider(0.3, 0.2, 0.1, 0), {turn_y(0.3), Vec3(0, 0, 2)});
  const double height = 2 - 0.3 * std::sin(0.3) - 0.1 * std::cos(0.3);
  EXPECT_NEAR(contact.gap, height, 1e-15);
  EXPECT_EQ(contact.code_a, FeatureCode::vertex(1));  // +x −y −z; its neighbour +y is as deep
  EXPECT_EQ(contact.code_b, FeatureCode::face(0));
  EXPECT_NEAR(contact.point_on_b().z(), 0, 1e-15);
  EXPECT_NEAR(contact.point_on_a().z(), height, 1e-15);
  const ClosestFeatures& jets = std::get<ClosestFeatures>(contact.feature);
  EXPECT_EQ(jets.a.freedom, SupportJet::Freedom::none);
  EXPECT_EQ(jets.b.freedom, SupportJet::Freedom::face);
}

TEST(PolytopePlane, ManySoleVerticesAreReducedTheSameWayUnderSmallDisturbances) {
  const Collider sole = make_test_shape(foot(), 0).collider;
  const auto at_rest = vertices_of(contacts_on_plane(sole, Pose{}, 8));
  EXPECT_EQ(at_rest.size(), 8u);
  for_random_cases(200, [&](std::mt19937_64& random) {
    const Mat3 R = turn_z(uniform(random, -3, 3)) * turn_x(uniform(random, -1e-6, 1e-6));
    EXPECT_EQ(vertices_of(contacts_on_plane(sole, {R, Vec3(0, 0, uniform(random, -1e-5, 1e-6))}, 8)), at_rest);
  });
}

// The definition, vertex by vertex, and the shared reduction.
std::vector<int> expected_vertices(const Collider& a, const Pose& X_BA, int max_points) {
  const Hull& hull = *a.hull;
  const Bands bands = bands_of(a, plane_collider());
  Hull plane;
  plane.faces.push_back({Vec3::UnitZ(), 0, 0, 0, 0});
  const FacePair pair{plane, 0, hull, X_BA};
  FaceManifoldScratch scratch;
  FaceManifold manifold;
  const auto cosine = [&](int face) { return (X_BA.R * hull.faces[face].normal).z(); };
  const auto height = [&](int vertex) { return (X_BA * hull.vertices[vertex]).z(); };
  const int count = static_cast<int>(hull.vertices.size());
  int deepest = 0;
  for (int i = 0; i < count; ++i) {
    if (height(i) < height(deepest)) deepest = i;
  }
  const auto sole = hull.faces_of(deepest);
  manifold.incident_face =
      *std::min_element(sole.begin(), sole.end(), [&](int x, int y) { return cosine(x) < cosine(y) - kEqualNormals; });
  const double limit = facing_limit(cosine(manifold.incident_face));
  for (int i = 0; i < count; ++i) {
    const auto faces = hull.faces_of(i);
    const bool lower = std::any_of(faces.begin(), faces.end(), [&](int face) { return cosine(face) < limit; });
    if (lower && height(i) <= bands.margin) manifold.points.push_back({.i = i, .gap = height(i)});
  }
  reduce_manifold(pair, max_points, bands.face_tie, scratch, manifold);
  std::vector<int> vertices;
  for (const FacePoint& point : manifold.points) vertices.push_back(point.i);
  return vertices;
}

TEST(PolytopePlane, VerticesAreThoseOfTheDefinition) {
  int touching = 0, reduced = 0;
  for_random_cases(4000, [&](std::mt19937_64& random) {
    const ShapePair pair{chance(random, 0.5) ? ShapeType::box : ShapeType::mesh, ShapeType::plane};
    const PairCase c = chance(random, 0.5) ? resting_case(pair, random) : random_case(pair, random);
    const Pose X_BA = c.X_WB.inverse() * c.X_WA;
    const int max_points = uniform_int(random, 1, 10);
    const auto contacts = contacts_on_plane(c.a.collider, X_BA, max_points);
    EXPECT_EQ(vertices_of(contacts), expected_vertices(c.a.collider, X_BA, max_points)) << describe(c);
    for (const Contact& contact : contacts) EXPECT_NEAR(contact.p.z(), contact.gap, 1e-14 * c.extent());
    touching += !contacts.empty();
    reduced += static_cast<int>(contacts.size()) == max_points;
  });
  if (!few_cases()) {
    EXPECT_GT(touching, 1000);
    EXPECT_GT(reduced, 300);
  }
}

TEST(PolytopePlane, AllocatesNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const Collider sole = make_test_shape(foot(), 0).collider, plane = plane_collider();
  PairBuffers scratch;
  std::vector<Contact> contacts;
  const PairQuery query{sole, plane, {turn_x(1e-3), Vec3(0, 0, -0.01)}, bands_of(sole, plane), 8, scratch};
  polytope_plane_contacts(query, contacts);
  contacts.clear();
  const AllocationGuard guard;
  polytope_plane_contacts(query, contacts);
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(contacts.size(), 8u);
}

}  // namespace
}  // namespace lithe::test

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lithe/collision/distance/gjk.h"
#include "lithe/collision/distance/point_hull.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/collision/pairs/pairs.h"
#include "lithe/core/infinity.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

using Part = FeatureCode::Part;

Collider collider_of(const Geometry& geometry, int index) { return make_test_shape(geometry, index).collider; }

// The same box as the box and as the mesh of its corners.
ConvexMesh mesh_of(const Box& box) {
  ConvexMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.points.push_back(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1).cwiseProduct(box.half_size));
  }
  return mesh;
}

std::vector<Contact> contacts(internal::PairContacts test, const Collider& a, const Collider& b, const Pose& X_BA) {
  PairBuffers scratch;
  std::vector<Contact> out;
  test({a, b, X_BA, bands_of(a, b), 8, scratch}, out);
  return out;
}
std::vector<Contact> mesh_contacts(const Collider& a, const Collider& b, const Pose& X_BA) {
  return contacts(round_mesh_contacts, a, b, X_BA);
}
Contact mesh_distance(const Collider& a, const Collider& b, const Pose& X_BA) {
  PairBuffers scratch;
  return round_mesh_distance({a, b, X_BA, bands_of(a, b), 8, scratch});
}
Contact box_distance(const Collider& a, const Collider& b, const Pose& X_BA) {
  PairBuffers scratch;
  return round_box_distance({a, b, X_BA, bands_of(a, b), 8, scratch});
}

// min over the capsule of n·x − max over the mesh.
double round_separation(const Collider& a, const Hull& hull, const Pose& X_BA, const Vec3& n) {
  double high = -kInfinity;
  for (const Vec3& v : hull.vertices) high = std::max(high, n.dot(v));
  return n.dot(X_BA.p) - a.half_length * std::abs(n.dot(X_BA.R.col(2))) - a.radius - high;
}

// The largest separation of a core that meets the hull, over all directions that can be best.
double best_round_axis(const Collider& a, const Hull& hull, const Pose& X_BA) {
  double best = -kInfinity;
  for (const Hull::Face& face : hull.faces) best = std::max(best, round_separation(a, hull, X_BA, face.normal));
  for (const Hull::Edge& edge : hull.edges) {
    const Vec3 cross = edge.direction.cross(X_BA.R.col(2));
    if (a.half_length == 0 || cross.norm() < 1e-9) continue;
    for (const double sign : {1.0, -1.0}) {
      best = std::max(best, round_separation(a, hull, X_BA, sign * cross.normalized()));
    }
  }
  return best;
}

// How far below its plane a face made of nearly coplanar facets goes.
double largest_bend(const Hull& hull) {
  double bend = 0;
  for (int f = 0; f < static_cast<int>(hull.faces.size()); ++f) {
    for (const int v : hull.face_vertices(f)) {
      bend = std::max(bend, hull.faces[f].offset - hull.faces[f].normal.dot(hull.vertices[v]));
    }
  }
  return bend;
}

void expect_same_contact(const Contact& mesh, const Contact& box, double tolerance) {
  EXPECT_NEAR(mesh.gap, box.gap, tolerance);
  EXPECT_LT((mesh.n - box.n).norm(), 1e-6);
  EXPECT_LT((mesh.p - box.p).norm(), 1e-6);
  EXPECT_EQ(mesh.code_a, box.code_a);
  EXPECT_EQ(mesh.code_b.part(), box.code_b.part());
}

Geometry round_geometry(std::mt19937_64& random) {
  return random_geometry(chance(random, 0.3) ? ShapeType::sphere : ShapeType::capsule, random);
}

TEST(RoundMesh, DistanceIsTheBoxesOnABoxShapedMesh) {
  for_random_cases(4000, [](std::mt19937_64& random) {
    const Box box{Vec3(uniform(random, 0.1, 1), uniform(random, 0.1, 1), uniform(random, 0.1, 1))};
    const Collider a = collider_of(round_geometry(random), 0);
    const Collider b = collider_of(box, 1), mesh = collider_of(mesh_of(box), 2);
    const Pose X_BA{random_rotation(random), random_vec3(random, 0.8)};
    expect_same_contact(mesh_distance(a, mesh, X_BA), box_distance(a, b, X_BA), 1e-12);
  });
}

TEST(RoundMesh, ManifoldIsTheBoxesOnABoxShapedMesh) {
  int points = 0;
  for_random_cases(4000, [&](std::mt19937_64& random) {
    const ShapeType type = chance(random, 0.2) ? ShapeType::sphere : ShapeType::capsule;
    const PairCase c = resting_case({type, ShapeType::box}, random);
    const Collider mesh = collider_of(mesh_of(std::get<Box>(c.b.geometry)), 1000);
    const Pose X_BA = c.X_WB.inverse() * c.X_WA;
    const auto expected = contacts(round_box_contacts, c.a.collider, c.b.collider, X_BA);
    const auto found = mesh_contacts(c.a.collider, mesh, X_BA);
    ASSERT_EQ(found.size(), expected.size());
    for (const Contact& contact : found) {
      const auto twin = std::min_element(expected.begin(), expected.end(), [&](const Contact& x, const Contact& y) {
        return (x.p - contact.p).norm() < (y.p - contact.p).norm();
      });
      expect_same_contact(contact, *twin, 1e-11);
      ++points;
    }
  });
  if (few_cases()) return;
  EXPECT_GT(points, 4000);
}

TEST(RoundMesh, GapIsTheLargestSeparation) {
  for_random_cases(3000, [](std::mt19937_64& random) {
    const Collider a = collider_of(round_geometry(random), 0);
    const Collider& b = pooled_shape(ShapeType::mesh, random).collider;
    const Pose X_BA{random_rotation(random), random_vec3(random, 0.3)};
    const Contact contact = mesh_distance(a, b, X_BA);
    // Every direction is a lower bound; outside the points are an upper one, inside no other direction is better.
    EXPECT_NEAR(round_separation(a, *b.hull, X_BA, contact.n), contact.gap, 1e-4 * b.hull->radius);
    const double core = contact.gap + a.radius;
    const double reached = round_separation(a, *b.hull, X_BA, contact.n) + a.radius;
    if (core > 0) {
      EXPECT_NEAR(reached, core, 1e-12);
    } else {
      EXPECT_NEAR(core, best_round_axis(a, *b.hull, X_BA) + a.radius, 1e-12);
    }
    EXPECT_NEAR(contact.n.norm(), 1, 1e-14);
  });
}

TEST(RoundMesh, SphereGoesAroundTheFoot) {
  const Collider sole = collider_of(foot(), 1), ball = collider_of(Sphere{0.1}, 0);
  const Contact below = mesh_distance(ball, sole, Pose::translation(0.01, 0.02, -0.3));
  EXPECT_NEAR(below.gap, 0.2, 1e-15);
  EXPECT_LT((below.n + Vec3::UnitZ()).norm(), 1e-14);
  EXPECT_LT((below.p - Vec3(0.01, 0.02, -0.1)).norm(), 1e-15);
  EXPECT_EQ(below.code_a, FeatureCode::end(0));
  EXPECT_EQ(below.code_b.part(), Part::face);
  // Inside, the nearest face counts.
  const Contact inside = mesh_distance(ball, sole, Pose::translation(0, 0, 0.001));
  EXPECT_NEAR(inside.gap, -0.101, 1e-15);
  EXPECT_LT((inside.n + Vec3::UnitZ()).norm(), 1e-14);
}

TEST(RoundMesh, SphereAtAVertexLeavesAlongItsDirection) {
  const Collider cube = collider_of(mesh_of(Box{Vec3::Ones()}), 1), ball = collider_of(Sphere{0.5}, 0);
  const Contact contact = mesh_distance(ball, cube, Pose::translation(2, 2, 2));
  EXPECT_NEAR(contact.gap, std::sqrt(3) - 0.5, 1e-15);
  EXPECT_EQ(contact.code_b.part(), Part::vertex);
  // Centre on the vertex: one of its faces.
  const Contact meeting = mesh_distance(ball, cube, Pose::translation(1, 1, 1));
  EXPECT_NEAR(meeting.gap, -0.5, 1e-15);
  EXPECT_EQ(meeting.code_b.part(), Part::face);
}

// The walk over the surface ends where GJK does.
TEST(PointHull, NearestPointIsTheNearest) {
  for_random_cases(20000, [](std::mt19937_64& random) {
    const Hull& hull = *pooled_shape(ShapeType::mesh, random).collider.hull;
    const Vec3 point = random_vec3(random, hull.radius);
    const FaceBound bound = best_face(hull, point, Vec3::Zero());
    if (bound.s <= 1e-9) return;
    const NearestOnHull nearest = nearest_on_hull(hull, point, bound, 1e-9 * hull.radius);
    const GjkResult closest = gjk(Core::point(), Core::hull(hull), Pose::translation(point), kInfinity);
    ASSERT_EQ(closest.status, GjkStatus::separated);
    const double bend = largest_bend(hull);
    EXPECT_NEAR(nearest.distance, closest.distance, bend + 1e-13);
    EXPECT_LT((nearest.n - closest.n).norm(), 100 * bend + 1e-8);
    EXPECT_LT((nearest.x + nearest.distance * nearest.n - point).norm(), 1e-14);
  });
}

TEST(RoundMesh, CapsuleLyingOnAFaceHasBothEnds) {
  const Collider cube = collider_of(mesh_of(Box{Vec3::Ones()}), 1), capsule = collider_of(Capsule{0.1, 0.3}, 0);
  const Mat3 lying = Eigen::AngleAxisd(M_PI / 2, Vec3::UnitX()).toRotationMatrix();
  const auto found = mesh_contacts(capsule, cube, {lying, Vec3(0.2, 0.1, 1.0999)});
  ASSERT_EQ(found.size(), 2u);
  for (const Contact& contact : found) {
    EXPECT_NEAR(contact.gap, -1e-4, 1e-15);
    EXPECT_LT((contact.n - Vec3::UnitZ()).norm(), 1e-15);
    EXPECT_EQ(contact.code_b.part(), Part::face);
  }
  EXPECT_EQ(found[0].code_a, FeatureCode::end(0));
  EXPECT_EQ(found[1].code_a, FeatureCode::end(1));
}

// It rocks over an edge: the contact at the edge turns with it and does not jump between face and edge.
TEST(RoundMesh, CapsuleOverAnEdgeRocksSmoothly) {
  const Collider cube = collider_of(mesh_of(Box{Vec3::Ones()}), 1), capsule = collider_of(Capsule{0.1, 0.3}, 0);
  std::vector<Contact> before;
  for (double tilt = -5e-4; tilt <= 5e-4; tilt += 1e-5) {
    const Mat3 R = Eigen::AngleAxisd(M_PI / 2 + tilt, Vec3::UnitX()).toRotationMatrix();
    const auto found = mesh_contacts(capsule, cube, {R, Vec3(0.2, 0.9, 1.0999)});
    ASSERT_EQ(found.size(), 2u);
    for (std::size_t k = 0; k < before.size(); ++k) {
      EXPECT_EQ(found[k].id(), before[k].id());
      EXPECT_LT((found[k].n - before[k].n).norm(), 1.1e-5);
      EXPECT_LT((found[k].p - before[k].p).norm(), 1e-5);
      EXPECT_NEAR(found[k].gap, before[k].gap, 1e-5);
    }
    before = found;
  }
  EXPECT_EQ(before[0].code_a, FeatureCode::pipe());
  EXPECT_EQ(before[0].code_b.part(), Part::edge);
}

TEST(RoundMesh, CapsuleThroughAMeshLeavesAcrossAnEdge) {
  // Along z through the middle of a prism whose nearest way out is over the edge at x = 1.
  ConvexMesh prism;
  for (const double y : {-2.0, 2.0}) {
    for (const Vec3& p : {Vec3(0, 0, 1), Vec3(0, 0, -1), Vec3(-3, 0, 3), Vec3(-3, 0, -3)}) {
      prism.points.push_back(p + Vec3(0, y, 0));
    }
  }
  const Collider mesh = collider_of(prism, 1), capsule = collider_of(Capsule{0.1, 4}, 0);
  const Contact contact = mesh_distance(capsule, mesh, Pose::translation(-0.5, 0, 0));
  EXPECT_NEAR(contact.gap, -0.6, 1e-14);
  EXPECT_LT((contact.n - Vec3::UnitX()).norm(), 1e-14);
}

TEST(RoundMesh, FarShapesHaveNoContact) {
  const Collider cube = collider_of(mesh_of(Box{Vec3::Ones()}), 1);
  for (const Geometry& geometry : {Geometry(Sphere{0.1}), Geometry(Capsule{0.1, 0.3})}) {
    const Collider a = collider_of(geometry, 0);
    EXPECT_TRUE(mesh_contacts(a, cube, Pose::translation(1.6, 1.6, 1.6)).empty());
    EXPECT_TRUE(mesh_contacts(a, cube, Pose::translation(1e4, 0, 0)).empty());
  }
}

TEST(RoundMesh, AllocatesNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  const Collider& mesh = pooled_shape(ShapeType::mesh, random).collider;
  const Collider a = collider_of(Capsule{0.1, 0.3}, 0);
  std::vector<Pose> poses;
  for (int k = 0; k < 200; ++k) poses.push_back({random_rotation(random), random_vec3(random, 0.3)});
  PairBuffers scratch;
  std::vector<Contact> out;
  out.reserve(1000);
  const AllocationGuard guard;
  for (const Pose& X_BA : poses) {
    const PairQuery query{a, mesh, X_BA, bands_of(a, mesh), 8, scratch};
    round_mesh_contacts(query, out);
    round_mesh_distance(query);
  }
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace lithe::test

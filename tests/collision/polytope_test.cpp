#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <cmath>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/polytope_axes.h"
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

constexpr ShapePair kBoxBox = {ShapeType::box, ShapeType::box};
constexpr ShapePair kBoxMesh = {ShapeType::box, ShapeType::mesh};
constexpr ShapePair kMeshMesh = {ShapeType::mesh, ShapeType::mesh};

PolytopeScene scene_of(const PairCase& c) { return {c.a.collider, c.b.collider, c.X_WA, c.X_WB}; }

PairCase any_case(std::mt19937_64& random) {
  const ShapePair pairs[] = {kBoxBox, kBoxMesh, kMeshMesh};
  const ShapePair& pair = pairs[uniform_int(random, 0, 2)];
  switch (uniform_int(random, 0, 3)) {
    case 0: return random_case(pair, random);
    case 1: return near_case(pair, random);
    case 2: return resting_case(pair, random);
    default: return lattice_case(pair, random);
  }
}

// s(n) by its definition.
double separation_along(const PolytopeScene& scene, const Vec3& n_W) {
  double low = INFINITY, high = -INFINITY;
  for (const Vec3& x : scene.a.hull->vertices) low = std::min(low, n_W.dot(scene.X_WA * x));
  for (const Vec3& x : scene.b.hull->vertices) high = std::max(high, n_W.dot(scene.X_WB * x));
  return low - high;
}

// How far x is outside a hull: the largest height above a face.
double outside(const Hull& hull, const Vec3& x) {
  double height = -INFINITY;
  for (const Hull::Face& face : hull.faces) height = std::max(height, face.normal.dot(x) - face.offset);
  return height;
}

struct Searched {
  SeparatingAxes axes;
  double best;
};
Searched search_all(const PolytopeScene& scene) {
  PairBuffers scratch;
  const PairQuery query = scene.query(scratch);
  Searched result;
  all_axes(*scene.a.hull, *scene.b.hull, query.X_BA, query.bands.length, scratch.polytope.search, result.axes);
  result.best = std::max(result.axes.best_face(), result.axes.best_edge());
  return result;
}

Contact polytope_distance(const PolytopeScene& scene) {
  PairBuffers scratch;
  return polytope_polytope_distance(scene.query(scratch));
}

TEST(PolytopeAxes, SeparationsAreTheDefinition) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const PairCase c = any_case(random);
    const PolytopeScene scene = scene_of(c);
    const Searched found = search_all(scene);
    const Mat3 &R_WA = scene.X_WA.R, &R_WB = scene.X_WB.R;
    for (const FaceAxis& axis : found.axes.faces) {
      const Vec3 n = axis.on_a ? Vec3(-(R_WA * scene.a.hull->faces[axis.face].normal))
                               : Vec3(R_WB * scene.b.hull->faces[axis.face].normal);
      EXPECT_NEAR(axis.separation, separation_along(scene, n), 1e-13 * c.extent());
    }
    if (!found.axes.has_edge()) return;
    const Vec3 n = R_WB * found.axes.edge.n;
    EXPECT_NEAR(found.axes.edge.separation, separation_along(scene, n), 1e-13 * c.extent());
    EXPECT_NEAR(n.dot(R_WA * scene.a.hull->edges[found.axes.edge.edge_a].direction), 0, 1e-7);
    EXPECT_NEAR(n.dot(R_WB * scene.b.hull->edges[found.axes.edge.edge_b].direction), 0, 1e-7);
  });
}

TEST(PolytopeAxes, NoDirectionSeparatesOverlappingShapesBetter) {
  for_random_cases(
      300,
      [](std::mt19937_64& random) {
        const PairCase c = any_case(random);
        const PolytopeScene scene = scene_of(c);
        const Searched found = search_all(scene);
        if (found.best >= 0) return Outcome::skipped;
        const Vec3 n = scene.X_WB.R * best_direction(found.axes, *scene.a.hull, *scene.b.hull,
                                                     {scene.X_WB.R.transpose() * scene.X_WA.R, Vec3::Zero()});
        for (int k = 0; k < 200; ++k) {
          // Anywhere, and near the best.
          const Vec3 other = (k % 2 == 0 ? random_vec3(random) : Vec3(n + random_vec3(random, 1e-2))).normalized();
          EXPECT_LE(separation_along(scene, other), found.best + 1e-12 * c.extent());
        }
        return Outcome::checked;
      },
      0.8);
}

TEST(PolytopeContacts, EqualThoseFromAllAxes) {
  for_random_cases(12000, [](std::mt19937_64& random) {
    const PairCase c = any_case(random);
    const PolytopeScene scene = scene_of(c);
    const auto found = generic_contacts(scene), all = all_axes_contacts(scene);
    ASSERT_EQ(found.size(), all.size()) << describe(c);
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].id(), all[k].id()) << describe(c);
      EXPECT_LT((found[k].p - all[k].p).norm(), 1e-9);
      EXPECT_NEAR(found[k].gap, all[k].gap, 1e-12);
    }
  });
}

TEST(PolytopeContacts, AreAsDeepAsTheShapesOverlap) {
  for_random_cases(
      4000,
      [](std::mt19937_64& random) {
        const PairCase c = any_case(random);
        PolytopeScene scene = scene_of(c);
        scene.max_points = 4;
        const double depth = search_all(scene).best;
        if (depth >= 0) return Outcome::skipped;
        const auto contacts = generic_contacts(scene);
        EXPECT_FALSE(contacts.empty()) << describe(c);
        double deepest = INFINITY;
        for (const Contact& contact : contacts) deepest = std::min(deepest, contact.gap);
        EXPECT_NEAR(deepest, depth, 2e-4 * bands_of(scene.a, scene.b).length) << describe(c);
        return Outcome::checked;
      },
      0.8);
}

// Rods, plates and boxes without thickness in any pose near each other.
PolytopeScene extreme_scene(std::mt19937_64& random) {
  const auto box = [&](int index) {
    Vec3 half;
    for (int k = 0; k < 3; ++k) half[k] = std::pow(10, uniform(random, -3, 1));
    if (chance(random, 0.3)) half[uniform_int(random, 0, 2)] = 0;
    return box_collider(half.x(), half.y(), half.z(), index);
  };
  PolytopeScene scene{box(0), box(1), Pose{}, Pose{}};
  scene.X_WA.R = random_rotation(random);
  const Vec3 n = random_vec3(random).normalized();
  // From the middles at the same place to just apart along n.
  scene.X_WA.p = -uniform(random, 0, 1.001) * separation_along(scene, n) * n;
  return scene;
}

// Memory of one pair must not show in the next: the same bits from fresh memory and from memory that others used.
TEST(PolytopeContacts, DependOnThePosesAlone) {
  PairBuffers used;
  int contacts_seen = 0;
  for_random_cases(6000, [&](std::mt19937_64& random) {
    const PolytopeScene scene = chance(random, 0.5) ? extreme_scene(random) : scene_of(any_case(random));
    std::vector<Contact> contacts;
    polytope_polytope_contacts(scene.query(used), contacts);
    const auto fresh = generic_contacts(scene);
    ASSERT_EQ(contacts.size(), fresh.size());
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      EXPECT_EQ(contacts[k].id(), fresh[k].id());
      EXPECT_EQ(contacts[k].p, fresh[k].p);
      EXPECT_EQ(contacts[k].gap, fresh[k].gap);
      EXPECT_EQ(contacts[k].n, fresh[k].n);
    }
    contacts_seen += static_cast<int>(contacts.size());
  });
  if (few_cases()) return;
  EXPECT_GT(contacts_seen, 1000);
}

// Points of V, X and R are the incident shape's, or the reference's, own.
TEST(PolytopeContacts, PointsLieOnTheShapes) {
  for_random_cases(
      6000,
      [](std::mt19937_64& random) {
        const PolytopeScene scene = chance(random, 0.5) ? extreme_scene(random) : scene_of(any_case(random));
        const auto contacts = generic_contacts(scene);
        const double size = scene.a.hull->radius + scene.b.hull->radius;
        for (const Contact& contact : contacts) {
          const Vec3 p_A = scene.X_WA.inverse() * (scene.X_WB * contact.p);
          bool on_a = true;  // whose point it is
          if (const auto* f = std::get_if<VertexOverFace>(&contact.feature)) on_a = !f->face_on_a;
          if (const auto* f = std::get_if<EdgeCrossing>(&contact.feature)) on_a = !f->face_on_a;
          if (const auto* f = std::get_if<CornerUnderFace>(&contact.feature)) on_a = f->face_on_a;
          if (std::holds_alternative<ClosestFeatures>(contact.feature)) continue;
          const double height = on_a ? outside(*scene.a.hull, p_A) : outside(*scene.b.hull, contact.p);
          EXPECT_LE(height, 1e-12 * size);
        }
        return contacts.empty() ? Outcome::skipped : Outcome::checked;
      },
      0.9);
}

// Compared with the definition of s(n), not with any manifold.
TEST(PolytopeContacts, SeparatedShapesNeverSeemToOverlap) {
  for_random_cases(
      12000,
      [](std::mt19937_64& random) {
        const PairCase c = chance(random, 0.5) ? near_case(kMeshMesh, random) : any_case(random);
        const PolytopeScene scene = scene_of(c);
        const Contact closest = polytope_distance(scene);
        if (closest.gap <= 0) return Outcome::skipped;
        const Bands bands = bands_of(scene.a, scene.b);
        for (const Contact& contact : generic_contacts(scene)) {
          EXPECT_GE(contact.gap, -bands.edge_tie - 2 * bands.side) << describe(c);
        }
        return Outcome::checked;
      },
      0.8);
}

TEST(PolytopeContacts, AllocateNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  std::vector<PolytopeScene> scenes;
  for (int k = 0; k < 100; ++k) scenes.push_back(scene_of(any_case(random)));
  PairBuffers scratch;
  std::vector<Contact> contacts;
  const auto run = [&] {
    for (const PolytopeScene& scene : scenes) {
      contacts.clear();
      polytope_polytope_contacts(scene.query(scratch), contacts);
      polytope_polytope_distance(scene.query(scratch));
    }
  };
  run();
  const AllocationGuard guard;
  run();
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

TEST(PolytopeDistance, CubesApart) {
  EXPECT_NEAR(polytope_distance(stacked(cube(0), cube(1), 1.25)).gap, 0.25, 1e-15);
  EXPECT_NEAR(polytope_distance(stacked(cube(0), cube(1), 2, 1, 3)).gap, std::sqrt(5.0),
              1e-14);  // edge to edge, parallel
  EXPECT_NEAR(polytope_distance(stacked(cube(0), cube(1), 2, 2, 2)).gap, std::sqrt(3.0), 1e-14);  // vertex to vertex
}

TEST(PolytopeDistance, CubesInside) {
  const Contact shallow = polytope_distance(stacked(cube(0), cube(1), 0.9, 0.1, 0.2, turn_z(0.1)));
  EXPECT_NEAR(shallow.gap, -0.1, 1e-15);
  EXPECT_NEAR(shallow.n.z(), 1, 1e-15);
  EXPECT_NEAR(polytope_distance(stacked(cube(0), cube(1), 0)).gap, -1, 1e-15);
}

TEST(PolytopeDistance, CrossedRidgesOverlapByTheirEdges) {
  PolytopeScene scene = stacked(cube(0), cube(1), std::sqrt(2.0) - 0.1, 0.1, 0.2, turn_x(kPi / 4));
  scene.X_WB.R = turn_y(kPi / 4);
  const Contact contact = polytope_distance(scene);
  EXPECT_NEAR(contact.gap, -0.1, 1e-14);
  EXPECT_EQ(contact.code_a.part(), FeatureCode::Part::edge);
  EXPECT_EQ(contact.code_b.part(), FeatureCode::Part::edge);
}

// No vertex of one beam is above the other's face: the deepest points are where outlines cross.
TEST(PolytopeDistance, CrossedBeamsHaveWitnessesOnBoth) {
  const Contact contact = polytope_distance(stacked(box_collider(1, 0.1, 0.1, 0), box_collider(0.1, 1, 0.1, 1), 0.19));
  EXPECT_NEAR(contact.gap, -0.01, 1e-15);
  for (const Vec3& x : {contact.point_on_a(), contact.point_on_b()}) {
    EXPECT_LE(std::abs(x.x()), 0.1 + 1e-8);
    EXPECT_LE(std::abs(x.y()), 0.1 + 1e-8);
  }
  EXPECT_NEAR(contact.point_on_a().z(), 0.09, 1e-15);
  EXPECT_NEAR(contact.point_on_b().z(), 0.1, 1e-15);
}

TEST(PolytopeDistance, WitnessesLieOnBothSurfaces) {
  for_random_cases(4000, [](std::mt19937_64& random) {
    const PairCase c = any_case(random);
    const PolytopeScene scene = scene_of(c);
    const Contact contact = polytope_distance(scene);
    const Vec3 x_a = scene.X_WA.inverse() * (scene.X_WB * contact.point_on_a());
    EXPECT_NEAR(outside(*scene.a.hull, x_a), 0, 1e-8 * c.extent()) << describe(c);
    EXPECT_NEAR(outside(*scene.b.hull, contact.point_on_b()), 0, 1e-8 * c.extent()) << describe(c);
    EXPECT_NEAR(contact.n.norm(), 1, 1e-14);
  });
}

TEST(PolytopeDistance, OverlapIsTheBestOfAllAxes) {
  for_random_cases(
      4000,
      [](std::mt19937_64& random) {
        const PairCase c = any_case(random);
        const PolytopeScene scene = scene_of(c);
        const Searched all = search_all(scene);
        if (all.best >= 0) return Outcome::skipped;
        EXPECT_NEAR(polytope_distance(scene).gap, all.best, 2e-9 * c.extent()) << describe(c);
        return Outcome::checked;
      },
      0.8);
}

}  // namespace
}  // namespace lithe::test

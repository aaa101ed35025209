#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/pairs/pairs.h"
#include "tests/collision/polytope_scenes.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/constants.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// The closed forms for boxes against the definition: every axis there is, and the manifold of face_manifold.h.
namespace lithe::test {

using namespace internal;
namespace {

std::vector<Contact> box_contacts(const PolytopeScene& scene) {
  PairBuffers scratch;
  std::vector<Contact> contacts;
  const bool mesh = scene.b.type == ShapeType::mesh;
  (mesh ? box_mesh_contacts : box_box_contacts)(scene.query(scratch), contacts);
  return contacts;
}

void expect_normal(const std::vector<Contact>& contacts, const Vec3& n) {
  for (const Contact& contact : contacts) EXPECT_LT((contact.n - n).norm(), 1e-12) << contact.n.transpose();
}

// A crossing within `slack` of a corner of the reference face may be named after either side: rounding decides.
bool is_at_corner(const PolytopeScene& scene, const Contact& contact, double slack) {
  const auto* crossing = std::get_if<EdgeCrossing>(&contact.feature);
  if (!crossing) return false;
  const Hull& hull = crossing->face_on_a ? *scene.a.hull : *scene.b.hull;
  const Pose X_BA = scene.X_WB.inverse() * scene.X_WA;
  const Vec3 p = crossing->face_on_a ? X_BA.inverse() * contact.p : contact.p;
  const Hull::Face& face = hull.faces[(crossing->face_on_a ? contact.code_a : contact.code_b).index()];
  int sides = 0;
  for (int k = face.first; k < face.first + face.count; ++k) {
    const double beyond = hull.sides[k].normal.dot(p) - hull.sides[k].offset - bands_of(scene.a, scene.b).side;
    sides += std::abs(beyond) < slack;
  }
  return sides > 1;
}

// Skipped only where rounding may name a crossing after another side.
Outcome expect_same_manifold(const PolytopeScene& scene, const std::vector<Contact>& actual,
                             const std::vector<Contact>& expected, double size) {
  const double tolerance = 1e-12 * size;
  for (const Contact& contact : expected) {
    if (is_at_corner(scene, contact, 1e-9 * size)) return Outcome::skipped;
  }
  EXPECT_EQ(kinds(actual), kinds(expected));
  if (actual.size() != expected.size()) return Outcome::checked;
  for (std::size_t k = 0; k < actual.size(); ++k) {
    EXPECT_EQ(actual[k].id(), expected[k].id()) << k;
    EXPECT_EQ(actual[k].flags, expected[k].flags) << k;
    EXPECT_LT((actual[k].p - expected[k].p).norm(), 1e3 * tolerance) << k;  // crossings at small angles move far
    EXPECT_LT((actual[k].n - expected[k].n).norm(), 1e-9) << k;
    EXPECT_NEAR(actual[k].gap, expected[k].gap, 1e2 * tolerance) << k;
  }
  return Outcome::checked;
}

PolytopeScene ordered_scene(const PairCase& c) {
  const bool reversed = c.a.collider.type == c.b.collider.type && c.a.collider.shape > c.b.collider.shape;
  if (reversed) return {c.b.collider, c.a.collider, c.X_WB, c.X_WA};
  return {c.a.collider, c.b.collider, c.X_WA, c.X_WB};
}

using CaseMaker = PairCase (*)(const ShapePair&, std::mt19937_64&);

// Random cases must touch often enough to prove anything.
void compare_with_all_axes(ShapeType b, CaseMaker make, int cases, int least_touching) {
  int touching = 0;
  for_random_cases(
      cases,
      [&](std::mt19937_64& random) {
        const PairCase c = make({ShapeType::box, b}, random);
        PolytopeScene scene = ordered_scene(c);
        scene.max_points = chance(random, 0.5) ? 100 : uniform_int(random, 1, 8);
        const auto expected = all_axes_contacts(scene);
        touching += !expected.empty();
        const Outcome outcome = expect_same_manifold(scene, box_contacts(scene), expected, c.extent());
        if (testing::Test::HasFailure()) ADD_FAILURE() << describe(c);
        return outcome;
      },
      0.02);
  if (few_cases()) return;
  EXPECT_GT(touching, least_touching * test_scale());
}

TEST(BoxBox, RandomBoxesHaveTheContactsOfAllAxes) { compare_with_all_axes(ShapeType::box, random_case, 8000, 3000); }
TEST(BoxBox, RestingBoxesHaveTheContactsOfAllAxes) { compare_with_all_axes(ShapeType::box, resting_case, 8000, 3000); }
TEST(BoxBox, LatticeBoxesHaveTheContactsOfAllAxes) { compare_with_all_axes(ShapeType::box, lattice_case, 8000, 3000); }
TEST(BoxMesh, RandomMeshesHaveTheContactsOfAllAxes) { compare_with_all_axes(ShapeType::mesh, random_case, 4000, 1500); }
TEST(BoxMesh, RestingMeshesHaveTheContactsOfAllAxes) {
  compare_with_all_axes(ShapeType::mesh, resting_case, 8000, 2500);
}
TEST(BoxMesh, LatticeMeshesHaveTheContactsOfAllAxes) {
  compare_with_all_axes(ShapeType::mesh, lattice_case, 3000, 1000);
}

// Thin and long sizes, where the incident face is not all that is near. Sizes of zero have a test of their own.
TEST(BoxBox, ExtremeBoxesHaveTheContactsOfAllAxes) {
  int touching = 0;
  for_random_cases(
      8000,
      [&](std::mt19937_64& random) {
        const auto size = [&] {
          constexpr double kSizes[] = {1e-9, 1e-6, 1e-3, 0.1, 0.5, 20};
          return kSizes[uniform_int(random, 0, 5)];
        };
        const auto box = [&](int index) {
          Vec3 half(size(), size(), size());
          half[uniform_int(random, 0, 2)] = 0.3;
          return box_collider(half.x(), half.y(), half.z(), index);
        };
        const Collider a = box(0), b = box(1);
        const double tilt = chance(random, 0.5) ? 0 : std::pow(10, uniform(random, -7, 0));
        const Mat3 R = turn_z(chance(random, 0.5) ? uniform(random, -3, 3) : 0) * turn_x(tilt);
        PolytopeScene scene = stacked(a, b, 0, uniform(random, -0.3, 0.3), uniform(random, -0.3, 0.3), R);
        const double reach = b.half_size.z() + R.row(2).cwiseAbs().dot(a.half_size);
        scene.X_WA.p.z() = reach + uniform(random, -2, 1) * bands_of(a, b).margin;
        const auto expected = all_axes_contacts(scene);
        touching += !expected.empty();
        return expect_same_manifold(scene, box_contacts(scene), expected, 40);
      },
      0.05);
  if (few_cases()) return;
  EXPECT_GT(touching, 2000);
}

TEST(BoxBox, AlignedEqualCubesTouchAtFourVertices) {
  const auto contacts = box_contacts(stacked(cube(0), cube(1), 1));
  EXPECT_EQ(kinds(contacts), "V4");
  expect_normal(contacts, Vec3::UnitZ());
  for (const Contact& contact : contacts) EXPECT_NEAR(contact.gap, 0, 1e-15);
}

TEST(BoxBox, PartlySupportedCubes) {
  EXPECT_EQ(kinds(box_contacts(stacked(cube(0), cube(1), 1, 0.5))), "V2X2");
  EXPECT_EQ(kinds(box_contacts(stacked(cube(0), cube(1), 1, 0, 0, turn_z(kPi / 4)))), "X8");
  EXPECT_EQ(kinds(box_contacts(stacked(cube(0), cube(1), 1, 0.37, 0.21, turn_z(0.3)))), "V1X2R1");
}

TEST(BoxBox, BeamsAndPillars) {
  EXPECT_EQ(kinds(box_contacts(stacked(box_collider(1, 0.1, 0.1, 0), box_collider(0.1, 1, 0.1, 1), 0.2))), "X4");
  EXPECT_EQ(kinds(box_contacts(stacked(box_collider(1, 1, 0.1, 0), box_collider(0.1, 0.1, 0.5, 1), 0.6))), "V4");
}

TEST(BoxBox, KnivesAndRidges) {
  PolytopeScene knives = stacked(cube(0), box_collider(1, 0.5, 0.5, 1), std::sqrt(2.0), 0, 0, turn_x(kPi / 4));
  knives.X_WB.R = turn_x(kPi / 4);
  EXPECT_EQ(kinds(box_contacts(knives)), "V2X2");
  // Crossing, the faces lose half the edge's length times the sine: first less, then more than edge_tie.
  knives.X_WA.R = turn_z(1e-4) * turn_x(kPi / 4);
  EXPECT_EQ(kinds(box_contacts(knives)), "V2X2");
  knives.X_WA.R = turn_z(1e-3) * turn_x(kPi / 4);
  EXPECT_EQ(kinds(box_contacts(knives)), "E1");

  PolytopeScene ridges = stacked(cube(0), cube(1), std::sqrt(2.0) - 1e-3, 0.1, 0.2, turn_x(kPi / 4));
  ridges.X_WB.R = turn_y(kPi / 4);
  const auto contacts = box_contacts(ridges);
  ASSERT_EQ(kinds(contacts), "E1");
  EXPECT_NEAR(contacts[0].gap, -1e-3, 1e-12);
  EXPECT_LT((ridges.X_WB.R * contacts[0].n - Vec3::UnitZ()).norm(), 1e-12);
}

TEST(BoxBox, ConcentricCubesPushAlongTheirFirstFace) {
  const auto contacts = box_contacts(stacked(cube(0), cube(1), 0));
  EXPECT_EQ(kinds(contacts), "V4");
  expect_normal(contacts, -Vec3::UnitX());
}

TEST(BoxBox, ThinBoxesTouchWithTheirLowerSide) {
  for (const double tilt : {0.0, 1e-9, 1e-6}) {
    EXPECT_EQ(kinds(box_contacts(stacked(box_collider(0.3, 0.2, 0, 0), cube(1), 0.5, 0, 0, turn_x(tilt)))), "V4");
  }
  const auto plate = box_contacts(stacked(box_collider(0.3, 0.2, 1e-4, 0), cube(1), 0.5001, 0, 0, turn_x(1e-5)));
  EXPECT_EQ(kinds(plate), "V4");
  for (const Contact& contact : plate) EXPECT_LT(contact.p.z(), 0.50001);
}

// On and under the cube, turned over, and hanging over its side: always the four corners of the overlap, once.
TEST(BoxBox, PlatesWithoutThicknessTouchOnEitherSide) {
  for (const double side : {1.0, -1.0}) {
    for (const double flip : {0.0, kPi}) {
      for (const double x : {0.0, 0.4}) {
        for (const double yaw : {0.0, 0.3}) {
          const PolytopeScene scene =
              stacked(box_collider(0.3, 0.2, 0, 0), cube(1), side * 0.5, x, 0, turn_z(yaw) * turn_x(flip));
          const auto contacts = box_contacts(scene);
          EXPECT_EQ(contacts.size(), 4u) << side << " " << flip << " " << x << " " << yaw;
          expect_normal(contacts, side * Vec3::UnitZ());
          for (const Contact& contact : contacts) {
            EXPECT_NEAR(contact.gap, 0, 1e-15);
            EXPECT_LE(contact.p.cwiseAbs().maxCoeff(), 0.5 + bands_of(scene.a, scene.b).side + 1e-15);
          }
        }
      }
    }
  }
}

TEST(BoxBox, FarFromTheOriginTheSetIsTheSame) {
  PolytopeScene scene = stacked(cube(0), cube(1), 1, 0.37, 0.21, turn_z(0.3));
  const auto here = box_contacts(scene);
  scene.X_WA.p += Vec3(1e4, -1e4, 1e4);
  scene.X_WB.p += Vec3(1e4, -1e4, 1e4);
  const auto there = box_contacts(scene);
  ASSERT_EQ(here.size(), there.size());
  for (std::size_t k = 0; k < here.size(); ++k) EXPECT_EQ(here[k].id(), there[k].id());
}

// The foot stands on the ground, which is a; the mesh b is what moves.
PolytopeScene foot_on_ground(const Mat3& R, const Vec3& p) {
  return {box_collider(2, 2, 0.5, 0), make_test_shape(foot(), 1).collider, Pose::translation(0, 0, -0.5), {R, p}};
}

TEST(BoxMesh, FootTouchesTheGroundWithItsSole) {
  const PolytopeScene scene = foot_on_ground(turn_z(0.7), Vec3(0.3, -0.4, 0));
  const auto contacts = box_contacts(scene);
  EXPECT_EQ(kinds(contacts), "V16");
  expect_normal(contacts, -Vec3::UnitZ());
  for (const Contact& contact : contacts) {
    EXPECT_EQ(contact.code_a, FeatureCode::face(4));
    EXPECT_NEAR(contact.gap, 0, 1e-15);
    EXPECT_EQ(contact.p, scene.b.hull->vertices[contact.code_b.index()]);
  }
}

// Everywhere on the ground and over its edges, flat and tilted, resting, deep and just above.
TEST(BoxMesh, FeetOnTheGroundHaveTheContactsOfAllAxes) {
  int touching = 0, inside = 0;
  for_random_cases(
      6000,
      [&](std::mt19937_64& random) {
        const double tilt = chance(random, 0.4) ? 0 : std::pow(10, uniform(random, -7, 0));
        const Mat3 R = turn_z(uniform(random, -3, 3)) * turn_x(tilt * uniform(random, -1, 1)) * turn_y(tilt);
        PolytopeScene scene = foot_on_ground(R, Vec3(uniform(random, -2.1, 2.1), uniform(random, -2.1, 2.1), 0));
        double lowest = 0;
        for (const Vec3& x : scene.b.hull->vertices) lowest = std::min(lowest, (R * x).z());
        const double margin = bands_of(scene.a, scene.b).margin;
        const double height = chance(random, 0.7) ? uniform(random, -2, 1.5) * margin : uniform(random, -0.2, 0);
        scene.X_WB.p.z() = height - lowest;
        scene.max_points = uniform_int(random, 1, 20);
        const auto expected = all_axes_contacts(scene);
        touching += !expected.empty();
        inside += scene.X_WB.p.head<2>().cwiseAbs().maxCoeff() < 1.8;
        return expect_same_manifold(scene, box_contacts(scene), expected, 4);
      },
      0.02);
  if (!few_cases()) {
    EXPECT_GT(touching, 3000);
    EXPECT_GT(inside, 3000);
  }
}

// A plank, larger than the face below, leans with its toe on that face's edge. However steep, its own face separates as
// well as the box's (the box ends where it begins), so the larger of the two is the reference: the plank's.
TEST(BoxMesh, LargePlankWithItsToeAtTheEdgeIsItsOwnReference) {
  const double angle = 0.7, length = 1.25, width = 0.98;
  ASSERT_LT(length * std::cos(angle), 1);  // it is all above the face,
  ASSERT_GT(length * width, 1);            // and larger
  const std::vector<Vec3> plank = {{0, -0.49, 0},     {0, 0.49, 0},     {length, -0.49, 0},
                                   {length, 0.49, 0}, {0.6, -0.3, 0.1}, {0.6, 0.3, 0.1}};
  PolytopeScene scene{box_collider(0.5, 0.5, 0.5, 0), mesh_collider(plank, 1), Pose{}, Pose{}};
  scene.X_WB = {turn_y(-angle), Vec3(-0.5 + 1e-7, 0, 0.5)};
  const auto contacts = box_contacts(scene);
  ASSERT_FALSE(contacts.empty());
  for (const Contact& contact : contacts) EXPECT_EQ(contact.code_b.part() == FeatureCode::Part::vertex, false);
  EXPECT_EQ(expect_same_manifold(scene, contacts, all_axes_contacts(scene), 2), Outcome::checked);
}

TEST(BoxPairs, AllocateNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  PolytopeScene ridges = stacked(cube(0), cube(1), std::sqrt(2.0) - 1e-3, 0.1, 0.2, turn_x(kPi / 4));
  ridges.X_WB.R = turn_y(kPi / 4);
  for (PolytopeScene scene : {stacked(cube(0), cube(1), 1, 0.37, 0.21, turn_z(0.3)), ridges,
                              foot_on_ground(turn_x(1e-3), Vec3(0, 0, 0)), foot_on_ground(turn_z(1), Vec3(2, 1, 0))}) {
    scene.max_points = 3;
    PairBuffers scratch;
    std::vector<Contact> contacts;
    const PairQuery query = scene.query(scratch);
    const auto test = scene.b.type == ShapeType::mesh ? box_mesh_contacts : box_box_contacts;
    test(query, contacts);
    EXPECT_FALSE(contacts.empty());
    contacts.clear();
    const AllocationGuard guard;
    test(query, contacts);
    const long allocations = guard.count();
    EXPECT_EQ(allocations, 0);
  }
}

}  // namespace
}  // namespace lithe::test

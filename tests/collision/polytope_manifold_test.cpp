#include <Eigen/Geometry>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lithe/collision/hull/hull.h"
#include "lithe/spatial/rotation.h"
#include "tests/collision/polytope_scenes.h"
#include "tests/support/constants.h"
#include "tests/support/random_model.h"

namespace lithe::test {

using namespace internal;
namespace {

double lowest_gap(const std::vector<Contact>& contacts) {
  double lowest = INFINITY;
  for (const Contact& contact : contacts) lowest = std::min(lowest, contact.gap);
  return lowest;
}

void expect_same_normal(const std::vector<Contact>& contacts, const Vec3& n) {
  for (const Contact& contact : contacts) EXPECT_LT((contact.n - n).norm(), 1e-12) << contact.n.transpose();
}

TEST(PolytopeManifold, AlignedEqualCubesTouchAtFourVertices) {
  const auto contacts = generic_contacts(stacked(cube(0), cube(1), 1));
  EXPECT_EQ(kinds(contacts), "V4");
  expect_same_normal(contacts, Vec3::UnitZ());
  for (const Contact& contact : contacts) {
    EXPECT_NEAR(contact.gap, 0, 1e-15);
    EXPECT_NEAR(contact.p.z(), 0.5, 1e-15);
  }
}

TEST(PolytopeManifold, CubeHalfBesideACubeHasTwoVerticesAndTwoCrossings) {
  EXPECT_EQ(kinds(generic_contacts(stacked(cube(0), cube(1), 1, 0.5))), "V2X2");
}

TEST(PolytopeManifold, CubesTurnedByAnEighthCrossEightTimes) {
  EXPECT_EQ(kinds(generic_contacts(stacked(cube(0), cube(1), 1, 0, 0, turn_z(kPi / 4)))), "X8");
}

TEST(PolytopeManifold, ShiftedAndTurnedCubesHaveAllThreeKinds) {
  const auto contacts = generic_contacts(stacked(cube(0), cube(1), 1, 0.37, 0.21, turn_z(0.3)));
  EXPECT_EQ(kinds(contacts), "V1X2R1");
}

TEST(PolytopeManifold, CrossedBeamsTouchAtFourCrossings) {
  const auto contacts = generic_contacts(stacked(box_collider(1, 0.1, 0.1, 0), box_collider(0.1, 1, 0.1, 1), 0.2));
  EXPECT_EQ(kinds(contacts), "X4");
}

TEST(PolytopeManifold, SlabRestsOnTheVerticesOfItsPillar) {
  const auto contacts = generic_contacts(stacked(box_collider(1, 1, 0.1, 0), box_collider(0.1, 0.1, 0.5, 1), 0.6));
  EXPECT_EQ(kinds(contacts), "V4");
}

// Ridges along x, one on the other. All normals between the faces' are equally good; one face is chosen.
PolytopeScene knives(double half_length, double crossing) {
  PolytopeScene scene = stacked(box_collider(half_length, 0.5, 0.5, 0), box_collider(1, 0.5, 0.5, 1), std::sqrt(2.0), 0,
                                0, turn_z(crossing) * turn_x(kPi / 4));
  scene.X_WB.R = turn_x(kPi / 4);
  return scene;
}

TEST(PolytopeManifold, KnifeOnKnifeTouchesAtBothEndsOfTheRidge) {
  EXPECT_EQ(kinds(generic_contacts(knives(0.5, 0))), "V2X2");
  EXPECT_EQ(kinds(generic_contacts(knives(0.05, 1e-3))), "V2X2");
}

TEST(PolytopeManifold, KnivesThatCrossTouchAtOnePoint) { EXPECT_EQ(kinds(generic_contacts(knives(0.5, 1e-2))), "E1"); }

TEST(PolytopeManifold, CrossedRidgesTouchAtOnePoint) {
  PolytopeScene scene = stacked(cube(0), cube(1), std::sqrt(2.0) - 1e-3, 0.1, 0.2, turn_x(kPi / 4));
  scene.X_WB.R = turn_y(kPi / 4);
  const auto contacts = generic_contacts(scene);
  ASSERT_EQ(kinds(contacts), "E1");
  EXPECT_NEAR(contacts[0].gap, -1e-3, 1e-12);
  EXPECT_LT((scene.X_WB.R * contacts[0].n - Vec3::UnitZ()).norm(), 1e-12);
}

TEST(PolytopeManifold, ConcentricCubesPushAlongTheirFirstFace) {
  const auto contacts = generic_contacts(stacked(cube(0), cube(1), 0));
  EXPECT_EQ(kinds(contacts), "V4");
  expect_same_normal(contacts, -Vec3::UnitX());
  EXPECT_NEAR(lowest_gap(contacts), -1, 1e-15);
}

TEST(PolytopeManifold, BoxWithoutThicknessTouchesAtFourVertices) {
  for (const double tilt : {0.0, 1e-9, 1e-6}) {
    const auto contacts = generic_contacts(stacked(box_collider(0.3, 0.2, 0, 0), cube(1), 0.5, 0, 0, turn_x(tilt)));
    EXPECT_EQ(kinds(contacts), "V4");
    expect_same_normal(contacts, Vec3::UnitZ());
  }
}

TEST(PolytopeManifold, ThinPlateTouchesWithItsLowerSideAlone) {
  const auto contacts = generic_contacts(stacked(box_collider(0.3, 0.2, 1e-4, 0), cube(1), 0.5001, 0, 0, turn_x(1e-5)));
  EXPECT_EQ(kinds(contacts), "V4");
  for (const Contact& contact : contacts) EXPECT_LT(contact.p.z(), 0.50001);
}

TEST(PolytopeManifold, FarFromTheOriginTheSetIsTheSame) {
  PolytopeScene scene = stacked(cube(0), cube(1), 1, 0.37, 0.21, turn_z(0.3));
  const auto here = generic_contacts(scene);
  scene.X_WA.p += Vec3(1e4, -1e4, 1e4);
  scene.X_WB.p += Vec3(1e4, -1e4, 1e4);
  const auto there = generic_contacts(scene);
  ASSERT_EQ(here.size(), there.size());
  for (std::size_t k = 0; k < here.size(); ++k) {
    EXPECT_EQ(here[k].id(), there[k].id());
    EXPECT_LT((here[k].p - there[k].p).norm(), 1e-11);
  }
}

TEST(PolytopeManifold, LongRodsGiveFiniteContacts) {
  for (const double angle : {0.0, 1e-9, 1e-6, 1e-4, 1e-2, 1.0}) {
    const auto contacts = generic_contacts(stacked(box_collider(50, 0.005, 0.005, 0), box_collider(50, 0.005, 0.005, 1),
                                                   0.0099, 0.1, 0.001, turn_z(angle)));
    EXPECT_FALSE(contacts.empty()) << angle;
    for (const Contact& contact : contacts) {
      EXPECT_TRUE(contact.p.allFinite() && contact.n.allFinite() && std::isfinite(contact.gap));
      EXPECT_NEAR(contact.gap, -1e-4, 1e-5);
    }
  }
}

TEST(PolytopeManifold, NeedleTouchesWithItsTip) {
  // No face at the tip faces the ground by more than 1 %.
  const Collider needle = mesh_collider({{0, 0, 0}, {0.01, 0, 1}, {-0.01, 0.01, 1}, {-0.01, -0.01, 1}}, 0);
  const auto contacts = generic_contacts(stacked(needle, cube(1), 0.4999));
  ASSERT_EQ(kinds(contacts), "V1");
  EXPECT_NEAR(contacts[0].gap, -1e-4, 1e-15);
}

TEST(PolytopeManifold, BoxWithoutThicknessOverAnEdgeCrossesIt) {
  const auto contacts = generic_contacts(stacked(box_collider(0.3, 0.2, 0, 0), cube(1), 0.5, 0.4, 0.1, turn_z(0.2)));
  EXPECT_EQ(kinds(contacts), "V2X2");
}

TEST(PolytopeManifold, BoxWithoutThicknessOverACornerHasAllKinds) {
  for (const double tilt : {0.0, 1e-7, 1e-5}) {
    const Mat3 R = turn_y(tilt) * turn_z(0.1);
    const auto contacts = generic_contacts(stacked(box_collider(0.3, 0.3, 0, 0), cube(1), 0.5, 0.5, 0.5, R));
    EXPECT_EQ(kinds(contacts), "V1X2R1");
  }
}

TEST(PolytopeManifold, CrossingsAtASmallAngleAreReported) {
  const auto flagged = [](double angle) {
    PolytopeScene scene = stacked(box_collider(1, 0.3, 0.1, 0), box_collider(2, 0.3, 0.2, 1), 0.3, 0, 0, turn_z(angle));
    int count = 0;
    for (const Contact& contact : generic_contacts(scene)) {
      if (std::holds_alternative<EdgeCrossing>(contact.feature) && has(contact.flags, ContactFlag::sensitive_point)) {
        ++count;
      }
    }
    return count;
  };
  EXPECT_GT(flagged(5e-4), 0);
  EXPECT_EQ(flagged(5e-2), 0);
}

TEST(PolytopeManifold, PointsBelongToTheirFeatures) {
  const PolytopeScene scene = stacked(cube(0), cube(1), 0.9999, 0.37, 0.21, turn_y(1e-4) * turn_z(0.3));
  const auto contacts = generic_contacts(scene);
  ASSERT_EQ(kinds(contacts), "V1X2R1");
  for (const Contact& contact : contacts) {
    // a has the face: both cubes are equal, and a has the lower number.
    EXPECT_LT((contact.n - scene.X_WA.R * Vec3::UnitZ()).norm(), 1e-15);
    const Vec3 p_A = scene.X_WA.inverse() * contact.p;
    if (std::holds_alternative<VertexOverFace>(contact.feature)) {
      EXPECT_EQ(contact.code_a, FeatureCode::face(5));
      EXPECT_LT((contact.p - scene.b.hull->vertices[contact.code_b.index()]).norm(), 1e-15);
      EXPECT_NEAR(contact.gap, -0.5 - p_A.z(), 1e-15);
    } else if (const auto* crossing = std::get_if<EdgeCrossing>(&contact.feature)) {
      const Hull::Side& side = scene.a.hull->sides[scene.a.hull->faces[5].first + contact.code_a.second()];
      EXPECT_EQ(contact.code_a.part(), FeatureCode::Part::face_side);
      EXPECT_NEAR(side.normal.dot(p_A) - side.offset, 1e-4 * std::sqrt(0.75), 1e-12);  // δ beyond the face
      EXPECT_LT((scene.X_WA.R * side.normal - crossing->m).norm(), 1e-15);
      const Vec3& from = scene.b.hull->vertices[contact.code_b.index()];
      EXPECT_LT((contact.p - from).cross(crossing->e).norm(), 1e-15);
    } else {
      const auto& corner = std::get<CornerUnderFace>(contact.feature);
      EXPECT_LT((p_A - scene.a.hull->vertices[contact.code_a.index()]).norm(), 1e-15);
      // c = p + gap n_r lies on b's face, which is +z.
      EXPECT_EQ(contact.code_b, FeatureCode::face(4));
      EXPECT_NEAR((contact.p - contact.gap * contact.n).z(), 0.5, 1e-15);
      EXPECT_LT((corner.n_f - Vec3::UnitZ()).norm(), 1e-15);
    }
  }
}

std::vector<Vec3> prism(int sides, double radius, double half_height) {
  std::vector<Vec3> points;
  for (int k = 0; k < sides; ++k) {
    const double angle = 2 * kPi * k / sides;
    for (const double z : {-half_height, half_height}) {
      points.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
    }
  }
  return points;
}

std::vector<FeatureId> ids(const std::vector<Contact>& contacts) {
  std::vector<FeatureId> result;
  for (const Contact& contact : contacts) result.push_back(contact.id());
  return result;
}

// Area of the convex polygon that some points on a circle make, relative to the disc.
double area_on_circle(const std::vector<Contact>& contacts, double radius) {
  std::vector<double> angles;
  for (const Contact& contact : contacts) angles.push_back(std::atan2(contact.p.y(), contact.p.x()));
  std::sort(angles.begin(), angles.end());
  double area = 0;
  for (std::size_t k = 0; k < angles.size(); ++k) {
    const double next = k + 1 < angles.size() ? angles[k + 1] : angles[0] + 2 * kPi;
    area += 0.5 * radius * radius * std::sin(next - angles[k]);
  }
  return area / (kPi * radius * radius);
}

TEST(ManifoldReduction, KeepsMostOfAPolygon) {
  PolytopeScene scene = stacked(mesh_collider(prism(60, 0.3, 0.2), 0), cube(1), 0.7);
  ASSERT_EQ(kinds(generic_contacts(scene)), "V60");
  for (const auto& [points, area] : {std::pair(6, 0.77), std::pair(8, 0.88), std::pair(12, 0.93)}) {
    scene.max_points = points;
    const auto contacts = generic_contacts(scene);
    EXPECT_EQ(static_cast<int>(contacts.size()), points);
    EXPECT_GT(area_on_circle(contacts, 0.3), area);
  }
}

TEST(ManifoldReduction, KeepsTheSamePointsWhenTheBodyTilts) {
  PolytopeScene scene = stacked(mesh_collider(prism(60, 0.3, 0.2), 0), cube(1), 0.7);
  scene.max_points = 8;
  const auto flat = ids(generic_contacts(scene));
  for (int k = 0; k < 20; ++k) {
    scene.X_WA.R = turn_z(0.1 * k) * turn_x(1e-6);
    EXPECT_EQ(ids(generic_contacts(scene)), flat);
  }
}

TEST(ManifoldReduction, NeverDropsTheDeepestPoint) {
  PolytopeScene scene = stacked(mesh_collider(prism(60, 0.3, 0.2), 0), cube(1), 0.7);
  for (int k = 0; k < 60; ++k) {
    scene.X_WA.R = turn_z(0.1 * k) * turn_x(2e-4) * turn_z(-0.3 * k);
    scene.max_points = 100;
    const auto all = generic_contacts(scene);
    scene.max_points = 8;
    const auto kept = generic_contacts(scene);
    EXPECT_GT(all.size(), kept.size());
    EXPECT_NEAR(lowest_gap(kept), lowest_gap(all), bands_of(scene.a, scene.b).face_tie);
  }
}

TEST(ManifoldReduction, CrossingsStayBeforeVertices) {
  // Half of the polygon is beyond the cube's edge.
  PolytopeScene scene = stacked(mesh_collider(prism(60, 0.3, 0.2), 0), cube(1), 0.7, 0.501);
  EXPECT_EQ(kinds(generic_contacts(scene)), "V29X2");
  for (const int points : {3, 5, 8}) {
    scene.max_points = points;
    EXPECT_EQ(kinds(generic_contacts(scene)), fmt::format("V{}X2", points - 2));
  }
}

TEST(ManifoldReduction, ManyCrossingsKeepTheirSpread) {
  // Two equal 60-gons, turned by half a side: 120 crossings.
  const auto points = prism(60, 0.5, 0.2);
  PolytopeScene scene = stacked(mesh_collider(points, 0), mesh_collider(points, 1), 0.4, 0, 0, turn_z(kPi / 60));
  EXPECT_EQ(kinds(generic_contacts(scene)), "X120");
  scene.max_points = 16;
  const auto contacts = generic_contacts(scene);
  EXPECT_EQ(kinds(contacts), "X16");
  EXPECT_GT(area_on_circle(contacts, 0.5), 0.85);
}

TEST(ManifoldReduction, OnePointIsTheDeepest) {
  PolytopeScene scene = stacked(cube(0), cube(1), 0.9995, 0.1, 0.05, turn_x(3e-4) * turn_z(0.2) * turn_y(1e-4));
  const auto all = generic_contacts(scene);
  scene.max_points = 1;
  const auto one = generic_contacts(scene);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].gap, lowest_gap(all));
}

// Whatever rounding could decide lies inside a band: at rest the set is the same for every disturbance up to a
// hundredth of the narrowest one.
struct RestingScene {
  const char* name;
  PolytopeScene scene;
};

std::vector<RestingScene> resting_scenes() {
  std::vector<Vec3> foot;
  for (const Vec3& x : prism(16, 1, 1)) {
    const double taper = x.z() > 0 ? 0.7 : 1;
    foot.emplace_back(0.12 * taper * x.x(), 0.05 * taper * x.y(), x.z() > 0 ? 0.07 : 0);
  }
  PolytopeScene ridges = stacked(cube(0), cube(1), std::sqrt(2.0), 0.1, 0.2, turn_x(kPi / 4));
  ridges.X_WB.R = turn_y(kPi / 4);
  return {
      {"cube on cube", stacked(cube(0), cube(1), 1)},
      {"cube half beside", stacked(cube(0), cube(1), 1, 0.5)},
      {"cube shifted twice", stacked(cube(0), cube(1), 1, 0.5, 0.5)},
      {"cubes turned", stacked(cube(0), cube(1), 1, 0, 0, turn_z(kPi / 4))},
      {"cubes shifted and turned", stacked(cube(0), cube(1), 1, 0.37, 0.21, turn_z(0.3))},
      {"slab on pillar", stacked(box_collider(1, 1, 0.1, 0), box_collider(0.1, 0.1, 0.5, 1), 0.6)},
      {"crossed beams", stacked(box_collider(1, 0.1, 0.1, 0), box_collider(0.1, 1, 0.1, 1), 0.2)},
      {"plank flush with a table's side", stacked(box_collider(1, 0.1, 0.02, 0), cube(1), 0.52, 0.8, 0.4)},
      {"plank flush with three sides", stacked(box_collider(0.5, 0.1, 0.02, 0), cube(1), 0.52, 0, 0.4)},
      {"plate without thickness over an edge",
       stacked(box_collider(0.3, 0.2, 0, 0), cube(1), 0.5, 0.4, 0.1, turn_z(0.2))},
      {"mesh foot", stacked(mesh_collider(foot, 0), cube(1), 0.5, 0.1, 0.1, turn_z(0.3))},
      {"mesh foot over an edge", stacked(mesh_collider(foot, 0), cube(1), 0.5, 0.5, 0.1, turn_z(0.3))},
      {"hexagon on hexagon", stacked(mesh_collider(prism(6, 0.5, 0.2), 0), mesh_collider(prism(6, 0.5, 0.2), 1), 0.4)},
      {"hexagons turned",
       stacked(mesh_collider(prism(6, 0.5, 0.2), 0), mesh_collider(prism(6, 0.5, 0.2), 1), 0.4, 0, 0, turn_z(kPi / 6))},
      {"sixty sides", stacked(mesh_collider(prism(60, 0.3, 0.2), 0), cube(1), 0.7)},
      {"knife on knife", knives(0.5, 0)},
      {"crossed ridges", ridges},
      {"edge on face", stacked(cube(0), box_collider(1, 1, 0.5, 1), 0.5 + std::sqrt(0.5), 0.1, 0.2, turn_x(kPi / 4))},
  };
}

TEST(PolytopeManifold, StableUnderTinyPerturbations) {
  std::mt19937_64 random(1);
  for (auto& [name, scene] : resting_scenes()) {
    SCOPED_TRACE(name);
    scene.max_points = 8;
    const auto rest = ids(generic_contacts(scene));
    EXPECT_FALSE(rest.empty());
    for (const double size : {1e-9, 1e-8, 1e-7}) {
      for (int k = 0; k < 100; ++k) {
        PolytopeScene moved = scene;
        moved.X_WA.R = rotation_exp(random_vec3(random, size)) * scene.X_WA.R;
        moved.X_WA.p += random_vec3(random, size);
        EXPECT_EQ(ids(generic_contacts(moved)), rest) << size;
      }
    }
  }
}

}  // namespace
}  // namespace lithe::test

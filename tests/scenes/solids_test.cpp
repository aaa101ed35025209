#include "lithe/scenes/solids/solids.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <variant>

#include "lithe/core/internal/overloaded.h"
#include "lithe/scenes/solids/balls.h"
#include "lithe/scenes/solids/incline.h"
#include "lithe/scenes/solids/pile.h"
#include "lithe/scenes/solids/towers.h"
#include "tests/scenes/initial_contacts.h"
#include "tests/support/error_text.h"

namespace lithe {

using namespace internal;
namespace {

using test::expect_error;
using test::initial_contacts;

TEST(SolidInertia, IsThatOfTheGeometry) {
  EXPECT_EQ(solid_inertia(2, Sphere{0.3}).parameters(), SpatialInertia::sphere(2, 0.3).parameters());
  EXPECT_EQ(solid_inertia(2, Box{{1, 2, 3}}).parameters(), SpatialInertia::box(2, {2, 4, 6}).parameters());
  EXPECT_EQ(solid_inertia(2, Capsule{0.3, 0.5}).parameters(), SpatialInertia::capsule(2, 0.3, 1).parameters());
  EXPECT_EQ(solid_inertia(2, Cylinder{0.3, 0.5}).parameters(), SpatialInertia::cylinder(2, 0.3, 1).parameters());
}

TEST(SolidInertia, OfAPlaneOrAMeshIsRefused) {
  expect_error([] { solid_inertia(1, Plane{}); }, "plane");
  expect_error([] { solid_inertia(1, ConvexMesh{}); }, "mesh");
}

TEST(Stack, TouchesAtFourPointsPerInterface) {
  for (const int n : {1, 2, 20}) {
    const Scene scene = stack(n);
    EXPECT_EQ(scene.model.nv(), 6 * n);
    EXPECT_EQ(initial_contacts(scene).size(), 4u * n);
  }
  expect_error([] { stack(0); }, "at least one box", "0");
}

TEST(MassRatio, HasATowerOfEachKind) {
  const Scene scene = mass_ratio(1000);
  const auto mass = [&](const char* body) { return scene.model.bodies()[scene.model.body(body)].inertia.mass; };
  EXPECT_EQ(mass("heavy_upper"), 1000 * mass("light_lower"));
  EXPECT_EQ(mass("heavy_lower"), 1000 * mass("light_upper"));
  EXPECT_EQ(initial_contacts(scene).size(), 16u);
  expect_error([] { mass_ratio(0); }, "ratio", "0");
}

TEST(Pile, HangsInTheAirAboveThePit) {
  for (const int n : {1, 12, 100}) {
    const Scene scene = pile(n);
    EXPECT_EQ(scene.model.nv(), 6 * n);
    EXPECT_TRUE(initial_contacts(scene).empty()) << n;
  }
  expect_error([] { pile(0); }, "at least one body", "0");
}

TEST(Pile, IsTheSameEachTime) {
  const Scene a = pile(30), b = pile(30);
  for (std::size_t i = 0; i < a.model.shapes().size(); ++i) {
    EXPECT_TRUE(a.model.shapes()[i].geometry == b.model.shapes()[i].geometry);
  }
  for (std::size_t i = 0; i < a.model.joints().size(); ++i) {
    EXPECT_EQ(a.model.joints()[i].placement.R, b.model.joints()[i].placement.R);
    EXPECT_EQ(a.model.joints()[i].placement.p, b.model.joints()[i].placement.p);
  }
}

TEST(Pile, HasBodiesOfFiveShapesAndOneDensity) {
  const Model model = pile(20).model;
  int kinds[std::variant_size_v<Geometry>] = {};
  for (const Shape& shape : model.shapes()) {
    if (shape.body == Model::world()) continue;
    ++kinds[shape.geometry.index()];
    constexpr double pi = std::numbers::pi;
    const double volume = std::visit(
        Overloaded{
            [](const Sphere& g) { return 4 * pi / 3 * std::pow(g.radius, 3); },
            [](const Capsule& g) { return pi * g.radius * g.radius * (2 * g.half_length + 4 * g.radius / 3); },
            [](const Box& g) { return 8 * g.half_size.prod(); },
            [](const Cylinder& g) { return pi * g.radius * g.radius * 2 * g.half_length; },
            [](const Plane&) { return 0.0; },
            [](const ConvexMesh& g) { return 4.0 / 3 * std::pow(g.points[0].norm(), 3); },  // octahedron
        },
        shape.geometry);
    EXPECT_NEAR(model.bodies()[shape.body].inertia.mass, 500 * volume, 1e-12) << shape.name;
  }
  for (std::size_t kind = 0; kind < std::size(kinds); ++kind) {
    EXPECT_EQ(kinds[kind], kind == Geometry(Plane{}).index() ? 0 : 4) << kind;
  }
}

TEST(Incline, TheBlockLiesOnTheSlope) {
  for (const double angle : {0.0, 0.3, -0.7, 1.2}) {
    const Scene scene = incline(angle, 0.5);
    const std::vector<Contact> contacts = initial_contacts(scene);
    ASSERT_EQ(contacts.size(), 4u) << angle;
    for (const Contact& contact : contacts) {
      EXPECT_TRUE(contact.n.isApprox(Vec3(std::sin(angle), 0, std::cos(angle)), 1e-14)) << angle;
    }
    EXPECT_EQ(scene.model.gravity(), Vec3(0, 0, -9.81));
    for (const Shape& shape : scene.model.shapes()) EXPECT_EQ(shape.material.friction, 0.5);
  }
  expect_error([] { incline(1.6, 0.5); }, "angle", "1.6");
  expect_error([] { incline(0.1, -0.5); }, "friction", "-0.5");
}

TEST(TwoBalls, MoveTowardsEachOtherOnALine) {
  const Scene scene = two_balls();
  EXPECT_EQ(scene.model.nv(), 2);
  EXPECT_EQ(scene.model.bodies()[scene.model.body("left")].inertia.mass, 1);
  EXPECT_EQ(scene.model.bodies()[scene.model.body("right")].inertia.mass, 3);
  EXPECT_EQ(scene.v, Eigen::Vector2d(1, -1));
  EXPECT_TRUE(scene.model.gravity().isZero());
  EXPECT_TRUE(initial_contacts(scene).empty());
  Scene met = scene;
  set_initial(met, "left", 0.4);
  set_initial(met, "right", -0.4);
  EXPECT_EQ(initial_contacts(met).size(), 1u);
}

TEST(BouncingBall, HangsAtItsHeight) {
  Scene scene = bouncing_ball(0.5, 2);
  EXPECT_TRUE(initial_contacts(scene).empty());
  set_initial(scene, "ball.z", -2);
  const std::vector<Contact> contacts = initial_contacts(scene);
  ASSERT_EQ(contacts.size(), 1u);
  EXPECT_NEAR(contacts[0].gap, 0, 1e-15);
  for (const Shape& shape : scene.model.shapes()) EXPECT_EQ(shape.material.restitution, 0.5);
}

TEST(ReflectedBall, TakesASecondOf480Steps) {
  const Scene scene = reflected_ball();
  EXPECT_EQ(scene.model.nv(), 3);
  EXPECT_EQ(scene.v, Vec3(2, 0, -2));
  EXPECT_EQ(test::initial_poses(scene)[scene.model.body("ball")].p, Vec3(-1, 0, 1));
  EXPECT_NEAR(480 * scene.time_step, 1, 1e-15);
  EXPECT_TRUE(scene.model.gravity().isZero());
  EXPECT_TRUE(initial_contacts(scene).empty());
}

TEST(RollingSphere, StartsOnTheGroundWithoutSpin) {
  const Scene scene = rolling_sphere();
  EXPECT_EQ(initial_contacts(scene).size(), 1u);
  EXPECT_EQ(scene.v.head<3>(), Vec3(1, 0, 0));
  EXPECT_TRUE(scene.v.tail<3>().isZero(0));
}

}  // namespace
}  // namespace lithe

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <numbers>
#include <string>
#include <variant>
#include <vector>

#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/step_worlds.h"

// Bodies that are dropped come to rest, and stay.
namespace lithe::test {
namespace {

constexpr double kRestingTimeStep = 2e-3;
constexpr double kRestingSpeed = 1e-7;        // m/s and rad/s
constexpr double kRestingPenetration = 1e-4;  // m
// Nothing resists rolling. A landing that slides for a step, with a friction pyramid askew to it, leaves some.
constexpr double kRollingSpeed = 1e-5;

// A truncated pyramid of 0.3 m below, 0.2 m above and 0.2 m height. Its inertia is a box's of about that size.
void add_frustum(ModelBuilder& builder, const std::string& name, const Pose& placement) {
  ConvexMesh mesh;
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0}) {
      mesh.points.push_back({0.15 * x, 0.15 * y, -0.1});
      mesh.points.push_back({0.10 * x, 0.10 * y, 0.1});
    }
  }
  builder.add_body("world", {.name = name, .inertia = SpatialInertia::box(3, {0.25, 0.25, 0.2})},
                   free_joint(name, placement));
  builder.add_shape(name, {.name = name, .geometry = mesh});
}

// One solid over the ground, turned so that it will rest on the side that its z axis points away from (`lying`: on
// its flank), then tilted by `tilt` about an axis of the ground and lifted.
struct Drop {
  std::string name;
  Geometry geometry;
  double height;  // of its centre when it rests
  bool lying = false;
  bool rolls = false;
};

std::vector<Drop> drops() {
  return {
      {"box", Box{{0.15, 0.1, 0.08}}, 0.08},
      {"sphere", Sphere{0.1}, 0.1, false, true},
      {"lying capsule", Capsule{0.06, 0.12}, 0.06, true, true},
      {"standing cylinder", Cylinder{0.1, 0.08}, 0.08},
      {"lying cylinder", Cylinder{0.08, 0.12}, 0.08, true, true},
      {"mesh", ConvexMesh{}, 0.1},
  };
}

World dropped(const Drop& drop, const Site& site, Ground ground, double tilt) {
  ModelBuilder builder = ground_at(site, {}, ground);
  const Mat3 lie = drop.lying ? rotation_about(Vec3::UnitY(), std::numbers::pi / 2) : Mat3::Identity();
  const Pose start = site.place * Pose::translation(0.1, -0.05, drop.height + 0.05) *
                     Pose::rotation(rotation_about(Vec3::UnitY(), tilt) * lie);
  if (std::holds_alternative<ConvexMesh>(drop.geometry)) {
    add_frustum(builder, "body", start);
  } else {
    add_free_solid(builder, "body", 2, drop.geometry, start);
  }
  return world_of(builder, kRestingTimeStep);
}

void expect_rest(World& world, const Site& site, const Drop& drop) {
  run(world, 3);
  const RunReport rest = run(world, 0.5);
  const Vec3 up = site.place.R.col(2);
  const Vec6 velocity = velocity_of(world, "body");
  const Vec3 lowest_point_velocity = velocity.tail<3>() - velocity.head<3>().cross(drop.height * up);
  EXPECT_LT(lowest_point_velocity.norm(), kRestingSpeed);
  EXPECT_LT(fastest(world), drop.rolls ? kRollingSpeed : kRestingSpeed);
  EXPECT_LT(rest.deepest, kRestingPenetration);
  const Vec3 centre = site.place.inverse() * pose_of(world, "body").p;
  EXPECT_NEAR(centre.z(), drop.height, kRestingPenetration);
  const Vec3 weight = -world.model().total_mass() * world.model().gravity();
  EXPECT_LT((contact_force_on(world, "body") - weight).norm(), 1e-6 * weight.norm());
}

void expect_all_rest(const Site& site, Ground ground) {
  SCOPED_TRACE(site.name);
  for (const Drop& drop : drops()) {
    for (const double tilt : {0.0, 0.2}) {
      SCOPED_TRACE(drop.name + (tilt == 0 ? ", level" : ", tilted"));
      World world = dropped(drop, site, ground, tilt);
      expect_rest(world, site, drop);
    }
  }
}

TEST(Resting, EverySolidComesToRestOnAPlane) { expect_all_rest(at_the_origin(), Ground::plane); }

TEST(Resting, EverySolidComesToRestOnAFixedBox) { expect_all_rest(at_the_origin(), Ground::box); }

TEST(Resting, EverySolidComesToRestUnderGravityInAnyDirection) {
  expect_all_rest(in_a_tilted_world(), Ground::plane);
  expect_all_rest(in_a_tilted_world(), Ground::box);
}

TEST(Resting, EverySolidComesToRestAKilometreFromTheOrigin) {
  expect_all_rest(a_kilometre_away(), Ground::plane);
  expect_all_rest(a_kilometre_away(), Ground::box);
}

}  // namespace
}  // namespace lithe::test

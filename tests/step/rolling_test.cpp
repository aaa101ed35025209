#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/step_worlds.h"

namespace lithe::test {
namespace {

constexpr double kRollerRadius = 0.1;
constexpr double kRollerMass = 1.5;

// A round body that can roll along x, and κ of its moment of inertia κ m r².
struct Roller {
  std::string name;
  Geometry geometry;
  double kappa;
};
std::vector<Roller> rollers() {
  return {{"sphere", Sphere{kRollerRadius}, 0.4}, {"cylinder", Cylinder{kRollerRadius, 0.15}, 0.5}};
}

World roller_on_plane(const Roller& roller, double friction, double angle = 0, double time_step = 1e-3) {
  const Material material = {.friction = friction, .restitution = 0};
  const Pose slope = Pose::rotation(rotation_about(Vec3::UnitY(), angle));  // falls towards +x
  const Pose lying = Pose::rotation(rotation_about(Vec3::UnitX(), std::numbers::pi / 2));
  ModelBuilder builder;
  add_ground(builder, material, slope);
  add_free_solid(builder, "body", kRollerMass, roller.geometry, slope * Pose::translation(0, 0, kRollerRadius) * lying,
                 material);
  return world_of(builder, time_step);
}

// Its joint's axes are x, z, −y of the slope.
void set_motion(World& world, double speed, double spin) {
  set_free_velocity(world, "body", Vec3(speed, 0, 0), Vec3(0, 0, -spin));
}

TEST(Rolling, KeepsItsSpeedForTenSeconds) {
  for (const Roller& roller : rollers()) {
    SCOPED_TRACE(roller.name);
    World world = roller_on_plane(roller, 0.5);
    set_motion(world, 1, 1 / kRollerRadius);
    const double before = world.kinetic_energy();
    run(world, 10);
    EXPECT_NEAR(world.kinetic_energy(), before, 1e-9 * before);
    EXPECT_NEAR(pose_of(world, "body").p.x(), 10, 1e-8);
    EXPECT_LT(std::abs(pose_of(world, "body").p.y()), 1e-8);
  }
}

TEST(Rolling, DownASlopeItGainsWhatItsInertiaLeaves) {
  // a = g sin α / (1 + κ): 5/7 g sin α for a ball, 2/3 g sin α for a cylinder. Friction holds up to μ = tan α κ/(1 + κ).
  const double angle = 0.4;
  for (const Roller& roller : rollers()) {
    SCOPED_TRACE(roller.name);
    World world = roller_on_plane(roller, 0.3, angle);
    run(world, 2);
    const double expected = 2 * kGravity * std::sin(angle) / (1 + roller.kappa);
    EXPECT_NEAR(centre_velocity_of(world, "body").norm(), expected, 1e-8);
    EXPECT_NEAR(velocity_of(world, "body").head<3>().norm() * kRollerRadius, expected, 1e-8);
  }
}

TEST(Rolling, OnASlopeTooSteepItSlipsAndTurnsLess) {
  // a = g (sin α − μ cos α), and the spin grows by μ g cos α / (κ r).
  const double angle = 0.9, friction = 0.2;
  for (const Roller& roller : rollers()) {
    SCOPED_TRACE(roller.name);
    World world = roller_on_plane(roller, friction, angle);
    run(world, 1);
    EXPECT_NEAR(centre_velocity_of(world, "body").norm(), kGravity * (std::sin(angle) - friction * std::cos(angle)),
                1e-8);
    EXPECT_NEAR(velocity_of(world, "body").head<3>().norm(),
                friction * kGravity * std::cos(angle) / (roller.kappa * kRollerRadius), 1e-7);
  }
}

TEST(Rolling, BeginsWhenFrictionHasMatchedSpinAndSpeed) {
  // Sliding without spin, v falls by μ g t and ω r grows by μ g t/κ: they meet at t = v κ / (μ g (1 + κ)) (2 v/(7 μ g) for a
  // ball), at the speed v/(1 + κ).
  const double friction = 0.25, speed = 2, h = 1e-3;
  for (const Roller& roller : rollers()) {
    SCOPED_TRACE(roller.name);
    World world = roller_on_plane(roller, friction, 0, h);
    set_motion(world, speed, 0);
    const double meet = speed * roller.kappa / (friction * kGravity * (1 + roller.kappa));
    const auto slip = [&] {
      return centre_velocity_of(world, "body").x() - kRollerRadius * velocity_of(world, "body").head<3>().y();
    };
    double rolls_at = 0;
    while (rolls_at == 0 && world.time() < 2 * meet) {
      ASSERT_TRUE(world.step().solved());
      if (std::abs(slip()) < 1e-9) rolls_at = world.time();
    }
    EXPECT_NEAR(rolls_at, meet, h);
    EXPECT_NEAR(centre_velocity_of(world, "body").x(), speed / (1 + roller.kappa), 1e-9);
    run(world, 1);
    EXPECT_NEAR(centre_velocity_of(world, "body").x(), speed / (1 + roller.kappa), 1e-9);
  }
}

TEST(Rolling, BackspinBringsABallBack) {
  // With κ ω r > v the speed ends at (v − κ ω r)/(1 + κ) < 0.
  const Roller ball = rollers()[0];
  World world = roller_on_plane(ball, 0.4);
  set_motion(world, 1, -60);
  run(world, 2);
  EXPECT_NEAR(centre_velocity_of(world, "body").x(), (1 - 0.4 * 60 * kRollerRadius) / 1.4, 1e-9);
}

TEST(Rolling, ABallSpinningOnTheSpotSpinsOn) {
  // A point contact has no torque about its normal.
  World world = roller_on_plane(rollers()[0], 0.8);
  set_free_velocity(world, "body", Vec3::Zero(), Vec3(0, 7, 0));
  run(world, 5);
  EXPECT_NEAR(velocity_of(world, "body").head<3>().norm(), 7, 1e-9);
  EXPECT_LT(centre_velocity_of(world, "body").norm(), 1e-9);
}

}  // namespace
}  // namespace lithe::test

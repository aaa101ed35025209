#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/step_worlds.h"

// The mechanics textbook's problems of several bodies and several contacts.
namespace lithe::test {
namespace {

constexpr double kBodyMass = 2;

TEST(Statics, ABoxPressedAgainstAWallHoldsUntilItsWeightExceedsFriction) {
  // F ≥ m g/μ. The wall faces every horizontal direction in turn: its normal lies on the seam of the tangent basis.
  const double friction = 0.4;
  const double needed = kBodyMass * kGravity / friction;
  for (int quarter = 0; quarter < 4; ++quarter) {
    const Mat3 turn = rotation_about(Vec3::UnitZ(), quarter * std::numbers::pi / 2);
    const Vec3 outwards = turn.col(0).array().round();
    const Pose wall = Pose::rotation(turn * rotation_about(Vec3::UnitY(), std::numbers::pi / 2));
    for (const double share : {1.01, 0.99}) {
      SCOPED_TRACE("wall " + std::to_string(quarter) + ", pressed with " + std::to_string(share));
      ModelBuilder builder;
      add_ground(builder, {.friction = friction}, wall);
      add_free_solid(builder, "box", kBodyMass, Box{Vec3::Constant(0.1)}, Pose::translation(0.1 * outwards),
                     {.friction = friction});
      World world = world_of(builder, 1e-3);
      for (int i = 0; i < 500; ++i) {
        world.add_force(world.model().body("box"), -share * needed * outwards, pose_of(world, "box").p);
        ASSERT_TRUE(world.step().solved());
      }
      // Beyond its hold it slides down with g − μ F/m.
      const double expected = share > 1 ? 0 : -0.5 * (kGravity - friction * share * needed / kBodyMass);
      EXPECT_NEAR(centre_velocity_of(world, "box").z(), expected, 1e-8);
    }
  }
}

TEST(Statics, ABoxPressedAgainstTheCeilingStays) {
  ModelBuilder builder;
  add_ground(builder, {}, {rotation_about(Vec3::UnitX(), std::numbers::pi), Vec3(0, 0, 1)});
  add_free_solid(builder, "box", kBodyMass, Box{Vec3::Constant(0.1)}, Pose::translation(0, 0, 0.9));
  World world = world_of(builder, 1e-3);
  for (int i = 0; i < 500; ++i) {
    world.add_force(world.model().body("box"), Vec3(5, 3, kBodyMass * kGravity + 10), pose_of(world, "box").p);
    ASSERT_TRUE(world.step().solved());
  }
  EXPECT_LT(fastest(world), 1e-9);
  EXPECT_LT((contact_force_on(world, "box") - Vec3(-5, -3, -10)).norm(), 1e-8);
}

TEST(Statics, ABallInAGroovePressesOnBothSides) {
  // Two frictionless planes at ±α from the horizontal: each carries m g/(2 cos α).
  for (const double angle : {0.3, 0.8, 1.3}) {
    SCOPED_TRACE("angle " + std::to_string(angle));
    const Material smooth = {.friction = 0, .restitution = 0};
    ModelBuilder builder;
    for (const double side : {1.0, -1.0}) {
      builder.add_shape("world", {.name = side > 0 ? "left" : "right",
                                  .geometry = Plane{},
                                  .placement = Pose::rotation(rotation_about(Vec3::UnitY(), side * angle)),
                                  .material = smooth});
    }
    add_free_solid(builder, "ball", kBodyMass, Sphere{0.1}, Pose::translation(0, 0, 0.1 / std::cos(angle)), smooth);
    World world = world_of(builder, 1e-3);
    run(world, 0.5);
    EXPECT_LT(fastest(world), 1e-9);
    const auto contacts = world.contacts();
    ASSERT_EQ(contacts.size(), 2u);
    for (const World::ContactImpulse& contact : contacts) {
      EXPECT_NEAR(contact.impulse.norm() / 1e-3, kBodyMass * kGravity / (2 * std::cos(angle)), 1e-7);
    }
  }
}

// A ladder (a thin capsule of 2 m between the centres of its caps) on rough ground, leaning against a smooth wall at x = 0.
World leaning_ladder(double angle, double friction) {
  const double length = 2, radius = 0.02;
  ModelBuilder builder;
  add_ground(builder, {.friction = friction});
  builder.add_shape("world", {.name = "wall",
                              .geometry = Plane{},
                              .placement = Pose::rotation(rotation_about(Vec3::UnitY(), std::numbers::pi / 2)),
                              .material = {.friction = 0}});
  const Vec3 along(-std::cos(angle), 0, std::sin(angle));  // from the foot to the top
  const Vec3 middle = Vec3(radius, 0, radius) + 0.5 * length * Vec3(std::cos(angle), 0, std::sin(angle));
  add_free_solid(builder, "ladder", 10, Capsule{radius, length / 2}, {rotation_from_z(along), middle},
                 {.friction = friction});
  return world_of(builder, 1e-3);
}

TEST(Statics, ALadderSlipsWhereTheGroundCannotHoldIt) {
  // Moments about the centre of the lower cap, with the wall's force N_w = the ground's friction f at r below that centre:
  // m g (L/2) cos θ = N_w (L sin θ + r), and f ≤ μ m g. So it holds for cos θ/(2 sin θ + 2 r/L) ≤ μ.
  const double friction = 0.4, ratio = 0.02 / 2;
  double low = 0.3, high = 1.5;  // holds(high), not holds(low)
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (std::cos(middle) <= 2 * friction * (std::sin(middle) + ratio) ? high : low) = middle;
  }
  const double degree = std::numbers::pi / 180;
  World holds = leaning_ladder(high + 0.1 * degree, friction);
  run(holds, 2);
  EXPECT_LT(fastest(holds), 1e-6);
  World slips = leaning_ladder(high - 0.1 * degree, friction);
  run(slips, 0.5);
  EXPECT_GT(fastest(slips), 1e-3);
}

TEST(Statics, ASeesawBalancesWhereMomentsAreEqual) {
  // 3 kg at 0.4 m against 1 kg at 1.2 m of a hinged beam; 1 % more on one side and it goes down there.
  const auto tilt_after = [](double heavier) {
    ModelBuilder builder;
    builder.add_body("world", {.name = "beam", .inertia = SpatialInertia::box(5, {3, 0.2, 0.05})},
                     revolute("hinge", Vec3::UnitY(), Pose::translation(0, 0, 1)));
    builder.add_shape("beam", {.name = "beam", .geometry = Box{{1.5, 0.1, 0.025}}});
    add_free_solid(builder, "heavy", 3 * heavier, Box{Vec3::Constant(0.05)}, Pose::translation(-0.4, 0, 1.075));
    add_free_solid(builder, "light", 1, Box{Vec3::Constant(0.05)}, Pose::translation(1.2, 0, 1.075));
    World world = world_of(builder, 1e-3);
    run(world, 0.5);
    return q_of(world, "hinge");
  };
  EXPECT_NEAR(tilt_after(1), 0, 1e-9);
  EXPECT_LT(tilt_after(1.01), -1e-4);  // about y: negative lowers −x
  EXPECT_GT(tilt_after(0.99), 1e-4);
}

TEST(Statics, ABlockBrakesOnAPlankAndTakesItAlong) {
  // On ice, momentum stays: both end at m v/(m + M), after v M/(μ g (m + M)).
  const double friction = 0.3, plank_mass = 6, speed = 2, h = 1e-3;
  const Material wood = {.friction = friction, .restitution = 0};
  ModelBuilder builder;
  add_ground(builder, {.friction = 0});
  add_free_solid(builder, "plank", plank_mass, Box{{2, 0.2, 0.05}}, Pose::translation(0, 0, 0.05), wood);
  add_free_solid(builder, "block", kBodyMass, Box{{0.1, 0.1, 0.05}}, Pose::translation(-1, 0, 0.15), wood);
  World world = world_of(builder, h);
  set_free_velocity(world, "block", Vec3(speed, 0, 0));
  const double common = kBodyMass * speed / (kBodyMass + plank_mass);
  const double stops = speed * plank_mass / (friction * kGravity * (kBodyMass + plank_mass));
  const auto slip = [&] { return v_of(world, "block.x") - v_of(world, "plank.x"); };
  while (slip() > 1e-9 && world.time() < 2 * stops) ASSERT_TRUE(world.step().solved());
  EXPECT_NEAR(world.time(), stops, h);
  EXPECT_NEAR(v_of(world, "block.x"), common, 1e-9);
  EXPECT_NEAR(v_of(world, "plank.x"), common, 1e-9);
  run(world, 1);
  EXPECT_NEAR(v_of(world, "plank.x"), common, 1e-9);
}

TEST(Statics, ABlockOnASmoothWedgePushesItAway) {
  // Without friction anywhere the wedge of mass M and angle α leaves with A = m g sin α cos α/(M + m sin² α).
  const double angle = 0.5, wedge_mass = 3;
  const Material ice = {.friction = 0, .restitution = 0};
  const Mat3 slope = rotation_about(Vec3::UnitY(), angle);  // falls towards +x
  // The wedge slides along x only and carries a tilted slab as its surface.
  ModelBuilder builder;
  builder.add_body("world", {.name = "wedge", .inertia = SpatialInertia::box(wedge_mass, {1, 1, 1})},
                   prismatic("wedge", Vec3::UnitX()));
  builder.add_shape(
      "wedge", {.name = "slab", .geometry = Box{{2, 1, 0.1}}, .placement = {slope, Vec3(0, 0, 0)}, .material = ice});
  add_free_solid(builder, "block", kBodyMass, Box{{0.1, 0.1, 0.05}}, {slope, slope * Vec3(-1, 0, 0.15)}, ice);
  World world = world_of(builder, 1e-3);
  run(world, 0.3);
  const double s = std::sin(angle), c = std::cos(angle);
  const double acceleration = kBodyMass * kGravity * s * c / (wedge_mass + kBodyMass * s * s);
  EXPECT_NEAR(v_of(world, "wedge"), -0.3 * acceleration, 1e-8);
  // Momentum along x is kept.
  EXPECT_NEAR(wedge_mass * v_of(world, "wedge") + kBodyMass * centre_velocity_of(world, "block").x(), 0, 1e-9);
}

TEST(Statics, ABoxBetweenTwoWallsIsHeldByThePressItIsPutIn) {
  // A press squeezes a box with F from both sides: it holds 2 μ F, and drops what is heavier.
  const double friction = 0.5, force = 40;
  const auto velocity_with = [&](double mass) {
    const Material rubber = {.friction = friction, .restitution = 0};
    ModelBuilder builder;
    for (const double side : {1.0, -1.0}) {
      const std::string name = side > 0 ? "right" : "left";
      builder.add_body("world", {.name = name, .inertia = SpatialInertia::box(1, {0.1, 0.4, 0.4})},
                       prismatic(name, Vec3(-side, 0, 0), Pose::translation(side * 0.15, 0, 0)));
      builder.add_shape(name, {.name = name, .geometry = Box{{0.05, 0.2, 0.2}}, .material = rubber});
    }
    add_free_solid(builder, "box", mass, Box{Vec3::Constant(0.1)}, {}, rubber);
    World world = world_of(builder, 1e-3);
    VecX tau = VecX::Zero(world.model().nv());
    for (const char* jaw : {"left", "right"}) tau[world.model().joints()[world.model().joint(jaw)].v_index] = force;
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(world.step(tau).solved());
    return centre_velocity_of(world, "box").z();
  };
  const double holds = 2 * friction * force / kGravity;
  EXPECT_NEAR(velocity_with(0.99 * holds), 0, 1e-9);
  EXPECT_NEAR(velocity_with(1.01 * holds), -0.2 * kGravity * (1 - 1 / 1.01), 1e-8);
}

}  // namespace
}  // namespace lithe::test

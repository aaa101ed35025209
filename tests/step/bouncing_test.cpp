#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "lithe/dynamics/centroidal.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/solids/balls.h"
#include "lithe/scenes/solids/solids.h"
#include "tests/support/step_worlds.h"

// Impacts: what two bodies keep of their relative velocity, and what they cannot lose.
namespace lithe::test {
namespace {

Vec3 momentum_of(const World& world) {
  Kinematics kin;
  kinematics(world.model(), world.state().q, world.state().v, kin);
  return spatial_momentum(world.model(), kin).tail<3>();
}

// Two balls on a line, of the given masses, that meet at 1 m/s each.
World meeting_balls(double left_mass, double right_mass, double restitution) {
  Scene scene = two_balls(left_mass, right_mass);
  set_parameter(scene.model, "shape/left/restitution", restitution);
  set_parameter(scene.model, "shape/right/restitution", restitution);
  World world = world_of(scene);
  // Balls that overlap after the step in which they meet are pushed apart; that is not part of the impact.
  world.options.correction = 0;
  return world;
}

TEST(Bouncing, TwoBallsKeepTheirMomentumAndAShareOfTheirRelativeVelocity) {
  for (const double right_mass : {1.0, 3.0, 1000.0}) {
    for (const double restitution : {0.0, 0.5, 1.0}) {
      SCOPED_TRACE("masses 1 : " + std::to_string(right_mass) + ", e = " + std::to_string(restitution));
      World world = meeting_balls(1, right_mass, restitution);
      const Vec3 before = momentum_of(world);
      run(world, 1);
      EXPECT_LT((momentum_of(world) - before).norm(), 1e-10);
      const double apart = v_of(world, "right") - v_of(world, "left");
      EXPECT_NEAR(apart, 2 * restitution, 1e-10);
      // An impact loses ½ m_red (1 − e²) v_rel².
      const double reduced = right_mass / (1 + right_mass);
      const double lost = 0.5 * reduced * (1 - restitution * restitution) * 4;
      EXPECT_NEAR(world.kinetic_energy(), 0.5 * (1 + right_mass) - lost, 1e-9 * right_mass);
    }
  }
}

TEST(Bouncing, EqualBallsSwapTheirVelocities) {
  World world = meeting_balls(1, 1, 1);
  set_joint_state(world, "left", 0, 2);
  set_joint_state(world, "right", 0, -0.5);
  run(world, 1);
  EXPECT_NEAR(v_of(world, "left"), -0.5, 1e-10);
  EXPECT_NEAR(v_of(world, "right"), 2, 1e-10);
}

TEST(Bouncing, BallsWithAMarginTouchWithoutOverlap) {
  // With a margin wider than their approach in a step, balls without restitution stop at touch, at their common speed
  // (1·1 − 3·1)/4, whatever the correction.
  Scene scene = two_balls(1, 3);
  for (const char* ball : {"left", "right"}) {
    set_parameter(scene.model, std::string("shape/") + ball + "/restitution", 0);
    set_parameter(scene.model, std::string("shape/") + ball + "/margin", 0.01);
  }
  World world = world_of(scene);
  const RunReport report = run(world, 1);
  EXPECT_LT(report.deepest, 1e-12);
  EXPECT_NEAR(v_of(world, "left"), -0.5, 1e-6);
  EXPECT_NEAR(v_of(world, "right"), -0.5, 1e-6);
}

// How high a box without restitution hops after it fell from 3 m, m.
double hop_of_a_box(double margin) {
  ModelBuilder builder;
  add_ground(builder);
  add_free_solid(builder, "box", 1, Box{Vec3::Constant(0.1)}, Pose::translation(0, 0, 3.1));
  Model model = builder.build();
  set_parameter(model, "shape/box/margin", margin);
  World world(model);
  while (v_of(world, "box.z") > -7) world.step();
  while (v_of(world, "box.z") < -1) world.step();
  double highest = 0;
  for (int i = 0; i < 500; ++i) {
    world.step();
    highest = std::max(highest, pose_of(world, "box").p.z() - 0.1);
  }
  return highest;
}

TEST(Bouncing, AnInelasticBoxHopsByNoMoreThanItsCorrection) {
  // At 7.7 m/s it is found 8 mm deep at most and leaves the ground at max_correction_speed, 0.1 m/s: v²/(2g) = 0.5 mm. With
  // a margin wider than a step's travel it stops at touch.
  EXPECT_LT(hop_of_a_box(0), 0.51e-3);
  EXPECT_LT(hop_of_a_box(0.01), 1e-5);
}

TEST(Bouncing, ARowOfBallsPassesTheMomentumOn) {
  // Newton's cradle with gaps: the last of five equal balls leaves with the first one's velocity.
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  constexpr int kCount = 5;
  std::vector<std::string> names;
  for (int i = 0; i < kCount; ++i) {
    names.push_back("ball_" + std::to_string(i));
    builder.add_body("world", {.name = names[i], .inertia = SpatialInertia::sphere(1, 0.1)},
                     prismatic(names[i], Vec3::UnitX(), Pose::translation(0.23 * i, 0, 0)));
    builder.add_shape(names[i],
                      {.name = names[i], .geometry = Sphere{0.1}, .material = {.friction = 0, .restitution = 1}});
  }
  World world = world_of(builder, 1e-3);
  set_joint_state(world, names[0], 0, 3);
  run(world, 0.2);
  for (int i = 0; i + 1 < kCount; ++i) EXPECT_NEAR(v_of(world, names[i]), 0, 1e-10) << i;
  EXPECT_NEAR(v_of(world, names.back()), 3, 1e-10);
}

// The highest point of the ball's lowest point between its first and second bounce.
double second_height(double restitution, double height, double time_step) {
  Scene scene = bouncing_ball(restitution, height);
  scene.time_step = time_step;
  World world = world_of(scene);
  const auto falling = [&] { return v_of(world, "ball.z") < 0; };
  world.step();
  while (falling()) world.step();
  double highest = 0;
  while (!falling()) {
    highest = std::max(highest, pose_of(world, "ball").p.z() - kBallRadius);
    world.step();
  }
  return highest;
}

TEST(Bouncing, EachBounceIsHigherByTheSquareOfRestitution) {
  // The impact is noticed up to one step late or early, at a height within v Δt of the ground.
  const double height = 1, speed = std::sqrt(2 * kGravity * height);
  for (const double restitution : {0.3, 0.5, 0.8, 1.0}) {
    for (const double h : {1e-3, 1e-4, 1e-5}) {
      SCOPED_TRACE("e = " + std::to_string(restitution) + ", Δt = " + std::to_string(h));
      EXPECT_NEAR(second_height(restitution, height, h), restitution * restitution * height, 3 * speed * h);
    }
  }
}

TEST(Bouncing, ABallThatBouncesComesToRest) {
  World world = world_of(bouncing_ball(0.7, 0.5));
  run(world, 6);
  const RunReport report = run(world, 0.5);
  EXPECT_LT(fastest(world), 1e-9);
  EXPECT_LT(report.deepest, 1e-4);
}

TEST(Bouncing, SlowContactsDoNotBounce) {
  // Below the threshold of 0.1 m/s.
  Scene scene = bouncing_ball(1, 2e-4);  // falls to 0.063 m/s
  World world = world_of(scene);
  run(world, 0.5);
  EXPECT_LT(fastest(world), 1e-9);
}

TEST(Bouncing, AMirrorReflectsWithoutLoss) {
  const Scene scene = reflected_ball();
  World world = world_of(scene);
  run(world, 1);
  EXPECT_NEAR(v_of(world, "ball.x"), 2, 1e-12);
  EXPECT_NEAR(v_of(world, "ball.z"), 2, 1e-12);
  EXPECT_NEAR(pose_of(world, "ball").p.x(), 1, 1e-10);
  // From 0.9 m above touch, 2 m down and up again: at 1.1 m of height over touch, within a step's way.
  EXPECT_NEAR(pose_of(world, "ball").p.z(), kBallRadius + 1.1, 2 * 2.0 / 480);
}

TEST(Bouncing, ARodStruckAtItsEndTurns) {
  // A free rod of length 2l falls flat on a support under one end. That end leaves with e times its speed, and the
  // impulse J = (1 + e) v/(1/m + l²/I) turns the rod with J l/I.
  const double l = 0.5, mass = 2, speed = 1, restitution = 0.6;
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  const Material steel = {.friction = 0, .restitution = restitution};
  builder.add_shape(
      "world",
      {.name = "support", .geometry = Sphere{0.05}, .placement = Pose::translation(l, 0, 0), .material = steel});
  builder.add_body("world", {.name = "rod", .inertia = SpatialInertia::box(mass, {2 * l, 0.02, 0.02})},
                   free_joint("rod", Pose::translation(0, 0, 0.15)));
  builder.add_shape(
      "rod", {.name = "tip", .geometry = Sphere{0.05}, .placement = Pose::translation(l, 0, 0), .material = steel});
  World world = world_of(builder, 1e-3);
  set_free_velocity(world, "rod", Vec3(0, 0, -speed));
  run(world, 0.1);
  const double inertia = mass * (4 * l * l + 0.02 * 0.02) / 12;
  const double impulse = (1 + restitution) * speed / (1 / mass + l * l / inertia);
  EXPECT_NEAR(centre_velocity_of(world, "rod").z(), -speed + impulse / mass, 1e-9);
  EXPECT_NEAR(velocity_of(world, "rod")[1], -impulse * l / inertia, 1e-9);
}

}  // namespace
}  // namespace lithe::test

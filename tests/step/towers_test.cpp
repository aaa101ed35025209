#include "lithe/scenes/solids/towers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/constants.h"
#include "tests/support/random_test.h"
#include "tests/support/step_worlds.h"

// Boxes on boxes stand, and fall when their centre of mass leaves its support.
namespace lithe::test {
namespace {

constexpr double kDeepest = 1e-4;  // m

// The farthest that any body's centre has moved since `start`, m.
double drift(const World& world, const VecX& start) {
  double farthest = 0;
  for (const Joint& joint : world.model().joints()) {
    if (joint.type != JointType::prismatic) continue;
    farthest = std::max(farthest, std::abs(world.state().q[joint.q_index] - start[joint.q_index]));
  }
  return farthest;
}

TEST(Towers, TwentyBoxesStandForAMinute) {
  Scene scene = stack(20);
  scene.time_step = test_scale() > 1 ? 1e-3 : 5e-3;
  World world = world_of(scene);
  const RunReport report = run(world, 60);
  EXPECT_LT(drift(world, scene.q), 1e-3);
  EXPECT_LT(report.deepest, kDeepest);
  EXPECT_LT(fastest(world), 1e-9);
}

TEST(Towers, ADroppedStackSettles) {
  // Gaps of 2 mm between ten boxes, each turned a little against the one below.
  ModelBuilder builder = ground_at(at_the_origin());
  constexpr int kCount = 10;
  for (int i = 0; i < kCount; ++i) {
    add_free_solid(builder, "box_" + std::to_string(i), 1, Box{Vec3::Constant(0.1)},
                   {rotation_about(Vec3::UnitZ(), 0.3 * i), Vec3(0, 0, 0.1 + 0.202 * i)});
  }
  World world = world_of(builder, 2e-3);
  run(world, 2);
  const VecX settled = world.state().q;
  const RunReport report = run(world, 2);
  EXPECT_LT(drift(world, settled), 1e-6);
  EXPECT_LT(report.deepest, kDeepest);
  EXPECT_NEAR(pose_of(world, "box_9").p.z(), 0.1 + 0.2 * (kCount - 1), kCount * kDeepest);
  EXPECT_LT(fastest(world), 1e-6);
}

TEST(Towers, MassRatiosUpToAThousandStandBothWaysRound) {
  for (const double ratio : {1.0, 10.0, 100.0, 1000.0}) {
    SCOPED_TRACE("mass ratio " + std::to_string(ratio));
    const Scene scene = mass_ratio(ratio);
    World world = world_of(scene);
    const RunReport report = run(world, 3);
    EXPECT_LT(drift(world, scene.q), 1e-6);
    EXPECT_LT(report.deepest, kDeepest);
    EXPECT_LT(fastest(world), 1e-9);
  }
}

TEST(Towers, ATonStandsOnAGram) {
  ModelBuilder builder = ground_at(at_the_origin());
  add_free_solid(builder, "gram", 1e-3, Box{Vec3::Constant(0.1)}, Pose::translation(0, 0, 0.1));
  add_free_solid(builder, "ton", 1e3, Box{Vec3::Constant(0.1)}, Pose::translation(0, 0, 0.3));
  World world = world_of(builder, 1e-3);
  const VecX start = world.state().q;
  const RunReport report = run(world, 5);
  EXPECT_LT(drift(world, start), 1e-6);
  EXPECT_LT(report.deepest, kDeepest);
  EXPECT_NEAR(contact_force_on(world, "ton").z(), 1e3 * kGravity, 1e-6 * 1e3 * kGravity);
}

TEST(Towers, ATonLandsOnAGramAndStands) {
  ModelBuilder builder = ground_at(at_the_origin());
  add_free_solid(builder, "gram", 1e-3, Box{Vec3::Constant(0.1)}, Pose::translation(0, 0, 0.1));
  add_free_solid(builder, "ton", 1e3, Box{Vec3::Constant(0.1)}, Pose::translation(0.01, 0.02, 0.31));
  World world = world_of(builder, 1e-3);
  run(world, 2);
  const RunReport report = run(world, 1);
  EXPECT_LT(report.deepest, kDeepest);
  EXPECT_LT(fastest(world), 1e-6);
  EXPECT_NEAR(pose_of(world, "ton").p.z(), 0.3, 2 * kDeepest);
}

// A box on a slope, with friction that never lets it slide.
World box_on_slope(const Vec3& half_size, double angle, double direction) {
  const Material rubber = {.friction = 5, .restitution = 0};
  const Pose slope = Pose::rotation(rotation_about(Vec3::UnitZ(), direction) * rotation_about(Vec3::UnitY(), angle));
  ModelBuilder builder;
  add_ground(builder, rubber, slope);
  add_free_solid(builder, "box", 1, Box{half_size}, slope * Pose::translation(0, 0, half_size.z()), rubber);
  return world_of(builder, 1e-3);
}

// How far the box has turned, rad.
double turned(const World& world) {
  const Joint& ball = world.model().joints()[world.model().joint("box.ball")];
  return quaternion_log(world.state().q.segment<4>(ball.q_index)).norm();
}

TEST(Towers, ABoxTipsWhereItsCentreLeavesItsEdge) {
  // Its weight passes over the lower edge where tan(angle) = half width / half height.
  for (const Vec3& half_size : {Vec3(0.1, 0.3, 0.2), Vec3(0.1, 0.1, 0.1), Vec3(0.2, 0.1, 0.15)}) {
    const double critical = std::atan2(half_size.x(), half_size.z());
    for (const double direction : {0.0, std::numbers::pi / 2, std::numbers::pi, 0.7}) {
      SCOPED_TRACE("width " + std::to_string(half_size.x()) + ", slope towards " + std::to_string(direction));
      World stands = box_on_slope(half_size, critical - 0.1 * kDegree, direction);
      run(stands, 3);
      EXPECT_LT(turned(stands), 1e-6);
      World tips = box_on_slope(half_size, critical + 0.1 * kDegree, direction);
      while (turned(tips) < 0.5 && tips.time() < 3) ASSERT_TRUE(tips.step().solved());
      EXPECT_GT(turned(tips), 0.5);
    }
  }
}

TEST(Towers, ASlowlyTiltedWorldTipsTheBoxAtThatAngle) {
  // The ground stays and gravity turns, by 0.02° per second near the critical angle of 45°.
  World world = box_on_slope(Vec3::Constant(0.1), 0, 0);
  const double rate = 0.02 * kDegree;
  const double from = 44.9 * kDegree;
  double tips_at = 0;
  for (int i = 0; i < 10000 && tips_at == 0; ++i) {
    const double angle = from + rate * world.time();
    Model model = world.model();
    model.set_gravity(kGravity * Vec3(std::sin(angle), 0, -std::cos(angle)));
    world.set_model(model);
    ASSERT_TRUE(world.step().solved());
    if (turned(world) > 1e-4) tips_at = angle;
  }
  EXPECT_NEAR(tips_at, 45 * kDegree, 0.1 * kDegree);
}

}  // namespace
}  // namespace lithe::test

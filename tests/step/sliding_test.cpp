#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/constants.h"
#include "tests/support/step_worlds.h"

// Coulomb friction as a pyramid: along each of the two tangents t₁, t₂ of a contact (TangentBasis) it is at most μ·f_n. For
// ground that faces up t₁ and t₂ are the world's x and y; for a slope that falls along x, or along y, one of them is the
// line of steepest descent.
namespace lithe::test {
namespace {

constexpr double kBlockMass = 2;
const Vec3 kHalfSize(0.2, 0.2, 0.05);  // low: it slides long before it tips

World block_on_plane(double friction, const Pose& plane = {}, double time_step = 1e-3) {
  const Material material = {.friction = friction, .restitution = 0};
  ModelBuilder builder;
  add_ground(builder, material, plane);
  add_free_solid(builder, "block", kBlockMass, Box{kHalfSize}, plane * Pose::translation(0, 0, kHalfSize.z()),
                 material);
  return world_of(builder, time_step);
}

// The ground turned by `angle` so that it falls in the horizontal direction `towards` (rad, from x).
Pose slope(double angle, double towards) {
  return Pose::rotation(rotation_about(Vec3(-std::sin(towards), std::cos(towards), 0), angle));
}

TEST(Sliding, ABlockSticksBelowAtanMuAndSlidesAbove) {
  for (const double friction : {0.1, 0.3, 0.7, 1.0}) {
    for (int quarter = 0; quarter < 4; ++quarter) {
      SCOPED_TRACE("μ = " + std::to_string(friction) + ", falls towards " + std::to_string(90 * quarter) + "°");
      const double towards = quarter * std::numbers::pi / 2;
      World sticks = block_on_plane(friction, slope(std::atan(friction) - 0.1 * kDegree, towards));
      run(sticks, 1);
      EXPECT_LT(centre_velocity_of(sticks, "block").norm(), 1e-9);
      World slides = block_on_plane(friction, slope(std::atan(friction) + 0.1 * kDegree, towards));
      run(slides, 1);
      // v = g t (sin α − μ cos α)
      const double angle = std::atan(friction) + 0.1 * kDegree;
      const double expected = kGravity * (std::sin(angle) - friction * std::cos(angle));
      EXPECT_NEAR(centre_velocity_of(slides, "block").norm(), expected, 1e-9);
    }
  }
}

TEST(Sliding, AStickingBlockDoesNotCreep) {
  World world = block_on_plane(0.5, slope(std::atan(0.5) - 0.1 * kDegree, 0));
  const Vec3 start = pose_of(world, "block").p;
  run(world, 10);
  EXPECT_LT((pose_of(world, "block").p - start).norm(), 1e-12);
}

TEST(Sliding, ASlopeOnTheDiagonalHoldsUpToTheCornerOfThePyramid) {
  // Where the slope falls at 45° to both tangents, the pyramid's corner, √2 μ, holds the block.
  const double friction = 0.4;
  const double towards = std::numbers::pi / 4;
  const double critical = std::atan(std::numbers::sqrt2 * friction);
  World sticks = block_on_plane(friction, slope(critical - 0.1 * kDegree, towards));
  run(sticks, 1);
  EXPECT_LT(fastest(sticks), 1e-9);
  World slides = block_on_plane(friction, slope(critical + 0.1 * kDegree, towards));
  run(slides, 1);
  EXPECT_GT(fastest(slides), 1e-3);
}

TEST(Sliding, ADraggedBlockFeelsTheFullPyramid) {
  // Sliding with the velocity (cos θ, sin θ), both tangents are at their bound: the force is −μ m g (sign cos θ, sign sin θ),
  // √2 μ m g in every direction but those of the tangents themselves, where it is μ m g.
  const double friction = 0.3;
  const double bound = friction * kBlockMass * kGravity;
  for (int degrees = 0; degrees < 360; degrees += 15) {
    SCOPED_TRACE("dragged towards " + std::to_string(degrees) + "°");
    World world = block_on_plane(friction);
    const double c = degrees % 180 == 90 ? 0 : std::cos(degrees * kDegree);
    const double s = degrees % 180 == 0 ? 0 : std::sin(degrees * kDegree);
    set_free_velocity(world, "block", Vec3(c, s, 0));
    ASSERT_TRUE(world.step().solved());
    const auto pull = [&](double v) { return v == 0 ? 0 : -std::copysign(bound, v); };
    const Vec3 expected(pull(c), pull(s), kBlockMass * kGravity);
    EXPECT_LT((contact_force_on(world, "block") - expected).norm(), 1e-9 * bound);
  }
}

TEST(Sliding, APulledBlockMovesWhereThePullLeavesThePyramid) {
  // At rest it holds a pull F (cos θ, sin θ) up to F = μ m g / max(|cos θ|, |sin θ|).
  const double friction = 0.3;
  for (int degrees = 0; degrees < 360; degrees += 15) {
    SCOPED_TRACE("pulled towards " + std::to_string(degrees) + "°");
    const Vec3 direction(std::cos(degrees * kDegree), std::sin(degrees * kDegree), 0);
    const double holds = friction * kBlockMass * kGravity / direction.cwiseAbs().maxCoeff();
    for (const double share : {0.999, 1.001}) {
      World world = block_on_plane(friction);
      const BodyIndex block = world.model().body("block");
      for (int i = 0; i < 50; ++i) {
        // At the height of the ground, so that it does not tip.
        world.add_force(block, share * holds * direction, pose_of(world, "block").p - Vec3(0, 0, kHalfSize.z()));
        ASSERT_TRUE(world.step().solved());
      }
      EXPECT_EQ(fastest(world) > 1e-9, share > 1) << fastest(world);
    }
  }
}

TEST(Sliding, StopsAfterTheTimeAndDistanceOfTheTextbook) {
  // Each step takes μ g Δt off the velocity, and the last one what is left. So with N = ⌊v/(μ g Δt)⌋ whole steps the block
  // stands after N + 1 steps, and has come Δt·(N v − μ g Δt N(N+1)/2), which tends to v²/(2 μ g).
  for (const double friction : {0.2, 0.5, 0.9}) {
    for (const double speed : {0.5, 3.0}) {
      for (const double h : {1e-3, 4e-3}) {
        SCOPED_TRACE("μ = " + std::to_string(friction) + ", v = " + std::to_string(speed));
        World world = block_on_plane(friction, {}, h);
        set_free_velocity(world, "block", Vec3(speed, 0, 0));
        const double brake = friction * kGravity * h;
        const double whole_steps = std::floor(speed / brake);
        run(world, whole_steps * h);
        EXPECT_NEAR(centre_velocity_of(world, "block").x(), speed - whole_steps * brake, 1e-9);
        run(world, h);
        EXPECT_LT(fastest(world), 1e-9);
        const double distance = pose_of(world, "block").p.x();
        EXPECT_NEAR(distance, h * (whole_steps * speed - brake * whole_steps * (whole_steps + 1) / 2), 1e-9);
        EXPECT_NEAR(distance, speed * speed / (2 * friction * kGravity), speed * h);
        EXPECT_NEAR(world.time(), speed / (friction * kGravity), h);
      }
    }
  }
}

TEST(Sliding, WithoutFrictionNothingStops) {
  World world = block_on_plane(0);
  set_free_velocity(world, "block", Vec3(1, 2, 0), Vec3(0, 0, 0.5));
  run(world, 10);
  EXPECT_LT((centre_velocity_of(world, "block") - Vec3(1, 2, 0)).norm(), 1e-9);
  EXPECT_LT((velocity_of(world, "block").head<3>() - Vec3(0, 0, 0.5)).norm(), 1e-9);
}

TEST(Sliding, ASpinningBlockTurnsAsFarAsItsEnergyCarriesIt) {
  // The four corners share the weight, and each rubs with μ m g/4 along both tangents. The lever arms of a corner of a
  // square of half edge a, turned by φ, add up to 2a cos φ; so the torque is 2 μ m g a cos φ, and the spin ω is used up
  // where I ω²/2 = 2 μ m g a sin φ.
  const double friction = 0.3, spin = 4, h = 1e-4;
  World world = block_on_plane(friction, {}, h);
  set_free_velocity(world, "block", Vec3::Zero(), Vec3(0, 0, spin));
  const double a = kHalfSize.x();
  const double inertia = kBlockMass * (2 * a) * (2 * a) / 6;
  const double expected = std::asin(inertia * spin * spin / (4 * friction * kBlockMass * kGravity * a));
  run(world, 0.2);
  EXPECT_LT(fastest(world), 1e-9);
  const Pose end = pose_of(world, "block");
  EXPECT_NEAR(std::atan2(end.R(1, 0), end.R(0, 0)), expected, spin * h);
  EXPECT_LT(end.p.head<2>().norm(), 1e-9);
}

TEST(Sliding, FrictionOfTwoSurfacesIsTheirHarmonicMean) {
  ModelBuilder builder;
  add_ground(builder, {.friction = 0.2});
  add_free_solid(builder, "block", kBlockMass, Box{kHalfSize}, Pose::translation(0, 0, kHalfSize.z()),
                 {.friction = 0.6});
  World world = world_of(builder, 1e-3);
  set_free_velocity(world, "block", Vec3(1, 0, 0));
  world.step();
  EXPECT_NEAR(contact_force_on(world, "block").x(), -0.3 * kBlockMass * kGravity, 1e-9);
}

}  // namespace
}  // namespace lithe::test

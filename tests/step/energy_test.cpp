#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/scenes/solids/balls.h"
#include "lithe/scenes/solids/pile.h"
#include "lithe/scenes/solids/solids.h"
#include "tests/support/step_worlds.h"

// A world that nothing drives never gains energy.
namespace lithe::test {
namespace {

// The largest rise of the energy in any one step of a run, and over its lowest value so far.
struct Rise {
  double in_a_step = 0, in_all = 0;
};
Rise energy_rise(World& world, double seconds) {
  Rise rise;
  double before = energy_of(world);
  double lowest = before;
  for (double end = world.time() + seconds - 1e-9; world.time() < end;) {
    const StepStatus& status = world.step();
    EXPECT_TRUE(status.solved()) << "at " << world.time() << " s";
    if (!status.solved()) break;
    const double now = energy_of(world);
    rise.in_a_step = std::max(rise.in_a_step, now - before);
    rise.in_all = std::max(rise.in_all, now - lowest);
    lowest = std::min(lowest, now);
    before = now;
  }
  return rise;
}

TEST(Energy, AFallingBodyLosesWhatTheMethodLoses) {
  // v⁺ = v − g h, z⁺ = z + h v⁺: the energy falls by m g² h²/2 in each step.
  World world = world_of(bouncing_ball(0, 10));
  const double before = energy_of(world);
  run(world, 1);
  EXPECT_NEAR(energy_of(world) - before, -1000 * kGravity * kGravity * 1e-6 / 2, 1e-9);
}

TEST(Energy, OfAPendulumStaysWithinABand) {
  // The method is symplectic: the energy swings by O(Δt) and does not drift.
  Scene scene = at_rest(pendulum());
  scene.q[0] = 2;
  World world = world_of(scene);
  const double start = energy_of(world);
  double lowest = start, highest = start;
  for (int i = 0; i < 100000; ++i) {
    world.step();
    lowest = std::min(lowest, energy_of(world));
    highest = std::max(highest, energy_of(world));
  }
  const double range = kPendulumMass * kGravity * kPendulumLength;
  EXPECT_LT(highest - lowest, 0.01 * range);
}

TEST(Energy, ATumblingBodyGainsAShareThatShrinksWithTheTimeStep) {
  // The gyroscopic forces are those of the step's start, which is a method of first order: at 5 rad/s about the middle axis
  // for 10 s, one per cent in steps of 1 ms.
  const auto gain = [](double time_step) {
    Scene scene = lithe::scene("tumbling_body");
    scene.time_step = time_step;
    World world = world_of(scene);
    const double before = energy_of(world);
    run(world, 10);
    return energy_of(world) / before - 1;
  };
  const double coarse = gain(1e-3);
  EXPECT_LT(std::abs(coarse), 0.01);
  EXPECT_NEAR(gain(1e-4) / coarse, 0.1, 0.02);
}

TEST(Energy, ABoxThatSlidesTumblesAndLandsGainsNone) {
  // Correction pushes overlapping bodies apart and so does work; it is switched off here. What tumbling gains in flight is
  // less than what falling loses (above).
  for (const double spin : {0.0, 3.0, 10.0}) {
    SCOPED_TRACE("spin " + std::to_string(spin));
    ModelBuilder builder = ground_at(at_the_origin(), {.friction = 0.5});
    add_free_solid(builder, "box", 1, Box{{0.1, 0.15, 0.08}}, Pose::translation(0, 0, 0.6), {.friction = 0.5});
    World world = world_of(builder, 1e-3);
    world.options.correction = 0;
    set_free_velocity(world, "box", Vec3(2, 0.5, 0), Vec3(0.3, 0.8, -0.5) * spin);
    EXPECT_LT(energy_rise(world, 2).in_a_step, 1e-12);
    EXPECT_LT(world.kinetic_energy(), 1e-12);  // all of it is gone
  }
}

TEST(Energy, OfAPileFallsUntilItRests) {
  Scene scene = pile(10);
  scene.time_step = 2e-3;
  World world = world_of(scene);
  world.options.correction = 0;
  const double start = energy_of(world);
  const Rise rise = energy_rise(world, 3);
  EXPECT_LT(rise.in_a_step, 1e-9 * start);
  EXPECT_LT(rise.in_all, 1e-9 * start);
  EXPECT_LT(energy_of(world), 0.5 * start);
}

TEST(Energy, CorrectionDoesLittleWorkInAPile) {
  // Bodies that overlap after landing are lifted out.
  Scene scene = pile(10);
  scene.time_step = 2e-3;
  World world = world_of(scene);
  const double start = energy_of(world);
  EXPECT_LT(energy_rise(world, 3).in_all, 1e-3 * start);
}

TEST(Energy, OfADampedChainFallsAllTheWay) {
  // A chain that swings, damped in its joints, never rises above the energy it has left.
  Scene scene = lithe::scene("chain:6");
  for (const Joint& joint : scene.model.joints()) {
    Joint damped = joint;
    damped.damping = 0.05;
    scene.model.set_joint(scene.model.joint(joint.name), damped);
  }
  World world = world_of(scene);
  world.options.contacts = false;
  EXPECT_LT(energy_rise(world, 10).in_all, 1e-9);
}

}  // namespace
}  // namespace lithe::test

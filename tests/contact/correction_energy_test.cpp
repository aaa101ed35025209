#include "lithe/contact/correction_energy.h"

#include <gtest/gtest.h>

#include "lithe/step/internal/recorded_stages.h"
#include "tests/support/step_worlds.h"

namespace lithe::test {

using namespace internal;
namespace {

// A door whose hinge sits inside a fixed block, `offset` beside the line along which the block pushes it out.
World jammed_door(double offset) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "block"});
  builder.add_shape("block", {.name = "block", .geometry = Sphere{0.1}, .placement = Pose::translation(0, 0, -0.15)});
  builder.add_body("world", {.name = "door", .inertia = SpatialInertia::box(2, {0.5, 0.1, 0.1})},
                   {revolute("hinge", Vec3::UnitY())});
  builder.add_shape("door", {.name = "edge", .geometry = Sphere{0.1}, .placement = Pose::translation(offset, 0, 0)});
  return world_of(builder, 1e-3);
}

TEST(CorrectionEnergy, WhatPressesOnAJointsAxisIsNotMuchHeavierThanTheIsland) {
  // 1/A_ii goes with offset⁻²: 1e12 kg here, for a door of two.
  const double mass = 2, gravity_step = 9.81e-3;
  for (const double offset : {1e-7, 1e-5}) {
    World world = jammed_door(offset);
    world.step();
    const ContactProblem problem = lcps_of(world.model(), world.record());
    ASSERT_EQ(problem.island_count(), 1);
    ASSERT_GT(1 / problem.diagonal(0)[0], 1000 * mass);
    const double d = problem.target[0], b = std::abs(problem.b[0]);
    ASSERT_GT(d, 0);
    const double allowance = mass * d * (d + gravity_step) + 1000 * mass * d * (d + b);
    EXPECT_NEAR(energy_allowance(problem, 0, mass, gravity_step), allowance, 1e-12);
    EXPECT_LT(world.kinetic_energy(), allowance);
  }
}

TEST(CorrectionEnergy, ARowCountsWithTheInertiaThatItPressesOn) {
  // Far from the axis that is less than the mass of this island.
  const double mass = 20;
  World world = jammed_door(0.1);
  world.step();
  const ContactProblem problem = lcps_of(world.model(), world.record());
  ASSERT_EQ(problem.island_count(), 1);
  const double response = problem.diagonal(0)[0];
  ASSERT_GT(response, 1 / mass);
  const double d = problem.target[0], b = std::abs(problem.b[0]);
  EXPECT_NEAR(energy_allowance(problem, 0, mass, 0), mass * d * d + d * (d + b) / response, 1e-12);
}

TEST(CorrectionEnergy, InertRowsDoNotCount) {
  // Both spheres on the hinge's axis: nothing that presses there moves the door.
  World world = jammed_door(0);
  world.step();
  const ContactProblem problem = lcps_of(world.model(), world.record());
  ASSERT_EQ(problem.island_count(), 1);
  EXPECT_EQ(energy_allowance(problem, 0, 2, 9.81e-3), 0);
}

}  // namespace
}  // namespace lithe::test

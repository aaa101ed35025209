#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "lithe/scenes/catalogue.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/step_worlds.h"

// What a step costs once it knows the last one: no memory, and mostly no search.
namespace lithe::test {
namespace {

// Heap allocations of a run that was made before: memory grows where more meets than ever, and only there.
template <class Step>
long allocations_of_second_run(World& world, Step step) {
  const State start = world.state();
  for (int i = 0; i < 300; ++i) step();
  world.set_state(start.q, start.v);
  const AllocationGuard guard;
  for (int i = 0; i < 300; ++i) step();
  return guard.count();
}

TEST(WarmSteps, AllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  for (const char* name : {"humanoid", "half_cheetah", "boxes", "stack:5", "four_bar", "gripper", "rolling_sphere"}) {
    const Scene start = scene(name);
    World world = world_of(start);
    const Control control = with_targets(start.motor_targets);
    EXPECT_EQ(allocations_of_second_run(world, [&] { world.step(control); }), 0) << name;
  }
}

TEST(WarmSteps, OnSeveralThreadsAllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  World world = world_of(scene("boxes:60"));
  for (int i = 0; i < 20; ++i) world.step();  // until all steps are alike
  world.options.threads = 3;
  EXPECT_LE(calls_that_allocate([&] { world.step(); }), 2);  // threads beside this one
}

TEST(WarmSteps, WithForcesAllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  World world = world_of(scene("humanoid"));
  const BodyIndex torso = world.model().body("torso");
  const VecX tau = VecX::Constant(world.model().nv(), 0.1);
  const Vec6 wrench = (Vec6() << 0, 0, 0, 1, 0, 0).finished();
  const auto push = [&] {
    world.add_wrench(torso, wrench);
    world.step(tau);
  };
  EXPECT_EQ(allocations_of_second_run(world, push), 0);
}

// The share of islands whose guess was right.
double hit_rate(const std::string& name, double seconds) {
  const Scene start = scene(name);
  World world = world_of(start);
  const RunReport report = run(world, seconds, with_targets(start.motor_targets));
  fmt::print("  {:16} {:6.2f} % of {} islands guessed right\n", name, 100 * report.hit_rate(), report.islands);
  return report.hit_rate();
}

TEST(WarmSteps, GuessRightAtRestAndInSliding) {
  for (const char* name : {"boxes", "stack:10", "mass_ratio", "incline", "rolling_sphere"}) {
    EXPECT_GE(hit_rate(name, 2), 0.95) << name;
  }
}

TEST(WarmSteps, GuessMostlyRightElsewhere) {
  for (const char* name : {"four_bar", "gripper", "half_cheetah", "humanoid", "pile:12"}) {
    EXPECT_GE(hit_rate(name, 2), 0.8) << name;
  }
}

}  // namespace
}  // namespace lithe::test

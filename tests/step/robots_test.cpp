#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "lithe/model/configuration.h"
#include "lithe/scenes/robots/gripper.h"
#include "lithe/scenes/robots/half_cheetah.h"
#include "lithe/scenes/robots/humanoid.h"
#include "lithe/step/internal/recorded_stages.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/random_test.h"
#include "tests/support/step_worlds.h"

// Robots in every state that chance finds: nothing ever leaves the finite numbers.
namespace lithe::test {

using namespace internal;
namespace {

// Joints anywhere between their limits (limbs may overlap), turned anyhow, just off the ground, everything in motion.
World thrown_humanoid(const Scene& scene, std::mt19937_64& random) {
  World world(scene.model);
  world.options.time_step = 2e-3;
  VecX q = random_configuration(scene.model, random);
  q.head<3>() = Vec3(0, 0, 0.4);  // no limb reaches the ground from there
  std::normal_distribution<double> normal;
  VecX v(scene.model.nv());
  for (double& x : v) x = normal(random);
  world.set_state(q, v);
  return world;
}

// The deepest that anything is in the ground, m.
double deepest_in_ground(const World& world) {
  double deepest = 0;
  for (const World::ContactImpulse& contact : world.contacts()) {
    const bool ground = world.model().shapes()[contact.a].body == Model::world() ||
                        world.model().shapes()[contact.b].body == Model::world();
    if (ground) deepest = std::max(deepest, -contact.gap);
  }
  return deepest;
}

TEST(Robots, AHumanoidFallsAndComesToRestFromAnywhere) {
  const Scene scene = standing_humanoid();
  int restless = 0;
  int at_rest = 0;
  for_random_cases(50, [&](std::mt19937_64& random) {
    World world = thrown_humanoid(scene, random);
    run(world, 5);
    ASSERT_TRUE(world.state().q.allFinite() && world.state().v.allFinite());
    const Vec3 pelvis = pose_of(world, "pelvis").p;
    EXPECT_LT(pelvis.head<2>().norm(), 10);
    EXPECT_GT(pelvis.z(), 0);
    EXPECT_LT(pelvis.z(), 0.8);
    EXPECT_LT(world.kinetic_energy(), 5);
    EXPECT_LT(deepest_in_ground(world), 1e-2);  // of those that move
    // Limbs that started jammed in one another stay so, and nothing of that island is corrected.
    if (world.kinetic_energy() < 1e-6 && !has(world.status().flags, LcpFlag::targets_dropped)) {
      EXPECT_LT(deepest_in_ground(world), 1e-4);
      ++at_rest;
    }
    if (world.kinetic_energy() > 1e-3) ++restless;
  });
  // Some still rock on a shoulder, or swing an arm in the air.
  if (few_cases()) return;
  EXPECT_LE(restless, 5 * test_scale());
  EXPECT_GE(at_rest, 40 * test_scale());  // of 50
}

// What correction may add in the last step, at most (correction_energy.h): the targets that it had before they were reduced are not
// known any more, but none exceeded max_correction_speed.
double most_that_correction_may_add(const World& world) {
  const StepOptions& options = world.options;
  const ContactProblem problem = lcps_of(world.model(), world.record());
  const double d = options.max_correction_speed;
  const double gravity_step = world.model().gravity().norm() * options.time_step;
  double most = 0;
  for (int i = 0; i < problem.island_count(); ++i) {
    const BoxedLcp lcp = problem.lcp(i);
    most += world.record().tape().island_masses[i] * d * (d + gravity_step);
    for (int row = 0; row < lcp.size(); ++row) {
      const bool corrects = lcp.rows[row].kind == RowKind::one_sided && lcp.at(row, row) > 0;
      if (corrects) most += d * (d + std::abs(lcp.b[row]) + d) / lcp.at(row, row);
    }
  }
  return most;
}

// ½ vᵀ M̂ v of the last step.
double energy_at(const World& world, const VecX& v) {
  const StepRecord& record = world.record();
  VecX momentum(v.size());
  const StepStages& stages = mass_stages_of(world.model(), record);
  multiply(world.model(), stages.M, v, momentum);
  momentum += stages.added_diagonal.cwiseProduct(v);
  return v.dot(momentum) / 2;
}

TEST(Robots, JammedLimbsAreFreedWithoutViolence) {
  // Limbs deep in one another and in the ground ask to be pushed apart in directions that contradict one another. Meeting all
  // of that would launch the robot, at kilometres per second in some of these starts.
  const Scene scene = standing_humanoid();
  for_random_cases(60, [&](std::mt19937_64& random) {
    World world(scene.model);
    world.options.time_step = 2e-3;
    world.set_state(random_configuration(scene.model, random), VecX::Zero(scene.model.nv()));
    for (int i = 0; i < 250; ++i) {
      ASSERT_TRUE(world.step().solved());
      const double gain = energy_at(world, world.record().next.v) -
                          energy_at(world, mass_stages_of(world.model(), world.record()).v_free);
      ASSERT_LE(gain, most_that_correction_may_add(world) * (1 + 1e-6)) << "step " << i;
    }
    EXPECT_LT(world.kinetic_energy(), 3000);  // it falls by less than two metres
  });
}

TEST(Robots, AGripperLiftsItsCube) {
  const Scene scene = gripper_with_cube();
  World world = world_of(scene);
  const double start = pose_of(world, "cube").p.z();
  run(world, 5, with_targets(scene.motor_targets));
  EXPECT_NEAR(pose_of(world, "cube").p.z() - start, 0.13, 0.02);
  EXPECT_LT(fastest(world), 1e-6);
  // What carries it is friction, its weight.
  EXPECT_LT((contact_force_on(world, "cube") - Vec3(0, 0, 0.5 * kGravity)).norm(), 1e-6);
}

// Torques anew in every step, uniform within ±bound.
VecX random_torques(const Model& model, double bound, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-bound, bound);
  VecX tau = VecX::Zero(model.nv());
  for (int i = 3; i < model.nv(); ++i) tau[i] = uniform(random);  // not the root
  return tau;
}

TEST(Robots, AHalfCheetahWithRandomControlsStaysFinite) {
  const int steps = scaled(20000);
  World world = world_of(half_cheetah_on_ground());
  std::mt19937_64 random(1);
  int unsolved = 0;
  long allocations = 0;
  for (int i = 0; i < steps; ++i) {
    const VecX tau = random_torques(world.model(), 60, random);
    const AllocationGuard guard;
    if (!world.step(tau).solved()) ++unsolved;
    if (i >= steps / 2) allocations += guard.count();
    ASSERT_TRUE(world.state().q.allFinite() && world.state().v.allFinite()) << "step " << i;
  }
  EXPECT_EQ(unsolved, 0);
  EXPECT_LT(fastest(world), 1e3);
  EXPECT_LT(std::abs(pose_of(world, "torso").p.z()), 10);
  // Memory grows only where more contacts meet than ever before.
  if (AllocationGuard::supported()) {
    EXPECT_LT(allocations, 50);
  }
}

}  // namespace
}  // namespace lithe::test

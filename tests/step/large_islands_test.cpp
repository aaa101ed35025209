#include <gtest/gtest.h>

#include <random>

#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/pile.h"
#include "lithe/scenes/solids/towers.h"
#include "lithe/scenes/world.h"
#include "lithe/step/internal/recorded_stages.h"
#include "lithe/step/step_vjp.h"

// Islands that are solved without their matrix A.
namespace lithe::test {

using namespace internal;
namespace {

StepRecord step_of_scene(const Scene& scene, const LcpOptions& lcp) {
  StepOptions options;
  options.time_step = scene.time_step;
  options.lcp = lcp;
  StepRecord record;
  step(scene.model, {scene.q, scene.v}, {}, options, record);
  return record;
}

// Both ways step by step from the same states, the second with the first one's motion.
void compare_with_matrix(const std::string& name, int steps, double tolerance) {
  SCOPED_TRACE(name);
  const Scene scene = lithe::scene(name);
  StepOptions with, without;
  with.time_step = without.time_step = scene.time_step;
  with.lcp.block_rows = 1000;
  without.lcp.direct_rows = 0;
  Control control;
  if (scene.motor_targets.size() > 0) control.motor_targets = scene.motor_targets;
  State state{scene.q, scene.v};
  StepRecord first, second;
  int compared = 0;
  for (int i = 0; i < steps; ++i) {
    const WarmStart guess = first.warm_start;
    step(scene.model, state, control, with, first, &guess);
    step(scene.model, state, control, without, second, &guess);
    ASSERT_TRUE(first.status.solved());
    ASSERT_TRUE(second.status.solved()) << "step " << i;
    for (const std::ptrdiff_t start : problem_of(second).A_start) ASSERT_LT(start, 0);
    const LcpFlag flags = first.status.flags | second.status.flags;
    if (!has(flags, LcpFlag::tied)) {
      EXPECT_LT((first.next.v - second.next.v).cwiseAbs().maxCoeff(), tolerance) << "step " << i;
      ++compared;
    }
    state = first.next;
  }
  EXPECT_GT(compared, steps / 2);
}

TEST(LargeIslands, AreSolvedWithoutAMatrixAsWithOne) {
  compare_with_matrix("stack:12", 20, 1e-10);
  compare_with_matrix("incline", 50, 1e-10);
  compare_with_matrix("mass_ratio", 20, 1e-8);
  compare_with_matrix("four_bar", 50, 1e-8);
  compare_with_matrix("gripper", 300, 1e-7);
  compare_with_matrix("half_cheetah", 50, 1e-8);
  compare_with_matrix("humanoid", 60, 1e-7);
}

// The corner bricks of a wall in running bond are held by those above them; those of the top layer tip over, and after 0.92 s one of
// them strikes the wall. From one step to the next a hundred rows change their modes then.
TEST(LargeIslands, AWallIsSolvedInEveryStepWhenABrickStrikesIt) {
  const Scene scene = lithe::scene("wall:25");
  World world(scene.model);
  world.set_state(scene.q, scene.v);
  int followed = 0;
  for (int i = 0; i < 1500; ++i) {
    world.step();
    ASSERT_TRUE(world.status().solved()) << "step " << i << ", residual " << world.status().residual;
    followed += world.status().followed;
  }
  EXPECT_GT(followed, 0);
}

// Cubes come down on others that are jammed: in most steps modes change somewhere.
TEST(LargeIslands, AHeapIsSolvedInEveryStepWhileItFalls) {
  const Scene scene = heap(60);
  World world(scene.model);
  world.set_state(scene.q, scene.v);
  int largest = 0, rounds = 0, repaired = 0;
  for (int i = 0; i < 700; ++i) {
    world.step();
    ASSERT_TRUE(world.status().solved()) << "step " << i << ", residual " << world.status().residual;
    for (const Island& island : world.record().tape().problem.islands) largest = std::max(largest, island.row_count);
    rounds += world.status().active_set;
    repaired += world.status().path;
  }
  EXPECT_GT(largest, 100);
  EXPECT_GT(rounds, 50);
  EXPECT_GT(repaired, 20);
}

// A stack at rest, and one whose boxes slide and tip.
TEST(LargeIslands, HaveTheGradientsOfTheInverse) {
  for (const double push : {0.0, 1e-4}) {
    SCOPED_TRACE(push);
    const Scene scene = stack(42);  // above the size from which products go by trees
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    VecX v = scene.v;
    for (double& vi : v) vi += push * normal(random);
    StepCotangent by_next;
    by_next.q = by_next.v = VecX::Zero(scene.model.nv());
    for (double& x : by_next.q) x = normal(random);
    for (double& x : by_next.v) x = normal(random);
    StepVjp by_trees, by_inverse;
    std::vector<RowMode> modes;
    WarmStart guess;  // of several solutions both take the same
    for (const bool trees : {true, false}) {
      StepOptions options;
      options.time_step = scene.time_step;
      options.lcp.block_rows = trees ? 0 : 1000;
      StepRecord record;
      step(scene.model, {scene.q, v}, {}, options, record, &guess);
      ASSERT_TRUE(record.status.solved());
      ASSERT_TRUE(trees || record.modes == modes);
      modes = record.modes;
      guess = record.warm_start;
      ASSERT_EQ(problem_of(record).A_start[0] < 0, trees);
      step_vjp(scene.model, record, by_next, trees ? by_trees : by_inverse);
    }
    const double scale = by_inverse.q.norm();
    EXPECT_LT((by_trees.q - by_inverse.q).norm(), 1e-8 * scale);
    EXPECT_LT((by_trees.v - by_inverse.v).norm(), 1e-8 * scale);
    EXPECT_LT((by_trees.tau - by_inverse.tau).norm(), 1e-8 * scale);
  }
}

TEST(LargeIslands, AStackOfAHundredRests) {
  const Scene scene = stack(100);
  World world(scene.model);
  world.set_state(scene.q, scene.v);
  for (int i = 0; i < 20; ++i) {
    const StepStatus& status = world.step();
    ASSERT_TRUE(status.solved());
    ASSERT_EQ(status.rows, 1200);
    // Only what was guessed right in the second step is tried as it is from the third on.
    EXPECT_EQ(i < 2 ? status.active_set : status.guessed, 1);
    EXPECT_LT(status.residual, 1e-9);
  }
  EXPECT_LT(world.record().next.v.cwiseAbs().maxCoeff(), 1e-9);
}

TEST(LargeIslands, SweepsAgreeWithTheDirectSolution) {
  const Scene scene = stack(3);
  const StepRecord direct = step_of_scene(scene, {});
  const StepRecord swept = step_of_scene(scene, {.method = LcpMethod::gauss_seidel, .direct_rows = 0, .sweeps = 20000});
  ASSERT_EQ(swept.reports.size(), 1);
  EXPECT_EQ(swept.reports[0].stage, LcpStage::gauss_seidel);
  EXPECT_LT((swept.next.v - direct.next.v).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(LargeIslands, SweepsWithoutAMatrixAreTheSweepsWithOne) {
  const Scene scene = stack(3);
  const StepRecord dense = step_of_scene(scene, {.method = LcpMethod::gauss_seidel, .sweeps = 10});
  const StepRecord swept = step_of_scene(scene, {.method = LcpMethod::gauss_seidel, .direct_rows = 0, .sweeps = 10});
  ASSERT_EQ(dense.f.size(), swept.f.size());
  for (std::size_t i = 0; i < dense.f.size(); ++i) EXPECT_NEAR(dense.f[i], swept.f[i], 1e-12);
  EXPECT_EQ(dense.modes, swept.modes);
  EXPECT_NEAR(dense.reports[0].residual, swept.reports[0].residual, 1e-9);
}

TEST(LargeIslands, SayWhenTheSweepsWereTooFew) {
  const StepRecord swept = step_of_scene(stack(10), {.method = LcpMethod::gauss_seidel, .direct_rows = 0, .sweeps = 5});
  EXPECT_EQ(swept.status.unsolved, 1);
  EXPECT_TRUE(has(swept.status.flags, LcpFlag::unsolved));
  EXPECT_GT(swept.status.residual, 1e-6);
  EXPECT_TRUE(swept.next.v.allFinite());
}

TEST(LargeIslands, AHundredSolidsSettle) {
  const Scene scene = pile(100);
  World world(scene.model);
  world.options.time_step = 5e-3;
  world.options.lcp = {.method = LcpMethod::gauss_seidel, .direct_rows = 100, .sweeps = 100};
  world.set_state(scene.q, scene.v);
  int largest = 0;
  for (int i = 0; i < 600; ++i) {
    ASSERT_FALSE(world.step().diverged);
    for (const Island& island : world.record().tape().problem.islands) largest = std::max(largest, island.row_count);
  }
  EXPECT_GT(largest, 100);
  for (const World::ContactImpulse& contact : world.contacts()) EXPECT_GT(contact.gap, -5e-3);
}

}  // namespace
}  // namespace lithe::test

#include <gtest/gtest.h>

#include "lithe/scenes/pile.h"
#include "lithe/scenes/towers.h"
#include "lithe/step/world.h"

// Islands above LcpOptions::direct_rows are swept instead of solved directly.
namespace lithe::test {
namespace {

StepRecord step_of_scene(const Scene& scene, const LcpOptions& lcp) {
  StepOptions options;
  options.constraints.time_step = scene.time_step;
  options.lcp = lcp;
  StepRecord record;
  step(scene.model, {scene.q, scene.v}, {}, options, record);
  return record;
}

TEST(LargeIslands, SweepsAgreeWithTheDirectSolution) {
  const Scene scene = stack(3);
  const StepRecord direct = step_of_scene(scene, {});
  const StepRecord swept = step_of_scene(scene, {.direct_rows = 0, .sweeps = 20000});
  ASSERT_EQ(swept.reports.size(), 1);
  EXPECT_EQ(swept.reports[0].stage, LcpStage::gauss_seidel);
  EXPECT_LT((swept.next.v - direct.next.v).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(LargeIslands, SweepsWithoutAMatrixAreTheSweepsWithOne) {
  const Scene scene = stack(3);
  const StepRecord dense = step_of_scene(scene, {.method = LcpMethod::gauss_seidel, .sweeps = 10});
  const StepRecord swept = step_of_scene(scene, {.direct_rows = 0, .sweeps = 10});
  ASSERT_EQ(dense.f.size(), swept.f.size());
  for (std::size_t i = 0; i < dense.f.size(); ++i) EXPECT_NEAR(dense.f[i], swept.f[i], 1e-12);
  EXPECT_EQ(dense.classes, swept.classes);
  EXPECT_NEAR(dense.reports[0].residual, swept.reports[0].residual, 1e-9);
}

TEST(LargeIslands, SayWhenTheSweepsWereTooFew) {
  const StepRecord swept = step_of_scene(stack(10), {.direct_rows = 0, .sweeps = 5});
  EXPECT_EQ(swept.status.unsolved, 1);
  EXPECT_TRUE(has(swept.status.flags, LcpFlag::unsolved));
  EXPECT_GT(swept.status.residual, 1e-6);
  EXPECT_TRUE(swept.next.v.allFinite());
}

TEST(LargeIslands, AHundredSolidsSettle) {
  const Scene scene = pile(100);
  World world(scene.model);
  world.options.constraints.time_step = 5e-3;
  world.options.lcp = {.direct_rows = 100, .sweeps = 100};
  world.set_state(scene.q, scene.v);
  int largest = 0;
  for (int i = 0; i < 600; ++i) {
    ASSERT_FALSE(world.step().diverged);
    for (const Island& island : world.record().problem.islands.islands()) largest = std::max(largest, island.row_count);
  }
  EXPECT_GT(largest, 100);
  for (const World::ContactImpulse& contact : world.contacts()) EXPECT_GT(contact.gap, -5e-3);
}

}  // namespace
}  // namespace lithe::test

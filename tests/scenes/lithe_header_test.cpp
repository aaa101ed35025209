// One include is enough for a program, with all warnings: nothing before it, and no other header of Lithe after it.
#include <gtest/gtest.h>

#include "lithe/lithe.h"

namespace {

TEST(LitheHeader, IsAllThatAProgramNeeds) {
  const lithe::Scene scene = lithe::scene("pendulum");
  lithe::World world(scene.model, {.time_step = scene.time_step});
  world.set_state(scene.q, scene.v);
  EXPECT_TRUE(world.step().solved());
  EXPECT_DOUBLE_EQ(world.time(), scene.time_step);
}

// Names of different headers do not get into one another's way.
TEST(LitheHeader, HasOneMeaningForEachName) {
  EXPECT_EQ(lithe::bouncing_ball().model.bodies().size(), lithe::dropped_ball().build().bodies().size());
}

}  // namespace

#include "lithe/collision/broad/shared_colliders.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "lithe/scenes/catalogue.h"
#include "tests/support/error_text.h"

namespace lithe::test {

using namespace internal;
namespace {

TEST(SharedColliders, AreOneSetForAllCopiesOfAModel) {
  const Model model = scene("half_cheetah").model;
  const Model copy = model;
  const auto first = shared_colliders(model);
  EXPECT_EQ(first->colliders().size(), model.shapes().size());
  EXPECT_EQ(shared_colliders(model), first);
  EXPECT_EQ(shared_colliders(copy), first);
}

TEST(SharedColliders, AreOthersOnceAShapeHasChanged) {
  Model model = scene("half_cheetah").model;
  const auto before = shared_colliders(model);
  Shape shape = model.shapes()[ShapeIndex(0)];
  shape.placement.p.x() += 0.1;
  model.set_shape(ShapeIndex(0), shape);
  EXPECT_NE(shared_colliders(model), before);
}

TEST(SharedColliders, LastAsLongAsSomebodyHoldsThem) {
  const Model model = scene("boxes").model;
  std::weak_ptr<const ColliderSet> watched;
  {
    const auto held = shared_colliders(model);
    watched = held;
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_TRUE(shared_colliders(model));
}

TEST(SharedColliders, AreMadeOnceHoweverManyThreadsAsk) {
  const Model model = scene("humanoid").model;
  std::vector<std::shared_ptr<const ColliderSet>> sets(8);
  std::vector<std::thread> threads;
  for (auto& set : sets) threads.emplace_back([&] { set = shared_colliders(model); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& set : sets) EXPECT_EQ(set, sets[0]);
}

}  // namespace
}  // namespace lithe::test

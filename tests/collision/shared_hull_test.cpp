#include "lithe/collision/hull/shared_hull.h"

#include <gtest/gtest.h>

#include <thread>

#include "lithe/collision/collider_set.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/model/model_builder.h"
#include "tests/collision/hull_checks.h"

namespace lithe::test {

using namespace internal;
namespace {

ConvexMesh mesh_of_sphere(int seed) {
  std::mt19937_64 random(static_cast<unsigned>(seed));
  return {on_sphere(50, random)};
}

TEST(SharedHull, IsBuiltOncePerPointsWhileSomebodyHoldsIt) {
  const std::uint64_t before = hulls_built();
  SharedHull first = shared_hull(mesh_of_sphere(101), "a");
  const SharedHull second = shared_hull(mesh_of_sphere(101), "b"), other = shared_hull(mesh_of_sphere(102), "c");
  EXPECT_EQ(first.hull, second.hull);
  EXPECT_NE(first.hull, other.hull);
  EXPECT_EQ(hulls_built(), before + 2);

  std::weak_ptr<const Hull> held = shared_hull(mesh_of_sphere(103), "d").hull;
  EXPECT_TRUE(held.expired());
  shared_hull(mesh_of_sphere(103), "d");
  EXPECT_EQ(hulls_built(), before + 4);
  // However many were forgotten, those that are held are still known.
  for (int i = 0; i < 300; ++i) shared_hull(mesh_of_sphere(1000 + i), "passing");
  EXPECT_EQ(shared_hull(mesh_of_sphere(101), "a").hull, first.hull);
}

TEST(SharedHull, OfAMeshThatBringsOneIsThat) {
  ConvexMesh mesh = mesh_of_sphere(104);
  mesh.hull = std::make_shared<const Hull>(box_hull(Vec3::Ones()));
  const std::uint64_t before = hulls_built();
  EXPECT_EQ(shared_hull(mesh, "a").hull, mesh.hull);
  EXPECT_EQ(hulls_built(), before);
}

TEST(SharedHull, WarnsEachMeshByItsOwnName) {
  const ConvexMesh sheet{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}};
  const SharedHull first = shared_hull(sheet, "first"), second = shared_hull(sheet, "second");
  EXPECT_EQ(first.hull, second.hull);
  ASSERT_EQ(first.warnings.size(), 1u);
  ASSERT_EQ(second.warnings.size(), 1u);
  EXPECT_TRUE(first.warnings[0].starts_with("mesh 'first': its points lie in a plane")) << first.warnings[0];
  EXPECT_TRUE(second.warnings[0].starts_with("mesh 'second': its points lie in a plane")) << second.warnings[0];
}

TEST(SharedHull, IsTheSameInAllThreads) {
  constexpr int kThreads = 8;
  std::vector<std::shared_ptr<const Hull>> hulls(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&hulls, t] {
      for (int i = 0; i < 20; ++i) hulls[t] = shared_hull(mesh_of_sphere(105), "ball").hull;
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Each held the hull before it asked again, so that none could be forgotten by all.
  for (const auto& hull : hulls) EXPECT_EQ(hull->vertices, hulls[0]->vertices);
  EXPECT_EQ(shared_hull(mesh_of_sphere(105), "ball").hull, hulls[0]);
}

TEST(SharedHull, IsNotBuiltAnewForAnotherColliderSet) {
  ModelBuilder builder;
  builder.add_shape("world", {.name = "ball", .geometry = mesh_of_sphere(106)});
  builder.add_shape("world", {.name = "same", .geometry = mesh_of_sphere(106)});
  Model model = builder.build();
  const std::uint64_t before = hulls_built();
  const ColliderSet set(model);
  EXPECT_EQ(hulls_built(), before + 1);
  Shape shape = model.shapes()[0];
  shape.margin = 0.01;
  shape.placement.p.z() = 2;
  model.set_shape(ShapeIndex(0), shape);
  const ColliderSet changed(model);
  EXPECT_EQ(changed.colliders()[0].hull, set.colliders()[1].hull);
  EXPECT_EQ(hulls_built(), before + 1);
}

TEST(SharedHull, GoesWhenThePointsOfAShapeChange) {
  ModelBuilder builder;
  ConvexMesh mesh = mesh_of_sphere(107);
  mesh.hull = shared_hull(mesh, "ball").hull;
  builder.add_shape("world", {.name = "ball", .geometry = mesh});
  Model model = builder.build();
  Shape shape = model.shapes()[0];
  EXPECT_EQ(std::get<ConvexMesh>(shape.geometry).hull, mesh.hull);
  // Whoever changes the points and forgets the hull does not collide as what was before.
  std::get<ConvexMesh>(shape.geometry).points[0] *= 3;
  model.set_shape(ShapeIndex(0), shape);
  EXPECT_EQ(std::get<ConvexMesh>(model.shapes()[0].geometry).hull, nullptr);
  EXPECT_NE(ColliderSet(model).colliders()[0].hull->radius, mesh.hull->radius);
}

}  // namespace
}  // namespace lithe::test

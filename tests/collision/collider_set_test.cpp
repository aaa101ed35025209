#include "lithe/collision/collider_set.h"

#include <gtest/gtest.h>

#include "lithe/model/model_builder.h"
#include "tests/support/error_text.h"

namespace lithe::test {
namespace {

const SpatialInertia kInertia = SpatialInertia::sphere(1, 0.1);

Shape ball(std::string name, CollisionFilter filter = {}) {
  return {.name = std::move(name), .geometry = Sphere{0.1}, .filter = filter};
}

// world ← trunk (free) ← upper (hinge) ← plate (weld) ← lower (hinge); every body and the world carry a ball of their
// own name.
ModelBuilder arm() {
  ModelBuilder builder;
  builder.add_body("world", {.name = "trunk", .inertia = kInertia}, free_joint("root"));
  builder.add_body("trunk", {.name = "upper", .inertia = kInertia}, revolute("shoulder", Vec3::UnitX()));
  builder.add_body("upper", {.name = "plate"});
  builder.add_body("plate", {.name = "lower", .inertia = kInertia}, revolute("elbow", Vec3::UnitX()));
  builder.add_body("world", {.name = "table"});
  for (const char* body : {"world", "trunk", "upper", "plate", "lower", "table"}) builder.add_shape(body, ball(body));
  return builder;
}

bool may_touch(const Model& model, const ColliderSet& set, const char* a, const char* b) {
  const bool forwards = set.may_touch(model.shape(a), model.shape(b));
  EXPECT_EQ(forwards, set.may_touch(model.shape(b), model.shape(a))) << a << ", " << b;
  return forwards;
}

TEST(ColliderSet, ParentAndChildDoNotTouch) {
  const Model model = arm().build();
  const ColliderSet set(model);
  EXPECT_FALSE(may_touch(model, set, "trunk", "upper"));
  EXPECT_TRUE(may_touch(model, set, "trunk", "lower"));
}

TEST(ColliderSet, WeldedBodiesCountAsOne) {
  const Model model = arm().build();
  const ColliderSet set(model);
  EXPECT_FALSE(may_touch(model, set, "upper", "plate"));
  EXPECT_FALSE(may_touch(model, set, "plate", "lower"));
  EXPECT_FALSE(may_touch(model, set, "upper", "lower")) << "upper and plate are one, and plate is lower's parent";
  EXPECT_FALSE(may_touch(model, set, "trunk", "plate"));
  EXPECT_FALSE(may_touch(model, set, "world", "table"));
}

TEST(ColliderSet, TheWorldIsNobodysParent) {
  const Model model = arm().build();
  const ColliderSet set(model);
  EXPECT_TRUE(may_touch(model, set, "world", "trunk"));
  EXPECT_TRUE(may_touch(model, set, "table", "trunk"));
  EXPECT_TRUE(may_touch(model, set, "world", "lower"));
}

TEST(ColliderSet, ShapesOfOneBodyDoNotTouch) {
  ModelBuilder builder = arm();
  builder.add_shape("lower", ball("finger"));
  const Model model = builder.build();
  EXPECT_FALSE(may_touch(model, ColliderSet(model), "lower", "finger"));
}

TEST(ColliderSet, BothMasksMustAgree) {
  ModelBuilder builder;
  const auto add = [&](const char* name, CollisionFilter filter) {
    builder.add_body("world", {.name = name, .inertia = kInertia}, free_joint(name));
    builder.add_shape(name, ball(name, filter));
  };
  add("one", {.groups = 0b001, .mask = 0b010});
  add("two", {.groups = 0b010, .mask = 0b001});
  add("deaf", {.groups = 0b010, .mask = 0b100});
  add("all", {});
  const Model model = builder.build();
  const ColliderSet set(model);
  EXPECT_TRUE(may_touch(model, set, "one", "two"));
  EXPECT_FALSE(may_touch(model, set, "one", "deaf")) << "deaf's mask leaves group 0 out";
  EXPECT_FALSE(may_touch(model, set, "one", "all")) << "one's mask leaves group 0, which is all's, out";
  EXPECT_TRUE(may_touch(model, set, "two", "all"));
}

TEST(ColliderSet, ExceptionsOverrideTheRuleAndTheLastOneCounts) {
  ModelBuilder builder = arm();
  builder.set_collision("trunk", "upper", true);
  builder.set_collision("lower", "trunk", true).set_collision("trunk", "lower", false);
  builder.set_collision("upper", "plate", true);
  const Model model = builder.build();
  const ColliderSet set(model);
  EXPECT_TRUE(may_touch(model, set, "trunk", "upper"));
  EXPECT_FALSE(may_touch(model, set, "trunk", "lower"));
  EXPECT_FALSE(may_touch(model, set, "upper", "plate")) << "what is welded together cannot be pushed apart";
}

TEST(ColliderSet, PlacesFixedShapes) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "table", .placement = Pose::translation(1, 2, 3)});
  builder.add_shape("table", {.name = "top", .geometry = Sphere{0.1}, .placement = Pose::translation(0, 0, 1)});
  builder.add_body("world", {.name = "free", .inertia = kInertia}, free_joint("free"));
  builder.add_shape("free", ball("free"));
  const Model model = builder.build();
  const ColliderSet set(model);
  EXPECT_TRUE(set.is_fixed(model.shape("top")));
  EXPECT_EQ(set.fixed_pose(model.shape("top")).p, Vec3(1, 2, 4));
  EXPECT_FALSE(set.is_fixed(model.shape("free")));
}

TEST(ColliderSet, PassesOnWhatWasChangedAboutAMesh) {
  ModelBuilder builder;
  builder.add_shape("world", {.name = "sheet", .geometry = ConvexMesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}}});
  const ColliderSet set(builder.build());
  ASSERT_EQ(set.warnings().size(), 1u);
  EXPECT_NE(set.warnings()[0].find("sheet"), std::string::npos) << set.warnings()[0];
}

TEST(ColliderSet, RefusesAMeshWithoutAHullByName) {
  ModelBuilder builder;
  builder.add_shape("world", {.name = "needle", .geometry = ConvexMesh{{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}}});
  const Model model = builder.build();
  expect_error([&] { ColliderSet set(model); }, "needle");
}

TEST(MakeCollider, RefusesABoxOrACylinderThatIsAPoint) {
  expect_error([] { make_collider({.name = "dot", .geometry = Box{Vec3::Zero()}}, ShapeIndex(0)); }, "dot", "a sphere");
  expect_error([] { make_collider({.name = "dot", .geometry = Cylinder{0, 0}}, ShapeIndex(0)); }, "dot", "a sphere");
}

TEST(Bands, AreMeasuredInTheSmallerShape) {
  const Collider small = make_collider({.name = "s", .geometry = Sphere{0.1}}, ShapeIndex(0));
  const Collider floor = make_collider({.name = "f", .geometry = Box{Vec3(5, 5, 1)}}, ShapeIndex(1));
  const Collider plane = make_collider({.name = "p", .geometry = Plane{}}, ShapeIndex(2));
  EXPECT_DOUBLE_EQ(bands_of(small, floor).length, 0.1);
  EXPECT_DOUBLE_EQ(bands_of(small, plane).length, 0.1);
  EXPECT_DOUBLE_EQ(bands_of(small, plane).margin, 1e-4);
}

TEST(Bands, ShapesMarginsAddUp) {
  const Collider a = make_collider({.name = "a", .geometry = Sphere{0.1}, .margin = 0.01}, ShapeIndex(0));
  const Collider b = make_collider({.name = "b", .geometry = Sphere{0.1}, .margin = 0.02}, ShapeIndex(1));
  EXPECT_DOUBLE_EQ(bands_of(a, b).margin, 0.03);
}

}  // namespace
}  // namespace lithe::test

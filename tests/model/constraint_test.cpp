#include "lithe/model/constraint.h"

#include <gtest/gtest.h>

#include "lithe/core/infinity.h"
#include "lithe/model/model_builder.h"
#include "tests/support/constants.h"
#include "tests/support/error_text.h"

namespace lithe {
namespace {

using test::expect_error;

// Two fingers and a ball joint; a nail welded to the left finger, a post to the world.
ModelBuilder hand() {
  const SpatialInertia inertia = SpatialInertia::sphere(1, 0.1);
  ModelBuilder builder;
  builder.add_body("world", {.name = "left", .inertia = inertia}, revolute("left_knuckle", Vec3::UnitY()));
  builder.add_body("left", {.name = "nail", .inertia = inertia});
  builder.add_body("world", {.name = "right", .inertia = inertia}, prismatic("right_slide", Vec3::UnitX()));
  builder.add_body("right", {.name = "tip", .inertia = inertia}, revolute("right_knuckle", Vec3::UnitY()));
  builder.add_body("world", {.name = "thumb", .inertia = inertia}, ball("thumb_socket"));
  builder.add_body("world", {.name = "post", .placement = Pose::translation(1, 0, 0)});
  return builder;
}

Model closed(const char* a, const char* b, const LoopClosure& loop = {.name = "ring"}) {
  return hand().add_loop(a, b, loop).build();
}

Model following(const char* joint, const char* source, const Mimic& mimic = {.name = "gear"}) {
  return hand().add_mimic(joint, source, mimic).build();
}

TEST(LoopClosure, HoldsTheBodiesThatItIsAddedTo) {
  const LoopClosure ring{.name = "ring",
                         .kind = LoopClosure::Kind::weld,
                         .placement_a = Pose::translation(1, 2, 3),
                         .placement_b = Pose::translation(4, 5, 6)};
  const Model model = closed("tip", "world", ring);
  ASSERT_EQ(model.loops().size(), 1u);
  const LoopClosure& loop = model.loops()[model.loop("ring")];
  EXPECT_EQ(loop.kind, LoopClosure::Kind::weld);
  EXPECT_EQ(loop.a, model.body("tip"));
  EXPECT_EQ(loop.b, Model::world());
  EXPECT_EQ(loop.placement_a.p, Vec3(1, 2, 3));
  EXPECT_EQ(loop.placement_b.p, Vec3(4, 5, 6));
}

TEST(LoopClosure, OfBodiesThatCannotPartIsRefused) {
  expect_error([] { closed("tip", "tip"); }, "loop 'ring'", "'tip'");
  expect_error([] { closed("left", "nail"); }, "loop 'ring'", "no joint", "'left'", "'nail'");
  expect_error([] { closed("world", "post"); }, "loop 'ring'", "no joint", "'world'", "'post'");
  EXPECT_NO_THROW(closed("nail", "post"));
}

TEST(LoopClosure, OfAnUnknownBodyIsRefusedWithTheClosestOnes) {
  expect_error([] { closed("tip", "tumb"); }, "loop 'ring'", "body 'tumb'", "did you mean 'thumb'");
  expect_error([] { closed("rihgt", "tip"); }, "loop 'ring'", "body 'rihgt'", "did you mean 'right'");
}

TEST(LoopClosure, NeedsANameOfItsOwnAndFinitePlacements) {
  expect_error([] { closed("left", "right", {}); }, "loop", "empty name");
  expect_error([] { hand().add_loop("left", "tip", {.name = "x"}).add_loop("right", "thumb", {.name = "x"}).build(); },
               "two loops", "'x'");
  expect_error([] { closed("left", "tip", {.name = "ring", .placement_a = Pose::translation(0, test::kNan, 0)}); },
               "loop 'ring'", "first", "nan");
  expect_error([] { closed("left", "tip", {.name = "ring", .placement_b = Pose::rotation(2 * Mat3::Identity())}); },
               "loop 'ring'", "second", "rotation");
}

TEST(LoopClosure, KeepsItsNameKindAndBodiesWhenItIsSet) {
  Model model = closed("left", "tip");
  LoopClosure other{.name = "another name", .placement_a = Pose::translation(1, 0, 0)};
  model.set_loop(model.loop("ring"), other);
  const LoopClosure& loop = model.loops()[0];
  EXPECT_EQ(loop.name, "ring");
  EXPECT_EQ(loop.a, model.body("left"));
  EXPECT_EQ(loop.b, model.body("tip"));
  EXPECT_EQ(loop.placement_a.p.x(), 1);

  other.kind = LoopClosure::Kind::weld;
  expect_error([&] { model.set_loop(model.loop("ring"), other); }, "loop 'ring'", "ball", "weld");
  other = {.name = "ring", .placement_b = Pose::translation(kInfinity, 0, 0)};
  expect_error([&] { model.set_loop(model.loop("ring"), other); }, "loop 'ring'", "inf");
  expect_error([&] { model.set_loop(LoopIndex(), other); }, "loop index -1");
  expect_error([&] { (void)model.loop("rng"); }, "loop", "'rng'", "did you mean 'ring'");
  EXPECT_EQ(model.loops()[0].placement_b.p.x(), 0);
}

TEST(LoopClosure, ComesAlongWhenItsBuilderIsAddedToAnother) {
  ModelBuilder robot = hand();
  robot.add_loop("world", "tip", {.name = "ring", .placement_a = Pose::translation(0, 0, 3)});
  ModelBuilder cart;
  cart.add_body("world", {.name = "cart", .inertia = SpatialInertia::sphere(1, 1)}, prismatic("rail", Vec3::UnitX()));
  const Model model = cart.add(robot, "my_", "cart", Pose::translation(10, 0, 0)).build();
  const LoopClosure& loop = model.loops()[model.loop("my_ring")];
  EXPECT_EQ(loop.a, model.body("cart"));
  EXPECT_EQ(loop.b, model.body("my_tip"));
  EXPECT_EQ(loop.placement_a.p, Vec3(10, 0, 3));
  EXPECT_EQ(loop.placement_b.p, Vec3(0, 0, 0));
}

TEST(Mimic, LeadsFromOneJointToAnother) {
  const Model model = following("right_slide", "left_knuckle", {.name = "gear", .multiplier = -2, .offset = 0.5});
  const Mimic& mimic = model.mimics()[model.mimic("gear")];
  EXPECT_EQ(mimic.joint, model.joint("right_slide"));
  EXPECT_EQ(mimic.source, model.joint("left_knuckle"));
  EXPECT_EQ(mimic.multiplier, -2);
  EXPECT_EQ(mimic.offset, 0.5);
}

TEST(Mimic, OfAJointWithSeveralDofsIsRefused) {
  expect_error([] { following("thumb_socket", "left_knuckle"); }, "mimic 'gear'", "'thumb_socket'", "ball");
  expect_error([] { following("left_knuckle", "thumb_socket"); }, "mimic 'gear'", "'thumb_socket'", "ball");
}

TEST(Mimic, OfAnUnknownJointIsRefusedWithTheClosestOnes) {
  expect_error([] { following("left_knuckl", "right_slide"); }, "mimic 'gear'", "did you mean 'left_knuckle'");
  expect_error([] { following("left_knuckle", "right_side"); }, "mimic 'gear'", "did you mean 'right_slide'");
}

TEST(Mimic, OfItselfIsRefusedHoweverLongTheWay) {
  expect_error([] { following("right_slide", "right_slide"); }, "mimic 'gear'", "'right_slide' → 'right_slide'");
  ModelBuilder builder = hand();
  builder.add_mimic("left_knuckle", "right_slide", {.name = "a"});
  builder.add_mimic("right_slide", "right_knuckle", {.name = "b"});
  EXPECT_NO_THROW(builder.build());
  builder.add_mimic("right_knuckle", "left_knuckle", {.name = "c"});
  expect_error([&] { builder.build(); }, "'left_knuckle' → 'right_slide' → 'right_knuckle' → 'left_knuckle'");
}

TEST(Mimic, AJointFollowsAtMostOneOther) {
  ModelBuilder builder = hand();
  builder.add_mimic("left_knuckle", "right_slide", {.name = "a"});
  builder.add_mimic("left_knuckle", "right_knuckle", {.name = "b"});
  expect_error([&] { builder.build(); }, "'a'", "'b'", "'left_knuckle'", "only one");
}

TEST(Mimic, SeveralJointsMayFollowOne) {
  ModelBuilder builder = hand();
  builder.add_mimic("left_knuckle", "right_slide", {.name = "a"});
  builder.add_mimic("right_knuckle", "right_slide", {.name = "b"});
  EXPECT_NO_THROW(builder.build());
}

TEST(Mimic, NeedsANameOfItsOwnAndFiniteNumbers) {
  expect_error([] { following("left_knuckle", "right_slide", {}); }, "mimic", "empty name");
  ModelBuilder builder = hand();
  builder.add_mimic("left_knuckle", "right_slide", {.name = "x"});
  builder.add_mimic("right_knuckle", "right_slide", {.name = "x"});
  expect_error([&] { builder.build(); }, "two mimics", "'x'");
  for (const double bad : {test::kNan, kInfinity}) {
    expect_error([&] { following("left_knuckle", "right_slide", {.name = "gear", .multiplier = bad}); }, "mimic 'gear'",
                 "multiplier");
    expect_error([&] { following("left_knuckle", "right_slide", {.name = "gear", .offset = bad}); }, "mimic 'gear'",
                 "offset");
  }
}

TEST(Mimic, AMultiplierOfZeroIsALock) {
  EXPECT_NO_THROW(following("left_knuckle", "right_slide", {.name = "gear", .multiplier = 0, .offset = 0.3}));
}

TEST(Mimic, KeepsItsNameAndJointsWhenItIsSet) {
  Model model = following("left_knuckle", "right_slide");
  model.set_mimic(model.mimic("gear"), {.name = "another name", .multiplier = 3});
  EXPECT_EQ(model.mimics()[0].name, "gear");
  EXPECT_EQ(model.mimics()[0].multiplier, 3);
  EXPECT_EQ(model.mimics()[0].joint, model.joint("left_knuckle"));
  EXPECT_EQ(model.mimics()[0].source, model.joint("right_slide"));
  expect_error([&] { model.set_mimic(model.mimic("gear"), {.name = "gear", .offset = test::kNan}); }, "mimic 'gear'",
               "offset");
  expect_error([&] { model.set_mimic(MimicIndex(4), {}); }, "mimic index 4");
  expect_error([&] { (void)model.mimic("gaer"); }, "mimic", "'gaer'", "did you mean 'gear'");
  EXPECT_EQ(model.mimics()[0].offset, 0);
}

TEST(Mimic, ComesAlongWhenItsBuilderIsAddedToAnother) {
  ModelBuilder robot = hand();
  robot.add_mimic("left_knuckle", "right_slide", {.name = "gear"});
  const Model model = ModelBuilder().add(robot, "a_").add(robot, "b_").build();
  EXPECT_EQ(model.mimics()[model.mimic("b_gear")].joint, model.joint("b_left_knuckle"));
  EXPECT_EQ(model.mimics()[model.mimic("b_gear")].source, model.joint("b_right_slide"));
}

}  // namespace
}  // namespace lithe

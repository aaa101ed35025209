#include <gtest/gtest.h>

#include <cmath>

#include "lithe/scenes/robots/four_bar.h"
#include "lithe/scenes/robots/gripper.h"
#include "tests/scenes/initial_contacts.h"
#include "tests/support/error_text.h"

namespace lithe {
namespace {

using test::expect_error;

TEST(Scene, AtRestIsNeutralAndStill) {
  const Scene scene = at_rest(four_bar());
  EXPECT_EQ(scene.q, VecX::Zero(3));
  EXPECT_EQ(scene.v, VecX::Zero(3));
  EXPECT_EQ(scene.motor_targets, VecX::Zero(1));
}

TEST(Scene, InitialStatesAndTargetsAreSetByName) {
  Scene scene = gripper_with_cube();
  set_initial(scene, "lift", 0.25, -0.5);
  set_target(scene, "lift", 0.75);
  const Joint& lift = scene.model.joints()[scene.model.joint("lift")];
  EXPECT_EQ(scene.q[lift.q_index], 0.25);
  EXPECT_EQ(scene.v[lift.v_index], -0.5);
  EXPECT_EQ(scene.motor_targets[scene.model.motor("lift")], 0.75);
  expect_error([&] { set_initial(scene, "cube.ball", 1); }, "'cube.ball'", "ball");
  expect_error([&] { set_initial(scene, "lft", 1); }, "'lft'", "did you mean 'lift'");
  expect_error([&] { set_target(scene, "gripp", 1); }, "'gripp'", "did you mean 'grip'");
}

TEST(FourBar, HasThreeDofsAndALoopThatLeavesOne) {
  const Model model = four_bar().build();
  EXPECT_EQ(model.nv(), 3);
  ASSERT_EQ(model.loops().size(), 1u);
  EXPECT_EQ(model.loops()[0].a, model.body("coupler"));
  EXPECT_EQ(model.loops()[0].b, model.body("rocker"));
  EXPECT_EQ(model.motors()[model.motor("drive")].joint, model.joint("crank"));
}

TEST(FourBar, ItsBarsHaveTheirLengthsAndTheCrankCanTurnFully) {
  const Model model = four_bar().build();
  const LoopClosure& pin = model.loops()[0];
  const double crank = model.joints()[model.joint("coupler")].placement.p.norm();
  const double coupler = pin.placement_a.p.norm();
  const double rocker = pin.placement_b.p.norm();
  const double ground = model.joints()[model.joint("rocker")].placement.p.norm();
  EXPECT_NEAR(crank, 0.1, 1e-15);
  EXPECT_NEAR(coupler, 0.4, 1e-15);
  EXPECT_NEAR(rocker, 0.3, 1e-15);
  EXPECT_NEAR(ground, 0.4, 1e-15);
  EXPECT_LT(crank + ground, coupler + rocker);  // Grashof's condition
  EXPECT_GT(pin.placement_b.p.z(), 0);          // the upper of the two ways to close it
}

TEST(FourBar, NothingTouches) { EXPECT_TRUE(test::initial_contacts(driven_four_bar()).empty()); }

TEST(Gripper, TheRightFingerMirrorsTheLeft) {
  const Model model = gripper().build();
  const Joint& left = model.joints()[model.joint("left_slide")];
  const Joint& right = model.joints()[model.joint("right_slide")];
  EXPECT_EQ(left.axis, -right.axis);
  EXPECT_EQ(left.placement.p, Vec3(right.placement.p.x(), -right.placement.p.y(), right.placement.p.z()));
  ASSERT_EQ(model.mimics().size(), 1u);
  EXPECT_EQ(model.mimics()[0].joint, model.joint("right_slide"));
  EXPECT_EQ(model.mimics()[0].source, model.joint("left_slide"));
}

TEST(Gripper, TheCubeStandsBetweenOpenFingers) {
  const Scene scene = gripper_with_cube();
  EXPECT_EQ(scene.model.nv(), 3 + 6);
  const std::vector<Contact> contacts = test::initial_contacts(scene);
  EXPECT_EQ(contacts.size(), 4u);
  for (const Contact& contact : contacts) EXPECT_TRUE(contact.n.isApprox(Vec3::UnitZ()));
}

TEST(Gripper, ItsFingersMeetTheCubeBeforeTheirTarget) {
  Scene scene = gripper_with_cube();
  for (const char* slide : {"left_slide", "right_slide"}) set_initial(scene, slide, 0.04);
  EXPECT_EQ(test::initial_contacts(scene).size(), 4u + 2 * 4u);
  EXPECT_GT(scene.motor_targets[scene.model.motor("grip")], 0.04);
}

}  // namespace
}  // namespace lithe

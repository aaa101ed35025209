#include <gtest/gtest.h>

#include <numbers>

#include "lithe/collision/collider_set.h"
#include "tests/io/mjcf_text.h"
#include "tests/support/clock.h"

// Models that people have, and large ones.
namespace lithe::test {
namespace {

TEST(MjcfModels, TheHumanoidHasItsJointsMotorsAndKeyframes) {
  const auto folder = models_folder();
  if (!folder) GTEST_SKIP() << "set LITHE_MODELS to a folder with mjcf/humanoid.xml";
  const LoadedModel loaded = load((*folder / "mjcf/humanoid.xml").string());
  EXPECT_EQ(loaded.name, "Humanoid");
  EXPECT_EQ(loaded.time_step, 0.005);
  EXPECT_EQ(loaded.model.bodies().size(), 17u);
  EXPECT_EQ(loaded.model.nv(), 27);
  EXPECT_EQ(loaded.model.shapes().size(), 20u);
  EXPECT_EQ(loaded.actuators.size(), 21u);
  ASSERT_EQ(loaded.keyframes.size(), 4u);
  EXPECT_EQ(loaded.keyframes[0].name, "squat");
  EXPECT_NEAR(loaded.keyframes[0].q[6], 0.988015, 1e-6) << "w comes last here";
  const Joint& knee = joint_of(loaded, "knee_left");
  EXPECT_NEAR(knee.lower, -160 * std::numbers::pi / 180, 1e-14);
  EXPECT_EQ(knee.stiffness, 1);
  EXPECT_EQ(knee.armature, 0.01);
  EXPECT_EQ(knee.effort_limit, 80);
  EXPECT_EQ(loaded.q[2], 1.282);
  const ColliderSet colliders(loaded.model);
  EXPECT_FALSE(colliders.may_touch(loaded.model.shape("waist_lower"), loaded.model.shape("thigh_right"))) << "excluded";
  EXPECT_TRUE(colliders.may_touch(loaded.model.shape("foot1_left"), loaded.model.shape("floor")));
}

TEST(MjcfModels, TheCarHasAMeshAndWheels) {
  const auto folder = models_folder();
  if (!folder) GTEST_SKIP() << "set LITHE_MODELS to a folder with mjcf/car.xml";
  const LoadedModel loaded = load((*folder / "mjcf/car.xml").string());
  EXPECT_EQ(loaded.model.bodies().size(), 4u);
  EXPECT_EQ(loaded.model.nv(), 8);
  EXPECT_EQ(std::get<ConvexMesh>(shape_of(loaded, "chasis").geometry).points.size(), 9u);
  EXPECT_EQ(joint_of(loaded, "left").effort_limit, 0.5);
  EXPECT_EQ(joint_of(loaded, "left").damping, 0.03);
  // A wheel: radius 3 cm, 2 cm thick, of water.
  EXPECT_NEAR(body_of(loaded, "left wheel").inertia.mass, 1000 * std::numbers::pi * 0.03 * 0.03 * 0.02, 1e-15);
  EXPECT_EQ(warning_count(loaded, "mjcf.actuator.tendon"), 2);
}

// A tree in which each body carries ten, three deep.
std::string tree_of_capsules(int depth) {
  std::string text =
      "<body pos=\"0.1 0.2 0.3\" euler=\"10 20 30\"><joint axis=\"0 1 0\" range=\"-90 90\" damping=\"0.1\"/>"
      "<geom type=\"capsule\" size=\"0.04\" fromto=\"0 0 0 0.1 0.2 0.3\"/>";
  for (int i = 0; depth > 0 && i < 10; ++i) text += tree_of_capsules(depth - 1);
  return text + "</body>\n";
}

TEST(MjcfModels, AThousandBodiesLoadSoon) {
  const std::string text = mjcf_around("<worldbody>" + tree_of_capsules(3) + "</worldbody>");
  LoadedModel loaded;
  const double seconds = cpu_seconds([&] { loaded = load_text(text, "tree.xml"); });
  EXPECT_EQ(loaded.model.bodies().size(), 1112u);
  EXPECT_LT(seconds, kLong);  // on most machines, a hundredth of a second
}

}  // namespace
}  // namespace lithe::test

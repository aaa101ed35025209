#include "lithe/scenes/from_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/world.h"

namespace lithe::test {
namespace {

constexpr const char* kBox = R"(<robot name="cube"><link name="body">
<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.2 0.4 0.6"/></geometry></collision>
<visual name="paint"><geometry><box size="0.2 0.4 0.6"/></geometry></visual></link></robot>)";

constexpr const char* kHopper = R"(<mujoco model="hopper"><option timestep="0.002"/><worldbody>
<body name="trunk" pos="0 0 1"><freejoint name="root"/><geom type="sphere" size="0.1" mass="1"/>
<body name="leg"><joint name="knee" type="slide" axis="0 0 1" range="-1 1"/>
<geom type="sphere" size="0.05" pos="0 0 -0.5" mass="1"/></body></body></worldbody>
<actuator><position name="servo" joint="knee" kp="100"/></actuator>
<keyframe><key name="low" qpos="0 0 2 1 0 0 0 -0.25" qvel="0 0 0 0 0 0 0.5" ctrl="0.125"/>
<key name="high" qpos="0 0 3 1 0 0 0 0.25"/></keyframe></mujoco>)";

// The outer two of three links overlap in every pose.
std::string compact_robot(const std::string& name) {
  std::string text = "<robot " + name + ">";
  for (const char* link : {"a", "b", "c"}) {
    text += std::string("<link name=\"") + link +
            R"("><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
               <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>)";
  }
  return text + R"(<joint name="ab" type="continuous"><parent link="a"/><child link="b"/></joint>
                   <joint name="bc" type="continuous"><parent link="b"/><child link="c"/></joint></robot>)";
}

class SceneFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("lithe_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

double ground_height(const Scene& scene) { return scene.model.shapes()[scene.model.shape("ground")].placement.p.z(); }

std::string open_error(const std::string& name, const OpenOptions& options) {
  try {
    open_scene(name, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(SceneFiles, StandOnAGroundOfTheirOwn) {
  const ShownScene shown = open_scene(write("cube.urdf", kBox));
  EXPECT_EQ(shown.name, "cube");
  EXPECT_EQ(shown.visuals.size(), 1u);
  EXPECT_TRUE(shown.warnings.empty());
  EXPECT_NEAR(ground_height(shown.scene), -0.3, 1e-12);
  World world(shown.scene.model, {.time_step = shown.scene.time_step});
  world.set_state(shown.scene.q, shown.scene.v);
  for (int i = 0; i < 500; ++i) world.step({});
  EXPECT_LT((world.state().q - shown.scene.q).norm(), 1e-9);
  EXPECT_EQ(world.record().status.contacts, 4);
}

TEST_F(SceneFiles, OpenAsAWorld) {
  const std::string file = write("cube.urdf", kBox);
  const Scene scene = open_scene(file).scene;
  World world(file), by_hand(scene.model, {.time_step = scene.time_step});
  by_hand.set_state(scene.q, scene.v);
  for (int i = 0; i < 20; ++i) {
    world.step();
    by_hand.step();
  }
  EXPECT_EQ(world.record().status.contacts, 4);
  EXPECT_EQ(world.state().q, by_hand.state().q);
}

TEST_F(SceneFiles, GetTheGroundThatIsAskedFor) {
  const std::string file = write("cube.urdf", kBox);
  EXPECT_EQ(open_scene(file, {.ground = ground_from("no")}).scene.model.shapes().size(), 1u);
  EXPECT_NEAR(ground_height(open_scene(file, {.ground = ground_from("-2.5")}).scene), -2.5, 1e-12);
  const OpenOptions fixed = {.load = {.base = LoadOptions::Base::fixed}};
  EXPECT_EQ(open_scene(file, fixed).scene.model.shapes().size(), 1u);
  OpenOptions on_ground = fixed;
  on_ground.ground = ground_from("yes");
  EXPECT_NEAR(ground_height(open_scene(file, on_ground).scene), -0.3, 1e-12);
}

TEST_F(SceneFiles, StartInAKeyframeOnTheGroundUnderIt) {
  const std::string file = write("hopper.xml", kHopper);
  const Scene low = open_scene(file, {.keyframe = "low"}).scene;
  const Joint& knee = low.model.joints()[low.model.joint("knee")];
  EXPECT_EQ(low.q[knee.q_index], -0.25);
  EXPECT_EQ(low.v[knee.v_index], 0.5);
  ASSERT_EQ(low.motor_targets.size(), 1);
  EXPECT_EQ(low.motor_targets[0], 0.125);
  EXPECT_EQ(low.time_step, 0.002);
  EXPECT_NEAR(ground_height(low), 2 - 0.25 - 0.55, 1e-12);
  EXPECT_NEAR(ground_height(open_scene(file, {.keyframe = "high"}).scene), 3 + 0.25 - 0.55, 1e-12);
  EXPECT_NE(open_error(file, {.keyframe = "hihg"}).find("'hopper' has 'low', 'high'"), std::string::npos);
  EXPECT_NE(open_error(write("cube.urdf", kBox), {.keyframe = "low"}).find("'cube' has none"), std::string::npos);
}

TEST_F(SceneFiles, SayWhichPairsDoNotTouch) {
  const std::string file = write("compact.urdf", compact_robot("name=\"compact\""));
  const ShownScene shown = open_scene(file);
  ASSERT_EQ(shown.excepted_pairs.size(), 1u);
  EXPECT_EQ(shown.excepted_pairs[0].a, "a");
  EXPECT_EQ(shown.excepted_pairs[0].b, "c");
  EXPECT_EQ(shown.excepted_pairs[0].reason, ExceptedPair::Reason::often);
  const OpenOptions all = {.load = {.self_collision = LoadOptions::SelfCollision::all}};
  EXPECT_TRUE(open_scene(file, all).excepted_pairs.empty());
  EXPECT_TRUE(open_scene("humanoid").excepted_pairs.empty());
}

TEST_F(SceneFiles, HaveTheNameOfTheRobotOrElseTheirOwn) {
  EXPECT_EQ(open_scene(write("compact.urdf", compact_robot("name=\"robot\""))).name, "robot");
  EXPECT_EQ(open_scene(write("nameless.urdf", compact_robot(""))).name, "nameless.urdf");
}

TEST_F(SceneFiles, AreToldFromScenes) {
  EXPECT_TRUE(names_file("robot.urdf"));
  EXPECT_TRUE(names_file("models/robot"));
  EXPECT_FALSE(names_file("cartpole"));
  EXPECT_FALSE(names_file("stack:5"));
  EXPECT_FALSE(names_file("no_such_scene"));  // and there is no file of that name: the error is about scenes
  EXPECT_THROW(open_scene("no_such_file.urdf"), LoadError);
  EXPECT_EQ(open_scene("stack:5").name, "stack:5");
  EXPECT_EQ(open_scene("stack:5").scene.model.nv(), 30);
  EXPECT_NE(open_error("cartpol", {}).find("cartpole"), std::string::npos);
}

TEST_F(SceneFiles, AloneHaveOptions) {
  EXPECT_NE(open_error("humanoid", {.ground = ground_from("yes")}).find("ground: 'humanoid' is a scene"),
            std::string::npos);
  EXPECT_NE(open_error("humanoid", {.keyframe = "home"}).find("only files have keyframes"), std::string::npos);
  EXPECT_EQ(open_error("humanoid", {.ground = ground_from("no")}), "");  // none is added
}

}  // namespace
}  // namespace lithe::test

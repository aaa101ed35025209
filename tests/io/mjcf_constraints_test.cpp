#include <gtest/gtest.h>

#include <numbers>

#include "lithe/collision/collider_set.h"
#include "lithe/dynamics/body_motion.h"
#include "tests/io/mjcf_text.h"
#include "tests/support/error_text.h"

// Contacts, equalities, actuators and keyframes.
namespace lithe::test {
namespace {

bool may_touch(const Model& model, const char* a, const char* b) {
  return ColliderSet(model).may_touch(model.shape(a), model.shape(b));
}

TEST(MjcfContacts, FollowMujocosRuleForEveryCombinationOfBits) {
  std::string bodies;
  const int bits[] = {0, 1, 2, 3, 5};
  for (const int type : bits) {
    for (const int affinity : bits) {
      const std::string name = fmt::format("g{}{}", type, affinity);
      bodies += fmt::format(
          "<body pos=\"0 0 {}\"><freejoint/><geom name=\"{}\" size=\"0.1\" contype=\"{}\" conaffinity=\"{}\"/></body>",
          type, name, type, affinity);
    }
  }
  const LoadedModel loaded = load_world(bodies);
  ASSERT_EQ(loaded.model.shapes().size(), 24u) << "all but 0, 0";
  int touching = 0;
  for (const Shape& a : loaded.model.shapes()) {
    for (const Shape& b : loaded.model.shapes()) {
      if (a.name == b.name) continue;
      const int ta = a.name[1] - '0', aa = a.name[2] - '0', tb = b.name[1] - '0', ab = b.name[2] - '0';
      const bool expected = (ta & ab) != 0 || (tb & aa) != 0;
      EXPECT_EQ(may_touch(loaded.model, a.name.c_str(), b.name.c_str()), expected) << a.name << " " << b.name;
      touching += expected ? 1 : 0;
    }
  }
  EXPECT_GT(touching, 100);
}

TEST(MjcfContacts, LeaveUsualFilesWithTheDefaultFilter) {
  const LoadedModel loaded = load_world("<geom name=\"g\" size=\"1\"/>");
  EXPECT_EQ(shape_of(loaded, "g").filter, CollisionFilter{});
}

// A floor, a body welded to the world, and a chain of two on the floor.
const std::string kChain = R"(<worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="post"><geom name="post" size="0.1"/>
    <body name="a"><joint/><geom name="a" size="0.1"/>
      <body name="b"><joint/><geom name="b" size="0.1"/>
        <body name="c"><joint/><geom name="c" size="0.1"/></body></body></body></body></worldbody>)";

TEST(MjcfContacts, ParentAndChildDoNotCollideButTheWorldDoes) {
  const Model model = load_mjcf_text(kChain).model;
  EXPECT_TRUE(may_touch(model, "a", "floor"));
  EXPECT_TRUE(may_touch(model, "a", "post")) << "what is welded to the world is the world";
  EXPECT_FALSE(may_touch(model, "a", "b"));
  EXPECT_TRUE(may_touch(model, "a", "c"));
}

TEST(MjcfContacts, AreExcludedAndAddedByName) {
  const LoadedModel loaded = load_mjcf_text(kChain +
                                            "<contact><exclude body1=\"a\" body2=\"c\"/><exclude body1=\"world\" "
                                            "body2=\"b\"/><pair geom1=\"a\" geom2=\"b\"/></contact>");
  EXPECT_FALSE(may_touch(loaded.model, "a", "c"));
  EXPECT_FALSE(may_touch(loaded.model, "b", "floor"));
  EXPECT_TRUE(may_touch(loaded.model, "a", "b"));
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST(MjcfContacts, APairMakesAVisualGeomCollide) {
  const LoadedModel loaded = load_mjcf_text(R"(<worldbody>
    <body name="a"><freejoint/><geom name="a" size="0.1" contype="0" conaffinity="0"/></body>
    <body name="b"><freejoint/><geom name="b" size="0.1"/></body></worldbody>
    <contact><pair geom1="a" geom2="b" friction="1 1 0.1 0.1 0.1"/></contact>)");
  EXPECT_TRUE(may_touch(loaded.model, "a", "b"));
  EXPECT_EQ(warning_count(loaded, "mjcf.pair.friction"), 1);
}

// Two bodies that turn about z, 1 m and 3 m to the right.
const std::string kTwo =
    R"(<worldbody><body name="a" pos="1 0 0" euler="0 0 90"><joint name="ja"/><geom size="0.1"/><site name="sa" pos="0.1 0 0"/></body>
  <body name="b" pos="3 0 0"><joint name="jb"/><geom size="0.1"/><site name="sb" pos="0 0.2 0"/></body></worldbody>)";

TEST(MjcfEquality, ConnectsTwoPointsThatCoincideInTheFilesPose) {
  const LoadedModel loaded =
      load_mjcf_text(kTwo + "<equality><connect name=\"c\" body1=\"a\" body2=\"b\" anchor=\"0 0 0.5\"/></equality>");
  ASSERT_EQ(loaded.model.loops().size(), 1u);
  const LoopClosure& loop = loaded.model.loops()[0];
  EXPECT_EQ(loop.kind, LoopClosure::Kind::ball);
  EXPECT_EQ(loop.placement_a.p, Vec3(0, 0, 0.5));
  EXPECT_TRUE(loop.placement_b.p.isApprox(Vec3(-2, 0, 0.5), 1e-15));
}

TEST(MjcfEquality, ConnectsToTheWorldAndBySites) {
  const LoadedModel loaded = load_mjcf_text(
      kTwo + "<equality><connect body1=\"b\" anchor=\"0 1 0\"/><connect site1=\"sa\" site2=\"sb\"/></equality>");
  ASSERT_EQ(loaded.model.loops().size(), 2u);
  EXPECT_EQ(loaded.model.loops()[0].b, Model::world());
  EXPECT_TRUE(loaded.model.loops()[0].placement_b.p.isApprox(Vec3(3, 1, 0), 1e-15));
  EXPECT_EQ(loaded.model.loops()[1].placement_a.p, Vec3(0.1, 0, 0));
  EXPECT_EQ(loaded.model.loops()[1].placement_b.p, Vec3(0, 0.2, 0));
}

TEST(MjcfEquality, WeldsInTheFilesPoseOrAsItSays) {
  const LoadedModel loaded = load_mjcf_text(kTwo +
                                            "<equality><weld body1=\"a\" body2=\"b\"/><weld body1=\"a\" body2=\"b\" "
                                            "relpose=\"1 2 3 1 0 0 1\" anchor=\"0 0 4\"/></equality>");
  ASSERT_EQ(loaded.model.loops().size(), 2u);
  const LoopClosure& here = loaded.model.loops()[0];
  EXPECT_EQ(here.kind, LoopClosure::Kind::weld);
  // b is 2 m along the world's x, which is −y of a.
  EXPECT_TRUE(here.placement_a.p.isApprox(Vec3(0, -2, 0), 1e-15));
  EXPECT_TRUE(here.placement_a.R.isApprox(rotation_about(Vec3::UnitZ(), -std::numbers::pi / 2), 1e-15));
  const LoopClosure& there = loaded.model.loops()[1];
  EXPECT_EQ(there.placement_a.p, Vec3(1, 2, 3));
  EXPECT_TRUE(there.placement_a.R.isApprox(rotation_about(Vec3::UnitZ(), std::numbers::pi / 2), 1e-15));
  EXPECT_EQ(there.placement_b.p, Vec3(0, 0, 4));
}

TEST(MjcfEquality, MakesJointsFollow) {
  const LoadedModel loaded = load_mjcf_text(
      kTwo + "<equality><joint name=\"e\" joint1=\"ja\" joint2=\"jb\" polycoef=\"0.5 -2 0.1\"/></equality>");
  ASSERT_EQ(loaded.model.mimics().size(), 1u);
  EXPECT_EQ(loaded.model.mimics()[0].multiplier, -2);
  EXPECT_EQ(loaded.model.mimics()[0].offset, 0.5);
  EXPECT_EQ(loaded.model.joints()[loaded.model.mimics()[0].joint].name, "ja");
  EXPECT_EQ(warning_count(loaded, "mjcf.equality.polycoef"), 1);
}

TEST(MjcfEquality, LocksAJointWithoutASecond) {
  const LoadedModel two = load_mjcf_text(kTwo + "<equality><joint joint1=\"ja\" polycoef=\"0.5\"/></equality>");
  ASSERT_EQ(two.model.mimics().size(), 1u);
  EXPECT_EQ(two.model.mimics()[0].multiplier, 0);
  EXPECT_EQ(two.model.mimics()[0].offset, 0.5);
  const LoadedModel one = load_mjcf_text("<worldbody>" + heavy_body("b", "<joint name=\"j\"/>") +
                                         "</worldbody><equality><joint joint1=\"j\" polycoef=\"0.5\"/></equality>");
  EXPECT_EQ(joint_of(one, "j").lower, 0.5);
  EXPECT_EQ(joint_of(one, "j").upper, 0.5);
}

TEST(MjcfEquality, WarnsOfWhatItLeavesOut) {
  const LoadedModel loaded = load_mjcf_text(kTwo +
                                            "<equality><weld body1=\"a\" body2=\"b\" active=\"false\"/><tendon "
                                            "tendon1=\"t\"/><joint joint1=\"ja\" joint2=\"jb\"/>"
                                            "<joint joint1=\"ja\"/></equality>");
  EXPECT_TRUE(loaded.model.loops().empty());
  EXPECT_EQ(loaded.model.mimics().size(), 1u);
  EXPECT_EQ(warning_count(loaded, "mjcf.equality.active"), 1);
  EXPECT_EQ(warning_count(loaded, "mjcf.equality.tendon"), 1);
  EXPECT_EQ(warning_count(loaded, "mjcf.equality.second"), 1);
}

TEST(MjcfActuators, AMotorIsAnEffortWithAGear) {
  const LoadedModel loaded = load_mjcf_text(kTwo +
                                            "<actuator><motor name=\"m\" joint=\"ja\" gear=\"-40\" ctrlrange=\"-1 "
                                            "0.5\"/><motor joint=\"jb\" forcerange=\"-3 3\"/></actuator>");
  ASSERT_EQ(loaded.actuators.size(), 2u);
  EXPECT_EQ(loaded.actuators[0].name, "m");
  EXPECT_EQ(loaded.actuators[0].kind, Actuator::Kind::effort);
  EXPECT_EQ(loaded.actuators[0].gear, -40);
  EXPECT_EQ(loaded.actuators[0].lower, -1);
  EXPECT_EQ(loaded.actuators[0].upper, 0.5);
  EXPECT_EQ(joint_of(loaded, "ja").effort_limit, 40);
  EXPECT_EQ(loaded.actuators[1].name, "jb_actuator");
  EXPECT_EQ(loaded.actuators[1].upper, 3);
  EXPECT_EQ(joint_of(loaded, "jb").effort_limit, 3);
  EXPECT_TRUE(loaded.model.motors().empty());
}

TEST(MjcfActuators, APositionServoFeelsItsGearTwice) {
  // force = kp(ctrl − gear·q) − kv·gear·v, torque = gear·force.
  const LoadedModel loaded = load_mjcf_text(kTwo +
                                            "<actuator><position name=\"p\" joint=\"ja\" kp=\"10\" kv=\"3\" gear=\"2\" "
                                            "ctrlrange=\"-1 4\" forcerange=\"-5 5\"/></actuator>");
  ASSERT_EQ(loaded.model.motors().size(), 1u);
  const Motor& motor = loaded.model.motors()[0];
  EXPECT_EQ(motor.name, "p");
  EXPECT_EQ(motor.target, Motor::Target::position);
  EXPECT_EQ(motor.stiffness, 40);
  EXPECT_EQ(motor.damping, 12);
  EXPECT_EQ(motor.max_effort, 10);
  EXPECT_EQ(loaded.actuators[0].lower, -0.5) << "in the joint's own unit";
  EXPECT_EQ(loaded.actuators[0].upper, 2);
  EXPECT_EQ(joint_of(loaded, "ja").effort_limit, Joint::kInfinity);
}

TEST(MjcfActuators, GeneralOnesAreReadWhereTheirLawIsKnown) {
  const LoadedModel loaded = load_mjcf_text(kTwo + R"(
    <default><general biastype="affine"/><motor ctrlrange="-7 7"/></default>
    <actuator>
      <general name="e" joint="ja" gainprm="3" biastype="none"/>
      <general name="p" joint="ja" gainprm="20" biasprm="0 -20 -1"/>
      <general name="v" joint="jb" gainprm="5" biasprm="0 0 -5"/>
      <velocity name="w" joint="jb" kv="6"/>
      <general name="x" joint="jb" gainprm="5" biasprm="1 0 -5" dyntype="integrator"/>
      <general name="z" joint="jb" gainprm="5" biasprm="0 1 0"/>
      <muscle name="y" joint="jb"/>
    </actuator>)");
  ASSERT_EQ(loaded.actuators.size(), 4u);
  EXPECT_EQ(loaded.actuators[0].gear, 3);
  EXPECT_EQ(loaded.actuators[0].upper, 7) << "a control range of one kind holds for all";
  ASSERT_EQ(loaded.model.motors().size(), 3u);
  EXPECT_EQ(loaded.model.motors()[0].stiffness, 20);
  EXPECT_EQ(loaded.model.motors()[0].damping, 1);
  EXPECT_EQ(loaded.model.motors()[1].target, Motor::Target::velocity);
  EXPECT_EQ(loaded.model.motors()[1].damping, 5);
  EXPECT_EQ(loaded.model.motors()[2].damping, 6);
  EXPECT_EQ(warning_count(loaded, "mjcf.actuator.general"), 2) << "a state of its own; a push away from the target";
  EXPECT_EQ(warning_count(loaded, "mjcf.actuator.muscle"), 1);
}

// gain·control + bias₀ + bias₁·length + bias₂·velocity, with length = gear·qpos.
TEST(MjcfActuators, AffineOnesHaveTheTargetWhereTheirForceIsZero) {
  const LoadedModel loaded = load_mjcf_text(R"(
    <worldbody><body><joint name="j" type="slide" ref="0.25"/><geom size="0.1" mass="1"/></body></worldbody>
    <actuator>
      <general name="p" joint="j" gainprm="6" biastype="affine" biasprm="3 -5 -0.5" gear="2" ctrlrange="0 1"/>
      <general name="v" joint="j" gainprm="6" biastype="affine" biasprm="3 0 -0.5" gear="2"/>
      <general name="e" joint="j" gainprm="6" biastype="affine" biasprm="3 0 0" gear="2" forcerange="-1 6"/>
    </actuator>)");
  ASSERT_EQ(loaded.model.motors().size(), 2u);
  EXPECT_EQ(loaded.model.motors()[0].stiffness, 20);
  EXPECT_EQ(loaded.model.motors()[0].damping, 2);
  EXPECT_EQ(loaded.model.motors()[1].damping, 2);
  const std::vector<MujocoLayout::Control>& controls = loaded.mujoco.controls;
  ASSERT_EQ(controls.size(), 3u);
  // 6u + 3 = 5·2·(q + 0.25); 6u + 3 = 0.5·2·v.
  EXPECT_DOUBLE_EQ(controls[0].scale, 0.6);
  EXPECT_DOUBLE_EQ(controls[0].offset, 0.3 - 0.25);
  EXPECT_DOUBLE_EQ(controls[1].scale, 6);
  EXPECT_DOUBLE_EQ(controls[1].offset, 3);
  EXPECT_DOUBLE_EQ(loaded.actuators[0].upper, 0.65);
  EXPECT_EQ(loaded.actuators[2].gear, 12);
  EXPECT_EQ(loaded.actuators[2].bias, 6);
  EXPECT_DOUBLE_EQ(loaded.actuators[2].upper, 0.5) << "where 6u + 3 is 6";
  EXPECT_DOUBLE_EQ(loaded.motor_targets[0], 0.05) << "a control of 0";
}

TEST(MjcfActuators, ADampingRatioIsOfTheMassThatMoves) {
  // Two sliders on one another: the upper one alone, if the lower is free to yield, is 1/(1/1 + 1/3) of them.
  const std::string bodies = R"(<worldbody><body><joint name="a" type="slide"/><geom size="0.1" mass="3"/>
    <body><joint name="b" type="slide"/><geom size="0.1" mass="1"/></body></body></worldbody>)";
  const LoadedModel loaded =
      load_mjcf_text(bodies + "<actuator><position joint=\"b\" kp=\"100\" dampratio=\"0.5\" gear=\"2\"/></actuator>");
  ASSERT_EQ(loaded.model.motors().size(), 1u);
  // In the actuator's own unit the mass is 0.75/gear²; what the joint feels is gear² times the damping.
  EXPECT_NEAR(loaded.model.motors()[0].damping, 0.5 * 2 * std::sqrt(100 * 0.75 / 4) * 4, 1e-12);
}

TEST(MjcfActuators, PullAtATendonWhoseJointsFollowOneAnother) {
  const std::string fingers = R"(<worldbody>
    <body><joint name="l" type="slide" ref="0.1"/><geom size="0.1" mass="1" contype="0"/></body>
    <body><joint name="r" type="slide"/><geom size="0.1" mass="1" contype="0"/></body></worldbody>
    <tendon><fixed name="t"><joint joint="l" coef="0.5"/><joint joint="r" coef="-0.25"/></fixed></tendon>
    <actuator><position name="p" tendon="t" kp="8" gear="2"/></actuator>)";
  const LoadedModel loose = load_mjcf_text(fingers);
  EXPECT_TRUE(loose.actuators.empty());
  EXPECT_EQ(warning_count(loose, "mjcf.actuator.tendon"), 1);
  const LoadedModel loaded =
      load_mjcf_text(fingers + "<equality><joint joint1=\"r\" joint2=\"l\" polycoef=\"0.04 -2\"/></equality>");
  ASSERT_EQ(loaded.actuators.size(), 1u);
  EXPECT_EQ(loaded.actuators[0].joint, "l");
  // length = 0.5·(q + 0.1) − 0.25·(−2q + 0.04) = q + 0.04, by the gear 2.
  EXPECT_DOUBLE_EQ(loaded.model.motors()[0].stiffness, 8 * 4);
  EXPECT_DOUBLE_EQ(loaded.mujoco.controls[0].scale, 0.5);
  EXPECT_NEAR(loaded.mujoco.controls[0].offset, -0.04, 1e-15);
}

TEST(MjcfKeyframes, ReorderQuaternionsAndKeepVelocities) {
  LoadOptions options;
  options.keyframe = "qpos0";
  const LoadedModel loaded = load_mjcf_text(R"(<worldbody>
      <body name="f"><freejoint/><geom size="0.1"/></body>
      <body name="g"><joint name="h"/><geom size="0.1"/><body name="b"><joint type="ball"/><geom size="0.1"/></body></body></worldbody>
    <actuator><motor joint="h"/><velocity joint="h" gear="2"/></actuator>
    <keyframe><key name="k" time="1.5" qpos="1 2 3 0.5 0.5 -0.5 0.5 0.7 0 0 3 4" qvel="1 2 3 4 5 6 7 8 9 10" ctrl="0 5"/>
              <key ctrl="1 0"/></keyframe>)",
                                            options);
  ASSERT_EQ(loaded.keyframes.size(), 2u);
  const Keyframe& key = loaded.keyframes[0];
  EXPECT_EQ(key.name, "k");
  EXPECT_EQ(key.time, 1.5);
  VecX q(12);
  q << 1, 2, 3, 0.5, -0.5, 0.5, 0.5, 0.7, 0, 0.6, 0.8, 0;
  EXPECT_TRUE(key.q.isApprox(q, 1e-15)) << key.q.transpose();
  EXPECT_EQ(key.v, VecX::LinSpaced(10, 1, 10));
  EXPECT_EQ(key.motor_targets, VecX::Constant(1, 2.5)) << "control over gear";
  EXPECT_EQ(loaded.keyframes[1].name, "key");
  EXPECT_EQ(loaded.keyframes[1].q, loaded.q) << "what a keyframe does not say is as in the file";
  EXPECT_EQ(warning_count(loaded, "mjcf.key.ctrl"), 1);
}

TEST(MjcfKeyframes, ForgiveAQuaternionOfZeros) {
  const LoadedModel loaded = load_mjcf_text("<worldbody>" + heavy_body("b", "<freejoint/>") +
                                            "</worldbody><keyframe><key qpos=\"0 0 1 0 0 0 0\"/></keyframe>");
  EXPECT_EQ(loaded.keyframes[0].q, (VecX(7) << 0, 0, 1, 0, 0, 0, 1).finished());
  EXPECT_EQ(warning_count(loaded, "mjcf.key.quaternion"), 1);
}

TEST(MjcfKeyframes, AreAsManyAsTheSizeSays) {
  const LoadedModel loaded = load_mjcf_text("<size nkey=\"3\"/><worldbody>" + heavy_body("b", "<joint/>") +
                                            "</worldbody><keyframe><key name=\"up\" qpos=\"1\"/></keyframe>");
  ASSERT_EQ(loaded.keyframes.size(), 3u);
  EXPECT_EQ(loaded.keyframes[0].name, "up");
  EXPECT_EQ(loaded.keyframes[2].q, VecX::Zero(1));
}

TEST(MjcfKeyframes, HoldTheirPoseUnlessTheySayControls) {
  const LoadedModel loaded =
      load_mjcf_text("<worldbody>" + heavy_body("b", "<joint name=\"j\" ref=\"57.29577951308232\"/>") +
                     "</worldbody><actuator><position joint=\"j\" kp=\"5\" ctrlrange=\"-9 1.5\"/></actuator>"
                     "<keyframe><key name=\"a\" qpos=\"1.25\"/><key name=\"b\" qpos=\"2\"/>"
                     "<key name=\"c\" qpos=\"2\" ctrl=\"0.5\"/></keyframe>");
  EXPECT_NEAR(loaded.keyframe("a").motor_targets[0], 0.25, 1e-12);
  EXPECT_NEAR(loaded.keyframe("b").motor_targets[0], 0.5, 1e-12) << "as far as the control's range lets it";
  EXPECT_NEAR(loaded.keyframe("c").motor_targets[0], -0.5, 1e-12);
}

// Two balls that lie in one another in the pose of the file, and a keyframe in which they do not.
std::string overlapping(const std::string& keys) {
  return "<worldbody><body><joint type=\"slide\"/><geom size=\"0.1\"/></body><body pos=\"0.1 0 0\"><joint "
         "type=\"slide\"/><geom size=\"0.1\"/></body></worldbody><keyframe>" +
         keys + "</keyframe>";
}

TEST(MjcfKeyframes, AreWhereAModelStartsWhereItsOwnPoseIsNone) {
  const std::string keys = "<key name=\"apart\" qpos=\"0 0.5\"/><key name=\"far\" qpos=\"0 2\"/>";
  const LoadedModel troubled = load_mjcf_text(overlapping(keys));
  EXPECT_EQ(troubled.q[1], 0.5);
  EXPECT_NE(troubled.start.find("\"apart\": in the pose of the file shapes lie 0.1 m deep"), std::string::npos)
      << troubled.start;
  const LoadedModel home = load_mjcf_text(overlapping(keys + "<key name=\"home\" qpos=\"0 3\"/>"));
  EXPECT_EQ(home.q[1], 3);
  EXPECT_EQ(home.start, "keyframe \"home\"");
  EXPECT_EQ(load_mjcf_text(overlapping("<key qpos=\"0.5 0.5\"/>")).q[1], 0) << "no better than the pose of the file";

  LoadOptions options;
  options.keyframe = "far";
  EXPECT_EQ(load_mjcf_text(overlapping(keys), options).q[1], 2);
  options.keyframe = "qpos0";
  const LoadedModel as_written = load_mjcf_text(overlapping(keys), options);
  EXPECT_EQ(as_written.q[1], 0);
  EXPECT_TRUE(as_written.start.empty());
  options.keyframe = "nowhere";
  expect_error([&] { load_mjcf_text(overlapping(keys), options); }, "no keyframe 'nowhere'", "'apart', 'far'");
  expect_error([&] { load_text("<robot name=\"r\"><link name=\"a\"/></robot>", "r.urdf", options); }, "'r' has none");
}

TEST(MjcfKeyframes, AreWhereAModelStartsWhereALoopIsOpen) {
  const LoadedModel loaded = load_mjcf_text(R"(<worldbody>
      <body name="a"><joint type="slide" axis="1 0 0"/><geom size="0.1" contype="0" conaffinity="0"/><site name="a"/></body>
      <body name="b" pos="1 0 0"><joint type="slide" axis="1 0 0"/><geom size="0.1" contype="0" conaffinity="0"/><site name="b"/></body>
    </worldbody><equality><connect site1="a" site2="b"/></equality><keyframe><key name="met" qpos="0.5 -0.5"/></keyframe>)");
  EXPECT_EQ(loaded.q, (VecX(2) << 0.5, -0.5).finished());
  EXPECT_NE(loaded.start.find("a loop is open by 1 m"), std::string::npos) << loaded.start;
}

}  // namespace
}  // namespace lithe::test

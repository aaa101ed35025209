#include "lithe/io/mujoco_bridge.h"

#include <gtest/gtest.h>

#include "lithe/dynamics/body_motion.h"
#include "tests/io/mjcf_text.h"
#include "tests/support/error_text.h"

// The bridge against numbers that MuJoCo 4.0 has for the same file: qpos, qvel and ctrl as below, then mj_forward(), and what data.site_xpos,
// mj_objectVelocity() (in the world's axes), data.actuator_force and data.qfrc_actuator are.
namespace lithe::test {
namespace {

const std::string kRobot = R"(
  <compiler angle="radian"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" pos="0 0 -5"/>
    <body name="base" pos="0.1 0.2 0.3" quat="0.5 0.5 0.5 0.5">
      <freejoint name="root"/>
      <geom name="trunk" type="box" size="0.1 0.2 0.3"/>
      <body name="arm" pos="0 0 0.4">
        <joint name="shoulder" type="ball"/>
        <geom name="upper" type="sphere" size="0.05" pos="0 0 0.1" contype="0" conaffinity="0"/>
        <body name="hand" pos="0 0 0.2">
          <joint name="reach" type="slide" axis="1 0 0" ref="0.25"/>
          <joint name="wrist" axis="0 1 0" ref="0.5" range="-1 2" actuatorfrcrange="-3 4"/>
          <geom name="palm" type="capsule" size="0.04 0.1"/>
          <site name="tip" pos="0.1 0.2 0.3"/>
        </body>
      </body>
    </body>
    <body name="left" pos="2 0 0"><joint name="left" axis="0 0 1" type="slide"/><geom size="0.1" mass="1"/></body>
    <body name="right" pos="2 1 0"><joint name="right" axis="0 0 1" type="slide" ref="0.1"/><geom size="0.1" mass="2"/></body>
  </worldbody>
  <equality><joint joint1="right" joint2="left" polycoef="0 -0.5 0 0 0"/></equality>
  <tendon><fixed name="grip"><joint joint="left" coef="0.5"/><joint joint="right" coef="-0.25"/></fixed></tendon>
  <actuator>
    <motor name="pull" joint="reach" gear="2" ctrlrange="-1 1" forcerange="-0.5 0.8"/>
    <position name="turn" joint="wrist" kp="20" kv="3" gear="1.5" ctrlrange="-1 1.2"/>
    <general name="biased" joint="reach" gainprm="4" biastype="affine" biasprm="1 0 0" gear="-1"/>
    <general name="servo" joint="wrist" gainprm="6" biastype="affine" biasprm="0.3 -5 -0.2" gear="0.8"/>
    <velocity name="spin" joint="wrist" kv="0.7" gear="2"/>
    <position name="critical" joint="reach" kp="50" dampratio="1"/>
    <damper name="slow" joint="wrist" kv="1" ctrlrange="0 1"/>
    <position name="close" tendon="grip" kp="8" dampratio="0.5"/>
    <motor name="twist" joint="wrist" gear="10"/>
  </actuator>)";

VecX numbers(std::initializer_list<double> list) {
  return Eigen::Map<const VecX>(list.begin(), static_cast<Eigen::Index>(list.size()));
}

// The right slide follows the left one.
VecX qpos() {
  VecX x = numbers({0.3, -0.2, 1.1, 0.8, -0.2, 0.4, 0.4, 0.9, 0.1, -0.3, 0.3, 0.4, 0.9, 0.2, 0.0});
  x.segment<4>(3).normalize();
  x.segment<4>(7).normalize();
  return x;
}
VecX qvel() { return numbers({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, -0.1, -0.2, 0.3, -0.15}); }
VecX ctrl() { return numbers({0.3, 2.0, -0.5, 0.4, 0.9, 0.6, 0.5, 0.35, 0.2}); }

// What a motor's law gives at this instant.
double torque_of(const LoadedModel& loaded, int index, double target, const VecX& q, const VecX& v) {
  const Motor& motor = loaded.model.motors()[static_cast<std::size_t>(index)];
  const Joint& joint = loaded.model.joints()[motor.joint];
  return motor.target == Motor::Target::position
             ? motor.stiffness * (target - q[joint.q_index]) - motor.damping * v[joint.v_index]
             : motor.damping * (target - v[joint.v_index]);
}

TEST(MujocoBridge, HasMujocosPosesAndVelocities) {
  const LoadedModel loaded = load_mjcf_text(kRobot);
  const MujocoBridge bridge(loaded);
  EXPECT_EQ(bridge.nq(), 15);
  EXPECT_EQ(bridge.nv(), 13);
  EXPECT_TRUE(bridge.qpos_from_q(loaded.q).isApprox(
      numbers({0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5, 1, 0, 0, 0, 0.25, 0.5, 0, 0.1}), 1e-15))
      << "qpos0";
  Kinematics kin;
  kinematics(loaded.model, bridge.q_from_qpos(qpos()), bridge.v_from_qvel(qvel()), kin);
  const FrameIndex tip = loaded.model.frame("tip");
  EXPECT_TRUE(frame_pose(loaded.model, kin, tip)
                  .p.isApprox(Vec3(0.5873787381351078, 0.4745577208057839, 1.7593356613519624), 1e-14));
  const Vec6 velocity = frame_velocity(loaded.model, kin, tip);
  const VecX theirs =
      numbers({0.06175999999999990, 1.73568, 0.9992, 0.5865696460662349, 0.2086842646995025, -0.0164968433693787});
  EXPECT_TRUE(velocity.isApprox(theirs, 1e-13)) << velocity.transpose();
}

TEST(MujocoBridge, GoesThereAndBack) {
  const LoadedModel loaded = load_mjcf_text(kRobot);
  const MujocoBridge bridge(loaded);
  EXPECT_TRUE(bridge.qpos_from_q(bridge.q_from_qpos(qpos())).isApprox(qpos(), 1e-15));
  EXPECT_EQ(bridge.qvel_from_v(bridge.v_from_qvel(qvel())), qvel());
  // Within the ranges, and 0 for the one that is left out; the two motors on one joint are told apart by their bounds alone.
  VecX u = ctrl();
  u[1] = 1;
  u[6] = 0;
  const MujocoBridge::Actuation actuation = bridge.actuation(u);
  const VecX back = bridge.ctrl_from(actuation.tau, actuation.motor_targets);
  const MujocoBridge::Actuation again = bridge.actuation(back);
  EXPECT_TRUE(again.tau.isApprox(actuation.tau, 1e-14));
  EXPECT_TRUE(again.motor_targets.isApprox(actuation.motor_targets, 1e-14));
  for (const int i : {1, 3, 4, 5, 7, 8}) EXPECT_NEAR(back[i], u[i], 1e-14) << i;
  VecX zeros = qpos();
  zeros.segment<4>(3).setZero();
  EXPECT_EQ(bridge.q_from_qpos(zeros).segment<4>(3), Vec4(0, 0, 0, 1)) << "as MuJoCo takes it";
}

TEST(MujocoBridge, HasMujocosActuatorForces) {
  const LoadedModel loaded = load_mjcf_text(kRobot);
  const MujocoBridge bridge(loaded);
  ASSERT_EQ(bridge.nu(), 9);
  EXPECT_EQ(bridge.left_out(), std::vector<std::string>{"slow"});
  EXPECT_EQ(bridge.actuators()[7], "close");
  const VecX q = bridge.q_from_qpos(qpos()), v = bridge.v_from_qvel(qvel());
  const auto [tau, targets] = bridge.actuation(ctrl());
  // pull and biased: 2·0.3 + (−1)·(4·(−0.5) + 1). twist: 10·0.2.
  EXPECT_NEAR(tau[9], 1.6, 1e-15);
  EXPECT_NEAR(tau[10], 2, 1e-15);
  EXPECT_EQ(bridge.actuation(VecX::Constant(9, 1)).tau[10], 4) << "actuatorfrcrange";
  EXPECT_NEAR(bridge.actuation(VecX::Constant(9, 9)).tau[9], 2 * 0.8 - 37, 1e-13) << "forcerange, before the gear";
  const auto force = [&](int motor) { return torque_of(loaded, motor, targets[motor], q, v); };
  EXPECT_NEAR(force(0), 1.5 * -2.1, 1e-13);
  EXPECT_NEAR(force(1), 0.8 * -0.868, 1e-13);
  EXPECT_NEAR(force(2), 2 * 0.91, 1e-13);
  EXPECT_NEAR(force(3), 10.506023603407595, 1e-11) << "kv by MuJoCo's effective mass";
  // The fingers as one: 0.5·τ_left − 0.25·τ_right, of which the right one counts −0.5 times.
  EXPECT_NEAR(force(4), 0.5 * 1 + 0.25 * 0.5, 1e-12);
}

TEST(MujocoBridge, KnowsMujocosNumbersByName) {
  const LoadedModel loaded = load_mjcf_text(kRobot);
  const MujocoBridge bridge(loaded);
  EXPECT_EQ(bridge.joint("wrist").qpos, 12);
  EXPECT_EQ(bridge.joint("wrist").dof, 10);
  EXPECT_EQ(bridge.joint("root").dof, 0);
  expect_error([&] { bridge.joint("wirst"); }, "no joint \"wirst\"", "wrist");
  EXPECT_EQ(bridge.geom_count(), 6);
  EXPECT_EQ(bridge.geom("palm"), 3);
  EXPECT_EQ(bridge.geom("ground"), -1);
}

TEST(MujocoBridge, RefusesWhatMujocoHasNoNumbersFor) {
  const LoadedModel urdf = load_text("<robot name=\"r\"><link name=\"a\"/></robot>", "r.urdf");
  expect_error([&] { MujocoBridge bridge(urdf); }, "not read from MJCF");
  const LoadedModel less = load_world(heavy_body("b", "<joint/>") + "<composite type=\"cable\"/>");
  expect_error([&] { MujocoBridge bridge(less); }, "leaves out");
  const LoadedModel loaded = load_mjcf_text(kRobot);
  const MujocoBridge bridge(loaded);
  expect_error([&] { bridge.q_from_qpos(VecX::Zero(3)); }, "qpos has 3 numbers, but the model has 15");
  VecX u = ctrl();
  u[2] = std::nan("");
  expect_error([&] { bridge.actuation(u); }, "ctrl[2]");
}

}  // namespace
}  // namespace lithe::test

#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "lithe/io/loaded_model.h"

namespace lithe {

// Numbers of MuJoCo for a model that was read from MJCF, and back: qpos, qvel, ctrl and names as mjModel and mjData have them for the same
// file. docs/from_mujoco.md has the table.
//
//   const LoadedModel loaded = load("robot.xml");
//   const MujocoBridge bridge(loaded);
//   world.set_state(bridge.q_from_qpos(qpos), bridge.v_from_qvel(qvel));
//   const auto [tau, targets] = bridge.actuation(ctrl);  // for Control::tau and Control::motor_targets
//
// An Error where the model did not come from MJCF, or where the file has parts that are left out and MuJoCo would count (<composite>,
// <attach> …): then the numbers would not fit.
class MujocoBridge {
 public:
  explicit MujocoBridge(const LoadedModel& loaded);

  int nq() const { return nq_; }
  int nv() const { return nv_; }
  int nu() const { return static_cast<int>(layout_.controls.size()); }

  // Positions count from the joint's ref there and from the file's pose here; quaternions are (w, x, y, z) there and (x, y, z, w) here. A zero
  // quaternion is no rotation, as in MuJoCo.
  VecX q_from_qpos(const ConstVecRef& qpos) const;
  VecX qpos_from_q(const ConstVecRef& q) const;

  // The same numbers: a free joint's are the velocity of the body's origin in the world's axes and the angular velocity in the body's.
  VecX v_from_qvel(const ConstVecRef& qvel) const;
  VecX qvel_from_v(const ConstVecRef& v) const;

  // What the file's actuators make of ctrl, with the ranges of controls and forces: generalised forces (nv) and targets of the motors (one
  // each). Actuators that were left out do nothing (left_out()).
  struct Actuation {
    VecX tau;
    VecX motor_targets;
  };
  Actuation actuation(const ConstVecRef& ctrl) const;

  // The controls that ask for these forces and targets, within their ranges. An effort that several actuators share is asked of the first
  // one; those that are left out have 0.
  VecX ctrl_from(const ConstVecRef& tau, const ConstVecRef& motor_targets) const;

  // Names of the actuators, in the order of ctrl, and of those among them that have no effect here.
  std::vector<std::string> actuators() const;
  std::vector<std::string> left_out() const;

  // MuJoCo's numbers of things by their names here (an Error where there is none): of a joint, its place in qpos and qvel.
  const MujocoLayout::JointEntry& joint(std::string_view name) const;
  // The geom that a shape was made of; −1 for shapes that did not come from the file (a ground that was added).
  int geom(std::string_view shape) const;
  int geom_count() const { return static_cast<int>(layout_.geoms.size()); }

 private:
  MujocoLayout layout_;
  int nq_, nv_, motors_;
  VecX targets_;  // where a motor is no actuator's
  std::unordered_map<std::string, int> geom_of_shape_;
};

}  // namespace lithe

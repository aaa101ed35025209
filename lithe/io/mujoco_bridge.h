#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "lithe/io/loaded_model.h"

namespace lithe {

// Translates between MuJoCo's numbers and Lithe's for a model that was read from MJCF: qpos, qvel, ctrl and names as
// mjModel and mjData have them for the same file. docs/from_mujoco.md has the table.
//
//   const LoadedModel loaded = load("robot.xml");
//   const MujocoBridge bridge(loaded);
//   world.set_state(bridge.q_from_qpos(qpos), bridge.v_from_qvel(qvel));
//   const auto [tau, targets] = bridge.actuation(ctrl);  // for Control::tau and Control::motor_targets
//
// The constructor throws an Error where the model did not come from MJCF, and where the file has parts that Lithe
// leaves out and MuJoCo counts (<composite>, <attach> …): then the numbers would not fit.
class MujocoBridge {
 public:
  explicit MujocoBridge(const LoadedModel& loaded);

  // The sizes of qpos (and q), of qvel (and v), and of ctrl.
  int nq() const { return nq_; }
  int nv() const { return nv_; }
  int nu() const { return static_cast<int>(layout_.controls.size()); }

  // MuJoCo counts the position of a hinge or slide from the joint's ref, Lithe from the pose of the file. MuJoCo's
  // quaternions are (w, x, y, z), Lithe's (x, y, z, w). A zero quaternion in qpos is no rotation, as in MuJoCo; in q it
  // is an Error.
  VecX q_from_qpos(const ConstVecRef& qpos) const;
  VecX qpos_from_q(const ConstVecRef& q) const;

  // Velocities are the same numbers in both. Those of a free joint are the velocity of the body's origin in the world's
  // axes and the angular velocity in the body's axes.
  VecX v_from_qvel(const ConstVecRef& qvel) const;
  VecX qvel_from_v(const ConstVecRef& v) const;

  // What the file's actuators make of ctrl within the ranges of controls and forces: generalised forces (nv) and a
  // target for each motor. Actuators that were left out do nothing (left_out()).
  struct Actuation {
    VecX tau;
    VecX motor_targets;
  };
  Actuation actuation(const ConstVecRef& ctrl) const;

  // The controls that ask for these forces and targets, within their ranges. Where several actuators share an effort,
  // the first one is asked for as much as it can give. Controls of actuators that are left out are 0.
  VecX ctrl_from(const ConstVecRef& tau, const ConstVecRef& motor_targets) const;

  // The names of all actuators, in the order of ctrl; and of those among them that have no effect here.
  std::vector<std::string> actuators() const;
  std::vector<std::string> left_out() const;

  // The place of a joint in qpos and qvel, by the joint's name in Lithe; an Error where there is no such joint.
  const MujocoLayout::JointEntry& joint(std::string_view name) const;
  // MuJoCo's number of the geom of which a shape was made; −1 for shapes that did not come from the file, such as a
  // ground that was added.
  int geom(std::string_view shape) const;
  int geom_count() const { return static_cast<int>(layout_.geoms.size()); }

 private:
  MujocoLayout layout_;
  int nq_, nv_, motors_;
  VecX targets_;  // for motors that no control drives
  std::unordered_map<std::string, int> geom_of_shape_;
};

}  // namespace lithe

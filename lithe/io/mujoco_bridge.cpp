#include "lithe/io/mujoco_bridge.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/internal/suggest.h"

namespace lithe {

using namespace internal;

namespace {

using MujocoControl = MujocoLayout::Control;
using MujocoJoint = MujocoLayout::JointEntry;

// Where the joint's quaternion begins in qpos and in q; −1 for a joint without one. A free joint has its position
// first.
int quaternion_of(const MujocoJoint& joint) {
  if (joint.type == MujocoJoint::Type::ball) return joint.qpos;
  return joint.type == MujocoJoint::Type::free ? joint.qpos + 3 : -1;
}

// Refuses a vector of another length than the model's, and numbers that are not finite. `name` is what the caller calls
// it.
void check_vector(const ConstVecRef& x, Eigen::Index size, const char* name) {
  LITHE_CHECK(x.size() == size, "{} has {} numbers, but the model has {}", name, x.size(), size);
  for (Eigen::Index i = 0; i < size; ++i) LITHE_CHECK(std::isfinite(x[i]), "{}[{}] is {}", name, i, x[i]);
}

// Brings x into the range. Unlike std::clamp this is defined for any two bounds: the upper one counts last.
double within(double x, double lower, double upper) { return std::min(std::max(x, lower), upper); }

// The control, within its range, that gives this force or target. A control without a gain has no effect, so 0 is asked
// of it.
double control_for(const MujocoControl& control, double wanted) {
  const double u = control.scale == 0 ? 0 : (wanted - control.offset) / control.scale;
  return within(u, control.lower, control.upper);
}

}  // namespace

MujocoBridge::MujocoBridge(const LoadedModel& loaded)
    : layout_(loaded.mujoco),
      nq_(loaded.model.nq()),
      nv_(loaded.model.nv()),
      motors_(static_cast<int>(loaded.model.motors().size())),
      targets_(loaded.motor_targets) {
  LITHE_CHECK(layout_.from_mjcf, "{} was not read from MJCF: MuJoCo has no numbers for it", loaded.name);
  LITHE_CHECK(layout_.complete,
              "{} has parts that Lithe leaves out and MuJoCo counts (see LoadedModel::warnings): save the model with "
              "MuJoCo, which writes them out, and load that",
              loaded.name);
  for (std::size_t g = 0; g < layout_.geoms.size(); ++g) {
    for (const std::string& shape : layout_.geoms[g].shapes) geom_of_shape_.emplace(shape, static_cast<int>(g));
  }
}

VecX MujocoBridge::q_from_qpos(const ConstVecRef& qpos) const {
  check_vector(qpos, nq_, "qpos");
  VecX q = qpos;
  for (const MujocoJoint& joint : layout_.joints) {
    const int at = quaternion_of(joint);
    if (at < 0) {
      q[joint.qpos] -= joint.ref;
      continue;
    }
    // MuJoCo normalises a quaternion before it uses it, and takes one shorter than mjMINVAL = 1e-15 for no rotation.
    const double length = qpos.segment<4>(at).norm();
    if (length < 1e-15) {
      q.segment<4>(at) = quaternion_identity();
    } else {
      q.segment<4>(at) = Vec4(qpos[at + 1], qpos[at + 2], qpos[at + 3], qpos[at]) / length;
    }
  }
  return q;
}

VecX MujocoBridge::qpos_from_q(const ConstVecRef& q) const {
  check_vector(q, nq_, "q");
  VecX qpos = q;
  for (const MujocoJoint& joint : layout_.joints) {
    const int at = quaternion_of(joint);
    if (at < 0) {
      qpos[joint.qpos] += joint.ref;
      continue;
    }
    const double length = q.segment<4>(at).norm();
    LITHE_CHECK(length > 0, "the quaternion of joint {} (q[{}] …) is zero", joint.name, at);
    qpos.segment<4>(at) = Vec4(q[at + 3], q[at], q[at + 1], q[at + 2]) / length;
  }
  return qpos;
}

// Velocities are the same numbers on both sides (docs/from_mujoco.md), so only their count is checked.
VecX MujocoBridge::v_from_qvel(const ConstVecRef& qvel) const {
  check_vector(qvel, nv_, "qvel");
  return qvel;
}

VecX MujocoBridge::qvel_from_v(const ConstVecRef& v) const {
  check_vector(v, nv_, "v");
  return v;
}

MujocoBridge::Actuation MujocoBridge::actuation(const ConstVecRef& ctrl) const {
  check_vector(ctrl, nu(), "ctrl");
  Actuation result{VecX::Zero(nv_), targets_};
  for (int i = 0; i < nu(); ++i) {
    const MujocoControl& control = layout_.controls[static_cast<std::size_t>(i)];
    // Each control is brought into its ctrlrange and each force into its forcerange. Afterwards the sum of the forces
    // on a hinge or slide is brought into the joint's actuatorfrcrange. This is the order in which MuJoCo does it.
    const double asked = control.scale * within(ctrl[i], control.lower, control.upper) + control.offset;
    if (control.kind == MujocoControl::Kind::effort) {
      result.tau[control.dof] += control.gear * within(asked, control.lower_force, control.upper_force);
    } else if (control.kind != MujocoControl::Kind::left_out) {
      result.motor_targets[control.motor] = asked;
    }
  }
  for (const MujocoJoint& joint : layout_.joints) {
    if (quaternion_of(joint) >= 0) continue;
    result.tau[joint.dof] = within(result.tau[joint.dof], joint.lower_force, joint.upper_force);
  }
  return result;
}

VecX MujocoBridge::ctrl_from(const ConstVecRef& tau, const ConstVecRef& motor_targets) const {
  check_vector(tau, nv_, "tau");
  check_vector(motor_targets, motors_, "motor_targets");
  VecX ctrl = VecX::Zero(nu());
  VecX rest = tau;
  for (int i = 0; i < nu(); ++i) {
    const MujocoControl& control = layout_.controls[static_cast<std::size_t>(i)];
    if (control.kind == MujocoControl::Kind::left_out) continue;
    if (control.kind != MujocoControl::Kind::effort) {
      ctrl[i] = control_for(control, motor_targets[control.motor]);
      continue;
    }
    // The actuator takes as much of the effort that is left as its ranges allow; what remains is asked of the next
    // actuator on the same joint.
    const double force = within(rest[control.dof] / control.gear, control.lower_force, control.upper_force);
    ctrl[i] = control_for(control, force);
    rest[control.dof] -=
        control.gear * within(control.scale * ctrl[i] + control.offset, control.lower_force, control.upper_force);
  }
  return ctrl;
}

std::vector<std::string> MujocoBridge::actuators() const {
  std::vector<std::string> names;
  for (const MujocoControl& control : layout_.controls) names.push_back(control.name);
  return names;
}

std::vector<std::string> MujocoBridge::left_out() const {
  std::vector<std::string> names;
  for (const MujocoControl& control : layout_.controls) {
    if (control.kind == MujocoControl::Kind::left_out) names.push_back(control.name);
  }
  return names;
}

const MujocoLayout::JointEntry& MujocoBridge::joint(std::string_view name) const {
  const auto found = std::ranges::find(layout_.joints, name, &MujocoJoint::name);
  if (found != layout_.joints.end()) return *found;
  std::vector<std::string_view> names;
  for (const MujocoJoint& joint : layout_.joints) names.push_back(joint.name);
  throw Error(fmt::format("there is no joint \"{}\"{}", name, did_you_mean(name, names)));
}

int MujocoBridge::geom(std::string_view shape) const {
  const auto found = geom_of_shape_.find(std::string(shape));
  return found == geom_of_shape_.end() ? -1 : found->second;
}

}  // namespace lithe

#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <variant>

#include "lithe/core/check.h"
#include "lithe/dynamics/inverse_dynamics.h"
#include "python/bindings/values/arguments.h"
#include "python/bindings/values/arrays.h"
#include "python/bindings/values/fixed_arrays.h"

// What the dynamics functions have in common: a state comes in as arrays, and its kinematics is computed afresh in each
// call, in memory that each thread keeps.
namespace lithe::python {

// The model's part by its name or its number.
using NameOrNumber = std::variant<int, std::string>;

inline BodyIndex body_of(const Model& model, const NameOrNumber& body) {
  const auto* name = std::get_if<std::string>(&body);
  return name ? model.body(*name) : BodyIndex(std::get<int>(body));
}
inline FrameIndex frame_of(const Model& model, const NameOrNumber& frame) {
  const auto* name = std::get_if<std::string>(&frame);
  return name ? model.frame(*name) : FrameIndex(std::get<int>(frame));
}
inline JointIndex joint_of(const Model& model, const NameOrNumber& joint) {
  const auto* name = std::get_if<std::string>(&joint);
  return name ? model.joint(*name) : JointIndex(std::get<int>(joint));
}

inline Vec3 finite_point(const ArrayIn& array, const char* name) {
  const Vec3 point = fixed<3>(array, name);
  for (int k = 0; k < 3; ++k) {
    LITHE_CHECK(std::isfinite(point[k]), "{}[{}] is {}; every entry must be finite", name, k, point[k]);
  }
  return point;
}

inline ExternalWrenches finite_wrenches(const Model& model, const WrenchesIn& in) {
  ExternalWrenches wrenches = in.get(model);
  for (const ExternalWrench& w : wrenches) {
    for (int k = 0; k < 6; ++k) {
      LITHE_CHECK(std::isfinite(w.wrench[k]), "wrenches['{}'][{}] is {}; every entry must be finite",
                  model.bodies()[w.body].name, k, w.wrench[k]);
    }
  }
  return wrenches;
}

// Workspaces remember which structure they were laid out for, so one of each serves all models of a thread in turn.
struct StateWorkspace {
  VecX q, v, x;  // x: accelerations or forces
  Kinematics kin;
  InverseDynamics id;
};
inline StateWorkspace& state_workspace() {
  thread_local StateWorkspace workspace;
  return workspace;
}

// The kinematics at (q, v), at rest without v. Valid until the thread's next call.
inline const Kinematics& kinematics_at(const Model& model, const ArrayIn& q) {
  StateWorkspace& w = state_workspace();
  q.read("q", model.nq(), w.q);
  kinematics(model, w.q, w.kin);
  return w.kin;
}
inline const Kinematics& kinematics_at(const Model& model, const ArrayIn& q, const ArrayIn& v) {
  StateWorkspace& w = state_workspace();
  q.read("q", model.nq(), w.q);
  v.read("v", model.nv(), w.v);
  kinematics(model, w.q, w.v, w.kin);
  return w.kin;
}
// Inverse dynamics at (q, v, a), with its kinematics in state_workspace().kin.
inline const InverseDynamics& inverse_dynamics_at(const Model& model, const ArrayIn& q, const ArrayIn& v,
                                                  const ArrayIn& a, const ExternalWrenches& wrenches = {}) {
  StateWorkspace& w = state_workspace();
  a.read("a", model.nv(), w.x);
  rnea(model, kinematics_at(model, q, v), w.x, w.id, wrenches);
  return w.id;
}

// numpy warns where a division has no result; so do we where nothing resists a motion.
void warn_if_singular(const Model& model, int singular_dof, const char* function);

}  // namespace lithe::python

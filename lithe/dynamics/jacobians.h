#pragma once

#include "lithe/dynamics/kinematics.h"

namespace lithe {

// Jacobians of bodies, frames and points: what each DoF does to them, world axes, angular part first.
//
//   body, frame   J (6×nv)   J v = [ω; ṗ], p being the body's or frame's origin: body_velocity(), frame_velocity()
//   point         J (3×nv)   J v = ṗ: point_velocity()
//
// Column j is [ω_j; v_j + ω_j × p] where DoF j moves the body, else zero (all of it for a body fixed in the world).
// Jᵀ takes a force at the point (with its torque) to the DoFs. Outputs are resized only when their size is wrong.

void body_jacobian(const Model& model, const Kinematics& kin, BodyIndex body, Mat6X& J);
void frame_jacobian(const Model& model, const Kinematics& kin, FrameIndex frame, Mat6X& J);
void point_jacobian(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B, Mat3X& J);

// J̇, the rate of each as the model moves with v, so that accelerations are J a + J̇ v.
void body_jacobian_rate(const Model& model, const Kinematics& kin, BodyIndex body, Mat6X& J_dot);
void frame_jacobian_rate(const Model& model, const Kinematics& kin, FrameIndex frame, Mat6X& J_dot);
void point_jacobian_rate(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B, Mat3X& J_dot);

}  // namespace lithe

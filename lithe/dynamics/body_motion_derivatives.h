#pragma once

#include "lithe/dynamics/kinematics.h"

namespace lithe {

// The derivatives of what body_motion.h answers, by q (in the tangent, so nv columns) and by v. World axes, angular
// rows first; zero columns for DoFs that do not move the body.

// Poses: 6×nv, three rows of rotation and three of the origin's position. Rotations are differentiated as world
// rotation vectors: R(q ⊕ δ) = exp([dX_ω δ]×) R(q) + O(δ²). That makes it the Jacobian, column for column.
void body_pose_derivatives(const Model& model, const Kinematics& kin, BodyIndex body, Mat6X& dX_dq);
void frame_pose_derivatives(const Model& model, const Kinematics& kin, FrameIndex frame, Mat6X& dX_dq);
// 3×nv; p_B is held.
void point_position_derivatives(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B,
                                Mat3X& dp_dq);

// Velocities: 6×nv, and 3×nv for a point. By q at fixed v, by v at fixed q (the Jacobian).
void body_velocity_derivatives(const Model& model, const Kinematics& kin, BodyIndex body, Mat6X& dV_dq, Mat6X& dV_dv);
void frame_velocity_derivatives(const Model& model, const Kinematics& kin, FrameIndex frame, Mat6X& dV_dq,
                                Mat6X& dV_dv);
void point_velocity_derivatives(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B,
                                Mat3X& dv_dq, Mat3X& dv_dv);

}  // namespace lithe

#pragma once

#include <vector>

#include "lithe/dynamics/inverse_dynamics.h"

namespace lithe {

// Where bodies, frames and points are, how fast they move and accelerate: questions to a Kinematics (and, for
// accelerations, to an InverseDynamics at the same q and v).
//
// Everything is in the world's axes. Six-vectors are angular first and their linear part belongs to the *origin of
// the body or frame*: [ω; ṗ] and [ω̇; p̈], ordinary ("classical") velocities and accelerations. A body fixed in the
// world has a constant pose and neither. An index out of range is an Error.

Pose body_pose(const Model& model, const Kinematics& kin, BodyIndex body);     // X_WB
Pose frame_pose(const Model& model, const Kinematics& kin, FrameIndex frame);  // X_WF
// X_WB of every body, the world (the identity) included.
void body_poses(const Model& model, const Kinematics& kin, std::vector<Pose>& X_WB);
// p_B: in the body's frame.
Vec3 point_position(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B);

Vec6 body_velocity(const Model& model, const Kinematics& kin, BodyIndex body);
Vec6 frame_velocity(const Model& model, const Kinematics& kin, FrameIndex frame);
Vec3 point_velocity(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B);

// At the accelerations `a` that rnea() was given, true ones: gravity, which id.A holds as if the world accelerated
// upwards, is taken out again. (An accelerometer shows p̈ − gravity.)
Vec6 body_acceleration(const Model& model, const Kinematics& kin, const InverseDynamics& id, BodyIndex body);
Vec6 frame_acceleration(const Model& model, const Kinematics& kin, const InverseDynamics& id, FrameIndex frame);
Vec3 point_acceleration(const Model& model, const Kinematics& kin, const InverseDynamics& id, BodyIndex body,
                        const Vec3& p_B);

// The motion axis S = [ω; v₀] of one DoF: the velocity it gives, per unit of its own, to whatever it moves, with the
// linear part taken at the *tree's origin*, tree_origin() (a place in the world that is the same for all of a
// tree's DoFs).
Vec6 dof_axis(const Model& model, const Kinematics& kin, int dof);
Vec3 tree_origin(const Model& model, const Kinematics& kin, int dof);

}  // namespace lithe

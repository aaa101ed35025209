#pragma once

#include <vector>

#include "lithe/dynamics/external_wrenches.h"
#include "lithe/model/model.h"

namespace lithe::test {

// Rigid-body dynamics as in a first lecture: dense, slow, and with nothing to get wrong. It walks the model's bodies
// and joints (never the compiled DofTree), everything in world axes at the world's origin, angular part first, and
// writes each law down once:
//
//   V_b = J_b v       τ = Σ_b J_bᵀ (I_b A_b + V_b ×* I_b V_b − W_b) + armature·a
//
// The kernels of the dynamics room are tested against it.
struct PlainKinematics {
  std::vector<Pose> X_WB;  // per body
  std::vector<Mat6X> J;    // per body, 6 × nv: the columns of the DoFs that move it, zero elsewhere
  Mat6X S;                 // 6 × nv: every DoF's motion axis
};

PlainKinematics plain_kinematics(const Model& model, const VecX& q);

// Velocities [ω; v₀] and accelerations of the bodies, at the world's origin; gravity is not in A.
struct PlainMotion {
  std::vector<Vec6> V, A;
};
PlainMotion plain_motion(const Model& model, const VecX& q, const VecX& v, const VecX& a);

VecX plain_inverse_dynamics(const Model& model, const VecX& q, const VecX& v, const VecX& a,
                            const ExternalWrenches& wrenches = {});

// Column by column from inverse dynamics: ID(q, 0, e_i) − ID(q, 0, 0).
MatX plain_mass_matrix(const Model& model, const VecX& q);
// From kinetic energy: Σ_b J_bᵀ I_b J_b + diag(armature).
MatX plain_mass_matrix_from_energy(const Model& model, const VecX& q);

// Dense solve of M a = τ − h.
VecX plain_forward_dynamics(const Model& model, const VecX& q, const VecX& v, const VecX& tau,
                            const ExternalWrenches& wrenches = {});

// Building blocks, as 6×6 matrices.
Mat6 adjoint(const Pose& X_AB);    // motion vectors from B to A
Mat6 motion_cross(const Vec6& V);  // V ×
Mat6 force_cross(const Vec6& V);   // V ×*
Mat6 world_inertia(const Body& body, const Pose& X_WB);

}  // namespace lithe::test

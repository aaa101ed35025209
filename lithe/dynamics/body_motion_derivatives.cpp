#include "lithe/dynamics/body_motion_derivatives.h"

#include "lithe/dynamics/internal/body_point.h"
#include "lithe/dynamics/jacobians.h"

namespace lithe {

using namespace internal;

namespace {

// ∂/∂q_j of [ω; v₀ + ω × p]. About the fixed tree origin, ∂V/∂q_j = S_j × (V − V_λ(j)): the DoF carries along what
// comes at or after its joint, not the velocity before it. The point moves as well, by v_j + ω_j × p.
template <class Matrix>
void velocity_by_q(const Model& model, const Kinematics& kin, const BodyPoint& point, Matrix& dV_dq) {
  const Motion<double> V = point.slot < 0 ? Motion<double>{} : motion_at(kin.V, point.slot);
  fill_columns(model, point, dV_dq, [&](int slot) {
    const Motion<double> S = motion_at(kin.S, slot);
    const Motion<double> dV = moved_to(cross(S, V - motion_at(kin.V_parent, slot)), point.p);
    return Motion<double>{dV.w, dV.v + cross(V.w, moved_to(S, point.p).v)};
  });
}

}  // namespace

void body_pose_derivatives(const Model& model, const Kinematics& kin, BodyIndex body, Mat6X& dX_dq) {
  body_jacobian(model, kin, body, dX_dq);
}

void frame_pose_derivatives(const Model& model, const Kinematics& kin, FrameIndex frame, Mat6X& dX_dq) {
  frame_jacobian(model, kin, frame, dX_dq);
}

void point_position_derivatives(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B,
                                Mat3X& dp_dq) {
  point_jacobian(model, kin, body, p_B, dp_dq);
}

void body_velocity_derivatives(const Model& model, const Kinematics& kin, BodyIndex body, Mat6X& dV_dq, Mat6X& dV_dv) {
  velocity_by_q(model, kin, body_point(model, kin, body), dV_dq);
  body_jacobian(model, kin, body, dV_dv);
}

void frame_velocity_derivatives(const Model& model, const Kinematics& kin, FrameIndex frame, Mat6X& dV_dq,
                                Mat6X& dV_dv) {
  velocity_by_q(model, kin, frame_point(model, kin, frame), dV_dq);
  frame_jacobian(model, kin, frame, dV_dv);
}

void point_velocity_derivatives(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B,
                                Mat3X& dv_dq, Mat3X& dv_dv) {
  velocity_by_q(model, kin, body_point(model, kin, body, p_B), dv_dq);
  point_jacobian(model, kin, body, p_B, dv_dv);
}

}  // namespace lithe

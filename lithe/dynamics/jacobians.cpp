#include "lithe/dynamics/jacobians.h"

#include "lithe/dynamics/internal/body_point.h"

namespace lithe {

using namespace internal;

namespace {

template <class Matrix>
void columns(const Model& model, const Kinematics& kin, const BodyPoint& point, Matrix& J) {
  fill_columns(model, point, J, [&](int slot) { return moved_to(motion_at(kin.S, slot), point.p); });
}

// d/dt [ω_j; v_j + ω_j × p]. An axis is carried along by what its joint carries, Ṡ_j = V_j × S_j, which for a 1-DoF
// joint is Ψ̇_j but for a ball's columns, fixed in the child, is not. The point moves too: + ω_j × ṗ.
template <class Matrix>
void column_rates(const Model& model, const Kinematics& kin, const BodyPoint& point, Matrix& J_dot) {
  const Vector3<double> p_dot = velocity_at(kin, point).v;
  fill_columns(model, point, J_dot, [&](int slot) {
    const Motion<double> S = motion_at(kin.S, slot);
    const Motion<double> S_dot = moved_to(cross(motion_at(kin.V, slot), S), point.p);
    return Motion<double>{S_dot.w, S_dot.v + cross(S.w, p_dot)};
  });
}

}  // namespace

void body_jacobian(const Model& model, const Kinematics& kin, BodyIndex body, Mat6X& J) {
  columns(model, kin, body_point(model, kin, body), J);
}

void frame_jacobian(const Model& model, const Kinematics& kin, FrameIndex frame, Mat6X& J) {
  columns(model, kin, frame_point(model, kin, frame), J);
}

void point_jacobian(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B, Mat3X& J) {
  columns(model, kin, body_point(model, kin, body, p_B), J);
}

void body_jacobian_rate(const Model& model, const Kinematics& kin, BodyIndex body, Mat6X& J_dot) {
  column_rates(model, kin, body_point(model, kin, body), J_dot);
}

void frame_jacobian_rate(const Model& model, const Kinematics& kin, FrameIndex frame, Mat6X& J_dot) {
  column_rates(model, kin, frame_point(model, kin, frame), J_dot);
}

void point_jacobian_rate(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B, Mat3X& J_dot) {
  column_rates(model, kin, body_point(model, kin, body, p_B), J_dot);
}

}  // namespace lithe

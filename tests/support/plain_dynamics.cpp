#include "tests/support/plain_dynamics.h"

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <Eigen/LU>

namespace lithe::test {

namespace {

// The joint's motion at q: how far the frame behind it has moved in the joint's own frame.
Pose joint_motion(const Joint& joint, const VecX& q) {
  if (joint.type == JointType::ball) {
    const Vec4 x = q.segment<4>(joint.q_index);
    return Pose::rotation(Eigen::Quaterniond(x[3], x[0], x[1], x[2]).normalized().toRotationMatrix());
  }
  const double x = q[joint.q_index];
  if (joint.type == JointType::prismatic) return Pose::translation(x * joint.axis);
  const double slide = joint.type == JointType::screw ? joint.pitch * x : 0;
  return {Eigen::AngleAxisd(x, joint.axis).toRotationMatrix(), slide * joint.axis};
}

// The joint's motion axes (6 × nv of the joint) in the frame behind it.
Mat6X joint_axes(const Joint& joint) {
  Mat6X axes = Mat6X::Zero(6, joint.nv());
  switch (joint.type) {
    case JointType::revolute: axes.topRows(3) = joint.axis; break;
    case JointType::prismatic: axes.bottomRows(3) = joint.axis; break;
    case JointType::screw: axes << joint.axis, joint.pitch * joint.axis; break;
    case JointType::ball: axes.topRows(3) = Mat3::Identity(); break;
  }
  return axes;
}

VecX armature(const Model& model) {
  VecX diagonal(model.nv());
  for (const Joint& joint : model.joints()) diagonal.segment(joint.v_index, joint.nv()).setConstant(joint.armature);
  return diagonal;
}

}  // namespace

Mat6 adjoint(const Pose& X_AB) {
  Mat6 X;
  X << X_AB.R, Mat3::Zero(), skew(X_AB.p) * X_AB.R, X_AB.R;
  return X;
}

Mat6 motion_cross(const Vec6& V) {
  Mat6 X;
  X << skew(V.head<3>()), Mat3::Zero(), skew(V.tail<3>()), skew(V.head<3>());
  return X;
}

Mat6 force_cross(const Vec6& V) { return -motion_cross(V).transpose(); }

Mat6 world_inertia(const Body& body, const Pose& X_WB) {
  const Mat6 X_BW = adjoint(X_WB).inverse();
  return X_BW.transpose() * body.inertia.matrix() * X_BW;
}

PlainKinematics plain_kinematics(const Model& model, const VecX& q) {
  PlainKinematics kin;
  kin.S = Mat6X::Zero(6, model.nv());
  for (const Body& body : model.bodies()) {
    const bool is_world = !body.parent.valid();
    Pose X = is_world ? Pose{} : kin.X_WB[body.parent];
    Mat6X J = is_world ? Mat6X(Mat6X::Zero(6, model.nv())) : kin.J[body.parent];
    for (const JointIndex j : body.joints) {
      const Joint& joint = model.joints()[j];
      X = X * joint.placement * joint_motion(joint, q);
      kin.S.middleCols(joint.v_index, joint.nv()) = adjoint(X) * joint_axes(joint);
      J.middleCols(joint.v_index, joint.nv()) = kin.S.middleCols(joint.v_index, joint.nv());
    }
    kin.X_WB.push_back(X * body.placement);
    kin.J.push_back(J);
  }
  return kin;
}

PlainMotion plain_motion(const Model& model, const VecX& q, const VecX& v, const VecX& a) {
  const PlainKinematics kin = plain_kinematics(model, q);
  PlainMotion motion;
  for (const Body& body : model.bodies()) {
    const bool is_world = !body.parent.valid();
    Vec6 V = is_world ? Vec6(Vec6::Zero()) : motion.V[body.parent];
    Vec6 A = is_world ? Vec6(Vec6::Zero()) : motion.A[body.parent];
    for (const JointIndex j : body.joints) {
      const Joint& joint = model.joints()[j];
      const Mat6X S = kin.S.middleCols(joint.v_index, joint.nv());
      const Vec6 own = S * v.segment(joint.v_index, joint.nv());
      V += own;
      A += S * a.segment(joint.v_index, joint.nv()) + motion_cross(V) * own;  // Ṡ = V × S
    }
    motion.V.push_back(V);
    motion.A.push_back(A);
  }
  return motion;
}

VecX plain_inverse_dynamics(const Model& model, const VecX& q, const VecX& v, const VecX& a,
                            const ExternalWrenches& wrenches) {
  const PlainKinematics kin = plain_kinematics(model, q);
  const PlainMotion motion = plain_motion(model, q, v, a);
  Vec6 gravity = Vec6::Zero();
  gravity.tail<3>() = model.gravity();

  VecX tau = armature(model).cwiseProduct(a);
  for (std::size_t b = 1; b < model.bodies().size(); ++b) {
    const Mat6 I = world_inertia(model.bodies()[b], kin.X_WB[b]);
    const Vec6& V = motion.V[b];
    tau += kin.J[b].transpose() * (I * (motion.A[b] - gravity) + force_cross(V) * (I * V));
  }
  for (const ExternalWrench& external : wrenches) {
    // Given about the body's origin; everything here is about the world's.
    Vec6 W = external.wrench;
    W.head<3>() += kin.X_WB[external.body].p.cross(W.tail<3>());
    tau -= kin.J[external.body].transpose() * W;
  }
  return tau;
}

MatX plain_mass_matrix(const Model& model, const VecX& q) {
  const int nv = model.nv();
  const VecX zero = VecX::Zero(nv);
  const VecX at_rest = plain_inverse_dynamics(model, q, zero, zero);
  MatX M(nv, nv);
  for (int i = 0; i < nv; ++i) M.col(i) = plain_inverse_dynamics(model, q, zero, VecX::Unit(nv, i)) - at_rest;
  return M;
}

MatX plain_mass_matrix_from_energy(const Model& model, const VecX& q) {
  const PlainKinematics kin = plain_kinematics(model, q);
  MatX M = armature(model).asDiagonal();
  for (std::size_t b = 1; b < model.bodies().size(); ++b) {
    M += kin.J[b].transpose() * world_inertia(model.bodies()[b], kin.X_WB[b]) * kin.J[b];
  }
  return M;
}

VecX plain_forward_dynamics(const Model& model, const VecX& q, const VecX& v, const VecX& tau,
                            const ExternalWrenches& wrenches) {
  const VecX bias = plain_inverse_dynamics(model, q, v, VecX::Zero(model.nv()), wrenches);
  return plain_mass_matrix_from_energy(model, q).ldlt().solve(tau - bias);
}

}  // namespace lithe::test

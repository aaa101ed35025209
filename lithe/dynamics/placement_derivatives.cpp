#include "lithe/dynamics/placement_derivatives.h"

#include <array>

#include "lithe/core/check.h"
#include "lithe/dynamics/internal/body_point.h"
#include "lithe/dynamics/internal/stage_check.h"

namespace lithe {

using namespace internal;

namespace {

// A virtual DoF with what it does to the motion of everything behind it.
struct VirtualDof {
  Motion<double> S, Psi_dot, Psi_ddot;
};
using VirtualDofs = std::array<VirtualDof, 6>;

// The frame that the joint's placement is given in (rotation in the world) and the joint's place in it, relative to
// the tree's origin: the joint frame before the joint's own motion.
Pose mounting(const Model& model, const Kinematics& kin, JointIndex index) {
  const DofTree::TreeJoint& at = model.tree().joints[index];
  const Joint& joint = model.joints()[index];
  // at.R is the rotation from the frame of the joint above to this joint's z-aligned frame; take the placement and
  // the alignment off again.
  const Mat3 R = at.R * (joint.placement.R * axis_alignment(joint)).transpose();
  if (at.parent_slot < 0) return {R, at.p - kin.origin[at.tree]};
  return {joint_rotation(kin, at.parent_slot) * R, place_in_tree(kin, at.parent_slot, at.p)};
}

VirtualDofs virtual_dofs(const Model& model, const Kinematics& kin, const InverseDynamics& id, JointIndex index) {
  const int slot = model.tree().joints[index].slot;
  const Motion<double> V = motion_at(kin.V_parent, slot);
  const Motion<double> A = motion_at(id.A_parent, slot);
  const Pose X = mounting(model, kin, index);
  VirtualDofs dofs;
  for (int k = 0; k < 6; ++k) {
    const Vector3<double> axis = from_eigen(X.R.col(k % 3));
    VirtualDof& dof = dofs[k];
    dof.S = k < 3 ? Motion<double>{axis, cross(from_eigen(X.p), axis)} : Motion<double>{{}, axis};
    dof.Psi_dot = cross(V, dof.S);
    dof.Psi_ddot = cross(A, dof.S) + cross(V, dof.Psi_dot);
  }
  return dofs;
}

// 2B m of the subtree behind a slot.
Force<double> times_2B(const Lanes<12>& B, int slot, const Motion<double>& m) {
  const Vector3<double> upper = {dot(vector_at(B, slot, 0), m.w), dot(vector_at(B, slot, 3), m.w),
                                 dot(vector_at(B, slot, 6), m.w)};
  return {upper, cross(m.w, 2.0 * vector_at(B, slot, 9))};
}

// The formulas treat all of F as if it turned with the bodies: S_k ×* W. A wrench W keeps its components instead, and
// only its moment about a fixed point follows the body's origin. Subtracts the difference.
void hold_wrenches(const Model& model, const Kinematics& kin, const VirtualDofs& virtuals, int first_dof,
                   const ExternalWrenches& wrenches, MatX& dtau) {
  const DofTree& tree = model.tree();
  for (const ExternalWrench& wrench : wrenches) {
    const BodyPoint origin = body_point(model, kin, wrench.body);
    if (origin.dof < 0 || !tree.moves(first_dof, origin.dof)) continue;
    const Vector3<double> f = from_eigen(wrench.wrench.tail<3>());
    const Force<double> W = {from_eigen(wrench.wrench.head<3>()) + cross(origin.p, f), f};
    for (int k = 0; k < 6; ++k) {
      const Motion<double>& S = virtuals[k].S;
      const Force<double> held = {cross(moved_to(S, origin.p).v, f), {}};
      const Force<double> change = held - cross(S, W);
      for (int i = origin.dof; i >= 0; i = tree.parent[i]) dtau(i, k) -= dot(motion_at(kin.S, tree.slot[i]), change);
    }
  }
}

}  // namespace

void placement_derivatives(const Model& model, const Kinematics& kin, const InverseDynamics& id,
                           const InverseDynamicsDerivatives& did, JointIndex joint, MatX& dtau,
                           const ExternalWrenches& wrenches) {
  LITHE_CHECK(joint.valid() && static_cast<std::size_t>(joint) < model.joints().size(),
              "joint index {} is out of range: the model has {} joints", static_cast<int>(joint),
              model.joints().size());
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  check_stage(model, id.layout, "InverseDynamics", "rnea()");
  check_stage(model, did.layout, "InverseDynamicsDerivatives", "rnea_derivatives()");
  const DofTree& tree = model.tree();
  const int first = tree.joints[joint].dof;
  const int slot = tree.joints[joint].slot;
  const VirtualDofs virtuals = virtual_dofs(model, kin, id, joint);
  dtau.setZero(tree.nv, 6);
  for (int k = 0; k < 6; ++k) {
    const auto& [S, Psi_dot, Psi_ddot] = virtuals[k];
    for (int i = first; i < tree.subtree_end[first]; ++i) {
      const int s = tree.slot[i];
      dtau(i, k) = dot(Psi_dot.w, vector_at(did.BtS, s)) + dot(Psi_ddot, force_at(did.IS, s));
    }
    const Force<double> column =
        times_2B(did.B, slot, Psi_dot) + inertia_at(did.I, slot) * Psi_ddot + cross(S, force_at(id.F, slot));
    for (int j = tree.parent[first]; j >= 0; j = tree.parent[j])
      dtau(j, k) = dot(motion_at(kin.S, tree.slot[j]), column);
  }
  hold_wrenches(model, kin, virtuals, first, wrenches, dtau);
}

}  // namespace lithe

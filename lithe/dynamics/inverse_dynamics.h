#pragma once

#include "lithe/dynamics/external_wrenches.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe {

// Inverse dynamics: the generalised forces that make the model accelerate with a at (q, v),
//
//   τ = M(q) a + h(q, v) − Σ_b J_bᵀ F_b
//
// by the recursive Newton–Euler algorithm (Featherstone 2008, §5.3) in world coordinates. M includes the
// joints' armature; springs, damping and dry friction are the step's business, not part of τ.
struct InverseDynamics {
  VecX tau;            // nv
  Lanes<6> A;          // acceleration behind each DoF's joint, minus gravity
  Lanes<6> A_parent;   // and before it
  Lanes<6> momentum;   // I·V of each link
  Lanes<6> F;          // what the joint transmits: the sum over the subtree of I·A + V ×* I·V − external wrench
  Lanes<1> a;          // the acceleration, by slot
  Lanes<1> tau_slots;  // tau, by slot

  LayoutStamp layout;
};

void rnea(const Model& model, const Kinematics& kin, const ConstVecRef& a, InverseDynamics& out,
          const ExternalWrenches& wrenches = {});

// What its derivatives are taken from, all but τ, with one more wrench on each link, by slot, about the tree's origin. What is
// differentiated later takes these to turn along with their links.
void rnea_forces(const Model& model, const Kinematics& kin, const ConstVecRef& a, const Lanes<6>& link_wrenches,
                 InverseDynamics& out, const ExternalWrenches& wrenches = {});

// h(q, v): Coriolis, centrifugal and gravity forces. RNEA at a = 0.
void bias_forces(const Model& model, const Kinematics& kin, InverseDynamics& out,
                 const ExternalWrenches& wrenches = {});

// In one call, for occasional use: allocates its own workspace.
VecX inverse_dynamics(const Model& model, const ConstVecRef& q, const ConstVecRef& v, const ConstVecRef& a,
                      const ExternalWrenches& wrenches = {});

// The forces that hold the model still at q.
VecX gravity_compensation(const Model& model, const ConstVecRef& q, const ExternalWrenches& wrenches = {});

}  // namespace lithe

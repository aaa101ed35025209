#pragma once

#include <vector>

#include "lithe/dynamics/external_wrenches.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe {

// Forward dynamics: the acceleration a = M⁻¹(τ − h + Σ J_bᵀ F_b) in O(nv), by the articulated-body algorithm
// (Featherstone 2008, §7.3). M includes the joints' armature; springs, damping and dry friction belong to the step.
//
// In world coordinates the velocity terms separate: each link's bias force at a = 0 needs only a running sum
// (link_forces.h), so what travels inwards is plain: an articulated inertia and a force.
struct ForwardDynamics {
  VecX a;  // nv
  // The first DoF that nothing resists in this configuration (as in MassFactor), held still so that everything stays
  // finite. −1: none.
  int singular_dof = -1;

  // The links alone at a = 0.
  Lanes<6> A_parent, A, momentum, F;
  // Composite inertias, and what a pivot must exceed to be more than rounding (singular_pivot.h).
  Lanes<10> I;
  Lanes<1> singular;

  // Six-vectors of one DoF at a time: [angular 0 | linear 0].
  struct SixPack {
    Pack angular, linear;
  };
  // What the inward pass leaves for the outward pass, per slot.
  struct Elimination {
    SixPack S;
    SixPack force;         // of the link alone
    SixPack U;             // I_A S, with I_A the articulated inertia at and below this DoF
    double u;              // τ − S·(articulated force)
    double pivot_inverse;  // 1/D, D = Sᵀ I_A S + armature
  };
  std::vector<Elimination, CacheAligned<Elimination>> eliminations;
  // What all child chains hand to the last DoF of a chain.
  struct Handover {
    SixPack inertia[6];  // by rows
    SixPack force;
    SixPack acceleration;  // outwards: of the chain's last DoF, relative to a = 0
  };
  std::vector<Handover, CacheAligned<Handover>> handovers;

  LayoutStamp layout;
};

void aba(const Model& model, const Kinematics& kin, const ConstVecRef& tau, ForwardDynamics& out,
         const ExternalWrenches& wrenches = {});

// In one call, for occasional use: allocates its own workspace.
VecX forward_dynamics(const Model& model, const ConstVecRef& q, const ConstVecRef& v, const ConstVecRef& tau,
                      const ExternalWrenches& wrenches = {});

}  // namespace lithe

#pragma once

#include "lithe/dynamics/inverse_dynamics.h"

namespace lithe::internal {

// Products with the derivatives of inverse dynamics in O(nv): what inverse_dynamics_derivatives.h gives as nv × nv
// matrices, multiplied by a vector from the left or from the right without forming them, in one sweep outwards and one
// inwards like rnea().
//
// "Before" and "behind" a DoF mean before and behind its joint, so the three DoFs of a ball share both. Ψ̇, Ψ̈, Ṡ and 2B
// are those of inverse_dynamics_derivatives.h. Armature enters through M alone.
//
// `id` must come from rnea() at `kin` with the same wrenches. Its F is taken as it is, so a caller may have subtracted
// more forces there, as long as they turn with their bodies.

// From the left: gᵀ ∂ID/∂q and gᵀ ∂ID/∂v for one vector g of length nv.
//
// Let G_k = Σ_{i at or above k} S_i g_i, the twist of link k under joint velocities g. Then gᵀ ID = Σ_k G_k · f_k with
// f_k = I_k A_k + V_k ×* I_k V_k. Moving q_j carries everything behind j along rigidly, and that alone changes no G·f;
// on top of it V changes by Ψ̇_j, A by Ψ̈_j and G by G_before(j) × S_j, the same for every link behind j. With
//
//   P_k = I_k G_k,    m_k = (2B_k)ᵀ G_k       (of the link; P^C, m^C, F^C are sums over the subtree)
//
//   (gᵀ ∂ID/∂q)_j = Ψ̇_j · m_j^C + Ψ̈_j · P_j^C + (G_before(j) × S_j) · F_j^C
//   (gᵀ ∂ID/∂v)_j = S_j · m_j^C + (Ψ̇_j + Ṡ_j) · P_j^C
//
// The force half of m is zero: 2B does not look at linear velocities.
struct InverseDynamicsVjp {
  VecX q;  // nv, gᵀ ∂ID/∂q
  VecX v;  // nv, gᵀ ∂ID/∂v

  Lanes<6> G;         // behind each DoF's joint
  Lanes<6> G_parent;  // and before it
  Lanes<1> q_slots;   // q and v, by slot
  Lanes<1> v_slots;

  Lanes<1> g;           // by slot
  Lanes<9> P_m;         // P^C, then the moment half of m^C / 2
  Lanes<18> T;          // external wrenches: see wrench_derivatives(),
  Lanes<6> wrench;      // each link's own sum of them,
  Lanes<3> wrench_row;  // and the moment half of Σ (G ×* wrench + Tᵀ G) over the subtree; the force half is zero

  LayoutStamp layout;
};

void rnea_vjp(const Model& model, const Kinematics& kin, const InverseDynamics& id, const ConstVecRef& g,
              InverseDynamicsVjp& out, const ExternalWrenches& wrenches = {});

// From the right: τ' = ∂ID/∂q δq + ∂ID/∂v δv + M δa, all of length nv.
//
// With Θ_k = Σ_{j at or above k} S_j δq_j, the displacement of link k, and with what V and A change by besides being
// turned along with the link,
//
//   V'_k = Σ_{j at or above k} (Ψ̇_j δq_j + S_j δv_j)
//   A'_k = Σ_{j at or above k} (Ψ̈_j δq_j + (Ψ̇_j + Ṡ_j) δv_j + S_j δa_j)
//
// a link's force changes by f'_k + Θ_k ×* f_k with f'_k = I_k A'_k + 2B_k V'_k, and seen from joint i, which turns by
// Θ_i itself,
//
//   τ'_i = S_i · Σ_{k behind i} (f'_k + (Θ_k − Θ_i) ×* f_k) + armature_i δa_i
//
// where Σ_{k behind i} (Θ_k − Θ_i) ×* f_k = Σ_j S_j δq_j ×* F_j^C over the DoFs j of all joints behind i's.
struct InverseDynamicsJvp {
  VecX tau;  // nv

  Lanes<6> Theta;      // Θ behind each DoF's joint
  Lanes<1> tau_slots;  // tau, by slot

  Lanes<1> dq, dv, da;  // by slot
  Lanes<6> V, A;        // V' and A' of each link
  Lanes<6> F;           // Σ (f' + S δq ×* F^C) over the subtree
  Lanes<18> T;          // external wrenches: see wrench_derivatives(),
  Lanes<6> wrench;      // and each link's own sum of them

  LayoutStamp layout;
};

// `da` may be empty, for zero.
void rnea_jvp(const Model& model, const Kinematics& kin, const InverseDynamics& id, const ConstVecRef& dq,
              const ConstVecRef& dv, const ConstVecRef& da, InverseDynamicsJvp& out,
              const ExternalWrenches& wrenches = {});

}  // namespace lithe::internal

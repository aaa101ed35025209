#pragma once

#include "lithe/dynamics/inverse_dynamics.h"
#include "lithe/dynamics/mass_matrix.h"

namespace lithe {

// ∂ID/∂q and ∂ID/∂v at fixed a (and ∂ID/∂a = M), after Singh, Russell & Wensing (2022), in O(nv · depth):
// with i a joint and j one at or above it,
//
//   ∂τ_i/∂q_j = S_iᵀ (2B_i Ψ̇_j + I_i Ψ̈_j)      ∂τ_j/∂q_i = S_jᵀ (2B_i Ψ̇_i + I_i Ψ̈_i + S_i ×* F_i)   (j above i)
//   ∂τ_i/∂v_j = S_iᵀ (2B_i S_j + I_i (Ψ̇_j + Ṡ_j))  ∂τ_j/∂v_i = S_jᵀ (2B_i S_i + I_i (Ψ̇_i + Ṡ_i))
//
// where I_i, B_i, F_i are sums over the subtree of i, and every other entry is zero.
struct InverseDynamicsDerivatives {
  MatX dtau_dq;  // nv × nv
  MatX dtau_dv;

  // Per DoF.
  Lanes<10> I;                  // composite inertia of the subtree
  Lanes<12> B;                  // 2B of the subtree: a 3×3 block by rows, then the momentum's force f
  Lanes<6> Psi_ddot;            // A_parent × S + V_parent × Ψ̇
  Lanes<6> Psi_dot_plus_S_dot;  // Ψ̇ + Ṡ
  Lanes<6> IS;                  // I S
  Lanes<3> BtS;                 // the non-zero half of 2Bᵀ S
  Lanes<6> column_q;            // 2B Ψ̇ + I Ψ̈ + S ×* F
  Lanes<6> column_v;            // 2B S + I (Ψ̇ + Ṡ)
  // The same derivatives as dtau_dq and dtau_dv, one dense block per tree (DofTree::column_start).
  AlignedBuffer columns_q, columns_v;
  Lanes<18> T;          // external wrenches: ∂(Σ F)/∂q_j = T S_j, upper half by rows
  Lanes<6> wrench_row;  // S ×* Σ F + Tᵀ S
  bool with_wrenches = false;

  LayoutStamp layout;
};

// `id` must come from rnea() with the same wrenches.
void rnea_derivatives(const Model& model, const Kinematics& kin, const InverseDynamics& id,
                      InverseDynamicsDerivatives& out, const ExternalWrenches& wrenches = {});

// The blocks columns_q and columns_v alone.
void rnea_derivative_columns(const Model& model, const Kinematics& kin, const InverseDynamics& id,
                             InverseDynamicsDerivatives& out, const ExternalWrenches& wrenches = {});

// The same columns chain by chain, for those who use them at once and need not store them all; with mass_rate·M subtracted from
// ∂ID/∂v (armature apart): what the derivative of a step of length 1/mass_rate is made of. M at the same q lends its composite
// inertias, so out.I and out.IS are not written.
void prepare_derivative_columns(const Model& model, const Kinematics& kin, const InverseDynamics& id, double mass_rate,
                                const MassMatrix& M, InverseDynamicsDerivatives& out,
                                const ExternalWrenches& wrenches = {});
// `momenta`: M.IS. Columns are the tree's column_stride apart; only rows of DoFs above and below the chain are written.
void write_derivative_columns(const DofTree& tree, const DofTree::Chain& chain, const Kinematics& kin,
                              const Lanes<6>& momenta, const InverseDynamicsDerivatives& d, double* q, double* v);

}  // namespace lithe

#pragma once

#include "lithe/dynamics/inverse_dynamics_derivatives.h"

namespace lithe {

// ∂ID by where a joint sits in what carries it (Joint::placement): a link's length, a mounting angle.
//
//   dtau (nv × 6)   columns 0–2: R₀ ← exp([δ]×) R₀ with p₀ held,   columns 3–5: p₀ ← p₀ + δ
//
// at fixed q, v, a, δ in the axes of the frame that the placement is given in: the parent body's for a body's first
// joint, the previous joint's (after its motion) for the others.
//
// Such a change acts like a *virtual DoF* mounted before the joint, with neither velocity nor acceleration. Its axis
// S_k goes through the joint's place; the velocity and acceleration before it are those before the joint, and what
// it moves is the joint's whole subtree. So it has columns like any DoF's (inverse_dynamics_derivatives.h):
//
//   ∂τ_i = S_iᵀ (2B_i Ψ̇_k + I_i Ψ̈_k)  at or below the joint     ∂τ_j = S_jᵀ (2B Ψ̇_k + I Ψ̈_k + S_k ×* F)  above it
//
// and DoFs of other branches feel nothing. `id` and `did` come from rnea() and rnea_derivatives() at `kin`, all three
// with the same wrenches. External wrenches keep their components while the body's origin moves.
void placement_derivatives(const Model& model, const Kinematics& kin, const InverseDynamics& id,
                           const InverseDynamicsDerivatives& did, JointIndex joint, MatX& dtau,
                           const ExternalWrenches& wrenches = {});

}  // namespace lithe

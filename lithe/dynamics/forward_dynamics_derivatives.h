#pragma once

#include "lithe/dynamics/forward_dynamics.h"
#include "lithe/dynamics/inverse_dynamics_derivatives.h"
#include "lithe/dynamics/inverse_mass_matrix.h"

namespace lithe {

// ∂FD by q, v and τ. Differentiating ID(q, v, FD(q, v, τ)) = τ gives all three from inverse dynamics:
//
//   ∂a/∂q = −M⁻¹ ∂ID/∂q,   ∂a/∂v = −M⁻¹ ∂ID/∂v,   ∂a/∂τ = M⁻¹      (∂ID at the a that FD found)
struct ForwardDynamicsDerivatives {
  MatX da_dq;  // nv × nv
  MatX da_dv;
  MatX da_dtau;

  InverseDynamics id;
  InverseDynamicsDerivatives did;
  InverseMassMatrix M_inverse;

  LayoutStamp layout;
};

// `fd` must come from aba() with the same wrenches.
void aba_derivatives(const Model& model, const Kinematics& kin, const ForwardDynamics& fd,
                     ForwardDynamicsDerivatives& out, const ExternalWrenches& wrenches = {});

}  // namespace lithe

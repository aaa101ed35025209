#pragma once

#include "lithe/dynamics/internal/mass_factor.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe::internal {

// How a function f of the configuration depends on where each body is: what a viewer draws as an arrow on the body.
//
// A joint model has no coordinates of single bodies, and a body can be moved by δx in many ways. The one meant here is the one of least
// kinetic energy: with J (3×nv) the Jacobian of the body's origin,
//
//   δq = argmin ½ δqᵀ M δq  subject to  J δq = δx,   so that   ∂f/∂x = (J M⁻¹ Jᵀ)⁺ J M⁻¹ g,   g = ∂f/∂q (nv, in the tangent of q)
//
// Directions in which the body cannot move have none of it (⁺ is the pseudo-inverse), nor has a body that is fixed in the world. Near such
// directions (an arm that is all but stretched) a small δx takes a large δq, and arrows would be endless: an eigenvalue λ of J M⁻¹ Jᵀ, the
// mobility along its axis, counts with the weight 1/(1 + ((λ_max/λ − 1)/kHeavy)⁴): all of it where the body is as light as it can be,
// all but 1e-4 of it where it is ten times as heavy, half of it where it is a hundred times as heavy.
class PositionGradients {
 public:
  static constexpr double kHeavy = 100;

  explicit PositionGradients(const Model& model);

  // 3·bodies numbers: x, y, z in the world of each body's origin, the world (zero) first. Valid until the next call.
  // Sizes that are wrong and numbers that are not finite are Errors.
  const VecX& at(const ConstVecRef& q, const ConstVecRef& by_q);

 private:
  const Model& model_;
  Kinematics kin_;
  MassMatrix M_;
  MassFactor factor_;
  VecX response_;  // M⁻¹ g
  Mat3X J_;
  MatX inverse_;  // M⁻¹ Jᵀ
  VecX out_;
};

}  // namespace lithe::internal

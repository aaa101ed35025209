#pragma once

#include "lithe/dynamics/inverse_dynamics.h"

namespace lithe {

// Inverse dynamics is linear in the bodies' inertial parameters π (ten per body, see SpatialInertia::parameters(): in
// the body's frame about its origin):
//
//   τ = Y(q, v, a) π + armature∘a − Σ_b J_bᵀ F_b,      Y = ∂τ/∂π   (nv × 10·bodies)
//
// Body b's block starts at column 10·b; those of the world and of bodies fixed in it are zero, and so are the rows of
// DoFs that do not move the body. Gravity is in Y. (Atkeson, An & Hollerbach 1986.)
//
// `id` comes from rnea() or bias_forces() at `kin`; its external wrenches do not matter.
void inertial_regressor(const Model& model, const Kinematics& kin, const InverseDynamics& id, MatX& Y);

}  // namespace lithe

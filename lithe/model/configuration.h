#pragma once

#include <random>

#include "lithe/model/model.h"

namespace lithe {

// Configurations q and their tangent space. A ball's four entries are a unit quaternion (x, y, z, w); everything
// else is a number. Derivatives by q are always by the tangent: f(q ⊕ δ) ≈ f(q) + (∂f/∂q)·δ, nv columns.
//
// All of these refuse wrong sizes, non-finite entries and zero quaternions, and normalise the quaternions they
// return, so that drift never accumulates.

// Every joint at 0, every ball at the identity.
VecX neutral_configuration(const Model& model);

// Uniform between the limits; where there are none, within ±π rad or ±1 m of 0 (or of the one limit there is).
// Balls uniform over all rotations.
VecX random_configuration(const Model& model, std::mt19937_64& random);

// q ⊕ δ: adds, and multiplies a ball's quaternion from the right by exp(δ).
VecX retract(const Model& model, const ConstVecRef& q, const ConstVecRef& delta);
void retract(const Model& model, const ConstVecRef& q, const ConstVecRef& delta, VecRef out);

// q₁ ⊖ q₀, the δ with q₀ ⊕ δ = q₁; for a ball the shortest one, |δ| ≤ π.
VecX difference(const Model& model, const ConstVecRef& q1, const ConstVecRef& q0);
void difference(const Model& model, const ConstVecRef& q1, const ConstVecRef& q0, VecRef out);

// On the geodesic from q0 (t = 0) to q1 (t = 1).
VecX interpolate(const Model& model, const ConstVecRef& q0, const ConstVecRef& q1, double t);

// Quaternions scaled to length one.
VecX normalized(const Model& model, const ConstVecRef& q);

// Block-diagonal: identity for 1-DoF joints, a 3×3 block per ball.
MatX retract_derivative_q(const Model& model, const ConstVecRef& delta);           // ∂(q ⊕ δ)/∂q  = exp(δ)ᵀ
MatX retract_derivative_delta(const Model& model, const ConstVecRef& delta);       // ∂(q ⊕ δ)/∂δ  = J_r(δ)
MatX difference_derivative_q1(const Model& model, const ConstVecRef& difference);  // ∂(q₁ ⊖ q₀)/∂q₁ = J_r⁻¹(ξ)
MatX difference_derivative_q0(const Model& model, const ConstVecRef& difference);  // ∂(q₁ ⊖ q₀)/∂q₀ = −J_r⁻¹(−ξ)

// Throw an Error that names the vector, the index and the value.
void check_configuration(const Model& model, const ConstVecRef& q);
void check_tangent(const Model& model, const ConstVecRef& v, const char* name);

}  // namespace lithe

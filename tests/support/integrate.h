#pragma once

#include <functional>

#include "lithe/core/eigen.h"
#include "lithe/model/model.h"

namespace lithe::test {

// Time integration of a = f(q, v) for tests that ask whether forward dynamics conserves what nature conserves. Not for
// use: every step allocates.
struct Motion {
  VecX q, v;
};

using Acceleration = std::function<VecX(const VecX& q, const VecX& v)>;

// v += h a(q, v), then q ← q ⊕ h v: first order.
Motion semi_implicit_euler_step(const Model& model, const Motion& start, double h, const Acceleration& acceleration);

// The classical Runge–Kutta method, fourth order, in the tangent at the step's start (Munthe-Kaas 1998): with
// q = q₀ ⊕ u, the coordinates u follow u̇ = J_r⁻¹(u) v.
Motion rk4_step(const Model& model, const Motion& start, double h, const Acceleration& acceleration);

// `count` steps of either.
template <class Step>
Motion integrate(Step step, const Model& model, Motion motion, double h, int count, const Acceleration& acceleration) {
  for (int i = 0; i < count; ++i) motion = step(model, motion, h, acceleration);
  return motion;
}

}  // namespace lithe::test

#pragma once

#include "lithe/optimize/solve.h"

namespace lithe {

// Gradients of the whole motion by the controls (and whatever else is free), by VJPs back through all steps, and a method to walk
// along them. Bounds are kept by projection; constraints by an augmented Lagrangian around it (augmented_lagrangian.h).
//
// All but gradient_descent walk in units of the bounds (free_variables.h). SolveOptions::tolerance is compared with the largest entry of
// the projected gradient in these units, divided by max(1, |cost|).
//
// gradient_descent and adam take their steps wherever they lead, and the best plan on the way is returned; a step whose motion diverges
// is halved until it does not. lbfgs goes downhill only, and across plateaus (projected_lbfgs.h): complementarity-aware gradients,
// which point to motions that did not happen, may make it stall where the other two walk on.
//
// Where all derivatives are zero at a motion with contacts, complementarity-aware ones are looked at before giving up. If they are not
// zero, the contacts hide the way, and the reason is StopReason::saddle; else, at the initial plan, StopReason::stalled.
struct SingleShootingOptions : SolveOptions {
  enum class Method : std::uint8_t {
    gradient_descent,  // x ← x − rate · gradient, clamped; `rate` as given, no line search: the paper's
    adam,              // Kingma & Ba 2015
    lbfgs,             // projected L-BFGS with a line search
  };
  Method method = Method::lbfgs;
  double rate = 1e-2;  // of gradient_descent and adam
  int memory = 10;     // pairs that L-BFGS keeps
};

Solution single_shooting(const Problem& problem, const Plan& initial, const SingleShootingOptions& options = {});

}  // namespace lithe

#pragma once

#include <vector>

#include "lithe/optimize/solve.h"
#include "lithe/rollout/controls.h"

namespace lithe {

// A motion as it was measured: the states, and what acted.
struct ObservedMotion {
  Controls controls;  // T steps
  MatX q, v;          // nq, nv × (T + 1); noise is expected, in the tangent of q
};

// Which numbers of a model explain the motions that were seen? Those for which the simulated ones come closest:
//
//   minimise Σ over motions and times of Σ_i w_i (x_t ⊖ y_t)_i²   over the parameters, and where each motion starts
//
// by Levenberg–Marquardt steps on sensitivities (∂x_t by parameters and start, carried forward through step_jacobians()).
struct Identification {
  Model model;  // its other numbers are taken as they are
  StepOptions step = {};
  std::vector<FreeParameter> parameters = {};
  std::vector<ObservedMotion> motions = {};
  VecX q_weights = {}, v_weights = {};  // w, nv each: one over the variance of the noise; empty: 1
  // The first measured state is as noisy as the others, so where a motion starts is estimated too. Off: it starts as measured.
  bool free_starts = true;
  // Steps after which the simulation starts anew from what was measured, for chaotic motions; 0: never.
  int segment = 0;
};

struct IdentificationResult {
  VecX parameters;  // as in Identification::parameters
  // The standard deviation of each, if the misfit that is left is noise: from the inverse of the Gauss–Newton Hessian. An infinite one
  // means that the motions do not show the number.
  VecX deviations;
  double cost = 0;              // the sum above
  double root_mean_square = 0;  // of all weighted differences
  StopReason reason = StopReason::stalled;
  std::string message;
  int iterations = 0;
  std::vector<Progress> history;
};

// From the model's own numbers, moved into the bounds.
IdentificationResult identify(const Identification& problem, const SolveOptions& options = {});

}  // namespace lithe

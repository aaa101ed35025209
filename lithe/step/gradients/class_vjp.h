#pragma once

#include <span>

#include "lithe/dynamics/internal/inverse_dynamics_products.h"
#include "lithe/step/gradients/bounce.h"
#include "lithe/step/gradients/complementarity.h"
#include "lithe/step/gradients/linearization.h"
#include "lithe/step/gradients/parameter_columns.h"
#include "lithe/step/step_vjp.h"

namespace lithe::internal {

struct StepVjpWorkspace {
  StepLinearization linearization;
  InverseDynamicsVjp id;
  ParameterColumns columns;
  Lanes<1> z, q, v;          // by slot
  VecX lambda, g;            // nv
  AlignedBuffer s_hat;       // by coordinate
  AlignedBuffer correction;  // of s_hat
  AlignedBuffer s, s_null;   // by row
  AlignedBuffer bouncing;    // by row
  AlignedBuffer held_back;   // −T_Cᵀ s, over touches
  AlignedBuffer touches, touches2;
  // Of the modes.
  BounceWorkspace bounce;
  ComplementarityWorkspace complementarity;
};

// The VJP of the step as if its rows were in these classes; with the record's own, the exact one. False, and zeros, where
// numbers overflow.
bool class_vjp(const Model& model, const StepRecord& record, std::span<const RowClass> classes,
               const StepCotangent& by_next, const StepParameters* parameters, StepVjp& out);

}  // namespace lithe::internal

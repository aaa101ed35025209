#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lithe/dynamics/internal/inverse_dynamics_products.h"
#include "lithe/step/gradients/bounce.h"
#include "lithe/step/gradients/complementarity.h"
#include "lithe/step/gradients/linearization.h"
#include "lithe/step/gradients/parameter_columns.h"
#include "lithe/step/step_vjp.h"

namespace lithe::internal {

// Parameters and the targets of all motors behind them, put together once for many calls.
struct ParametersWithTargets {
  StepParameters all;
  std::vector<std::string> parameters;  // the first ones
  std::uint64_t structure = 0;

  bool is_of(const Model& model, const StepParameters& chosen) const {
    return structure == model.tree().structure && parameters == chosen.names();
  }
  void choose(const Model& model, const StepParameters& chosen);
};

struct StepVjpWorkspace {
  StepLinearization linearization;
  InverseDynamicsVjp id;     // gᵀ ∂ID
  ParameterColumns columns;  // one at a time
  Lanes<1> z, q, v;          // by slot
  VecX lambda, g;            // nv
  AlignedBuffer s_hat;       // by coordinate
  AlignedBuffer correction;  // of s_hat
  AlignedBuffer s, s_null;   // by row
  AlignedBuffer bouncing;    // by row
  AlignedBuffer held_back;   // −T_Cᵀ s, over touches
  AlignedBuffer touches, touches2;
  ParametersWithTargets with_targets;
  VecX parameters_and_targets;             // the gradient by these
  Lanes<6> velocities, velocities_before;  // of links, at the velocities ∂ℓ/∂τ
  // Of the modes.
  BounceWorkspace bounce;
  ComplementarityWorkspace complementarity;
};

// The VJP of the step as if its rows were in these modes; with the record's own, the exact one. False, and zeros, where
// numbers overflow.
bool mode_vjp(const Model& model, const StepRecord& record, std::span<const RowMode> modes,
              const StepCotangent& by_next, const StepParameters* parameters, StepVjp& out);

}  // namespace lithe::internal

#pragma once

#include "lithe/dynamics/internal/inverse_dynamics_products.h"
#include "lithe/step/gradients/bounce.h"
#include "lithe/step/gradients/linearization.h"
#include "lithe/step/gradients/parameter_columns.h"
#include "lithe/step/step_jvp.h"

namespace lithe::internal {

// What a mode answers to one disturbance (ModeResponse).
struct ModeChange {
  AlignedBuffer df;  // ∂f, by row

  // Workspace.
  Lanes<1> z;                      // Xᵀ(Jᵀ ∂f − ρ), by slot
  AlignedBuffer touches;           // over touches
  AlignedBuffer left, correction;  // by row
};

// ∂f and ∂v⁺ = M̂⁻¹(Jᵀ ∂f − ρ), from ρ of the momentum balance, e of the rows (kLanes zeros after the last one) and c of the choice
// among many f (by row, may be null).
void answer(const Model& model, const StepRecord& record, ModeResponse& response, const VecX& rho, const double* e,
            const double* c, ModeChange& out, VecRef dv);

struct StepJvpWorkspace {
  StepLinearization linearization;
  InverseDynamicsJvp id;             // ∂ID in the direction
  ParameterColumns columns;          // one at a time
  ModeChange answer;                 // to the whole direction
  Lanes<1> dq, dv, forces;           // by slot
  VecX dq_dofs, dv_dofs;             // nv: the direction, zeros filled in
  VecX da;                           // −δv/Δt
  VecX rho;                          // nv
  AlignedBuffer e, c, extra;         // by row
  AlignedBuffer Theta, Psi, pushes;  // over touches
  // Of the modes.
  StepTangent tangent;
  BounceTerms bounce;
};

// One column after linearize(): how the outputs move with the direction, impulses if they were asked for there. `linearized` false:
// the step diverged.
void mode_jvp(const Model& model, const StepRecord& record, const StepTangent& direction,
              const StepParameters* parameters, bool linearized, StepJvp& out);

// The same including linearize(), at the record's own modes: the exact JVP.
void mode_jvp(const Model& model, const StepRecord& record, const StepTangent& direction,
              const StepParameters* parameters, const LinearizationNeeds& needs, StepJvp& out);

}  // namespace lithe::internal

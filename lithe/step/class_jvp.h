#pragma once

#include "lithe/dynamics/inverse_dynamics_products.h"
#include "lithe/step/bounce.h"
#include "lithe/step/linearization.h"
#include "lithe/step/parameter_columns.h"
#include "lithe/step/step_jvp.h"

namespace lithe {

struct StepJvp::Workspace {
  StepLinearization linearization;
  InverseDynamicsJvp id;
  ParameterColumns columns;
  Lanes<1> z, dq, dv, forces;        // by slot
  VecX dq_dofs, dv_dofs;             // nv: the direction, zeros filled in
  VecX da, zeros;                    // −δv/Δt
  VecX rho, rho2;                    // nv
  AlignedBuffer e, c, df, extra;     // by row
  AlignedBuffer Theta, Psi, pushes;  // over touches
  // Of the modes.
  StepTangent tangent;
  BounceTerms bounce;
};

// One column after linearize(): how the outputs move with the direction. `linearized` false: the step diverged.
void class_jvp(const Model& model, const StepRecord& record, const StepTangent& direction,
               const StepParameters* parameters, bool linearized, StepJvp& out);

// The same including linearize(), at the record's own classes: the exact JVP.
void class_jvp(const Model& model, const StepRecord& record, const StepTangent& direction,
               const StepParameters* parameters, StepJvp& out);

}  // namespace lithe

#pragma once

#include <span>
#include <vector>

#include "lithe/contact/constraint_forms.h"
#include "lithe/contact/mode_response.h"
#include "lithe/dynamics/inverse_dynamics.h"
#include "lithe/step/internal/step_tape.h"
#include "lithe/step/step_record.h"

namespace lithe::internal {

// What all derivatives of one step start from (docs/gradients.md). With the record's f and v⁺ held,
//
//   r = Δt·ID(q, v, a) + (M̂ − M)(v⁺ − v) − Δt·τ_total − Jᵀf = 0,   a = (v⁺ − v)/Δt,      J_C v⁺ + D f_C − d_C = 0
//
// ∂r and e := ∂(d − J v⁺ − D f) come from one pass of inverse dynamics at a, with the contact wrenches as part of the
// links' forces, and from the forms of the rows. The mode's response turns them into ∂v⁺ and ∂f.
//
// Where the choice of f among many matters, its null-space term needs the second equation once more: c = ∂J_C·z is −e with
// z = M̂⁻¹P y in the place of v⁺, without targets and compliance.

// The rows under some velocities u.
struct RowPoint {
  Lanes<6> V;  // velocity behind each DoF's joint under u, and Ψ̇ under it
  Lanes<6> Psi_dot;
  AlignedBuffer touch_velocity;  // J_F u
  ConstraintForms forms;
};

// u = v⁺: the step itself.
struct LinearPoint : RowPoint {
  InverseDynamics id;              // its F: with the constraints' wrenches, which turn along with the links
  VecX change;                     // v⁺ − v
  VecX acceleration;               // change/Δt
  Lanes<6> link_wrenches;          // φ/Δt on bodies, φ = Tᵀ f, by slot
  AlignedBuffer compressed_forms;  // Qᵀ E, laid out as the response's patches say
};

// u = z.
struct NullPoint : RowPoint {
  VecX z;
};

struct StepLinearization {
  ModeResponse response;
  LinearPoint main;
  NullPoint null;
  bool has_null = false;                // the second one is there
  bool impulses = false;                // ∂f was asked for
  AlignedBuffer touch_velocity_before;  // J_F v; where something bounces

  // Workspace.
  AlignedBuffer touches;
  Lanes<1> slots;
};

struct LinearizationNeeds {
  bool impulses = false;  // ∂f too: then the second point is needed wherever f is not unique
  bool matrices = false;  // ModeResponse::inverse() will be asked for
};

// `modes` are the step's own (record.modes) or others to try. False where numbers overflow: then nothing is there to read.
bool linearize(const Model& model, const StepRecord& record, std::span<const RowMode> modes,
               const LinearizationNeeds& needs, StepLinearization& out);

// The springs' part of ∂r: a diagonal entry Δt·k per 1-DoF joint (by q), and for a ball's three DoFs
//   ∂r/∂q = Δt k J_r⁻¹(ξ) exp(Δt ω)ᵀ,   ∂r/∂v = Δt k (Δt J_r⁻¹(ξ) J_r(Δt ω) − Δt).
struct BallSpring {
  Mat3 by_q, by_v;
};
BallSpring ball_spring(const Model& model, const StepRecord& record, int joint);

// ∂(q ⊕ Δt v)/∂q and /∂v of one ball, with v its velocity in force (v⁺ or v, by the integrator).
struct BallMotion {
  Mat3 by_q, by_v;
};
BallMotion ball_motion(const StepRecord& record, int dof);

}  // namespace lithe::internal

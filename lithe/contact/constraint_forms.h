#pragma once

#include <span>
#include <vector>

#include "lithe/contact/mode_response.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe::internal {

// How the rows of a step and their pushes change as the bodies move, at fixed velocities u and impulses f.
//
// With S_j the axis of a DoF j that moves a touched body, Ψ̇_j = V_before(j) × S_j under u, and the sums over the sides that j
// moves (derivations: docs/gradients.md),
//
//   rows    e_j := ∂d/∂q_j − ∂(J u)/∂q_j = E S_j − T Ψ̇_j  [− e T Ψ̇ᵛ_j for a row that bounces, Ψ̇ᵛ under the old velocities]
//   pushes  ∂φ/∂q_j = S_j ×* φ + Σ over the bodies k that j moves of T̂_k S_j
//
// for the rows' targets d and the wrenches φ = Tᵀf on the touches. So contact geometry enters through one linear form per row and
// side, and through one 6×6 matrix per pair of a patch's sides, whatever the features were. For rows on DoFs E is ∂d/∂q itself.
struct ConstraintForms {
  // E, laid out as problem.coefficients.
  AlignedBuffer rows;

  // T̂ of one patch: how the wrench on its side a or b moves with its side a or b. Only of sides that something moves, and
  // unless `zero`.
  struct Push {
    Mat6 aa, ab, ba, bb;
    bool zero = true;
  };
  std::vector<Push> pushes;  // per patch

  // Rows with the target −e·J v.
  struct BouncingRow {
    int row;
    double restitution;
  };
  std::vector<BouncingRow> bouncing;
  bool irregular = false;  // some contact has no derivative (ContactDerivatives::regular)
};

struct FormInput {
  const ContactInput& contact;
  const ContactProblem& problem;
  ConstraintOptions options;
  std::span<const LcpReport> reports;  // per island: where targets were dropped they do not move
  const double* V;                     // J_F u, over touches
  const double* V_before;              // J_F v at the step's start; read where something bounces
  const double* f;                     // by row
  bool targets = true;                 // false: d = 0
  bool pushes = true;                  // false: T̂ is not wanted
  // Pushes on bodies that this mode holds are left out: they change impulses, but no motion. Null: all are wanted.
  const ModeResponse* balanced_by = nullptr;
};

// Fills in E of all rows and T̂ of all patches.
void constraint_forms(const Model& model, const FormInput& in, ConstraintForms& out);

}  // namespace lithe::internal

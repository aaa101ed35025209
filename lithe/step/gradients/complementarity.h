#pragma once

#include <span>
#include <vector>

#include "lithe/contact/mode_response.h"
#include "lithe/step/gradient_options.h"
#include "lithe/step/step_vjp.h"

namespace lithe::internal {

// Gradients that find their way off a saddle point (the paper's §IV-D; docs/gradients.md, "Complementarity-aware gradients").
//
// A contact that bears a weight answers every small force with an equal one less of its own: the gradient by the forces is
// zero, and no descent will ever lift off. A contact that is about to close passes no force on, and no descent will
// ever push through it. So a second classification is tried. With λ = ∂ℓ/∂v⁺ and every one-sided row in C,
//
//   s = Kᵀλ = ∂ℓ/∂w
//
// says what the loss would gain if a row's velocity could be chosen: s < 0, it wants the contact to open, and the row becomes
// separating, its friction rows too; s > 0, it wants to press, and the row clamps (friction rows of contacts that were open stay
// open: how they would stick or slide is not known). Bouncing contacts, motors and loops keep their modes. Of the step's own
// gradient and this one, the one with the larger
//
//   ‖∂ℓ/∂v‖² + ‖∂ℓ/∂τ‖²/Δt
//
// is the result. It is a heuristic: the second one is the gradient of a motion that did not happen.
struct ComplementarityWorkspace {
  ModeResponse response;
  std::vector<RowMode> modes;
  AlignedBuffer touches, s_hat, s;
  // The first candidate while the second one is computed.
  VecX q, v, tau, parameters;
  GradientReport report;
};

// As step_vjp(). The report's mode is `complementarity_aware` where the second candidate is the result. Corrections for bounces
// (options.bounce) are those of the step's own modes, and are added to either.
void complementarity_aware_vjp(const Model& model, const StepRecord& record, const StepCotangent& by_next,
                               const GradientOptions& options, const StepParameters* parameters, StepVjp& out);

// The classification that this product of `record` is based on.
std::span<const RowMode> modes_of(StepVjp& vjp, const StepRecord& record);

}  // namespace lithe::internal

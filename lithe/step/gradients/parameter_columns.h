#pragma once

#include "lithe/step/gradients/linearization.h"
#include "lithe/step/step_parameters.h"

namespace lithe::internal {

// The derivatives by one parameter x of what a step solves, with v⁺ and f held (StepLinearization):
//
//   ρ  = ∂r/∂x,   e  = ∂(d − J v⁺ − D f)/∂x      of the step itself
//   e₂ = −∂(J z)/∂x                               with z held: what moves the choice of f among many, c = −e₂
//   ∂f                                            what moves impulses at their bounds directly: ±∂μ f_n, ∂(Δt·effort)
//   ∂q                                            what moves q⁺ directly
//   ∂gap                                          at fixed q, of contacts that bounce: no part of the step, but of when they
//                                                 hit (bounce.h)
//
// The direct ∂f are forces too: ρ holds their part −Jᵀ∂f. Then, with ∂f′ what the mode answers to ρ, e and c,
//
//   ∂v⁺ = M̂⁻¹(Jᵀ ∂f′ − ρ),   the step's ∂f = ∂f′ + ∂f.
struct ParameterColumn {
  VecX rho;                 // nv
  VecX dq;                  // nv, by the tangent of q⁺
  AlignedBuffer e, e2, df;  // by row, and kLanes zeros after the last one
  AlignedBuffer gap;        // by row: at the normals of contacts that bounce, zero elsewhere
};

// Whether a parameter may move the gap of a contact at fixed q: sizes and places of shapes, places of bodies and joints, the pitch
// of a screw. All others leave ∂gap at zero.
bool moves_surfaces(const StepParameters::Entry& entry);

// Columns one by one, each in O(nv + rows): of inertias, placements, sizes, materials, limits, gains, the time step.
class ParameterColumns {
 public:
  // To be called once per linearization. Allocates only where there are more rows than ever before.
  void start(const Model& model, const StepRecord& record, const StepLinearization& linearization);

  // Valid until the next call. e₂ is written where the linearization has a second point.
  const ParameterColumn& column(const Model& model, const StepRecord& record, const StepLinearization& linearization,
                                const StepParameters::Entry& entry);

 private:
  ParameterColumn column_;
};

}  // namespace lithe::internal

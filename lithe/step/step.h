#pragma once

#include "lithe/step/step_options.h"
#include "lithe/step/step_record.h"

namespace lithe {

// One step of length Δt from `state` under `control` (docs/step.md):
//
//   M̂(q)(v⁺ − v) + Δt·(h(q, v) − τ_total) = J(q)ᵀ f,   q⁺ = q ⊕ Δt v⁺
//   M̂ = M + diag(Δt·damping + Δt²·stiffness),   τ_total = τ − stiffness·ξ − damping·v,   ξ = (q ⊕ Δt v) ⊖ q_rest
//
// with impulses f that keep bodies apart, joints within limits, motors within their effort and loops closed. The result
// is record.next; what derivatives need of the way there stays in the record.
//
// `guess` is what an earlier step left in its record.warm_start (this record's own is fine), or nothing. It saves time,
// and among several true solutions it can choose; the result does not depend on it otherwise.
//
// A state or control with a wrong size or a number that is not finite is an Error that names the entry. Outcomes are in
// record.status, and record.next is finite whatever happens. After warm-up nothing is allocated. Same input, same bits.
void step(const Model& model, const State& state, const Control& control, const StepOptions& options,
          StepRecord& record, const WarmStart* guess = nullptr);

}  // namespace lithe

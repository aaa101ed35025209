#pragma once

#include "lithe/step/step.h"

namespace lithe::test {

// The equations of a step written down densely and slowly, from bodies and joints rather than from the compiled tree:
// the rows J of a record's constraints, M̂ and v_free. What the step room computes is compared with it.
struct PlainStep {
  MatX J;       // rows × nv, in the record's order
  MatX M_hat;   // nv × nv
  VecX v_free;  // nv
  VecX target;  // d
  VecX compliance;
};

// For the constraints (and the contacts) that `record` holds.
PlainStep plain_step(const Model& model, const StepRecord& record);

}  // namespace lithe::test

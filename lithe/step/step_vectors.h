#pragma once

#include "lithe/core/eigen.h"

namespace lithe {

// A direction in which the inputs of a step move. Empty parts are zero.
struct StepTangent {
  VecX q = {};           // nv, in the tangent of q
  VecX v = {};           // nv
  VecX tau = {};         // nv
  VecX parameters = {};  // one per StepParameters
};

// The gradient of some loss by the outputs of a step. Empty parts are zero.
struct StepCotangent {
  VecX q = {};  // nv, by the tangent of q⁺
  VecX v = {};  // nv, by v⁺
  VecX f = {};  // by the impulses, one per row (StepRecord::f)
};

}  // namespace lithe

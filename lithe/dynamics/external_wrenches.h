#pragma once

#include <vector>

#include "lithe/model/model.h"
#include "lithe/simd/lanes.h"

namespace lithe {

struct Kinematics;

// A wrench on a body: [torque about the body's origin; force], in world axes. It keeps its components when the
// body moves, as a push does. A list of these enters inverse and forward dynamics and their derivatives.
struct ExternalWrench {
  BodyIndex body;
  Vec6 wrench;
};
using ExternalWrenches = std::vector<ExternalWrench>;

// F −= the wrenches, each about its tree's origin at its body's slot. What acts on fixed bodies has no effect.
void subtract_wrenches(const Model& model, const Kinematics& kin, const ExternalWrenches& wrenches, Lanes<6>& F);

// How the wrenches change as the bodies move: their moment about a fixed point follows the body's origin, so
// ∂F/∂q_j = T S_j for every DoF j that moves the body, where the upper half of T (3×6, by rows) is
// [f]× [p]×, −[f]× and the lower half is zero. Sets `T` and `sum` to each slot's own wrenches (not yet summed).
void wrench_derivatives(const Model& model, const Kinematics& kin, const ExternalWrenches& wrenches, Lanes<18>& T,
                        Lanes<6>& sum);

}  // namespace lithe

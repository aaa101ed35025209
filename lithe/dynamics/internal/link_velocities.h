#pragma once

#include "lithe/dynamics/kinematics.h"

namespace lithe::internal {

// How links would move at joint velocities u (nv): V by slot, the velocity behind each DoF's joint, and V_before, the one in front of it.
// `slots` is workspace.
void link_velocities(const DofTree& tree, const Kinematics& kin, const VecX& u, Lanes<1>& slots, Lanes<6>& V_before,
                     Lanes<6>& V);

}  // namespace lithe::internal

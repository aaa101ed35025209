#include "lithe/dynamics/internal/link_velocities.h"

#include "lithe/dynamics/internal/slot_vectors.h"
#include "lithe/dynamics/internal/tree_sums.h"

namespace lithe::internal {

void link_velocities(const DofTree& tree, const Kinematics& kin, const VecX& u, Lanes<1>& slots, Lanes<6>& V_before,
                     Lanes<6>& V) {
  V.resize(tree.slot_count);
  V_before.resize(tree.slot_count);
  slots.resize_zero(tree.slot_count);
  dofs_to_slots(tree, u.data(), slots);
  const Motion<double> ground = {};
  sum_outwards(tree, ground, [&](int s) { return slots.pack(0, s) * load_motion(kin.S, s); }, V_before, V);
}

}  // namespace lithe::internal

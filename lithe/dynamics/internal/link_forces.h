#pragma once

#include "lithe/dynamics/external_wrenches.h"
#include "lithe/dynamics/internal/tree_sums.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe::internal {

// The outward half of Newton–Euler, shared by inverse and forward dynamics: what each link alone needs,
//
//   A_k = −gravity + Σ_{j at or above k} term_j        f_k = I_k A_k + V_k ×* (I_k V_k) − external wrench
//
// where `term(slot)` is what the joints themselves contribute to the acceleration.
template <class Term>
LITHE_INLINE void link_forces(const Model& model, const Kinematics& kin, const Vec3& gravity,
                              const ExternalWrenches& wrenches, Term term, Lanes<6>& A_parent, Lanes<6>& A,
                              Lanes<6>& momentum, Lanes<6>& F) {
  const DofTree& tree = model.tree();
  // Gravity enters as if the world accelerated upwards.
  const Motion<double> root = {{0, 0, 0}, {-gravity.x(), -gravity.y(), -gravity.z()}};
  sum_outwards(tree, root, term, A_parent, A);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Inertia10<Pack> I = load_inertia(kin.I, s);
    const Motion<Pack> V = load_motion(kin.V, s);
    const Force<Pack> IV = I * V;
    store(momentum, s, IV);
    store(F, s, I * load_motion(A, s) + cross(V, IV));
  }
  if (!wrenches.empty()) subtract_wrenches(model, kin, wrenches, F);
}

}  // namespace lithe::internal

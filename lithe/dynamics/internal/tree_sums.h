#pragma once

#include "lithe/model/dof_tree.h"
#include "lithe/spatial/internal/lane_algebra.h"

namespace lithe::internal {

// The two ways numbers travel along a tree of DoFs, four DoFs at a time: running sums from the roots outwards
// (velocities, accelerations) and sums over subtrees from the leaves inwards (forces, composite inertias).

// Inside one ball joint there is no "before the second column": its three DoFs share what lies before the joint
// and what lies behind it.
inline void share_within_balls(const DofTree& tree, Lanes<6>& before, Lanes<6>& behind) {
  for (const int dof : tree.balls) {
    const int s = tree.slot[dof];
    for (int k = 0; k < 6; ++k) {
      before.at(k, s + 1) = before.at(k, s + 2) = before.at(k, s);
      behind.at(k, s) = behind.at(k, s + 1) = behind.at(k, s + 2);
    }
  }
}

// behind_i = root + Σ_{j at or above i} term_j and before_i = the same without i's own joint. `term(slot)` gives
// the motions of four slots.
template <class Term>
LITHE_INLINE void sum_outwards(const DofTree& tree, const Motion<double>& root, Term term, Lanes<6>& before,
                               Lanes<6>& behind) {
  const double root_rows[6] = {root.w.x, root.w.y, root.w.z, root.v.x, root.v.y, root.v.z};
  for (const DofTree::Chain& chain : tree.chains) {
    Pack carry[6];
    for (int k = 0; k < 6; ++k) {
      carry[k] = broadcast(chain.parent_slot < 0 ? root_rows[k] : behind.at(k, chain.parent_slot));
    }
    for (int s = chain.first_slot; s < chain.first_slot + chain.dof_count; s += kLanes) {
      const Motion<Pack> m = term(s);
      const Pack rows[6] = {m.w.x, m.w.y, m.w.z, m.v.x, m.v.y, m.v.z};
      for (int k = 0; k < 6; ++k) {
        const Pack sum = running_sum(rows[k]) + carry[k];
        before.pack(k, s) = shift_in(carry[k], sum);
        behind.pack(k, s) = sum;
        carry[k] = broadcast_last(sum);
      }
    }
  }
  share_within_balls(tree, before, behind);
}

// x_i becomes Σ_{j at or below i} x_j.
template <int Rows>
LITHE_INLINE void sum_inwards(const DofTree& tree, Lanes<Rows>& x) {
  for (std::size_t c = tree.chains.size(); c-- > 0;) {
    const DofTree::Chain& chain = tree.chains[c];
    Pack carry[Rows] = {};
    for (int s = chain.first_slot + padded(chain.dof_count) - kLanes; s >= chain.first_slot; s -= kLanes) {
      for (int k = 0; k < Rows; ++k) {
        const Pack sum = reverse_running_sum(x.pack(k, s)) + carry[k];
        x.pack(k, s) = sum;
        carry[k] = broadcast_first(sum);
      }
    }
    if (chain.parent_slot < 0) continue;
    for (int k = 0; k < Rows; ++k) x.at(k, chain.parent_slot) += carry[k][0];
  }
}

// Between vectors over DoFs and numbers by slot. Chains are contiguous on both sides, and short: whole packs, then the rest.
LITHE_INLINE void copy_chain(const double* from, int count, double* to) {
  int k = 0;
  for (; k + kLanes <= count; k += kLanes) store_anywhere(to + k, load_anywhere(from + k));
  for (; k < count; ++k) to[k] = from[k];
}
inline void dofs_to_slots(const DofTree& tree, const double* dofs, Lanes<1>& slots) {
  for (const DofTree::Chain& chain : tree.chains) {
    copy_chain(dofs + chain.first_dof, chain.dof_count, slots.data() + chain.first_slot);
  }
}
inline void slots_to_dofs(const DofTree& tree, const Lanes<1>& slots, double* dofs) {
  for (const DofTree::Chain& chain : tree.chains) {
    copy_chain(slots.data() + chain.first_slot, chain.dof_count, dofs + chain.first_dof);
  }
}
inline void add_slots_to_dofs(const DofTree& tree, const Lanes<1>& slots, double* dofs) {
  for (const DofTree::Chain& chain : tree.chains) {
    for (int k = 0; k < chain.dof_count; ++k) dofs[chain.first_dof + k] += slots.data()[chain.first_slot + k];
  }
}

}  // namespace lithe::internal

#include "lithe/dynamics/internal/inverse_dynamics_products.h"

#include "lithe/dynamics/internal/slot_vectors.h"
#include "lithe/dynamics/internal/stage_check.h"
#include "lithe/dynamics/internal/tree_sums.h"
#include "lithe/model/configuration.h"

namespace lithe::internal {

namespace {

// With V = (ω, u), I V = (n, f) and h = m·c, a link's 2B = [C 0; −2[f]× 0] where, for any w,
//
//   C w = 2 (ω × (I w − ½ tr(I) w) − h × (u × w)),      Cᵀ w = C w + 2 n × w
//
// This is what store_B in inverse_dynamics_derivatives.cpp says in entries: ω × I w − I (ω × w) + (I ω) × w
// = 2 ω × I w + 2 (I ω) × w − tr(I) ω × w for symmetric I, and Jacobi's identity merges the terms with h.
LITHE_INLINE Vector3<Pack> half_C(const Inertia10<Pack>& I, const Motion<Pack>& V, const Vector3<Pack>& w) {
  const Pack half_trace = 0.5 * (I.xx + I.yy + I.zz);
  const Vector3<Pack> Iw = {I.xx * w.x + I.xy * w.y + I.xz * w.z, I.xy * w.x + I.yy * w.y + I.yz * w.z,
                            I.xz * w.x + I.yz * w.y + I.zz * w.z};
  return cross(V.w, Iw - half_trace * w) - cross(I.h, cross(V.v, w));
}

// The upper half of T (wrench_derivatives) without its right block −[f]×, which cancels against w in both products.
struct LeftBlock {
  Vector3<Pack> row_x, row_y, row_z;
};

LITHE_INLINE LeftBlock load_left(const Lanes<18>& T, int s) {
  return {load_vector(T, s, 0), load_vector(T, s, 6), load_vector(T, s, 12)};
}

// One slot's motion in all four lanes.
LITHE_INLINE Motion<Pack> broadcast_slot(const Lanes<6>& lanes, int slot) {
  const Motion<double> m = motion_at(lanes, slot);
  return {{broadcast(m.w.x), broadcast(m.w.y), broadcast(m.w.z)},
          {broadcast(m.v.x), broadcast(m.v.y), broadcast(m.v.z)}};
}

// Stores the running sum of four slots' own motions on top of what came before, and returns its end in all lanes.
LITHE_INLINE Motion<Pack> carry_on(const Motion<Pack>& carry, const Motion<Pack>& own, Lanes<6>& sums, int s) {
  const Motion<Pack> sum = carry + Motion<Pack>{{running_sum(own.w.x), running_sum(own.w.y), running_sum(own.w.z)},
                                                {running_sum(own.v.x), running_sum(own.v.y), running_sum(own.v.z)}};
  store(sums, s, sum);
  return {{broadcast_last(sum.w.x), broadcast_last(sum.w.y), broadcast_last(sum.w.z)},
          {broadcast_last(sum.v.x), broadcast_last(sum.v.y), broadcast_last(sum.v.z)}};
}

void check_stages(const Model& model, const Kinematics& kin, const InverseDynamics& id) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  check_stage(model, id.layout, "InverseDynamics", "rnea()");
}

void resize(const Model& model, InverseDynamicsVjp& d) {
  if (!d.layout.changed(model.tree())) return;
  const int slots = model.tree().slot_count;
  d.q.resize(model.nv());
  d.v.resize(model.nv());
  d.G.resize(slots);
  d.G_parent.resize(slots);
  d.q_slots.resize(slots);
  d.v_slots.resize(slots);
  d.g.resize_zero(slots);
  d.P_m.resize(slots);
}

void resize(const Model& model, InverseDynamicsJvp& d) {
  if (!d.layout.changed(model.tree())) return;
  const int slots = model.tree().slot_count;
  d.tau.resize(model.nv());
  d.Theta.resize(slots);
  d.tau_slots.resize(slots);
  d.dq.resize_zero(slots);
  d.dv.resize_zero(slots);
  d.da.resize_zero(slots);
  d.V.resize(slots);
  d.A.resize(slots);
  d.F.resize(slots);
}

// P and m / 2 of each link, summed over subtrees.
void subtree_momenta(const DofTree& tree, const Kinematics& kin, const InverseDynamics& id, InverseDynamicsVjp& d) {
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Inertia10<Pack> I = load_inertia(kin.I, s);
    const Force<Pack> IV = load_force(id.momentum, s);
    const Motion<Pack> G = load_motion(d.G, s);
    const Force<Pack> P = I * G;
    store_vector(d.P_m, s, P.n);
    store_vector(d.P_m, s, P.f, 3);
    store_vector(d.P_m, s, half_C(I, load_motion(kin.V, s), G.w) + cross(IV.n, G.w) + cross(IV.f, G.v), 6);
  }
  sum_inwards(tree, d.P_m);
}

// The two formulas of the header, with crosses moved over to the forces: (V × m) · F = −m · (V ×* F).
void pair_dofs(const DofTree& tree, const Kinematics& kin, const InverseDynamics& id, InverseDynamicsVjp& d) {
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Motion<Pack> S = load_motion(kin.S, s);
    const Motion<Pack> Psi_dot = load_motion(kin.Psi_dot, s);
    const Force<Pack> P = {load_vector(d.P_m, s), load_vector(d.P_m, s, 3)};
    const Vector3<Pack> half_m = load_vector(d.P_m, s, 6);
    const Force<Pack> AP_plus_GF =
        cross(load_motion(id.A_parent, s), P) + cross(load_motion(d.G_parent, s), load_force(id.F, s));
    d.q_slots.pack(0, s) =
        2.0 * dot(Psi_dot.w, half_m) - dot(Psi_dot, cross(load_motion(kin.V_parent, s), P)) - dot(S, AP_plus_GF);
    d.v_slots.pack(0, s) = 2.0 * dot(S.w, half_m) + dot(Psi_dot, P) - dot(S, cross(load_motion(kin.V, s), P));
  }
}

// Wrenches that keep their components while their bodies turn. gᵀ ID contains −Σ G_k · w_k; F has told how G changes,
// and told it as if w turned along. What is missing by q_j is −S_j · Σ_{k behind j} (G_k ×* w_k + T_kᵀ G_k), where the
// force halves cancel.
void add_wrenches(const Model& model, const Kinematics& kin, const ExternalWrenches& wrenches, InverseDynamicsVjp& d) {
  const DofTree& tree = model.tree();
  d.T.resize(tree.slot_count);
  d.wrench.resize(tree.slot_count);
  d.wrench_row.resize(tree.slot_count);
  wrench_derivatives(model, kin, wrenches, d.T, d.wrench);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Motion<Pack> G = load_motion(d.G, s);
    const LeftBlock T = load_left(d.T, s);
    const Vector3<Pack> TtG = G.w.x * T.row_x + G.w.y * T.row_y + G.w.z * T.row_z;
    store_vector(d.wrench_row, s, cross(G, load_force(d.wrench, s)).n + TtG);
  }
  sum_inwards(tree, d.wrench_row);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    d.q_slots.pack(0, s) -= dot(load_vector(kin.S, s), load_vector(d.wrench_row, s));
  }
}

// The sums of Θ, V' and A' from the roots outwards. The sum that a ball's first two DoFs get lacks the later ones; they
// carry no mass, so only Θ, which callers see, is mended.
void link_changes(const DofTree& tree, const Kinematics& kin, const InverseDynamics& id, InverseDynamicsJvp& d) {
  for (const DofTree::Chain& chain : tree.chains) {
    Motion<Pack> Theta = {}, V = {}, A = {};
    if (chain.parent_slot >= 0) {
      Theta = broadcast_slot(d.Theta, chain.parent_slot);
      V = broadcast_slot(d.V, chain.parent_slot);
      A = broadcast_slot(d.A, chain.parent_slot);
    }
    for (int s = chain.first_slot; s < chain.first_slot + chain.dof_count; s += kLanes) {
      const Motion<Pack> S = load_motion(kin.S, s);
      const Motion<Pack> Sdq = d.dq.pack(0, s) * S;
      const Motion<Pack> Sdv = d.dv.pack(0, s) * S;
      const Motion<Pack> own_V = d.dq.pack(0, s) * load_motion(kin.Psi_dot, s) + Sdv;
      // Ψ̈ δq + (Ψ̇ + Ṡ) δv + S δa, for Ψ̇ = V_parent × S.
      const Motion<Pack> own_A = cross(load_motion(id.A_parent, s), Sdq) + cross(load_motion(kin.V_parent, s), own_V) +
                                 cross(load_motion(kin.V, s), Sdv) + d.da.pack(0, s) * S;
      Theta = carry_on(Theta, Sdq, d.Theta, s);
      V = carry_on(V, own_V, d.V, s);
      A = carry_on(A, own_A, d.A, s);
    }
  }
  for (const int dof : tree.balls) {
    const int s = tree.slot[dof];
    for (int k = 0; k < 6; ++k) d.Theta.at(k, s) = d.Theta.at(k, s + 1) = d.Theta.at(k, s + 2);
  }
}

// f' of each link, and what its DoF's turn does to the force that passes there.
void link_force_changes(const DofTree& tree, const Kinematics& kin, const InverseDynamics& id, InverseDynamicsJvp& d) {
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Inertia10<Pack> I = load_inertia(kin.I, s);
    const Motion<Pack> V = load_motion(d.V, s);
    const Force<Pack> half_BV = {half_C(I, load_motion(kin.V, s), V.w), cross(V.w, load_vector(id.momentum, s, 3))};
    const Motion<Pack> Sdq = d.dq.pack(0, s) * load_motion(kin.S, s);
    store(d.F, s, I * load_motion(d.A, s) + broadcast(2.0) * half_BV + cross(Sdq, load_force(id.F, s)));
  }
}

// Wrenches that keep their components while their bodies turn: the change of F has let them turn by Θ ×* w, and what
// they do instead is T Θ. Θ's linear part cancels.
void add_wrenches(const Model& model, const Kinematics& kin, const ExternalWrenches& wrenches, InverseDynamicsJvp& d) {
  const DofTree& tree = model.tree();
  d.T.resize(tree.slot_count);
  d.wrench.resize(tree.slot_count);
  wrench_derivatives(model, kin, wrenches, d.T, d.wrench);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Vector3<Pack> turn = load_vector(d.Theta, s);
    const Force<Pack> w = load_force(d.wrench, s);
    const LeftBlock T = load_left(d.T, s);
    const Vector3<Pack> TTheta = {dot(T.row_x, turn), dot(T.row_y, turn), dot(T.row_z, turn)};
    store(d.F, s, load_force(d.F, s) + Force<Pack>{cross(turn, w.n) - TTheta, cross(turn, w.f)});
  }
}

void joint_force_changes(const DofTree& tree, const Kinematics& kin, InverseDynamicsJvp& d) {
  sum_inwards(tree, d.F);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    d.tau_slots.pack(0, s) =
        dot(load_motion(kin.S, s), load_force(d.F, s)) + tree.armature.pack(0, s) * d.da.pack(0, s);
  }
}

// The sums over subtrees include S_j δq_j ×* F of i's own joint, which turns along with i. That is nothing for a single
// DoF, where S_i · (S_i ×* F) = 0. Of a ball's DoFs b at or after a it is −(S_b × S_a) · F δq_b, and the axes are
// orthonormal: S₀ × S₁ = S₂ and so on.
void undo_within_balls(const DofTree& tree, const Kinematics& kin, const InverseDynamics& id, InverseDynamicsJvp& d) {
  for (const int dof : tree.balls) {
    const int s = tree.slot[dof];
    const Force<double> F = force_at(id.F, s);
    const double t0 = dot(motion_at(kin.S, s), F);
    const double t1 = dot(motion_at(kin.S, s + 1), F);
    const double t2 = dot(motion_at(kin.S, s + 2), F);
    d.tau_slots.at(0, s) += t1 * d.dq.at(0, s + 2) - t2 * d.dq.at(0, s + 1);
    d.tau_slots.at(0, s + 1) -= t0 * d.dq.at(0, s + 2);
  }
}

}  // namespace

void rnea_vjp(const Model& model, const Kinematics& kin, const InverseDynamics& id, const ConstVecRef& g,
              InverseDynamicsVjp& out, const ExternalWrenches& wrenches) {
  check_tangent(model, g, "g");
  check_stages(model, kin, id);
  const DofTree& tree = model.tree();
  resize(model, out);
  dofs_to_slots(tree, g.data(), out.g);
  const Motion<double> at_rest = {};
  sum_outwards(tree, at_rest, [&](int s) { return out.g.pack(0, s) * load_motion(kin.S, s); }, out.G_parent, out.G);
  subtree_momenta(tree, kin, id, out);
  pair_dofs(tree, kin, id, out);
  if (!wrenches.empty()) add_wrenches(model, kin, wrenches, out);
  slots_to_dofs(tree, out.q_slots, out.q.data());
  slots_to_dofs(tree, out.v_slots, out.v.data());
}

void rnea_jvp(const Model& model, const Kinematics& kin, const InverseDynamics& id, const ConstVecRef& dq,
              const ConstVecRef& dv, const ConstVecRef& da, InverseDynamicsJvp& out, const ExternalWrenches& wrenches) {
  check_tangent(model, dq, "dq");
  check_tangent(model, dv, "dv");
  if (da.size() != 0) check_tangent(model, da, "da");
  check_stages(model, kin, id);
  const DofTree& tree = model.tree();
  resize(model, out);
  dofs_to_slots(tree, dq.data(), out.dq);
  dofs_to_slots(tree, dv.data(), out.dv);
  if (da.size() != 0) {
    dofs_to_slots(tree, da.data(), out.da);
  } else {
    out.da.set_zero();
  }
  link_changes(tree, kin, id, out);
  link_force_changes(tree, kin, id, out);
  if (!wrenches.empty()) add_wrenches(model, kin, wrenches, out);
  joint_force_changes(tree, kin, out);
  undo_within_balls(tree, kin, id, out);
  slots_to_dofs(tree, out.tau_slots, out.tau.data());
}

}  // namespace lithe::internal

#include "lithe/dynamics/inverse_dynamics_derivatives.h"

#include "lithe/dynamics/tree_sums.h"

namespace lithe {

namespace {

void resize(const Model& model, InverseDynamicsDerivatives& d) {
  const DofTree& tree = model.tree();
  if (!d.layout.changed(tree)) return;
  // Entries between DoFs of which neither is above the other are zero once and for all.
  d.dtau_dq.setZero(tree.nv, tree.nv);
  d.dtau_dv.setZero(tree.nv, tree.nv);
  d.B.resize(tree.slot_count);
  d.Psi_ddot.resize(tree.slot_count);
  d.Psi_dot_plus_S_dot.resize(tree.slot_count);
  d.IS.resize(tree.slot_count);
  d.BtS.resize(tree.slot_count);
  d.column_q.resize(tree.slot_count);
  d.column_v.resize(tree.slot_count);
  for (AlignedBuffer& rows : d.path_rows) rows.resize(tree.row_storage);
}

// 2B of one link. It is almost empty: with V = (ω, u), I V = (n, f) and h = m·c,
//
//   2B = [C 0; −2[f]× 0],   C = [ω]×I − I[ω]× − [u]×[h]× − [h]×[u]× − [n]×
//
// so nine numbers and f say it all, and like inertias they add up over subtrees.
LITHE_INLINE void store_B(Lanes<12>& B, int s, const Inertia10<Pack>& I, const Motion<Pack>& V,
                          const Force<Pack>& momentum) {
  const Vector3<Pack>& w = V.w;
  const Vector3<Pack>& u = V.v;
  const Vector3<Pack>& h = I.h;
  const Vector3<Pack>& n = momentum.n;
  // [ω]×I, whose symmetric part (twice) is [ω]×I − I[ω]×; −[u]×[h]× − [h]×[u]× = 2(u·h)1 − h uᵀ − u hᵀ.
  const Vector3<Pack> wIx = cross(w, Vector3<Pack>{I.xx, I.xy, I.xz});
  const Vector3<Pack> wIy = cross(w, Vector3<Pack>{I.xy, I.yy, I.yz});
  const Vector3<Pack> wIz = cross(w, Vector3<Pack>{I.xz, I.yz, I.zz});
  const Pack uh = dot(u, h);
  const Pack xy = wIy.x + wIx.y - h.x * u.y - h.y * u.x;
  const Pack xz = wIz.x + wIx.z - h.x * u.z - h.z * u.x;
  const Pack yz = wIz.y + wIy.z - h.y * u.z - h.z * u.y;
  B.pack(0, s) = 2.0 * (wIx.x - h.x * u.x + uh);
  B.pack(1, s) = xy + n.z;
  B.pack(2, s) = xz - n.y;
  B.pack(3, s) = xy - n.z;
  B.pack(4, s) = 2.0 * (wIy.y - h.y * u.y + uh);
  B.pack(5, s) = yz + n.x;
  B.pack(6, s) = xz + n.y;
  B.pack(7, s) = yz - n.x;
  B.pack(8, s) = 2.0 * (wIz.z - h.z * u.z + uh);
  store_vector(B, s, momentum.f, 9);
}

// 2B of a subtree, as packs.
struct SubtreeB {
  Vector3<Pack> row_x, row_y, row_z;  // of C
  Vector3<Pack> two_f;
};

LITHE_INLINE SubtreeB load_B(const Lanes<12>& B, int s) {
  return {load_vector(B, s, 0), load_vector(B, s, 3), load_vector(B, s, 6), broadcast(2.0) * load_vector(B, s, 9)};
}

// 2B m depends on m's angular part only.
LITHE_INLINE Force<Pack> multiply(const SubtreeB& B, const Vector3<Pack>& w) {
  return {{dot(B.row_x, w), dot(B.row_y, w), dot(B.row_z, w)}, cross(w, B.two_f)};
}

// The upper half of 2Bᵀ m; the lower half is zero.
LITHE_INLINE Vector3<Pack> multiply_transposed(const SubtreeB& B, const Motion<Pack>& m) {
  return m.w.x * B.row_x + m.w.y * B.row_y + m.w.z * B.row_z + cross(B.two_f, m.v);
}

// What each DoF contributes to the entries in its row and its column, before pairing it with the DoFs above.
void prepare_dofs(const DofTree& tree, const Kinematics& kin, const InverseDynamics& id,
                  InverseDynamicsDerivatives& d) {
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    store_B(d.B, s, load_inertia(kin.I, s), load_motion(kin.V, s), load_force(id.momentum, s));
  }
  d.I = kin.I;
  sum_inwards(tree, d.I);
  sum_inwards(tree, d.B);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Motion<Pack> S = load_motion(kin.S, s);
    const Motion<Pack> Psi_dot = load_motion(kin.Psi_dot, s);
    const Motion<Pack> Psi_ddot = cross(load_motion(id.A_parent, s), S) + cross(load_motion(kin.V_parent, s), Psi_dot);
    const Motion<Pack> Psi_dot_plus_S_dot = Psi_dot + cross(load_motion(kin.V, s), S);
    const Inertia10<Pack> I = load_inertia(d.I, s);
    const SubtreeB B = load_B(d.B, s);
    store(d.Psi_ddot, s, Psi_ddot);
    store(d.Psi_dot_plus_S_dot, s, Psi_dot_plus_S_dot);
    store(d.IS, s, I * S);
    store_vector(d.BtS, s, multiply_transposed(B, S));
    store(d.column_q, s, multiply(B, Psi_dot.w) + I * Psi_ddot + cross(S, load_force(id.F, s)));
    store(d.column_v, s, multiply(B, S.w) + I * Psi_dot_plus_S_dot);
  }
}

// A wrench that keeps its components while the body turns: F's share of it must not follow the rule for forces that
// turn with the body. With w, T summed over the subtree, ∂τ_j/∂q_i gains S_j·(S_i ×* w − T S_i) for j above i, and
// ∂τ_i/∂q_j loses S_j·(S_i ×* w + Tᵀ S_i) for j at or above i.
void prepare_wrenches(const Model& model, const Kinematics& kin, const ExternalWrenches& wrenches,
                      InverseDynamicsDerivatives& d) {
  const DofTree& tree = model.tree();
  d.T.resize(tree.slot_count);
  d.wrench_row.resize(tree.slot_count);
  wrench_derivatives(model, kin, wrenches, d.T, d.wrench_row);
  sum_inwards(tree, d.T);
  sum_inwards(tree, d.wrench_row);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Motion<Pack> S = load_motion(kin.S, s);
    const Force<Pack> Sw = cross(S, load_force(d.wrench_row, s));
    Vector3<Pack> TS = {};
    Force<Pack> TtS = {};
    Pack* const upper[3] = {&TS.x, &TS.y, &TS.z};
    const Pack rows_of_S[3] = {S.w.x, S.w.y, S.w.z};
    for (int r = 0; r < 3; ++r) {
      const Vector3<Pack> left = load_vector(d.T, s, 6 * r), right = load_vector(d.T, s, 6 * r + 3);
      *upper[r] = dot(left, S.w) + dot(right, S.v);
      TtS = TtS + rows_of_S[r] * Force<Pack>{left, right};
    }
    store(d.column_q, s, load_force(d.column_q, s) + Sw - Force<Pack>{TS, {}});
    store(d.wrench_row, s, Sw + TtS);
  }
}

LITHE_INLINE Pack dot_with(const Motion<Pack>& m, const Lanes<6>& forces, int s) {
  return m.w.x * forces.at(0, s) + m.w.y * forces.at(1, s) + m.w.z * forces.at(2, s) + m.v.x * forces.at(3, s) +
         m.v.y * forces.at(4, s) + m.v.z * forces.at(5, s);
}
LITHE_INLINE Pack dot_with(const Vector3<Pack>& m, const Lanes<3>& forces, int s) {
  return m.x * forces.at(0, s) + m.y * forces.at(1, s) + m.z * forces.at(2, s);
}

// Pairs each DoF i of a chain with every DoF j on its path, four j at a time.
template <bool WithWrenches>
void pair_chain(const DofTree& tree, const DofTree::Chain& chain, const Kinematics& kin,
                InverseDynamicsDerivatives& d) {
  auto& [column_q, column_v, row_q, row_v] = d.path_rows;
  for (int g = 0; g < chain.path_length / kLanes; ++g) {
    const int group = tree.path_groups[chain.first_group + g];
    const Motion<Pack> S = load_motion(kin.S, group);
    const Vector3<Pack> Psi_dot_w = load_vector(kin.Psi_dot, group);
    const Motion<Pack> Psi_ddot = load_motion(d.Psi_ddot, group);
    const Motion<Pack> Psi_dot_plus_S_dot = load_motion(d.Psi_dot_plus_S_dot, group);
    int at = tree.row_start[chain.first_dof] + kLanes * g;
    for (int i = 0; i < chain.dof_count; ++i, at += chain.path_length) {
      const int s = chain.first_slot + i;
      as_pack(&column_q[at]) = dot_with(S, d.column_q, s);
      as_pack(&column_v[at]) = dot_with(S, d.column_v, s);
      Pack by_q = dot_with(Psi_dot_w, d.BtS, s) + dot_with(Psi_ddot, d.IS, s);
      if constexpr (WithWrenches) by_q -= dot_with(S, d.wrench_row, s);
      as_pack(&row_q[at]) = by_q;
      as_pack(&row_v[at]) = dot_with(S.w, d.BtS, s) + dot_with(Psi_dot_plus_S_dot, d.IS, s);
    }
  }
}

// Spreads the path rows over the dense matrices. The DoFs of one joint pair by the row formula only.
void scatter_chain(const DofTree& tree, const DofTree::Chain& chain, InverseDynamicsDerivatives& d) {
  auto& [column_q, column_v, row_q, row_v] = d.path_rows;
  const Eigen::Index nv = tree.nv;
  for (int i = chain.first_dof; i < chain.first_dof + chain.dof_count; ++i) {
    double* dq = d.dtau_dq.data();
    double* dv = d.dtau_dv.data();
    for (const DofTree::Chain* above = &chain;; above = &tree.chains[above->parent]) {
      const int at = tree.row_start[i] + above->path_begin;
      const bool own = above == &chain;
      const int strictly_above = own ? tree.joint_begin[i] - chain.first_dof : above->dof_count;
      const int at_or_above = own ? tree.joint_end[i] - chain.first_dof : above->dof_count;
      double* column_of_i_q = dq + i * nv + above->first_dof;
      double* column_of_i_v = dv + i * nv + above->first_dof;
      for (int k = 0; k < strictly_above; ++k) {
        column_of_i_q[k] = column_q[at + k];
        column_of_i_v[k] = column_v[at + k];
      }
      double* row_of_i_q = dq + above->first_dof * nv + i;
      double* row_of_i_v = dv + above->first_dof * nv + i;
      for (int k = 0; k < at_or_above; ++k) {
        row_of_i_q[k * nv] = row_q[at + k];
        row_of_i_v[k * nv] = row_v[at + k];
      }
      if (above->parent < 0) break;
    }
  }
}

}  // namespace

void rnea_derivatives(const Model& model, const Kinematics& kin, const InverseDynamics& id,
                      InverseDynamicsDerivatives& out, const ExternalWrenches& wrenches) {
  const DofTree& tree = model.tree();
  resize(model, out);
  prepare_dofs(tree, kin, id, out);
  if (!wrenches.empty()) prepare_wrenches(model, kin, wrenches, out);
  for (const DofTree::Chain& chain : tree.chains) {
    if (wrenches.empty()) {
      pair_chain<false>(tree, chain, kin, out);
    } else {
      pair_chain<true>(tree, chain, kin, out);
    }
    scatter_chain(tree, chain, out);
  }
}

}  // namespace lithe

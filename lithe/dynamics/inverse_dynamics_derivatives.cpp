#include "lithe/dynamics/inverse_dynamics_derivatives.h"

#include "lithe/dynamics/internal/stage_check.h"
#include "lithe/dynamics/internal/tree_sums.h"

namespace lithe {

using namespace internal;

namespace {

void resize(const Model& model, InverseDynamicsDerivatives& d) {
  const DofTree& tree = model.tree();
  if (!d.layout.changed(tree)) return;
  d.dtau_dq.resize(0, 0);
  d.dtau_dv.resize(0, 0);
  d.B.resize(tree.slot_count);
  d.Psi_ddot.resize(tree.slot_count);
  d.Psi_dot_plus_S_dot.resize(tree.slot_count);
  d.IS.resize(tree.slot_count);
  d.BtS.resize(tree.slot_count);
  d.column_q.resize(tree.slot_count);
  d.column_v.resize(tree.slot_count);
  // Entries between DoFs of which neither is above the other are zero once and for all.
  d.columns_q.assign(tree.column_storage, 0.0);
  d.columns_v.assign(tree.column_storage, 0.0);
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

void sum_inertias(const DofTree& tree, const Kinematics& kin, InverseDynamicsDerivatives& d) {
  d.I = kin.I;
  sum_inwards(tree, d.I);
  for (int s = 0; s < tree.slot_count; s += kLanes) store(d.IS, s, load_inertia(d.I, s) * load_motion(kin.S, s));
}

// What each DoF contributes to the entries in its row and its column, before pairing it with the DoFs above.
void prepare_dofs(const DofTree& tree, const Kinematics& kin, const InverseDynamics& id, double mass_rate,
                  const Lanes<10>& composite, InverseDynamicsDerivatives& d) {
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    store_B(d.B, s, load_inertia(kin.I, s), load_motion(kin.V, s), load_force(id.momentum, s));
  }
  sum_inwards(tree, d.B);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Motion<Pack> S = load_motion(kin.S, s);
    const Motion<Pack> Psi_dot = load_motion(kin.Psi_dot, s);
    const Motion<Pack> Psi_ddot = cross(load_motion(id.A_parent, s), S) + cross(load_motion(kin.V_parent, s), Psi_dot);
    // I S_j is M's column, so M comes with the same products.
    const Motion<Pack> Psi_dot_plus_S_dot = Psi_dot + cross(load_motion(kin.V, s), S) - broadcast(mass_rate) * S;
    const Inertia10<Pack> I = load_inertia(composite, s);
    const SubtreeB B = load_B(d.B, s);
    store(d.Psi_ddot, s, Psi_ddot);
    store(d.Psi_dot_plus_S_dot, s, Psi_dot_plus_S_dot);
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

// The numbers of one slot, kLanes apart, to be combined with packs of others. All Lanes<6> have them at the same place.
struct OneSlot {
  std::ptrdiff_t place;
  explicit OneSlot(int slot) : place((slot - slot % kLanes) * 6 + slot % kLanes) {}
};
LITHE_INLINE Pack dot_angular(const double* lanes, OneSlot one, const Vector3<Pack>& n) {
  const double* x = lanes + one.place;
  return x[0] * n.x + x[kLanes] * n.y + x[2 * kLanes] * n.z;
}
LITHE_INLINE Pack dot(const double* lanes, OneSlot one, const Motion<Pack>& m) {
  const double* x = lanes + one.place;
  return (x[0] * m.w.x + x[kLanes] * m.w.y + x[2 * kLanes] * m.w.z) +
         (x[3 * kLanes] * m.v.x + x[4 * kLanes] * m.v.y + x[5 * kLanes] * m.v.z);
}
LITHE_INLINE Pack dot(const double* lanes, OneSlot one, const Force<Pack>& F) {
  return dot(lanes, one, Motion<Pack>{F.n, F.f});
}

// Rows are DoFs of the whole model here, so the pointers count from its first. Chains are not padded in these columns: a chain's
// last pack reaches into the next one's rows. It writes zeros there, which is right for a chain of another branch; rows of this
// branch are written later, since all go downwards.

// ∂τ_j by the chain's DoFs i, for all j strictly above i: four j at a time.
void fill_above(const DofTree& tree, const DofTree::Chain& chain, const Kinematics& kin,
                const InverseDynamicsDerivatives& d, double* to_q, double* to_v) {
  const int stride = tree.trees[chain.tree].column_stride;
  const double* const column_q = d.column_q.data();
  const double* const column_v = d.column_v.data();
  for (int g = 0; g < chain.path_length / kLanes; ++g) {
    const int group = tree.path_groups[chain.first_group + g];
    const Motion<Pack> S = load_motion(kin.S, group);
    // In the chain itself, only the DoFs with something of this group above them.
    const int first = group < chain.first_slot ? 0 : group - chain.first_slot + 1;
    const int row = tree.group_dof[group / kLanes];
    double* q = to_q + first * stride + row;
    double* v = to_v + first * stride + row;
    const int end = chain.first_slot + chain.dof_count;
    for (int s = chain.first_slot + first; s < end; ++s, q += stride, v += stride) {
      const OneSlot one(s);
      store_anywhere(q, dot(column_q, one, S));
      store_anywhere(v, dot(column_v, one, S));
    }
  }
}

// ∂τ_i by the chain's DoFs j, for all i in j's joint or below it: four i at a time.
template <bool WithWrenches>
void fill_below(const DofTree& tree, const DofTree::Chain& chain, const Kinematics& kin, const Lanes<6>& momenta,
                const InverseDynamicsDerivatives& d, double* to_q, double* to_v) {
  const int stride = tree.trees[chain.tree].column_stride;
  const double* const S = kin.S.data();
  const double* const Psi_dot = kin.Psi_dot.data();
  const double* const Psi_ddot = d.Psi_ddot.data();
  const double* const Psi_dot_plus_S_dot = d.Psi_dot_plus_S_dot.data();
  const int* const joint_begin = tree.joint_begin.data() + chain.first_dof;
  for (int group = chain.first_slot; group < chain.subtree_slot_end; group += kLanes) {
    const Force<Pack> IS = load_force(momenta, group);
    const Vector3<Pack> BtS = load_vector(d.BtS, group);
    const int row = tree.group_dof[group / kLanes];
    double* q = to_q + row;
    double* v = to_v + row;
    for (int j = 0; j < chain.dof_count; ++j, q += stride, v += stride) {
      // How many of these rows lie above j's joint and are not ours.
      const int above = chain.first_slot + joint_begin[j] - chain.first_dof - group;
      if (above >= kLanes) continue;
      const OneSlot one(chain.first_slot + j);
      Pack by_q = dot_angular(Psi_dot, one, BtS) + dot(Psi_ddot, one, IS);
      if constexpr (WithWrenches) by_q -= dot(S, one, load_force(d.wrench_row, group));
      const Pack by_v = dot_angular(S, one, BtS) + dot(Psi_dot_plus_S_dot, one, IS);
      store_anywhere(q, above <= 0 ? by_q : select_below(above, load_anywhere(q), by_q));
      store_anywhere(v, above <= 0 ? by_v : select_below(above, load_anywhere(v), by_v));
    }
  }
}

void to_dense(const DofTree& tree, const AlignedBuffer& columns, MatX& dense) {
  // Different trees do not depend on one another, once and for all.
  if (dense.rows() != tree.nv) dense.setZero(tree.nv, tree.nv);
  for (const DofTree::Tree& part : tree.trees) {
    using Strided = Eigen::Map<const MatX, 0, Eigen::OuterStride<>>;
    dense.block(part.first_dof, part.first_dof, part.dof_count, part.dof_count) =
        Strided(&columns[tree.column_start[part.first_dof]], part.dof_count, part.dof_count,
                Eigen::OuterStride<>(part.column_stride));
  }
}

}  // namespace

void prepare_derivative_columns(const Model& model, const Kinematics& kin, const InverseDynamics& id, double mass_rate,
                                const MassMatrix& M, InverseDynamicsDerivatives& out,
                                const ExternalWrenches& wrenches) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  check_stage(model, id.layout, "InverseDynamics", "rnea()");
  check_stage(model, M.layout, "MassMatrix", "mass_matrix()");
  resize(model, out);
  prepare_dofs(model.tree(), kin, id, mass_rate, M.I, out);
  out.with_wrenches = !wrenches.empty();
  if (out.with_wrenches) prepare_wrenches(model, kin, wrenches, out);
}

void write_derivative_columns(const DofTree& tree, const DofTree::Chain& chain, const Kinematics& kin,
                              const Lanes<6>& momenta, const InverseDynamicsDerivatives& d, double* q, double* v) {
  const int first_dof = tree.trees[chain.tree].first_dof;
  q -= first_dof;
  v -= first_dof;
  fill_above(tree, chain, kin, d, q, v);
  if (d.with_wrenches) {
    fill_below<true>(tree, chain, kin, momenta, d, q, v);
  } else {
    fill_below<false>(tree, chain, kin, momenta, d, q, v);
  }
}

void rnea_derivative_columns(const Model& model, const Kinematics& kin, const InverseDynamics& id,
                             InverseDynamicsDerivatives& out, const ExternalWrenches& wrenches) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  check_stage(model, id.layout, "InverseDynamics", "rnea()");
  const DofTree& tree = model.tree();
  resize(model, out);
  sum_inertias(tree, kin, out);
  prepare_dofs(tree, kin, id, 0, out.I, out);
  out.with_wrenches = !wrenches.empty();
  if (out.with_wrenches) prepare_wrenches(model, kin, wrenches, out);
  for (const DofTree::Chain& chain : tree.chains) {
    const int start = tree.column_start[chain.first_dof];
    write_derivative_columns(tree, chain, kin, out.IS, out, &out.columns_q[start], &out.columns_v[start]);
  }
}

void rnea_derivatives(const Model& model, const Kinematics& kin, const InverseDynamics& id,
                      InverseDynamicsDerivatives& out, const ExternalWrenches& wrenches) {
  rnea_derivative_columns(model, kin, id, out, wrenches);
  to_dense(model.tree(), out.columns_q, out.dtau_dq);
  to_dense(model.tree(), out.columns_v, out.dtau_dv);
}

}  // namespace lithe

#include "lithe/dynamics/forward_dynamics.h"

#include "lithe/dynamics/internal/link_forces.h"
#include "lithe/dynamics/internal/singular_pivot.h"
#include "lithe/dynamics/internal/stage_check.h"
#include "lithe/model/configuration.h"

namespace lithe {

using namespace internal;

namespace {

using SixPack = ForwardDynamics::SixPack;
using Elimination = ForwardDynamics::Elimination;
using Handover = ForwardDynamics::Handover;

LITHE_INLINE SixPack operator+(const SixPack& a, const SixPack& b) {
  return {a.angular + b.angular, a.linear + b.linear};
}
LITHE_INLINE SixPack operator-(const SixPack& a, const SixPack& b) {
  return {a.angular - b.angular, a.linear - b.linear};
}
LITHE_INLINE SixPack operator*(double s, const SixPack& a) { return {s * a.angular, s * a.linear}; }
LITHE_INLINE double dot(const SixPack& a, const SixPack& b) {
  return lane_sum(a.angular * b.angular + a.linear * b.linear);
}

void prepare(const Model& model, const Kinematics& kin, ForwardDynamics& fd) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  const DofTree& tree = model.tree();
  if (!fd.layout.changed(tree)) return;
  fd.a.resize(tree.nv);
  fd.A_parent.resize(tree.slot_count);
  fd.A.resize(tree.slot_count);
  fd.momentum.resize(tree.slot_count);
  fd.F.resize(tree.slot_count);
  fd.singular.resize(tree.slot_count);
  fd.eliminations.resize(tree.slot_count);
  fd.handovers.resize(tree.chains.size());
}

void singular_pivots(const DofTree& tree, const Kinematics& kin, ForwardDynamics& fd) {
  fd.I = kin.I;
  sum_inwards(tree, fd.I);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    fd.singular.pack(0, s) = singular_pivot(load_motion(kin.S, s), load_inertia(fd.I, s), tree.armature.pack(0, s));
  }
}

// From lanes (four DoFs side by side) to whole six-vectors.
LITHE_INLINE void unpack(const Lanes<6>& lanes, int s, SixPack (&out)[kLanes]) {
  Pack w[4] = {lanes.pack(0, s), lanes.pack(1, s), lanes.pack(2, s), Pack{}};
  Pack v[4] = {lanes.pack(3, s), lanes.pack(4, s), lanes.pack(5, s), Pack{}};
  transpose(w[0], w[1], w[2], w[3]);
  transpose(v[0], v[1], v[2], v[3]);
  for (int k = 0; k < kLanes; ++k) out[k] = {w[k], v[k]};
}

void gather_dofs(const DofTree& tree, const Kinematics& kin, ForwardDynamics& fd) {
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    SixPack axes[kLanes], forces[kLanes];
    unpack(kin.S, s, axes);
    unpack(fd.F, s, forces);
    for (int k = 0; k < kLanes; ++k) {
      fd.eliminations[s + k].S = axes[k];
      fd.eliminations[s + k].force = forces[k];
    }
  }
}

// Adds a link's inertia [I, [h]×; −[h]×, m] to an articulated one.
LITHE_INLINE void add_link(const Lanes<10>& links, int s, SixPack (&inertia)[6]) {
  const double m = links.at(0, s), x = links.at(1, s), y = links.at(2, s), z = links.at(3, s);
  const double xx = links.at(4, s), xy = links.at(5, s), xz = links.at(6, s);
  const double yy = links.at(7, s), yz = links.at(8, s), zz = links.at(9, s);
  inertia[0] = inertia[0] + SixPack{{xx, xy, xz, 0}, {0, -z, y, 0}};
  inertia[1] = inertia[1] + SixPack{{xy, yy, yz, 0}, {z, 0, -x, 0}};
  inertia[2] = inertia[2] + SixPack{{xz, yz, zz, 0}, {-y, x, 0, 0}};
  inertia[3] = inertia[3] + SixPack{{0, z, -y, 0}, {m, 0, 0, 0}};
  inertia[4] = inertia[4] + SixPack{{-z, 0, x, 0}, {0, m, 0, 0}};
  inertia[5] = inertia[5] + SixPack{{y, -x, 0, 0}, {0, 0, m, 0}};
}

// One chain from its tip inwards. The articulated inertia stays in registers all the way.
//
//   U = I_A S,  D = Sᵀ U + armature,  u = τ − S·p,  and what is felt further in:  I_A −= U Uᵀ/D,  p += U u/D
void eliminate_chain(const DofTree& tree, const DofTree::Chain& chain, const Kinematics& kin, const ConstVecRef& tau,
                     ForwardDynamics& fd) {
  const Handover& tip = fd.handovers[&chain - tree.chains.data()];
  SixPack inertia[6];
  for (int k = 0; k < 6; ++k) inertia[k] = tip.inertia[k];
  SixPack force = tip.force;
  for (int i = chain.dof_count - 1; i >= 0; --i) {
    const int s = chain.first_slot + i;
    const int dof = chain.first_dof + i;
    Elimination& e = fd.eliminations[s];
    add_link(kin.I, s, inertia);
    force = force + e.force;
    // By symmetry I_A S is the rows of I_A weighted with S.
    const SixPack U = (e.S.angular[0] * inertia[0] + e.S.angular[1] * inertia[1] + e.S.angular[2] * inertia[2]) +
                      (e.S.linear[0] * inertia[3] + e.S.linear[1] * inertia[4] + e.S.linear[2] * inertia[5]);
    const double pivot = dot(e.S, U) + tree.armature.at(0, s);
    double inverse = 1 / pivot;
    if (!(pivot > fd.singular.at(0, s))) [[unlikely]] {
      inverse = 0;
      fd.singular_dof = dof;
    }
    const double u = tau[dof] - dot(e.S, force);
    const SixPack scaled = inverse * U;
    for (int k = 0; k < 3; ++k) {
      inertia[k] = inertia[k] - U.angular[k] * scaled;
      inertia[3 + k] = inertia[3 + k] - U.linear[k] * scaled;
    }
    force = force + u * scaled;
    e.U = U;
    e.u = u;
    e.pivot_inverse = inverse;
  }
  if (chain.parent < 0) return;
  Handover& parent = fd.handovers[chain.parent];
  for (int k = 0; k < 6; ++k) parent.inertia[k] = parent.inertia[k] + inertia[k];
  parent.force = parent.force + force;
}

// One chain outwards: a_i = (u − U·α)/D, α += S a_i.
void accelerate_chain(const DofTree& tree, const DofTree::Chain& chain, ForwardDynamics& fd) {
  SixPack alpha = chain.parent < 0 ? SixPack{} : fd.handovers[chain.parent].acceleration;
  for (int i = 0; i < chain.dof_count; ++i) {
    const Elimination& e = fd.eliminations[chain.first_slot + i];
    const double a = (e.u - dot(e.U, alpha)) * e.pivot_inverse;
    fd.a[chain.first_dof + i] = a;
    alpha = alpha + a * e.S;
  }
  fd.handovers[&chain - tree.chains.data()].acceleration = alpha;
}

}  // namespace

void aba(const Model& model, const Kinematics& kin, const ConstVecRef& tau, ForwardDynamics& fd,
         const ExternalWrenches& wrenches) {
  check_tangent(model, tau, "tau");
  prepare(model, kin, fd);
  fd.singular_dof = -1;
  const DofTree& tree = model.tree();
  const auto own_acceleration = [&](int s) { return kin.v.pack(0, s) * load_motion(kin.Psi_dot, s); };
  link_forces(model, kin, model.gravity(), wrenches, own_acceleration, fd.A_parent, fd.A, fd.momentum, fd.F);
  singular_pivots(tree, kin, fd);
  gather_dofs(tree, kin, fd);
  for (Handover& handover : fd.handovers) handover = Handover{};
  for (std::size_t c = tree.chains.size(); c-- > 0;) eliminate_chain(tree, tree.chains[c], kin, tau, fd);
  for (const DofTree::Chain& chain : tree.chains) accelerate_chain(tree, chain, fd);
}

VecX forward_dynamics(const Model& model, const ConstVecRef& q, const ConstVecRef& v, const ConstVecRef& tau,
                      const ExternalWrenches& wrenches) {
  Kinematics kin;
  ForwardDynamics fd;
  kinematics(model, q, v, kin);
  aba(model, kin, tau, fd, wrenches);
  return fd.a;
}

}  // namespace lithe

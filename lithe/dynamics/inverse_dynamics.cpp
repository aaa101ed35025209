#include "lithe/dynamics/inverse_dynamics.h"

#include "lithe/dynamics/internal/link_forces.h"
#include "lithe/dynamics/internal/stage_check.h"
#include "lithe/model/configuration.h"

namespace lithe {

using namespace internal;

namespace {

void prepare(const Model& model, const Kinematics& kin, InverseDynamics& id) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  if (!id.layout.changed(model.tree())) return;
  const int slots = model.tree().slot_count;
  id.tau.resize(model.nv());
  id.A.resize(slots);
  id.A_parent.resize(slots);
  id.momentum.resize(slots);
  id.F.resize(slots);
  id.a.resize(slots);
  id.tau_slots.resize(slots);
}

// The inward half: F summed over subtrees, τ = S·F + armature·a.
void joint_forces(const DofTree& tree, const Kinematics& kin, InverseDynamics& id) {
  sum_inwards(tree, id.F);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    id.tau_slots.pack(0, s) =
        dot(load_motion(kin.S, s), load_force(id.F, s)) + tree.armature.pack(0, s) * id.a.pack(0, s);
  }
  slots_to_dofs(tree, id.tau_slots, id.tau.data());
}

void accelerate(const Model& model, const Kinematics& kin, const ConstVecRef& a, const ExternalWrenches& wrenches,
                InverseDynamics& id) {
  check_tangent(model, a, "a");
  prepare(model, kin, id);
  dofs_to_slots(model.tree(), a.data(), id.a);
  const auto own_acceleration = [&](int s) {
    return id.a.pack(0, s) * load_motion(kin.S, s) + kin.v.pack(0, s) * load_motion(kin.Psi_dot, s);
  };
  link_forces(model, kin, model.gravity(), wrenches, own_acceleration, id.A_parent, id.A, id.momentum, id.F);
}

void subtract(const DofTree& tree, const Lanes<6>& link_wrenches, Lanes<6>& F) {
  for (int s = 0; s < tree.slot_count; s += kLanes) store(F, s, load_force(F, s) - load_force(link_wrenches, s));
}

}  // namespace

void rnea(const Model& model, const Kinematics& kin, const ConstVecRef& a, InverseDynamics& id,
          const ExternalWrenches& wrenches) {
  accelerate(model, kin, a, wrenches, id);
  joint_forces(model.tree(), kin, id);
}

void rnea_forces(const Model& model, const Kinematics& kin, const ConstVecRef& a, const Lanes<6>& link_wrenches,
                 InverseDynamics& id, const ExternalWrenches& wrenches) {
  accelerate(model, kin, a, wrenches, id);
  subtract(model.tree(), link_wrenches, id.F);
  sum_inwards(model.tree(), id.F);
}

void bias_forces(const Model& model, const Kinematics& kin, InverseDynamics& id, const ExternalWrenches& wrenches) {
  prepare(model, kin, id);
  id.a.set_zero();
  const auto own_acceleration = [&](int s) { return kin.v.pack(0, s) * load_motion(kin.Psi_dot, s); };
  link_forces(model, kin, model.gravity(), wrenches, own_acceleration, id.A_parent, id.A, id.momentum, id.F);
  joint_forces(model.tree(), kin, id);
}

VecX inverse_dynamics(const Model& model, const ConstVecRef& q, const ConstVecRef& v, const ConstVecRef& a,
                      const ExternalWrenches& wrenches) {
  Kinematics kin;
  InverseDynamics id;
  kinematics(model, q, v, kin);
  rnea(model, kin, a, id, wrenches);
  return id.tau;
}

VecX gravity_compensation(const Model& model, const ConstVecRef& q, const ExternalWrenches& wrenches) {
  Kinematics kin;
  InverseDynamics id;
  kinematics(model, q, kin);
  bias_forces(model, kin, id, wrenches);
  return id.tau;
}

}  // namespace lithe

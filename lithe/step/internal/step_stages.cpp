#include "lithe/step/internal/step_stages.h"

#include "lithe/dynamics/internal/tree_sums.h"
#include "lithe/spatial/rotation.h"

namespace lithe::internal {

// Springs and dampers act as they will at the end of the step: that is M̂'s diagonal, and what they would do if v stayed is part of the
// impulse.
void find_smooth_forces(const Model& model, const StepRecord& record, StepStages& stages) {
  const DofTree& tree = model.tree();
  const double h = record.options.time_step;
  const State& state = record.state;
  bias_forces(model, stages.kin, stages.bias, record.control.wrenches);

  stages.added_diagonal.resize(tree.nv);
  stages.smooth_impulse.resize(tree.nv);
  for (int i = 0; i < tree.nv; ++i) {
    const DofTree::Resistance& r = tree.resistance[i];
    stages.added_diagonal[i] = h * (r.damping + h * r.stiffness);
    stages.smooth_impulse[i] = h * (record.control.tau[i] - stages.bias.tau[i] - r.damping * state.v[i]);
  }
  stages.spring_stretch.setZero(tree.nv);
  for (const int j : tree.sprung_joints) {
    const DofTree::TreeJoint& joint = tree.joints[j];
    const double stiffness = tree.resistance[joint.dof].stiffness;
    if (joint.type == JointType::ball) {
      const Vec4 ahead = quaternion_product(state.q.segment<4>(joint.q_index).normalized(),
                                            quaternion_exp(h * state.v.segment<3>(joint.dof)));
      const Vec4 rest = model.joints()[j].rest_orientation;
      stages.spring_stretch.segment<3>(joint.dof) =
          quaternion_log(quaternion_product(quaternion_conjugate(rest), ahead));
      stages.smooth_impulse.segment<3>(joint.dof) -= h * stiffness * stages.spring_stretch.segment<3>(joint.dof);
    } else {
      const double stretch = state.q[joint.q_index] + h * state.v[joint.dof] - tree.resistance[joint.dof].rest;
      stages.spring_stretch[joint.dof] = stretch;
      stages.smooth_impulse[joint.dof] -= h * stiffness * stretch;
    }
  }
}

void find_mass(const Model& model, StepStages& stages) {
  mass_matrix(model, stages.kin, stages.M);
  factorize(model, stages.M, stages.factor, stages.added_diagonal);
}

// v_free = v + M̂⁻¹·smooth_impulse, with M̂⁻¹ = X Xᵀ.
void find_free_motion(const Model& model, const StepRecord& record, Lanes<1>& z, StepStages& stages) {
  const DofTree& tree = model.tree();
  multiply_transposed(model, record.tape().inverse, stages.smooth_impulse, z);
  stages.v_free.resize(tree.nv);
  multiply(model, record.tape().inverse, z, stages.v_free);
  stages.v_free += record.state.v;
  stages.v_free_slots.resize(tree.slot_count);
  dofs_to_slots(tree, stages.v_free.data(), stages.v_free_slots);
}

ContactInput contact_input(const StepRecord& record, const StepStages& stages) {
  return contact_input(record, stages, record.tape().inverse, stages.v_free_slots);
}

ContactInput contact_input(const StepRecord& record, const StepStages& stages, const InverseFactor& inverse,
                           const Lanes<1>& v_free_slots) {
  const auto motors = static_cast<std::size_t>(record.control.motor_targets.size());
  return {.kin = stages.kin,
          .inverse = inverse,
          .X_WB = stages.X_WB,
          .colliders = *record.tape().colliders,
          .contacts = record.contacts,
          .q = record.state.q,
          .v = record.state.v,
          .v_free_slots = v_free_slots,
          .motor_targets = {record.control.motor_targets.data(), motors}};
}

}  // namespace lithe::internal

#include "lithe/step/step_record.h"

#include "lithe/contact/tangent_basis.h"
#include "lithe/core/check.h"

namespace lithe {

ContactInput contact_input(const StepRecord& record) {
  const auto motors = static_cast<std::size_t>(record.control.motor_targets.size());
  return {.kin = record.kin,
          .inverse = record.inverse,
          .X_WB = record.X_WB,
          .colliders = *record.colliders,
          .contacts = record.contacts,
          .q = record.state.q,
          .v = record.state.v,
          .v_free_slots = record.v_free_slots,
          .motor_targets = {record.control.motor_targets.data(), motors}};
}

Vec3 contact_impulse(const StepRecord& record, int contact) {
  const std::vector<Contact>& contacts = record.contacts.contacts;
  LITHE_CHECK(0 <= contact && static_cast<std::size_t>(contact) < contacts.size(),
              "contact {} is out of range: the step had {}", contact, contacts.size());
  const Constraint& constraint = record.problem.constraints[record.problem.constraint_of_contact[contact]];
  const double* f = &record.f[constraint.first_row];
  const Vec3& n = contacts[contact].n;
  if (constraint.rows == 1) return f[0] * n;
  const TangentBasis basis = tangent_basis(n);
  return f[0] * n + f[1] * basis.t1 + f[2] * basis.t2;
}

VecX constraint_forces(const Model& model, const StepRecord& record) {
  // M̂(v⁺ − v_free) = Jᵀf, without forming J.
  LITHE_CHECK(record.next.v.size() == model.nv(), "this record holds no step of this model");
  VecX forces = VecX::Zero(model.nv());
  if (record.problem.rows.empty() || record.status.diverged) return forces;
  const VecX change = record.next.v - record.v_free;
  multiply(model, record.M, change, forces);
  forces += record.added_diagonal.cwiseProduct(change);
  return forces / record.options.time_step();
}

double motor_effort(const StepRecord& record, MotorIndex motor) {
  for (const Constraint& constraint : record.problem.constraints) {
    if (constraint.kind != ConstraintKind::motor || constraint.index != motor) continue;
    return record.f[constraint.first_row] / record.options.time_step();
  }
  return 0;  // it was off
}

}  // namespace lithe

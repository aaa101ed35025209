#include "lithe/step/step_record.h"

#include "lithe/contact/tangent_basis.h"
#include "lithe/core/check.h"
#include "lithe/step/step_stages.h"

namespace lithe {

ContactProblem lcps_of(const Model& model, const StepRecord& record) {
  const StepStages& stages = mass_stages_of(model, record);
  ContactProblem problem;
  problem.constraints = record.problem.constraints;
  assemble(model, contact_input(record, stages), record.options.constraints, record.options.lcp, problem);
  problem.constraints = record.problem.constraints;  // with their rules
  for (int i = 0; i < record.problem.row_count(); ++i) {
    problem.b[i] += problem.target[i] - record.problem.target[i];
    problem.target[i] = record.problem.target[i];
  }
  return problem;
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
  if (record.f.empty() || record.status.diverged) return forces;
  const StepStages& stages = mass_stages_of(model, record);
  const VecX change = record.next.v - stages.v_free;
  multiply(model, stages.M, change, forces);
  forces += stages.added_diagonal.cwiseProduct(change);
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

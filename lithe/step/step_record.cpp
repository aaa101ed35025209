#include "lithe/step/step_record.h"

#include "lithe/contact/tangent_basis.h"
#include "lithe/core/check.h"
#include "lithe/step/internal/step_tape.h"

namespace lithe {

using namespace internal;

StepRecord::StepRecord() : tape_(std::make_unique<StepTape>()) {}
StepRecord::~StepRecord() = default;
StepRecord::StepRecord(StepRecord&&) noexcept = default;
StepRecord& StepRecord::operator=(StepRecord&&) noexcept = default;

StepRecord::StepRecord(const StepRecord& other)
    : state(other.state),
      control(other.control),
      options(other.options),
      contacts(other.contacts),
      modes(other.modes),
      f(other.f),
      w(other.w),
      reports(other.reports),
      next(other.next),
      warm_start(other.warm_start),
      status(other.status),
      tape_(std::make_unique<StepTape>(other.tape())) {}

StepRecord& StepRecord::operator=(const StepRecord& other) {
  if (this == &other) return *this;
  state = other.state;
  control = other.control;
  options = other.options;
  contacts = other.contacts;
  modes = other.modes;
  f = other.f;
  w = other.w;
  reports = other.reports;
  next = other.next;
  warm_start = other.warm_start;
  status = other.status;
  tape() = other.tape();
  return *this;
}

const StepTape& StepRecord::empty_tape() {
  static const StepTape nothing;
  return nothing;
}

void StepRecord::renew_tape() { tape_ = std::make_unique<StepTape>(); }

namespace {

// The constraint of contact k, which the ContactSet and the rows count differently.
const Constraint& constraint_of(const StepRecord& record, int contact) {
  const std::vector<Contact>& contacts = record.contacts.contacts;
  LITHE_CHECK(0 <= contact && static_cast<std::size_t>(contact) < contacts.size(),
              "contact {} is out of range: the step had {}", contact, contacts.size());
  const RecordedProblem& problem = record.tape().problem;
  return problem.constraints[problem.constraint_of_contact[contact]];
}

}  // namespace

int contact_row(const StepRecord& record, int contact) { return constraint_of(record, contact).first_row; }

Vec3 contact_impulse(const StepRecord& record, int contact) {
  const Constraint& constraint = constraint_of(record, contact);
  const double* f = &record.f[constraint.first_row];
  const Vec3& n = record.contacts.contacts[contact].n;
  if (constraint.rows == 1) return f[0] * n;
  const TangentBasis basis = tangent_basis(n);
  return f[0] * n + f[1] * basis.t1 + f[2] * basis.t2;
}

double motor_effort(const StepRecord& record, MotorIndex motor) {
  for (const Constraint& constraint : record.tape().problem.constraints) {
    if (constraint.kind != ConstraintKind::motor || constraint.index != motor) continue;
    return record.f[constraint.first_row] / record.options.time_step;
  }
  return 0;  // it was off
}

}  // namespace lithe

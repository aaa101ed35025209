#include "lithe/step/gradients/parameter_rows.h"

#include "lithe/contact/target_rates.h"

namespace lithe::internal {

namespace {

ConstraintOptions options_of(const ColumnWriter& writer) { return constraint_options_of(writer.record.options); }

// Calls visit(constraint, report, material of `shape`, material of the other) for the contacts of a shape.
template <class Visit>
void for_each_contact_of(const ColumnWriter& writer, ShapeIndex shape, Visit visit) {
  writer.for_each_constraint([&](const Constraint& constraint, const LcpReport& report) {
    if (constraint.kind != ConstraintKind::contact) return;
    const Contact& contact = writer.record.contacts.contacts[constraint.index];
    if (contact.a != shape && contact.b != shape) return;
    const ShapeIndex other = contact.a == shape ? contact.b : contact.a;
    visit(constraint, report, writer.model.shapes()[shape].material, writer.model.shapes()[other].material);
  });
}

// How the row of a motor moves with what the motor is made from.
MotorRowRates rates_of(const ColumnWriter& writer, int index) {
  const Motor& motor = writer.model.motors()[index];
  const Joint& joint = writer.model.joints()[motor.joint];
  return motor_row_rates(motor, joint, writer.record.state.q[joint.q_index], writer.record.control.motor_targets[index],
                         writer.h);
}

// e = ∂d − ∂D f. The choice of f does not move with D (docs/gradients.md, section 5).
void move_motor_row(const ColumnWriter& writer, int row, const MotorRowRates::Rate& rate) {
  writer.main().e[row] += rate.d - rate.D * writer.record.f[row];
}

// Calls visit(row, rates) for the motors that match(motor index), while they are on.
template <class Match, class Visit>
void for_each_motor(const ColumnWriter& writer, Match match, Visit visit) {
  writer.for_each_constraint([&](const Constraint& constraint, const LcpReport&) {
    if (constraint.kind != ConstraintKind::motor || !match(constraint.index)) return;
    visit(constraint.first_row, rates_of(writer, constraint.index));
  });
}
template <class Visit>
void for_motor(const ColumnWriter& writer, MotorIndex motor, Visit visit) {
  for_each_motor(writer, [&](int index) { return index == motor; }, visit);
}
template <class Visit>
void for_each_motor_on(const ColumnWriter& writer, JointIndex joint, Visit visit) {
  for_each_motor(writer, [&](int index) { return writer.model.motors()[index].joint == joint; }, visit);
}

template <class Visit>
void for_mimic(const ColumnWriter& writer, MimicIndex mimic, Visit visit) {
  writer.for_each_constraint([&](const Constraint& constraint, const LcpReport& report) {
    if (constraint.kind == ConstraintKind::mimic && constraint.index == mimic) visit(constraint, report);
  });
}

}  // namespace

// μ = 2 μ_a μ_b/(μ_a + μ_b), so ∂μ/∂μ_a = 2 (μ_b/(μ_a + μ_b))². It moves the impulses of the rows that slide.
void write_friction(ColumnWriter& writer, ShapeIndex shape) {
  for_each_contact_of(writer, shape,
                      [&](const Constraint& constraint, const LcpReport&, const Material& own, const Material& other) {
                        if (constraint.rows == 1) return;
                        const double share = other.friction / (own.friction + other.friction);
                        for (int row = constraint.first_row + 1; row < constraint.first_row + 3; ++row) {
                          const double rate = writer.bound_sign(row) * 2 * share * share;  // ∂(±μ)
                          writer.move_impulse(row, rate * writer.record.f[constraint.first_row]);
                        }
                      });
}

// d = −e J v, with the larger e of the two materials.
void write_restitution(ColumnWriter& writer, ShapeIndex shape) {
  for_each_contact_of(
      writer, shape,
      [&](const Constraint& constraint, const LcpReport& report, const Material& own, const Material& other) {
        const int row = constraint.first_row;
        if (constraint.rule != TargetRule::restitution || target_is_held(writer.problem, row, report)) return;
        if (own.restitution < other.restitution) return;
        const double share = own.restitution > other.restitution ? 1 : 0.5;
        writer.main().e[row] -= share * writer.problem.velocity[row];
      });
}

void write_limit(ColumnWriter& writer, JointIndex joint, bool upper) {
  const int dof = writer.tree.joints[joint].dof;
  const ConstraintKind kind = upper ? ConstraintKind::upper_limit : ConstraintKind::lower_limit;
  writer.for_each_constraint([&](const Constraint& constraint, const LcpReport& report) {
    if (constraint.kind != kind || constraint.index != dof) return;
    // The gap is q − lower, or upper − q.
    const double rate = gap_rate(writer.problem, constraint, options_of(writer), report);
    writer.main().e[constraint.first_row] += upper ? rate : -rate;
  });
}

// The bounds are ±Δt times the dry friction, of all DoFs of the joint.
void write_dry_friction(ColumnWriter& writer, JointIndex joint) {
  const int first = writer.tree.joints[joint].dof;
  const int end = writer.tree.joint_end[first];
  writer.for_each_constraint([&](const Constraint& constraint, const LcpReport&) {
    if (constraint.kind != ConstraintKind::dry_friction || constraint.index < first || constraint.index >= end) return;
    writer.move_impulse(constraint.first_row, writer.bound_sign(constraint.first_row) * writer.h);
  });
}

void write_effort_limit(ColumnWriter& writer, JointIndex joint) {
  for_each_motor_on(writer, joint, [&](int row, const MotorRowRates& rates) {
    writer.move_impulse(row, writer.bound_sign(row) * rates.limit_by_effort_limit);
  });
}

void write_velocity_limit(ColumnWriter& writer, JointIndex joint) {
  for_each_motor_on(writer, joint,
                    [&](int row, const MotorRowRates& rates) { move_motor_row(writer, row, rates.velocity_limit); });
}

void write_motor_stiffness(ColumnWriter& writer, MotorIndex motor) {
  for_motor(writer, motor, [&](int row, const MotorRowRates& rates) { move_motor_row(writer, row, rates.stiffness); });
}

void write_motor_damping(ColumnWriter& writer, MotorIndex motor) {
  for_motor(writer, motor, [&](int row, const MotorRowRates& rates) { move_motor_row(writer, row, rates.damping); });
}

void write_max_effort(ColumnWriter& writer, MotorIndex motor) {
  for_motor(writer, motor, [&](int row, const MotorRowRates& rates) {
    writer.move_impulse(row, writer.bound_sign(row) * rates.limit_by_max_effort);
  });
}

void write_motor_target(ColumnWriter& writer, MotorIndex motor) {
  for_motor(writer, motor, [&](int row, const MotorRowRates& rates) { move_motor_row(writer, row, rates.target); });
}

void write_mimic_multiplier(ColumnWriter& writer, MimicIndex mimic) {
  for_mimic(writer, mimic, [&](const Constraint& constraint, const LcpReport& report) {
    // The row reads v − m v_source, the error q − m q_source − offset.
    const int row = constraint.first_row, source = constraint.dof_b;
    const double q = writer.record.state.q[writer.tree.joints[writer.tree.joint_of[source]].q_index];
    writer.main().e[row] -= q * error_rate(writer.problem, constraint, row, options_of(writer), report);
    writer.for_each_part([&](const ColumnPart& part) { part.e[row] += part.u[source]; });
    writer.column.rho[source] += writer.record.f[row];
  });
}

void write_mimic_offset(ColumnWriter& writer, MimicIndex mimic) {
  for_mimic(writer, mimic, [&](const Constraint& constraint, const LcpReport& report) {
    const int row = constraint.first_row;
    writer.main().e[row] -= error_rate(writer.problem, constraint, row, options_of(writer), report);
  });
}

void write_time_step_of_rows(ColumnWriter& writer) {
  const ColumnPart main = writer.main();
  const ContactProblem& problem = writer.problem;
  writer.for_each_constraint([&](const Constraint& constraint, const LcpReport& report) {
    const int first = constraint.first_row;
    switch (constraint.kind) {
      case ConstraintKind::contact:
      case ConstraintKind::lower_limit:
      case ConstraintKind::upper_limit:
        // d ∝ 1/Δt
        if (gap_rate(problem, constraint, options_of(writer), report) != 0)
          main.e[first] -= problem.target[first] / writer.h;
        break;
      case ConstraintKind::mimic:
      case ConstraintKind::ball_loop:
      case ConstraintKind::weld_loop:
        for (int row = first; row < first + constraint.rows; ++row) {
          if (error_rate(problem, constraint, row, options_of(writer), report) == 0) continue;
          main.e[row] -= problem.target[row] / writer.h;
        }
        break;
      case ConstraintKind::motor:
        move_motor_row(writer, first, rates_of(writer, constraint.index).time_step);
        [[fallthrough]];
      case ConstraintKind::dry_friction:
        // Bounds ∝ Δt.
        if (problem.rows[first].kind == RowKind::bounded) {
          writer.move_impulse(first, writer.bound_sign(first) * problem.rows[first].upper / writer.h);
        }
        break;
    }
  });
}

}  // namespace lithe::internal

#include "tests/support/plain_step.h"

#include <Eigen/Cholesky>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "lithe/contact/tangent_basis.h"
#include "lithe/model/configuration.h"
#include "lithe/step/internal/recorded_stages.h"
#include "lithe/step/internal/step_tape.h"
#include "tests/support/plain_dynamics.h"

namespace lithe::test {

using namespace internal;

namespace {

using Row = Eigen::RowVectorXd;

// Velocity of the point p of a body, along d.
Row along(const PlainKinematics& kin, BodyIndex body, const Vec3& p, const Vec3& d) {
  const Mat6X& J = kin.J[body];
  Row row(J.cols());
  for (Eigen::Index j = 0; j < J.cols(); ++j) {
    const Vec3 w = J.col(j).head<3>();
    const Vec3 v = J.col(j).tail<3>();
    row[j] = d.dot(v + w.cross(p));
  }
  return row;
}

Row unit_row(int nv, int dof, double value) {
  Row row = Row::Zero(nv);
  row[dof] = value;
  return row;
}

struct Rows {
  std::vector<Row> J;
  std::vector<double> target, compliance;
  void add(const Row& row, double d, double c = 0) {
    J.push_back(row);
    target.push_back(d);
    compliance.push_back(c);
  }
};

double one_sided_target(double gap, double knee, const ConstraintOptions& o) {
  if (gap <= knee) return std::min(-o.correction * gap / o.time_step, o.max_correction_speed);
  return -(gap - (1 - o.correction) * knee) / o.time_step;
}

double back(double error, const ConstraintOptions& o) {
  return std::clamp(-o.loop_correction * error / o.time_step, -o.max_loop_speed, o.max_loop_speed);
}

void add_contact(const Model& model, const StepRecord& record, const PlainKinematics& kin, const Constraint& constraint,
                 Rows& rows) {
  const ConstraintOptions o = constraint_options_of(record.options);
  const Contact& contact = record.contacts.contacts[constraint.index];
  const BodyIndex a = model.shapes()[contact.a].body;
  const BodyIndex b = model.shapes()[contact.b].body;
  const auto row = [&](const Vec3& d) -> Row { return along(kin, a, contact.p, d) - along(kin, b, contact.p, d); };
  const std::vector<Collider>& colliders = record.tape().colliders->colliders();
  const double L = std::min(colliders[contact.a].length_scale, colliders[contact.b].length_scale);
  const Row n = row(contact.n);
  double d = one_sided_target(contact.gap, 1e-5 * L, o);
  const double speed = n.dot(record.state.v);
  const double e =
      std::max(model.shapes()[contact.a].material.restitution, model.shapes()[contact.b].material.restitution);
  if (e > 0 && speed < -o.restitution_threshold && contact.gap + o.time_step * speed < 0) d = std::max(d, -e * speed);
  rows.add(n, d);
  if (constraint.rows == 1) return;
  const TangentBasis basis = tangent_basis(contact.n);
  rows.add(row(basis.t1), 0);
  rows.add(row(basis.t2), 0);
}

void add_motor(const Model& model, const StepRecord& record, const Constraint& constraint, Rows& rows) {
  const Motor& motor = model.motors()[constraint.index];
  const Joint& joint = model.joints()[motor.joint];
  const double h = record.options.time_step;
  const double wanted = record.control.motor_targets[constraint.index];
  const Row row = unit_row(model.nv(), joint.v_index, 1);
  if (motor.target == Motor::Target::velocity) {
    rows.add(row, wanted, 1 / (h * motor.damping));
  } else if (std::isinf(motor.stiffness)) {
    const double error = wanted - record.state.q[joint.q_index];
    rows.add(row, std::clamp(error / h, -joint.velocity_limit, joint.velocity_limit));
  } else {
    // f/h = k (q* − q − h v⁺) − c v⁺, solved for v⁺ + (…) f = …
    const double k = motor.stiffness;
    const double c = motor.damping;
    rows.add(row, k * (wanted - record.state.q[joint.q_index]) / (c + h * k), 1 / (h * (c + h * k)));
  }
}

void add_loop(const Model& model, const StepRecord& record, const PlainKinematics& kin, const Constraint& constraint,
              Rows& rows) {
  const ConstraintOptions o = constraint_options_of(record.options);
  const LoopClosure& loop = model.loops()[constraint.index];
  const Pose X_a = kin.X_WB[loop.a] * loop.placement_a;
  const Pose X_b = kin.X_WB[loop.b] * loop.placement_b;
  for (int k = 0; k < 3; ++k) {
    const Vec3 e = Vec3::Unit(k);
    rows.add(along(kin, loop.a, X_a.p, e) - along(kin, loop.b, X_b.p, e), back(X_a.p[k] - X_b.p[k], o));
  }
  if (loop.kind == LoopClosure::Kind::ball) return;
  const Eigen::AngleAxisd turn(X_a.R * X_b.R.transpose());
  for (int k = 0; k < 3; ++k) {
    rows.add(kin.J[loop.a].row(k) - kin.J[loop.b].row(k), back(turn.angle() * turn.axis()[k], o));
  }
}

void add_rows(const Model& model, const StepRecord& record, const PlainKinematics& kin, const Constraint& constraint,
              Rows& rows) {
  const ConstraintOptions o = constraint_options_of(record.options);
  const int nv = model.nv();
  const VecX& q = record.state.q;
  // Of a DoF's joint.
  const auto joint_of = [&](int dof) -> const Joint& {
    return *std::find_if(model.joints().begin(), model.joints().end(),
                         [&](const Joint& j) { return j.v_index <= dof && dof < j.v_index + j.nv(); });
  };
  switch (constraint.kind) {
    case ConstraintKind::contact: add_contact(model, record, kin, constraint, rows); break;
    case ConstraintKind::lower_limit: {
      const Joint& joint = joint_of(constraint.index);
      rows.add(unit_row(nv, constraint.index, 1), one_sided_target(q[joint.q_index] - joint.lower, kLimitKnee, o));
      break;
    }
    case ConstraintKind::upper_limit: {
      const Joint& joint = joint_of(constraint.index);
      rows.add(unit_row(nv, constraint.index, -1), one_sided_target(joint.upper - q[joint.q_index], kLimitKnee, o));
      break;
    }
    case ConstraintKind::motor: add_motor(model, record, constraint, rows); break;
    case ConstraintKind::dry_friction: rows.add(unit_row(nv, constraint.index, 1), 0); break;
    case ConstraintKind::mimic: {
      const Mimic& mimic = model.mimics()[constraint.index];
      const Joint& joint = model.joints()[mimic.joint];
      const Joint& source = model.joints()[mimic.source];
      const double error = q[joint.q_index] - mimic.multiplier * q[source.q_index] - mimic.offset;
      rows.add(unit_row(nv, joint.v_index, 1) + unit_row(nv, source.v_index, -mimic.multiplier), back(error, o));
      break;
    }
    case ConstraintKind::ball_loop:
    case ConstraintKind::weld_loop: add_loop(model, record, kin, constraint, rows); break;
  }
}

// What springs and dampers do to M̂ and to the forces.
void add_resistance(const Model& model, const StepRecord& record, MatX& M_hat, VecX& force) {
  const double h = record.options.time_step;
  const VecX ahead = retract(model, record.state.q, h * record.state.v);
  VecX rest = neutral_configuration(model);
  for (const Joint& joint : model.joints()) {
    if (joint.type == JointType::ball) {
      rest.segment<4>(joint.q_index) = joint.rest_orientation;
    } else {
      rest[joint.q_index] = joint.rest;
    }
  }
  const VecX stretch = difference(model, ahead, rest);
  for (const Joint& joint : model.joints()) {
    for (int i = joint.v_index; i < joint.v_index + joint.nv(); ++i) {
      M_hat(i, i) += h * joint.damping + h * h * joint.stiffness;
      force[i] -= joint.stiffness * stretch[i] + joint.damping * record.state.v[i];
    }
  }
}

}  // namespace

PlainStep plain_step(const Model& model, const StepRecord& record) {
  const int nv = model.nv();
  const State& state = record.state;
  PlainStep plain;
  plain.M_hat = plain_mass_matrix(model, state.q);
  VecX force = record.control.tau;
  add_resistance(model, record, plain.M_hat, force);
  force -= plain_inverse_dynamics(model, state.q, state.v, VecX::Zero(nv), record.control.wrenches);
  plain.v_free = state.v + record.options.time_step * plain.M_hat.llt().solve(force);

  const PlainKinematics kin = plain_kinematics(model, state.q);
  Rows rows;
  for (const Constraint& constraint : record.tape().problem.constraints) add_rows(model, record, kin, constraint, rows);
  const auto count = static_cast<Eigen::Index>(rows.J.size());
  plain.J.resize(count, nv);
  for (Eigen::Index i = 0; i < count; ++i) plain.J.row(i) = rows.J[i];
  plain.target = Eigen::Map<const VecX>(rows.target.data(), count);
  plain.compliance = Eigen::Map<const VecX>(rows.compliance.data(), count);
  return plain;
}

}  // namespace lithe::test

#include "lithe/contact/constraint_rows.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "lithe/contact/tangent_basis.h"
#include "lithe/dynamics/body_motion.h"

namespace lithe::internal {

namespace {

// Writes the rows of one patch, one after the other.
class CoefficientWriter {
 public:
  CoefficientWriter(const Model& model, const Kinematics& kin, ContactProblem& problem, const Patch& patch)
      : a_(problem.coefficients.data() + patch.start), stride_(patch.stride) {
    const auto place = [&](int touch, Vec3& origin) {
      if (touch < 0) return 0;
      const Touch& t = problem.touches.touches[touch];
      origin = tree_origin(model, kin, t.dof);
      return t.size;
    };
    size_a_ = place(patch.touch_a, origin_a_);
    size_b_ = place(patch.touch_b, origin_b_);
    b_ = a_ + size_a_ * stride_;
  }

  // d·(velocity of a at p_a − velocity of b at p_b)
  void add_direction(const Vec3& d, const Vec3& p_a, const Vec3& p_b) {
    if (size_a_ > 0) put(a_, (p_a - origin_a_).cross(d), d);
    if (size_b_ > 0) put(b_, d.cross(p_b - origin_b_), -d);
    ++row_;
  }
  // d·(ω_a − ω_b)
  void add_turn(const Vec3& d) {
    if (size_a_ > 0) put(a_, d, Vec3::Zero());
    if (size_b_ > 0) put(b_, -d, Vec3::Zero());
    ++row_;
  }
  // a·(velocity of the first DoF) + b·(velocity of the second)
  void add_dofs(double a, double b = 0) {
    a_[row_] = a;
    if (size_b_ > 0) b_[row_] = b;
    ++row_;
  }

 private:
  // One row of one side, about the origin of its tree.
  void put(double* side, const Vec3& angular, const Vec3& linear) const {
    for (int k = 0; k < 3; ++k) {
      side[k * stride_ + row_] = angular[k];
      side[(k + 3) * stride_ + row_] = linear[k];
    }
  }

  double* a_;
  double* b_ = nullptr;
  int stride_;
  int size_a_ = 0, size_b_ = 0;
  Vec3 origin_a_ = Vec3::Zero(), origin_b_ = Vec3::Zero();
  int row_ = 0;
};

struct LoopFrames {
  Pose a, b;  // in the world
};
// Where the two frames of a loop closure are in the world.
LoopFrames loop_frames(const Model& model, const ContactInput& in, int index) {
  const LoopClosure& loop = model.loops()[index];
  return {in.X_WB[loop.a] * loop.placement_a, in.X_WB[loop.b] * loop.placement_b};
}

// φ with R_a = exp(φ) R_b.
Vec3 turn_between(const LoopFrames& frames) {
  return quaternion_log(quaternion_from_rotation(frames.a.R * frames.b.R.transpose()));
}

// T of one constraint, row by row, as the table in the header says.
void write_coefficients_of(const Model& model, const ContactInput& in, const Constraint& constraint,
                           CoefficientWriter& writer) {
  switch (constraint.kind) {
    case ConstraintKind::contact: {
      const Contact& contact = in.contacts.contacts[constraint.index];
      writer.add_direction(contact.n, contact.p, contact.p);
      if (constraint.rows == 1) break;
      const TangentBasis basis = tangent_basis(contact.n);
      writer.add_direction(basis.t1, contact.p, contact.p);
      writer.add_direction(basis.t2, contact.p, contact.p);
      break;
    }
    case ConstraintKind::upper_limit: writer.add_dofs(-1); break;
    case ConstraintKind::lower_limit:
    case ConstraintKind::motor:
    case ConstraintKind::dry_friction: writer.add_dofs(1); break;
    case ConstraintKind::mimic: writer.add_dofs(1, -model.mimics()[constraint.index].multiplier); break;
    case ConstraintKind::ball_loop:
    case ConstraintKind::weld_loop: {
      const LoopFrames frames = loop_frames(model, in, constraint.index);
      for (int k = 0; k < 3; ++k) writer.add_direction(Vec3::Unit(k), frames.a.p, frames.b.p);
      if (constraint.kind == ConstraintKind::ball_loop) break;
      for (int k = 0; k < 3; ++k) writer.add_turn(Vec3::Unit(k));
      break;
    }
  }
}

// The target of a one-sided constraint: see ConstraintOptions.
double gap_target(double gap, double knee, double approach, double restitution, const ConstraintOptions& options,
                  TargetRule& rule) {
  const double h = options.time_step;
  double d = 0;
  if (gap <= knee) {
    d = -options.correction * gap / h;
    rule = TargetRule::correction;
    if (d > options.max_correction_speed) {
      d = options.max_correction_speed;
      rule = TargetRule::capped;
    }
  } else {
    d = -(gap - (1 - options.correction) * knee) / h;
    rule = TargetRule::approach;
  }
  const bool bounces = restitution > 0 && approach < -options.restitution_threshold && gap + h * approach < 0;
  if (bounces && -restitution * approach > d) {
    d = -restitution * approach;
    rule = TargetRule::restitution;
  }
  return d;
}

// The target of one row of a two-sided constraint, by a share of its error. One row at the cap marks all rows of its constraint.
double error_target(double error, const ConstraintOptions& options, TargetRule& rule) {
  const double d = -options.loop_correction * error / options.time_step;
  const double most = options.max_loop_speed;
  if (rule != TargetRule::capped) rule = std::abs(d) > most ? TargetRule::capped : TargetRule::correction;
  return std::clamp(d, -most, most);
}

// q of a joint with one DoF.
double position_of(const DofTree& tree, const ContactInput& in, int dof) {
  return in.q[tree.joints[tree.joint_of[dof]].q_index];
}

// Writes what a constraint's rows are besides their coefficients, and which rule gave the target.
class RowWriter {
 public:
  RowWriter(const Model& model, const ContactInput& in, const ConstraintOptions& options, ContactProblem& problem)
      : model_(model), in_(in), options_(options), problem_(problem) {}

  void write(Constraint& constraint, int island_first_row) {
    const std::size_t first = constraint.first_row;
    LcpRow* row = &problem_.rows[first];
    double* target = &problem_.target[first];
    const auto key = [&](int k) { return constraint.key.row(k); };
    switch (constraint.kind) {
      case ConstraintKind::contact: {
        const int normal = constraint.first_row - island_first_row;
        row[0] = LcpRow::make_one_sided(key(0));
        target[0] = contact_target(constraint);
        for (int k = 1; k < constraint.rows; ++k) {
          row[k] = LcpRow::make_friction(normal, constraint.material.friction, key(k));
          target[k] = 0;
        }
        break;
      }
      case ConstraintKind::lower_limit:
      case ConstraintKind::upper_limit:
        row[0] = LcpRow::make_one_sided(key(0));
        target[0] = gap_target(limit_gap(constraint), kLimitKnee, 0, 0, options_, constraint.rule);
        break;
      case ConstraintKind::motor: {
        const MotorRow motor = motor_row(model_, in_.q, model_.motors()[constraint.index],
                                         in_.motor_targets[constraint.index], options_.time_step);
        row[0] = std::isinf(motor.limit) ? LcpRow::make_two_sided(key(0))
                                         : LcpRow::make_bounded(-motor.limit, motor.limit, key(0));
        row[0].soft = motor.compliance > 0;
        target[0] = motor.target;
        problem_.compliance[first] = motor.compliance;
        constraint.rule = TargetRule::motor;
        break;
      }
      case ConstraintKind::dry_friction: {
        const double limit = dry_friction_limit(model_.tree(), constraint.index, options_.time_step);
        row[0] = LcpRow::make_bounded(-limit, limit, key(0));
        target[0] = 0;
        constraint.rule = TargetRule::none;
        break;
      }
      case ConstraintKind::mimic:
        row[0] = LcpRow::make_two_sided(key(0));
        target[0] = error_target(mimic_error(constraint), options_, constraint.rule);
        break;
      case ConstraintKind::ball_loop:
      case ConstraintKind::weld_loop: {
        const LoopFrames frames = loop_frames(model_, in_, constraint.index);
        const Vec3 shift = frames.a.p - frames.b.p;
        Vec3 turn = Vec3::Zero();
        if (constraint.kind == ConstraintKind::weld_loop) turn = turn_between(frames);
        constraint.rule = TargetRule::correction;
        for (int k = 0; k < constraint.rows; ++k) {
          row[k] = LcpRow::make_two_sided(key(k));
          target[k] = error_target(k < 3 ? shift[k] : turn[k - 3], options_, constraint.rule);
        }
        break;
      }
    }
  }

 private:
  // How fast the contact closes at the step's start is asked only where it could bounce.
  double contact_target(Constraint& constraint) const {
    const Contact& contact = in_.contacts.contacts[constraint.index];
    const std::vector<Collider>& colliders = in_.colliders.colliders();
    const double knee = kContactKnee * bands_of(colliders[contact.a], colliders[contact.b]).length;
    const double restitution = constraint.material.restitution;
    const double approach = restitution > 0 ? problem_.velocity[constraint.first_row] : 0;
    return gap_target(contact.gap, knee, approach, restitution, options_, constraint.rule);
  }
  // How far the joint is from its limit, negative beyond it.
  double limit_gap(const Constraint& constraint) const {
    const DofTree& tree = model_.tree();
    const DofTree::Resistance& limits = tree.resistance[constraint.index];
    const double q = position_of(tree, in_, constraint.index);
    return constraint.kind == ConstraintKind::lower_limit ? q - limits.lower : limits.upper - q;
  }
  // How far the joint is from multiplier·(position of its source) + offset.
  double mimic_error(const Constraint& constraint) const {
    const Mimic& mimic = model_.mimics()[constraint.index];
    const DofTree& tree = model_.tree();
    return position_of(tree, in_, constraint.dof_a) - mimic.multiplier * position_of(tree, in_, constraint.dof_b) -
           mimic.offset;
  }

  const Model& model_;
  const ContactInput& in_;
  const ConstraintOptions& options_;
  ContactProblem& problem_;
};

}  // namespace

// An infinite gain leaves the compliance at zero: the joint is to be at its target by the end of the step, or as near as its velocity
// limit allows.
MotorRow motor_row(const Model& model, const ConstVecRef& q, const Motor& motor, double wanted, double time_step) {
  const double h = time_step;
  const Joint& joint = model.joints()[motor.joint];
  const double limit = h * std::min(motor.max_effort, joint.effort_limit);
  if (motor.target == Motor::Target::velocity) {
    return {wanted, std::isinf(motor.damping) ? 0.0 : 1 / (h * motor.damping), limit};
  }
  const double error = wanted - q[joint.q_index];
  if (std::isinf(motor.stiffness))
    return {std::clamp(error / h, -joint.velocity_limit, joint.velocity_limit), 0, limit};
  const double gain = h * motor.stiffness + motor.damping;
  return {motor.stiffness * error / gain, 1 / (h * gain), limit};
}

double dry_friction_limit(const DofTree& tree, int dof, double time_step) {
  return time_step * tree.resistance[dof].dry_friction;
}

std::pair<int, int> touches_of(const TouchSpace& space, const Constraint& constraint) {
  if (acts_on_bodies(constraint.kind)) return {space.body_touch(constraint.dof_a), space.body_touch(constraint.dof_b)};
  return {space.dof_touch(constraint.dof_a), space.dof_touch(constraint.dof_b)};
}

void write_coefficients(const Model& model, const ContactInput& in, ContactProblem& problem) {
  auto constraint = problem.constraints.begin();
  for (const Patch& patch : problem.patches) {
    CoefficientWriter writer(model, in.kin, problem, patch);
    for (int rows = 0; rows < patch.row_count; rows += constraint->rows, ++constraint) {
      write_coefficients_of(model, in, *constraint, writer);
    }
  }
}

void write_rows(const Model& model, const ContactInput& in, const ConstraintOptions& options, ContactProblem& problem) {
  RowWriter writer(model, in, options, problem);
  for (const Island& island : problem.islands.islands()) {
    for (int c = 0; c < island.constraint_count; ++c) {
      writer.write(problem.constraints[island.first_constraint + c], island.first_row);
    }
  }
}

}  // namespace lithe::internal

#include "apps/lithe/step_trouble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lithe/step/internal/step_tape.h"

namespace lithe::cli {

using namespace internal;

namespace {

const std::string& body_of_shape(const Model& model, ShapeIndex shape) {
  return model.bodies()[model.shapes()[shape].body].name;
}

const std::string& joint_with_dof(const Model& model, int dof) {
  const auto& joints = model.joints();
  return std::ranges::find_if(joints, [&](const Joint& j) { return j.v_index <= dof && dof < j.v_index + j.nv(); })
      ->name;
}

std::string constraint_name(const Model& model, const StepRecord& record, const Constraint& constraint) {
  switch (constraint.kind) {
    case ConstraintKind::contact: {
      const Contact& contact = record.contacts.contacts[constraint.index];
      const std::string inside = contact.gap < -1e-6 ? fmt::format(", {:.2g} mm inside", -1e3 * contact.gap) : "";
      return fmt::format("contact of {} and {}{}", body_of_shape(model, contact.a), body_of_shape(model, contact.b),
                         inside);
    }
    case ConstraintKind::lower_limit: return "lower limit of " + joint_with_dof(model, constraint.index);
    case ConstraintKind::upper_limit: return "upper limit of " + joint_with_dof(model, constraint.index);
    case ConstraintKind::motor: return "motor " + model.motors()[constraint.index].name;
    case ConstraintKind::dry_friction: return "dry friction of " + joint_with_dof(model, constraint.index);
    case ConstraintKind::mimic: return "mimic " + model.mimics()[constraint.index].name;
    case ConstraintKind::ball_loop:
    case ConstraintKind::weld_loop: return "loop " + model.loops()[constraint.index].name;
  }
  return "";
}

const Constraint* constraint_of_row(const StepRecord& record, int row) {
  for (const Constraint& constraint : record.tape().problem.constraints) {
    if (constraint.first_row <= row && row < constraint.first_row + constraint.rows) return &constraint;
  }
  return nullptr;
}

// How far the furthest of a constraint's errors is from being mended, as a length or an angle.
double error_of(const Model& model, const StepRecord& record, const Constraint& constraint) {
  switch (constraint.kind) {
    case ConstraintKind::contact: return -record.contacts.contacts[constraint.index].gap;
    case ConstraintKind::lower_limit:
    case ConstraintKind::upper_limit: {
      const auto& joints = model.joints();
      const auto joint = std::ranges::find(joints, constraint.index, &Joint::v_index);
      if (joint == joints.end()) return 0;
      const double q = record.state.q[joint->q_index];
      return constraint.kind == ConstraintKind::lower_limit ? joint->lower - q : q - joint->upper;
    }
    default: {  // Loops and mimics ask for all of it at once; motors and friction have no error.
      if (constraint.kind == ConstraintKind::motor || constraint.kind == ConstraintKind::dry_friction) return 0;
      double speed = 0;
      for (int k = 0; k < constraint.rows; ++k) {
        speed = std::max(speed, std::abs(record.tape().problem.target[constraint.first_row + k]));
      }
      return record.options.time_step * speed;
    }
  }
}

// Whether what the constraint asked for was dropped or reduced.
bool lost_its_target(const StepRecord& record, const Constraint& constraint) {
  if (constraint.rule == TargetRule::reduced) return true;
  for (int k = 0; k < constraint.rows; ++k) {
    if (record.tape().problem.is_dropped(constraint.first_row + k)) return true;
  }
  return false;
}

// The constraint that is furthest from where it should be: of all, or of those that lost their targets.
std::string worst_constraint(const Model& model, const StepRecord& record, bool without_target = false) {
  const Constraint* worst = nullptr;
  double most = 0;
  for (const Constraint& constraint : record.tape().problem.constraints) {
    if (without_target && !lost_its_target(record, constraint)) continue;
    const double error = error_of(model, record, constraint);
    if (worst && error <= most) continue;
    worst = &constraint;
    most = error;
  }
  return worst ? ": " + constraint_name(model, record, *worst) : "";
}

}  // namespace

std::string step_trouble(const Model& model, const StepRecord& record) {
  const LcpFlag flags = record.status.flags;
  if (record.status.diverged) return "diverged: numbers overflowed";
  if (has(flags, LcpFlag::unsolved)) return "unsolved" + worst_constraint(model, record);
  if (has(flags, LcpFlag::targets_dropped)) return "targets dropped" + worst_constraint(model, record, true);
  if (has(flags, LcpFlag::unpolished)) return "unpolished" + worst_constraint(model, record);
  return "";
}

std::string gradient_trouble(const Model& model, const StepRecord& record, const GradientReport& report) {
  const std::string trouble = step_trouble(model, record);
  if (trouble.empty() && record.status.singular_dof >= 0) {
    return "nothing resists " + joint_with_dof(model, record.status.singular_dof);
  }
  if (!trouble.empty() || !has(record.status.flags, LcpFlag::tied)) return trouble;
  const int row = report.tied_rows.empty() ? report.margin_row : report.tied_rows.front();
  const Constraint* constraint = row < 0 ? nullptr : constraint_of_row(record, row);
  return constraint ? "at a tie: " + constraint_name(model, record, *constraint) : "at a tie";
}

}  // namespace lithe::cli

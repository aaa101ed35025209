#include "lithe/contact/target_rates.h"

#include <cmath>

namespace lithe::internal {

bool target_is_held(const ContactProblem& problem, int row, const LcpReport& report) {
  return has(report.flags, LcpFlag::targets_dropped) && problem.target_dropped[row] != 0;
}

// The derivative of gap_target() by the gap.
double gap_rate(const ContactProblem& problem, const Constraint& constraint, const ConstraintOptions& options,
                const LcpReport& report) {
  if (target_is_held(problem, constraint.first_row, report)) return 0;
  if (constraint.rule == TargetRule::correction) return -options.correction / options.time_step;
  if (constraint.rule == TargetRule::approach) return -1 / options.time_step;
  return 0;
}

// The derivative of error_target() by the error. Each row of a loop has its own cap.
double error_rate(const ContactProblem& problem, const Constraint& constraint, int row,
                  const ConstraintOptions& options, const LcpReport& report) {
  if (constraint.rule == TargetRule::reduced || target_is_held(problem, row, report)) return 0;
  if (std::abs(problem.target[row]) >= options.max_loop_speed) return 0;
  return -options.loop_correction / options.time_step;
}

MotorRowRates motor_row_rates(const Motor& motor, const Joint& joint, double q, double target, double h) {
  MotorRowRates rates;
  // The smaller one of the two limits moves the row's limit, by Δt; where they are equal both do, by half of it each.
  if (motor.max_effort <= joint.effort_limit)
    rates.limit_by_max_effort = motor.max_effort < joint.effort_limit ? h : h / 2;
  rates.limit_by_effort_limit = motor.max_effort == joint.effort_limit ? h / 2 : h - rates.limit_by_max_effort;
  const double k = motor.stiffness, b = motor.damping;
  if (motor.target == Motor::Target::velocity) {
    rates.target.d = 1;
    if (std::isinf(b)) return rates;
    rates.damping.D = -1 / (h * b * b);
    rates.time_step.D = -1 / (h * h * b);
    return rates;
  }
  const double error = target - q;
  if (std::isinf(k)) {
    // d = error/Δt, as far as the velocity limit allows.
    if (std::abs(error / h) >= joint.velocity_limit) {
      rates.velocity_limit.d = error > 0 ? 1 : -1;
    } else {
      rates.target.d = 1 / h;
      rates.time_step.d = -error / (h * h);
    }
    return rates;
  }
  const double G = h * k + b;
  rates.target.d = k / G;
  rates.stiffness = {error * b / (G * G), -1 / (G * G)};
  rates.damping = {-k * error / (G * G), -1 / (h * G * G)};
  rates.time_step = {-k * k * error / (G * G), -(2 * h * k + b) / (h * h * G * G)};
  return rates;
}

}  // namespace lithe::internal

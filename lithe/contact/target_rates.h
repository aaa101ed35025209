#pragma once

#include "lithe/contact/contact_problem.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe::internal {

// How the rows' targets d move with what they are made from, by the rule that was in force in a step (TargetRule):
// constraint_rows.cpp differentiated. `report` is that of the row's island.

// Where the solver took a target out, it does not move.
bool target_is_held(const ContactProblem& problem, int row, const LcpReport& report);

// ∂d/∂gap of a contact or a limit, whose normal (or only) row is constraint.first_row: −correction/Δt or −1/Δt; 0 at the cap,
// for a bounce and where the target was reduced or held.
double gap_rate(const ContactProblem& problem, const Constraint& constraint, const ConstraintOptions& options,
                const LcpReport& report);

// ∂d/∂error of one row of a loop closure or a mimic joint: −loop_correction/Δt, or 0 at the cap.
double error_rate(const ContactProblem& problem, const Constraint& constraint, int row,
                  const ConstraintOptions& options, const LcpReport& report);

// A motor's row J v⁺ + D f = d, |f| ≤ limit, and how it moves with what the motor is made from. Position:
// d = k(target − q)/G, D = 1/(Δt G), G = Δt k + b; velocity: d = target, D = 1/(Δt b). An infinite gain does not move.
struct MotorRowRates {
  struct Rate {
    double d = 0, D = 0;
  };
  Rate stiffness, damping, target, time_step, velocity_limit;
  // Of the limit Δt·min(max_effort, effort_limit): half to each where they are equal.
  double limit_by_max_effort = 0, limit_by_effort_limit = 0;
};
MotorRowRates motor_row_rates(const Motor& motor, const Joint& joint, double q, double target, double time_step);

}  // namespace lithe::internal

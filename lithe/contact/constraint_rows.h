#pragma once

#include <utility>

#include "lithe/contact/contact_problem.h"

namespace lithe::internal {

// How each kind of constraint becomes rows. Used by assemble().

// The touches of a constraint's two sides.
std::pair<int, int> touches_of(const TouchSpace& space, const Constraint& constraint);

// A motor's row is that of its law, solved for the velocity: J v⁺ + compliance·f = target, with f = Δt·τ in ±limit. A compliance
// of zero: the motor is as stiff as can be.
struct MotorRow {
  double target, compliance, limit;
};
MotorRow motor_row(const Model& model, const ConstVecRef& q, const Motor& motor, double wanted, double time_step);

// The largest impulse of a DoF's dry friction.
double dry_friction_limit(const DofTree& tree, int dof, double time_step);

// T: what each row measures of its touches.
//
//   direction d at p   d·(velocity of a at p − velocity of b at p): coefficients [p × d; d], b's negative
//   turn about d       [d; 0]
//   a DoF              1; a mimic joint: 1 and −multiplier
void write_coefficients(const Model& model, const ContactInput& in, ContactProblem& problem);

// Kinds, bounds, keys, targets and compliance of the rows; needs problem.velocity. Sets the constraints' rules.
void write_rows(const Model& model, const ContactInput& in, const ConstraintOptions& options, ContactProblem& problem);

}  // namespace lithe::internal

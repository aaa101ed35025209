#pragma once

#include <utility>

#include "lithe/contact/contact_problem.h"

namespace lithe {

// How each kind of constraint becomes rows. Used by assemble().

// The touches of a constraint's two sides.
std::pair<int, int> touches_of(const TouchSpace& space, const Constraint& constraint);

// T: what each row measures of its touches.
//
//   direction d at p   d·(velocity of a at p − velocity of b at p): coefficients [p × d; d], b's negative
//   turn about d       [d; 0]
//   a DoF              1; a mimic joint: 1 and −multiplier
void write_coefficients(const Model& model, const ContactInput& in, ContactProblem& problem);

// Kinds, bounds, keys, targets and compliance of the rows; needs problem.velocity. Sets the constraints' rules.
void write_rows(const Model& model, const ContactInput& in, const ConstraintOptions& options, ContactProblem& problem);

}  // namespace lithe

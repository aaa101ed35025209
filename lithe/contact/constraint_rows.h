#pragma once

#include <cstdint>
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

// What names a constraint from step to step.
struct ConstraintKey {
  std::uint64_t pair = 0;     // kind and what it is about, ascending within a kind: the shapes of a contact, the DoF…
  std::uint64_t feature = 0;  // of a contact: its FeatureId
  std::uint8_t feature_kind = 0;
  friend constexpr bool operator==(const ConstraintKey&, const ConstraintKey&) = default;
};
ConstraintKey key_of(const Constraint& constraint, const ContactSet& contacts);

}  // namespace lithe

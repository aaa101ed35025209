#pragma once

#include <span>

#include "lithe/contact/contact_problem.h"

namespace lithe::internal {

// Position correction is no force of nature, yet its targets d move bodies. Where overlaps contradict one another but for a
// lever arm (a foot jammed between two links), velocities that satisfy all targets exist and are enormous, and one step
// could launch a robot. So the energy that an island may gain in a step is bounded.

// Kinetic energy that the island's impulses add to its free motion, Σ f·(J v⁺ + J v_free)/2, less what motors put in.
// Without correction it is never positive. f, w: the island's solution.
double energy_gain(const ContactProblem& problem, int island, std::span<const double> f, std::span<const double> w);

// What correction may add: it may lift or push all that rests on it, mass m, at its own speed against a step of gravity, and each
// row may stop and turn back what approaches it:
//
//   m·d_max·(d_max + g Δt) + Σ |d|·(|d| + |b|)·min(1/A_ii, m).
//
// What a row presses on is no heavier than the island: where overlaps press on a joint's axis, A_ii is next to nothing and 1/A_ii
// no mass. Inert rows (PreparedLcp) do not count. mass: of the island's trees; gravity_step: g Δt.
double energy_allowance(const ContactProblem& problem, int island, double mass, double gravity_step);

// Multiplies the targets of penetrations, limits, loops and mimic joints that ask bodies to move (d > 0; two-sided: any d) by
// `share`, in b as well, and marks their constraints. False where there are none.
bool reduce_correction(ContactProblem& problem, int island, double share);

}  // namespace lithe::internal

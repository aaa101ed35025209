#pragma once

#include <span>

#include "lithe/contact/contact_problem.h"

namespace lithe {

// Position correction is no force of nature: its targets d do the work Σ d·f on the bodies. Where overlaps contradict one
// another but for a lever arm (a foot jammed between two links), velocities that satisfy all targets exist and are
// enormous, and one step could launch a robot.
//
// n correction rows may each speed everything up by their own d, against what is moving already. So with D = Σ|d| and s = max|b| of
// the island, work beyond 2·max(m D (D + s), Σ d(d + |b|)/A_ii), m being the mass of the island's trees, is refused.
bool correction_does_too_much(const ContactProblem& problem, int island, std::span<const double> f, double mass);

// Sets the targets of penetrations, limits, loops and mimic joints that ask bodies to move, d > 0 (two-sided: any d), to
// zero and b with them.
void drop_correction(ContactProblem& problem, int island);

}  // namespace lithe

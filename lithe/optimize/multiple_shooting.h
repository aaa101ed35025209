#pragma once

#include "lithe/optimize/solve.h"

namespace lithe {

// The motion is cut into shots; the states between them are free, and that they meet is a constraint of a sparse nonlinear programme,
// which IPOPT solves (Wächter & Biegler 2006; shooting_program.h has the formulation). The derivatives of the shots come from
// step_jacobians(), shots in parallel.
//
// - A plan with a guess of the states starts from these, whether steps lead from one to the next or not. Otherwise the states are those
//   that its controls lead to.
// - The result is what the controls lead to from the start. Solution::plan has the states of the programme as well, so that a solver that
//   was stopped can go on from there. Solution::infeasibility is the larger of the jump between two shots that was left and of the
//   violation in the motion from the start.
// - The Gauss–Newton Hessian leaves out the curvature of the steps and of the constraints. It is best where costs of the states rule, and
//   takes few iterations there. Where constraints rule (a swing-up to a given state), limited memory is: tens of iterations for hundreds.
//   Where costs have no curvature at all (Norm::linear), a small cost of the controls helps.
// - A cut between two shots while things touch is hard: moved off by half a millimetre, they no longer touch or are pushed apart,
//   and derivatives hold no further than that. Make shots long enough to have contacts inside of them, up to Problem::steps.
// - GradientOptions::complementarity_aware is for the initial plan alone. Where contacts hide every effect of the controls, the plan is
//   first moved along the heuristic gradient of the whole motion until they show. The programme itself gets true derivatives: IPOPT
//   compares what they promise with what happens.
//
// Solves in several threads of one program take turns, because IPOPT's linear solver (MUMPS) has global state.
struct MultipleShootingOptions : SolveOptions {
  int shot = 20;             // steps per shot; a multiple of Problem::hold
  bool gauss_newton = true;  // the costs' Gauss–Newton Hessian; else IPOPT's limited-memory quasi-Newton
  // IPOPT's mu_init. It also says how far the start is moved off its bounds, so for a warm start it should be smaller (1e-6).
  double initial_barrier = 0.1;
};

Solution multiple_shooting(const Problem& problem, const Plan& initial, const MultipleShootingOptions& options = {});

}  // namespace lithe

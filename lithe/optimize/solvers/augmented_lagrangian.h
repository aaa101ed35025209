#pragma once

#include <functional>

#include "lithe/optimize/solve.h"
#include "lithe/optimize/solvers/evaluated_motion.h"

namespace lithe::internal {

// Constraints for solvers that know only costs: the method of multipliers (Hestenes 1969, Powell 1969; for inequalities
// Rockafellar 1973). Round after round, an inner solver makes EvaluatedMotion::value small, with the multipliers λ and
// the penalty ρ that the round before left (cost_expansion.h).
//
//   λ  ← λ + ρ c, for inequalities not below zero
//   ρ  ← 10 ρ, where the violation did not fall to a quarter
//   the inner solver's tolerance falls to a tenth per round, down to SolveOptions::tolerance
//
// The violation that is judged here is max |Δλ|/ρ: of an equality |c|, of an inequality |max(c, −λ/ρ)|, which asks too that what does
// not bind has no multiplier.

// Where an inner solver came to rest. Both belong to it and must stay until it is called again.
struct InnerResult {
  StopReason reason;
  const Plan* plan;
  const EvaluatedMotion* motion;  // that of `plan`, with its records
};

// Makes EvaluatedMotion::value small from where it came to rest the last time, until the first-order conditions are below `tolerance`. The
// multipliers are null for a problem without constraints. Time, iterations and interrupts are the inner solver's affair, over all
// rounds: once they are used up it returns without delay, with that reason.
using InnerSolver = std::function<InnerResult(const Multipliers* multipliers, double tolerance)>;

struct AugmentedLagrangianResult {
  StopReason reason = StopReason::stalled;
  int rounds = 0;           // calls of the inner solver
  Multipliers multipliers;  // as used in the last round
};

// Without constraints, the inner solver is called once, and its reason is the result. With them:
//
//   converged    the last round converged to options.tolerance, and the violation is below options.feasibility
//   infeasible   the penalty has reached 1e10, and the violation has not
//   stalled      the violation has, and the inner solver finds no way further down
//   else         what the inner solver said: limits, an interrupt, a saddle
//
// `evaluator` is used between the rounds only, and may be the inner solver's own. `initial` is where that one starts; the penalty of the
// first round is scaled to it (initial_penalty()).
AugmentedLagrangianResult augmented_lagrangian(const Problem& problem, MotionEvaluator& evaluator, const Plan& initial,
                                               const SolveOptions& options, const InnerSolver& inner);

// A penalty that makes meeting the constraints worth ten times what it costs: from `plan`, one Gauss–Newton step towards the
// constraints along their own gradient is tried, and the change of the costs is compared with the violation. Where that tells nothing
// (nothing is violated, no gradient, a motion that diverges): 10 max(1, |cost|).
double initial_penalty(const Problem& problem, MotionEvaluator& evaluator, const Plan& plan,
                       const GradientOptions& options);

}  // namespace lithe::internal

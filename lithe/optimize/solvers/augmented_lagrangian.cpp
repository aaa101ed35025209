#include "lithe/optimize/solvers/augmented_lagrangian.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lithe::internal {

namespace {

constexpr double kSmallestPenalty = 1e-6, kLargestPenalty = 1e10, kGrowth = 10;
// A round has to leave no more than this share of the violation; else the penalty grows.
constexpr double kEnoughFall = 0.25;
// The inner solver's tolerance, in the first round and from one to the next: early rounds need not be exact.
constexpr double kFirstTolerance = 1e-2;
constexpr double kTightening = 0.1;
// Meeting the constraints is to be worth this many times what it costs.
constexpr double kWorth = 10;

// max |Δλ|/ρ, the violation that the header defines.
double violation(const Multipliers& before, const Multipliers& after) {
  double largest = 0;
  for (std::size_t k = 0; k < before.lambda.size(); ++k) {
    largest = std::max(largest, (after.lambda[k] - before.lambda[k]).cwiseAbs().maxCoeff());
  }
  return largest / before.penalty;
}

// Whether another round may help: the inner solver came to rest, rather than to a limit, an interrupt or a saddle.
bool goes_on(StopReason reason) { return reason == StopReason::converged || reason == StopReason::stalled; }

}  // namespace

double initial_penalty(const Problem& problem, MotionEvaluator& evaluator, const Plan& plan,
                       const GradientOptions& options) {
  EvaluatedMotion motion;
  // ρ = 1, λ = 0: value = cost + |c|²/2, over what is violated.
  const Multipliers unit = initial_multipliers(problem, 1);
  evaluator.run(plan, MotionEvaluator::Keep::records, &unit, motion);
  const double fallback = kWorth * std::max(1.0, std::isfinite(motion.cost) ? std::abs(motion.cost) : 1.0);
  const double violated = motion.value - motion.cost;
  if (!std::isfinite(motion.value) || !(violated > 0)) return std::min(fallback, kLargestPenalty);

  PlanGradient with, without;
  evaluator.gradient(plan, motion, &unit, options, with);
  evaluator.gradient(plan, motion, nullptr, options, without);
  const MatX by_u = with.u - without.u;
  const double size = by_u.squaredNorm();
  if (!(size > 0) || !std::isfinite(size)) return std::min(fallback, kLargestPenalty);
  // One Gauss–Newton step along the gradient of |c|²/2: of this length, it takes a single linear c to zero.
  Plan nearer = plan;
  nearer.u -= 2 * violated / size * by_u;
  clamp(problem, nearer);
  if (!nearer.u.allFinite()) return std::min(fallback, kLargestPenalty);
  const double before = motion.cost;
  evaluator.run(nearer, MotionEvaluator::Keep::nothing, nullptr, motion);
  const double price = std::abs(motion.cost - before);
  if (!std::isfinite(price) || price == 0) return std::min(fallback, kLargestPenalty);
  return std::clamp(kWorth * price / violated, kSmallestPenalty, std::sqrt(kLargestPenalty));
}

AugmentedLagrangianResult augmented_lagrangian(const Problem& problem, MotionEvaluator& evaluator, const Plan& initial,
                                               const SolveOptions& options, const InnerSolver& inner) {
  AugmentedLagrangianResult result;
  if (problem.constraints.empty()) {
    result.rounds = 1;
    result.reason = inner(nullptr, options.tolerance).reason;
    return result;
  }
  Multipliers next = initial_multipliers(problem, initial_penalty(problem, evaluator, initial, options.gradient));
  double tolerance = std::max(options.tolerance, kFirstTolerance);
  double before = std::numeric_limits<double>::infinity();
  for (;;) {
    result.multipliers = next;
    const InnerResult at = inner(&result.multipliers, tolerance);
    ++result.rounds;
    result.reason = at.reason;
    if (!goes_on(at.reason) || !std::isfinite(at.motion->value)) return result;

    evaluator.set_parameters(*at.plan);
    evaluator.update(*at.plan, *at.motion, next);
    const double now = violation(result.multipliers, next);
    if (now <= options.feasibility) {
      // The constraints are met. That is the end if the inner solver was asked for all the accuracy there is, or has no
      // more to give.
      if (at.reason != StopReason::converged || tolerance <= options.tolerance) return result;
    } else if (!(now <= kEnoughFall * before)) {
      if (next.penalty >= kLargestPenalty) {
        result.reason = StopReason::infeasible;
        return result;
      }
      next.penalty = std::min(kLargestPenalty, kGrowth * next.penalty);
    }
    before = now;
    tolerance = std::max(options.tolerance, kTightening * tolerance);
  }
}

}  // namespace lithe::internal

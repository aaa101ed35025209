#include "lithe/optimize/solvers/best_plan.h"

#include <cmath>
#include <limits>
#include <utility>

#include "lithe/core/check.h"

namespace lithe::internal {

// A feasible plan beats every infeasible one; among feasible ones the cost decides, among infeasible ones the merit.
bool BestPlan::offer(const Plan& plan, double cost, double violation, double merit) {
  if (!std::isfinite(cost) || !std::isfinite(violation)) return false;
  const bool is_feasible = violation <= feasibility_;
  if (any_ && feasible() && !is_feasible) return false;
  if (any_ && feasible() == is_feasible && !(is_feasible ? cost < cost_ : merit < merit_)) return false;
  any_ = true;
  plan_ = plan;
  cost_ = cost;
  violation_ = violation;
  merit_ = merit;
  return true;
}

double BestPlan::feasible_cost() const { return feasible() ? cost_ : std::numeric_limits<double>::infinity(); }

void check_initial_motion(const EvaluatedMotion& motion) {
  LITHE_CHECK(motion.diverged_at < 0,
              "the initial plan leads to a motion that diverges in step {}; start from other controls",
              motion.diverged_at);
  LITHE_CHECK(std::isfinite(motion.cost) && std::isfinite(motion.violation),
              "the initial plan leads to a motion with a cost or a constraint that is not finite; start from other "
              "controls, or look at the residuals");
}

Solution finish_solution(MotionEvaluator& evaluator, const Plan& plan, StopReason reason, std::string message,
                         SolveLog& log, StageSeconds seconds) {
  EvaluatedMotion motion;
  {
    const StageClock clock(log, seconds.rollout);
    evaluator.run(plan, MotionEvaluator::Keep::nothing, nullptr, motion);
  }
  seconds.total = log.seconds();
  seconds.solve = seconds.total - seconds.rollout - seconds.derivatives;
  Solution solution;
  solution.plan = plan;
  solution.trajectory = {.q = std::move(motion.q),
                         .v = std::move(motion.v),
                         .status = std::move(motion.status),
                         .diverged_at = motion.diverged_at};
  solution.cost = motion.cost;
  solution.infeasibility = motion.violation;
  solution.reason = reason;
  solution.message = std::move(message);
  solution.iterations = log.iterations();
  solution.history = std::move(log.history());
  solution.seconds = seconds;
  return solution;
}

}  // namespace lithe::internal

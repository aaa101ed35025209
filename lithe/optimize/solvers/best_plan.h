#pragma once

#include <string>

#include "lithe/optimize/solve.h"
#include "lithe/optimize/solvers/evaluated_motion.h"

namespace lithe::internal {

// The best plan that a solver has come by: feasible before infeasible, then by cost; among infeasible ones by a merit that the solver
// chooses, the lower the better (as a rule the violation).
class BestPlan {
 public:
  explicit BestPlan(double feasibility) : feasibility_(feasibility) {}

  // Keeps a copy if it is better than all before, and says whether it is. Costs that are not finite never are.
  bool offer(const Plan& plan, double cost, double violation, double merit);
  bool offer(const Plan& plan, const EvaluatedMotion& motion) {
    return offer(plan, motion.cost, motion.violation, motion.violation);
  }
  // For merits that change their scale on the way.
  void set_merit(double merit) { merit_ = merit; }

  bool any() const { return any_; }
  bool feasible() const { return any_ && violation_ <= feasibility_; }
  const Plan& plan() const { return plan_; }
  double cost() const { return cost_; }
  double violation() const { return violation_; }
  double feasible_cost() const;  // infinite if none is feasible

 private:
  double feasibility_;
  bool any_ = false;
  Plan plan_;
  double cost_ = 0, violation_ = 0, merit_ = 0;
};

// Adds what passes in its scope to a number of seconds.
class StageClock {
 public:
  StageClock(const SolveLog& log, double& seconds) : log_(log), seconds_(seconds), start_(log.seconds()) {}
  ~StageClock() { seconds_ += log_.seconds() - start_; }
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

 private:
  const SolveLog& log_;
  double& seconds_;
  double start_;
};

// Throws an Error that says why an initial plan is no place to start from: its motion diverges, or its cost is not finite.
void check_initial_motion(const EvaluatedMotion& motion);

// What a solver returns: the plan carried out once more, and the log. `seconds` has the stages that were measured; what is left of the
// total counts as `solve`.
Solution finish_solution(MotionEvaluator& evaluator, const Plan& plan, StopReason reason, std::string message,
                         SolveLog& log, StageSeconds seconds);

}  // namespace lithe::internal

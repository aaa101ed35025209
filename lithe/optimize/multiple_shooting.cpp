#include "lithe/optimize/multiple_shooting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/core/check.h"
#include "lithe/optimize/solvers/best_plan.h"
#include "lithe/optimize/solvers/shooting_program.h"

namespace lithe {

using namespace internal;

namespace {

// A gradient is taken for zero if no entry of it is larger than this share of the cost, or of 1 where that is less.
constexpr double kNoGradient = 1e-12;
// A plan that contacts hold is moved so far that the number with the largest derivative would change by this much, then
// by twice as much, and so on.
constexpr double kFirstNudge = 1e-3;
constexpr int kNudges = 40;

// Refuses options that make no programme. A control must not be held across the end of a shot.
void check_options(const Problem& problem, const MultipleShootingOptions& options) {
  LITHE_CHECK(options.shot > 0 && options.shot % problem.hold == 0,
              "MultipleShootingOptions::shot is {}; it must be a positive multiple of Problem::hold, {}", options.shot,
              problem.hold);
  LITHE_CHECK(options.initial_barrier > 0, "MultipleShootingOptions::initial_barrier is {}; it must be positive",
              options.initial_barrier);
  LITHE_CHECK(options.tolerance > 0 && options.feasibility > 0,
              "SolveOptions::tolerance is {} and feasibility {}; both must be positive", options.tolerance,
              options.feasibility);
}

// Motions in which contacts hide what the controls could do: a body that stands still whatever small force acts has no
// derivative by that force, and IPOPT would see nothing to be gained. Constraints count with ρ = 1, λ = 0, so that they
// are seen as well.
class Hidden {
 public:
  Hidden(const Problem& problem, MotionEvaluator& evaluator)
      : problem_(problem), evaluator_(evaluator), costs_(problem), multipliers_(initial_multipliers(problem, 1)) {}

  // Something touches, the costs or constraints want another state, and nothing that is free changes it. `motion` is the plan's, with
  // its records.
  bool found(const Plan& plan, const EvaluatedMotion& motion, GradientOptions options) {
    const auto touches = [](const StepStatus& status) { return status.contacts > 0; };
    if (std::ranges::none_of(motion.status, touches) || !wants_other_states(plan, motion)) return false;
    options.complementarity_aware = false;
    return !shows(plan, motion, options);
  }

  // Moves the plan along the complementarity-aware gradient until the true one is not zero. False: it does not become so.
  bool leave(const GradientOptions& options, Plan& plan, EvaluatedMotion& motion) {
    GradientOptions exact = options;
    exact.complementarity_aware = false;
    if (!shows(plan, motion, options)) return false;
    const double largest = size();
    const PlanGradient direction = gradient_;
    double share = kFirstNudge;
    for (int k = 0; k < kNudges; ++k, share *= 2) {
      Plan moved = plan;
      moved.u -= share / largest * direction.u;
      if (moved.start.size() > 0) moved.start -= share / largest * direction.start;
      clamp(problem_, moved);
      evaluator_.run(moved, MotionEvaluator::Keep::records, &multipliers_, motion);
      if (motion.diverged_at >= 0) break;
      if (!shows(moved, motion, exact)) continue;
      plan = moved;
      return true;
    }
    evaluator_.run(plan, MotionEvaluator::Keep::records, &multipliers_, motion);
    return false;
  }

 private:
  // The largest entry of the gradient that was computed last.
  double size() const {
    double largest = gradient_.u.size() > 0 ? gradient_.u.cwiseAbs().maxCoeff() : 0;
    for (const VecX* part : {&gradient_.start, &gradient_.parameters}) {
      if (part->size() > 0) largest = std::max(largest, part->cwiseAbs().maxCoeff());
    }
    return largest;
  }

  // Whether the derivatives of this kind say that something free has an effect.
  bool shows(const Plan& plan, const EvaluatedMotion& motion, const GradientOptions& options) {
    evaluator_.gradient(plan, motion, &multipliers_, options, gradient_);
    return size() > kNoGradient * std::max(1.0, std::abs(motion.cost));
  }

  // Whether costs or constraints have a derivative by any state after the first. If not, there is nothing that contacts
  // could hide.
  bool wants_other_states(const Plan& plan, const EvaluatedMotion& motion) {
    const int states = 2 * problem_.model.nv();
    for (int t = 1; t <= problem_.steps; ++t) {
      const StepRecord* record = t < problem_.steps ? &motion.records[t] : nullptr;
      costs_.evaluate(evaluator_.point(plan, t, motion.q.col(t), motion.v.col(t), record), CostOrder::gradient,
                      &multipliers_, nullptr, expansion_);
      if (expansion_.gradient.head(states).cwiseAbs().maxCoeff() > 0) return true;
    }
    return false;
  }

  const Problem& problem_;
  MotionEvaluator& evaluator_;
  CostEvaluator costs_;
  CostExpansion expansion_;
  Multipliers multipliers_;
  PlanGradient gradient_;
};

// Why the solver stopped, for programs and for people.
struct Ending {
  StopReason reason;
  std::string message;
};

// IPOPT's outcome in the words that all solvers share. IPOPT stops on request for several reasons; the log knows which.
Ending ending_of(const IpoptResult& result, const SolveLog& log) {
  switch (result.outcome) {
    case IpoptOutcome::solved:
      return {StopReason::converged, "converged: the first-order conditions hold within the tolerance"};
    case IpoptOutcome::infeasible:
      return {
          StopReason::infeasible,
          "the constraints could not be met: their violation has a local minimum here; try more steps, wider bounds or "
          "another initial plan"};
    case IpoptOutcome::overdetermined:
      return {StopReason::infeasible,
              "there are more equality constraints than free numbers; free more, or ask for less"};
    case IpoptOutcome::stopped:
      if (log.reason() == StopReason::iteration_limit) return {log.reason(), "stopped at the limit of iterations"};
      if (log.reason() == StopReason::time_limit) return {log.reason(), "stopped at the limit of time"};
      return {StopReason::interrupted, "stopped on request"};
    case IpoptOutcome::not_finite:
      return {StopReason::stalled,
              "the motion diverges at the initial plan, or a cost or constraint is not finite there; try another one"};
    case IpoptOutcome::no_progress:
    case IpoptOutcome::failed: break;
  }
  return {StopReason::stalled, fmt::format("no step leads further ({}); try another initial plan, shorter shots, or "
                                           "smoother costs",
                                           result.words)};
}

}  // namespace

Solution multiple_shooting(const Problem& problem, const Plan& initial, const MultipleShootingOptions& options) {
  check_problem(problem);
  check_plan(problem, initial);
  check_options(problem, options);
  SolveLog log(options);
  StageSeconds seconds;
  ThreadPool pool(options.threads);
  MotionEvaluator evaluator(problem);
  BestPlan best(options.feasibility);
  EvaluatedMotion motion;

  Plan plan = initial;
  clamp(problem, plan);
  bool hidden = false;
  if (plan.q.size() == 0) {
    const StageClock clock(log, seconds.rollout);
    evaluator.run(plan, MotionEvaluator::Keep::records, nullptr, motion);
    check_initial_motion(motion);
    best.offer(plan, motion);
    Hidden contacts(problem, evaluator);
    // Where contacts hide what the controls could do, the plan is moved first, if complementarity-aware derivatives are
    // wanted.
    hidden = contacts.found(plan, motion, options.gradient);
    if (hidden && options.gradient.complementarity_aware) hidden = !contacts.leave(options.gradient, plan, motion);
    plan.q = motion.q;
    plan.v = motion.v;
  }

  GradientOptions gradient = options.gradient;
  gradient.complementarity_aware = false;
  ShootingProgram program(problem, plan, {.shot = options.shot, .gradient = gradient, .hessian = options.gauss_newton},
                          pool);
  const auto note = [&](const IpoptIteration& at) {
    return log.note({.iteration = at.iteration,
                     .cost = at.objective,
                     .infeasibility = at.infeasibility,
                     .step = at.step,
                     .gradient = at.dual_infeasibility,
                     .best_cost = at.best});
  };
  const IpoptResult result = solve_with_ipopt(program, {.tolerance = options.tolerance,
                                                        .feasibility = options.feasibility,
                                                        .barrier = options.initial_barrier,
                                                        .hessian = options.gauss_newton,
                                                        .iteration = note});
  seconds.rollout += result.evaluate_seconds;
  seconds.derivatives += result.linearize_seconds;

  // What IPOPT ended with and the best point on its way, each carried out from the start: only that says what the
  // controls are worth, as the programme's own states may still jump between shots.
  double gap = 0;
  bool improved = false;
  for (const VecX* x : {&result.x, &result.best}) {
    if (x->size() == 0 || !program.evaluate(*x)) continue;
    Plan candidate = program.plan();
    clamp(problem, candidate);
    evaluator.run(candidate, MotionEvaluator::Keep::nothing, nullptr, motion);
    if (!best.offer(candidate, motion)) continue;
    gap = program.largest_gap();
    improved = true;
  }
  Ending ending = ending_of(result, log);
  if (hidden && !improved && !log.exhausted()) {
    ending = {StopReason::saddle,
              "no control changes anything at the initial plan, because contacts hide it; try another plan, or "
              "GradientOptions::complementarity_aware"};
  }
  if (ending.reason == StopReason::infeasible && best.feasible()) {
    ending = {
        StopReason::stalled,
        "it went on from a motion that meets all constraints and found no way back to them; that motion is returned"};
  }
  if (ending.reason == StopReason::converged && best.any() && !best.feasible()) {
    ending.message += fmt::format(
        ", but the motion from the start violates a constraint by {:.3g}: steps amplify the jumps that are left "
        "between shots; "
        "try a smaller SolveOptions::feasibility",
        best.violation());
  }
  Solution solution =
      finish_solution(evaluator, best.any() ? best.plan() : plan, ending.reason, ending.message, log, seconds);
  solution.infeasibility = std::max(solution.infeasibility, gap);
  return solution;
}

}  // namespace lithe

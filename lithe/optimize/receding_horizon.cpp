#include "lithe/optimize/receding_horizon.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"
#include "lithe/optimize/solvers/evaluated_motion.h"

namespace lithe {

using namespace internal;

namespace {

// Whether a plan leads to a motion that does not diverge, from where the problem starts now. DDP refuses any other.
bool leads_somewhere(const Problem& problem, const Plan& plan) {
  MotionEvaluator evaluator(problem);
  EvaluatedMotion motion;
  evaluator.run(plan, MotionEvaluator::Keep::nothing, nullptr, motion);
  return std::isfinite(motion.cost);
}

}  // namespace

RecedingHorizon::RecedingHorizon(Problem problem, const DdpOptions& options, int first_iterations)
    : problem_(std::move(problem)), options_(options), first_iterations_(first_iterations) {
  check_problem(problem_);
  plan_ = initial_plan(problem_);
}

RecedingHorizon::RecedingHorizon(Problem problem, const DdpOptions& options, const Plan& first, int first_iterations)
    : problem_(std::move(problem)), options_(options), first_iterations_(first_iterations), plan_(first) {
  check_problem(problem_);
  check_plan(problem_, plan_);
}

const VecX& RecedingHorizon::update(const State& now, int steps) {
  check_configuration(problem_.model, now.q);
  check_tangent(problem_.model, now.v, "RecedingHorizon::update: v");
  LITHE_CHECK(steps >= 0 && steps % problem_.hold == 0,
              "{} steps have passed, but a plan moves by whole knots of {} steps", steps, problem_.hold);
  if (updates_ > 0) {
    // What was done until now is what the next controls are compared with.
    if (steps > 0) problem_.u_before = plan_.u.col(std::min<Eigen::Index>(steps / problem_.hold, plan_.u.cols()) - 1);
    shift(problem_, steps, plan_);
  }
  problem_.start = now;
  bool anew = false;
  if (updates_ > 0 && !leads_somewhere(problem_, plan_)) {
    plan_ = initial_plan(problem_);
    anew = true;
  }
  DdpOptions options = options_;
  if (updates_ == 0 || anew) options.max_iterations = first_iterations_;
  solution_ = ddp(problem_, plan_, options);
  if (anew) solution_.message = "the old plan led nowhere, planned anew; " + solution_.message;
  plan_ = solution_.plan;
  u_ = plan_.u.col(0);
  ++updates_;
  return u_;
}

}  // namespace lithe

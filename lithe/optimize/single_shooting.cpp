#include "lithe/optimize/single_shooting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/optimize/numerics/projected_lbfgs.h"
#include "lithe/optimize/solvers/augmented_lagrangian.h"
#include "lithe/optimize/solvers/best_plan.h"
#include "lithe/optimize/solvers/free_variables.h"

namespace lithe {

using namespace internal;

namespace {

using Descent = SingleShootingOptions::Method;

// A gradient is taken for zero if no entry of it is larger than this share of the cost, or of 1 where that is less.
constexpr double kVanishing = 1e-12;
constexpr int kHalvings = 20;  // of a step whose motion diverges, before it is given up

// Kingma & Ba 2015, algorithm 1. Their ε is smaller here: gradients by short pushes are small.
class Adam {
 public:
  void forget() { count_ = 0; }

  VecX step(const VecX& gradient, double rate) {
    constexpr double kFirst = 0.9, kSecond = 0.999, kEpsilon = 1e-12;
    if (count_ == 0) first_ = second_ = VecX::Zero(gradient.size());
    ++count_;
    first_ = kFirst * first_ + (1 - kFirst) * gradient;
    second_ = kSecond * second_ + (1 - kSecond) * gradient.cwiseAbs2();
    const VecX mean = first_ / (1 - std::pow(kFirst, count_)), square = second_ / (1 - std::pow(kSecond, count_));
    return -rate * mean.array() / (square.array().sqrt() + kEpsilon);
  }

 private:
  int count_ = 0;
  VecX first_, second_;
};

// The solver: where it is (y_, plan_, motion_ and the gradient there) and where it might go (next_…). It works on the
// calling thread alone.
class Shooter {
 public:
  Shooter(const Problem& problem, const Plan& initial, const SingleShootingOptions& options)
      : problem_(problem),
        options_(options),
        log_(options),
        variables_(problem),
        evaluator_(problem),
        best_(options.feasibility),
        lbfgs_(variables_.lower(), variables_.upper(), options.memory),
        y_(variables_.pack(initial)) {
    variables_.unpack(y_, plan_);
  }

  Solution solve();

 private:
  StopReason lower(const Multipliers* multipliers, double tolerance);
  StopReason at_zero_gradient();
  double run(const VecX& y, Plan& plan, EvaluatedMotion& motion);
  void differentiate();
  double advance();
  double walk(const VecX& step);
  bool note(double step);
  bool gradient_is_zero(const VecX& gradient) const;
  double first_order() const;
  std::string message(StopReason reason) const;

  const Problem& problem_;
  const SingleShootingOptions& options_;
  SolveLog log_;
  FreeVariables variables_;
  MotionEvaluator evaluator_;
  BestPlan best_;
  ProjectedLbfgs lbfgs_;
  Adam adam_;
  StageSeconds seconds_;
  const Multipliers* multipliers_ = nullptr;

  // Where we are, and where we might go.
  VecX y_, next_y_;
  Plan plan_, next_plan_;
  EvaluatedMotion motion_, next_;
  VecX gradient_;  // by y
  PlanGradient plan_gradient_;
};

// Carries out the plan that y stands for, with its records, and returns its value. That is infinite where the motion
// diverges, and where the model refuses the numbers, as it may a mix of inertias that are possible one by one.
double Shooter::run(const VecX& y, Plan& plan, EvaluatedMotion& motion) {
  const StageClock clock(log_, seconds_.rollout);
  variables_.unpack(y, plan);
  if (!is_finite(plan)) return std::numeric_limits<double>::infinity();
  try {
    evaluator_.set_parameters(plan);
  } catch (const Error&) {
    return std::numeric_limits<double>::infinity();
  }
  evaluator_.run(plan, MotionEvaluator::Keep::records, multipliers_, motion);
  return motion.value;
}

// The gradient at the motion at hand. The chain rule for x = scale · y is in FreeVariables::pack().
void Shooter::differentiate() {
  const StageClock clock(log_, seconds_.derivatives);
  evaluator_.gradient(plan_, motion_, multipliers_, options_.gradient, plan_gradient_);
  gradient_ = variables_.pack(plan_gradient_);
}

// The size of the first-order conditions, scaled: what `tolerance` is compared with.
double Shooter::first_order() const {
  return variables_.first_order(y_, gradient_) / std::max(1.0, std::abs(motion_.value));
}

bool Shooter::gradient_is_zero(const VecX& gradient) const {
  return gradient.cwiseAbs().maxCoeff() <= kVanishing * std::max(1.0, std::abs(motion_.value));
}

// A step wherever it leads, as long as the motion does not diverge.
double Shooter::walk(const VecX& step) {
  double share = 1;
  for (int k = 0; k < kHalvings; ++k, share /= 2) {
    next_y_ = variables_.project(y_ + share * step);
    if (std::isfinite(run(next_y_, next_plan_, next_))) return (next_y_ - y_).norm();
  }
  return 0;
}

// To the next point. Returns the length of the step; 0: there is none.
double Shooter::advance() {
  double length = 0;
  switch (options_.method) {
    case Descent::gradient_descent:
      // The paper's descent is in x itself: δx = −rate ∂/∂x is δy = −rate (∂/∂y)/scale².
      length = walk(-options_.rate * gradient_.cwiseQuotient(variables_.scale().cwiseAbs2()));
      break;
    case Descent::adam: length = walk(adam_.step(gradient_, options_.rate)); break;
    case Descent::lbfgs:
      length = lbfgs_.advance(
          y_, motion_.value, gradient_, [&](const VecX& y) { return run(y, next_plan_, next_); }, next_y_);
      break;
  }
  if (length == 0) return 0;
  std::swap(y_, next_y_);
  std::swap(plan_, next_plan_);
  std::swap(motion_, next_);
  return length;
}

// Logs the motion at hand and offers it as the best. Returns whether to go on.
bool Shooter::note(double step) {
  best_.offer(plan_, motion_);
  return log_.note({.iteration = log_.history().empty() ? 0 : log_.iterations() + 1,
                    .cost = motion_.cost,
                    .infeasibility = motion_.violation,
                    .step = step,
                    .gradient = gradient_.allFinite() ? first_order() : 0,
                    .best_cost = best_.feasible_cost()});
}

// Either nothing is left to gain, or contacts hide it.
StopReason Shooter::at_zero_gradient() {
  // Without contacts nothing can be hidden, and at zero cost there is nothing left to gain.
  const bool at_rest = motion_.cost == 0 && motion_.violation <= options_.feasibility;
  const bool touching = std::ranges::any_of(motion_.status, [](const StepStatus& status) { return status.rows > 0; });
  if (at_rest || !touching) return StopReason::converged;
  const StopReason otherwise = log_.iterations() == 0 ? StopReason::stalled : StopReason::converged;
  if (options_.gradient.complementarity_aware) return otherwise;
  GradientOptions aware = options_.gradient;
  aware.complementarity_aware = true;
  PlanGradient gradient;
  evaluator_.gradient(plan_, motion_, multipliers_, aware, gradient);
  return gradient_is_zero(variables_.pack(gradient)) ? otherwise : StopReason::saddle;
}

// Makes EvaluatedMotion::value small from where we are.
StopReason Shooter::lower(const Multipliers* multipliers, double tolerance) {
  multipliers_ = multipliers;
  lbfgs_.forget();
  adam_.forget();
  run(y_, plan_, motion_);
  const bool first = log_.history().empty();
  if (first) check_initial_motion(motion_);
  differentiate();
  if (first) note(0);
  for (;;) {
    if (log_.exhausted() && log_.reason() == StopReason::interrupted) return StopReason::interrupted;
    if (!gradient_.allFinite()) return StopReason::stalled;
    // A gradient that overflowed and was cut lacks a part of the motion, so nothing is concluded from its size.
    if (plan_gradient_.report.cuts == 0) {
      if (gradient_is_zero(gradient_)) return at_zero_gradient();
      if (first_order() <= tolerance) return StopReason::converged;
    }
    if (log_.exhausted()) return log_.reason();
    const double step = advance();
    if (step == 0) return StopReason::stalled;
    differentiate();
    note(step);
  }
}

// Why the solver stopped, as a sentence, with what to try next.
std::string Shooter::message(StopReason reason) const {
  switch (reason) {
    case StopReason::converged: return "the first-order conditions hold to the tolerance";
    case StopReason::saddle:
      return "all derivatives vanish: contacts hold the bodies whatever the controls do; try complementarity-aware "
             "gradients (GradientOptions::complementarity_aware)";
    case StopReason::stalled:
      if (!gradient_.allFinite() || plan_gradient_.report.cuts > 0) {
        return "the gradient is too large for a number: the motion is chaotic; try a shorter one, or multiple shooting";
      }
      if (gradient_is_zero(gradient_)) {
        return "all derivatives vanish, complementarity-aware ones too; try other initial controls or "
               "stochastic_search()";
      }
      if (plan_gradient_.report.is_exact()) {
        return fmt::format(
            "no step along the gradient leads further down: rounding hides what is left; the first-order conditions "
            "hold to {:.2g}",
            first_order());
      }
      return fmt::format(
          "no step along the gradient leads further down, short of the tolerance; it is not the derivative of the "
          "motion "
          "as computed ({}): try Method::adam, GradientOptions::exact() or other initial controls",
          to_string(plan_gradient_.report));
    case StopReason::infeasible:
      return fmt::format(
          "the constraints could not be met: the best motion violates one by {:.3g}; look at the bounds "
          "and the length of the motion",
          best_.violation());
    case StopReason::iteration_limit: return "the iterations are used up (SolveOptions::max_iterations)";
    case StopReason::time_limit: return "the time is used up (SolveOptions::max_seconds)";
    case StopReason::interrupted: return "stopped by SolveOptions::progress";
  }
  return {};
}

// Constraints are the augmented Lagrangian's affair, which calls lower() once per round.
Solution Shooter::solve() {
  const StopReason reason = augmented_lagrangian(problem_, evaluator_, plan_, options_,
                                                 [&](const Multipliers* multipliers, double tolerance) {
                                                   const StopReason stop = lower(multipliers, tolerance);
                                                   return InnerResult{stop, &plan_, &motion_};
                                                 })
                                .reason;
  // Where the constraints hold only to the tolerance, a point on the way may be cheaper than the end by as much; the end is what the
  // first-order conditions hold at.
  const bool end_is_best = reason == StopReason::converged && !problem_.constraints.empty();
  return finish_solution(evaluator_, end_is_best ? plan_ : best_.plan(), reason, message(reason), log_, seconds_);
}

}  // namespace

Solution single_shooting(const Problem& problem, const Plan& initial, const SingleShootingOptions& options) {
  check_problem(problem);
  check_plan(problem, initial);
  LITHE_CHECK(options.rate > 0, "SingleShootingOptions::rate is {}; it must be positive", options.rate);
  LITHE_CHECK(options.memory >= 0, "SingleShootingOptions::memory is {}; it must not be negative", options.memory);
  return Shooter(problem, initial, options).solve();
}

}  // namespace lithe

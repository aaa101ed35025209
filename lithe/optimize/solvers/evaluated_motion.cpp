#include "lithe/optimize/solvers/evaluated_motion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/step/step.h"

namespace lithe::internal {

namespace {

// The names of the free parameters, in their order.
std::vector<std::string> names_of(const std::vector<FreeParameter>& parameters) {
  std::vector<std::string> names;
  for (const FreeParameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

}  // namespace

MotionEvaluator::MotionEvaluator(const Problem& problem)
    : problem_(problem),
      model_(problem.model),
      parameters_(problem.model, names_of(problem.free_parameters)),
      costs_(problem),
      first_before_(problem.u_before.size() > 0 ? problem.u_before : VecX::Zero(problem.controls())) {
  model_values_ = lithe::parameters(model_, parameters_.names());
}

State MotionEvaluator::start_of(const Plan& plan) const {
  State start = problem_.start;
  if (plan.start.size() == 0) return start;
  VecX offset = VecX::Zero(model_.nv());
  for (std::size_t k = 0; k < problem_.free_start.size(); ++k) {
    const FreeStart& free = problem_.free_start[k];
    (free.velocity ? start.v : offset)[free.dof] += plan.start[k];
  }
  start.q = retract(model_, problem_.start.q, offset);
  return start;
}

// Writes the plan's numbers to the model, but only where they are others than before: a model checks what is written to
// it and prepares its constants anew.
void MotionEvaluator::set_parameters(const Plan& plan) {
  if (parameters_.size() == 0) return;
  const VecX values =
      plan.parameters.size() > 0 ? plan.parameters : lithe::parameters(problem_.model, parameters_.names());
  if (values == model_values_) return;
  lithe::set_parameters(model_, parameters_.names(), values);
  model_values_ = values;
}

void MotionEvaluator::control_of(const Plan& plan, int t, Control& out) const {
  out.tau.setZero(model_.nv());
  for (int k = 0; k < problem_.controls(); ++k) out.tau[problem_.actuated[k]] = plan.u(k, t / problem_.hold);
  out.motor_targets = problem_.motor_targets;
}

ResidualPoint MotionEvaluator::point(const Plan& plan, int t, const ConstVecRef& q, const ConstVecRef& v,
                                     const StepRecord* record) {
  // Not the thread's own stages: a residual may take steps.
  kinematics(model_, q, v, kin_);
  const bool at_end = t == problem_.steps;
  const auto knot = [&](int step) { return plan.u.col(step / problem_.hold); };
  return {.model = model_,
          .t = t,
          .q = q,
          .v = v,
          .u = at_end ? ConstVecRef(no_controls_) : ConstVecRef(knot(t)),
          .u_before = t == 0 ? ConstVecRef(first_before_) : ConstVecRef(knot(t - 1)),
          .kin = kin_,
          .record = record,
          .parameters = parameters_};
}

// Takes T steps and adds up what each time costs. After a step that diverges the state stands still, so that the
// trajectory has its full size, and the cost is infinite.
void MotionEvaluator::run(const Plan& plan, Keep keep, const Multipliers* multipliers, EvaluatedMotion& out,
                          const Steering& steering) {
  set_parameters(plan);
  const int steps = problem_.steps;
  out.q.resize(model_.nq(), steps + 1);
  out.v.resize(model_.nv(), steps + 1);
  const std::size_t wanted = keep == Keep::records ? steps : 1;
  if (out.records.size() < wanted) out.records.resize(wanted);
  if (keep == Keep::guesses) out.guesses.resize(steps);
  out.status.clear();
  out.cost = out.value = out.violation = 0;
  out.diverged_at = -1;
  state_ = start_of(plan);
  out.q.col(0) = state_.q;
  out.v.col(0) = state_.v;
  const auto add = [&](const ResidualPoint& at) {
    costs_.evaluate(at, CostOrder::value, multipliers, nullptr, expansion_);
    out.cost += expansion_.cost;
    out.value += expansion_.value;
    out.violation = std::max(out.violation, expansion_.violation);
    // std::max passes over NaN.
    if (!std::isfinite(expansion_.violation)) out.violation = std::numeric_limits<double>::infinity();
  };
  const WarmStart* guess = nullptr;
  for (int t = 0; t < steps; ++t) {
    if (steering.stops && steering.stops(t)) {
      out.diverged_at = t;
      break;
    }
    StepRecord& record = out.records[keep == Keep::records ? t : 0];
    if (steering.choose) steering.choose(t, state_);
    control_of(plan, t, control_);
    if (keep == Keep::guesses && guess) out.guesses[t] = *guess;
    step(model_, state_, control_, problem_.step, record, guess);
    out.status.push_back(record.status);
    if (record.status.diverged) {
      out.diverged_at = t;
      break;
    }
    add(point(plan, t, out.q.col(t), out.v.col(t), &record));
    state_ = record.next;
    if (steering.move) steering.move(t, state_);
    out.q.col(t + 1) = state_.q;
    out.v.col(t + 1) = state_.v;
    guess = &record.warm_start;
  }
  if (out.diverged_at < 0) {
    add(point(plan, steps, out.q.col(steps), out.v.col(steps), nullptr));
  } else {
    for (int t = out.diverged_at + 1; t <= steps; ++t) {
      out.q.col(t) = out.q.col(out.diverged_at);
      out.v.col(t) = out.v.col(out.diverged_at);
    }
  }
  if (out.diverged_at >= 0 || !std::isfinite(out.cost) || !std::isfinite(out.value)) {
    out.cost = out.value = std::numeric_limits<double>::infinity();
  }
}

void MotionEvaluator::repeat(const Plan& plan, const EvaluatedMotion& motion, int t, StepRecord& record) {
  set_parameters(plan);
  state_.q = motion.q.col(t);
  state_.v = motion.v.col(t);
  control_of(plan, t, control_);
  step(model_, state_, control_, problem_.step, record, t > 0 ? &motion.guesses[t] : nullptr);
}

// The adjoint recursion, from the end to the start (Bryson & Ho 1975, §2.2), with ℓ_t the costs at time t and λ_t the
// derivative of the value by the state x_t:
//
//   λ_T = ∂ℓ_T/∂x,   λ_t = ∂ℓ_t/∂x + (∂x_{t+1}/∂x_t)ᵀ λ_{t+1},   ∂value/∂u_t = ∂ℓ_t/∂u + (∂x_{t+1}/∂u_t)ᵀ λ_{t+1}
//
// step_vjp() multiplies by the transposed derivatives of a step without forming them. Costs may depend on its impulses
// too, so these have a part in what it starts from (cotangent_.f).
void MotionEvaluator::gradient(const Plan& plan, const EvaluatedMotion& motion, const Multipliers* multipliers,
                               const GradientOptions& options, PlanGradient& out) {
  set_parameters(plan);
  const int steps = problem_.steps, nv = model_.nv(), m = problem_.controls();
  out.u.setZero(m, problem_.knots());
  out.parameters.setZero(parameters_.size());
  out.report.clear(steps);
  cotangent_.q.setZero(nv);
  cotangent_.v.setZero(nv);
  if (gradient_.parameters.names() != parameters_.names()) gradient_.parameters = parameters_;
  gradient_.bounce = options.bounce;
  gradient_.complementarity_aware = options.complementarity_aware;
  const auto expand = [&](const ResidualPoint& at) {
    costs_.evaluate(at, CostOrder::gradient, multipliers, nullptr, expansion_);
    out.parameters += expansion_.parameters;
    if (at.t > 0) out.u.col((at.t - 1) / problem_.hold) += expansion_.gradient.segment(expansion_.u_before, m);
  };
  expand(point(plan, steps, motion.q.col(steps), motion.v.col(steps), nullptr));
  cotangent_.q = expansion_.gradient.segment(expansion_.q, nv);
  cotangent_.v = expansion_.gradient.segment(expansion_.v, nv);
  for (int t = steps - 1; t >= 0; --t) {
    const StepRecord& record = motion.records[t];
    expand(point(plan, t, motion.q.col(t), motion.v.col(t), &record));
    cotangent_.f = expansion_.f;
    step_vjp(model_, record, cotangent_, vjp_, gradient_);
    out.report.note(t, vjp_.report);
    if (vjp_.report.overflowed) {
      // What comes after is too large to be carried on, and is left out.
      ++out.report.cuts;
      out.report.cut_at = t;
    }
    auto u = out.u.col(t / problem_.hold);
    for (int k = 0; k < m; ++k) u[k] += vjp_.tau[problem_.actuated[k]];
    u += expansion_.gradient.segment(expansion_.u, m);
    if (parameters_.size() > 0) out.parameters += vjp_.parameters;
    cotangent_.q = vjp_.q + expansion_.gradient.segment(expansion_.q, nv);
    cotangent_.v = vjp_.v + expansion_.gradient.segment(expansion_.v, nv);
  }
  out.start.resize(static_cast<Eigen::Index>(problem_.free_start.size()));
  if (out.start.size() == 0) return;
  // q = q₀ ⊕ offset: a ball's offset acts through its right Jacobian.
  VecX offset = VecX::Zero(nv);
  for (std::size_t k = 0; k < problem_.free_start.size(); ++k) {
    if (!problem_.free_start[k].velocity && plan.start.size() > 0) offset[problem_.free_start[k].dof] += plan.start[k];
  }
  const VecX by_offset = retract_derivative_delta(model_, offset).transpose() * cotangent_.q;
  for (std::size_t k = 0; k < problem_.free_start.size(); ++k) {
    const FreeStart& free = problem_.free_start[k];
    out.start[k] = free.velocity ? cotangent_.v[free.dof] : by_offset[free.dof];
  }
}

void MotionEvaluator::update(const Plan& plan, const EvaluatedMotion& motion, Multipliers& multipliers) {
  set_parameters(plan);
  for (int t = 0; t <= problem_.steps; ++t) {
    const StepRecord* record = t < problem_.steps ? &motion.records[t] : nullptr;
    costs_.evaluate(point(plan, t, motion.q.col(t), motion.v.col(t), record), CostOrder::value, nullptr, nullptr,
                    expansion_);
    for (std::size_t k = 0; k < problem_.constraints.size(); ++k) {
      const VecX& c = expansion_.constraints[k];
      for (int i = 0; i < c.size(); ++i) {
        double& lambda = multipliers.lambda[k](i, t);
        lambda += multipliers.penalty * c[i];
        if (problem_.constraints[k].kind == PathConstraint::Kind::not_positive) lambda = std::max(0.0, lambda);
      }
    }
  }
}

}  // namespace lithe::internal

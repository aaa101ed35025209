#include "lithe/rollout/rollout_gradient.h"

#include <cmath>
#include <limits>
#include <span>

#include "lithe/core/check.h"
#include "lithe/step/internal/record_prefetch.h"

namespace lithe {

using namespace internal;

namespace {

void check_part(const MatX& part, const char* name, Eigen::Index rows, int columns) {
  if (part.size() == 0) return;
  LITHE_CHECK(part.rows() == rows && part.cols() == columns,
              "the gradient by {} is {} × {}; for this rollout it must be {} × {}", name, part.rows(), part.cols(),
              rows, columns);
  for (int t = 0; t < columns; ++t) {
    for (Eigen::Index i = 0; i < rows; ++i) {
      LITHE_CHECK(std::isfinite(part(i, t)), "step {}: the gradient by {}[{}] is {}; it must be finite", t, name, i,
                  part(i, t));
    }
  }
}

void check_inputs(const Model& model, const Rollout& rollout, const RolloutCotangent& by) {
  const Trajectory& trajectory = rollout.trajectory;
  LITHE_CHECK(rollout.tape != Tape::none, "this rollout has no tape: make it with Tape::records or Tape::checkpoints");
  LITHE_CHECK(trajectory.q.rows() == model.nq() && trajectory.v.rows() == model.nv(),
              "this rollout is of another model: it has {} entries in q and {} in v, the model has {} and {}",
              trajectory.q.rows(), trajectory.v.rows(), model.nq(), model.nv());
  check_part(by.q, "q", model.nv(), trajectory.steps() + 1);
  check_part(by.v, "v", model.nv(), trajectory.steps() + 1);
  check_part(by.tau, "tau", model.nv(), trajectory.steps());
}

template <class Vector>
void add_column(const MatX& from, int t, Vector&& to) {
  if (from.size() > 0) to += from.col(t);
}

// What comes after state t is too large to be carried on: λ starts anew from there.
void cut(int t, const RolloutCotangent& by, StepCotangent& lambda, RolloutReport& report) {
  ++report.cuts;
  report.cut_at = t;
  lambda.q.setZero();
  lambda.v.setZero();
  add_column(by.q, t, lambda.q);
  add_column(by.v, t, lambda.v);
}

// λ_{t+1} → λ_t, and what belongs to step t.
void step_back(const Model& model, const StepRecord& record, int t, const RolloutCotangent& by,
               const RolloutOptions& options, RolloutVjpWorkspace& workspace, RolloutGradient& out) {
  StepVjp& vjp = workspace.vjp;
  step_vjp(model, record, workspace.lambda, vjp, options.gradient);
  out.report.note(t, vjp.report);
  add_column(by.q, t, vjp.q);
  add_column(by.v, t, vjp.v);
  add_column(by.tau, t, vjp.tau);
  const bool finite = !vjp.report.overflowed && vjp.q.allFinite() && vjp.v.allFinite() && vjp.tau.allFinite() &&
                      vjp.parameters.allFinite() && vjp.motor_targets.allFinite();
  if (!finite) [[unlikely]]
    return cut(t, by, workspace.lambda, out.report);
  workspace.lambda.q = vjp.q;
  workspace.lambda.v = vjp.v;
  out.tau.col(t) = vjp.tau;
  if (out.step_parameters.rows() > 0) out.step_parameters.col(t) = vjp.parameters;
  if (out.motor_targets.rows() > 0) out.motor_targets.col(t) = vjp.motor_targets;
}

// From the end back to where the model has stood still since, if it diverged: x_{t+1} = x_t.
void stand_back(const Trajectory& trajectory, const RolloutCotangent& by, StepCotangent& lambda,
                RolloutReport& report) {
  lambda.q.setZero(trajectory.v.rows());
  lambda.v.setZero(trajectory.v.rows());
  for (int t = trajectory.steps(); t >= trajectory.moved(); --t) {
    add_column(by.q, t, lambda.q);
    add_column(by.v, t, lambda.v);
    if (!lambda.q.allFinite() || !lambda.v.allFinite()) [[unlikely]]
      cut(t, by, lambda, report);
  }
}

void sum_parameters(RolloutGradient& out) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  out.parameters.setZero(out.step_parameters.rows());
  for (Eigen::Index t = 0; t < out.step_parameters.cols(); ++t) out.parameters += out.step_parameters.col(t);
  out.parameters = out.parameters.cwiseMax(-kLargest).cwiseMin(kLargest);
}

// Back through the steps of one stretch between checkpoints.
void stretch_back(const Model& model, const Rollout& rollout, int first, int count, const RolloutCotangent& by,
                  const RolloutOptions& options, RolloutVjpWorkspace& workspace, RolloutGradient& out) {
  std::span<const StepRecord> records;
  if (rollout.tape == Tape::records) {
    records = std::span(rollout.records).subspan(first, count);
  } else {
    if (workspace.records.size() < static_cast<std::size_t>(count)) workspace.records.resize(count);
    repeat_steps(model, rollout, first, count, workspace.arguments, workspace.records);
    records = std::span(workspace.records).first(count);
  }
  for (int i = count - 1; i >= 0; --i) {
    // The records of a long stretch have left the cache since they were written.
    if (i >= 2) prefetch_record(records[i - 2]);
    if (i >= 1) prefetch_buffers(records[i - 1]);
    step_back(model, records[i], first + i, by, options, workspace, out);
  }
}

}  // namespace

void rollout_vjp(const Model& model, const Rollout& rollout, const RolloutCotangent& by, const RolloutOptions& options,
                 RolloutVjpWorkspace& workspace, RolloutGradient& out) {
  check_inputs(model, rollout, by);
  const int steps = rollout.trajectory.steps();
  out.report.clear(steps);
  out.report.diverged_at = rollout.trajectory.diverged_at;
  LITHE_CHECK(!options.gradient.wrenches, "rollout_vjp: gradients by wrenches are step_vjp()'s alone");
  out.step_parameters.setZero(options.gradient.parameters.size(), steps);
  out.motor_targets.setZero(options.gradient.motor_targets ? static_cast<Eigen::Index>(model.motors().size()) : 0,
                            steps);
  if (by.tau.size() > 0) {
    out.tau = by.tau;
  } else {
    out.tau.setZero(model.nv(), steps);
  }

  stand_back(rollout.trajectory, by, workspace.lambda, out.report);
  for (int end = rollout.trajectory.moved(); end > 0;) {
    const int first = (end - 1) / rollout.checkpoint_every * rollout.checkpoint_every;
    stretch_back(model, rollout, first, end - first, by, options, workspace, out);
    end = first;
  }
  out.q = workspace.lambda.q;
  out.v = workspace.lambda.v;
  sum_parameters(out);
}

void rollout_gradient(const Model& model, const State& start, const Controls& controls, const RolloutLoss& loss,
                      const RolloutOptions& options, RolloutWorkspace& workspace, RolloutGradient& out) {
  Rollout& motion = workspace.rollout;
  rollout(model, start, controls, options, motion);
  const LossValue value = evaluate_loss(loss, motion.trajectory, motion.controls, workspace.cotangent);
  rollout_vjp(model, motion, workspace.cotangent, options, workspace.vjp, out);
  out.value = value.value;
  out.report.loss_overflow_at = value.overflow_at;
}

RolloutGradient rollout_gradient(const Model& model, const State& start, const Controls& controls,
                                 const RolloutLoss& loss, const RolloutOptions& options) {
  RolloutWorkspace workspace;
  RolloutGradient gradient;
  rollout_gradient(model, start, controls, loss, options, workspace, gradient);
  return gradient;
}

}  // namespace lithe

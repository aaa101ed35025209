#pragma once

#include "lithe/rollout/rollout_loss.h"
#include "lithe/rollout/rollout_report.h"
#include "lithe/step/step_vjp.h"

namespace lithe {

// The gradient of a loss by everything that a rollout starts from.
struct RolloutGradient {
  double value = 0;  // of the loss
  VecX q;            // nv, by the initial q, in its tangent
  VecX v;            // nv, by the initial v
  MatX tau;          // nv × T
  VecX parameters;   // one per GradientOptions::parameters: of numbers that hold for all steps
  MatX
      step_parameters;  // parameters × T: of numbers that may differ from step to step (motor targets). Its row sums are
                        // `parameters`
  MatX motor_targets;   // motors × T, if GradientOptions asks for them: what Controls::motor_targets holds
  RolloutReport report;
};

// Memory that is kept from one call to the next.
struct RolloutVjpWorkspace {
  StepVjp vjp;
  StepCotangent lambda;             // by the state after the step at hand
  std::vector<StepRecord> records;  // Tape::checkpoints: of the k steps that are taken once more
  StepArguments arguments;
};

// The gradient of a loss from its gradient `by` all states and forces, back through the steps of `rollout`:
//
//   λ_T = by_T,   λ_t = (∂x_{t+1}/∂x_t)ᵀ λ_{t+1} + by_t,   x = (q, v)
//
// for losses of any kind, also those that are no sum over time. `model` must be the one of the rollout, which is only
// read; of `options`, what belongs to the gradient counts. Wrong sizes and numbers that are not finite are Errors which
// name the step. Where it diverged, the model stands still: λ passes unchanged. The result is finite, and its report
// says what it is. `out.value` is left alone. A second call like the first allocates nothing.
void rollout_vjp(const Model& model, const Rollout& rollout, const RolloutCotangent& by, const RolloutOptions& options,
                 RolloutVjpWorkspace& workspace, RolloutGradient& out);

// A rollout, its loss and the gradient of it.
struct RolloutWorkspace {
  Rollout rollout;             // the motion, to look at
  RolloutCotangent cotangent;  // of the loss
  RolloutVjpWorkspace vjp;
};
void rollout_gradient(const Model& model, const State& start, const Controls& controls, const RolloutLoss& loss,
                      const RolloutOptions& options, RolloutWorkspace& workspace, RolloutGradient& out);

// In one call, for occasional use.
RolloutGradient rollout_gradient(const Model& model, const State& start, const Controls& controls,
                                 const RolloutLoss& loss, const RolloutOptions& options = {});

}  // namespace lithe

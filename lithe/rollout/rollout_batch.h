#pragma once

#include <span>
#include <vector>

#include "lithe/core/thread_pool.h"
#include "lithe/rollout/rollout_gradient.h"

namespace lithe {

// One rollout of many. What it points to must stay until it is done; several tasks may share it.
struct RolloutTask {
  const Model* model = nullptr;
  State start = {};
  const Controls* controls = nullptr;
  const RolloutLoss* loss = nullptr;  // for gradients; called from several threads
};

struct RolloutResult {
  Trajectory trajectory;
  RolloutGradient gradient;  // as it was, if none was asked for
};

// Results, and memory that is kept from one call to the next.
struct RolloutBatch {
  std::vector<RolloutResult> results;     // one per task
  std::vector<RolloutWorkspace> workers;  // one per thread of the pool: tapes live no longer than their gradient
};

// All tasks, each a rollout of its own: results[i] has the bits that a single rollout of tasks[i] has, on any number of
// threads. An Error names the rollout, the step and the entry. A second call like the first allocates nothing.
void rollouts(std::span<const RolloutTask> tasks, const RolloutOptions& options, ThreadPool& pool, RolloutBatch& out);
void rollout_gradients(std::span<const RolloutTask> tasks, const RolloutOptions& options, ThreadPool& pool,
                       RolloutBatch& out);

// The sum of all values, and of all gradients by forces and parameters, in the order of the tasks: the gradient for
// controls or a design that all tasks share. They must have the same number of DoFs, steps and parameters.
struct GradientSum {
  double value = 0;
  MatX tau;         // nv × T
  VecX parameters;  // one per parameter
};
GradientSum gradient_sum(std::span<const RolloutResult> results);

}  // namespace lithe

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/core/thread_pool.h"
#include "lithe/step/step.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_vjp.h"

namespace lithe {

// One step of many worlds with the same model, and its derivatives: each item has the bits of a step() or step_vjp() of its
// own, on any number of threads. An Error names the item. A second call like the first allocates nothing.

enum class BatchGuess : std::uint8_t {
  none,
  last,  // record i starts from the warm start that its own last step left
};

// records[i] becomes the step from states[i] under controls[i] (one for each state, one for all, or none).
void step_batch(const Model& model, std::span<const State> states, std::span<const Control> controls,
                const StepOptions& options, ThreadPool& pool, std::vector<StepRecord>& records,
                BatchGuess guess = BatchGuess::none);

// Gradients by the inputs of many steps: column i belongs to records[i] and by_next[i].
struct StepVjpBatch {
  MatX q, v, tau;      // nv × items
  MatX parameters;     // parameters × items, if any were given
  MatX motor_targets;  // motors × items, if GradientOptions asks for them
  std::vector<GradientReport> reports;
  std::vector<StepVjp> workers;  // workspaces, one per thread
};
void vjp_batch(const Model& model, std::span<const StepRecord> records, std::span<const StepCotangent> by_next,
               ThreadPool& pool, StepVjpBatch& out, const GradientOptions& options = {});

// out[i] becomes the Jacobians of records[i].
void jacobians_batch(const Model& model, std::span<const StepRecord> records, ThreadPool& pool,
                     std::vector<StepJacobians>& out, StepBlocks blocks = StepBlocks::state,
                     const GradientOptions& options = {});

}  // namespace lithe

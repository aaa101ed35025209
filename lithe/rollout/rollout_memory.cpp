#include "lithe/rollout/rollout_memory.h"

#include <algorithm>

#include "lithe/simd/internal/heap_size.h"

namespace lithe {

using namespace internal;

namespace {

// What the allocator adds to the blocks of a record that are not empty: some thirty.
constexpr std::size_t kBesides = 500;

std::size_t tape_size(const StepRecord& record) { return memory_of(record) + kBesides; }

}  // namespace

RolloutMemory estimate_memory(const Model& model, const State& start, const Controls& controls,
                              const RolloutOptions& options) {
  // One step shows what a record of this model is like.
  Controls first = controls;
  first.steps = std::min(controls.steps, 1);
  if (first.tau.size() > 0) first.tau = controls.tau.leftCols(first.steps).eval();
  if (first.motor_targets.size() > 0) first.motor_targets = controls.motor_targets.leftCols(first.steps).eval();
  if (!first.wrenches.empty()) first.wrenches.resize(first.steps);
  Rollout one;
  rollout(model, start, first, options, one);
  const StepRecord& record = one.records[0];

  const auto steps = static_cast<std::size_t>(controls.steps);
  const std::size_t stretch = checkpoint_distance(options, controls.steps);
  RolloutMemory memory;
  memory.trajectory = (steps + 1) * heap_sizes(start.q, start.v) +
                      steps * (heap_sizes(record.control.tau, record.control.motor_targets, record.control.wrenches) +
                               sizeof(StepStatus));
  memory.records = tape_size(record) * (options.tape == Tape::records ? std::max<std::size_t>(1, steps) : 1);
  if (options.tape == Tape::checkpoints) {
    memory.records += tape_size(record) * std::min(stretch, steps);
    memory.checkpoints = (steps + stretch - 1) / stretch * (sizeof(WarmStart) + record.warm_start.memory());
  }
  return memory;
}

}  // namespace lithe

#pragma once

#include <cstddef>

#include "lithe/rollout/rollout.h"

namespace lithe {

// Bytes that a rollout will take for as long as its gradient is wanted.
struct RolloutMemory {
  std::size_t trajectory = 0;   // states, forces and statuses
  std::size_t checkpoints = 0;  // warm starts
  std::size_t records = 0;      // of the tape, and of the steps that are taken once more

  std::size_t total() const { return trajectory + checkpoints + records; }
};

// An estimate for T = controls.steps steps like the first one, which is taken to look at its record. More contacts
// later make it larger.
RolloutMemory estimate_memory(const Model& model, const State& start, const Controls& controls,
                              const RolloutOptions& options);

}  // namespace lithe

#pragma once

#include <vector>

#include "lithe/step/step.h"
#include "lithe/step/step_vjp.h"

namespace lithe::test {

// Many steps and the gradient of a loss over them, for tests: every step is kept, and walked back one by one.
struct Trajectory {
  std::vector<StepRecord> records;

  int steps() const { return static_cast<int>(records.size()); }
  const State& end() const { return records.back().next; }
};

// One step per entry of `tau` (each nv, or empty for no forces). A step that is not solved is a failure of the test.
Trajectory roll_out(const Model& model, const State& start, const std::vector<VecX>& tau, const StepOptions& options);

struct TrajectoryGradient {
  VecX q, v;              // by the initial state
  std::vector<VecX> tau;  // by the forces of each step
  VecX parameters;
  // How many steps' gradients were of each kind.
  int exact = 0, bounced = 0, relabelled = 0;
};

// `by_state[k]`: ∂ℓ/∂ the state after step k; empty parts are zero, and so are entries that are not there.
TrajectoryGradient gradient_of(const Model& model, const Trajectory& trajectory,
                               const std::vector<StepCotangent>& by_state, const GradientOptions& options = {},
                               const StepParameters* parameters = nullptr);

// A loss of the last state alone.
std::vector<StepCotangent> at_end(const Trajectory& trajectory, StepCotangent by_end);

}  // namespace lithe::test

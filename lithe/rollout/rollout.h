#pragma once

#include <cstdint>
#include <vector>

#include "lithe/rollout/controls.h"
#include "lithe/step/gradient_options.h"
#include "lithe/step/step.h"
#include "lithe/step/step_parameters.h"

namespace lithe {

// What a rollout keeps for its gradient; docs/rollouts.md has the memory that each takes.
enum class Tape : std::uint8_t {
  none,         // nothing: there will be no gradient
  records,      // the record of every step
  checkpoints,  // the warm start before every k-th step. Going back, each stretch of k steps is taken once more: the
                // gradient has the same bits as with `records`, for one more forward pass and k records of memory
};

struct RolloutOptions {
  StepOptions step = {};
  Tape tape = Tape::checkpoints;
  int checkpoint_every = 1;  // k; 0: about √T

  GradientOptions gradient = {};  // its parameters are numbers that hold for all steps, or differ from step to step
};

// How many steps lie between two checkpoints of a rollout of that many: all with Tape::records.
int checkpoint_distance(const RolloutOptions& options, int steps);

// T steps: the states before, between and after them.
struct Trajectory {
  MatX q;                          // nq × (T + 1): column t is before step t, the last one is the end
  MatX v;                          // nv × (T + 1)
  std::vector<StepStatus> status;  // of each step that was taken: T, or up to the one that diverged
  // The step in which numbers overflowed, or −1. The motion ends there: all later columns repeat the one before this step.
  int diverged_at = -1;

  int steps() const { return static_cast<int>(q.cols()) - 1; }
  int moved() const { return diverged_at < 0 ? steps() : diverged_at; }  // steps that led somewhere
};

// What a step of a rollout is given.
struct StepArguments {
  State state;
  Control control;
};

// A motion and the tape of it. The tape is only read by rollout_vjp(), so several threads may differentiate one rollout.
struct Rollout {
  Trajectory trajectory;
  Controls controls;     // as applied: tau always has its T columns
  WarmStart warm_start;  // after the last step

  // The tape.
  Tape tape = Tape::none;
  StepOptions options;
  int checkpoint_every = 0;            // k; with Tape::records: T
  std::vector<WarmStart> checkpoints;  // before steps 0, k, 2k …; the states are in the trajectory
  std::vector<StepRecord> records;     // Tape::records: one per step, or more from an earlier use; else one for all

  StepArguments arguments;  // workspace
};

// Takes controls.steps steps from `start`, each with the warm start of the last; `guess` is that of the first.
//
// A wrong size or a number that is not finite is an Error that names the step and the entry. A step that diverges ends
// the motion and is noted in the trajectory. A second rollout like the first allocates nothing. Same input, same bits.
void rollout(const Model& model, const State& start, const Controls& controls, const RolloutOptions& options,
             Rollout& out, const WarmStart* guess = nullptr);

// In one call, for occasional use.
Trajectory rollout(const Model& model, const State& start, const Controls& controls, const StepOptions& options = {});

// The steps `first` … `first` + `count` − 1 once more, with the same bits, into the first `count` of `records`. `first` is
// where a checkpoint is. A step that ends elsewhere than in the rollout is an Error: the model is not the same.
void repeat_steps(const Model& model, const Rollout& rollout, int first, int count, StepArguments& arguments,
                  std::vector<StepRecord>& records);

}  // namespace lithe

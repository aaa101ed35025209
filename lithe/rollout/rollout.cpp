#include "lithe/rollout/rollout.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"

namespace lithe {

namespace {

void prepare(const Model& model, const State& start, const Controls& controls, const RolloutOptions& options,
             Rollout& out) {
  check_configuration(model, start.q);
  check_tangent(model, start.v, "v");
  check_controls(model, controls);
  out.checkpoint_every = checkpoint_distance(options, controls.steps);
  const int steps = controls.steps;
  Trajectory& trajectory = out.trajectory;
  trajectory.q.resize(model.nq(), steps + 1);
  trajectory.v.resize(model.nv(), steps + 1);
  trajectory.q.col(0) = start.q;
  trajectory.v.col(0) = start.v;
  trajectory.status.resize(steps);
  trajectory.diverged_at = -1;
  out.controls.steps = steps;
  out.controls.motor_targets = controls.motor_targets;
  out.controls.wrenches = controls.wrenches;
  if (controls.tau.size() > 0) {
    out.controls.tau = controls.tau;
  } else {
    out.controls.tau.setZero(model.nv(), steps);
  }
  out.options = options.step;
  const auto checkpoints = static_cast<std::size_t>((steps + out.checkpoint_every - 1) / out.checkpoint_every);
  if (out.checkpoints.size() < checkpoints) out.checkpoints.resize(checkpoints);
  if (options.tape != Tape::records) {
    out.records.resize(1);
  } else if (out.records.size() < static_cast<std::size_t>(std::max(1, steps))) {
    out.records.resize(std::max(1, steps));
  }
}

// Step t of the rollout into `record`, from where the trajectory is before that step.
void take_step(const Model& model, const Rollout& rollout, int t, const WarmStart* guess, StepArguments& arguments,
               StepRecord& record) {
  control_at(rollout.controls, t, arguments.control);
  arguments.state.q = rollout.trajectory.q.col(t);
  arguments.state.v = rollout.trajectory.v.col(t);
  try {
    step(model, arguments.state, arguments.control, rollout.options, record, guess);
  } catch (const Error& error) {
    throw Error(fmt::format("step {}: {}", t, error.what()));
  }
}

// The model stands still from step t on.
void end_motion(int t, Trajectory& trajectory) {
  const int left = trajectory.steps() - t;
  trajectory.diverged_at = t;
  trajectory.status.resize(t + 1);
  trajectory.q.rightCols(left).colwise() = trajectory.q.col(t);
  trajectory.v.rightCols(left).colwise() = trajectory.v.col(t);
}

}  // namespace

int checkpoint_distance(const RolloutOptions& options, int steps) {
  LITHE_CHECK(options.checkpoint_every >= 0, "checkpoint_every is {}; it must not be negative",
              options.checkpoint_every);
  switch (options.tape) {
    case Tape::none:
    case Tape::records: return std::max(1, steps);
    case Tape::checkpoints: break;
  }
  if (options.checkpoint_every > 0) return options.checkpoint_every;
  return std::max(1, static_cast<int>(std::ceil(std::sqrt(static_cast<double>(steps)))));
}

void rollout(const Model& model, const State& start, const Controls& controls, const RolloutOptions& options,
             Rollout& out, const WarmStart* guess) {
  out.tape = Tape::none;  // until there is one
  prepare(model, start, controls, options, out);
  Trajectory& trajectory = out.trajectory;
  const bool keep_records = options.tape == Tape::records;
  out.warm_start.clear();
  if (guess != nullptr) out.warm_start = *guess;
  const WarmStart* warm_start = &out.warm_start;
  for (int t = 0; t < controls.steps; ++t) {
    StepRecord& record = out.records[keep_records ? t : 0];
    if (t % out.checkpoint_every == 0) out.checkpoints[t / out.checkpoint_every] = *warm_start;
    take_step(model, out, t, warm_start, out.arguments, record);
    warm_start = &record.warm_start;
    trajectory.status[t] = record.status;
    if (record.status.diverged) {
      end_motion(t, trajectory);
      break;
    }
    trajectory.q.col(t + 1) = record.next.q;
    trajectory.v.col(t + 1) = record.next.v;
  }
  if (controls.steps > 0) out.warm_start = *warm_start;
  out.tape = options.tape;
}

Trajectory rollout(const Model& model, const State& start, const Controls& controls, const StepOptions& options) {
  Rollout result;
  rollout(model, start, controls, {.step = options, .tape = Tape::none}, result);
  return std::move(result.trajectory);
}

void repeat_steps(const Model& model, const Rollout& rollout, int first, int count, StepArguments& arguments,
                  std::vector<StepRecord>& records) {
  LITHE_ASSERT(first % rollout.checkpoint_every == 0);
  const WarmStart* warm_start = &rollout.checkpoints[first / rollout.checkpoint_every];
  for (int i = 0; i < count; ++i) {
    const int t = first + i;
    take_step(model, rollout, t, warm_start, arguments, records[i]);
    LITHE_CHECK(
        records[i].next.q == rollout.trajectory.q.col(t + 1) && records[i].next.v == rollout.trajectory.v.col(t + 1),
        "step {}, taken once more, ends elsewhere: the model is another one than that of the rollout, or has "
        "changed since",
        t);
    warm_start = &records[i].warm_start;
  }
}

}  // namespace lithe

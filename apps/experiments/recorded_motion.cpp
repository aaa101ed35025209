#include "apps/experiments/recorded_motion.h"

#include "lithe/optimize/solvers/evaluated_motion.h"
#include "lithe/recording/recorded_contacts.h"
#include "lithe/recording/recording_writer.h"

namespace lithe::experiments {

using namespace internal;

void record_step(double time, const StepRecord& record, RecordedFrame& frame) {
  frame.time = time;
  frame.q = record.state.q;
  frame.v = record.state.v;
  frame.tau = record.control.tau;
  frame.motor_targets = record.control.motor_targets;
  frame.contacts = recorded_contacts(record);
}

std::vector<RecordedFrame> recorded_motion(const Problem& problem, const Plan& plan) {
  MotionEvaluator evaluator(problem);
  EvaluatedMotion motion;
  evaluator.run(plan, MotionEvaluator::Keep::records, nullptr, motion);
  const int steps = motion.diverged_at < 0 ? problem.steps : motion.diverged_at;
  const double time_step = problem.step.time_step;
  std::vector<RecordedFrame> frames(static_cast<std::size_t>(steps) + 1);
  for (int t = 0; t < steps; ++t) {
    record_step(t * time_step, motion.records[static_cast<std::size_t>(t)], frames[static_cast<std::size_t>(t)]);
  }
  frames.back() = {.time = steps * time_step, .q = motion.q.col(steps), .v = motion.v.col(steps)};
  return frames;
}

void write_recording(const std::string& path, const RecordingHeader& header, const std::vector<RecordedFrame>& frames) {
  RecordingWriter writer(path, header);
  for (const RecordedFrame& frame : frames) writer.append(frame);
  writer.close();
}

}  // namespace lithe::experiments

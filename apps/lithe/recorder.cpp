#include "apps/lithe/recorder.h"

#include "apps/experiments/recorded_motion.h"

namespace lithe::cli {

void Recorder::add_step(double time, const StepRecord& record) {
  experiments::record_step(time, record, frame_);
  writer_.append(frame_);
}

void Recorder::finish(double time, const ConstVecRef& q, const ConstVecRef& v) {
  writer_.append({.time = time, .q = q, .v = v});
  writer_.close();
}

}  // namespace lithe::cli

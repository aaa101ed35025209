#pragma once

#include <vector>

#include "lithe/optimize/problem.h"
#include "lithe/recording/recording.h"

namespace lithe::experiments {

// Motions as recordings hold them (docs/recording.md): states, contacts with their impulses, and what drove each step.

// The state that a step started from, at this time.
void record_step(double time, const StepRecord& record, RecordedFrame& frame);

// A plan carried out, from time 0 on: a frame per step and the end. A motion that diverges ends before the step in which it does.
std::vector<RecordedFrame> recorded_motion(const Problem& problem, const Plan& plan);

// Into a file. Errors name it.
void write_recording(const std::string& path, const RecordingHeader& header, const std::vector<RecordedFrame>& frames);

}  // namespace lithe::experiments

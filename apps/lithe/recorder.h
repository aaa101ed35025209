#pragma once

#include <string>

#include "lithe/recording/recording_writer.h"
#include "lithe/step/step_record.h"

namespace lithe::cli {

// Puts states into a file, with the contacts and the controls of the steps that start from them.
class Recorder {
 public:
  Recorder(const std::string& path, const RecordingHeader& header) : writer_(path, header) {}

  // The step that starts at this time.
  void add_step(double time, const StepRecord& record);
  // The end, from which no step is taken.
  void finish(double time, const ConstVecRef& q, const ConstVecRef& v);

  const RecordingWriter& writer() const { return writer_; }

 private:
  RecordingWriter writer_;
  RecordedFrame frame_;
};

}  // namespace lithe::cli

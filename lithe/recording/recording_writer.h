#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "lithe/recording/recording.h"

namespace lithe {

// Writes a recording frame by frame.
//
//   RecordingWriter writer("motion.lithe", recording_header(model, "humanoid", 1e-3));
//   writer.append(frame);   // as often as there are frames
//   writer.close();
//
// The header is in the file as soon as the writer exists. Frames go there whenever 64 KiB of them have come together and
// at flush() and close(); a program that dies loses at most those not written yet, and what is in the file stays readable.
//
// Everything that goes wrong is an Error that names the file and the system's reason. The destructor closes too, but
// has nobody to tell.
class RecordingWriter {
 public:
  // Replaces the file if there is one.
  RecordingWriter(std::string path, const RecordingHeader& header);

  void append(const RecordedFrame& frame);
  void flush();
  void close();  // nothing can be appended after

  std::size_t frames() const { return frames_; }
  std::size_t bytes() const { return bytes_; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void check_frame(const RecordedFrame& frame) const;
  void write_block();
  void write(const std::string& bytes);
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  recording_format::FrameLayout layout_;
  std::string block_;  // under construction: its head and what follows; kept for its memory
  std::size_t frames_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace lithe

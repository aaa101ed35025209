#pragma once

#include <string>

#include "lithe/recording/recording.h"

namespace lithe::test {

// A file of this test alone, removed when it goes out of scope.
class ScratchFile {
 public:
  ScratchFile();
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }
  std::string read() const;
  void write(const std::string& bytes) const;

 private:
  std::string path_;
};

// A hinge with two motors and a ball, three shapes; and frames of them with 0, 1, 2, … contacts and, in turn, no controls,
// no forces, forces, forces and targets, targets; full of numbers that are easily lost: tiny, huge, negative zero. In
// files of version 1 there are neither motors nor controls.
RecordingHeader sample_header(int version = 2);
RecordedFrame sample_frame(int number, int version = 2);

// The bytes of a recording of sample frames: as the writer writes it, and, of version 1, put together by hand from
// docs/recording.md.
std::string sample_recording(int frames, int version = 2);

// Whether all numbers have the same bits.
bool same_bits(const RecordedFrame& a, const RecordedFrame& b);

}  // namespace lithe::test

#pragma once

#include <string>

#include "lithe/io/recording.h"

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

// A hinge and a ball, three shapes; and frames of them with 0, 1, 2, … contacts, full of numbers that are easily lost:
// tiny, huge, negative zero.
RecordingHeader sample_header();
RecordedFrame sample_frame(int number);

// The bytes of a recording of sample frames.
std::string sample_recording(int frames);

// Whether all numbers have the same bits.
bool same_bits(const RecordedFrame& a, const RecordedFrame& b);

}  // namespace lithe::test

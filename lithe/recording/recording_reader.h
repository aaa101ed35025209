#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "lithe/recording/recording.h"

namespace lithe {

// Reads a recording frame by frame.
//
//   RecordingReader reader("motion.lithe");
//   RecordedFrame frame;
//   while (reader.read(frame)) show(frame);
//
// Files come from anywhere, so nothing in them is believed: every size is compared with what the file still holds before
// memory is taken, every block has a checksum, and every number of a body or shape is in range. What is wrong is an
// Error "file:offset: error: …". A file that was cut off, though, is readable up to its last full frame.
class RecordingReader {
 public:
  // Both read the header. The second reads bytes that are not in a file of their own; errors call them `name`.
  explicit RecordingReader(const std::string& path);
  RecordingReader(std::unique_ptr<std::istream> bytes, std::uint64_t size, std::string name);
  ~RecordingReader();

  const RecordingHeader& header() const { return header_; }

  std::uint32_t version() const { return version_; }  // of the format

  // The next frame, or false at the end. Memory of `frame` is reused. After an Error there is nothing more to read.
  bool read(RecordedFrame& frame);

  // Whether the end was in the middle of a frame: known once read() has returned false.
  bool cut_off() const { return cut_off_; }

 private:
  void read_prologue();
  void read_header();
  void read_content(std::uint32_t length, std::uint32_t checksum);
  bool get(void* bytes, std::size_t count);

  std::string name_;
  std::unique_ptr<std::istream> bytes_;
  std::uint32_t version_ = 0;
  std::uint64_t size_ = 0;    // of them all
  std::uint64_t offset_ = 0;  // of what is read next
  RecordingHeader header_;
  recording_format::FrameLayout layout_;
  std::vector<unsigned char> block_;  // the content of the block read last
  bool cut_off_ = false;
  bool done_ = false;
};

// All at once.
struct Recording {
  RecordingHeader header;
  std::vector<RecordedFrame> frames;
  bool cut_off = false;
};
Recording read_recording(const std::string& path);

}  // namespace lithe

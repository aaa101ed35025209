#include "lithe/io/recording_writer.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/io/crc32.h"
#include "lithe/io/little_endian.h"

namespace lithe {

namespace {

using namespace recording_format;

constexpr std::size_t kBuffer = 1 << 16;

std::uint32_t as_u32(std::size_t count) {
  LITHE_CHECK(count <= std::numeric_limits<std::uint32_t>::max(), "a recording holds no {} bytes or things at once",
              count);
  return static_cast<std::uint32_t>(count);
}

void put_text(std::string& out, const std::string& text) {
  put_u32(out, as_u32(text.size()));
  out += text;
}

void put_vec3(std::string& out, const Vec3& v) {
  for (int i = 0; i < 3; ++i) put_f64(out, v[i]);
}

void put_header(std::string& out, const RecordingHeader& header) {
  put_u32(out, static_cast<std::uint32_t>(header.nq()));
  put_u32(out, static_cast<std::uint32_t>(header.nv()));
  put_f64(out, header.time_step);
  put_text(out, header.title);
  put_u32(out, as_u32(header.bodies.size()));
  for (const std::string& body : header.bodies) put_text(out, body);
  put_u32(out, as_u32(header.joints.size()));
  for (const RecordingHeader::JointEntry& joint : header.joints) {
    put_text(out, joint.name);
    put_u32(out, static_cast<std::uint32_t>(joint.type));
    put_u32(out, joint.body);
  }
  put_u32(out, as_u32(header.shapes.size()));
  for (const RecordingHeader::ShapeEntry& shape : header.shapes) {
    put_text(out, shape.name);
    put_u32(out, shape.body);
  }
}

void put_frame(std::string& out, const RecordedFrame& frame) {
  put_u32(out, as_u32(frame.contacts.size()));
  put_f64(out, frame.time);
  for (const double q : frame.q) put_f64(out, q);
  for (const double v : frame.v) put_f64(out, v);
  for (const RecordedContact& contact : frame.contacts) {
    put_u32(out, contact.a);
    put_u32(out, contact.b);
    put_vec3(out, contact.point);
    put_vec3(out, contact.normal);
    put_vec3(out, contact.impulse);
  }
}

// What the reader would refuse.
void check_header(const RecordingHeader& header) {
  LITHE_CHECK(header.time_step > 0 && std::isfinite(header.time_step),
              "the time step of a recording is {} s; it must be positive", header.time_step);
  for (const RecordingHeader::JointEntry& joint : header.joints) {
    LITHE_CHECK(joint.body < header.bodies.size(), "joint '{}' of a recording is on body {}, of {}", joint.name,
                joint.body, header.bodies.size());
  }
  for (const RecordingHeader::ShapeEntry& shape : header.shapes) {
    LITHE_CHECK(shape.body < header.bodies.size(), "shape '{}' of a recording is on body {}, of {}", shape.name,
                shape.body, header.bodies.size());
  }
}

}  // namespace

RecordingWriter::RecordingWriter(std::string path, const RecordingHeader& header)
    : path_(std::move(path)), nq_(header.nq()), nv_(header.nv()), shape_count_(header.shapes.size()) {
  check_header(header);
  file_.reset(std::fopen(path_.c_str(), "wb"));
  if (!file_) fail("cannot be written");
  std::setvbuf(file_.get(), nullptr, _IOFBF, kBuffer);

  std::string prologue(kMagic, sizeof kMagic);
  put_u32(prologue, kVersion);
  put_u32(prologue, kByteOrder);
  write(prologue);
  block_.assign(kBlockHead, '\0');
  put_header(block_, header);
  write_block();
  flush();
}

void RecordingWriter::append(const RecordedFrame& frame) {
  LITHE_CHECK(frame.q.size() == nq_ && frame.v.size() == nv_,
              "a frame of {}: q has {} entries and v {}, but the header says {} and {}", path_, frame.q.size(),
              frame.v.size(), nq_, nv_);
  for (const RecordedContact& contact : frame.contacts) {
    LITHE_CHECK(contact.a < shape_count_ && contact.b < shape_count_,
                "a frame of {}: a contact is between shapes {} and {}, but there are {}", path_, contact.a, contact.b,
                shape_count_);
  }
  block_.assign(kBlockHead, '\0');
  put_frame(block_, frame);
  write_block();
  ++frames_;
}

// Fills in the head of block_, its length and a checksum of length and content, and writes it.
void RecordingWriter::write_block() {
  std::string head;
  put_u32(head, as_u32(block_.size() - kBlockHead));
  const std::uint32_t of_length = crc32(head.data(), head.size());
  put_u32(head, crc32(block_.data() + kBlockHead, block_.size() - kBlockHead, of_length));
  block_.replace(0, kBlockHead, head);
  write(block_);
}

void RecordingWriter::write(const std::string& bytes) {
  LITHE_CHECK(file_ != nullptr, "{} is closed, nothing can be appended", path_);
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail("cannot be written");
  bytes_ += bytes.size();
}

void RecordingWriter::flush() {
  if (file_ && std::fflush(file_.get()) != 0) fail("cannot be written");
}

void RecordingWriter::close() {
  if (file_ && std::fclose(file_.release()) != 0) fail("cannot be written to its end");
}

void RecordingWriter::fail(const char* what) const {
  const int reason = errno;
  detail::throw_error(fmt::format("{}: error: the recording {}: {}", path_, what, std::strerror(reason)));
}

}  // namespace lithe

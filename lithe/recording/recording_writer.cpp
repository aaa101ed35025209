#include "lithe/recording/recording_writer.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/core/internal/crc32.h"
#include "lithe/core/internal/little_endian.h"

namespace lithe {

using namespace internal;

namespace {

using namespace recording_format;

constexpr std::size_t kBuffer = 1 << 16;  // bytes that come together before they are written

// A count as the format has it; one that does not fit is an Error, never cut off.
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

// The header's content, in the order of docs/recording.md.
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
  put_u32(out, as_u32(header.motors.size()));
  for (const RecordingHeader::MotorEntry& motor : header.motors) {
    put_text(out, motor.name);
    put_u32(out, motor.joint);
  }
}

// −0 is not left out: numbers come back bit by bit.
bool is_left_out(double force) { return std::bit_cast<std::uint64_t>(force) == 0; }

// What a frame's u32 says of its controls. Forces that are all zero are left out.
std::uint32_t controls_of(const RecordedFrame& frame) {
  if (!frame.has_controls()) return 0;
  return kControlsKnown | (std::ranges::all_of(frame.tau, is_left_out) ? 0 : kForces) |
         (frame.motor_targets.size() > 0 ? kTargets : 0);
}

// A frame's content, in the order of docs/recording.md. The reader gets its size from the first two numbers
// (FrameLayout::size()).
void put_frame(std::string& out, const RecordedFrame& frame) {
  const std::uint32_t controls = controls_of(frame);
  put_u32(out, as_u32(frame.contacts.size()));
  put_u32(out, controls);
  put_f64(out, frame.time);
  for (const double q : frame.q) put_f64(out, q);
  for (const double v : frame.v) put_f64(out, v);
  if ((controls & kForces) != 0) {
    for (const double tau : frame.tau) put_f64(out, tau);
  }
  if ((controls & kTargets) != 0) {
    for (const double target : frame.motor_targets) put_f64(out, target);
  }
  for (const RecordedContact& contact : frame.contacts) {
    put_u32(out, contact.a);
    put_u32(out, contact.b);
    put_vec3(out, contact.point);
    put_vec3(out, contact.normal);
    put_vec3(out, contact.impulse);
  }
}

// Refuses what the reader would refuse: a file that is written can be read.
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
  for (const RecordingHeader::MotorEntry& motor : header.motors) {
    LITHE_CHECK(motor.joint < header.joints.size(), "motor '{}' of a recording drives joint {}, of {}", motor.name,
                motor.joint, header.joints.size());
  }
}

}  // namespace

RecordingWriter::RecordingWriter(std::string path, const RecordingHeader& header)
    : path_(std::move(path)), layout_(frame_layout(header, kVersion)) {
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
  check_frame(frame);
  block_.assign(kBlockHead, '\0');
  put_frame(block_, frame);
  write_block();
  ++frames_;
}

void RecordingWriter::check_frame(const RecordedFrame& frame) const {
  const auto motors = static_cast<Eigen::Index>(layout_.motors);
  LITHE_CHECK(frame.q.size() == layout_.nq && frame.v.size() == layout_.nv,
              "a frame of {}: q has {} entries and v {}, but the header says {} and {}", path_, frame.q.size(),
              frame.v.size(), layout_.nq, layout_.nv);
  LITHE_CHECK(frame.tau.size() == 0 || frame.tau.size() == layout_.nv,
              "a frame of {}: tau has {} entries, but must have {}, or none if nothing is known of the controls", path_,
              frame.tau.size(), layout_.nv);
  LITHE_CHECK(frame.motor_targets.size() == 0 || frame.motor_targets.size() == motors,
              "a frame of {}: there are {} motor targets, but must be {}, or none if motors are off", path_,
              frame.motor_targets.size(), motors);
  LITHE_CHECK(frame.has_controls() || frame.motor_targets.size() == 0,
              "a frame of {}: with motor targets, tau must be given too (zeros, if there are no forces)", path_);
  for (const RecordedContact& contact : frame.contacts) {
    LITHE_CHECK(contact.a < layout_.shapes && contact.b < layout_.shapes,
                "a frame of {}: a contact is between shapes {} and {}, but there are {}", path_, contact.a, contact.b,
                layout_.shapes);
  }
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
  internal::throw_error(fmt::format("{}: error: the recording {}: {}", path_, what, std::strerror(reason)));
}

}  // namespace lithe

#include "tests/io/recording_files.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <unistd.h>

#include "lithe/core/internal/crc32.h"
#include "lithe/core/internal/little_endian.h"
#include "lithe/recording/recording_writer.h"

namespace lithe::test {

using namespace internal;

namespace {

bool same_number(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

template <class Vector>
bool same_entries(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) return false;
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    if (!same_number(a[i], b[i])) return false;
  }
  return true;
}

void put_text(std::string& out, const std::string& text) {
  put_u32(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

void put_block(std::string& out, const std::string& content) {
  std::string length;
  put_u32(length, static_cast<std::uint32_t>(content.size()));
  const std::string covered = length + content;
  out += length;
  put_u32(out, crc32(covered.data(), covered.size()));
  out += content;
}

// Without the writer, and by numbers where the format has numbers.
std::string version_1_recording(int frames) {
  std::string bytes = "LITHEREC";
  put_u32(bytes, 1);
  bytes += "\x04\x03\x02\x01";
  std::string header;
  for (const std::uint32_t size : {5, 4}) put_u32(header, size);  // nq, nv
  put_f64(header, 1.0 / 3);
  put_text(header, "größe");
  put_u32(header, 3);
  for (const char* body : {"world", "rod", ""}) put_text(header, body);
  put_u32(header, 2);
  put_text(header, "hinge");
  for (const std::uint32_t entry : {0, 1}) put_u32(header, entry);
  put_text(header, "socket");
  for (const std::uint32_t entry : {3, 2}) put_u32(header, entry);
  put_u32(header, 3);
  std::uint32_t body = 0;
  for (const char* shape : {"ground", "rod", "bob"}) {
    put_text(header, shape);
    put_u32(header, body++);
  }
  put_block(bytes, header);
  for (int i = 0; i < frames; ++i) {
    const RecordedFrame frame = sample_frame(i, 1);
    std::string content;
    put_u32(content, static_cast<std::uint32_t>(frame.contacts.size()));
    put_f64(content, frame.time);
    for (const double x : frame.q) put_f64(content, x);
    for (const double x : frame.v) put_f64(content, x);
    for (const RecordedContact& contact : frame.contacts) {
      put_u32(content, contact.a);
      put_u32(content, contact.b);
      for (const Vec3& x : {contact.point, contact.normal, contact.impulse}) {
        for (int k = 0; k < 3; ++k) put_f64(content, x[k]);
      }
    }
    put_block(bytes, content);
  }
  return bytes;
}

}  // namespace

ScratchFile::ScratchFile() {
  static int count = 0;
  path_ = testing::TempDir() + "lithe_" + std::to_string(getpid()) + "_" + std::to_string(count++);
}

ScratchFile::~ScratchFile() { std::remove(path_.c_str()); }

std::string ScratchFile::read() const {
  std::ifstream file(path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void ScratchFile::write(const std::string& bytes) const {
  std::ofstream file(path_, std::ios::binary | std::ios::trunc);
  file << bytes;
}

RecordingHeader sample_header(int version) {
  RecordingHeader header = {.title = "größe",
                            .time_step = 1.0 / 3,
                            .bodies = {"world", "rod", ""},
                            .joints = {{"hinge", JointType::revolute, 1}, {"socket", JointType::ball, 2}},
                            .shapes = {{"ground", 0}, {"rod", 1}, {"bob", 2}}};
  if (version > 1) header.motors = {{"drive", 0}, {"brake", 0}};
  return header;
}

RecordedFrame sample_frame(int number, int version) {
  RecordedFrame frame = {.time = number / 3.0, .q = VecX(5), .v = VecX(4)};
  frame.q << 0.1 * number, -0.0, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(), 1;
  frame.v << 1.0 / (number + 1), -1e-300, 1e300, number;
  for (int i = 0; i < number; ++i) {
    frame.contacts.push_back({.a = static_cast<std::uint32_t>(i % 3),
                              .b = static_cast<std::uint32_t>((i + 1) % 3),
                              .point = Vec3(i, 0.1, -0.0),
                              .normal = Vec3::UnitZ(),
                              .impulse = Vec3(1e-9, 1.0 / 7, number)});
  }
  if (version == 1) return frame;
  const int kind = number % 5;
  if (kind > 0) frame.tau = VecX::Zero(4);
  if (kind == 2) frame.tau[3] = -0.0;  // a number that is not left out
  if (kind == 3) frame.tau << 0.1 * number, 0, 1e300, -1e-300;
  if (kind > 2) frame.motor_targets = Eigen::Vector2d(number / 7.0, -0.0);
  return frame;
}

std::string sample_recording(int frames, int version) {
  if (version == 1) return version_1_recording(frames);
  const ScratchFile file;
  RecordingWriter writer(file.path(), sample_header());
  for (int i = 0; i < frames; ++i) writer.append(sample_frame(i));
  writer.close();
  return file.read();
}

bool same_bits(const RecordedFrame& a, const RecordedFrame& b) {
  if (!same_number(a.time, b.time) || !same_entries(a.q, b.q) || !same_entries(a.v, b.v)) return false;
  if (!same_entries(a.tau, b.tau) || !same_entries(a.motor_targets, b.motor_targets)) return false;
  if (a.contacts.size() != b.contacts.size()) return false;
  for (std::size_t i = 0; i < a.contacts.size(); ++i) {
    const RecordedContact& x = a.contacts[i];
    const RecordedContact& y = b.contacts[i];
    if (x.a != y.a || x.b != y.b || !same_entries(x.point, y.point) || !same_entries(x.normal, y.normal) ||
        !same_entries(x.impulse, y.impulse)) {
      return false;
    }
  }
  return true;
}

}  // namespace lithe::test

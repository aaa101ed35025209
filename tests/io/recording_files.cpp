#include "tests/io/recording_files.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <unistd.h>

#include "lithe/io/recording_writer.h"

namespace lithe::test {

namespace {

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

template <class Vector>
bool same_entries(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) return false;
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    if (!same_bits(a[i], b[i])) return false;
  }
  return true;
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

RecordingHeader sample_header() {
  return {.title = "größe",
          .time_step = 1.0 / 3,
          .bodies = {"world", "rod", ""},
          .joints = {{"hinge", JointType::revolute, 1}, {"socket", JointType::ball, 2}},
          .shapes = {{"ground", 0}, {"rod", 1}, {"bob", 2}}};
}

RecordedFrame sample_frame(int number) {
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
  return frame;
}

std::string sample_recording(int frames) {
  const ScratchFile file;
  RecordingWriter writer(file.path(), sample_header());
  for (int i = 0; i < frames; ++i) writer.append(sample_frame(i));
  writer.close();
  return file.read();
}

bool same_bits(const RecordedFrame& a, const RecordedFrame& b) {
  if (!same_bits(a.time, b.time) || !same_entries(a.q, b.q) || !same_entries(a.v, b.v)) return false;
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

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "lithe/core/internal/crc32.h"
#include "lithe/core/internal/little_endian.h"
#include "lithe/recording/recording_reader.h"
#include "tests/io/recording_files.h"
#include "tests/support/error_text.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

constexpr std::size_t kHeaderBlock = 16;
constexpr std::size_t kHeaderContent = kHeaderBlock + 8;

std::uint32_t u32_at(const std::string& bytes, std::size_t place) {
  return get_u32(reinterpret_cast<const unsigned char*>(bytes.data()) + place);
}

void set_u32(std::string& bytes, std::size_t place, std::uint32_t value) {
  std::string four;
  put_u32(four, value);
  bytes.replace(place, 4, four);
}

// Where the frames' blocks start, and where the file ends.
std::vector<std::size_t> frame_starts(const std::string& bytes) {
  std::vector<std::size_t> starts;
  std::size_t place = kHeaderContent + u32_at(bytes, kHeaderBlock);
  for (; place < bytes.size(); place += 8 + u32_at(bytes, place)) starts.push_back(place);
  starts.push_back(place);
  return starts;
}

// Makes the checksum of the block at `place` right again.
void sign(std::string& bytes, std::size_t place) {
  const std::uint32_t of_length = crc32(bytes.data() + place, 4);
  set_u32(bytes, place + 4, crc32(bytes.data() + place + 8, u32_at(bytes, place), of_length));
}

// What a reader makes of a file: the frames up to the end or to the first error.
struct Reading {
  int frames = 0;
  bool all_right = true;  // every frame is the sample frame of its number
  bool cut_off = false;
  std::string error;
};

Reading read(const std::string& bytes, int version = 2) {
  Reading reading;
  try {
    RecordingReader reader(std::make_unique<std::istringstream>(bytes), bytes.size(), "motion");
    RecordedFrame frame;
    for (; reader.read(frame); ++reading.frames)
      reading.all_right &= same_bits(frame, sample_frame(reading.frames, version));
    reading.cut_off = reader.cut_off();
  } catch (const Error& error) {
    reading.error = error.what();
    EXPECT_TRUE(reading.error.starts_with("motion:")) << reading.error;
    EXPECT_NE(reading.error.find(": error: "), std::string::npos) << reading.error;
    reading.error.erase(0, std::string("motion:").size());
  }
  return reading;
}

// The sample's header with another 32-bit number at a place of its content, and a right checksum.
std::string error_with_header(std::size_t place, std::uint32_t value) {
  std::string bytes = sample_recording(1);
  set_u32(bytes, kHeaderContent + place, value);
  sign(bytes, kHeaderBlock);
  return read(bytes).error;
}

class DamagedRecordingOfVersion : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(All, DamagedRecordingOfVersion, testing::Values(1, 2));

TEST_P(DamagedRecordingOfVersion, CutOffAnywhereKeepsItsWholeFrames) {
  const std::string whole = sample_recording(6, GetParam());
  const std::vector<std::size_t> starts = frame_starts(whole);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE("cut after " + std::to_string(size) + " bytes");
    const Reading reading = read(whole.substr(0, size), GetParam());
    if (size < starts[0]) {
      EXPECT_FALSE(reading.error.empty());
      continue;
    }
    const auto after = std::upper_bound(starts.begin(), starts.end(), size);
    EXPECT_EQ(reading.error, "");
    EXPECT_EQ(reading.frames, after - starts.begin() - 1);
    EXPECT_TRUE(reading.all_right);
    EXPECT_EQ(reading.cut_off, *(after - 1) != size);
  }
}

TEST_P(DamagedRecordingOfVersion, EveryFlippedBitIsNoticedAndSpoilsNoFrameBeforeIt) {
  const std::string whole = sample_recording(5, GetParam());
  const std::vector<std::size_t> starts = frame_starts(whole);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    SCOPED_TRACE("bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8));
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const Reading reading = read(damaged, GetParam());
    EXPECT_FALSE(reading.error.empty());
    EXPECT_TRUE(reading.all_right);
    const auto after = std::upper_bound(starts.begin(), starts.end(), bit / 8);
    EXPECT_EQ(reading.frames, std::max<std::ptrdiff_t>(0, after - starts.begin() - 1));
  }
}

TEST_P(DamagedRecordingOfVersion, WithRightChecksumsDoesNoHarm) {
  const std::string whole = sample_recording(5, GetParam());
  const std::vector<std::size_t> starts = frame_starts(whole);
  for_random_cases(20000, [&](std::mt19937_64& random) {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    std::string damaged = whole;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t place = kHeaderContent + below(whole.size() - kHeaderContent);
      damaged[place] = static_cast<char>(below(2) == 0 ? below(256) : 255 * below(2));
    }
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      set_u32(damaged, starts[i], u32_at(whole, starts[i]));
      sign(damaged, starts[i]);
    }
    sign(damaged, kHeaderBlock);
    const Reading reading = read(damaged, GetParam());
    EXPECT_LE(reading.frames, 5);
    EXPECT_TRUE(reading.frames == 5 || !reading.error.empty());
  });
}

TEST(DamagedRecording, OfAnotherKindIsRefused) {
  const std::string whole = sample_recording(1);
  EXPECT_EQ(read("").error, "0: error: this is no recording of Lithe's");
  EXPECT_EQ(read("solid foot\n").error, "0: error: this is no recording of Lithe's");
  std::string other = whole;
  for (const std::uint32_t version : {0u, 3u}) {
    set_u32(other, 8, version);
    EXPECT_EQ(read(other).error, "8: error: recordings of version " + std::to_string(version) +
                                     " are unknown here, only versions 1 to 2 are");
  }
  other = whole;
  set_u32(other, 12, 0x04030201);
  EXPECT_EQ(read(other).error, "12: error: the byte order mark is wrong: numbers must be little-endian");
}

// The sample's header: nq 0, nv 4, Δt 8, title 16 (7 bytes), bodies 27, "world" 31 … "rod" 40 … "" 47,
// joints 51, "hinge" 55, type 64, body 68, … shapes 90, … motors 130, "drive" 134, joint 143
TEST(DamagedRecording, WithAbsurdCountsIsRefusedBeforeMemoryIsTaken) {
  const std::uint32_t huge = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(error_with_header(16, huge), "44: error: a name of 4294967295 bytes, but the header has 140 left");
  EXPECT_EQ(error_with_header(27, huge), "55: error: 4294967295 bodies, but the header has 129 bytes left");
  EXPECT_EQ(error_with_header(51, huge), "79: error: 4294967295 joints, but the header has 105 bytes left");
  EXPECT_EQ(error_with_header(0, huge),
            "184: error: 4294967295 coordinates and 4 velocities, but the joints have 5 and 4");
  EXPECT_EQ(error_with_header(4, 5), "184: error: 5 coordinates and 5 velocities, but the joints have 5 and 4");
  EXPECT_EQ(error_with_header(64, 4), "92: error: a joint of unknown type 4");
  EXPECT_EQ(error_with_header(68, 3), "96: error: body 3 of 3");
  EXPECT_EQ(error_with_header(130, huge), "158: error: 4294967295 motors, but the header has 26 bytes left");
  EXPECT_EQ(error_with_header(143, 2), "171: error: joint 2 of 2");

  std::string bytes = sample_recording(1);
  set_u32(bytes, kHeaderBlock, huge);
  EXPECT_EQ(read(bytes).error, "16: error: the file ends within its header");
  bytes = sample_recording(1);
  bytes.replace(kHeaderContent + 8, 8, std::string(8, '\0'));
  sign(bytes, kHeaderBlock);
  EXPECT_EQ(read(bytes).error, "40: error: a time step of 0 s; it must be positive");
}

TEST(DamagedRecording, WithAbsurdFramesIsRefused) {
  const std::string whole = sample_recording(3);
  const std::vector<std::size_t> starts = frame_starts(whole);
  std::string bytes = whole;
  set_u32(bytes, starts[1] + 8, 0x10000000);  // contacts
  EXPECT_NE(read(bytes).error.find("with 268435456 contacts and controls 1, which does not fit the header"),
            std::string::npos);
  for (const std::uint32_t controls : {0u, 2u, 3u, 4u, 5u, 8u, 9u}) {  // of frame 1: forces are zero
    bytes = whole;
    set_u32(bytes, starts[1] + 12, controls);
    sign(bytes, starts[1]);
    const Reading reading = read(bytes);
    if (controls == 0) {  // as long, and as good: nothing is known of the controls
      EXPECT_EQ(reading.error, "");
      EXPECT_FALSE(reading.all_right);
    } else {
      EXPECT_EQ(reading.frames, 1);
      EXPECT_NE(reading.error.find("which does not fit the header"), std::string::npos) << controls;
    }
  }
  bytes = whole;
  set_u32(bytes, starts[1] + 8 + 8 + 8 * 10, 17);  // shape a of the contact
  sign(bytes, starts[1]);
  const Reading reading = read(bytes);
  EXPECT_EQ(reading.frames, 1);
  EXPECT_NE(reading.error.find("a contact of shapes 17 and 1, of 3"), std::string::npos) << reading.error;
}

}  // namespace
}  // namespace lithe::test

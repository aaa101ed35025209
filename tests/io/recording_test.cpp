#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "lithe/core/internal/crc32.h"
#include "lithe/core/internal/little_endian.h"
#include "lithe/recording/recording_reader.h"
#include "lithe/recording/recording_writer.h"
#include "lithe/scenes/robots/gripper.h"
#include "lithe/scenes/robots/humanoid.h"
#include "tests/io/recording_files.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/error_text.h"

namespace lithe::test {

using namespace internal;
namespace {

TEST(Crc32, HasThePublishedCheckValue) { EXPECT_EQ(crc32("123456789", 9), 0xCBF43926u); }

TEST(Crc32, GoesOnWhereItStopped) {
  const std::string text = "a text that is longer than eight bytes, and not a multiple of them";
  const std::uint32_t whole = crc32(text.data(), text.size());
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32(text.data() + cut, text.size() - cut, crc32(text.data(), cut)), whole);
  }
}

class RecordingOfVersion : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(All, RecordingOfVersion, testing::Values(1, 2));

TEST_P(RecordingOfVersion, GivesBackEveryBit) {
  const int version = GetParam();
  const ScratchFile file;
  file.write(sample_recording(9, version));
  EXPECT_EQ(RecordingReader(file.path()).version(), static_cast<std::uint32_t>(version));
  const Recording recording = read_recording(file.path());
  EXPECT_EQ(recording.header, sample_header(version));
  EXPECT_FALSE(recording.cut_off);
  ASSERT_EQ(recording.frames.size(), 9u);
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(same_bits(recording.frames[i], sample_frame(i, version))) << "frame " << i;
}

TEST(Recording, TellsUnknownControlsFromNone) {
  const ScratchFile file;
  file.write(sample_recording(2));
  const Recording recording = read_recording(file.path());
  EXPECT_FALSE(recording.frames[0].has_controls());
  EXPECT_TRUE(recording.frames[1].has_controls());
  EXPECT_EQ(recording.frames[1].tau, VecX::Zero(4));
  EXPECT_EQ(recording.frames[1].motor_targets.size(), 0);
  file.write(sample_recording(2, 1));
  for (const RecordedFrame& frame : read_recording(file.path()).frames) EXPECT_FALSE(frame.has_controls());
}

TEST(Recording, ForgetsTheControlsOfTheFrameBefore) {
  const ScratchFile file;
  file.write(sample_recording(6));  // frame 4 has targets, frame 5 nothing
  RecordingReader reader(file.path());
  RecordedFrame frame;
  for (int i = 0; reader.read(frame); ++i) EXPECT_TRUE(same_bits(frame, sample_frame(i))) << "frame " << i;
}

TEST(Recording, MayHaveNoFrames) {
  const ScratchFile file;
  file.write(sample_recording(0));
  const Recording recording = read_recording(file.path());
  EXPECT_EQ(recording.header, sample_header());
  EXPECT_TRUE(recording.frames.empty());
  EXPECT_FALSE(recording.cut_off);
}

TEST(Recording, HasTheBytesThatTheDocumentationStates) {
  const std::string bytes = sample_recording(1);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  EXPECT_EQ(bytes.substr(0, 8), "LITHEREC");
  EXPECT_EQ(bytes.substr(8, 8), std::string("\x02\0\0\0\x04\x03\x02\x01", 8));
  const std::uint32_t header_length = get_u32(data + 16);
  EXPECT_EQ(get_u32(data + 24), 5u);  // nq
  EXPECT_EQ(get_u32(data + 28), 4u);  // nv
  EXPECT_EQ(get_f64(data + 32), 1.0 / 3);
  EXPECT_EQ(get_u32(data + 40), 7u);  // bytes of the title
  const std::size_t frame = 24 + header_length;
  EXPECT_EQ(get_u32(data + frame), 8u + 8 * (1 + 5 + 4));
  EXPECT_EQ(get_u32(data + frame + 8), 0u);   // contacts
  EXPECT_EQ(get_u32(data + frame + 12), 0u);  // controls
  EXPECT_EQ(get_f64(data + frame + 16), 0.0);
  EXPECT_EQ(bytes.size(), frame + 8 + 8 + 8 * (1 + 5 + 4));
  const std::uint32_t of_length = crc32(data + frame, 4);
  EXPECT_EQ(get_u32(data + frame + 4), crc32(data + frame + 8, bytes.size() - frame - 8, of_length));
}

// Where the block of frame `number` begins.
std::size_t start_of_frame(const std::string& bytes, int number) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t place = 24 + get_u32(data + 16);
  for (int i = 0; i < number; ++i) place += 8 + get_u32(data + place);
  return place;
}

TEST(Recording, HasControlsWhereTheDocumentationStates) {
  const std::string bytes = sample_recording(5);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto controls = [&](int number) { return get_u32(data + start_of_frame(bytes, number) + 12); };
  EXPECT_EQ(controls(0), 0u);
  EXPECT_EQ(controls(1), 1u);
  EXPECT_EQ(controls(2), 1u + 2);
  EXPECT_EQ(controls(3), 1u + 2 + 4);
  EXPECT_EQ(controls(4), 1u + 4);
  const std::size_t frame = start_of_frame(bytes, 3);
  EXPECT_EQ(get_u32(data + frame), 8u + 8 * (1 + 5 + 4 + 4 + 2) + 3 * 80);
  const std::size_t forces = frame + 16 + 8 * (1 + 5 + 4);
  EXPECT_EQ(get_f64(data + forces + 16), 1e300);
  EXPECT_EQ(get_f64(data + forces + 32), 3 / 7.0);
  EXPECT_EQ(get_u32(data + forces + 48), 0u);  // shape a of the first contact
  EXPECT_EQ(get_u32(data + forces + 52), 1u);
}

TEST(Recording, NamesThePartsOfAModel) {
  const Model model = humanoid().build();
  const RecordingHeader header = recording_header(model, "humanoid", 1e-3);
  EXPECT_EQ(header.nq(), model.nq());
  EXPECT_EQ(header.nv(), model.nv());
  ASSERT_EQ(header.bodies.size(), model.bodies().size());
  EXPECT_EQ(header.bodies[0], "world");
  ASSERT_EQ(header.shapes.size(), model.shapes().size());
  EXPECT_EQ(header.bodies[header.shapes[model.shape("head")].body], "torso");
  EXPECT_EQ(header.joints[model.joint("root.ball")].type, JointType::ball);
  EXPECT_EQ(header.bodies[header.joints[model.joint("left_knee")].body], "left_shin");
  EXPECT_TRUE(header.motors.empty());
  const RecordingHeader gripping = recording_header(gripper().build(), "gripper", 1e-3);
  ASSERT_EQ(gripping.motors.size(), 2u);
  EXPECT_EQ(gripping.motors[1].name, "grip");
  EXPECT_EQ(gripping.joints[gripping.motors[1].joint].name, "left_slide");
}

TEST(RecordingWriter, CountsFramesAndBytes) {
  const ScratchFile file;
  RecordingWriter writer(file.path(), sample_header());
  for (int i = 0; i < 3; ++i) writer.append(sample_frame(i));
  writer.close();
  EXPECT_EQ(writer.frames(), 3u);
  EXPECT_EQ(writer.bytes(), std::filesystem::file_size(file.path()));
}

TEST(RecordingWriter, LeavesWhatItFlushedReadable) {
  const ScratchFile file;
  RecordingWriter writer(file.path(), sample_header());
  EXPECT_TRUE(read_recording(file.path()).frames.empty());
  writer.append(sample_frame(0));
  writer.append(sample_frame(1));
  writer.flush();
  EXPECT_EQ(read_recording(file.path()).frames.size(), 2u);
}

TEST(RecordingWriter, AllocatesNothingOnceWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const ScratchFile file;
  const RecordedFrame frame = sample_frame(8);
  RecordingWriter writer(file.path(), sample_header());
  writer.append(frame);
  const AllocationGuard guard;
  for (int i = 0; i < 1000; ++i) writer.append(frame);
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

TEST(RecordingReader, AllocatesNothingOnceWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const ScratchFile file;
  RecordingWriter writer(file.path(), sample_header());
  for (int i = 0; i < 1000; ++i) writer.append(sample_frame(8));
  writer.close();
  RecordingReader reader(file.path());
  RecordedFrame frame;
  ASSERT_TRUE(reader.read(frame));
  int count = 1;
  const AllocationGuard guard;
  while (reader.read(frame)) ++count;
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(count, 1000);
}

TEST(RecordingWriter, RefusesFramesThatDoNotFitItsHeader) {
  const ScratchFile file;
  RecordingWriter writer(file.path(), sample_header());
  RecordedFrame frame = sample_frame(1);
  frame.q.conservativeResize(3);
  expect_error([&] { writer.append(frame); }, file.path(), "q has 3 entries", "5");
  frame = sample_frame(1);
  frame.contacts[0].b = 3;
  expect_error([&] { writer.append(frame); }, "shapes 0 and 3", "there are 3");
  frame = sample_frame(3);
  frame.tau.conservativeResize(3);
  expect_error([&] { writer.append(frame); }, "tau has 3 entries", "must have 4");
  frame = sample_frame(3);
  frame.motor_targets.conservativeResize(1);
  expect_error([&] { writer.append(frame); }, "1 motor targets", "must be 2");
  frame = sample_frame(3);
  frame.tau.resize(0);
  expect_error([&] { writer.append(frame); }, "with motor targets, tau must be given too");
  EXPECT_EQ(writer.frames(), 0u);
}

TEST(RecordingWriter, RefusesHeadersThatMakeNoSense) {
  const ScratchFile file;
  RecordingHeader header = sample_header();
  header.joints[1].body = 3;
  expect_error([&] { RecordingWriter(file.path(), header); }, "socket", "body 3");
  header = sample_header();
  header.shapes[2].body = 7;
  expect_error([&] { RecordingWriter(file.path(), header); }, "bob", "body 7");
  header = sample_header();
  header.motors[1].joint = 2;
  expect_error([&] { RecordingWriter(file.path(), header); }, "brake", "joint 2");
  for (const double step : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
    header = sample_header();
    header.time_step = step;
    expect_error([&] { RecordingWriter(file.path(), header); }, "time step");
  }
  EXPECT_FALSE(std::filesystem::exists(file.path()));
}

TEST(RecordingWriter, SaysWhyAFileCannotBeWritten) {
  expect_error([] { RecordingWriter("/no/such/folder/file", sample_header()); }, "/no/such/folder/file",
               "No such file or directory");
  expect_error([] { RecordingWriter(testing::TempDir(), sample_header()); }, "Is a directory");
}

TEST(RecordingWriter, NoticesAFullDisk) {
  const std::string full = "/dev/full";
  if (!std::filesystem::exists(full)) GTEST_SKIP() << "this system has no " << full;
  expect_error([&] { RecordingWriter(full, sample_header()); }, full, "No space left on device");
}

TEST(RecordingWriter, TakesNothingAfterItWasClosed) {
  const ScratchFile file;
  RecordingWriter writer(file.path(), sample_header());
  writer.close();
  writer.close();
  expect_error([&] { writer.append(sample_frame(0)); }, file.path(), "closed");
}

TEST(RecordingReader, SaysWhyAFileCannotBeRead) {
  expect_error([] { RecordingReader("/no/such/file"); }, "/no/such/file: error: there is no such file");
  expect_error([] { RecordingReader reader(testing::TempDir()); }, "not a regular file");
}

}  // namespace
}  // namespace lithe::test

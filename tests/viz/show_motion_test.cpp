#include "lithe/viz/document/show_motion.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <unistd.h>

#include "lithe/model/model_builder.h"
#include "lithe/recording/recording_writer.h"
#include "tests/support/error_text.h"
#include "tests/viz/shown_model.h"

namespace lithe::test {
namespace {

std::string recording_of(const Model& model, int frames) {
  const std::string path = testing::TempDir() + "lithe_show_" + std::to_string(getpid());
  RecordingWriter writer(path, recording_header(model, "toy", kStep));
  for (const RecordedFrame& frame : shown_frames(model, frames, kStep)) writer.append(frame);
  writer.close();
  std::ifstream file(path, std::ios::binary);
  std::string bytes = {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::remove(path.c_str());
  return bytes;
}

RecordingReader reader_of(const std::string& bytes) {
  return RecordingReader(std::make_unique<std::istringstream>(bytes), bytes.size(), "toy.lithe");
}

TEST(ShowMotion, IsWhatTheRecordingHolds) {
  const Model model = shown_model();
  const std::vector<RecordedFrame> frames = shown_frames(model, 7, kStep);
  RecordingReader reader = reader_of(recording_of(model, 7));
  const ShowMotion motion = show_motion("toy", reader);
  EXPECT_EQ(motion.name, "toy");
  EXPECT_EQ(motion.time_step, kStep);
  ASSERT_EQ(motion.times.size(), 7u);
  for (int t = 0; t < 7; ++t) {
    const RecordedFrame& frame = frames[static_cast<std::size_t>(t)];
    EXPECT_EQ(motion.times[static_cast<std::size_t>(t)], frame.time);
    EXPECT_EQ(motion.q.col(t), frame.q);
    EXPECT_EQ(motion.v.col(t), frame.v);
    EXPECT_EQ(motion.contacts[static_cast<std::size_t>(t)], frame.contacts);
  }
}

TEST(ShowMotion, OfACutOffRecordingEndsWithItsLastFullFrame) {
  const Model model = shown_model();
  const std::string whole = recording_of(model, 3);
  const std::size_t empty = recording_of(model, 0).size();
  std::size_t cut = 0;
  for (std::size_t size = empty; size < whole.size(); ++size) {
    RecordingReader reader = reader_of(whole.substr(0, size));
    const ShowMotion motion = show_motion("toy", reader);
    EXPECT_LT(motion.times.size(), 3u);
    cut += reader.cut_off() ? 1 : 0;
    const ShowDocument show = make_show(model, {}, "toy", kStep, {motion});
    EXPECT_EQ(show.motions[0].frames(), motion.times.size());
  }
  EXPECT_EQ(cut, whole.size() - empty - 3);  // all but those that end between frames
}

TEST(ShowMotion, MayLeaveOutFramesButNeverTheLast) {
  const Model model = shown_model();
  const std::string bytes = recording_of(model, 8);
  const auto times = [&](int every) {
    RecordingReader reader = reader_of(bytes);
    return show_motion("toy", reader, every).times;
  };
  EXPECT_EQ(times(7), (std::vector<double>{0, 7 * kStep}));
  EXPECT_EQ(times(3), (std::vector<double>{0, 3 * kStep, 6 * kStep, 7 * kStep}));
  EXPECT_EQ(times(100), (std::vector<double>{0, 7 * kStep}));
  expect_error([&] { times(0); }, "one of every 0 frames");
}

TEST(ShowMotion, RefusesFramesOfDifferentSizes) {
  std::vector<RecordedFrame> frames(2);
  frames[0].q = VecX::Zero(2);
  frames[0].v = VecX::Zero(2);
  frames[1].q = VecX::Zero(3);
  frames[1].v = VecX::Zero(2);
  expect_error([&] { show_motion("toy", kStep, frames); }, "frame 1 of 'toy' has 3 coordinates");
}

TEST(CheckRecordingFits, AcceptsItsOwnModel) {
  const Model model = shown_model();
  check_recording_fits(recording_header(model, "whatever", 0.5), model);
}

TEST(CheckRecordingFits, NamesTheFirstDifference) {
  const Model model = shown_model();
  const RecordingHeader good = recording_header(model, "toy", kStep);
  const auto refuses = [&](const RecordingHeader& header, auto... parts) {
    expect_error([&] { check_recording_fits(header, model); }, "not of this model", parts...);
  };
  RecordingHeader bad = good;
  bad.bodies[2] = "arm";
  refuses(bad, "body 2 is 'arm' there and 'upper' in the model");
  bad = good;
  bad.bodies.push_back("tail");
  refuses(bad, "body 5 is 'tail' there and none in the model");
  bad = good;
  bad.joints[4].type = JointType::prismatic;
  refuses(bad, "joint 4 is 'hinge, prismatic of body 2 ('upper')' there");
  bad = good;
  bad.joints.pop_back();
  refuses(bad, "joint 5 is none there");
  bad = good;
  bad.shapes[5].body = 1;
  refuses(bad, "shape 5 is 'rock of body 1 ('box')' there and 'rock of body 4 ('rock')' in the model");
  bad = good;
  bad.motors.push_back({"drive", 4});
  refuses(bad, "motor 0 is 'drive of joint 'hinge'' there and none in the model");
}

}  // namespace
}  // namespace lithe::test

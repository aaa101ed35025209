#include "apps/experiments/recorded_motion.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

#include "lithe/core/check.h"
#include "lithe/optimize/ddp.h"
#include "lithe/optimize/scene_problem.h"
#include "lithe/recording/recording_reader.h"
#include "lithe/rollout/rollout.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/robots/gripper.h"

namespace lithe::experiments {
namespace {

// A catapult that pushes with forces that change every 20 steps.
struct Throw {
  Problem problem = problem_of(scene("catapult"), {.steps = 300, .hold = 20});
  Plan plan = initial_plan(problem);

  Throw() {
    for (int k = 0; k < plan.u.cols(); ++k) plan.u.col(k) = Vec3(-200 - 3 * k, -100 + k, -50);
  }
};

TEST(RecordedMotion, HasEveryStateAndWhatDroveIt) {
  const Throw t;
  const std::vector<RecordedFrame> frames = recorded_motion(t.problem, t.plan);
  ASSERT_EQ(frames.size(), 301u);
  Controls controls = {.steps = 300, .tau = MatX::Zero(5, 300)};
  for (int i = 0; i < 300; ++i) controls.tau.col(i).tail<3>() = t.plan.u.col(i / 20);
  const Trajectory expected = rollout(t.problem.model, t.problem.start, controls, t.problem.step);
  std::size_t contacts = 0;
  for (int i = 0; i <= 300; ++i) {
    const RecordedFrame& frame = frames[static_cast<std::size_t>(i)];
    EXPECT_EQ(frame.q, expected.q.col(i)) << i;
    EXPECT_EQ(frame.v, expected.v.col(i)) << i;
    EXPECT_DOUBLE_EQ(frame.time, i * t.problem.step.time_step);
    if (i == 300) break;
    EXPECT_EQ(frame.tau, controls.tau.col(i)) << i;
    EXPECT_EQ(static_cast<int>(frame.contacts.size()), expected.status[static_cast<std::size_t>(i)].contacts) << i;
    contacts += frame.contacts.size();
  }
  EXPECT_GT(contacts, 100u);
  EXPECT_FALSE(frames.back().has_controls());
  EXPECT_TRUE(frames.back().contacts.empty());
}

TEST(RecordedMotion, IsTheSolversMotion) {
  const Problem problem = problem_of(scene("jump_worm"), {.steps = 200, .hold = 10});
  DdpOptions options;
  options.max_iterations = 3;
  const Solution solution = ddp(problem, initial_plan(problem), options);
  const std::vector<RecordedFrame> frames = recorded_motion(problem, solution.plan);
  ASSERT_EQ(frames.size(), 201u);
  for (int i = 0; i <= 200; ++i) {
    EXPECT_EQ(frames[static_cast<std::size_t>(i)].q, solution.trajectory.q.col(i)) << i;
    EXPECT_EQ(frames[static_cast<std::size_t>(i)].v, solution.trajectory.v.col(i)) << i;
  }
}

TEST(RecordedMotion, HasTheTargetsOfMotors) {
  const Scene grasp = gripper_with_cube();
  Problem problem = {
      .model = grasp.model, .start = {grasp.q, grasp.v}, .steps = 5, .motor_targets = grasp.motor_targets};
  std::vector<RecordedFrame> frames = recorded_motion(problem, initial_plan(problem));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(frames[static_cast<std::size_t>(i)].motor_targets, grasp.motor_targets);
  EXPECT_EQ(frames.back().motor_targets.size(), 0);
  problem.motor_targets.resize(0);
  frames = recorded_motion(problem, initial_plan(problem));
  EXPECT_EQ(frames.front().motor_targets.size(), 0);
  EXPECT_EQ(frames.front().tau, VecX::Zero(problem.model.nv()));
}

TEST(RecordedMotion, EndsBeforeItDiverges) {
  Throw t;
  t.problem.lower.setConstant(-1e307);
  t.plan.u.col(3).setConstant(-1e307);
  const std::vector<RecordedFrame> frames = recorded_motion(t.problem, t.plan);
  ASSERT_GE(frames.size(), 61u);
  ASSERT_LT(frames.size(), 301u);
  EXPECT_TRUE(frames.back().q.allFinite());
  EXPECT_FALSE(frames.back().has_controls());
}

TEST(RecordedMotion, ComesBackFromAFile) {
  const Throw t;
  const std::vector<RecordedFrame> frames = recorded_motion(t.problem, t.plan);
  const auto path = std::filesystem::temp_directory_path() / ("lithe_motion_" + std::to_string(getpid()));
  const RecordingHeader header = recording_header(t.problem.model, "catapult", t.problem.step.time_step);
  write_recording(path.string(), header, frames);
  const Recording recording = read_recording(path.string());
  std::filesystem::remove(path);
  EXPECT_EQ(recording.header, header);
  ASSERT_EQ(recording.frames.size(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(recording.frames[i].tau, frames[i].tau) << i;
    EXPECT_EQ(recording.frames[i].contacts, frames[i].contacts) << i;
  }
  EXPECT_THROW(write_recording("/dev/null/nowhere", header, frames), Error);
}

}  // namespace
}  // namespace lithe::experiments

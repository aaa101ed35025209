// Tiny runs of what the benchmarks are made of.
#include "bench/motion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "bench/batch.h"
#include "lithe/scenes/catalogue.h"
#include "tests/bench/own_models.h"

namespace lithe::bench {
namespace {

const MotionSettings kTiny = {
    .steps = 30, .skipped = 5, .seeds = 2, .passes = 2, .settling = 10, .rest_steps = 7, .block = 4};

double mean_of(const EngineResult::Means& means, const std::string& name) {
  for (const auto& [key, value] : means) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "there is no mean of " << name;
  return std::nan("");
}

Subject half_cheetah() { return subject_from_scene("half_cheetah", scene("half_cheetah")); }

TEST(StepTimes, QuantilesAreTimesThatWereMeasured) {
  StepTimes times;
  times.us.resize(1000);
  std::iota(times.us.rbegin(), times.us.rend(), 1.0);
  EXPECT_EQ(times.mean(), 500.5);
  EXPECT_EQ(times.quantile(0.95), 950);
  EXPECT_EQ(times.quantile(0.999), 999);
  EXPECT_EQ(times.largest(), 1000);
  EXPECT_EQ(times.quantile(0), 1);
}

TEST(StepTimes, OfNoStepsThereIsNone) {
  EXPECT_TRUE(std::isnan(StepTimes().mean()) && std::isnan(StepTimes().largest()));
}

TEST(Motion, EverySeedGivesItsStepsAfterThoseSkipped) {
  const MotionResult result = measure_motion(half_cheetah(), nullptr, kTiny);
  EXPECT_FALSE(result.mujoco);
  EXPECT_EQ(result.ours.motion.us.size(), 60u);
  EXPECT_EQ(result.ours.rest.us.size(), 7u);
  EXPECT_EQ(result.ours.restarts, 0);
  EXPECT_GT(result.ours.first, 0);
  EXPECT_GT(result.ours.early, 0);
  EXPECT_GT(result.ours.motion.mean(), 0);
  EXPECT_EQ(mean_of(result.ours.motion_means, "unsolved"), 0);
  EXPECT_EQ(mean_of(result.ours.rest_means, "unsolved"), 0);
}

TEST(Motion, StopsWhenItsTimeIsOver) {
  MotionSettings settings = kTiny;
  settings.seconds = 1e-9;
  const MotionResult result = measure_motion(half_cheetah(), nullptr, settings);
  EXPECT_EQ(result.ours.motion.us.size(), 0u);  // one block of each seed, all of which are skipped
  EXPECT_EQ(result.ours.rest.us.size(), 0u);
}

TEST(Motion, OfASceneThatSettlesTheEndIsItsRest) {
  const MotionResult result = measure_settling(subject_from_scene("stack", scene("stack:3")), nullptr, kTiny);
  EXPECT_EQ(result.ours.motion.us.size(), 30u);
  EXPECT_EQ(result.ours.rest.us.size(), 7u);  // a fifth of 35
  EXPECT_EQ(mean_of(result.ours.motion_means, "contacts"), 12);
}

TEST(Drive, DrawsTheSameControlsForTheSameSeedOnly) {
  const Subject subject = subject_from_file("hand", own_models() + "/hand.xml");
  Drive one(subject, 1), same(subject, 1), other(subject, 2);
  const VecX at_rest = Drive(subject).ours().motor_targets;
  for (int i = 0; i < 3; ++i) {
    one.next();
    same.next();
    other.next();
    EXPECT_EQ(one.ours().motor_targets, same.ours().motor_targets);
    EXPECT_NE(one.ours().motor_targets, other.ours().motor_targets);
    EXPECT_NE(one.ours().motor_targets, at_rest);
  }
}

TEST(Drive, StaysWithinTheRangesOfTheFile) {
  const Subject subject = subject_from_file("hand", own_models() + "/hand.xml");
  const Model& model = subject.scene.model;
  Drive drive(subject, 1);
  for (int i = 0; i < 100; ++i) {
    drive.next();
    for (std::size_t m = 0; m < model.motors().size(); ++m) {
      const Joint& joint = model.joints()[model.motors()[m].joint];
      const double target = drive.ours().motor_targets[static_cast<Eigen::Index>(m)];
      ASSERT_GE(target, joint.lower) << joint.name;
      ASSERT_LE(target, joint.upper) << joint.name;
    }
  }
}

TEST(Drive, WithoutActuatorsPushesOnAllDofs) {
  const Subject subject = half_cheetah();
  Drive drive(subject, 1);
  EXPECT_TRUE(drive.ours().tau.isZero(0));
  drive.next();
  EXPECT_TRUE((drive.ours().tau.array() != 0).all());
}

TEST(Drive, ForcesComeBesideTheControlsAtRest) {
  const Subject subject = subject_from_file("hand", own_models() + "/hand.xml");
  Drive drive(subject, 1, Shaking::forces);
  drive.next();
  EXPECT_EQ(drive.ours().motor_targets, Drive(subject).ours().motor_targets);
  EXPECT_TRUE((drive.ours().tau.array() != 0).all());
}

TEST(Batch, WorldsTakeTheStepsOfABatch) {
  const BatchSettings settings = {.worlds = 3, .threads = 2, .skipped = 2, .steps = 4};
  const Subject subject = half_cheetah();
  const BatchResult batch = measure_batch(subject, settings);
  EXPECT_EQ(batch.steps, 4);
  EXPECT_GT(batch.step_us, 0);
  EXPECT_GT(batch.vjp_us, 0);
  EXPECT_GT(batch.kilobytes, 1);
  const BatchResult alone = measure_one_by_one(subject, settings);
  EXPECT_GT(alone.step_us, 0);
  EXPECT_GT(alone.vjp_us, 0);
}

}  // namespace
}  // namespace lithe::bench

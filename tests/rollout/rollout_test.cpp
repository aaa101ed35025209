#include "lithe/rollout/rollout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <malloc.h>

#include "lithe/rollout/rollout_memory.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/step/internal/step_tape.h"
#include "tests/rollout/rollout_cases.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/error_text.h"
#include "tests/support/step_worlds.h"

namespace lithe::test {

using namespace internal;
namespace {

TEST(Rollout, IsWhatAWorldDoes) {
  for (const RolloutCase& c : eventful_cases()) {
    SCOPED_TRACE(c.name);
    World world(c.model, c.options.step);
    world.set_state(c.start.q, c.start.v);
    Rollout motion;
    rollout(c.model, c.start, c.controls, c.options, motion);
    Control control;
    for (int t = 0; t < c.controls.steps; ++t) {
      ASSERT_EQ(motion.trajectory.q.col(t), world.state().q) << "step " << t;
      ASSERT_EQ(motion.trajectory.v.col(t), world.state().v) << "step " << t;
      control_at(c.controls, t, control);
      const StepStatus& status = world.step(control);
      ASSERT_EQ(motion.trajectory.status[t].rows, status.rows) << "step " << t;
    }
    EXPECT_EQ(motion.trajectory.q.rightCols(1), world.state().q);
    EXPECT_EQ(motion.trajectory.v.rightCols(1), world.state().v);
    EXPECT_EQ(motion.trajectory.steps(), c.controls.steps);
    EXPECT_EQ(motion.trajectory.moved(), c.controls.steps);
  }
}

TEST(Rollout, IsTheSameWhateverItsTapeAndItsPast) {
  Rollout used;
  for (const RolloutCase& c : eventful_cases()) {
    SCOPED_TRACE(c.name);
    const Trajectory plain = rollout(c.model, c.start, c.controls, c.options.step);
    for (const Tape tape : {Tape::none, Tape::records, Tape::checkpoints}) {
      RolloutOptions options = c.options;
      options.tape = tape;
      rollout(c.model, c.start, c.controls, options, used);
      expect_same_bits(used.trajectory, plain);
    }
  }
}

TEST(Rollout, GoesOnFromTheWarmStartOfTheLastOne) {
  const RolloutCase whole = pushed_case("half_cheetah", 100, 5);
  RolloutCase half = whole;
  half.controls.steps = 50;
  half.controls.tau = whole.controls.tau.leftCols(50).eval();
  Rollout first, second, both;
  rollout(whole.model, whole.start, whole.controls, whole.options, both);
  rollout(half.model, half.start, half.controls, half.options, first);
  const State middle = {first.trajectory.q.col(50), first.trajectory.v.col(50)};
  half.controls.tau = whole.controls.tau.rightCols(50).eval();
  rollout(half.model, middle, half.controls, half.options, second, &first.warm_start);
  EXPECT_TRUE(second.trajectory.q == both.trajectory.q.rightCols(51));
  EXPECT_TRUE(second.trajectory.v == both.trajectory.v.rightCols(51));
}

TEST(Rollout, OfNoStepsIsItsStart) {
  RolloutCase c = driven_pendulum(0);
  for (const Tape tape : {Tape::none, Tape::records, Tape::checkpoints}) {
    c.options.tape = tape;
    c.options.checkpoint_every = 0;
    Rollout motion;
    rollout(c.model, c.start, c.controls, c.options, motion);
    EXPECT_EQ(motion.trajectory.q, MatX(c.start.q));
    EXPECT_EQ(motion.trajectory.v, MatX(c.start.v));
    EXPECT_TRUE(motion.trajectory.status.empty());
  }
}

TEST(Rollout, ADivergedStepEndsTheMotion) {
  RolloutCase c = pushed_case("humanoid", 20, 0);
  c.controls.tau.col(7).setConstant(1e300);
  Rollout motion;
  rollout(c.model, c.start, c.controls, c.options, motion);
  const Trajectory& trajectory = motion.trajectory;
  const int end = trajectory.diverged_at;
  ASSERT_GE(end, 7);
  ASSERT_LT(end, 20);
  EXPECT_EQ(trajectory.moved(), end);
  EXPECT_EQ(trajectory.status.size(), end + 1u);
  EXPECT_TRUE(trajectory.status.back().diverged);
  EXPECT_TRUE(trajectory.q.allFinite() && trajectory.v.allFinite());
  for (int t = end; t <= 20; ++t) {
    EXPECT_EQ(trajectory.q.col(t), trajectory.q.col(end));
    EXPECT_EQ(trajectory.v.col(t), trajectory.v.col(end));
  }
}

TEST(Rollout, KeepsOneRecordUnlessToldToKeepAll) {
  RolloutCase c = pushed_case("half_cheetah", 100, 1);
  Rollout motion;
  c.options.tape = Tape::records;
  rollout(c.model, c.start, c.controls, c.options, motion);
  EXPECT_EQ(motion.records.size(), 100);
  c.options.tape = Tape::checkpoints;
  rollout(c.model, c.start, c.controls, c.options, motion);
  EXPECT_EQ(motion.records.size(), 1);
  EXPECT_EQ(motion.checkpoints.size(), 100);
  Rollout sparse;
  c.options.checkpoint_every = 0;
  rollout(c.model, c.start, c.controls, c.options, sparse);
  EXPECT_EQ(sparse.checkpoint_every, 10);
  EXPECT_EQ(sparse.checkpoints.size(), 10);
}

TEST(Rollout, RecordsOfAModelShareItsColliders) {
  RolloutCase c = pushed_case("half_cheetah", 30, 1);
  c.options.tape = Tape::records;
  Rollout motion;
  rollout(c.model, c.start, c.controls, c.options, motion);
  for (const StepRecord& record : motion.records)
    EXPECT_EQ(record.tape().colliders, motion.records[0].tape().colliders);
}

#ifdef __GLIBC__
std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(RolloutMemory, OfAllRecordsIsAsEstimated) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  for (const char* name : {"humanoid", "half_cheetah", "stack:5", "gripper", "rolling_sphere", "chain:6"}) {
    RolloutCase c = pushed_case(name, 200, 0);
    c.options.tape = Tape::records;
    const auto estimate = static_cast<double>(estimate_memory(c.model, c.start, c.controls, c.options).total());
    const std::size_t before = bytes_in_use();
    Rollout motion;
    rollout(c.model, c.start, c.controls, c.options, motion);
    const auto taken = static_cast<double>(bytes_in_use() - before);
    EXPECT_NEAR(estimate / taken, 1, 0.15) << name;
  }
}
#endif

TEST(RolloutMemory, OfCheckpointsIsSmall) {
  RolloutCase c = pushed_case("humanoid", 10000, 0);
  c.options.tape = Tape::records;
  const RolloutMemory records = estimate_memory(c.model, c.start, c.controls, c.options);
  EXPECT_GT(records.records, 100e6);
  EXPECT_EQ(records.checkpoints, 0);
  c.options.tape = Tape::checkpoints;
  const RolloutMemory every = estimate_memory(c.model, c.start, c.controls, c.options);
  EXPECT_LT(every.total(), 20e6);
  c.options.checkpoint_every = 0;
  const RolloutMemory root = estimate_memory(c.model, c.start, c.controls, c.options);
  EXPECT_NEAR(static_cast<double>(root.records) / static_cast<double>(every.records), 101.0 / 2, 0.5);
  EXPECT_NEAR(static_cast<double>(every.checkpoints) / static_cast<double>(root.checkpoints), 100, 0.1);
  c.options.tape = Tape::none;
  EXPECT_LT(estimate_memory(c.model, c.start, c.controls, c.options).total(), 10e6);
}

TEST(RolloutRefusals, NameTheStepAndTheEntry) {
  const RolloutCase good = pushed_case("gripper", 10, 0.1);
  Rollout motion;
  const auto refused = [&](const RolloutCase& c, auto... parts) {
    expect_error([&] { rollout(c.model, c.start, c.controls, c.options, motion); }, parts...);
  };
  RolloutCase c = good;
  c.controls.tau(3, 6) = std::numeric_limits<double>::quiet_NaN();
  refused(c, "step 6", "tau[3]", "nan");
  c = good;
  c.controls.motor_targets(1, 4) = std::numeric_limits<double>::infinity();
  refused(c, "step 4", "motor_targets[1]", "grip", "inf");
  c = good;
  c.controls.wrenches.resize(10);
  c.controls.wrenches[8] = {{BodyIndex(99), Vec6::Zero()}};
  refused(c, "step 8", "99");
  c = good;
  c.controls.tau.resize(4, 10);
  refused(c, "tau", "4", "9");
  c = good;
  c.start.q.setZero(2);
  refused(c, "q", "2", "10");
  c = good;
  c.start.v[1] = std::numeric_limits<double>::infinity();
  refused(c, "v[1]", "inf");
  c = good;
  c.options.checkpoint_every = -1;
  refused(c, "checkpoint_every", "-1");
  c = good;
  c.options.step.time_step = 0;
  refused(c, "time step", "0");
  // What a refused rollout leaves has no gradient.
  EXPECT_EQ(motion.tape, Tape::none);
  // After all that, the same memory serves for a good one.
  rollout(good.model, good.start, good.controls, good.options, motion);
  expect_same_bits(motion.trajectory, rollout(good.model, good.start, good.controls, good.options.step));
}

}  // namespace
}  // namespace lithe::test

#include <gtest/gtest.h>

#include "tests/rollout/rollout_cases.h"
#include "tests/support/differentiate.h"

// Steps that are taken once more have the same bits, so the gradient does not depend on what was kept.
namespace lithe::test {
namespace {

TEST(Checkpoints, GiveTheBitsOfAllRecords) {
  for (RolloutCase c : eventful_cases()) {
    SCOPED_TRACE(c.name);
    c.options.gradient = {};
    c.options.gradient.parameters = StepParameters(c.model, {"gravity/z", "time_step"});
    const RolloutLoss loss = loss_of_everything(c.model, c.start.q);
    c.options.tape = Tape::records;
    const RolloutGradient records = c.gradient(loss);
    EXPECT_EQ(records.report.steps, c.controls.steps);
    EXPECT_GT(records.tau.cwiseAbs().maxCoeff(), 0);
    c.options.tape = Tape::checkpoints;
    for (const int every : {0, 1, 2, 7, c.controls.steps, 2 * c.controls.steps}) {
      SCOPED_TRACE(every);
      c.options.checkpoint_every = every;
      expect_same_bits(c.gradient(loss), records);
    }
  }
}

TEST(Checkpoints, GiveTheBitsOfAllRecordsInUsedMemory) {
  RolloutWorkspace workspace;
  RolloutGradient gradient;
  for (int round = 0; round < 2; ++round) {
    for (const Tape tape : {Tape::checkpoints, Tape::records}) {
      for (RolloutCase c : eventful_cases()) {
        SCOPED_TRACE(c.name);
        c.options.tape = tape;
        c.options.checkpoint_every = 5 * round;
        const RolloutLoss loss = loss_of_everything(c.model, c.start.q);
        rollout_gradient(c.model, c.start, c.controls, loss, c.options, workspace, gradient);
        expect_same_bits(gradient, c.gradient(loss));
      }
    }
  }
}

TEST(Checkpoints, RepeatedStepsHaveTheSameBits) {
  for (RolloutCase c : eventful_cases()) {
    SCOPED_TRACE(c.name);
    c.options.checkpoint_every = 10;
    Rollout motion;
    rollout(c.model, c.start, c.controls, c.options, motion);
    std::vector<StepRecord> records(10);
    StepArguments arguments;
    for (int first = 0; first + 10 <= c.controls.steps; first += 10) {
      repeat_steps(c.model, motion, first, 10, arguments, records);
      for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(records[i].next.q, motion.trajectory.q.col(first + i + 1)) << "step " << first + i;
        ASSERT_EQ(records[i].next.v, motion.trajectory.v.col(first + i + 1)) << "step " << first + i;
        ASSERT_EQ(records[i].status.guessed, motion.trajectory.status[first + i].guessed) << "step " << first + i;
      }
    }
  }
}

TEST(LongHorizons, OfTenThousandStepsKeepFewRecords) {
  RolloutCase c = pushed_case("half_cheetah", 10000, 3);
  const RolloutLoss loss = loss_of_everything(c.model, c.start.q);
  RolloutWorkspace dense, sparse;
  RolloutGradient from_dense, from_sparse;
  rollout_gradient(c.model, c.start, c.controls, loss, c.options, dense, from_dense);
  EXPECT_EQ(from_dense.report.steps, 10000);
  EXPECT_EQ(from_dense.report.cuts, 0);
  EXPECT_TRUE(from_dense.q.allFinite() && from_dense.v.allFinite() && from_dense.tau.allFinite());
  EXPECT_EQ(dense.rollout.records.size(), 1);
  EXPECT_EQ(dense.vjp.records.size(), 1);
  EXPECT_EQ(dense.rollout.checkpoints.size(), 10000);
  c.options.checkpoint_every = 0;
  rollout_gradient(c.model, c.start, c.controls, loss, c.options, sparse, from_sparse);
  EXPECT_EQ(sparse.rollout.records.size(), 1);
  EXPECT_EQ(sparse.vjp.records.size(), 100);
  EXPECT_EQ(sparse.rollout.checkpoints.size(), 100);
  expect_same_bits(from_sparse, from_dense);
}

TEST(LongHorizons, OfTenThousandStepsAreDifferentiatedAsFiniteDifferencesDo) {
  RolloutCase c = driven_pendulum(10000);
  c.controls.tau *= 0.2;
  const RolloutLoss loss = loss_of_everything(c.model, c.start.q);
  const RolloutGradient gradient = c.gradient(loss);
  const std::vector<int> some = {0, 5000, 9999};
  const RolloutGradient numeric = difference_gradient(c, loss, some, {.q = 1e-3, .v = 1e-3});
  EXPECT_TRUE(gradient.report.is_exact()) << to_string(gradient.report);
  EXPECT_LT(relative_error(gradient.q, numeric.q), 1e-6);
  EXPECT_LT(relative_error(gradient.v, numeric.v), 1e-6);
  for (const int t : some) EXPECT_LT(relative_error(gradient.tau.col(t), numeric.tau.col(t)), 1e-6) << "step " << t;
}

}  // namespace
}  // namespace lithe::test

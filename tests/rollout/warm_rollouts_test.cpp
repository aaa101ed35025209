#include <gtest/gtest.h>

#include "lithe/rollout/rollout_batch.h"
#include "lithe/rollout/step_batch.h"
#include "tests/rollout/rollout_cases.h"
#include "tests/support/allocation_counter.h"

// A call like the one before it finds all its memory there.
namespace lithe::test {
namespace {

// A loss that allocates nothing itself.
RolloutLoss plain_loss() {
  const auto term = [](const LossPoint& at, LossGradient& by) {
    by.v = at.v;
    by.q.setConstant(0.5);
    return 0.5 * at.v.squaredNorm();
  };
  return {term, term};
}

TEST(WarmRollouts, AllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const RolloutLoss loss = plain_loss();
  for (RolloutCase& c : eventful_cases()) {
    c.options.gradient.parameters = StepParameters(c.model, {"gravity/z", "time_step"});
    for (const Tape tape : {Tape::records, Tape::checkpoints}) {
      for (const int every : {0, 1}) {
        c.options.tape = tape;
        c.options.checkpoint_every = every;
        RolloutWorkspace workspace;
        RolloutGradient gradient;
        rollout_gradient(c.model, c.start, c.controls, loss, c.options, workspace, gradient);
        const AllocationGuard guard;
        rollout_gradient(c.model, c.start, c.controls, loss, c.options, workspace, gradient);
        EXPECT_EQ(guard.count(), 0) << c.name << (tape == Tape::records ? ", records" : ", checkpoints ") << every;
      }
    }
  }
}

TEST(WarmRollouts, WithoutForcesAllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const RolloutLoss loss = plain_loss();
  RolloutCase c = pushed_case("half_cheetah", 50, 0);
  c.controls.tau.resize(0, 0);
  RolloutWorkspace workspace;
  RolloutGradient gradient;
  rollout_gradient(c.model, c.start, c.controls, loss, c.options, workspace, gradient);
  const AllocationGuard guard;
  rollout_gradient(c.model, c.start, c.controls, loss, c.options, workspace, gradient);
  EXPECT_EQ(guard.count(), 0);
}

TEST(WarmRollouts, InABatchAllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const RolloutLoss loss = plain_loss();
  const RolloutCase c = pushed_case("half_cheetah", 50, 5);
  std::vector<RolloutTask> tasks;
  for (int k = 0; k < 6; ++k) {
    tasks.push_back({&c.model, {c.start.q, VecX::Constant(9, 0.05 * k)}, &c.controls, &loss});
  }
  ThreadPool pool(3);
  RolloutBatch batch;
  const int allocating = calls_that_allocate([&] {
    rollout_gradients(tasks, c.options, pool, batch);
    rollouts(tasks, c.options, pool, batch);
  });
  EXPECT_LE(allocating, 2 * 2);  // two kinds, on two threads beside this one
}

TEST(WarmRollouts, OfManyStepsAtOnceAllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const RolloutCase c = pushed_case("humanoid", 1, 0);
  const std::vector<State> states(7, c.start);
  std::vector<StepCotangent> by_next(7);
  for (StepCotangent& by : by_next) by.v.setConstant(c.model.nv(), 1);
  ThreadPool pool(2);
  std::vector<StepRecord> records;
  StepVjpBatch vjps;
  std::vector<StepJacobians> jacobians;
  const int allocating = calls_that_allocate([&] {
    step_batch(c.model, states, {}, c.options.step, pool, records, BatchGuess::last);
    vjp_batch(c.model, records, by_next, pool, vjps);
    jacobians_batch(c.model, records, pool, jacobians);
  });
  EXPECT_LE(allocating, 3);  // three kinds, on one thread beside this one
}

}  // namespace
}  // namespace lithe::test

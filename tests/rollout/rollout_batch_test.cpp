#include "lithe/rollout/rollout_batch.h"

#include <gtest/gtest.h>

#include <limits>

#include "lithe/model/parameters.h"
#include "tests/rollout/rollout_cases.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"

namespace lithe::test {
namespace {

// Rollouts of several models with different horizons, some of them several times with other starts. Losses and tasks point
// into it.
struct Tasks {
  std::vector<RolloutCase> cases = eventful_cases();
  std::vector<RolloutLoss> losses;
  std::vector<RolloutTask> tasks;
  RolloutOptions options;

  Tasks() {
    options.step.time_step = 2e-3;
    losses.reserve(cases.size());
    for (const RolloutCase& c : cases) {
      losses.push_back(loss_of_everything(c.model, c.start.q));
      for (int k = 0; k < 3; ++k) {
        const VecX v = c.start.v + VecX::Constant(c.start.v.size(), 0.05 * k);
        tasks.push_back({&c.model, {c.start.q, v}, &c.controls, &losses.back()});
      }
    }
  }
  RolloutGradient single(const RolloutTask& task) const {
    return rollout_gradient(*task.model, task.start, *task.controls, *task.loss, options);
  }
};

TEST(RolloutBatch, HasTheBitsOfSingleRolloutsOnAnyNumberOfThreads) {
  Tasks all;
  for (const Tape tape : {Tape::checkpoints, Tape::records}) {
    all.options.tape = tape;
    std::vector<RolloutGradient> singles;
    for (const RolloutTask& task : all.tasks) singles.push_back(all.single(task));
    for (const int threads : {1, 2, 3, 4}) {
      SCOPED_TRACE(threads);
      ThreadPool pool(threads);
      RolloutBatch batch;
      for (int round = 0; round < 2; ++round) {  // in fresh memory, and in used
        rollout_gradients(all.tasks, all.options, pool, batch);
        ASSERT_EQ(batch.results.size(), all.tasks.size());
        for (std::size_t i = 0; i < all.tasks.size(); ++i) {
          SCOPED_TRACE(i);
          const RolloutTask& task = all.tasks[i];
          expect_same_bits(batch.results[i].gradient, singles[i]);
          expect_same_bits(batch.results[i].trajectory,
                           rollout(*task.model, task.start, *task.controls, all.options.step));
        }
      }
    }
  }
}

TEST(RolloutBatch, WithoutGradientsIsTheMotions) {
  const Tasks all;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    RolloutBatch batch;
    rollouts(all.tasks, all.options, pool, batch);
    for (std::size_t i = 0; i < all.tasks.size(); ++i) {
      const RolloutTask& task = all.tasks[i];
      expect_same_bits(batch.results[i].trajectory, rollout(*task.model, task.start, *task.controls, all.options.step));
    }
  }
}

TEST(RolloutBatch, KeepsOneTapePerThread) {
  Tasks all;
  all.options.tape = Tape::records;
  ThreadPool pool(2);
  RolloutBatch batch;
  rollout_gradients(all.tasks, all.options, pool, batch);
  EXPECT_EQ(batch.workers.size(), 2);
}

TEST(RolloutBatch, SumsHaveTheSameBitsOnAnyNumberOfThreads) {
  // One controller for ten starts.
  RolloutCase c = pushed_case("half_cheetah", 40, 3);
  c.options.gradient.parameters = StepParameters(c.model, {"gravity/z"});
  const RolloutLoss loss = loss_of_everything(c.model, c.start.q);
  std::vector<RolloutTask> tasks;
  for (int k = 0; k < 10; ++k) {
    tasks.push_back({&c.model, {c.start.q, VecX::Constant(9, 0.03 * k)}, &c.controls, &loss});
  }
  GradientSum first;
  for (const int threads : {1, 2, 3, 4}) {
    ThreadPool pool(threads);
    RolloutBatch batch;
    rollout_gradients(tasks, c.options, pool, batch);
    const GradientSum total = gradient_sum(batch.results);
    if (threads == 1) {
      first = total;
      MatX tau = MatX::Zero(9, 40);
      for (const RolloutResult& result : batch.results) tau += result.gradient.tau;
      EXPECT_TRUE(total.tau == tau);
    }
    EXPECT_EQ(total.value, first.value);
    EXPECT_TRUE(total.tau == first.tau);
    EXPECT_EQ(total.parameters, first.parameters);
  }
  EXPECT_EQ(gradient_sum({}).value, 0);
}

TEST(RolloutBatch, WithOneModelPerTaskDifferentiatesEach) {
  // The same push on boxes of three masses.
  std::vector<RolloutCase> cases(3, sliding_box(10));
  for (int k = 0; k < 3; ++k) set_parameter(cases[k].model, "shape/box/friction", 0.2 + 0.1 * k);
  const RolloutLoss loss = loss_of_everything(cases[0].model, cases[0].start.q);
  std::vector<RolloutTask> tasks;
  for (const RolloutCase& c : cases) tasks.push_back({&c.model, c.start, &c.controls, &loss});
  ThreadPool pool(2);
  RolloutBatch batch;
  rollout_gradients(tasks, cases[0].options, pool, batch);
  for (int k = 0; k < 3; ++k) expect_same_bits(batch.results[k].gradient, cases[k].gradient(loss));
  EXPECT_NE(batch.results[0].gradient.value, batch.results[1].gradient.value);
}

TEST(RolloutBatch, RefusalsNameTheRolloutAndTheStep) {
  const RolloutCase c = driven_pendulum(10);
  const RolloutLoss loss = loss_of_everything(c.model, c.start.q);
  Controls bad = c.controls;
  bad.tau(0, 4) = std::numeric_limits<double>::quiet_NaN();
  const std::vector<RolloutTask> good(6, RolloutTask{&c.model, c.start, &c.controls, &loss});
  ThreadPool pool(3);
  RolloutBatch batch;
  const auto refused = [&](auto spoil, auto... parts) {
    std::vector<RolloutTask> tasks = good;
    spoil(tasks[3]);
    expect_error([&] { rollout_gradients(tasks, c.options, pool, batch); }, parts...);
  };
  refused([&](RolloutTask& task) { task.controls = &bad; }, "rollout 3", "step 4", "tau[0]", "nan");
  refused([&](RolloutTask& task) { task.start.q.setZero(2); }, "rollout 3", "q", "2");
  refused([](RolloutTask& task) { task.model = nullptr; }, "rollout 3", "model");
  refused([](RolloutTask& task) { task.controls = nullptr; }, "rollout 3", "controls");
  refused([](RolloutTask& task) { task.loss = nullptr; }, "rollout 3", "loss");
  // Without a loss a motion is still one.
  std::vector<RolloutTask> tasks = good;
  tasks[3].loss = nullptr;
  rollouts(tasks, c.options, pool, batch);
  EXPECT_EQ(batch.results.size(), 6);
  // Gradients of different sizes have no sum.
  const RolloutCase longer = driven_pendulum(11);
  tasks = good;
  tasks[2].controls = &longer.controls;
  rollout_gradients(tasks, c.options, pool, batch);
  expect_error([&] { gradient_sum(batch.results); }, "rollout 2", "11", "10");
}

}  // namespace
}  // namespace lithe::test

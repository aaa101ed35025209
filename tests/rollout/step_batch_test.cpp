#include "lithe/rollout/step_batch.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/rollout/rollout_cases.h"
#include "tests/support/error_text.h"

namespace lithe::test {
namespace {

// States along a motion, with the forces that act there.
struct Worlds {
  RolloutCase c;
  std::vector<State> states;
  std::vector<Control> controls;

  explicit Worlds(const RolloutCase& motion) : c(motion) {
    const Trajectory trajectory = rollout(c.model, c.start, c.controls, c.options.step);
    for (int t = 0; t < c.controls.steps; t += 4) {
      states.push_back({trajectory.q.col(t), trajectory.v.col(t)});
      control_at(c.controls, t, controls.emplace_back());
    }
  }
};

const std::vector<Worlds>& worlds() {
  static const std::vector<Worlds> all = [] {
    std::vector<Worlds> result;
    for (const RolloutCase& c : eventful_cases()) result.emplace_back(c);
    return result;
  }();
  return all;
}

TEST(StepBatch, HasTheBitsOfSingleStepsOnAnyNumberOfThreads) {
  for (const Worlds& w : worlds()) {
    SCOPED_TRACE(w.c.name);
    for (const int threads : {1, 2, 3, 4}) {
      ThreadPool pool(threads);
      std::vector<StepRecord> records;
      step_batch(w.c.model, w.states, w.controls, w.c.options.step, pool, records);
      ASSERT_EQ(records.size(), w.states.size());
      for (std::size_t i = 0; i < records.size(); ++i) {
        StepRecord single;
        step(w.c.model, w.states[i], w.controls[i], w.c.options.step, single);
        ASSERT_EQ(records[i].next.q, single.next.q) << i;
        ASSERT_EQ(records[i].next.v, single.next.v) << i;
        ASSERT_EQ(records[i].f, single.f) << i;
      }
    }
  }
}

TEST(StepBatch, GoesOnFromItsOwnWarmStarts) {
  // Ten steps of each world, in one batch and one by one.
  for (const Worlds& w : worlds()) {
    SCOPED_TRACE(w.c.name);
    ThreadPool pool(2);
    std::vector<StepRecord> records;
    std::vector<State> states = w.states;
    for (int t = 0; t < 10; ++t) {
      step_batch(w.c.model, states, w.controls, w.c.options.step, pool, records, BatchGuess::last);
      for (std::size_t i = 0; i < states.size(); ++i) states[i] = records[i].next;
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      StepRecord single;
      State state = w.states[i];
      for (int t = 0; t < 10; ++t) {
        step(w.c.model, state, w.controls[i], w.c.options.step, single, &single.warm_start);
        state = single.next;
      }
      ASSERT_EQ(states[i].q, state.q) << i;
      ASSERT_EQ(states[i].v, state.v) << i;
    }
  }
}

TEST(StepBatch, TakesOneControlForAllOrNone) {
  const Worlds& w = worlds()[0];
  ThreadPool pool(2);
  std::vector<StepRecord> records;
  step_batch(w.c.model, w.states, std::span(w.controls).first(1), w.c.options.step, pool, records);
  for (const StepRecord& record : records) EXPECT_EQ(record.control.tau, w.controls[0].tau);
  step_batch(w.c.model, w.states, {}, w.c.options.step, pool, records);
  for (const StepRecord& record : records) EXPECT_EQ(record.control.tau, VecX::Zero(w.c.model.nv()));
}

TEST(StepBatch, FollowsAModelWhoseShapesChange) {
  Worlds w = worlds()[0];
  ThreadPool pool(2);
  std::vector<StepRecord> records;
  step_batch(w.c.model, w.states, {}, w.c.options.step, pool, records);
  Shape shape = w.c.model.shapes()[0];
  shape.placement.p.z() += 0.01;
  w.c.model.set_shape(ShapeIndex(0), shape);
  step_batch(w.c.model, w.states, {}, w.c.options.step, pool, records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    StepRecord single;
    step(w.c.model, w.states[i], {}, w.c.options.step, single);
    ASSERT_EQ(records[i].next.v, single.next.v) << i;
  }
}

// A cotangent that looks random, different for each item.
std::vector<StepCotangent> cotangents(int nv, std::size_t count) {
  std::vector<StepCotangent> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i].q = VecX::LinSpaced(nv, -1, 1 + 0.1 * static_cast<double>(i));
    all[i].v = VecX::LinSpaced(nv, 1, -2).array().sin();
  }
  return all;
}

TEST(VjpBatch, HasTheBitsOfSingleProductsOnAnyNumberOfThreads) {
  for (const Worlds& w : worlds()) {
    SCOPED_TRACE(w.c.name);
    const StepParameters parameters(w.c.model, {"gravity/z", "time_step"});
    const std::vector<StepCotangent> by_next = cotangents(w.c.model.nv(), w.states.size());
    ThreadPool one(1);
    std::vector<StepRecord> records;
    step_batch(w.c.model, w.states, w.controls, w.c.options.step, one, records);
    for (const int threads : {1, 2, 3, 4}) {
      ThreadPool pool(threads);
      StepVjpBatch batch;
      vjp_batch(w.c.model, records, by_next, pool, batch, {.parameters = parameters});
      ASSERT_EQ(batch.reports.size(), records.size());
      for (std::size_t i = 0; i < records.size(); ++i) {
        StepVjp single;
        step_vjp(w.c.model, records[i], by_next[i], single, {.parameters = parameters});
        ASSERT_EQ(batch.q.col(i), single.q) << i;
        ASSERT_EQ(batch.v.col(i), single.v) << i;
        ASSERT_EQ(batch.tau.col(i), single.tau) << i;
        ASSERT_EQ(batch.parameters.col(i), single.parameters) << i;
        ASSERT_EQ(batch.reports[i].margin, single.report.margin) << i;
      }
    }
  }
}

TEST(JacobiansBatch, HasTheBitsOfSingleOnesOnAnyNumberOfThreads) {
  for (const Worlds& w : worlds()) {
    SCOPED_TRACE(w.c.name);
    ThreadPool one(1);
    std::vector<StepRecord> records;
    step_batch(w.c.model, w.states, w.controls, w.c.options.step, one, records);
    for (const int threads : {1, 2, 3, 4}) {
      ThreadPool pool(threads);
      std::vector<StepJacobians> batch;
      jacobians_batch(w.c.model, records, pool, batch);
      for (std::size_t i = 0; i < records.size(); ++i) {
        StepJacobians single;
        step_jacobians(w.c.model, records[i], single);
        ASSERT_TRUE(batch[i].dvnext_dq == single.dvnext_dq) << i;
        ASSERT_TRUE(batch[i].dqnext_dv == single.dqnext_dv) << i;
        ASSERT_TRUE(batch[i].dvnext_dtau == single.dvnext_dtau) << i;
      }
    }
  }
}

TEST(StepBatch, RefusalsNameTheItem) {
  Worlds w = worlds()[0];
  ThreadPool pool(3);
  std::vector<StepRecord> records;
  const auto step_all = [&] { step_batch(w.c.model, w.states, w.controls, w.c.options.step, pool, records); };
  w.states[5].v[2] = std::numeric_limits<double>::quiet_NaN();
  expect_error(step_all, "item 5", "v[2]", "nan");
  w = worlds()[0];
  w.controls.resize(3);
  expect_error(step_all, "3 controls", std::to_string(w.states.size()));
  w = worlds()[0];
  step_all();
  StepVjpBatch batch;
  const std::vector<StepCotangent> few(2);
  expect_error([&] { vjp_batch(w.c.model, records, few, pool, batch); }, "2 gradients", std::to_string(records.size()));
}

}  // namespace
}  // namespace lithe::test

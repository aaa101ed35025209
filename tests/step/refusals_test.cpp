#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "lithe/core/infinity.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/step/internal/step_tape.h"
#include "tests/support/constants.h"
#include "tests/support/constrained_model.h"
#include "tests/support/error_text.h"
#include "tests/support/random_test.h"
#include "tests/support/step_worlds.h"

// What a step refuses, and what it survives.
namespace lithe::test {

using namespace internal;
namespace {

// A valid step of a robot with motors, to be spoilt.
struct Attempt {
  Scene scene = lithe::scene("gripper");
  State state = {scene.q, scene.v};
  Control control;
  StepOptions options;
  StepRecord record;

  Attempt() {
    control.tau.setZero(scene.model.nv());
    control.motor_targets = scene.motor_targets;
  }
  void operator()() { step(scene.model, state, control, options, record); }
};

TEST(Refusals, AValidStepIsNotRefused) {
  Attempt attempt;
  attempt();
  EXPECT_TRUE(attempt.record.status.solved());
}

TEST(Refusals, NumbersThatAreNotFiniteAreNamed) {
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    const std::string value = fmt::format("{}", bad);
    Attempt attempt;
    attempt.state.q[1] = bad;
    expect_error(attempt, "q[1]", value);
    attempt = {};
    attempt.state.v[2] = bad;
    expect_error(attempt, "v[2]", value);
    attempt = {};
    attempt.control.tau[3] = bad;
    expect_error(attempt, "tau[3]", value);
    attempt = {};
    attempt.control.motor_targets[1] = bad;
    expect_error(attempt, "motor_targets[1]", "grip", value);
    attempt = {};
    Vec6 wrench = Vec6::Zero();
    wrench[4] = bad;
    attempt.control.wrenches = {{attempt.scene.model.body("cube"), wrench}};
    expect_error(attempt, "wrench", "cube", "4", value);
  }
}

TEST(Refusals, WrongSizesAreNamed) {
  Attempt attempt;
  attempt.state.q.setZero(3);
  expect_error(attempt, "q", "3", std::to_string(attempt.scene.model.nq()));
  attempt = {};
  attempt.state.v.setZero(1);
  expect_error(attempt, "v", "1", std::to_string(attempt.scene.model.nv()));
  attempt = {};
  attempt.control.tau.setZero(2);
  expect_error(attempt, "tau", "2", std::to_string(attempt.scene.model.nv()));
  attempt = {};
  attempt.control.motor_targets.setZero(5);
  expect_error(attempt, "motor_targets", "5", "2");
  attempt = {};
  attempt.control.wrenches = {{BodyIndex(99), Vec6::Zero()}};
  expect_error(attempt, "wrench", "99");
}

TEST(Refusals, AZeroQuaternionIsNamed) {
  Attempt attempt;
  const Joint& ball = attempt.scene.model.joints()[attempt.scene.model.joint("cube.ball")];
  attempt.state.q.segment<4>(ball.q_index).setZero();
  expect_error(attempt, "quaternion", std::to_string(ball.q_index));
}

TEST(Refusals, BadOptionsAreNamed) {
  const auto refused = [](auto spoil, const char* name, const std::string& value) {
    Attempt attempt;
    spoil(attempt.options);
    expect_error(attempt, name, value);
  };
  for (const double bad : {0.0, -1e-3, kNan, kInfinity}) {
    refused([&](StepOptions& o) { o.time_step = bad; }, "time step", fmt::format("{}", bad));
  }
  for (const double bad : {-0.1, 1.1, kNan}) {
    refused([&](StepOptions& o) { o.correction = bad; }, "correction", fmt::format("{}", bad));
    refused([&](StepOptions& o) { o.loop_correction = bad; }, "loop correction", fmt::format("{}", bad));
  }
  for (const double bad : {-1.0, kNan}) {
    refused([&](StepOptions& o) { o.max_correction_speed = bad; }, "correction speed", fmt::format("{}", bad));
    refused([&](StepOptions& o) { o.max_loop_speed = bad; }, "speed", fmt::format("{}", bad));
    refused([&](StepOptions& o) { o.restitution_threshold = bad; }, "restitution threshold", fmt::format("{}", bad));
  }
  Attempt attempt;
  attempt.options.lcp.sweeps = 0;
  expect_error(attempt, "sweeps", "0");
  attempt = {};
  attempt.options.threads = -1;
  expect_error(attempt, "threads", "-1");
}

TEST(Refusals, ARefusedStepLeavesAWorldAsItWas) {
  World world = world_of(scene("humanoid"));
  world.step();
  const State before = world.state();
  const double time = world.time();
  expect_error([&] { world.step(VecX::Constant(world.model().nv(), kNan)); }, "tau[0]");
  EXPECT_EQ(world.state().q, before.q);
  EXPECT_EQ(world.state().v, before.v);
  EXPECT_EQ(world.time(), time);
  EXPECT_TRUE(world.step().solved());
}

TEST(Refusals, AWorldRefusesABadState) {
  World world = world_of(scene("half_cheetah"));
  const VecX q = world.state().q, v = world.state().v;
  VecX bad = q;
  bad[4] = kNan;
  expect_error([&] { world.set_state(bad, v); }, "q[4]", "nan");
  expect_error([&] { world.set_state(q, v.head(3)); }, "v", "3", "9");
  EXPECT_EQ(world.state().q, q);
}

// Whatever comes in, what comes out is finite, or the step says that it diverged and stays where it is.
void expect_survival(const Model& model, const State& state, const Control& control, const StepOptions& options) {
  StepRecord record;
  step(model, state, control, options, record);
  EXPECT_TRUE(record.next.q.allFinite());
  EXPECT_TRUE(record.next.v.allFinite());
  if (record.status.diverged) {
    EXPECT_EQ(record.next.q, state.q);
    EXPECT_EQ(record.next.v, state.v);
  }
  for (const double f : record.f) EXPECT_TRUE(std::isfinite(f) || record.status.diverged);
}

TEST(Absurd, NumbersNeverBecomeNan) {
  for (const char* name : {"humanoid", "half_cheetah", "gripper", "four_bar", "pile:6", "stack:3"}) {
    const Scene start = scene(name);
    for (const double size : {1e10, 1e50, 1e150, 1e200, 1e300}) {
      SCOPED_TRACE(std::string(name) + " with numbers of " + fmt::format("{}", size));
      StepOptions options;
      options.time_step = start.time_step;
      Control control = with_targets(start.motor_targets);
      State fast = {start.q, VecX::Constant(start.model.nv(), size)};
      expect_survival(start.model, fast, control, options);
      fast.v[0] = -size;
      expect_survival(start.model, fast, control, options);
      Control pushed = control;
      pushed.tau.setConstant(start.model.nv(), size);
      expect_survival(start.model, {start.q, start.v}, pushed, options);
      Control aimed = control;
      aimed.motor_targets.setConstant(size);
      expect_survival(start.model, {start.q, start.v}, aimed, options);
      State far = {start.q, start.v};
      far.q[0] = size;
      expect_survival(start.model, far, control, options);
      options.time_step = size;
      expect_survival(start.model, {start.q, start.v}, control, options);
      options.time_step = 1 / size;
      expect_survival(start.model, {start.q, start.v}, control, options);
    }
  }
}

TEST(Absurd, RandomNumbersOfAnySizeNeverBecomeNan) {
  for_random_cases(500, [](std::mt19937_64& random) {
    ConstrainedCase c = random_constrained_case(random);
    std::uniform_real_distribution<double> exponent(-300, 300);
    std::bernoulli_distribution some(0.2);
    const auto spoil = [&](VecX& x) {
      for (double& value : x) {
        if (some(random)) value *= std::pow(10.0, exponent(random));
        if (!std::isfinite(value)) value = 1e308;
      }
    };
    spoil(c.state.v);
    spoil(c.control.tau);
    spoil(c.control.motor_targets);
    expect_survival(c.model, c.state, c.control, c.options);
  });
}

TEST(Absurd, ADivergedWorldStandsStill) {
  World world = world_of(scene("humanoid"));
  world.set_state(world.state().q, VecX::Constant(world.model().nv(), 1e300));
  const StepStatus& status = world.step();
  EXPECT_TRUE(status.diverged);
  EXPECT_FALSE(status.solved());
  EXPECT_EQ(world.time(), 0);
}

TEST(Absurd, ADivergedStepLeavesNoContactsBehind) {
  World world = world_of(scene("humanoid"));
  world.step();
  ASSERT_EQ(world.contacts().size(), 12);
  world.set_state(world.state().q, VecX::Constant(world.model().nv(), 1e300));
  ASSERT_TRUE(world.step().diverged);
  EXPECT_TRUE(world.contacts().empty());
  EXPECT_EQ(world.record().tape().problem.island_count(), 0);
  EXPECT_EQ(constraint_forces(world.model(), world.record()), VecX::Zero(world.model().nv()));
  // And goes on as if nothing had been.
  const Scene start = scene("humanoid");
  world.set_state(start.q, start.v);
  EXPECT_EQ(world.step().contacts, 12);
}

}  // namespace
}  // namespace lithe::test

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "lithe/core/thread_pool.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/solids.h"
#include "tests/support/step_worlds.h"

// Same input, same bits: whatever happened before, and wherever.
namespace lithe::test {
namespace {

const std::vector<std::string>& scenes() {
  static const std::vector<std::string> names = {"humanoid", "half_cheetah", "pile:8", "stack:4",
                                                 "four_bar", "gripper",      "chain:6"};
  return names;
}
constexpr int kComparedSteps = 400;

// The same pushes for the same scene.
Control control_of(const Scene& scene, int step) {
  Control control;
  control.tau.resize(scene.model.nv());
  for (int i = 0; i < scene.model.nv(); ++i) control.tau[i] = std::sin(0.37 * i + 0.05 * step);
  control.motor_targets = scene.motor_targets;
  return control;
}

// States of a run in which each step's record and guess are chosen by `step_once(state, control)`.
template <class StepOnce>
std::vector<State> trajectory(const Scene& scene, StepOnce step_once) {
  std::vector<State> states = {{scene.q, scene.v}};
  for (int i = 0; i < kComparedSteps; ++i) states.push_back(step_once(states.back(), control_of(scene, i)));
  return states;
}

StepOptions options_of(const Scene& scene) {
  StepOptions options;
  options.time_step = scene.time_step;
  return options;
}

// One record for all steps, each step guessing from the last.
std::vector<State> warm_trajectory(const Scene& scene, StepRecord& record) {
  const StepOptions options = options_of(scene);
  record.warm_start.clear();
  return trajectory(scene, [&](const State& state, const Control& control) {
    step(scene.model, state, control, options, record, &record.warm_start);
    return record.next;
  });
}
std::vector<State> warm_trajectory(const Scene& scene) {
  StepRecord record;
  return warm_trajectory(scene, record);
}

void expect_same_bits(const std::vector<State>& a, const std::vector<State>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(a[i].q == b[i].q && a[i].v == b[i].v) << "differs after step " << i;
  }
}

TEST(Determinism, ARepeatedRunIsTheSame) {
  for (const std::string& name : scenes()) {
    SCOPED_TRACE(name);
    expect_same_bits(warm_trajectory(scene(name)), warm_trajectory(scene(name)));
  }
}

TEST(Determinism, RunsInSeveralThreadsAreTheSame) {
  // Four threads share one model, each with its own record.
  for (const std::string& name : scenes()) {
    SCOPED_TRACE(name);
    const Scene start = scene(name);
    std::vector<std::vector<State>> runs(4);
    std::vector<std::thread> threads;
    for (std::vector<State>& run : runs) threads.emplace_back([&] { run = warm_trajectory(start); });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 1; i < runs.size(); ++i) expect_same_bits(runs[i], runs[0]);
  }
}

// Towers of different heights that do not touch one another, the higher ones large enough to be solved without A.
Scene towers_apart() {
  ModelBuilder builder;
  int tower = 0;
  for (const int height : {1, 16, 3, 12, 2, 9, 1}) {
    for (int i = 0; i < height; ++i) {
      // Each box a little aside of that below it.
      add_free_solid(builder, fmt::format("box_{}_{}", tower, i), 1, Box{Vec3::Constant(0.1)},
                     Pose::translation(tower + 0.01 * i, 0.005 * i, 0.2 * (i + 0.5)));
    }
    ++tower;
  }
  add_ground(builder);
  return at_rest(builder);
}

// A run of `steps` steps, each from the last: where it goes, and by which impulses.
struct SharedRun {
  std::vector<State> states;
  std::vector<std::vector<double>> impulses;
  std::vector<StepStatus> statuses;
};
SharedRun shared_run(const Scene& scene, const StepOptions& options, int steps) {
  SharedRun run;
  StepRecord record;
  State state = {scene.q, scene.v};
  for (int i = 0; i < steps; ++i) {
    step(scene.model, state, control_of(scene, i), options, record, &record.warm_start);
    state = record.next;
    run.states.push_back(state);
    run.impulses.push_back(record.f);
    run.statuses.push_back(record.status);
  }
  return run;
}
void expect_same_bits(const SharedRun& a, const SharedRun& b) {
  expect_same_bits(a.states, b.states);
  EXPECT_EQ(a.impulses, b.impulses);
  for (std::size_t i = 0; i < a.statuses.size(); ++i) {
    const StepStatus &x = a.statuses[i], &y = b.statuses[i];
    ASSERT_TRUE(x.flags == y.flags && x.residual == y.residual && x.events == y.events && x.unsolved == y.unsolved)
        << "differs in step " << i;
  }
}

// Threads of its own, any number of them, and those of somebody else's pool.
TEST(Determinism, IslandsOnSeveralThreadsAreTheSame) {
  for (const LcpMethod method : {LcpMethod::direct, LcpMethod::gauss_seidel}) {
    for (const bool towers : {false, true}) {
      SCOPED_TRACE(
          fmt::format("{}, {}", towers ? "towers" : "boxes", method == LcpMethod::direct ? "direct" : "sweeps"));
      const Scene start = towers ? towers_apart() : scene("boxes:50");
      const auto run = [&](int threads) {
        StepOptions options = options_of(start);
        options.threads = threads;
        options.lcp.method = method;
        options.lcp.sweeps = 20;
        options.lcp.direct_rows = method == LcpMethod::direct ? options.lcp.direct_rows : 100;
        return shared_run(start, options, method == LcpMethod::direct ? 40 : 8);
      };
      const SharedRun alone = run(1);
      const auto is_shared = [](const StepStatus& status) { return status.islands >= 2 && status.rows >= 400; };
      EXPECT_GE(std::ranges::count_if(alone.statuses, is_shared), alone.statuses.size() / 2) << "little to share";
      for (const int threads : {2, 3, 8, 0}) {
        SCOPED_TRACE(threads);
        expect_same_bits(run(threads), alone);
      }
      ThreadPool pool(2);
      std::vector<SharedRun> inside(2);
      pool.parallel_for(2, [&](int item, int) { inside[item] = run(2); });
      for (const SharedRun& other : inside) expect_same_bits(other, alone);
    }
  }
}

TEST(Determinism, AFreshRecordForEveryStepIsTheSame) {
  for (const std::string& name : scenes()) {
    SCOPED_TRACE(name);
    const Scene start = scene(name);
    const StepOptions options = options_of(start);
    WarmStart guess;
    const std::vector<State> fresh = trajectory(start, [&](const State& state, const Control& control) {
      StepRecord record;
      step(start.model, state, control, options, record, &guess);
      guess = record.warm_start;
      return record.next;
    });
    expect_same_bits(fresh, warm_trajectory(start));
  }
}

TEST(Determinism, ARecordUsedWithOtherModelsIsTheSame) {
  StepRecord used;
  for (int round = 0; round < 2; ++round) {
    for (const std::string& name : scenes()) {
      SCOPED_TRACE(name);
      expect_same_bits(warm_trajectory(scene(name), used), warm_trajectory(scene(name)));
    }
  }
}

TEST(Determinism, ColdRunsAreTheSameWhateverTheyAreGuessed) {
  for (const std::string& name : scenes()) {
    SCOPED_TRACE(name);
    const Scene start = scene(name);
    StepOptions options = options_of(start);
    options.lcp.cold = true;
    const auto cold = [&](bool guess) {
      StepRecord record;
      return trajectory(start, [&, guess](const State& state, const Control& control) {
        step(start.model, state, control, options, record, guess ? &record.warm_start : nullptr);
        return record.next;
      });
    };
    expect_same_bits(cold(true), cold(false));
  }
}

TEST(Determinism, AWorldIsTheSameAsItsSteps) {
  for (const std::string& name : scenes()) {
    SCOPED_TRACE(name);
    const Scene start = scene(name);
    World world = world_of(start);
    const std::vector<State> states = trajectory(start, [&](const State&, const Control& control) {
      world.step(control);
      return world.state();
    });
    expect_same_bits(states, warm_trajectory(start));
  }
}

TEST(Determinism, ACopiedWorldGoesOnTheSame) {
  for (const std::string& name : scenes()) {
    SCOPED_TRACE(name);
    const Scene start = scene(name);
    World world = world_of(start);
    for (int i = 0; i < 50; ++i) world.step(control_of(start, i));
    World copy = world;
    for (int i = 50; i < 150; ++i) {
      world.step(control_of(start, i));
      copy.step(control_of(start, i));
    }
    EXPECT_EQ(world.state().q, copy.state().q);
    EXPECT_EQ(world.state().v, copy.state().v);
  }
}

// From every state of a warm run, the same step once more without a guess: how many of the steps differ, and whether each
// of both is solved.
int steps_that_differ(const std::string& name) {
  SCOPED_TRACE(name);
  const Scene start = scene(name);
  const StepOptions options = options_of(start);
  StepRecord warm, cold;
  State state = {start.q, start.v};
  int differ = 0;
  for (int i = 0; i < kComparedSteps; ++i) {
    const Control control = control_of(start, i);
    step(start.model, state, control, options, warm, &warm.warm_start);
    step(start.model, state, control, options, cold);
    EXPECT_TRUE(warm.status.solved() && cold.status.solved()) << "step " << i;
    EXPECT_LT(std::max(warm.status.residual, cold.status.residual), 1e-6) << "step " << i;
    if ((warm.next.v - cold.next.v).cwiseAbs().maxCoeff() > 1e-9) ++differ;
    state = warm.next;
  }
  return differ;
}

TEST(Determinism, AGuessDoesNotChangeTheVelocities) {
  for (const char* name :
       {"half_cheetah", "four_bar", "gripper", "chain:6", "boxes", "incline", "mass_ratio:10", "rolling_sphere"}) {
    EXPECT_EQ(steps_that_differ(name), 0) << name;
  }
}

TEST(Determinism, AGuessChoosesAmongTrueSolutionsWhereThereAreSeveral) {
  // Bodies that slide can go on in more than one way; from its last impulses, a step keeps to the one that it is on.
  for (const char* name : {"humanoid", "stack:4", "pile:8"}) {
    EXPECT_LE(steps_that_differ(name), kComparedSteps / 20) << name;
  }
}

}  // namespace
}  // namespace lithe::test

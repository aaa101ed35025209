#include <gtest/gtest.h>

#include <algorithm>

#include "lithe/model/configuration.h"
#include "lithe/scenes/solids/towers.h"
#include "lithe/step/internal/recorded_stages.h"
#include "lithe/step/internal/row_memory.h"
#include "lithe/step/internal/step_tape.h"
#include "lithe/step/step.h"

namespace lithe::test {

using namespace internal;
namespace {

struct OneStep {
  Scene scene;
  State state;
  StepRecord record;
  explicit OneStep(Scene the_scene) : scene(std::move(the_scene)), state{scene.q, scene.v} {}
  void step(const WarmStart* guess) { lithe::step(scene.model, state, {}, {}, record, guess); }
  ContactProblem problem() const { return lcps_of(scene.model, record); }
};

TEST(WarmStart, OfTheSameStepIsRight) {
  OneStep run(stack(5));
  run.step(nullptr);
  EXPECT_EQ(run.record.status.guessed, 0);
  const std::vector<double> f = run.record.f;
  run.step(&run.record.warm_start);  // of which nobody knows yet whether its modes stay
  EXPECT_EQ(run.record.status.followed, run.record.status.islands);
  EXPECT_EQ(run.record.status.events, 0);
  run.step(&run.record.warm_start);
  EXPECT_EQ(run.record.status.guessed, run.record.status.islands);
  ASSERT_EQ(run.record.f.size(), f.size());
  for (std::size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(run.record.f[i], f[i], 1e-9);
}

TEST(WarmStart, FindsEveryConstraintOfTheStepItComesFrom) {
  OneStep run(stack(5));
  run.step(nullptr);
  RowGuess guess;
  const int found = RowMemory::guess(run.record.warm_start, run.problem(), guess);
  EXPECT_EQ(found, static_cast<int>(run.record.tape().problem.constraints.size()));
  EXPECT_EQ(guess.modes, run.record.modes);
  ASSERT_EQ(guess.impulses.size(), run.record.f.size());
  for (std::size_t i = 0; i < guess.impulses.size(); ++i) {
    EXPECT_EQ(guess.impulses[i], static_cast<double>(static_cast<float>(run.record.f[i])));
  }
}

TEST(WarmStart, IsSteadyOnceAGuessWasRight) {
  OneStep run(stack(5));
  run.step(nullptr);
  RowGuess guess;
  RowMemory::guess(run.record.warm_start, run.problem(), guess);
  EXPECT_EQ(guess.steady, std::vector<std::uint8_t>({0})) << "nothing had been guessed";
  run.step(&run.record.warm_start);
  RowMemory::guess(run.record.warm_start, run.problem(), guess);
  EXPECT_EQ(guess.steady, std::vector<std::uint8_t>({1}));
}

TEST(WarmStart, KnowsTheRidgeThatFoundTheModes) {
  OneStep run(stack(5));
  run.step(nullptr);
  RowGuess guess;
  RowMemory::guess(run.record.warm_start, run.problem(), guess);
  ASSERT_GT(run.record.reports[0].ridge, 0);
  EXPECT_EQ(guess.ridges, std::vector<double>({static_cast<float>(run.record.reports[0].ridge)}));
  RowMemory::guess(WarmStart(), run.problem(), guess);
  EXPECT_EQ(guess.ridges, std::vector<double>({0.0}));
}

TEST(WarmStart, KnowsContactsByNameNotByPlace) {
  OneStep run(stack(3));
  run.step(nullptr);
  const std::vector<RowMode> before = run.record.modes;
  ASSERT_GT(run.record.contacts.contacts.size(), 4u);
  // The same step with its first contact gone: everything else is still found.
  const WarmStart remembered = run.record.warm_start;
  Scene lifted = stack(3);
  lifted.q[lifted.model.joints()[lifted.model.joints().size() - 2].q_index] += 1;  // the top box, away
  run.state.q = lifted.q;
  run.step(nullptr);
  RowGuess guess;
  const int found = RowMemory::guess(remembered, run.problem(), guess);
  EXPECT_EQ(found, static_cast<int>(run.record.tape().problem.constraints.size()));
  EXPECT_LT(guess.modes.size(), before.size());
}

TEST(WarmStart, LeavesTheUnknownToTheirVelocity) {
  OneStep run(stack(2));
  run.step(nullptr);
  RowGuess guess;
  const ContactProblem problem = run.problem();
  EXPECT_EQ(RowMemory::guess(WarmStart(), problem, guess), 0);
  EXPECT_EQ(guess.steady, std::vector<std::uint8_t>({0}));
  for (const Constraint& constraint : problem.constraints) {
    const bool pushes = problem.b[constraint.first_row] < 0;
    EXPECT_EQ(guess.impulses[constraint.first_row], 0);
    EXPECT_EQ(guess.modes[constraint.first_row], pushes ? RowMode::clamping : RowMode::separating);
  }
}

TEST(WarmStart, IsIgnoredByAColdStep) {
  OneStep run(stack(2));
  run.step(nullptr);
  StepOptions cold;
  cold.lcp.cold = true;
  step(run.scene.model, run.state, {}, cold, run.record, &run.record.warm_start);
  EXPECT_EQ(run.record.status.guessed, 0);
  EXPECT_TRUE(run.record.status.solved());
}

}  // namespace
}  // namespace lithe::test

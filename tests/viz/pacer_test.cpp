#include "lithe/viz/live/internal/pacer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace lithe::test {

using namespace internal;
namespace {

constexpr double kTick = 1.0 / 60;

// All steps that are due are taken, each in `step_seconds`; returns how many.
long steps_in(Pacer& pacer, double seconds, double tick, double speed, double step_seconds = 1e-5) {
  long steps = 0;
  for (long i = 0; i < std::lround(seconds / tick); ++i) {
    const int due = pacer.due(tick, speed);
    pacer.took(due, due * step_seconds);
    steps += due;
  }
  return steps;
}

TEST(Pacer, KeepsPaceWithTheClock) {
  for (const double time_step : {1e-4, 1e-3, 1.0 / 240, 1.0 / 60, 0.0123}) {
    for (const double speed : {0.01, 0.3, 1.0, 3.0, 10.0}) {
      Pacer pacer(time_step);
      const double seconds = 30;
      const long steps = steps_in(pacer, seconds, kTick, speed);
      EXPECT_LE(std::abs(static_cast<double>(steps) * time_step - speed * seconds), 1.01 * time_step)
          << time_step << " s at " << speed;
      // The mean looks half a second back, where there may be a step more or less.
      EXPECT_NEAR(pacer.real_time_factor(), speed, 0.02 * speed + 2.1 * time_step) << time_step << " s at " << speed;
    }
  }
}

TEST(Pacer, KeepsPaceWhenTicksAreUneven) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> tick(0, 0.09);
  Pacer pacer(1e-3);
  double seconds = 0;
  long steps = 0;
  while (seconds < 60) {
    const double passed = tick(random);
    const int due = pacer.due(passed, 1);
    pacer.took(due, 0);
    seconds += passed;
    steps += due;
    EXPECT_LE(std::abs(static_cast<double>(steps) * 1e-3 - seconds), 1.01e-3);
  }
}

TEST(Pacer, TakesAStepNowAndThenIfItIsLongerThanATick) {
  Pacer pacer(0.25);
  long steps = 0;
  for (int i = 1; i <= 600; ++i) {
    const int due = pacer.due(kTick, 1);
    EXPECT_LE(due, 1);
    steps += due;
    pacer.took(due, 0);
    EXPECT_LE(std::abs(static_cast<double>(steps) * 0.25 - i * kTick), 0.2501);
  }
  EXPECT_NEAR(static_cast<double>(steps), 40, 1);
}

TEST(Pacer, TakesNoStepBeforeItIsDue) {
  Pacer pacer(0.25);
  for (int i = 0; i < 14; ++i) {  // 14 ticks are 0.233 s
    EXPECT_EQ(pacer.due(kTick, 1), 0);
    pacer.took(0, 0);
  }
  EXPECT_EQ(pacer.due(0.02, 1), 1);
}

TEST(Pacer, DoesNotCatchUpAfterAPause) {
  Pacer pacer(1e-3);
  steps_in(pacer, 1, kTick, 1);
  const int due = pacer.due(3600, 1);  // the lid of the laptop was closed
  EXPECT_LE(due, 101);                 // a tenth of a second, and what was due anyway
  EXPECT_GE(due, 99);
  pacer.took(due, 0);
  EXPECT_LE(pacer.due(kTick, 1), 18);
}

TEST(Pacer, GivesUpWhatCouldNotBeDone) {
  Pacer pacer(1e-3);
  for (int i = 0; i < 300; ++i) {  // the machine manages 5 of 16 to 17 steps
    const int due = pacer.due(kTick, 1);
    EXPECT_LE(due, 17);
    pacer.took(std::min(due, 5), 0.02);
  }
  EXPECT_NEAR(pacer.real_time_factor(), 0.3, 0.01);
}

TEST(Pacer, StopsOwing) {
  Pacer pacer(0.1);
  EXPECT_EQ(pacer.due(0.099, 1), 0);
  pacer.took(0, 0);
  pacer.stop();
  EXPECT_EQ(pacer.real_time_factor(), 0);
  EXPECT_EQ(pacer.due(0.002, 1), 0);
}

TEST(Pacer, TellsTheMeanTimeOfAStep) {
  Pacer pacer(1e-3);
  EXPECT_EQ(pacer.step_seconds(), 0);
  pacer.due(kTick, 1);
  pacer.took(16, 16 * 2e-4);
  EXPECT_NEAR(pacer.step_seconds(), 2e-4, 1e-12);  // the first ones say it at once
  steps_in(pacer, 2, kTick, 1, 5e-5);
  EXPECT_NEAR(pacer.step_seconds(), 5e-5, 1e-8);
  const double before = pacer.step_seconds();
  pacer.due(1e-5, 1);
  pacer.took(0, 0);  // no step, no news
  EXPECT_EQ(pacer.step_seconds(), before);
}

TEST(Pacer, CanCountWhatIsDueOfTheSmallestSteps) {
  for (const double time_step : {1e-9, 1e-12, 1e-300, 5e-324}) {
    Pacer pacer(time_step);
    const int due = pacer.due(1, 10);
    EXPECT_GT(due, 1'000'000) << time_step;
    pacer.took(100, 1e-3);
    EXPECT_TRUE(std::isfinite(pacer.real_time_factor()));
  }
}

}  // namespace
}  // namespace lithe::test

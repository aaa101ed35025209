#include "lithe/viz/live/internal/pacer.h"

#include <algorithm>
#include <cmath>

namespace lithe::internal {

namespace {

// Besides a step, no more than this many seconds of real time are owed; what is beyond is dropped, and the motion is
// late for good.
constexpr double kMostOwed = 0.1;
// The two means look back over about this much real time (s) and this many steps.
constexpr double kMemory = 0.5;
constexpr int kStepsRemembered = 50;
constexpr double kMostSteps = 1e9;  // at once

}  // namespace

int Pacer::due(double seconds, double speed) {
  elapsed_ = seconds;
  owed_ = std::min(owed_ + seconds * speed, kMostOwed * speed + time_step_);
  return static_cast<int>(std::min(owed_ / time_step_, kMostSteps));
}

void Pacer::took(int steps, double seconds) {
  const double simulated = steps * time_step_;
  // Less than a step stays owed; more was too much for the machine.
  owed_ = std::fmod(std::max(0.0, owed_ - simulated), time_step_);
  if (elapsed_ > 0) {
    const double weight = 1 - std::exp(-elapsed_ / kMemory);
    factor_ += weight * (simulated / elapsed_ - factor_);
  }
  if (steps > 0) {
    const double weight = step_seconds_ == 0 ? 1 : std::min(1.0, double(steps) / kStepsRemembered);
    step_seconds_ += weight * (seconds / steps - step_seconds_);
  }
}

void Pacer::stop() {
  owed_ = 0;
  factor_ = 0;
}

}  // namespace lithe::internal

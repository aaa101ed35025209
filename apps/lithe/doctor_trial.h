#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/lithe/gradcheck_report.h"
#include "apps/lithe/held_motion.h"
#include "lithe/io/loaded_model.h"

namespace lithe::cli {

// One thing that a robot should be able to do, whether it is, and how that went, in a line.
struct Trial {
  enum class Verdict { yes, no, not_tried };
  Verdict verdict = Verdict::not_tried;
  std::string text = {};
};
const char* to_string(Trial::Verdict verdict);

// What became of a robot that was put on its ground (scene_on_ground) and tried out.
struct Trials {
  static constexpr int kQuietSteps = 100, kMotionSteps = 500, kSamples = 10;
  static constexpr double kTolerance = 1e-5;

  // Left alone from the state of its file (motors hold their targets) for 100 steps, and held until it rests (HeldMotion), it drops no targets
  // in the first and the last 100 steps, does not explode, and ends with nothing deeper inside anything than 2 mm.
  Trial stands;
  int quiet_steps = 0, quiet_dropped = 0;  // of the 100
  std::string quiet_trouble;               // of the first that dropped targets
  HeldMotion::Settling settling;

  // 500 steps of smooth random motion from there, by a world that has never stepped before, are finite.
  Trial moves;
  int steps = 0, dropped = 0;
  double first_seconds = 0, seconds = 0, most_seconds = 0;  // the first step, all of them, the slowest of the others
  double processor_seconds = 0;                             // of all, however busy the machine was

  // Of 10 samples 8 or more are compared, none of them is off by more than 1e-5.
  Trial gradients;
  long samples = 0, compared = 0, within_tolerance = 0;
  std::optional<double> max_error;
  double gradient_seconds = 0;
  std::string gradient_reason;
};

// Each trial is given up after `seconds`. `watch` is called often with what is under way; where it says true, that is the end.
Trials try_out(const LoadedModel& loaded, double seconds, const std::function<bool(const char* doing)>& watch = {});

}  // namespace lithe::cli

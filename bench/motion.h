#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/subject.h"

namespace lithe::bench {

// How a model is measured.
//
// In motion: `steps` steps with controls that are drawn anew at each, after `skipped` others, for each of the seeds. At rest: `rest_steps`
// after `settling` others, under constant controls. What counts is the processor time of the thread, step by step. Both engines run in
// turn, `block` steps each, so that slow phases of the machine meet both; and each run is made `passes` times, which takes the same steps
// again to the bit, and of each step the shorter time counts: noise only ever adds.
struct MotionSettings {
  int steps = 3000;
  int skipped = 20;
  int seeds = 3;
  int passes = 2;
  int settling = 500;
  int rest_steps = 500;
  int block = 50;
  Shaking shaking = Shaking::controls;
  std::string keyframe = {};  // of files: where models start (subject_from_file)
  double seconds = 60;  // of motion, and of rest: after this much processor time no further step is begun; 0: no limit
};

// The times of steps, µs.
struct StepTimes {
  std::vector<double> us = {};

  double mean() const;
  double quantile(double share) const;  // the time that this share of the steps does not exceed
  double largest() const { return quantile(1); }
};

// What one engine took, and means over the steps of what its status tells.
struct EngineResult {
  double first = 0;  // step 0, µs: the longest of all seeds
  double early = 0;  // the longest of the others that were skipped
  StepTimes motion = {};
  StepTimes rest = {};
  int restarts = 0;  // numbers overflowed, and the model began anew
  using Means = std::vector<std::pair<std::string, double>>;
  Means motion_means = {}, rest_means = {};
};

struct MotionResult {
  EngineResult ours;
  std::optional<EngineResult> mujoco;
};

// `mujoco`: nothing where it is not compared with.
MotionResult measure_motion(const Subject& subject, const MujocoWorld* mujoco, const MotionSettings& settings);

// The same for a scene without controls, from its start: `motion` is the whole run of settings.steps steps, but for those skipped, and `rest`
// the last fifth of it.
MotionResult measure_settling(const Subject& subject, const MujocoWorld* mujoco, const MotionSettings& settings);

}  // namespace lithe::bench

#pragma once

#include "bench/subject.h"

namespace lithe::bench {

struct BatchSettings {
  int worlds = 1;
  int threads = 1;
  int skipped = 20;
  int steps = 40;  // at most: a batch is stopped after two seconds
  bool vjp = true;
};

// Of many worlds of one model, each with random controls of its own: what a step, and its VJP, take per world. Processor time is that of all
// threads together; a step of the batch is timed as a whole.
struct BatchResult {
  double step_us = 0, step_wall_us = 0;
  double vjp_us = 0, vjp_wall_us = 0;
  double kilobytes = 0;  // that a world's record holds
  int steps = 0;
};
BatchResult measure_batch(const Subject& subject, const BatchSettings& settings);

// The same of worlds one after the other, each with a record that has served the one before: what a step and its VJP take by themselves.
BatchResult measure_one_by_one(const Subject& subject, const BatchSettings& settings);

// The quicker one. Noise only ever adds: of runs that take turns, the quickest of each kind are from quiet moments.
const BatchResult& quicker(const BatchResult& a, const BatchResult& b);

// mj_step() of as many worlds on as many threads.
BatchResult measure_mujoco_batch(const Subject& subject, const MujocoWorld& mujoco, const BatchSettings& settings);

}  // namespace lithe::bench

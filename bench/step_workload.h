#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/scenes/scene.h"
#include "lithe/step/step.h"

namespace lithe::bench {

// A scene stepped from a few neighbouring states in turn: those of `count` steps in a row, after `settling` others. Each
// step starts from what the step before it found out, as in a World, and so do the last state's and then the first's.
class StepWorkload {
 public:
  StepWorkload(Scene made, int settling, int count) : scene(std::move(made)) {
    options.time_step = scene.time_step;
    const std::vector<Pose> start = poses(scene.q);
    State state = {.q = scene.q, .v = scene.v};
    for (int i = 0; i < settling + count; ++i) {
      if (i >= settling) states.push_back(state);
      lithe::step(scene.model, state, control, options, record, &record.warm_start);
      LITHE_CHECK(record.status.solved(), "step {} was not solved: the benchmark makes no sense", i);
      state = record.next;
      if (i >= settling) count_step();
    }
    const std::vector<Pose> end = poses(state.q);
    for (std::size_t b = 1; b < end.size(); ++b) drift = std::max(drift, (end[b].p - start[b].p).norm());
  }

  // One step from the state whose turn it is.
  void step() { lithe::step(scene.model, next_state(), control, options, record, &record.warm_start); }
  const State& next_state() {
    visited = (visited + 1) % states.size();
    return states[visited];
  }

  double mean(long total) const { return static_cast<double>(total) / static_cast<double>(states.size()); }

  Scene scene;
  StepOptions options;
  Control control;
  std::vector<State> states;
  StepRecord record;
  std::size_t visited = 0;

  // Sums over the states, and how far a body has moved from where the scene starts.
  long contacts = 0, rows = 0, islands = 0, guessed = 0;
  int fewest_contacts = -1, most_contacts = -1;
  double drift = 0;

 private:
  std::vector<Pose> poses(const VecX& q) const {
    Kinematics kin;
    std::vector<Pose> X_WB;
    kinematics(scene.model, q, kin);
    body_poses(scene.model, kin, X_WB);
    return X_WB;
  }

  void count_step() {
    const StepStatus& status = record.status;
    contacts += status.contacts;
    rows += status.rows;
    islands += status.islands;
    guessed += status.guessed;
    fewest_contacts = fewest_contacts < 0 ? status.contacts : std::min(fewest_contacts, status.contacts);
    most_contacts = std::max(most_contacts, status.contacts);
  }
};

}  // namespace lithe::bench

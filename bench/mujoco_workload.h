#pragma once

#include <utility>
#include <vector>

#include "bench/subject.h"
#include "lithe/core/check.h"

namespace lithe::bench {

// A scene in MuJoCo, stepped from a few neighbouring states in turn: those of `count` steps in a row, after `settling` others, each with the
// warm start that MuJoCo had there.
class MujocoWorkload {
 public:
  // Throws if MuJoCo refuses the model, if it differs from ours, or if it was short of memory.
  MujocoWorkload(const Scene& scene, int settling, int count) : world_(made(subject_from_scene("scene", scene))) {
    for (int i = 0; i < settling; ++i) world_.step();
    for (int i = 0; i < count; ++i) {
      states_.push_back(world_.state());
      world_.step();
      contacts_ += world_.contacts() / static_cast<double>(count);
      rows_ += world_.rows() / static_cast<double>(count);
      iterations_ += world_.iterations() / static_cast<double>(count);
    }
    drift_ = world_.drift();
    LITHE_CHECK(!world_.overflowed() && !world_.diverged(), "MuJoCo had not enough memory, or its numbers went bad");
  }

  // One step from the state whose turn it is.
  void step() {
    world_.set_state(states_[next_]);
    world_.step();
    next_ = (next_ + 1) % states_.size();
  }

  // Means over the states.
  double contacts() const { return contacts_; }
  double rows() const { return rows_; }
  double iterations() const { return iterations_; }
  // How far a body has moved from where the scene starts: something that stands has stayed.
  double drift() const { return drift_; }

 private:
  static MujocoWorld made(const Subject& subject) {
    MujocoWorld world = subject.mujoco();
    check_same_model(subject, world, 1e-9);
    return world;
  }

  MujocoWorld world_;
  std::vector<MujocoWorld::StepState> states_;
  std::size_t next_ = 0;
  double contacts_ = 0, rows_ = 0, iterations_ = 0, drift_ = 0;
};

}  // namespace lithe::bench

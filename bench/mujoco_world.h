#pragma once

#include <memory>
#include <string>

#include "lithe/core/eigen.h"

namespace lithe::bench {

// MuJoCo as a benchmark needs it: a model with the options that its file gives, stepped by mj_step(). Where it was not there when the
// benchmarks were built, have_mujoco() is false and everything else throws.
bool have_mujoco();
std::string mujoco_version();

class MujocoWorld {
 public:
  // An Error where MuJoCo refuses the file or the text, with what it says.
  static MujocoWorld from_file(const std::string& path);
  static MujocoWorld from_text(const std::string& mjcf);
  // Another world of the same model.
  MujocoWorld another() const;

  MujocoWorld(MujocoWorld&&) noexcept;
  MujocoWorld& operator=(MujocoWorld&&) noexcept;
  ~MujocoWorld();

  int nq() const;
  int nv() const;
  int nu() const;
  double time_step() const;

  // Back to this state: no controls, nothing remembered.
  void start(const VecX& qpos, const VecX& qvel);
  void set_controls(const VecX& ctrl);
  void set_forces(const VecX& forces);  // generalised, nv
  void step();

  // What a step starts from, to do it again.
  struct StepState {
    VecX qpos, qvel, warm_start;
  };
  StepState state() const;
  void set_state(const StepState& state);

  // Parts of a step, from a state: those of set_position_and_velocity(), in MuJoCo's own routines.
  void set_position_and_velocity(const VecX& qpos, const VecX& qvel);
  void kinematics();
  void inverse_dynamics();        // with kinematics
  void mass_matrix_and_factor();  // with kinematics
  void forward_dynamics();        // with all of these

  void collide();  // after start() or a step, where bodies are then

  MatX mass_matrix() const;  // of the last step or start()
  // Largest distance that a body's origin has moved since start().
  double drift() const;

  // Of the last step.
  int contacts() const;
  int rows() const;
  int iterations() const;
  // Since start(): whether numbers went bad, which makes MuJoCo begin anew; and whether it was short of memory.
  bool diverged() const;
  bool overflowed() const;

 private:
  struct Data;
  explicit MujocoWorld(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

}  // namespace lithe::bench

#pragma once

#include <string>

#include "apps/lithe/find_scene.h"
#include "lithe/step/finite_differences.h"
#include "lithe/step/step.h"
#include "lithe/step/step_jvp.h"
#include "lithe/step/step_vjp.h"

namespace lithe::cli {

// One step of a scene and its derivatives, over and over: from the same state, with the step's own warm start as its
// guess. Everything has been called before, so nothing allocates.
class BenchWorkload {
 public:
  // A scene of the catalogue (or a file), in the state where it is measured:
  //
  //   half_cheetah  after one step, as in the paper
  //   jump_worm     lowered until it touches the floor, as in the paper
  //   catapult      when the projectile lies on the arm: the paper's has two contacts too
  //   chain         in motion
  //   any other     as it starts
  //
  // or after that many steps, unless `after` is negative. A step that cannot be solved is an Error.
  explicit BenchWorkload(const std::string& name, int after = -1, const SceneOptions& files = {});

  void step() { lithe::step(scene_.model, state_, control_, options_, record_, &record_.warm_start); }
  void jacobians(StepBlocks blocks) { step_jacobians(scene_.model, record_, jacobians_, blocks); }
  void vjp() { step_vjp(scene_.model, record_, by_next_, vjp_); }
  void jvp() { step_jvp(scene_.model, record_, direction_, jvp_); }
  void differences(DifferenceMethod method) {
    step_differences(scene_.model, record_, differences_, StepBlocks::state, {.method = method}, &difference_memory_);
  }

  const std::string& name() const { return name_; }
  int dofs() const { return scene_.model.nv(); }
  const StepStatus& status() const { return record_.status; }
  int rank() const { return jacobians_.report.rank; }

 private:
  std::string name_;
  Scene scene_;
  StepOptions options_;
  Control control_;
  State state_;
  StepRecord record_;
  StepCotangent by_next_;
  StepTangent direction_;
  StepJacobians jacobians_, differences_;
  DifferenceWorkspace difference_memory_;
  StepVjp vjp_;
  StepJvp jvp_;
};

}  // namespace lithe::cli

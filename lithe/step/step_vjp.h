#pragma once

#include <memory>

#include "lithe/step/gradient_options.h"
#include "lithe/step/gradient_report.h"
#include "lithe/step/step_parameters.h"
#include "lithe/step/step_record.h"
#include "lithe/step/step_vectors.h"

namespace lithe {

namespace internal {
struct StepVjpWorkspace;
}  // namespace internal

// The gradient of a loss by the inputs of a step, from its gradient by the outputs: Jᵀλ without forming J, in O(nv).
struct StepVjp {
  VecX q;           // nv, in the tangent of q
  VecX v;           // nv
  VecX tau;         // nv
  VecX parameters;  // one per GradientOptions::parameters
  // Where GradientOptions asks for them; else empty.
  VecX motor_targets;  // one per motor: what Control::motor_targets holds; zeros where motors were off
  Mat6X wrenches;  // by a wrench on each body, [torque about its origin; force] in world axes, the world (zero) first
  GradientReport report;

  StepVjp();
  ~StepVjp();
  StepVjp(StepVjp&&) noexcept;
  StepVjp& operator=(StepVjp&&) noexcept;
  StepVjp(const StepVjp&);  // copies the gradient; the workspace starts empty
  StepVjp& operator=(const StepVjp&);

  // The library's own; what was moved from gets another one.
  internal::StepVjpWorkspace& workspace() {
    if (!workspace_) renew_workspace();
    return *workspace_;
  }

 private:
  void renew_workspace();

  std::unique_ptr<internal::StepVjpWorkspace> workspace_;
};

// `record` must come from step() with this model; it is only read. After warm-up nothing is allocated. The result is finite
// wherever `by_next` is.
void step_vjp(const Model& model, const StepRecord& record, const StepCotangent& by_next, StepVjp& out,
              const GradientOptions& options = {});

}  // namespace lithe

#pragma once

#include <memory>

#include "lithe/step/gradient_options.h"
#include "lithe/step/gradient_report.h"
#include "lithe/step/step_parameters.h"
#include "lithe/step/step_record.h"
#include "lithe/step/step_vectors.h"

namespace lithe {

namespace internal {
struct StepJvpWorkspace;
}  // namespace internal

// How the outputs of a step move when its inputs do: J·x without forming J, in O(nv).
struct StepJvp {
  VecX q;  // nv, in the tangent of q⁺
  VecX v;  // nv
  VecX f;  // impulses, one per row; empty without GradientOptions::impulses
  GradientReport report;

  StepJvp();
  ~StepJvp();
  StepJvp(StepJvp&&) noexcept;
  StepJvp& operator=(StepJvp&&) noexcept;
  StepJvp(const StepJvp&);  // copies the result; the workspace starts empty
  StepJvp& operator=(const StepJvp&);

  // The library's own; what was moved from gets another one.
  internal::StepJvpWorkspace& workspace() {
    if (!workspace_) renew_workspace();
    return *workspace_;
  }

 private:
  void renew_workspace();

  std::unique_ptr<internal::StepJvpWorkspace> workspace_;
};

// `record` must come from step() with this model; it is only read. After warm-up nothing is allocated. Complementarity-aware
// gradients exist where the loss is known: an Error that says so.
void step_jvp(const Model& model, const StepRecord& record, const StepTangent& direction, StepJvp& out,
              const GradientOptions& options = {});

}  // namespace lithe

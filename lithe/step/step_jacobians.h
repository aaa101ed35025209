#pragma once

#include <cstdint>
#include <memory>

#include "lithe/step/gradient_options.h"
#include "lithe/step/gradient_report.h"
#include "lithe/step/step_parameters.h"
#include "lithe/step/step_record.h"

namespace lithe {

namespace internal {
struct StepJacobiansWorkspace;
struct StepParameterJacobianWorkspace;
}  // namespace internal

struct StepVjp;
struct StepCotangent;

// Which derivatives to compute. They share most of the work, so all together cost little more than ∂v⁺/∂q alone.
enum class StepBlocks : std::uint16_t {
  qnext_q = 1,
  qnext_v = 2,
  qnext_tau = 4,
  vnext_q = 8,
  vnext_v = 16,
  vnext_tau = 32,
  state = 63,  // these six
  impulses = 64,
  all = 127,
};
constexpr StepBlocks operator|(StepBlocks a, StepBlocks b) {
  return static_cast<StepBlocks>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}
constexpr bool has(StepBlocks blocks, StepBlocks block) {
  return (static_cast<std::uint16_t>(blocks) & static_cast<std::uint16_t>(block)) != 0;
}

// The derivatives of a step by its state and its forces, in the tangent of q (docs/gradients.md):
//
//   ∂v⁺/∂x = −N ∂r/∂x + K (∂d/∂x − ∂(J v⁺)/∂x),    ∂q⁺/∂x = ∂(q ⊕ Δt v⁺)/∂x
//
// Blocks that were not asked for are left as they were, or empty. Entries between bodies that nothing connects are zero; they
// are written when that changes, not at every call, so leave the matrices as they are between calls (or copy them).
struct StepJacobians {
  MatX dqnext_dq, dqnext_dv, dqnext_dtau;  // nv × nv
  MatX dvnext_dq, dvnext_dv, dvnext_dtau;  // nv × nv
  // Of the impulses: rows × nv. Where f is not unique, of the one the solver selects (docs/lcp.md).
  MatX df_dq, df_dv, df_dtau;
  GradientReport report;

  StepJacobians();
  ~StepJacobians();
  StepJacobians(StepJacobians&&) noexcept;
  StepJacobians& operator=(StepJacobians&&) noexcept;
  StepJacobians(const StepJacobians&);  // copies the derivatives; the workspace starts empty
  StepJacobians& operator=(const StepJacobians&);

  // The library's own; what was moved from gets another one.
  internal::StepJacobiansWorkspace& workspace() {
    if (!workspace_) renew_workspace();
    return *workspace_;
  }

 private:
  void renew_workspace();

  std::unique_ptr<internal::StepJacobiansWorkspace> workspace_;
};

// `record` must come from step() with this model. It is only read, so many threads may differentiate one record, each into its
// own result. After warm-up nothing is allocated. The result is finite whatever happened in the step.
void step_jacobians(const Model& model, const StepRecord& record, StepJacobians& out,
                    StepBlocks blocks = StepBlocks::state, const GradientOptions& options = {});

// As the loss that has the gradient `by_next` by what the step leads to would see it: with GradientOptions::complementarity_aware, of the
// classification that step_vjp() would choose for this loss (report.mode says whether it is another one than the step's). `vjp` becomes
// that product.
void step_jacobians(const Model& model, const StepRecord& record, const StepCotangent& by_next, StepVjp& vjp,
                    StepJacobians& out, StepBlocks blocks = StepBlocks::state, const GradientOptions& options = {});

// By parameters (GradientOptions::parameters): one column each.
struct StepParameterJacobian {
  MatX dqnext, dvnext;  // nv × parameters
  MatX df;              // rows × parameters
  GradientReport report;

  StepParameterJacobian();
  ~StepParameterJacobian();
  StepParameterJacobian(StepParameterJacobian&&) noexcept;
  StepParameterJacobian& operator=(StepParameterJacobian&&) noexcept;

  // The library's own; what was moved from gets another one.
  internal::StepParameterJacobianWorkspace& workspace() {
    if (!workspace_) renew_workspace();
    return *workspace_;
  }

 private:
  void renew_workspace();

  std::unique_ptr<internal::StepParameterJacobianWorkspace> workspace_;
};
void step_parameter_jacobian(const Model& model, const StepRecord& record, StepParameterJacobian& out,
                             const GradientOptions& options);

// By a wrench on a body, [torque about its origin; force] in world axes, from a Jacobian by the forces (dqnext_dtau, dvnext_dtau or df_dtau
// of this step): six columns.
MatX by_wrench(const Model& model, const StepRecord& record, const MatX& by_tau, BodyIndex body);

}  // namespace lithe

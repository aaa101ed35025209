#include "lithe/core/check.h"
#include "lithe/step/gradients/bounce.h"
#include "lithe/step/gradients/describe_gradient.h"
#include "lithe/step/gradients/gradient_input.h"
#include "lithe/step/gradients/linearization.h"
#include "lithe/step/gradients/mode_jvp.h"
#include "lithe/step/gradients/parameter_columns.h"
#include "lithe/step/step_jacobians.h"

namespace lithe {

using namespace internal;

struct internal::StepParameterJacobianWorkspace {
  BounceWorkspace bounce;
  StepLinearization& linearization = bounce.probe.workspace().linearization;
  ParameterColumns columns;
  ModeChange answer;
  AlignedBuffer c;  // by row
};

StepParameterJacobian::StepParameterJacobian() : workspace_(std::make_unique<StepParameterJacobianWorkspace>()) {}

void StepParameterJacobian::renew_workspace() { workspace_ = std::make_unique<StepParameterJacobianWorkspace>(); }

StepParameterJacobian::~StepParameterJacobian() = default;
StepParameterJacobian::StepParameterJacobian(StepParameterJacobian&&) noexcept = default;
StepParameterJacobian& StepParameterJacobian::operator=(StepParameterJacobian&&) noexcept = default;

namespace {

// c = −e₂.
const double* null_space_drift(const StepRecord& record, const ParameterColumn& x,
                               StepParameterJacobianWorkspace& work) {
  if (!work.linearization.has_null) return nullptr;
  const std::size_t rows = record.f.size();
  grow(work.c, rows);
  for (std::size_t i = 0; i < rows; ++i) work.c[i] = -x.e2[i];
  return work.c.data();
}

// ∂q⁺ from ∂v⁺, and what moves q⁺ directly.
void integrate(const Model& model, const StepRecord& record, const ParameterColumn& x, const ConstVecRef& dv,
               VecRef dq) {
  dq = x.dq;
  if (record.options.integrator == Integrator::explicit_position) return;
  const double h = record.options.time_step;
  dq += h * dv;
  for (const int dof : model.tree().balls) {
    dq.segment<3>(dof) = x.dq.segment<3>(dof) + ball_motion(record, dof).by_v * dv.segment<3>(dof);
  }
}

}  // namespace

void step_parameter_jacobian(const Model& model, const StepRecord& record, StepParameterJacobian& out,
                             const GradientOptions& options) {
  const StepParameters& parameters = options.parameters;
  check_record(model, record, "step_parameter_jacobian");
  refuse_loss_options(options, "step_parameter_jacobian");
  check_parameters(model, parameters, "step_parameter_jacobian");
  StepParameterJacobianWorkspace& work = out.workspace();
  const int nv = model.nv();
  const auto rows = static_cast<Eigen::Index>(record.f.size());
  out.dqnext.resize(nv, parameters.size());
  out.dvnext.resize(nv, parameters.size());
  out.df.resize(rows, parameters.size());
  const bool linear = linearize(model, record, record.modes, {.impulses = true}, work.linearization);
  describe_gradient(model, record, linear ? &work.linearization : nullptr, out.report);
  if (!linear) {
    // The step stayed where it was, whatever the parameters.
    out.dqnext.setZero();
    out.dvnext.setZero();
    out.df.setZero();
    return;
  }
  const bool bouncing =
      options.bounce != Bounce::off && bounces(record) && find_bounce(model, record, options.bounce, work.bounce);
  if (bouncing) out.report.mode = mode_of(options.bounce);
  work.columns.start(model, record, work.linearization);
  for (int k = 0; k < parameters.size(); ++k) {
    const ParameterColumn& x = work.columns.column(model, record, work.linearization, parameters.entries()[k]);
    answer(model, record, work.linearization.response, x.rho, x.e.data(), null_space_drift(record, x, work),
           work.answer, out.dvnext.col(k));
    integrate(model, record, x, out.dvnext.col(k), out.dqnext.col(k));
    if (bouncing) add_bounce(work.bounce.terms, x, out.dqnext.col(k), out.dvnext.col(k));
    for (Eigen::Index i = 0; i < rows; ++i) out.df(i, k) = work.answer.df[i] + x.df[i];
  }
}

}  // namespace lithe

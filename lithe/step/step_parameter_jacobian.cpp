#include "lithe/core/check.h"
#include "lithe/step/bounce.h"
#include "lithe/step/class_jvp.h"
#include "lithe/step/describe_gradient.h"
#include "lithe/step/gradient_input.h"
#include "lithe/step/linearization.h"
#include "lithe/step/parameter_columns.h"
#include "lithe/step/step_jacobians.h"

namespace lithe {

struct StepParameterJacobian::Workspace {
  BounceWorkspace bounce;
  StepLinearization& linearization = bounce.probe.workspace().linearization;
  ParameterColumns columns;
  Lanes<1> z;             // by slot
  AlignedBuffer touches;  // over touches
  AlignedBuffer c, df;    // by row
};

StepParameterJacobian::StepParameterJacobian() : workspace_(std::make_unique<Workspace>()) {}
StepParameterJacobian::~StepParameterJacobian() = default;
StepParameterJacobian::StepParameterJacobian(StepParameterJacobian&&) noexcept = default;
StepParameterJacobian& StepParameterJacobian::operator=(StepParameterJacobian&&) noexcept = default;

namespace {

using Workspace = StepParameterJacobian::Workspace;

// c = −e₂ − J M̂⁻¹ ρ₂.
const double* null_space_drift(const Model& model, const StepRecord& record, const ParameterColumn& x,
                               Workspace& work) {
  if (!work.linearization.has_null) return nullptr;
  const ContactProblem& problem = record.problem;
  multiply_transposed(model, record.inverse, x.rho2, work.z);
  problem.touches.product(model.tree(), work.z, work.touches.data());
  row_velocities(problem, work.touches.data(), work.c.data());
  for (std::size_t i = 0; i < problem.rows.size(); ++i) work.c[i] = -x.e2[i] - work.c[i];
  return work.c.data();
}

// ∂f into work.df and ∂v⁺ = M̂⁻¹(Jᵀ ∂f − ρ).
void respond(const Model& model, const StepRecord& record, const ParameterColumn& x, Workspace& work, VecRef dv) {
  const DofTree& tree = model.tree();
  const ContactProblem& problem = record.problem;
  if (problem.rows.empty()) {
    multiply_transposed(model, record.inverse, x.rho, work.z);
    multiply(model, record.inverse, work.z, dv);
    dv = -dv;
    return;
  }
  const double* c = null_space_drift(model, record, x, work);
  multiply_transposed(model, record.inverse, x.rho, work.z);
  problem.touches.product(tree, work.z, work.touches.data());
  work.linearization.response.respond(problem, work.touches.data(), x.e.data(), c, work.df.data());
  touch_impulses(problem, work.df.data(), work.touches.data());
  for (int k = 0; k < problem.touches.size; ++k) work.touches[k] = -work.touches[k];
  problem.touches.add_transposed_product(tree, work.touches.data(), work.z);
  multiply(model, record.inverse, work.z, dv);
  dv = -dv;
}

// ∂q⁺ from ∂v⁺, and what moves q⁺ directly.
void integrate(const Model& model, const StepRecord& record, const ParameterColumn& x, const ConstVecRef& dv,
               VecRef dq) {
  dq = x.dq;
  if (record.options.integrator == Integrator::explicit_position) return;
  const double h = record.options.time_step();
  dq += h * dv;
  for (const int dof : model.tree().balls) {
    dq.segment<3>(dof) = x.dq.segment<3>(dof) + ball_motion(record, dof).by_v * dv.segment<3>(dof);
  }
}

}  // namespace

void step_parameter_jacobian(const Model& model, const StepRecord& record, const StepParameters& parameters,
                             StepParameterJacobian& out, const GradientOptions& options) {
  check_record(model, record, "step_parameter_jacobian");
  check_parameters(model, parameters, "step_parameter_jacobian");
  Workspace& work = out.workspace();
  const int nv = model.nv();
  const auto rows = static_cast<Eigen::Index>(record.f.size());
  out.dqnext.resize(nv, parameters.size());
  out.dvnext.resize(nv, parameters.size());
  out.df.resize(rows, parameters.size());
  const bool linear = linearize(model, record, record.classes, {.impulses = true}, work.linearization);
  describe_gradient(record, linear ? &work.linearization : nullptr, out.report);
  if (!linear) {
    // The step stayed where it was, whatever the parameters.
    out.dqnext.setZero();
    out.dvnext.setZero();
    out.df.setZero();
    return;
  }
  const auto room = static_cast<std::size_t>(rows) + kLanes;
  for (AlignedBuffer* buffer : {&work.c, &work.df}) {
    if (buffer->size() < room) buffer->resize(room);
  }
  if (work.touches.size() < static_cast<std::size_t>(record.problem.touches.size)) {
    work.touches.resize(record.problem.touches.size);
  }
  const bool bouncing =
      options.bounce != Bounce::off && bounces(record) && find_bounce(model, record, options.bounce, work.bounce);
  if (bouncing) out.report.mode = mode_of(options.bounce);
  work.columns.start(model, record, work.linearization);
  for (int k = 0; k < parameters.size(); ++k) {
    const ParameterColumn& x = work.columns.column(model, record, work.linearization, parameters.entries()[k]);
    respond(model, record, x, work, out.dvnext.col(k));
    integrate(model, record, x, out.dvnext.col(k), out.dqnext.col(k));
    if (bouncing) add_bounce(work.bounce.terms, x, out.dqnext.col(k), out.dvnext.col(k));
    for (Eigen::Index i = 0; i < rows; ++i) out.df(i, k) = work.df[i] + x.df[i];
  }
}

}  // namespace lithe

#include "lithe/step/step_jacobians.h"

#include "lithe/core/check.h"
#include "lithe/dynamics/jacobians.h"
#include "lithe/simd/internal/finite.h"
#include "lithe/step/gradients/bounce.h"
#include "lithe/step/gradients/complementarity.h"
#include "lithe/step/gradients/describe_gradient.h"
#include "lithe/step/gradients/gradient_input.h"
#include "lithe/step/gradients/jacobian_assembler.h"
#include "lithe/step/gradients/mode_jvp.h"
#include "lithe/step/gradients/step_jacobians_workspace.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe {

using namespace internal;

namespace {

// Blocks that nothing couples are zero and stay zero, as long as the groups stay.
MatX* open_block(MatX& matrix, int nv, const std::vector<int>& groups, std::vector<int>& written_for) {
  if (matrix.rows() == nv && matrix.cols() == nv && written_for == groups) return &matrix;
  matrix.setZero(nv, nv);
  written_for = groups;
  return &matrix;
}

// Blocks of q⁺ = q ⊕ Δt v (explicit_position), which no force and no contact has a say in.
void explicit_blocks(const Model& model, const StepRecord& record, StepBlocks blocks, StepJacobians& out) {
  const int nv = model.nv();
  if (has(blocks, StepBlocks::qnext_q)) {
    out.dqnext_dq.setIdentity(nv, nv);
    for (const int dof : model.tree().balls) out.dqnext_dq.block<3, 3>(dof, dof) = ball_motion(record, dof).by_q;
  }
  if (has(blocks, StepBlocks::qnext_v)) {
    out.dqnext_dv.setZero(nv, nv);
    out.dqnext_dv.diagonal().setConstant(record.options.time_step);
    for (const int dof : model.tree().balls) out.dqnext_dv.block<3, 3>(dof, dof) = ball_motion(record, dof).by_v;
  }
  if (has(blocks, StepBlocks::qnext_tau)) out.dqnext_dtau.setZero(nv, nv);
  for (auto* memory : {&out.workspace().written[0], &out.workspace().written[1], &out.workspace().written[2]}) {
    memory->clear();
  }
}

// One JVP per column: the impulses' blocks, and ∂/∂q where the choice of f among many matters.
void by_columns(const Model& model, const StepRecord& record, std::span<const RowMode> modes, StepBlocks blocks,
                StepJacobians& out) {
  StepJacobiansWorkspace& work = out.workspace();
  const bool impulses = has(blocks, StepBlocks::impulses);
  StepJvp& jvp = work.jvp;
  const int nv = model.nv();
  const auto rows = static_cast<Eigen::Index>(record.f.size());
  linearize(model, record, modes, {.impulses = impulses}, jvp.workspace().linearization);
  if (impulses) {
    for (MatX* matrix : {&out.df_dq, &out.df_dv, &out.df_dtau}) matrix->setZero(rows, nv);
  }
  StepTangent& direction = jvp.workspace().tangent;
  VecX* const parts[3] = {&direction.q, &direction.v, &direction.tau};
  MatX* const by[3] = {&out.df_dq, &out.df_dv, &out.df_dtau};
  for (int x = 0; x < (impulses ? 3 : 1); ++x) {
    for (VecX* part : parts) part->setZero(nv);
    for (int j = 0; j < nv; ++j) {
      const int tree = model.tree().chains[model.tree().chain[j]].tree;
      const int island = record.f.empty() ? -1 : problem_of(record).islands.island_of(tree);
      const bool null = island >= 0 && jvp.workspace().linearization.response.parts()[island].null_term;
      if (!impulses && !null) continue;
      (*parts[x])[j] = 1;
      mode_jvp(model, record, direction, nullptr, true, jvp);
      (*parts[x])[j] = 0;
      if (impulses) by[x]->col(j) = jvp.f;
      if (x > 0 || !null) continue;
      if (has(blocks, StepBlocks::vnext_q)) out.dvnext_dq.col(j) = jvp.v;
      if (has(blocks, StepBlocks::qnext_q)) out.dqnext_dq.col(j) = jvp.q;
    }
  }
}

// Identities and zeros: the blocks of a step that stayed where it was, and what stands for numbers that overflow.
void diverged(const Model& model, const StepRecord& record, StepBlocks blocks, StepJacobians& out) {
  const int nv = model.nv();
  if (has(blocks, StepBlocks::qnext_q)) out.dqnext_dq.setIdentity(nv, nv);
  if (has(blocks, StepBlocks::qnext_v)) out.dqnext_dv.setZero(nv, nv);
  if (has(blocks, StepBlocks::qnext_tau)) out.dqnext_dtau.setZero(nv, nv);
  if (has(blocks, StepBlocks::vnext_q)) out.dvnext_dq.setZero(nv, nv);
  if (has(blocks, StepBlocks::vnext_v)) out.dvnext_dv.setIdentity(nv, nv);
  if (has(blocks, StepBlocks::vnext_tau)) out.dvnext_dtau.setZero(nv, nv);
  if (has(blocks, StepBlocks::impulses)) {
    for (MatX* matrix : {&out.df_dq, &out.df_dv, &out.df_dtau}) {
      matrix->setZero(static_cast<Eigen::Index>(record.f.size()), nv);
    }
  }
  for (std::vector<int>& memory : out.workspace().written) memory.clear();
}

// The blocks of the step as if its rows had these modes.
void mode_jacobians(const Model& model, const StepRecord& record, std::span<const RowMode> modes, StepBlocks blocks,
                    StepJacobians& out) {
  StepJacobiansWorkspace& work = out.workspace();
  const int nv = model.nv();
  const bool linear = linearize(model, record, modes, {.matrices = true}, work.linearization);
  describe_gradient(model, record, linear ? &work.linearization : nullptr, out.report);
  if (!linear) return diverged(model, record, blocks, out);
  work.matrices.compute(model, record, work.linearization.response);

  const bool positions = record.options.integrator == Integrator::semi_implicit;
  if (!positions) explicit_blocks(model, record, blocks, out);
  if (work.layout.changed(model.tree())) {
    for (std::vector<int>& memory : work.written) memory.clear();
  }
  work.groups.resize(model.tree().trees.size());
  for (std::size_t t = 0; t < work.groups.size(); ++t) work.groups[t] = work.matrices.group_of(static_cast<int>(t));
  const auto open = [&](StepBlocks block, MatX& matrix, int index, bool wanted) {
    return wanted && has(blocks, block) ? open_block(matrix, nv, work.groups, work.written[index]) : nullptr;
  };
  MatX* dq_dq = open(StepBlocks::qnext_q, out.dqnext_dq, 0, positions);
  MatX* dq_dv = open(StepBlocks::qnext_v, out.dqnext_dv, 1, positions);
  MatX* dq_dtau = open(StepBlocks::qnext_tau, out.dqnext_dtau, 2, positions);
  MatX* dv_dq = open(StepBlocks::vnext_q, out.dvnext_dq, 3, true);
  MatX* dv_dv = open(StepBlocks::vnext_v, out.dvnext_dv, 4, true);
  MatX* dv_dtau = open(StepBlocks::vnext_tau, out.dvnext_dtau, 5, true);

  JacobianAssembler assembler(model, record, work);
  const bool by_q = dq_dq || dv_dq, by_v = dq_dv || dv_dv, constrained = !record.f.empty();
  if (by_q || by_v) assembler.prepare_columns();
  if (by_q && constrained) assembler.prepare_touches();
  if (by_q || by_v) assembler.multiply(dv_dq, dq_dq, dv_dv, dq_dv);
  if (constrained) assembler.add_bounces(dv_dq, dq_dq, dv_dv, dq_dv);
  if (dq_dtau || dv_dtau) assembler.copy_N(dv_dtau, dq_dtau);
  if (dq_dq) assembler.add_identity(*dq_dq);
  if (has(blocks, StepBlocks::impulses) || (by_q && work.linearization.has_null))
    by_columns(model, record, modes, blocks, out);
  if (assembler.bounded()) [[likely]]
    return;
  diverged(model, record, blocks, out);
  out.report.overflowed = true;
}

}  // namespace

StepJacobians::StepJacobians() : workspace_(std::make_unique<StepJacobiansWorkspace>()) {}

void StepJacobians::renew_workspace() { workspace_ = std::make_unique<StepJacobiansWorkspace>(); }

StepJacobians::~StepJacobians() = default;
StepJacobians::StepJacobians(StepJacobians&&) noexcept = default;
StepJacobians& StepJacobians::operator=(StepJacobians&&) noexcept = default;
StepJacobians::StepJacobians(const StepJacobians& other) : StepJacobians() { *this = other; }
StepJacobians& StepJacobians::operator=(const StepJacobians& other) {
  dqnext_dq = other.dqnext_dq;
  dqnext_dv = other.dqnext_dv;
  dqnext_dtau = other.dqnext_dtau;
  dvnext_dq = other.dvnext_dq;
  dvnext_dv = other.dvnext_dv;
  dvnext_dtau = other.dvnext_dtau;
  df_dq = other.df_dq;
  df_dv = other.df_dv;
  df_dtau = other.df_dtau;
  report = other.report;
  for (std::vector<int>& memory : workspace().written) memory.clear();
  return *this;
}

void step_jacobians(const Model& model, const StepRecord& record, StepJacobians& out, StepBlocks blocks,
                    const GradientOptions& options) {
  check_record(model, record, "step_jacobians");
  refuse_loss_options(options, "step_jacobians");
  LITHE_CHECK(options.parameters.size() == 0,
              "step_jacobians: it is by state and forces; step_parameter_jacobian() has the columns of {} parameters",
              options.parameters.size());
  mode_jacobians(model, record, record.modes, blocks, out);
  if (options.bounce != Bounce::off && bounces(record)) {
    add_bounce(model, record, options.bounce, blocks, out.workspace().bounce, out);
  }
}

void step_jacobians(const Model& model, const StepRecord& record, const StepCotangent& by_next, StepVjp& vjp,
                    StepJacobians& out, StepBlocks blocks, const GradientOptions& options) {
  step_vjp(model, record, by_next, vjp, options);
  if (vjp.report.mode != GradientMode::complementarity_aware) {
    return step_jacobians(model, record, out, blocks, {.bounce = options.bounce});
  }
  mode_jacobians(model, record, modes_of(vjp, record), blocks, out);
  if (options.bounce != Bounce::off && bounces(record)) {
    add_bounce(model, record, options.bounce, blocks, out.workspace().bounce, out);
  }
  out.report.mode = vjp.report.mode;
  out.report.relabelled_rows = vjp.report.relabelled_rows;
}

MatX by_wrench(const Model& model, const StepRecord& record, const MatX& by_tau, BodyIndex body) {
  check_record(model, record, "by_wrench");
  LITHE_CHECK(by_tau.cols() == model.nv(), "by_wrench: by_tau has {} columns; give a Jacobian by the {} forces",
              by_tau.cols(), model.nv());
  Mat6X J;
  body_jacobian(model, stages_of(model, record).kin, body, J);
  return by_tau * J.transpose();
}

}  // namespace lithe

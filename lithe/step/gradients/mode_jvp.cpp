#include "lithe/step/gradients/mode_jvp.h"

#include <algorithm>

#include "lithe/dynamics/internal/tree_sums.h"
#include "lithe/linalg/padded_matrix.h"
#include "lithe/simd/internal/finite.h"
#include "lithe/step/gradients/describe_gradient.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe::internal {

namespace {

// An empty part is zero.
void take(const VecX& part, int size, VecX& out) {
  if (part.size() > 0) {
    out = part;
  } else {
    out.setZero(size);
  }
}

// ρ = ∂r and e = ∂(d − J u) of one point, in the direction (δq, δv).
class PointJvp {
 public:
  PointJvp(const Model& model, const StepRecord& record, StepJvpWorkspace& work)
      : model_(model),
        tree_(model.tree()),
        record_(record),
        stages_(stages_of(record)),
        problem_(stages_.problem),
        work_(work) {}

  // The step itself.
  void find(const LinearPoint& point, VecX& rho, double* e) {
    const double h = record_.options.time_step;
    work_.da = -work_.dv_dofs / h;
    rnea_jvp(model_, stages_.kin, point.id, work_.dq_dofs, work_.dv_dofs, work_.da, work_.id, record_.control.wrenches);
    rho = h * work_.id.tau;
    if (problem_.rows.empty()) return;
    find_rows(point, e);
    if (!point.forms.bouncing.empty()) add_bounces(point, e);
    subtract_pushes(point, rho);
  }

  // e alone, without bounces.
  void find_rows(const RowPoint& point, double* e) {
    const TouchSpace& space = problem_.touches;
    const std::size_t n = problem_.rows.size();
    for (AlignedBuffer* buffer : {&work_.Theta, &work_.Psi, &work_.pushes}) grow(*buffer, space.size);
    grow(work_.extra, n + kLanes);
    double* Theta = work_.Theta.data();
    double* Psi = work_.Psi.data();
    space.velocities(tree_, stages_.kin.S, 1, work_.dq, Theta);
    space.velocities(tree_, point.Psi_dot, 0, work_.dq, Psi);
    row_velocities(problem_, point.forms.rows.data(), Theta, e);
    row_velocities(problem_, Psi, work_.extra.data());
    for (std::size_t i = 0; i < n; ++i) e[i] -= work_.extra[i];
  }

 private:
  // −e·∂(J v): by v, and by q through Ψ̇ under v.
  void add_bounces(const LinearPoint& point, double* e) {
    const TouchSpace& space = problem_.touches;
    double* rates = work_.Psi.data();
    space.velocities(tree_, stages_.kin.Psi_dot, 0, work_.dq, rates);
    space.velocities(tree_, stages_.kin.S, 1, work_.dv, work_.pushes.data());
    for (int k = 0; k < space.size; ++k) rates[k] += work_.pushes[k];
    row_velocities(problem_, rates, work_.extra.data());
    for (const auto& [row, restitution] : point.forms.bouncing) e[row] -= restitution * work_.extra[row];
  }

  // ρ −= J_Fᵀ T̂ J_F δq.
  void subtract_pushes(const LinearPoint& point, VecX& rho) {
    const TouchSpace& space = problem_.touches;
    double* forces = work_.pushes.data();
    std::fill_n(forces, space.size, 0.0);
    const auto at = [&](double* x, int touch) { return Eigen::Map<Vec6>(x + space.start_of(space.touches[touch])); };
    bool any = false;
    for (std::size_t p = 0; p < problem_.patches.size(); ++p) {
      const ConstraintForms::Push& push = point.forms.pushes[p];
      if (push.zero) continue;
      any = true;
      const auto [a, b] = std::pair(problem_.patches[p].touch_a, problem_.patches[p].touch_b);
      if (a >= 0) at(forces, a) -= push.aa * at(work_.Theta.data(), a);
      if (b >= 0) at(forces, b) -= push.bb * at(work_.Theta.data(), b);
      if (a >= 0 && b >= 0) {
        at(forces, a) -= push.ab * at(work_.Theta.data(), b);
        at(forces, b) -= push.ba * at(work_.Theta.data(), a);
      }
    }
    if (!any) return;
    work_.forces.resize_zero(tree_.slot_count);
    space.add_forces(tree_, stages_.kin.S, 0, forces, work_.forces);
    add_slots_to_dofs(tree_, work_.forces, rho.data());
  }

  const Model& model_;
  const DofTree& tree_;
  const StepRecord& record_;
  const StepStages& stages_;
  const ContactProblem& problem_;
  StepJvpWorkspace& work_;
};

// ρ += ∂r of the springs, which is diagonal but for balls.
void add_springs(const Model& model, const StepRecord& record, const VecX& dq, const VecX& dv, VecX& rho) {
  const DofTree& tree = model.tree();
  const double h = record.options.time_step;
  for (const int j : tree.sprung_joints) {
    const DofTree::TreeJoint& joint = tree.joints[j];
    if (joint.type != JointType::ball) {
      rho[joint.dof] += h * tree.resistance[joint.dof].stiffness * dq[joint.dof];
      continue;
    }
    const BallSpring spring = ball_spring(model, record, j);
    rho.segment<3>(joint.dof) += spring.by_q * dq.segment<3>(joint.dof) + spring.by_v * dv.segment<3>(joint.dof);
  }
}

// Adds ρ, e and e₂ of every parameter that moves, and what moves f and q⁺ directly.
void add_parameters(const Model& model, const StepRecord& record, const VecX& direction,
                    const StepParameters& parameters, StepJvp& out) {
  StepJvpWorkspace& work = out.workspace();
  const std::size_t rows = record.f.size();
  work.columns.start(model, record, work.linearization);
  for (int k = 0; k < parameters.size(); ++k) {
    if (direction[k] == 0) continue;
    const ParameterColumn& x = work.columns.column(model, record, work.linearization, parameters.entries()[k]);
    work.rho += direction[k] * x.rho;
    for (std::size_t i = 0; i < rows; ++i) {
      work.e[i] += direction[k] * x.e[i];
      if (work.linearization.impulses) out.f[i] += direction[k] * x.df[i];
      if (work.linearization.has_null) work.c[i] += direction[k] * x.e2[i];
    }
    if (x.dq.size() > 0) out.q += direction[k] * x.dq;
  }
}

// ∂f and ∂v⁺ of the mode, from ρ, e and c.
void respond(const Model& model, const StepRecord& record, StepJvp& out) {
  StepJvpWorkspace& work = out.workspace();
  const std::size_t rows = record.f.size();
  // c = −e₂; work.c holds e₂.
  for (std::size_t i = 0; i < rows && work.linearization.has_null; ++i) work.c[i] = -work.c[i];
  answer(model, record, work.linearization.response, work.rho, work.e.data(),
         work.linearization.has_null ? work.c.data() : nullptr, work.answer, out.v);
  for (std::size_t i = 0; i < rows && work.linearization.impulses; ++i) out.f[i] += work.answer.df[i];
}

// ∂q⁺ = ∂q + Δt ∂v⁺, but for balls, whose tangents turn; or with ∂v in the place of ∂v⁺ (explicit_position).
void through_integrator(const Model& model, const StepRecord& record, StepJvp& out) {
  const StepJvpWorkspace& work = out.workspace();
  const double h = record.options.time_step;
  const VecX& velocity = record.options.integrator == Integrator::explicit_position ? work.dv_dofs : out.v;
  for (const int dof : model.tree().balls) {
    const BallMotion motion = ball_motion(record, dof);
    const Vec3 dq = work.dq_dofs.segment<3>(dof), dv = velocity.segment<3>(dof);
    out.q.segment<3>(dof) += motion.by_q * dq - dq + motion.by_v * dv - h * dv;
  }
  out.q += work.dq_dofs + h * velocity;
}

// ∂f for the momentum balance as z leaves it, into df; z moves along.
void answer_rows(const DofTree& tree, const ContactProblem& problem, ModeResponse& response, const double* e,
                 ModeChange& out, double* df) {
  problem.touches.product(tree, out.z, out.touches.data());
  for (int k = 0; k < problem.touches.size; ++k) out.touches[k] = -out.touches[k];
  response.respond(problem, out.touches.data(), e, df);
  touch_impulses(problem, df, out.touches.data());
  problem.touches.add_transposed_product(tree, out.touches.data(), out.z);
}

// Bodies that are held stiffly keep little of what ρ alone would do to them. The rows tell how far off that is.
void correct_rows(const DofTree& tree, const ContactProblem& problem, ModeResponse& response, const double* e,
                  ModeChange& out) {
  const std::size_t rows = problem.rows.size();
  grow(out.left, rows + kLanes);
  grow(out.correction, rows + kLanes);
  for (std::size_t i = 0; i < rows; ++i) out.left[i] = e[i] - problem.compliance[i] * out.df[i];
  std::fill_n(out.left.data() + rows, kLanes, 0.0);
  answer_rows(tree, problem, response, out.left.data(), out, out.correction.data());
  for (std::size_t i = 0; i < rows; ++i) out.df[i] += out.correction[i];
}

// (I − A_C# A_C) c, and what it pushes.
void add_choice(const DofTree& tree, const ContactProblem& problem, ModeResponse& response, const double* c,
                ModeChange& out) {
  const std::size_t rows = problem.rows.size();
  grow(out.correction, rows + kLanes);
  response.choose(problem, c, out.correction.data());
  for (std::size_t i = 0; i < rows; ++i) out.df[i] += out.correction[i];
  if (!response.has_null_term()) return;
  response.leave_out_unmoved(problem, out.correction.data());
  touch_impulses(problem, out.correction.data(), out.touches.data());
  problem.touches.add_transposed_product(tree, out.touches.data(), out.z);
}

}  // namespace

void answer(const Model& model, const StepRecord& record, ModeResponse& response, const VecX& rho, const double* e,
            const double* c, ModeChange& out, VecRef dv) {
  const DofTree& tree = model.tree();
  const ContactProblem& problem = problem_of(record);
  const std::size_t rows = problem.rows.size();
  multiply_transposed(model, record.tape().inverse, rho, out.z);
  for (int s = 0; s < tree.slot_count; s += kLanes) out.z.pack(0, s) = -out.z.pack(0, s);
  if (rows > 0) {
    grow(out.touches, problem.touches.size);
    grow(out.df, rows + kLanes);
    answer_rows(tree, problem, response, e, out, out.df.data());
  }
  if (rows > 0 && response.ill_conditioned()) correct_rows(tree, problem, response, e, out);
  if (rows > 0 && c) add_choice(tree, problem, response, c, out);
  multiply(model, record.tape().inverse, out.z, dv);
}

void mode_jvp(const Model& model, const StepRecord& record, const StepTangent& direction,
              const StepParameters* parameters, bool linearized, StepJvp& out) {
  StepJvpWorkspace& work = out.workspace();
  const DofTree& tree = model.tree();
  const std::size_t rows = record.f.size();
  take(direction.q, tree.nv, work.dq_dofs);
  take(direction.v, tree.nv, work.dv_dofs);
  out.f.setZero(work.linearization.impulses ? static_cast<Eigen::Index>(rows) : 0);
  if (!linearized) {
    out.q = work.dq_dofs;
    out.v = work.dv_dofs;
    return;
  }
  out.q.setZero(tree.nv);
  out.v.resize(tree.nv);
  work.dq.resize_zero(tree.slot_count);
  work.dv.resize_zero(tree.slot_count);
  dofs_to_slots(tree, work.dq_dofs.data(), work.dq);
  dofs_to_slots(tree, work.dv_dofs.data(), work.dv);
  for (AlignedBuffer* buffer : {&work.e, &work.c, &work.extra}) grow(*buffer, rows + kLanes);
  grow(work.Theta, problem_of(record).touches.size);
  grow(work.pushes, problem_of(record).touches.size);

  PointJvp points(model, record, work);
  points.find(work.linearization.main, work.rho, work.e.data());
  if (work.linearization.has_null) points.find_rows(work.linearization.null, work.c.data());
  add_springs(model, record, work.dq_dofs, work.dv_dofs, work.rho);
  if (direction.tau.size() > 0) work.rho -= record.options.time_step * direction.tau;
  if (parameters && direction.parameters.size() > 0) {
    add_parameters(model, record, direction.parameters, *parameters, out);
  }
  respond(model, record, out);
  through_integrator(model, record, out);
  if (all_finite(out.q) && all_finite(out.v) && all_finite(out.f)) [[likely]]
    return;
  out.q.setZero();
  out.v.setZero();
  out.f.setZero();
  out.report.overflowed = true;
}

void mode_jvp(const Model& model, const StepRecord& record, const StepTangent& direction,
              const StepParameters* parameters, const LinearizationNeeds& needs, StepJvp& out) {
  StepJvpWorkspace& work = out.workspace();
  const bool linearized = linearize(model, record, record.modes, needs, work.linearization);
  describe_gradient(model, record, linearized ? &work.linearization : nullptr, out.report);
  mode_jvp(model, record, direction, parameters, linearized, out);
}

}  // namespace lithe::internal

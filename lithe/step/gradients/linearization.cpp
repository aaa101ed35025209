#include "lithe/step/gradients/linearization.h"

#include "lithe/dynamics/internal/link_velocities.h"
#include "lithe/dynamics/internal/tree_sums.h"
#include "lithe/linalg/padded_matrix.h"
#include "lithe/simd/internal/finite.h"
#include "lithe/step/internal/record_prefetch.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe::internal {

namespace {

// φ = Tᵀ f on the links. What acts inside joints does not depend on where the bodies are.
void find_wrenches(const DofTree& tree, const ContactProblem& problem, const StepRecord& record, AlignedBuffer& touches,
                   Lanes<6>& out) {
  const TouchSpace& space = problem.touches;
  const double per_time = 1 / record.options.time_step;
  grow(touches, space.size);
  touch_impulses(problem, record.f.data(), touches.data());
  for (const Touch& touch : space.touches) {
    if (touch.size != 6) continue;
    const double* phi = touches.data() + space.start_of(touch);
    for (int k = 0; k < 6; ++k) out.at(k, tree.slot[touch.dof]) += per_time * phi[k];
  }
}

// V and Ψ̇ under velocities u.
void find_velocities(const DofTree& tree, const Kinematics& kin, const VecX& u, Lanes<1>& slots, RowPoint& point) {
  Lanes<6>& V_before = point.Psi_dot;
  link_velocities(tree, kin, u, slots, V_before, point.V);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    store(point.Psi_dot, s, cross(load_motion(V_before, s), load_motion(kin.S, s)));
  }
}

// J_F u from the bodies' velocities.
void find_touch_velocities(const DofTree& tree, const TouchSpace& space, const Lanes<6>& V, const double* u,
                           AlignedBuffer& out) {
  grow(out, space.size);
  for (const Touch& touch : space.touches) {
    double* at = out.data() + space.start_of(touch);
    if (touch.size == 1) {
      *at = u[touch.dof];
    } else {
      for (int k = 0; k < 6; ++k) at[k] = V.at(k, tree.slot[touch.dof]);
    }
  }
}

// Whether any target is −e J v, which moves with v.
bool bounces(const ContactProblem& problem) {
  for (const Constraint& constraint : problem.constraints) {
    if (constraint.rule == TargetRule::restitution) return true;
  }
  return false;
}

// The step itself, u = v⁺. False where its acceleration is not finite.
bool main_point(const Model& model, const StepRecord& record, std::span<const RowMode> modes,
                const LinearizationNeeds& needs, StepLinearization& out) {
  const DofTree& tree = model.tree();
  const StepStages& stages = stages_of(model, record);
  prefetch_more();
  const ContactProblem& problem = stages.problem;
  LinearPoint& point = out.main;
  point.change = record.next.v - record.state.v;
  point.acceleration = point.change / record.options.time_step;
  if (!all_finite(point.acceleration)) return false;
  const bool constrained = !record.f.empty();
  point.link_wrenches.resize_zero(tree.slot_count);
  if (constrained) find_wrenches(tree, problem, record, out.touches, point.link_wrenches);
  rnea_forces(model, stages.kin, point.acceleration, point.link_wrenches, point.id, record.control.wrenches);
  prefetch_more();
  find_velocities(tree, stages.kin, record.next.v, out.slots, point);
  if (!constrained) return true;
  find_touch_velocities(tree, problem.touches, point.V, record.next.v.data(), point.touch_velocity);
  out.response.compute(tree, problem, modes, record.reports, needs.matrices);
  prefetch_more();
  const bool bouncing = bounces(problem);
  if (bouncing) {
    find_touch_velocities(tree, problem.touches, stages.kin.V, record.state.v.data(), out.touch_velocity_before);
  }
  const ContactInput input = contact_input(record, stages);
  constraint_forms(model,
                   {.contact = input,
                    .problem = problem,
                    .options = constraint_options_of(record.options),
                    .reports = record.reports,
                    .V = point.touch_velocity.data(),
                    .V_before = bouncing ? out.touch_velocity_before.data() : nullptr,
                    .f = record.f.data(),
                    .balanced_by = needs.impulses ? nullptr : &out.response},
                   point.forms);
  prefetch_more();
  out.response.compress_forms(problem, point.forms.rows.data(), point.compressed_forms);
  return true;
}

// The second point, u = z = M̂⁻¹ P y, whose rows have neither targets nor pushes.
void null_point(const Model& model, const StepRecord& record, StepLinearization& out) {
  const DofTree& tree = model.tree();
  const StepStages& stages = stages_of(record);
  const ContactProblem& problem = stages.problem;
  NullPoint& point = out.null;
  const double* y = out.response.y().data();
  touch_impulses(problem, y, out.touches.data());
  problem.touches.transposed_product(tree, out.touches.data(), out.slots);
  point.z.resize(tree.nv);
  multiply(model, record.tape().inverse, out.slots, point.z);
  find_velocities(tree, stages.kin, point.z, out.slots, point);
  find_touch_velocities(tree, problem.touches, point.V, point.z.data(), point.touch_velocity);
  const ContactInput input = contact_input(record, stages);
  constraint_forms(model,
                   {.contact = input,
                    .problem = problem,
                    .options = constraint_options_of(record.options),
                    .reports = {},
                    .V = point.touch_velocity.data(),
                    .V_before = nullptr,
                    .f = y,
                    .targets = false,
                    .pushes = false},
                   point.forms);
}

}  // namespace

bool linearize(const Model& model, const StepRecord& record, std::span<const RowMode> modes,
               const LinearizationNeeds& needs, StepLinearization& out) {
  out.has_null = false;
  out.impulses = needs.impulses;
  if (record.status.diverged) return false;
  if (!main_point(model, record, modes, needs, out)) return false;
  if (record.f.empty()) return true;
  out.has_null = out.response.has_null_term() || (needs.impulses && out.response.has_free_impulses());
  if (!out.has_null) return true;
  out.response.find_y(problem_of(record), record.f);
  null_point(model, record, out);
  return true;
}

BallSpring ball_spring(const Model& model, const StepRecord& record, int joint_index) {
  const DofTree::TreeJoint& joint = model.tree().joints[joint_index];
  const double h = record.options.time_step;
  const double stiffness = model.tree().resistance[joint.dof].stiffness;
  const Vec3 turn = h * record.state.v.segment<3>(joint.dof);
  const Mat3 stretching = right_jacobian_inverse(force_stages_of(model, record).spring_stretch.segment<3>(joint.dof));
  return {.by_q = h * stiffness * stretching * rotation_exp(turn).transpose(),
          .by_v = h * h * stiffness * (stretching * right_jacobian(turn) - Mat3::Identity())};
}

BallMotion ball_motion(const StepRecord& record, int dof) {
  const double h = record.options.time_step;
  const bool explicit_position = record.options.integrator == Integrator::explicit_position;
  const Vec3 turn = h * (explicit_position ? record.state.v : record.next.v).segment<3>(dof);
  return {.by_q = rotation_exp(turn).transpose(), .by_v = h * right_jacobian(turn)};
}

}  // namespace lithe::internal

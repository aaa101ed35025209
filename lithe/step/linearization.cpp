#include "lithe/step/linearization.h"

#include "lithe/core/finite.h"
#include "lithe/dynamics/tree_sums.h"
#include "lithe/lcp/padded_matrix.h"

namespace lithe {

namespace {

// φ = Tᵀ f, and the same on the links. What acts inside joints does not depend on where the bodies are.
void find_wrenches(const DofTree& tree, const ContactProblem& problem, const double* f, double h, LinearPoint& point) {
  grow(point.touch_impulse, problem.touches.size);
  touch_impulses(problem, f, point.touch_impulse.data());
  for (const Touch& touch : problem.touches.touches) {
    if (touch.size != 6) continue;
    const double* phi = point.touch_impulse.data() + problem.touches.start_of(touch);
    for (int k = 0; k < 6; ++k) point.link_wrenches.at(k, tree.slot[touch.dof]) += phi[k] / h;
  }
}

// V under the velocities at the step's end: the start's plus Δt times what a adds to the acceleration.
void find_velocities(const DofTree& tree, const Kinematics& kin, const InverseDynamics* bias, double h,
                     LinearPoint& point) {
  point.V.resize(tree.slot_count);
  point.Psi_dot.resize(tree.slot_count);
  const Pack step = broadcast(h);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    Motion<Pack> behind = load_motion(point.id.A, s), before = load_motion(point.id.A_parent, s);
    if (bias) {
      behind = behind - load_motion(bias->A, s);
      before = before - load_motion(bias->A_parent, s);
    }
    store(point.V, s, load_motion(kin.V, s) + step * behind);
    const Motion<Pack> V_before = load_motion(kin.V_parent, s) + step * before;
    store(point.Psi_dot, s, cross(V_before, load_motion(kin.S, s)));
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

bool bounces(const ContactProblem& problem) {
  for (const Constraint& constraint : problem.constraints) {
    if (constraint.rule == TargetRule::restitution) return true;
  }
  return false;
}

bool main_point(const Model& model, const StepRecord& record, std::span<const RowClass> classes,
                const LinearizationNeeds& needs, StepLinearization& out) {
  const DofTree& tree = model.tree();
  const double h = record.options.time_step();
  LinearPoint& point = out.main;
  point.at_rest = false;
  point.change = record.next.v - record.state.v;
  point.acceleration = point.change / h;
  if (!all_finite(point.acceleration)) return false;
  const bool constrained = !record.problem.rows.empty();
  point.link_wrenches.resize_zero(tree.slot_count);
  if (constrained) find_wrenches(tree, record.problem, record.f.data(), h, point);
  rnea_forces(model, record.kin, point.acceleration, point.link_wrenches, point.id, record.control.wrenches);
  find_velocities(tree, record.kin, &record.bias, h, point);
  if (!constrained) return true;
  find_touch_velocities(tree, record.problem.touches, point.V, record.next.v.data(), point.touch_velocity);
  out.response.compute(record.problem, classes, record.reports);
  const bool bouncing = bounces(record.problem);
  if (bouncing) {
    find_touch_velocities(tree, record.problem.touches, record.kin.V, record.state.v.data(), out.touch_velocity_before);
  }
  const ContactInput input = contact_input(record);
  constraint_forms(model,
                   {.contact = input,
                    .problem = record.problem,
                    .options = record.options.constraints,
                    .reports = record.reports,
                    .V = point.touch_velocity.data(),
                    .V_before = bouncing ? out.touch_velocity_before.data() : nullptr,
                    .f = record.f.data(),
                    .balanced_by = needs.impulses ? nullptr : &out.response},
                   point.forms);
  out.response.compress_forms(record.problem, point.forms.rows.data(), point.compressed_forms);
  return true;
}

// z = M̂⁻¹ P y.
void null_point(const Model& model, const StepRecord& record, StepLinearization& out) {
  const DofTree& tree = model.tree();
  const double h = record.options.time_step();
  const ContactProblem& problem = record.problem;
  LinearPoint& point = out.null;
  point.at_rest = true;
  const double* y = out.response.y().data();
  point.link_wrenches.resize_zero(tree.slot_count);
  find_wrenches(tree, problem, y, h, point);
  problem.touches.transposed_product(tree, point.touch_impulse.data(), out.slots);
  point.change.resize(tree.nv);
  multiply(model, record.inverse, out.slots, point.change);
  point.acceleration = point.change / h;
  kinematics(model, record.state.q, out.still);
  inertial_forces(model, out.still, point.acceleration, point.link_wrenches, point.id);
  find_velocities(tree, out.still, nullptr, h, point);
  find_touch_velocities(tree, problem.touches, point.V, point.change.data(), point.touch_velocity);
  const ContactInput input = contact_input(record);
  constraint_forms(model,
                   {.contact = input,
                    .problem = problem,
                    .options = record.options.constraints,
                    .reports = {},
                    .V = point.touch_velocity.data(),
                    .V_before = nullptr,
                    .f = y,
                    .targets = false},
                   point.forms);
}

}  // namespace

bool linearize(const Model& model, const StepRecord& record, std::span<const RowClass> classes,
               const LinearizationNeeds& needs, StepLinearization& out) {
  out.has_null = false;
  if (record.status.diverged) return false;
  if (!main_point(model, record, classes, needs, out)) return false;
  if (record.problem.rows.empty()) return true;
  out.has_null = out.response.has_null_term() || (needs.impulses && out.response.has_free_impulses());
  if (!out.has_null) return true;
  out.response.find_y(record.problem, record.f);
  null_point(model, record, out);
  return true;
}

BallSpring ball_spring(const Model& model, const StepRecord& record, int joint_index) {
  const DofTree::TreeJoint& joint = model.tree().joints[joint_index];
  const double h = record.options.time_step();
  const double stiffness = model.tree().resistance[joint.dof].stiffness;
  const Vec3 turn = h * record.state.v.segment<3>(joint.dof);
  const Mat3 stretching = right_jacobian_inverse(record.spring_stretch.segment<3>(joint.dof));
  return {.by_q = h * stiffness * stretching * rotation_exp(turn).transpose(),
          .by_v = h * h * stiffness * (stretching * right_jacobian(turn) - Mat3::Identity())};
}

BallMotion ball_motion(const StepRecord& record, int dof) {
  const double h = record.options.time_step();
  const bool explicit_position = record.options.integrator == Integrator::explicit_position;
  const Vec3 turn = h * (explicit_position ? record.state.v : record.next.v).segment<3>(dof);
  return {.by_q = rotation_exp(turn).transpose(), .by_v = h * right_jacobian(turn)};
}

}  // namespace lithe

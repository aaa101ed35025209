#include "lithe/step/step.h"

#include <cmath>

#include "lithe/collision/shared_colliders.h"
#include "lithe/core/check.h"
#include "lithe/core/finite.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/step/solve_islands.h"
#include "lithe/step/step_workspace.h"

namespace lithe {

namespace {

// A control's missing parts are zeros (forces) or nothing (motors off).
void take_control(const Model& model, const Control& control, Control& taken) {
  if (control.tau.size() == 0) {
    taken.tau.setZero(model.nv());
  } else {
    check_tangent(model, control.tau, "tau");
    taken.tau = control.tau;
  }
  const auto motors = static_cast<Eigen::Index>(model.motors().size());
  LITHE_CHECK(control.motor_targets.size() == 0 || control.motor_targets.size() == motors,
              "motor_targets has {} entries, the model has {} motors (give one each, or none to switch them off)",
              control.motor_targets.size(), motors);
  for (Eigen::Index m = 0; m < control.motor_targets.size(); ++m) {
    LITHE_CHECK(std::isfinite(control.motor_targets[m]), "motor_targets[{}], of motor '{}', is {}; it must be finite",
                m, model.motors()[m].name, control.motor_targets[m]);
  }
  taken.motor_targets = control.motor_targets;
  taken.wrenches = control.wrenches;
}

// 2: M̂, its factor, and where the model would go without constraints.
void smooth_motion(const Model& model, StepRecord& record, StepWorkspace& work) {
  find_smooth_forces(model, record, work.stages);
  find_mass(model, work.stages);
  invert(model, work.stages.factor, record.inverse);
  find_free_motion(model, record, work.z, work.stages);
}

bool smooth_motion_is_finite(const StepStages& stages) {
  double mark = 0;
  for (const Pose& X : stages.X_WB) mark += 0 * X.p.sum();
  return mark == 0 && all_finite(stages.v_free);
}

// 3
void find_contacts(const Model& model, StepRecord& record, StepWorkspace& work) {
  const std::uint64_t revision = model.collision_revision();
  if (!record.colliders || record.collider_revision != revision) {
    if (!work.colliders || work.collider_revision != revision) work.colliders = shared_colliders(model);
    record.colliders = work.colliders;
    record.collider_revision = work.collider_revision = revision;
  }
  record.contacts.contacts.clear();
  if (!record.options.contacts) return;
  detect_contacts(*record.colliders, work.stages.X_WB, work.detection, work.contacts, record.options.detection);
  record.contacts = work.contacts;
}

// 4
void pose_problem(const Model& model, StepRecord& record, StepWorkspace& work) {
  const StepStages& stages = work.stages;
  ContactProblem& problem = work.stages.problem;
  const bool motors = record.control.motor_targets.size() > 0;
  gather_constraints(model, record.contacts, record.state.q, record.state.v, stages.v_free, motors,
                     record.options.constraints, problem.constraints);
  const ContactInput input = contact_input(record, stages);
  assemble(model, input, record.options.constraints, record.options.lcp, problem);
}

// Numbers have overflowed on the way: the model stays where it is.
void diverge(StepRecord& record, ContactProblem& problem) {
  record.status.diverged = true;
  record.next = record.state;
  record.warm_start.clear();
  // No contact, no row, nothing to read impulses from.
  record.contacts.contacts.clear();
  problem.clear();
  record.f.clear();
  record.w.clear();
  record.classes.clear();
  record.reports.clear();
}

// 6
void move_on(const Model& model, StepRecord& record, StepWorkspace& work) {
  const DofTree& tree = model.tree();
  const State& state = record.state;
  record.next.v.resize(tree.nv);
  record.next.q.resize(tree.nq);
  record.next.v = work.stages.v_free;
  ContactProblem& problem = work.stages.problem;
  if (!problem.rows.empty()) {
    double* phi = problem.touch_vector.data();
    touch_impulses(problem, record.f.data(), phi);
    problem.touches.transposed_product(tree, phi, work.z);
    work.delta.resize(tree.nv);
    multiply(model, record.inverse, work.z, work.delta);
    record.next.v += work.delta;
  }
  const bool explicit_position = record.options.integrator == Integrator::explicit_position;
  work.delta = record.options.time_step() * (explicit_position ? state.v : record.next.v);
  const bool finite = all_finite(record.next.v) && all_finite(work.delta);
  if (finite) [[likely]]
    retract(model, state.q, work.delta, record.next.q);
  if (!finite || !all_finite(record.next.q)) [[unlikely]]
    diverge(record, problem);
}

// All stages.
void solve_step(const Model& model, StepRecord& record, StepWorkspace& work, const WarmStart* guess) {
  StepStages& stages = work.stages;
  kinematics(model, record.state.q, record.state.v, stages.kin);
  body_poses(model, stages.kin, stages.X_WB);
  smooth_motion(model, record, work);
  record.status.singular_dof = stages.factor.singular_dof;
  if (!smooth_motion_is_finite(stages)) [[unlikely]]
    return diverge(record, stages.problem);
  find_contacts(model, record, work);
  pose_problem(model, record, work);
  if (!all_finite(std::span(stages.problem.b).first(stages.problem.rows.size()))) [[unlikely]]
    return diverge(record, stages.problem);
  solve_islands(model, record, work, guess);
  move_on(model, record, work);
}

}  // namespace

void step(const Model& model, const State& state, const Control& control, const StepOptions& options,
          StepRecord& record, const WarmStart* guess) {
  check_options(options);
  take_control(model, control, record.control);
  record.state = state;
  record.options = options;
  record.status = {};

  StepWorkspace& work = step_workspace(model.tree());
  work.stages_of_step = 0;  // until they are this step's
  record.step_number = work.next_step_number();
  solve_step(model, record, work, guess);
  keep_problem(work.stages.problem, record.problem);
  work.stages_of_step = record.step_number;
  work.has_forces = work.has_mass = true;
}

}  // namespace lithe

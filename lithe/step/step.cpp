#include "lithe/step/step.h"

#include <cmath>

#include "lithe/collision/broad/shared_colliders.h"
#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/simd/internal/finite.h"
#include "lithe/step/internal/solve_islands.h"
#include "lithe/step/internal/step_tape.h"
#include "lithe/step/internal/step_workspace.h"

namespace lithe {

using namespace internal;

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
  invert(model, work.stages.factor, record.tape().inverse);
  find_free_motion(model, record, work.z, work.stages);
}

// A number that is not finite becomes NaN when it is multiplied by zero.
bool smooth_motion_is_finite(const StepStages& stages) {
  double mark = 0;
  for (const Pose& X : stages.X_WB) mark += 0 * X.p.sum();
  return mark == 0 && all_finite(stages.v_free);
}

// 3: which shapes touch. Colliders are made again only where the model's shapes have changed.
void find_contacts(const Model& model, StepRecord& record, StepWorkspace& work) {
  const std::uint64_t revision = model.collision_revision();
  if (!record.tape().colliders || record.tape().collider_revision != revision) {
    if (!work.colliders || work.collider_revision != revision) work.colliders = shared_colliders(model);
    record.tape().colliders = work.colliders;
    record.tape().collider_revision = work.collider_revision = revision;
  }
  record.contacts.contacts.clear();
  if (!record.options.contacts) return;
  detect_contacts(*record.tape().colliders, work.stages.X_WB, work.detection, work.contacts, record.options.detection);
  record.contacts = work.contacts;
}

// 4: what may push in this step. Rows that decide nothing become part of the smooth motion.
void find_constraints(const Model& model, StepRecord& record, StepWorkspace& work, const WarmStart* guess) {
  const StepStages& stages = work.stages;
  std::vector<Constraint>& constraints = work.stages.problem.constraints;
  const bool motors = record.control.motor_targets.size() > 0;
  gather_constraints(model, record.contacts, record.state.q, record.state.v, stages.v_free, motors,
                     constraint_options_of(record.options), constraints);
  work.folded.choose(model, record, stages, guess, constraints);
}

// Rows, A and b. False where numbers have overflowed.
bool pose_problem(const Model& model, StepRecord& record, StepWorkspace& work) {
  ContactProblem& problem = work.stages.problem;
  const ContactInput input =
      work.folded.empty() ? contact_input(record, work.stages)
                          : contact_input(record, work.stages, work.folded.inverse(), work.folded.v_free_slots());
  assemble(model, input, constraint_options_of(record.options), record.options.lcp, problem);
  if (!work.folded.empty()) work.folded.find_scales(model, record, work.stages, problem);
  return all_finite(std::span(problem.b).first(problem.rows.size()));
}

// Numbers have overflowed on the way: the model stays where it is.
void diverge(StepRecord& record, ContactProblem& problem) {
  record.status.diverged = true;
  record.next = record.state;
  record.warm_start.clear();
  // No contact, no row, nothing to read impulses from.
  record.contacts.contacts.clear();
  problem.clear();
  keep_problem(problem, record.tape().problem);
  record.f.clear();
  record.w.clear();
  record.modes.clear();
  record.reports.clear();
}

// v⁺ = v_free + M̂⁻¹ Jᵀ f, or with M̂ + C and its v_free where motors are folded.
void find_velocity(const Model& model, StepRecord& record, StepWorkspace& work) {
  const DofTree& tree = model.tree();
  const FoldedMotors& folded = work.folded;
  ContactProblem& problem = work.stages.problem;
  record.next.v.resize(tree.nv);
  record.next.v = folded.empty() ? work.stages.v_free : folded.v_free();
  if (problem.rows.empty()) return;
  double* phi = problem.touch_vector.data();
  touch_impulses(problem, record.f.data(), phi);
  problem.touches.transposed_product(tree, phi, work.z);
  work.delta.resize(tree.nv);
  multiply(model, folded.empty() ? record.tape().inverse : folded.inverse(), work.z, work.delta);
  record.next.v += work.delta;
}

// Whether the answer to the rows that are left may stand: the solver has no doubts, and correction adds no more energy than it may.
bool is_certain(const Model& model, const StepRecord& record, StepWorkspace& work) {
  const LcpFlag flags = record.status.flags;
  const bool dropped = has(flags, LcpFlag::targets_dropped) && !work.folded.drops_for_certain(work.stages.problem);
  const bool solved = record.status.solved() && !has(flags, LcpFlag::unpolished) && !dropped;
  return solved && work.folded.adds_little_energy(model, record, work.stages.problem);
}

// 4 and 5, with as few rows as v⁺ turns out to agree with. False where numbers have overflowed.
bool solve_constraints(const Model& model, StepRecord& record, StepWorkspace& work, const WarmStart* guess) {
  // Each try makes rows of the motors that turned out to saturate. After so many tries all rows are posed.
  constexpr int kMostTries = 3;
  FoldedMotors& folded = work.folded;
  std::vector<Constraint>& constraints = work.stages.problem.constraints;
  find_constraints(model, record, work, guess);
  const StepStatus before = record.status;
  int factorizations = 0, events = 0;  // of tries that came to nothing
  for (int tries = 1;; ++tries) {
    record.status = before;
    if (!pose_problem(model, record, work)) return false;
    solve_islands(model, record, work, guess);
    find_velocity(model, record, work);
    record.status.factorizations += factorizations;
    record.status.events += events;
    if (folded.empty()) break;
    const bool certain = is_certain(model, record, work);
    if (certain && folded.agrees(model, record, work.stages, record.next.v, constraints)) break;
    factorizations = record.status.factorizations;
    events = record.status.events;
    if (!certain || tries == kMostTries) folded.unfold_all(constraints);
  }
  return true;
}

// What the record keeps of the problem and of its solution.
void keep_solution(const Model& model, StepRecord& record, StepWorkspace& work) {
  const ContactProblem& problem = work.stages.problem;
  if (work.folded.empty()) {
    keep_problem(problem, record.tape().problem);
  } else {
    work.folded.complete(model, problem, record.next.v, record, work.steady);
    weigh_islands(model.tree(), work.stages.M, work.folded.islands(), record.tape().island_masses);
  }
  RowMemory::remember(record.tape().problem.constraints, record.tape().problem.islands, record.modes, record.f,
                      record.reports, work.steady, record.warm_start);
}

// 6: q⁺ = q ⊕ Δt v⁺ (or v). Where it is not finite the step has diverged.
void move_on(const Model& model, StepRecord& record, StepWorkspace& work) {
  const State& state = record.state;
  record.next.q.resize(model.nq());
  const bool explicit_position = record.options.integrator == Integrator::explicit_position;
  work.delta = record.options.time_step * (explicit_position ? state.v : record.next.v);
  const bool finite = all_finite(record.next.v) && all_finite(work.delta);
  if (finite) [[likely]]
    retract(model, state.q, work.delta, record.next.q);
  if (!finite || !all_finite(record.next.q)) [[unlikely]]
    diverge(record, work.stages.problem);
}

// All stages, from the kinematics to q⁺.
void solve_step(const Model& model, StepRecord& record, StepWorkspace& work, const WarmStart* guess) {
  StepStages& stages = work.stages;
  kinematics(model, record.state.q, record.state.v, stages.kin);
  body_poses(model, stages.kin, stages.X_WB);
  smooth_motion(model, record, work);
  record.status.singular_dof = stages.factor.singular_dof;
  if (!smooth_motion_is_finite(stages)) [[unlikely]]
    return diverge(record, stages.problem);
  find_contacts(model, record, work);
  if (!solve_constraints(model, record, work, guess)) [[unlikely]]
    return diverge(record, stages.problem);
  keep_solution(model, record, work);
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
  record.tape().step_number = work.next_step_number();
  solve_step(model, record, work, guess);
  work.stages_of_step = record.tape().step_number;
  work.has_problem = work.folded.empty();
  work.has_forces = work.has_mass = true;
}

}  // namespace lithe

#include "lithe/step/step.h"

#include <algorithm>
#include <cmath>

#include "lithe/collision/shared_colliders.h"
#include "lithe/contact/correction_energy.h"
#include "lithe/contact/touch_sweeps.h"
#include "lithe/core/check.h"
#include "lithe/core/finite.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
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

void count_stage(const LcpReport& report, StepStatus& status) {
  switch (report.stage) {
    case LcpStage::none: break;
    case LcpStage::guess: ++status.guessed; break;
    case LcpStage::follow: ++status.followed; break;
    case LcpStage::active_set: ++status.active_set; break;
    case LcpStage::path: ++status.path; break;
    case LcpStage::dantzig:
    case LcpStage::gauss_seidel: ++status.other; break;
    case LcpStage::unsolved: break;
  }
  if (!report.solved()) ++status.unsolved;
  status.flags = status.flags | report.flags;
  status.residual = std::max(status.residual, report.residual);
  status.factorizations += report.factorizations;
  status.events += report.events;
}

// Mass of each island's trees.
void weigh_islands(const DofTree& tree, const StepStages& stages, StepRecord& record) {
  record.island_masses.assign(stages.problem.island_count(), 0.0);
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    const int island = stages.problem.islands.island_of(static_cast<int>(t));
    if (island >= 0) record.island_masses[island] += stages.M.I.at(0, tree.trees[t].first_slot);  // of the whole tree
  }
}

// What one island's solution is made of.
struct IslandRows {
  LcpGuess guess;
  std::span<double> f, w;
  std::span<RowClass> classes;
};

LcpReport solve_island(const DofTree& tree, const StepRecord& record, ContactProblem& problem, int island,
                       const IslandRows& rows) {
  const LcpOptions& options = record.options.lcp;
  LcpReport report;
  if (problem.A_start[island] >= 0) {
    report = solve_lcp(problem.lcp(island), options, rows.guess, lcp_workspace(), rows.f, rows.w, rows.classes);
  } else if (options.method == LcpMethod::direct) {
    problem.forms.compute(tree, problem, island);
    report = solve_lcp(problem.forms.lcp(problem, island), options, rows.guess, lcp_workspace(), rows.f, rows.w,
                       rows.classes);
  } else {
    return solve_by_sweeps(problem, island, options, rows.f, rows.w, rows.classes);
  }
  if (has(report.flags, LcpFlag::targets_dropped)) {
    std::ranges::copy(lcp_workspace().dropped_targets(),
                      problem.target_dropped.begin() + problem.islands.islands()[island].first_row);
  }
  return report;
}

// Whether the answer was what had been guessed: then so it may be the next time.
bool is_steady(const IslandRows& rows, const LcpReport& report) {
  return !has(report.flags, LcpFlag::targets_dropped) && report.solved() &&
         std::ranges::equal(rows.guess.classes, rows.classes);
}

// Solves again with smaller targets where correction would add too much energy, and without them if that was not enough. True
// where it did; the report stays that of the solver.
bool limit_correction(const DofTree& tree, const StepRecord& record, ContactProblem& problem, int island,
                      const IslandRows& rows, double gravity_step, LcpReport& report) {
  double gain = energy_gain(problem, island, rows.f, rows.w);
  if (!(gain > 0)) return false;  // the usual case
  const double allowance = energy_allowance(problem, island, record.island_masses[island], gravity_step);
  bool reduced = false;
  for (int attempt = 0; gain > allowance && attempt < 2; ++attempt) {
    // The gain falls at least in proportion to the targets, as long as no row changes its class.
    if (!reduce_correction(problem, island, attempt == 0 ? allowance / gain : 0)) break;  // a bounce, not a correction
    reduced = true;
    report = solve_island(tree, record, problem, island, rows);
    gain = energy_gain(problem, island, rows.f, rows.w);
  }
  return reduced;
}

// 5
void solve_islands(const Model& model, StepRecord& record, StepWorkspace& work, const WarmStart* guess) {
  ContactProblem& problem = work.stages.problem;
  const std::size_t row_count = problem.rows.size();
  record.f.resize(row_count);
  record.w.resize(row_count);
  record.classes.resize(row_count);
  record.reports.resize(problem.island_count());
  const bool guessing = guess != nullptr && !guess->empty() && !record.options.lcp.cold;
  if (guessing) guess->guess(problem, work.guess);
  work.steady.assign(problem.island_count(), 0);
  problem.target_dropped.assign(row_count, 0);
  record.status.contacts = static_cast<int>(record.contacts.contacts.size());
  record.status.rows = static_cast<int>(row_count);
  record.status.islands = problem.island_count();
  weigh_islands(model.tree(), work.stages, record);
  const double gravity_step = model.gravity().norm() * record.options.time_step();
  for (int i = 0; i < problem.island_count(); ++i) {
    const Island& island = problem.islands.islands()[i];
    const auto part = [&](auto& all) { return std::span(all).subspan(island.first_row, island.row_count); };
    IslandRows rows = {{}, part(record.f), part(record.w), part(record.classes)};
    if (guessing) {
      rows.guess = LcpGuess(part(work.guess.classes), part(work.guess.impulses), work.guess.steady[i] != 0);
    }
    LcpReport& report = record.reports[i];
    report = solve_island(model.tree(), record, problem, i, rows);
    if (limit_correction(model.tree(), record, problem, i, rows, gravity_step, report)) {
      record.status.flags = record.status.flags | LcpFlag::targets_dropped;
    }
    work.steady[i] = is_steady(rows, report);
    count_stage(report, record.status);
  }
  record.warm_start.remember(problem, record.classes, record.f, work.steady);
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

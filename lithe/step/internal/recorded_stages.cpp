#include "lithe/step/internal/recorded_stages.h"

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/step/internal/constraint_options_of.h"
#include "lithe/step/internal/step_tape.h"
#include "lithe/step/internal/step_workspace.h"

namespace lithe::internal {

namespace {

// The stages of the record in this thread's workspace; all but those of the mass.
StepWorkspace& workspace_with_stages(const Model& model, const StepRecord& record) {
  LITHE_CHECK(record.tape().step_number != 0, "this record holds no step");
  StepWorkspace& work = step_workspace(model.tree());
  const bool at_hand = work.stages_of_step == record.tape().step_number;
  if (at_hand && work.has_problem) {
    work.stages.problem.touches.find_Lambda(model.tree());
    return work;
  }
  work.stages_of_step = 0;  // should something throw
  if (!at_hand) {
    kinematics(model, record.state.q, record.state.v, work.stages.kin);
    if (!model.loops().empty())
      body_poses(model, work.stages.kin, work.stages.X_WB);  // their rows are about frames of bodies
    work.has_forces = work.has_mass = false;
  }
  if (record.tape().problem.constraints.empty()) {
    work.stages.problem.clear();
  } else {
    const RecordedProblem& settled = record.tape().problem;
    assemble_again(model, contact_input(record, work.stages), constraint_options_of(record.options), record.options.lcp,
                   {settled.constraints, settled.target, settled.target_dropped}, work.stages.problem);
  }
  work.stages_of_step = record.tape().step_number;
  work.has_problem = true;
  return work;
}

// The same, and poses, bias and smooth impulse.
StepWorkspace& workspace_with_forces(const Model& model, const StepRecord& record) {
  StepWorkspace& work = workspace_with_stages(model, record);
  if (work.has_forces) return work;
  body_poses(model, work.stages.kin, work.stages.X_WB);
  find_smooth_forces(model, record, work.stages);
  work.has_forces = true;
  return work;
}

}  // namespace

const StepStages& stages_of(const Model& model, const StepRecord& record) {
  return workspace_with_stages(model, record).stages;
}

const StepStages& force_stages_of(const Model& model, const StepRecord& record) {
  return workspace_with_forces(model, record).stages;
}

const StepStages& mass_stages_of(const Model& model, const StepRecord& record) {
  StepWorkspace& work = workspace_with_forces(model, record);
  if (!work.has_mass) {
    find_mass(model, work.stages);
    find_free_motion(model, record, work.z, work.stages);
    work.has_mass = true;
  }
  return work.stages;
}

const StepStages& stages_of([[maybe_unused]] const StepRecord& record) {
  LITHE_ASSERT(last_step_workspace().stages_of_step == record.tape().step_number);
  return last_step_workspace().stages;
}

ContactProblem lcps_of(const Model& model, const StepRecord& record) {
  const StepStages& stages = mass_stages_of(model, record);
  ContactProblem problem;
  problem.constraints = record.tape().problem.constraints;
  assemble(model, contact_input(record, stages), constraint_options_of(record.options), record.options.lcp, problem);
  problem.constraints = record.tape().problem.constraints;  // with their rules
  for (int i = 0; i < record.tape().problem.row_count(); ++i) {
    // The targets of the step may have been reduced after its rows were put together.
    problem.b[i] += problem.target[i] - record.tape().problem.target[i];
    problem.target[i] = record.tape().problem.target[i];
  }
  return problem;
}

}  // namespace lithe::internal

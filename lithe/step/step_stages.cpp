#include "lithe/step/step_stages.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/tree_sums.h"
#include "lithe/spatial/rotation.h"
#include "lithe/step/step_workspace.h"

namespace lithe {

namespace {

// The workspaces of one thread, by structure of the model.
class ThreadWorkspaces {
 public:
  StepWorkspace& of(std::uint64_t structure) {
    if (structure != structures_[last_]) last_ = find(structure);
    return *workspaces_[last_];
  }
  StepWorkspace& last() { return *workspaces_[last_]; }

  IslandWorkspace islands;

 private:
  static constexpr int kMost = 4;

  // Where there is none, that of the structure which came first makes room.
  int find(std::uint64_t structure) {
    for (int i = 0; i < kMost; ++i) {
      if (structures_[i] == structure && workspaces_[i]) return i;
    }
    const int place = std::exchange(next_, (next_ + 1) % kMost);
    workspaces_[place] = std::make_unique<StepWorkspace>();
    structures_[place] = structure;
    return place;
  }

  std::array<std::uint64_t, kMost> structures_ = {};  // 0 is no structure
  std::array<std::unique_ptr<StepWorkspace>, kMost> workspaces_;
  int last_ = 0, next_ = 0;
};

thread_local ThreadWorkspaces workspaces;

// The stages of the record in this thread's workspace; all but those of the mass.
StepWorkspace& workspace_with_stages(const Model& model, const StepRecord& record) {
  LITHE_CHECK(record.step_number != 0, "this record holds no step");
  StepWorkspace& work = step_workspace(model.tree());
  const bool at_hand = work.stages_of_step == record.step_number;
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
  if (record.problem.constraints.empty()) {
    work.stages.problem.clear();
  } else {
    const RecordedProblem& settled = record.problem;
    assemble_again(model, contact_input(record, work.stages), record.options.constraints, record.options.lcp,
                   {settled.constraints, settled.target, settled.target_dropped}, work.stages.problem);
  }
  work.stages_of_step = record.step_number;
  work.has_problem = true;
  return work;
}

StepWorkspace& workspace_with_forces(const Model& model, const StepRecord& record) {
  StepWorkspace& work = workspace_with_stages(model, record);
  if (work.has_forces) return work;
  body_poses(model, work.stages.kin, work.stages.X_WB);
  find_smooth_forces(model, record, work.stages);
  work.has_forces = true;
  return work;
}

}  // namespace

StepWorkspace& step_workspace(const DofTree& tree) { return workspaces.of(tree.structure); }

IslandWorkspace& island_workspace() { return workspaces.islands; }

std::uint64_t StepWorkspace::next_step_number() {
  // Numbers come in blocks, so that threads do not meet at each step. They start at 1.
  constexpr std::uint64_t kBlock = 1U << 16U;
  static std::atomic<std::uint64_t> taken = 1;
  if (next_number_ == numbers_end_) {
    next_number_ = taken.fetch_add(kBlock, std::memory_order_relaxed);
    numbers_end_ = next_number_ + kBlock;
  }
  return next_number_++;
}

void find_smooth_forces(const Model& model, const StepRecord& record, StepStages& stages) {
  const DofTree& tree = model.tree();
  const double h = record.options.time_step();
  const State& state = record.state;
  bias_forces(model, stages.kin, stages.bias, record.control.wrenches);

  stages.added_diagonal.resize(tree.nv);
  stages.smooth_impulse.resize(tree.nv);
  for (int i = 0; i < tree.nv; ++i) {
    const DofTree::Resistance& r = tree.resistance[i];
    stages.added_diagonal[i] = h * (r.damping + h * r.stiffness);
    stages.smooth_impulse[i] = h * (record.control.tau[i] - stages.bias.tau[i] - r.damping * state.v[i]);
  }
  stages.spring_stretch.setZero(tree.nv);
  for (const int j : tree.sprung_joints) {
    const DofTree::TreeJoint& joint = tree.joints[j];
    const double stiffness = tree.resistance[joint.dof].stiffness;
    if (joint.type == JointType::ball) {
      const Vec4 ahead = quaternion_product(state.q.segment<4>(joint.q_index).normalized(),
                                            quaternion_exp(h * state.v.segment<3>(joint.dof)));
      const Vec4 rest = model.joints()[j].rest_orientation;
      stages.spring_stretch.segment<3>(joint.dof) =
          quaternion_log(quaternion_product(quaternion_conjugate(rest), ahead));
      stages.smooth_impulse.segment<3>(joint.dof) -= h * stiffness * stages.spring_stretch.segment<3>(joint.dof);
    } else {
      const double stretch = state.q[joint.q_index] + h * state.v[joint.dof] - tree.resistance[joint.dof].rest;
      stages.spring_stretch[joint.dof] = stretch;
      stages.smooth_impulse[joint.dof] -= h * stiffness * stretch;
    }
  }
}

void find_mass(const Model& model, StepStages& stages) {
  mass_matrix(model, stages.kin, stages.M);
  factorize(model, stages.M, stages.factor, stages.added_diagonal);
}

void find_free_motion(const Model& model, const StepRecord& record, Lanes<1>& z, StepStages& stages) {
  const DofTree& tree = model.tree();
  multiply_transposed(model, record.inverse, stages.smooth_impulse, z);
  stages.v_free.resize(tree.nv);
  multiply(model, record.inverse, z, stages.v_free);
  stages.v_free += record.state.v;
  stages.v_free_slots.resize(tree.slot_count);
  dofs_to_slots(tree, stages.v_free.data(), stages.v_free_slots);
}

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
  LITHE_ASSERT(workspaces.last().stages_of_step == record.step_number);
  return workspaces.last().stages;
}

ContactInput contact_input(const StepRecord& record, const StepStages& stages) {
  return contact_input(record, stages, record.inverse, stages.v_free_slots);
}

ContactInput contact_input(const StepRecord& record, const StepStages& stages, const InverseFactor& inverse,
                           const Lanes<1>& v_free_slots) {
  const auto motors = static_cast<std::size_t>(record.control.motor_targets.size());
  return {.kin = stages.kin,
          .inverse = inverse,
          .X_WB = stages.X_WB,
          .colliders = *record.colliders,
          .contacts = record.contacts,
          .q = record.state.q,
          .v = record.state.v,
          .v_free_slots = v_free_slots,
          .motor_targets = {record.control.motor_targets.data(), motors}};
}

void keep_problem(const ContactProblem& problem, RecordedProblem& out) {
  const std::size_t rows = problem.rows.size();
  const std::vector<Island>& islands = problem.islands.islands();
  // Copies take no more room than they need.
  out.constraints = problem.constraints;
  out.constraint_of_contact = problem.constraint_of_contact;
  out.islands = islands;
  out.target.assign(problem.target.begin(), problem.target.begin() + static_cast<std::ptrdiff_t>(rows));
  out.diagonal.resize(rows);
  for (std::size_t i = 0; i < islands.size(); ++i) {
    const Island& island = islands[i];
    const LcpDiagonal diagonal = problem.diagonal(static_cast<int>(i));
    for (int k = 0; k < island.row_count; ++k) out.diagonal[island.first_row + k] = diagonal[k];
  }
  const auto dropped = std::span(problem.target_dropped).first(rows);
  const bool none = std::ranges::find(dropped, 1) == dropped.end();
  out.target_dropped.assign(dropped.begin(), none ? dropped.begin() : dropped.end());
}

}  // namespace lithe

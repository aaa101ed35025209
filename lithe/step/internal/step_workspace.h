#pragma once

#include <cstdint>
#include <memory>

#include "lithe/collision/detect_contacts.h"
#include "lithe/contact/touch_sweeps.h"
#include "lithe/contact/tree_forms.h"
#include "lithe/core/thread_pool.h"
#include "lithe/lcp/solve_lcp.h"
#include "lithe/step/internal/folded_motors.h"
#include "lithe/step/internal/row_memory.h"
#include "lithe/step/internal/step_stages.h"

namespace lithe::internal {

// The memory that all steps of one thread share, for models of one structure. It saves time and allocations and changes no
// result.
struct StepWorkspace {
  StepStages stages;
  std::uint64_t stages_of_step = 0;  // StepRecord::step_number of the step that the stages are of
  bool has_problem = false;          // and whether their problem has all rows of the step,
  bool has_forces = false;           // and those of force_stages_of() are there,
  bool has_mass = false;             // and of mass_stages_of()

  FoldedMotors folded;
  std::shared_ptr<const ColliderSet> colliders;  // of the last step
  std::uint64_t collider_revision = 0;
  DetectionWorkspace detection;
  ContactSet contacts;  // as they are found; the record gets a copy of the right size
  RowGuess guess;
  std::vector<std::uint8_t> steady;  // by island: the answer was what had been guessed
  // By island: errors were corrected by less than they should have been, which would have added energy.
  std::vector<std::uint8_t> corrected_less;
  std::unique_ptr<ThreadPool> pool;  // where threads share the islands,
  int pool_threads = 0;              // as StepOptions::threads asked for it
  std::vector<int> first_island;     // of each thread, and one past the last
  VecX delta;                        // nv: a change of v, then of q
  Lanes<1> z;                        // by slot: Xᵀ of an impulse

  std::uint64_t next_step_number();

 private:
  std::uint64_t next_number_ = 0, numbers_end_ = 0;
};

// This thread's. A thread that steps models of several structures in turn has a workspace for each of the last four.
StepWorkspace& step_workspace(const DofTree& tree);
// The one that this thread asked for last.
StepWorkspace& last_step_workspace();

// What one thread needs to solve an island, of models of all kinds.
struct IslandWorkspace {
  LcpWorkspace lcp;
  TreeForms forms;  // of islands without A
  SweepWorkspace sweeps;
};
IslandWorkspace& island_workspace();

}  // namespace lithe::internal

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lithe/collision/detect_contacts.h"
#include "lithe/contact/contact_problem.h"
#include "lithe/contact/warm_start.h"
#include "lithe/dynamics/external_wrenches.h"
#include "lithe/dynamics/inverse_factor.h"
#include "lithe/lcp/solve_lcp.h"
#include "lithe/step/step_options.h"

namespace lithe {

struct State {
  VecX q, v;  // nq, nv
};

// What acts on the model during a step.
struct Control {
  VecX tau = {};            // nv generalised forces; empty: none
  VecX motor_targets = {};  // one per motor; empty: motors are off
  ExternalWrenches wrenches = {};
};

// How a step went.
struct StepStatus {
  int contacts = 0;  // touching or about to
  int rows = 0;      // of all LCPs together
  int islands = 0;   // LCPs
  // Islands by the stage that answered (LcpStage); the others had nothing to solve.
  int guessed = 0, followed = 0, active_set = 0, path = 0, other = 0, unsolved = 0;
  int factorizations = 0, events = 0;  // of all islands together (LcpReport)
  LcpFlag flags = LcpFlag::none;       // of all islands together
  double residual = 0;                 // the worst
  int singular_dof = -1;               // the first DoF that nothing resists, held still; −1: none
  bool diverged = false;               // numbers overflowed: record.next is the state before the step

  bool solved() const { return unsolved == 0 && !diverged; }
};

// The constraints of a step and what is asked of them: of its ContactProblem, what is not quickly put together again.
struct RecordedProblem {
  std::vector<Constraint> constraints;     // by island; each knows its first row
  std::vector<int> constraint_of_contact;  // its place in `constraints`, by number in the ContactSet
  std::vector<Island> islands;
  std::vector<double> target;                // d, by row
  std::vector<std::uint8_t> target_dropped;  // by row: it contradicted others (LcpFlag::targets_dropped); empty: none
  std::vector<double> diagonal;  // of A, by row; of contacts and loops as folded motors leave it (FoldedMotors)

  int island_count() const { return static_cast<int>(islands.size()); }
  int row_count() const { return static_cast<int>(target.size()); }
  bool is_dropped(int row) const { return !target_dropped.empty() && target_dropped[row] != 0; }
};

// What one step leaves to look at, and the tape that its derivatives are taken from: what they need and what would take long to
// compute again. The rest (step_stages.h) and the solvers' memory belong to the thread that steps. Buffers are reused by the
// next step; memory_of() says how large they are.
struct StepRecord {
  // In.
  State state;
  Control control;  // with tau and the motor targets as used
  StepOptions options;

  // 2 dynamics: the smooth motion
  InverseFactor inverse;  // of M̂
  // 3 collision
  std::shared_ptr<const ColliderSet> colliders;  // of the model's shapes; others when they change
  std::uint64_t collider_revision = 0;
  ContactSet contacts;
  // 4 contact
  RecordedProblem problem;  // step_stages.h has all of it
  // 5 lcp, by row and by island
  std::vector<double> island_masses;
  std::vector<RowClass> classes;
  std::vector<double> f, w;  // impulses and velocities relative to their targets
  std::vector<LcpReport> reports;
  // 6 out
  State next;
  WarmStart warm_start;
  StepStatus status;

  std::uint64_t step_number = 0;  // names the step among all that this process takes; copies of a record share it
};

// Bytes of memory that the record takes, itself and on the heap. Its colliders, which it shares, are not counted.
std::size_t memory_of(const StepRecord& record);

// The LCPs that the step has solved, A and b included, put together once more: for tests and rare questions. Allocates.
ContactProblem lcps_of(const Model& model, const StepRecord& record);

// The impulse on body a of contact k (on body b: its negative), world axes, in N·s; divided by Δt it is the mean force.
Vec3 contact_impulse(const StepRecord& record, int contact);

// The sum of all constraint forces on the DoFs, Jᵀf/Δt (nv): contacts, limits, motors, friction and loops.
VecX constraint_forces(const Model& model, const StepRecord& record);

// The mean torque or force of a motor during the step.
double motor_effort(const StepRecord& record, MotorIndex motor);

}  // namespace lithe

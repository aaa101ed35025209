#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lithe/collision/detect_contacts.h"
#include "lithe/dynamics/external_wrenches.h"
#include "lithe/lcp/solve_lcp.h"
#include "lithe/model/model.h"
#include "lithe/step/step_options.h"
#include "lithe/step/warm_start.h"

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

namespace internal {
struct StepTape;
}  // namespace internal

// What one step leaves to look at, and the tape that its derivatives are taken from: what they need and what would take long to
// compute again. Solvers' memory belongs to the thread that steps. Buffers are reused by the next step; memory_of() says how large
// they are.
class StepRecord {
 public:
  // In.
  State state;
  Control control;  // with tau and the motor targets as used
  StepOptions options;

  // In the order of shapes.
  ContactSet contacts;
  // By row of the LCPs and, reports, by island.
  std::vector<RowMode> modes;
  std::vector<double> f, w;  // impulses and velocities relative to their targets
  std::vector<LcpReport> reports;

  // Out.
  State next;
  WarmStart warm_start;
  StepStatus status;

  StepRecord();
  ~StepRecord();
  StepRecord(const StepRecord&);
  StepRecord& operator=(const StepRecord&);
  StepRecord(StepRecord&&) noexcept;
  StepRecord& operator=(StepRecord&&) noexcept;

  // For the library's derivatives. What was moved from holds no step.
  const internal::StepTape& tape() const {
    if (tape_) return *tape_;
    return empty_tape();
  }
  internal::StepTape& tape() {
    if (!tape_) renew_tape();
    return *tape_;
  }

 private:
  static const internal::StepTape& empty_tape();
  void renew_tape();

  std::unique_ptr<internal::StepTape> tape_;
};

// Bytes of memory that the record takes, itself and on the heap. Its colliders, which it shares, are not counted.
std::size_t memory_of(const StepRecord& record);

// The row of contact k's normal in modes, f and w. Its rows of friction, if it has any, follow.
int contact_row(const StepRecord& record, int contact);

// The impulse on body a of contact k (on body b: its negative), world axes, in N·s; divided by Δt it is the mean force.
Vec3 contact_impulse(const StepRecord& record, int contact);

// The sum of all constraint forces on the DoFs, Jᵀf/Δt (nv): contacts, limits, motors, friction and loops.
VecX constraint_forces(const Model& model, const StepRecord& record);

// The mean torque or force of a motor during the step.
double motor_effort(const StepRecord& record, MotorIndex motor);

}  // namespace lithe

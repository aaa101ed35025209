#pragma once

#include <memory>
#include <vector>

#include "lithe/contact/contact_problem.h"
#include "lithe/contact/warm_start.h"
#include "lithe/dynamics/inverse_dynamics.h"
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

// The products of one step, stage by stage: what the step leaves to look at, and the tape that its derivatives are taken
// from. Buffers are reused by the next step.
struct StepRecord {
  // In.
  State state;
  Control control;  // with tau and the motor targets as used
  StepOptions options;

  // 1 dynamics: kinematics()
  Kinematics kin;
  std::vector<Pose> X_WB;
  // 2 dynamics: the smooth motion
  InverseDynamics bias;  // h
  MassMatrix M;
  MassFactor factor;  // of M̂
  InverseFactor inverse;
  VecX spring_stretch;  // ξ, zero where there is no spring
  VecX added_diagonal;  // M̂ − M
  VecX smooth_impulse;  // Δt·(τ_total − h)
  VecX v_free;          // v + M̂⁻¹·smooth_impulse
  Lanes<1> v_free_slots;
  // 3 collision
  std::shared_ptr<const ColliderSet> colliders;  // of the model's shapes; rebuilt when they change
  ContactSet contacts;
  // 4 contact
  ContactProblem problem;
  // 5 lcp, by row and by island
  std::vector<double> island_masses;
  WarmStart::Guess guess;
  std::vector<std::uint8_t> steady;  // by island: the answer was what had been guessed
  std::vector<RowClass> classes;
  std::vector<double> f, w;  // impulses and velocities relative to their targets
  std::vector<LcpReport> reports;
  // 6 out
  State next;
  WarmStart warm_start;
  StepStatus status;

  // Workspaces that carry nothing over.
  DetectionWorkspace detection;
  LcpWorkspace lcp;
  VecX delta;
  Lanes<1> z;
  std::uint64_t collider_revision = 0;
};

// The record's stages as the contact room takes them.
ContactInput contact_input(const StepRecord& record);

// The impulse on body a of contact k (on body b: its negative), world axes, in N·s; divided by Δt it is the mean force.
Vec3 contact_impulse(const StepRecord& record, int contact);

// The sum of all constraint forces on the DoFs, Jᵀf/Δt (nv): contacts, limits, motors, friction and loops.
VecX constraint_forces(const Model& model, const StepRecord& record);

// The mean torque or force of a motor during the step.
double motor_effort(const StepRecord& record, MotorIndex motor);

}  // namespace lithe

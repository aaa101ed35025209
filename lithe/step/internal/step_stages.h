#pragma once

#include <vector>

#include "lithe/contact/contact_problem.h"
#include "lithe/dynamics/internal/mass_factor.h"
#include "lithe/dynamics/inverse_dynamics.h"
#include "lithe/step/internal/constraint_options_of.h"
#include "lithe/step/internal/step_tape.h"
#include "lithe/step/step_record.h"

namespace lithe::internal {

// What a step computes on its way and its record does not keep: large, and sooner computed again than read from memory that
// has left the cache meanwhile. A function of the record's state and control.
struct StepStages {
  Kinematics kin;
  ContactProblem problem;  // where it was put together again, without b and A
  // Of force_stages_of():
  std::vector<Pose> X_WB;
  InverseDynamics bias;  // h
  VecX spring_stretch;   // ξ, zero where there is no spring
  VecX added_diagonal;   // M̂ − M
  VecX smooth_impulse;   // Δt·(τ_total − h)
  // Of mass_stages_of():
  MassMatrix M;
  MassFactor factor;  // of M̂
  VecX v_free;        // v + M̂⁻¹·smooth_impulse
  Lanes<1> v_free_slots;
};

// Record and stages as the contact room takes them.
ContactInput contact_input(const StepRecord& record, const StepStages& stages);
// The same with another smooth motion (FoldedMotors).
ContactInput contact_input(const StepRecord& record, const StepStages& stages, const InverseFactor& inverse,
                           const Lanes<1>& v_free_slots);

// 2: the smooth motion, stage by stage. What acts, and M̂ with its factor; needs stages.kin.
void find_smooth_forces(const Model& model, const StepRecord& record, StepStages& stages);
void find_mass(const Model& model, StepStages& stages);
// v_free; needs record.tape().inverse.
void find_free_motion(const Model& model, const StepRecord& record, Lanes<1>& z, StepStages& stages);

}  // namespace lithe::internal

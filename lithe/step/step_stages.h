#pragma once

#include <vector>

#include "lithe/dynamics/inverse_dynamics.h"
#include "lithe/dynamics/mass_factor.h"
#include "lithe/step/step_record.h"

namespace lithe {

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

// The stages of the record's step. Each thread has those of the step that it took or asked about last at hand; others are
// computed anew, with the same bits. They stay until this thread takes or asks about another step of such a model.
const StepStages& stages_of(const Model& model, const StepRecord& record);
const StepStages& force_stages_of(const Model& model, const StepRecord& record);
const StepStages& mass_stages_of(const Model& model, const StepRecord& record);

// The same, for those who know that this thread asked about this record last.
const StepStages& stages_of(const StepRecord& record);
inline const ContactProblem& problem_of(const StepRecord& record) { return stages_of(record).problem; }

// Record and stages as the contact room takes them.
ContactInput contact_input(const StepRecord& record, const StepStages& stages);
// The same with another smooth motion (FoldedMotors).
ContactInput contact_input(const StepRecord& record, const StepStages& stages, const InverseFactor& inverse,
                           const Lanes<1>& v_free_slots);

}  // namespace lithe

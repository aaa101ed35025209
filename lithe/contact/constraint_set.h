#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/collision/detect_contacts.h"
#include "lithe/contact/constraint_options.h"
#include "lithe/model/model.h"

namespace lithe::internal {

enum class ConstraintKind : std::uint8_t {
  contact,
  lower_limit,
  upper_limit,
  motor,
  dry_friction,
  mimic,
  ball_loop,
  weld_loop,
};
const char* to_string(ConstraintKind kind);

// Between bodies, by their twists; the others act inside joints, on DoFs.
constexpr bool acts_on_bodies(ConstraintKind kind) {
  return kind == ConstraintKind::contact || kind == ConstraintKind::ball_loop || kind == ConstraintKind::weld_loop;
}

// Which rule gave the target velocity d (ConstraintOptions); its derivative depends on it.
enum class TargetRule : std::uint8_t {
  none,         // d = 0
  correction,   // −correction·g/Δt
  capped,       // max_correction_speed
  approach,     // −(g − (1 − correction)·k)/Δt
  restitution,  // −e·J v
  reduced,      // what correction_energy.h has left of a correction
  motor,        // the motor's law
};

// What names a constraint from step to step.
struct ConstraintKey {
  std::uint64_t pair = 0;     // kind and what it is about, ascending within a kind: the shapes of a contact, the DoF…
  std::uint64_t feature = 0;  // of a contact: its FeatureId
  std::uint8_t feature_kind = 0;

  friend constexpr bool operator==(const ConstraintKey&, const ConstraintKey&) = default;
  // Of one of the constraint's rows.
  std::uint64_t row(int k) const {
    return pair * 0x9e3779b97f4a7c15 + feature * 0xff51afd7ed558ccd + 8 * feature_kind + static_cast<std::uint64_t>(k);
  }
};

// One constraint of a step: one to six rows of the LCP.
struct Constraint {
  ConstraintKind kind = ConstraintKind::contact;
  TargetRule rule = TargetRule::none;  // of the first row; a loop's rows are `correction` or `capped`
  int rows = 0;
  int index = -1;              // of the contact, DoF (limits, dry friction), motor, mimic or loop
  int dof_a = -1, dof_b = -1;  // the last DoF that moves either side, −1: none does
  int first_row = -1;          // in the problem; filled in by find_islands()
  Material material = {};      // of a contact: combined
  ConstraintKey key = {};
};

// All constraints that may push in this step: contacts in the order of the ContactSet, then limits within reach, motors,
// dry friction, mimic joints, loop closures.
//
// `q`, `v`: at the step's start; `v_free`: the velocities at its end if nothing were constrained. With `motors` false the
// motors are off.
void gather_constraints(const Model& model, const ContactSet& contacts, const ConstVecRef& q, const ConstVecRef& v,
                        const ConstVecRef& v_free, bool motors, const ConstraintOptions& options,
                        std::vector<Constraint>& out);

// The place of each contact's constraint, by number in the ContactSet.
void index_contacts(std::span<const Constraint> constraints, std::size_t contact_count, std::vector<int>& out);

}  // namespace lithe::internal

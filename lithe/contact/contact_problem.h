#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/collision/collider_set.h"
#include "lithe/contact/dof_forms.h"
#include "lithe/contact/islands.h"
#include "lithe/contact/touch_space.h"
#include "lithe/lcp/boxed_lcp.h"
#include "lithe/lcp/solve_lcp.h"

namespace lithe::internal {

// The rows of a step as boxed LCPs, one per island: w = A f + b with
//
//   A = J M̂⁻¹ Jᵀ + compliance = T Λ Tᵀ + compliance,   b = J v_free − d,   J = T J_F
//
// where T takes touches to rows (TouchSpace). Neighbouring rows that act on the same touches form a patch: its part of T is
// stored column by column, padded, so that four rows are worked on at once.
struct Patch {
  int touch_a = -1, touch_b = -1;  // −1: a side that nothing moves
  int first_row = 0, row_count = 0;
  int start = 0;   // of its coefficients: those of touch a, then of touch b
  int stride = 0;  // row_count padded
};

// What products through touches work with (delassus.h).
struct TouchProductWorkspace {
  // A row that acts on one DoF: a motor, dry friction, a limit.
  struct DofRow {
    double coefficient;
    int coordinate;  // of its touch in its block
  };
  // Neighbouring ones of one block.
  struct DofRun {
    int block, first_row;
    int first, count;  // in dof_rows
  };
  AlignedBuffer responses;
  std::vector<DofRow> dof_rows;
  std::vector<DofRun> dof_runs;
  std::vector<int> others;  // patches that are not of this kind
};

struct ContactProblem {
  std::vector<Constraint> constraints;     // by island; each knows its first row
  std::vector<int> constraint_of_contact;  // its place in `constraints`, by number in the ContactSet
  Islands islands;
  TouchSpace touches;

  std::vector<Patch> patches;    // in the order of their rows
  std::vector<int> first_patch;  // of each island, and one past the last
  AlignedBuffer coefficients;
  std::vector<LcpRow> rows;                  // `normal` counts within the island
  std::vector<double> target;                // d
  std::vector<std::uint8_t> target_dropped;  // by row: it contradicted others (LcpFlag::targets_dropped)
  std::vector<double> b;
  std::vector<double> compliance;  // added to A's diagonal: of motors with finite gains
  bool has_matrices = false;       // A, its diagonals and b are those of the rows
  AlignedBuffer A;
  std::vector<std::ptrdiff_t> A_start;  // per island; −1: too large, A is not formed
  std::vector<double> diagonals;        // A_ii of the rows of islands without A
  std::vector<LcpScales> scales;        // by island, where these are parts of larger ones; else empty

  std::vector<double> velocity;    // J v at the step's start, per row; empty where nothing can bounce
  AlignedBuffer touch_vector;      // workspace: a vector over all touches
  DofForms forms;                  // workspace of fill_delassus()
  TouchProductWorkspace products;  // and of that, where paths are long

  int island_count() const { return static_cast<int>(islands.islands().size()); }
  // The coefficients of one side of a patch.
  const double* side(const Patch& patch, bool second) const { return side(coefficients.data(), patch, second); }
  const double* side(const double* all, const Patch& patch, bool second) const {
    return all + patch.start + (second ? touches.size_of(patch.touch_a) * patch.stride : 0);
  }
  std::span<const Patch> patches_of(int island) const {
    return std::span(patches).subspan(first_patch[island], first_patch[island + 1] - first_patch[island]);
  }
  BoxedLcp lcp(int island) const;
  LcpScales scales_of(int island) const { return scales.empty() ? LcpScales{} : scales[island]; }
  // A_ii of the island's rows, whether A is formed or not.
  LcpDiagonal diagonal(int island) const;
  void clear();  // no constraints
};

// What assembly reads besides the model.
struct ContactInput {
  const Kinematics& kin;
  const InverseFactor& inverse;  // of M̂
  const std::vector<Pose>& X_WB;
  const ColliderSet& colliders;
  const ContactSet& contacts;
  ConstVecRef q, v;
  const Lanes<1>& v_free_slots;
  std::span<const double> motor_targets;  // empty: motors are off
};

// Rows, targets, A and b of out.constraints, which gather_constraints() has filled in. Islands that are better solved without A
// (prefers_trees(), touch_sweeps.h) get none.
void assemble(const Model& model, const ContactInput& in, const ConstraintOptions& options, const LcpOptions& lcp,
              ContactProblem& out);

// What a step has settled: constraints as assemble() has sorted them, their targets as it or the solver has left them, by row,
// and which of these were dropped (empty: none).
struct SettledConstraints {
  std::span<const Constraint> constraints;
  std::span<const double> target;
  std::span<const std::uint8_t> target_dropped;
};

// The same once more for constraints that are settled: all but b and A, which derivatives do not read.
void assemble_again(const Model& model, const ContactInput& in, const ConstraintOptions& options, const LcpOptions& lcp,
                    const SettledConstraints& settled, ContactProblem& out);

// J u for every row, where u is given as touch velocities (TouchSpace::velocities). Whole packs are written: `out` has room for
// kLanes − 1 numbers more.
void row_velocities(const ContactProblem& problem, const double* touch_velocities, double* out);
void row_velocities(const ContactProblem& problem, const double* coefficients, const double* touch_velocities,
                    double* out);

// φ = Tᵀ f: impulses on the touches. And the same for other coefficients, laid out like T's.
void touch_impulses(const ContactProblem& problem, const double* f, double* phi);
void touch_impulses(const ContactProblem& problem, const double* coefficients, const double* f, double* phi);

}  // namespace lithe::internal

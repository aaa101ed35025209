#pragma once

#include <vector>

#include "lithe/contact/mode_response.h"
#include "lithe/dynamics/inverse_dynamics.h"
#include "lithe/linalg/dense_lu.h"
#include "lithe/linalg/rank_factor.h"
#include "lithe/step/gradient_options.h"
#include "lithe/step/gradients/parameter_columns.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_jvp.h"
#include "lithe/step/step_vjp.h"

namespace lithe::internal {

// Derivatives through elastic impacts (docs/gradients.md, "Bounces").
//
// A step notices an impact at its end only. In continuous time contact k, with the gap g, the normal row n̂ and the approach
// n̂ᵀv < 0, is hit after c = −g/(n̂ᵀv). A displacement δq brings that forward by n̂ᵀδq/(n̂ᵀv), and for so much longer the bodies move
// with v⁺ and its accelerations instead of v and its own. On top of the derivative of the step as computed that gives
//
//   ∂q⁺/∂q += Σ_k (κ_k + (Δt − c_k) u_k) n̂_kᵀ/(n̂_kᵀv)            κ_k: the jump of the velocity by contact k's impulses
//   ∂v⁺/∂q += Σ_k u_k n̂_kᵀ/(n̂_kᵀv)                               u = a⁺ − (∂v⁺/∂q) v − (∂v⁺/∂v) a⁻, contact k's share
//   ∂q⁺/∂v += Σ_k c_k Σ_t K_t (t − (tᵀv) n̂_k/(n̂_kᵀv))ᵀ            over its tangent rows t that stick
//
// with K = M̂⁻¹P A_C# of the step's modes and a⁻, a⁺ the accelerations before and after the impact. For one contact these are
// the saltation matrix and its velocity block (Kong et al. 2024), for several without friction I − M̂⁻¹NᵀA⁺(1 + e)N. Exact for
// constant M, n̂ and velocities, otherwise up to O(Δt) beside the O(1) that the step as computed is wrong by. All corrections
// are of low rank; ∂v⁺/∂v, derivatives by τ and those of the impulses stay the step's.
//
// A parameter θ that moves surfaces (moves_surfaces()) brings the impact forward by (∂g_k/∂θ)/(n̂_kᵀv), at fixed q. So ∂q⁺/∂θ and
// ∂v⁺/∂θ have the terms of ∂q⁺/∂q and ∂v⁺/∂q with ∂g_k/∂θ for n̂_kᵀ. Other parameters do not move the impact within its step: those
// of forces and inertias do by O(Δt²), and count as τ does; restitution and friction act after it; Δt is not part of c.
//
// The paper's rule (its appendix on bounces) keeps ∂v⁺ and replaces ∂q⁺/∂q by the matrix X next to the identity in the sum of
// squares that has n̂_kᵀ X n̂_k/|n̂_k|² = −e_k for every bouncing contact (where they contradict one another, as nearly as
// possible), and ∂q⁺/∂v by Δt X:
//
//   X = I − Σ_k α_k n̂_k n̂_kᵀ/|n̂_k|²,   G α = 1 + e,   G_ij = (n̂_iᵀn̂_j)²/(|n̂_i|²|n̂_j|²)
struct BounceTerms {
  // Contacts that bounce, in the order of their constraints.
  struct Impact {
    int constraint = -1;
    int island = -1;
    int row = -1;         // of its normal
    int first = 0;        // of its columns in J and K
    int clamping = 0;     // their number: the normal and the tangents that stick
    double approach = 0;  // n̂ᵀv < 0
    double time = 0;      // c
  };
  std::vector<Impact> impacts;
  // One column of nv per impact: n̂/(n̂ᵀv), by how much a displacement brings it forward, and what that does to q⁺ and v⁺.
  PaddedMatrix sooner, position, velocity;
  // ∂q⁺/∂v += left rightᵀ.
  PaddedMatrix left, right;

  // The part of `sooner` that belongs to a parameter.
  static double sooner_by(const ParameterColumn& x, const Impact& impact) {
    return x.gap[impact.row] / impact.approach;
  }

  // Workspace: the impacts' clamping rows of J, and K's columns.
  PaddedMatrix J, K;
  ModeResponse rest;  // of the other constraints
  std::vector<RowMode> rest_modes;
  Kinematics kin_after;                    // at q and v⁺
  InverseDynamics bias_after;              // h(q, v⁺)
  VecX a_before, a_after, change, vector;  // nv
  VecX by_impact;                          // one per impact
  Lanes<1> slots;
  AlignedBuffer rows, df, touches;
  PaddedMatrix gram;  // G of the paper's rule
  RankFactor factor;
  DenseLu core;
  std::vector<int> all;
};

// For those that are not StepJvps themselves: the terms need one product along the motion.
struct BounceWorkspace {
  BounceTerms terms;
  StepJvp probe;
};

// Whether a contact of this step bounced: its normal row clamps at the target −e·J v.
bool bounces(const StepRecord& record);

// As step_vjp() and step_jvp(), for a record that bounces(); the mode is not Bounce::off.
void bounce_vjp(const Model& model, const StepRecord& record, const StepCotangent& by_next, Bounce mode,
                const StepParameters* parameters, StepVjp& out);
void bounce_jvp(const Model& model, const StepRecord& record, const StepTangent& direction,
                const GradientOptions& options, const StepParameters* parameters, StepJvp& out);

// Adds the corrections to a VJP (`parameters`: those it was taken by), or to those blocks of Jacobians, of the step as computed.
void add_bounce(const Model& model, const StepRecord& record, const StepCotangent& by_next, Bounce mode, StepVjp& out,
                const StepParameters* parameters);
void add_bounce(const Model& model, const StepRecord& record, Bounce mode, StepBlocks blocks, BounceWorkspace& work,
                StepJacobians& out);

// The same for the column of one parameter, [dq; dv], in two parts, for those who have many. `work.probe` holds the linearization
// at the step's own modes, impulses included. False where numbers are too large: then nothing is there to add.
bool find_bounce(const Model& model, const StepRecord& record, Bounce mode, BounceWorkspace& work);
void add_bounce(const BounceTerms& terms, const ParameterColumn& x, VecRef dq, VecRef dv);

GradientMode mode_of(Bounce mode);  // not of Bounce::off

}  // namespace lithe::internal

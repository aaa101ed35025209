#pragma once

#include <vector>

#include "lithe/optimize/problem.h"
#include "lithe/step/step_jacobians.h"

namespace lithe::internal {

// Constraints as costs, for solvers that know only costs: an augmented Lagrangian with the multipliers λ and the penalty ρ,
//
//   c = 0   λᵀc + ρ/2 |c|²          c ≤ 0   (|max(0, λ + ρ c)|² − |λ|²) / 2ρ
struct Multipliers {
  std::vector<MatX> lambda;  // per constraint: its size × (T + 1)
  double penalty = 1;
};
Multipliers initial_multipliers(const Problem& problem, double penalty);

enum class CostOrder : std::uint8_t { value, gradient, hessian };

// The costs at one time t, and their derivatives by z = (q, v, u, u_before), 2nv + 2m numbers.
struct CostExpansion {
  double cost = 0;       // the costs
  double value = 0;      // with the constraints' part, if there are multipliers
  double violation = 0;  // the largest of a constraint at this t
  VecX gradient;
  MatX hessian;                   // Gauss–Newton: positive semidefinite
  VecX f;                         // by the rows of record->f, if impulses were left to the caller; else empty
  VecX parameters;                // by the free numbers of the model, at a fixed state
  std::vector<VecX> constraints;  // the residual of each constraint that counts at t; the others are empty

  // Where the parts of z start.
  int q = 0, v = 0, u = 0, u_before = 0, size = 0;
};

// Evaluates the costs and constraints of a problem, one time after another. One per thread.
class CostEvaluator {
 public:
  explicit CostEvaluator(const Problem& problem);

  // `impulses`, if given, has ∂f/∂(q, v, τ) of the step, and what depends on f is taken back to z.
  void evaluate(const ResidualPoint& at, CostOrder order, const Multipliers* multipliers, const StepJacobians* impulses,
                CostExpansion& out);

  bool needs_impulses() const { return needs_impulses_; }
  bool needs_previous_controls() const { return needs_previous_controls_; }

 private:
  // A residual's numbers and derivatives, kept for their memory. Most residuals depend on a part of z only, so the derivatives are a list
  // of blocks: where in z each starts. Blocks of one part add up.
  struct Term {
    VecX value;
    ResidualJacobian jacobian;
    MatX through_q, through_v, through_u;  // by way of the impulses
    struct Block {
      int first;
      const MatX* derivative;
    };
    std::vector<Block> blocks;
  };
  void evaluate_term(const Residual& residual, const ResidualPoint& at, CostOrder order, const StepJacobians* impulses,
                     const CostExpansion& layout, Term& term);
  // Adds a term's share, given the derivatives of the cost by its numbers.
  void add(const Term& term, const VecX& slope, const VecX& curvature, CostOrder order, CostExpansion& out);

  const Problem& problem_;
  std::vector<Term> costs_, constraints_;
  VecX slope_, curvature_;
  MatX scaled_;
  bool needs_impulses_ = false, needs_previous_controls_ = false;
};

}  // namespace lithe::internal

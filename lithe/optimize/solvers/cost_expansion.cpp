#include "lithe/optimize/solvers/cost_expansion.h"

#include <algorithm>
#include <cmath>

namespace lithe::internal {

namespace {

// What one number r of a residual costs, φ(r), with φ′ and φ″. CostEvaluator::add() takes negative curvature for zero,
// so that Hessians stay positive semidefinite.
struct Penalty {
  double value, slope, curvature;
};

// The norms of problem.h, without their weights.
Penalty shape_of(const Cost& cost, double r) {
  switch (cost.norm) {
    case Norm::square: return {r * r, 2 * r, 2};
    case Norm::smooth_size: {
      const double size = std::sqrt(r * r + cost.width * cost.width);
      return {size - cost.width, r / size, cost.width * cost.width / (size * size * size)};
    }
    case Norm::signed_square: return {r * std::abs(r), 2 * std::abs(r), r < 0 ? -2.0 : 2.0};
    case Norm::linear: return {r, 1, 0};
  }
  return {};
}

// The augmented Lagrangian of one number c of a constraint (cost_expansion.h). An inequality whose λ + ρ c is not above
// zero does not bind: it pulls at nothing.
Penalty penalty_of(PathConstraint::Kind kind, double c, double lambda, double penalty) {
  if (kind == PathConstraint::Kind::zero) return {lambda * c + penalty / 2 * c * c, lambda + penalty * c, penalty};
  const double pushed = lambda + penalty * c;
  if (pushed <= 0) return {-lambda * lambda / (2 * penalty), 0, 0};
  return {(pushed * pushed - lambda * lambda) / (2 * penalty), pushed, penalty};
}

double violation_of(PathConstraint::Kind kind, double c) {
  return kind == PathConstraint::Kind::zero ? std::abs(c) : std::max(0.0, c);
}

}  // namespace

Multipliers initial_multipliers(const Problem& problem, double penalty) {
  Multipliers multipliers = {.lambda = {}, .penalty = penalty};
  for (const PathConstraint& constraint : problem.constraints) {
    multipliers.lambda.push_back(MatX::Zero(constraint.residual->size(problem.model), problem.steps + 1));
  }
  return multipliers;
}

CostEvaluator::CostEvaluator(const Problem& problem)
    : problem_(problem), costs_(problem.costs.size()), constraints_(problem.constraints.size()) {
  const auto note = [&](const Residual& residual) {
    needs_impulses_ = needs_impulses_ || residual.needs_impulses();
    needs_previous_controls_ = needs_previous_controls_ || residual.needs_previous_controls();
  };
  for (const Cost& cost : problem.costs) note(*cost.residual);
  for (const PathConstraint& constraint : problem.constraints) note(*constraint.residual);
}

// Evaluates a residual and lists where in z its derivatives belong. Impulses are functions of the state and the forces,
// so where their derivatives are given, ∂r/∂f ∂f/∂(q, v, τ) belongs there as well.
void CostEvaluator::evaluate_term(const Residual& residual, const ResidualPoint& at, CostOrder order,
                                  const StepJacobians* impulses, const CostExpansion& layout, Term& term) {
  const int size = residual.size(at.model);
  term.value.resize(size);
  residual.evaluate(at, term.value, order == CostOrder::value ? nullptr : &term.jacobian);
  if (order == CostOrder::value) return;
  term.blocks.clear();
  const ResidualJacobian& J = term.jacobian;
  const auto place = [&](const MatX& part, int first) {
    if (part.size() > 0) term.blocks.push_back({first, &part});
  };
  place(J.by_q, layout.q);
  place(J.by_v, layout.v);
  if (at.u.size() > 0) place(J.by_u, layout.u);
  place(J.by_u_before, layout.u_before);
  if (J.by_f.size() > 0 && impulses) {
    term.through_q.noalias() = J.by_f * impulses->df_dq;
    term.through_v.noalias() = J.by_f * impulses->df_dv;
    term.through_u.resize(size, problem_.controls());
    for (int k = 0; k < problem_.controls(); ++k) {
      term.through_u.col(k).noalias() = J.by_f * impulses->df_dtau.col(problem_.actuated[k]);
    }
    place(term.through_q, layout.q);
    place(term.through_v, layout.v);
    place(term.through_u, layout.u);
  }
}

// gradient += Jᵀ φ′ and, by Gauss & Newton, Hessian += Jᵀ diag(φ″) J: the curvature of r itself is left out. Blocks by
// the same part of z add up.
void CostEvaluator::add(const Term& term, const VecX& slope, const VecX& curvature, CostOrder order,
                        CostExpansion& out) {
  if (order == CostOrder::value) return;
  for (const auto& [first, J] : term.blocks) {
    out.gradient.segment(first, J->cols()).noalias() += J->transpose() * slope;
  }
  if (term.jacobian.by_f.size() > 0 && out.f.size() > 0) out.f.noalias() += term.jacobian.by_f.transpose() * slope;
  if (term.jacobian.by_parameters.size() > 0) {
    out.parameters.noalias() += term.jacobian.by_parameters.transpose() * slope;
  }
  if (order != CostOrder::hessian) return;
  for (const auto& [column, right] : term.blocks) {
    scaled_ = curvature.cwiseMax(0.0).asDiagonal() * *right;
    for (const auto& [row, left] : term.blocks) {
      out.hessian.block(row, column, left->cols(), right->cols()).noalias() += left->transpose() * scaled_;
    }
  }
}

void CostEvaluator::evaluate(const ResidualPoint& at, CostOrder order, const Multipliers* multipliers,
                             const StepJacobians* impulses, CostExpansion& out) {
  const int nv = at.model.nv(), m = problem_.controls();
  out.q = 0;
  out.v = nv;
  out.u = 2 * nv;
  out.u_before = 2 * nv + m;
  out.size = 2 * nv + 2 * m;
  out.cost = out.value = out.violation = 0;
  if (order != CostOrder::value) {
    out.gradient.setZero(out.size);
    out.parameters.setZero(at.parameters.size());
    out.f.setZero(needs_impulses_ && !impulses && at.record ? static_cast<Eigen::Index>(at.record->f.size()) : 0);
  }
  if (order == CostOrder::hessian) out.hessian.setZero(out.size, out.size);
  out.constraints.resize(problem_.constraints.size());

  for (std::size_t k = 0; k < problem_.costs.size(); ++k) {
    const Cost& cost = problem_.costs[k];
    if (!cost.times.contains(at.t, problem_.steps)) continue;
    Term& term = costs_[k];
    evaluate_term(*cost.residual, at, order, impulses, out, term);
    slope_.resize(term.value.size());
    curvature_.resize(term.value.size());
    for (int i = 0; i < term.value.size(); ++i) {
      const double weight = cost.weight * (cost.scales.size() > 0 ? cost.scales[i] : 1);
      const Penalty shape = shape_of(cost, term.value[i]);
      out.cost += weight * shape.value;
      slope_[i] = weight * shape.slope;
      curvature_[i] = weight * shape.curvature;
    }
    add(term, slope_, curvature_, order, out);
  }
  out.value = out.cost;
  for (std::size_t k = 0; k < problem_.constraints.size(); ++k) {
    const PathConstraint& constraint = problem_.constraints[k];
    out.constraints[k].resize(0);
    if (!constraint.times.contains(at.t, problem_.steps)) continue;
    Term& term = constraints_[k];
    evaluate_term(*constraint.residual, at, multipliers ? order : CostOrder::value, impulses, out, term);
    out.constraints[k] = term.value;
    for (int i = 0; i < term.value.size(); ++i) {
      out.violation = std::max(out.violation, violation_of(constraint.kind, term.value[i]));
      if (std::isnan(term.value[i])) out.violation = term.value[i];
    }
    if (!multipliers) continue;
    slope_.resize(term.value.size());
    curvature_.resize(term.value.size());
    for (int i = 0; i < term.value.size(); ++i) {
      const Penalty shape =
          penalty_of(constraint.kind, term.value[i], multipliers->lambda[k](i, at.t), multipliers->penalty);
      out.value += shape.value;
      slope_[i] = shape.slope;
      curvature_[i] = shape.curvature;
    }
    add(term, slope_, curvature_, order, out);
  }
}

}  // namespace lithe::internal

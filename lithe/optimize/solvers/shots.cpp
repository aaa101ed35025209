#include "lithe/optimize/solvers/shots.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/step/step.h"

namespace lithe::internal {

std::vector<Shot> cut_into_shots(const Problem& problem, int length, bool u_before) {
  std::vector<Shot> shots;
  const int nv = problem.model.nv(), m = problem.controls();
  for (int first = 0; first < problem.steps; first += length) {
    Shot& shot = shots.emplace_back();
    shot.first = first;
    shot.steps = std::min(length, problem.steps - first);
    shot.last = first + shot.steps == problem.steps;
    const int knots = (shot.steps + problem.hold - 1) / problem.hold;
    shot.columns = {.u_before = u_before && first > 0 ? m : 0,
                    .start = first > 0 ? 2 * nv : static_cast<int>(problem.free_start.size()),
                    .controls = knots * m,
                    .parameters = static_cast<int>(problem.free_parameters.size())};
    int row = 0;
    for (int t = shot.last ? problem.steps : first + shot.steps - 1; t >= first; --t) {
      for (int k = 0; k < static_cast<int>(problem.constraints.size()); ++k) {
        const PathConstraint& constraint = problem.constraints[k];
        if (!constraint.times.contains(t, problem.steps)) continue;
        const int size = constraint.residual->size(problem.model);
        shot.places.push_back({t, k, row, size});
        row += size;
      }
    }
    shot.constraints.resize(row);
  }
  return shots;
}

int control_column(const Problem& problem, const Shot& shot, int t) {
  if (t < shot.first) return shot.columns.u_before > 0 ? 0 : -1;
  return shot.columns.first_control() + (t - shot.first) / problem.hold * problem.controls();
}

ShotWorker::ShotWorker(const Problem& problem) : problem_(problem), evaluator_(problem), costs_(problem) {}

ResidualPoint ShotWorker::point_of(const Plan& plan, const Shot& shot, int t, const StepRecord& record) {
  const int s = t - shot.first;
  return evaluator_.point(plan, t, shot.q.col(s), shot.v.col(s), t < problem_.steps ? &record : nullptr);
}

// Takes the steps of a shot and adds up costs and constraints on the way. Constraints' places are in the order of
// falling times, so they are filled from the back.
void ShotWorker::take_steps(const Plan& plan, bool keep_records, Shot& shot) {
  evaluator_.set_parameters(plan);
  const Model& model = evaluator_.model();
  shot.finite = false;
  shot.q.resize(model.nq(), shot.steps + 1);
  shot.v.resize(model.nv(), shot.steps + 1);
  if (records_.size() < static_cast<std::size_t>(shot.steps)) records_.resize(shot.steps);
  shot.cost = 0;
  auto place = shot.places.rbegin();
  const auto add = [&](int t, const StepRecord& record) {
    costs_.evaluate(point_of(plan, shot, t, record), CostOrder::value, nullptr, nullptr, expansion_);
    shot.cost += expansion_.cost;
    for (; place != shot.places.rend() && place->t == t; ++place) {
      shot.constraints.segment(place->row, place->size) = expansion_.constraints[place->constraint];
    }
  };
  state_ = shot.start;
  shot.q.col(0) = state_.q;
  shot.v.col(0) = state_.v;
  const WarmStart* guess = nullptr;
  for (int s = 0; s < shot.steps; ++s) {
    StepRecord& record = records_[keep_records ? s : 0];
    evaluator_.control_of(plan, shot.first + s, control_);
    step(model, state_, control_, problem_.step, record, guess);
    if (record.status.diverged) return;
    add(shot.first + s, record);
    state_ = record.next;
    shot.q.col(s + 1) = state_.q;
    shot.v.col(s + 1) = state_.v;
    guess = &record.warm_start;
  }
  if (shot.last) add(problem_.steps, records_[0]);
  shot.finite = std::isfinite(shot.cost) && shot.constraints.allFinite();
}

void ShotWorker::simulate(const Plan& plan, Shot& shot) { take_steps(plan, false, shot); }

ResidualPoint ShotWorker::visit(const Plan& plan, Shot& shot, int t) {
  take_steps(plan, true, shot);
  return point_of(plan, shot, t, records_[std::min(t - shot.first, shot.steps - 1)]);
}

void ShotWorker::linearize(const Plan& plan, const GradientOptions& options, bool hessian, Shot& shot) {
  take_steps(plan, true, shot);
  const Model& model = evaluator_.model();
  start_rows(shot, hessian);
  const auto add = [&](int t, const StepRecord& record) {
    const ResidualPoint at = point_of(plan, shot, t, record);
    add_costs(at, shot, hessian);
    add_constraints(at, shot);
  };
  if (shot.last) add(problem_.steps, records_[0]);
  const StepBlocks blocks = costs_.needs_impulses() ? StepBlocks::all : StepBlocks::state;
  for (int t = shot.first + shot.steps - 1; t >= shot.first; --t) {
    const StepRecord& record = records_[t - shot.first];
    step_jacobians(model, record, jacobians_, blocks, options);
    if (shot.columns.parameters > 0) {
      if (parameter_options_.parameters.names() != evaluator_.parameters().names()) {
        parameter_options_.parameters = evaluator_.parameters();
      }
      parameter_options_.bounce = options.bounce;
      step_parameter_jacobian(model, record, by_parameters_, parameter_options_);
    }
    pull_back_rows(shot, t);
    if (curved_) pull_back_curvature(shot, t);
    add(t, record);
  }
  finish(hessian, shot);
}

// At the end of the shot the rows that count are the cost, which has nothing yet, and the last state, whose derivative
// by itself is the identity.
void ShotWorker::start_rows(const Shot& shot, bool hessian) {
  const int states = 2 * problem_.model.nv(), columns = shot.columns.count();
  const Eigen::Index all = 1 + states + shot.constraints.size();
  rows_ = 1 + states;
  by_state_.setZero(all, states);
  by_state_before_.resize(all, states);
  by_state_.middleRows(1, states).setIdentity();
  by_columns_.setZero(all, columns);
  curved_ = false;
  first_curved_ = columns;
  if (!hessian) return;
  V_xx_.setZero(states, states);
  V_xc_.setZero(states, columns);
  V_cc_.setZero(columns, columns);
}

void ShotWorker::pull_back_rows(const Shot& shot, int t) {
  const int nv = problem_.model.nv(), m = problem_.controls(), parameters = shot.columns.parameters;
  A_.resize(2 * nv, 2 * nv);
  A_ << jacobians_.dqnext_dq, jacobians_.dqnext_dv, jacobians_.dvnext_dq, jacobians_.dvnext_dv;
  E_.resize(2 * nv, m + parameters);
  for (int k = 0; k < m; ++k) {
    E_.col(k).head(nv) = jacobians_.dqnext_dtau.col(problem_.actuated[k]);
    E_.col(k).tail(nv) = jacobians_.dvnext_dtau.col(problem_.actuated[k]);
  }
  if (parameters > 0) {
    E_.topRightCorner(nv, parameters) = by_parameters_.dqnext;
    E_.bottomRightCorner(nv, parameters) = by_parameters_.dvnext;
  }
  auto rows = by_state_.topRows(rows_);
  by_columns_.block(0, control_column(problem_, shot, t), rows_, m).noalias() += rows * E_.leftCols(m);
  if (parameters > 0) {
    by_columns_.block(0, shot.columns.first_parameter(), rows_, parameters).noalias() +=
        rows * E_.rightCols(parameters);
  }
  by_state_before_.topRows(rows_).noalias() = rows * A_;
  rows = by_state_before_.topRows(rows_);
}

// x_{t+1} = A x_t + E w with w among the columns c:
//
//   V_xx ← Aᵀ V_xx A,   V_xc ← Aᵀ (V_xc + V_xx E),   V_cc ← V_cc + Eᵀ V_xx E + Eᵀ V_xc + V_xcᵀ E
void ShotWorker::pull_back_curvature(const Shot& shot, int t) {
  const int m = problem_.controls();
  struct Part {
    int first, count, column;
  };
  const Part parts[] = {{0, m, control_column(problem_, shot, t)},
                        {m, shot.columns.parameters, shot.columns.first_parameter()}};
  for (const Part& part : parts) {
    if (part.count > 0) first_curved_ = std::min(first_curved_, part.column);
  }
  const int curved = shot.columns.count() - first_curved_;
  for (const Part& part : parts) {
    if (part.count == 0) continue;
    const auto E = E_.middleCols(part.first, part.count);
    product_.noalias() = E.transpose() * V_xc_.rightCols(curved);
    V_cc_.block(part.column, first_curved_, part.count, curved) += product_;
    V_cc_.block(first_curved_, part.column, curved, part.count) += product_.transpose();
  }
  for (const Part& part : parts) {
    if (part.count == 0) continue;
    product_.noalias() = V_xx_ * E_.middleCols(part.first, part.count);
    V_xc_.middleCols(part.column, part.count) += product_;
    for (const Part& other : parts) {
      if (other.count == 0) continue;
      V_cc_.block(other.column, part.column, other.count, part.count).noalias() +=
          E_.middleCols(other.first, other.count).transpose() * product_;
    }
  }
  product_.noalias() = A_.transpose() * V_xc_.rightCols(curved);
  V_xc_.rightCols(curved) = product_;
  product_.noalias() = A_.transpose() * V_xx_;
  V_xx_.noalias() = product_ * A_;
}

// Adds what the costs at one time contribute to the row of the cost. Where they depend on impulses, so do the numbers
// of the model by way of them: that takes the derivatives by the impulses themselves.
void ShotWorker::add_costs(const ResidualPoint& at, const Shot& shot, bool hessian) {
  const int m = problem_.controls(), states = 2 * problem_.model.nv(), t = at.t;
  const StepJacobians* impulses = at.record && costs_.needs_impulses() ? &jacobians_ : nullptr;
  costs_.evaluate(at, hessian ? CostOrder::hessian : CostOrder::gradient, nullptr, impulses, expansion_);
  by_state_.row(0) += expansion_.gradient.head(states);
  const auto add = [&](int column, int part) {
    if (column >= 0) by_columns_.block(0, column, 1, m) += expansion_.gradient.segment(part, m).transpose();
  };
  if (t < problem_.steps) add(control_column(problem_, shot, t), expansion_.u);
  add(control_column(problem_, shot, t - 1), expansion_.u_before);
  if (shot.columns.parameters > 0) {
    auto by_parameters = by_columns_.block(0, shot.columns.first_parameter(), 1, shot.columns.parameters);
    by_parameters += expansion_.parameters.transpose();
    if (impulses) {
      costs_.evaluate(at, CostOrder::gradient, nullptr, nullptr, by_impulses_);
      by_parameters += by_impulses_.f.transpose() * by_parameters_.df;
    }
  }
  if (hessian) add_curvature(shot, t);
}

// Adds the Gauss–Newton Hessian of the costs at one time to V. Most costs of controls leave the states out; then V
// stays zero there, and nothing has to be pulled back.
void ShotWorker::add_curvature(const Shot& shot, int t) {
  const int m = problem_.controls(), states = 2 * problem_.model.nv();
  const MatX& H = expansion_.hessian;
  struct Part {
    int z, column;
  };
  const Part parts[] = {{expansion_.u, t < problem_.steps ? control_column(problem_, shot, t) : -1},
                        {expansion_.u_before, control_column(problem_, shot, t - 1)}};
  for (const Part& a : parts) {
    if (a.column < 0) continue;
    for (const Part& b : parts) {
      if (b.column >= 0) V_cc_.block(a.column, b.column, m, m) += H.block(a.z, b.z, m, m);
    }
  }
  if ((H.topRows(states).array() == 0).all()) return;
  curved_ = true;
  V_xx_ += H.topLeftCorner(states, states);
  for (const Part& part : parts) {
    if (part.column < 0 || m == 0) continue;
    V_xc_.middleCols(part.column, m) += H.block(0, part.z, states, m);
    first_curved_ = std::min(first_curved_, part.column);
  }
}

// Adds the rows of the constraints at one time to those that count.
void ShotWorker::add_constraints(const ResidualPoint& at, const Shot& shot) {
  const int states = 2 * problem_.model.nv();
  // Those of later times count already.
  auto place = std::ranges::find(shot.places, rows_ - 1 - states, &Shot::ConstraintPlace::row);
  for (; place != shot.places.end() && place->t == at.t; ++place) add_constraint(at, shot, *place);
}

void ShotWorker::add_constraint(const ResidualPoint& at, const Shot& shot, const Shot::ConstraintPlace& place) {
  const int nv = problem_.model.nv(), m = problem_.controls(), size = place.size;
  const Residual& residual = *problem_.constraints[place.constraint].residual;
  value_.resize(size);
  residual_ = {};
  residual.evaluate(at, value_, &residual_);
  auto by_q = by_state_.block(rows_, 0, size, nv), by_v = by_state_.block(rows_, nv, size, nv);
  auto by_columns = by_columns_.middleRows(rows_, size);
  rows_ += size;
  if (residual_.by_q.size() > 0) by_q += residual_.by_q;
  if (residual_.by_v.size() > 0) by_v += residual_.by_v;
  const int now = at.t < problem_.steps ? control_column(problem_, shot, at.t) : -1;
  if (residual_.by_u.size() > 0 && now >= 0) by_columns.middleCols(now, m) += residual_.by_u;
  if (residual_.by_u_before.size() > 0) {
    LITHE_CHECK(residual.needs_previous_controls(),
                "constraint {} ({}) has a derivative by the controls of the step before; it must say so in "
                "needs_previous_controls()",
                place.constraint, residual.name());
    const int before = control_column(problem_, shot, at.t - 1);
    if (before >= 0) by_columns.middleCols(before, m) += residual_.by_u_before;
  }
  auto by_parameters = by_columns.rightCols(shot.columns.parameters);
  if (residual_.by_parameters.size() > 0) by_parameters += residual_.by_parameters;
  if (residual_.by_f.size() == 0 || !at.record) return;
  LITHE_CHECK(residual.needs_impulses(),
              "constraint {} ({}) has a derivative by impulses; it must say so in needs_impulses()", place.constraint,
              residual.name());
  by_q += residual_.by_f * jacobians_.df_dq;
  by_v += residual_.by_f * jacobians_.df_dv;
  const MatX by_tau = residual_.by_f * jacobians_.df_dtau;
  for (int k = 0; k < m; ++k) by_columns.col(now + k) += by_tau.col(problem_.actuated[k]);
  if (shot.columns.parameters > 0) by_parameters += residual_.by_f * by_parameters_.df;
}

// Turns rows by the first state into rows by the columns that move it, and does the same with V.
void ShotWorker::finish(bool hessian, Shot& shot) const {
  const int states = 2 * problem_.model.nv();
  const ShotColumns& columns = shot.columns;
  shot.gradient = by_columns_.row(0);
  shot.end = by_columns_.middleRows(1, states);
  shot.by_constraints = by_columns_.bottomRows(shot.constraints.size());
  const auto start = [&](MatX& rows) { return rows.middleCols(columns.first_start(), columns.start); };
  if (columns.start > 0) {
    shot.gradient.segment(columns.first_start(), columns.start).noalias() =
        shot.start_map.transpose() * by_state_.row(0).transpose();
    start(shot.end).noalias() = by_state_.middleRows(1, states) * shot.start_map;
    start(shot.by_constraints).noalias() = by_state_.bottomRows(shot.constraints.size()) * shot.start_map;
  }
  if (!hessian) return;
  shot.hessian = V_cc_;
  if (columns.start == 0 || !curved_) return;
  const MatX cross = shot.start_map.transpose() * V_xc_;
  shot.hessian.middleRows(columns.first_start(), columns.start) += cross;
  start(shot.hessian) += cross.transpose();
  shot.hessian.block(columns.first_start(), columns.first_start(), columns.start, columns.start) +=
      shot.start_map.transpose() * V_xx_ * shot.start_map;
}

}  // namespace lithe::internal

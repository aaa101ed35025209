#include "lithe/optimize/solvers/shooting_program.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"

namespace lithe::internal {

namespace {

// Which kinds of input a residual depends on, and so in which columns of a shot its derivatives may differ from zero.
struct Parts {
  bool state = true, controls = true, controls_before = true, parameters = true;
};

// The columns of a shot that such a residual depends on at time t.
std::vector<int> columns_of(const Problem& problem, const Shot& shot, int t, const Parts& parts) {
  const ShotColumns& columns = shot.columns;
  const int m = problem.controls();
  std::vector<int> list;
  const auto add = [&](int first, int end) {
    for (int i = first; i < end; ++i) {
      if (std::ranges::find(list, i) == list.end()) list.push_back(i);
    }
  };
  if (parts.state) {
    add(columns.first_start(), columns.first_control());
    add(columns.first_control(), t > shot.first ? control_column(problem, shot, t - 1) + m : columns.first_control());
  }
  const int now = t < problem.steps ? control_column(problem, shot, t) : -1;
  const int before = control_column(problem, shot, t - 1);
  if (parts.controls && now >= 0) add(now, now + m);
  if (parts.controls_before && before >= 0) add(before, before + m);
  // The states depend on the numbers of the model, except for the first.
  if (parts.parameters || (parts.state && t > shot.first)) add(columns.first_parameter(), columns.count());
  return list;
}

// A residual gives the parts that it has at every call, so that one tells.
Parts parts_of(const Problem& problem, const Residual& residual, const ResidualPoint& at) {
  VecX value(residual.size(problem.model));
  ResidualJacobian jacobian;
  residual.evaluate(at, value, &jacobian);
  const bool impulses = jacobian.by_f.size() > 0 || residual.needs_impulses();
  return {.state = impulses || jacobian.by_q.size() > 0 || jacobian.by_v.size() > 0,
          .controls = impulses || jacobian.by_u.size() > 0,
          .controls_before = jacobian.by_u_before.size() > 0,
          // Their part in the Hessian is left out but for the states'.
          .parameters = false};
}

}  // namespace

ShootingProgram::ShootingProgram(const Problem& problem, const Plan& plan, const ShootingProgramOptions& options,
                                 ThreadPool& pool)
    : problem_(problem), options_(options), pool_(pool) {
  for (int k = 0; k < pool.size(); ++k) workers_.push_back(std::make_unique<ShotWorker>(problem));
  shots_ = cut_into_shots(problem, options.shot, workers_[0]->needs_previous_controls());
  for (const Shot& shot : shots_) references_.push_back({plan.q.col(shot.first), plan.v.col(shot.first)});
  place_shots();
  set_bounds();
  set_start(plan);
  set_jacobian_structure();
  if (options.hessian) set_hessian_structure();
}

// Numbers the variables and the constraints, shot after shot. Where something depends on the controls before, a shot
// has a column for the last controls of the shot before it: that is the same variable, so it has two places.
void ShootingProgram::place_shots() {
  const int states = 2 * problem_.model.nv(), m = problem_.controls();
  int variable = 0, row = 0;
  std::vector<int> before;
  for (std::size_t k = 0; k < shots_.size(); ++k) {
    const Shot& shot = shots_[k];
    ShotPlace& place = places_.emplace_back();
    place.offset = variable;
    if (shot.columns.u_before > 0) place.variables = before;
    for (int i = 0; i < shot.columns.start + shot.columns.controls; ++i) place.variables.push_back(variable++);
    before.assign(place.variables.end() - m, place.variables.end());
    place.gap = row;
    if (!shot.last) row += states;
    place.constraints = row;
    row += static_cast<int>(shot.constraints.size());
  }
  const int parameters = static_cast<int>(problem_.free_parameters.size());
  for (ShotPlace& place : places_) {
    for (int i = 0; i < parameters; ++i) place.variables.push_back(variable + i);
  }
  start_.setZero(variable + parameters);
  constraints_.setZero(row);
}

// Bounds of what is free as the problem has them. Offsets of states have none; gaps and equations must be zero,
// inequalities not above it.
void ShootingProgram::set_bounds() {
  shape_.lower.setConstant(start_.size(), -kInfinity);
  shape_.upper.setConstant(start_.size(), kInfinity);
  const auto bound = [&](Eigen::Index variable, double lower, double upper) {
    shape_.lower[variable] = lower;
    shape_.upper[variable] = upper;
  };
  for (std::size_t i = 0; i < problem_.free_start.size(); ++i) {
    bound(static_cast<Eigen::Index>(i), -problem_.free_start[i].range, problem_.free_start[i].range);
  }
  const int m = problem_.controls();
  for (std::size_t k = 0; k < shots_.size(); ++k) {
    for (int i = 0; i < shots_[k].columns.controls; ++i) {
      bound(places_[k].offset + shots_[k].columns.start + i,
            problem_.lower.size() > 0 ? problem_.lower[i % m] : -kInfinity,
            problem_.upper.size() > 0 ? problem_.upper[i % m] : kInfinity);
    }
  }
  const auto parameters = static_cast<Eigen::Index>(problem_.free_parameters.size());
  for (Eigen::Index i = 0; i < parameters; ++i) {
    bound(start_.size() - parameters + i, problem_.free_parameters[i].lower, problem_.free_parameters[i].upper);
  }
  shape_.constraint_lower.setZero(constraints_.size());
  shape_.constraint_upper.setZero(constraints_.size());
  for (std::size_t k = 0; k < shots_.size(); ++k) {
    for (const Shot::ConstraintPlace& place : shots_[k].places) {
      if (problem_.constraints[place.constraint].kind == PathConstraint::Kind::zero) continue;
      shape_.constraint_lower.segment(places_[k].constraints + place.row, place.size).setConstant(-kInfinity);
    }
  }
}

// The plan as a point of the programme. Offsets are zero there, because the references are the plan's own states.
void ShootingProgram::set_start(const Plan& plan) {
  start_.head(plan.start.size()) = plan.start;
  const int m = problem_.controls();
  for (std::size_t k = 0; k < shots_.size(); ++k) {
    const ShotColumns& columns = shots_[k].columns;
    const auto controls = plan.u.middleCols(shots_[k].first / problem_.hold, m > 0 ? columns.controls / m : 0);
    start_.segment(places_[k].offset + columns.start, columns.controls) = controls.reshaped();
  }
  if (problem_.free_parameters.empty()) return;
  const VecX own = lithe::parameters(problem_.model, workers_[0]->evaluator().parameters().names());
  start_.tail(own.size()) = plan.parameters.size() > 0 ? plan.parameters : own;
}

// Which entries of the constraints' Jacobian may differ from zero, in the order in which write_jacobian() writes them.
// The end of a shot depends on all of its columns but the controls before it. A gap depends on the next shot's offset
// number by number, but for balls, whose three rotations mix.
void ShootingProgram::set_jacobian_structure() {
  const int nv = problem_.model.nv();
  for (int i = 0; i < 2 * nv; ++i) gap_by_offset_.push_back({i, i});
  for (const int ball : problem_.model.tree().balls) {
    for (int i = 0; i < 9; ++i) {
      if (i / 3 != i % 3) gap_by_offset_.push_back({ball + i / 3, ball + i % 3});
    }
  }
  for (std::size_t k = 0; k < shots_.size(); ++k) {
    const Shot& shot = shots_[k];
    ShotPlace& place = places_[k];
    if (!shot.last) {
      for (int i = 0; i < 2 * nv; ++i) {
        for (int j = shot.columns.first_start(); j < shot.columns.count(); ++j) {
          place.end.push_back({i, j});
          shape_.jacobian.push_back({place.gap + i, place.variables[j]});
        }
      }
      for (const auto& [i, j] : gap_by_offset_) shape_.jacobian.push_back({place.gap + i, places_[k + 1].offset + j});
    }
    for (const Shot::ConstraintPlace& constraint : shot.places) {
      const Residual& residual = *problem_.constraints[constraint.constraint].residual;
      const std::vector<int> columns =
          columns_of(problem_, shot, constraint.t, {.controls_before = residual.needs_previous_controls()});
      for (int i = constraint.row; i < constraint.row + constraint.size; ++i) {
        for (const int j : columns) {
          place.by_constraints.push_back({i, j});
          shape_.jacobian.push_back({place.constraints + i, place.variables[j]});
        }
      }
    }
  }
  jacobian_.setZero(static_cast<Eigen::Index>(shape_.jacobian.size()));
}

// Which entries of the Hessian may differ from zero: those by two columns that one cost depends on at one time. Each
// cost is asked once what it depends on; where the start cannot be evaluated, it counts as depending on everything.
void ShootingProgram::set_hessian_structure() {
  const bool known = evaluate(start_);
  std::vector<Parts> parts(problem_.costs.size());
  for (std::size_t k = 0; known && k < parts.size(); ++k) {
    const Cost& cost = problem_.costs[k];
    int t = 0;
    while (!cost.times.contains(t, problem_.steps)) ++t;
    Shot& shot = shots_[std::min(t, problem_.steps - 1) / options_.shot];
    parts[k] = parts_of(problem_, *cost.residual, workers_[0]->visit(plan_, shot, t));
  }
  using Pattern = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>;
  for (std::size_t s = 0; s < shots_.size(); ++s) {
    const Shot& shot = shots_[s];
    ShotPlace& place = places_[s];
    Pattern pattern = Pattern::Constant(shot.columns.count(), shot.columns.count(), false);
    for (int t = shot.first; t < shot.first + shot.steps + (shot.last ? 1 : 0); ++t) {
      for (std::size_t k = 0; k < problem_.costs.size(); ++k) {
        const Cost& cost = problem_.costs[k];
        if (cost.norm == Norm::linear || !cost.times.contains(t, problem_.steps)) continue;
        const std::vector<int> columns = columns_of(problem_, shot, t, parts[k]);
        for (const int i : columns) {
          for (const int j : columns) pattern(i, j) = true;
        }
      }
    }
    for (int j = 0; j < pattern.cols(); ++j) {
      for (int i = j; i < pattern.rows(); ++i) {
        if (!pattern(i, j)) continue;
        place.hessian.push_back({i, j});
        const auto [low, high] = std::minmax(place.variables[i], place.variables[j]);
        shape_.hessian.push_back({high, low});
      }
    }
  }
  hessian_.setZero(static_cast<Eigen::Index>(shape_.hessian.size()));
}

// Takes x apart into the plan and the first states of the shots. False where that makes no states, or no model.
bool ShootingProgram::read(const VecX& x) {
  LITHE_CHECK(x.size() == start_.size(), "the programme has {} variables, not {}", start_.size(), x.size());
  const Model& model = problem_.model;
  const int nv = model.nv(), m = problem_.controls();
  x_ = x;
  plan_.start = x.head(static_cast<Eigen::Index>(problem_.free_start.size()));
  plan_.parameters = x.tail(static_cast<Eigen::Index>(problem_.free_parameters.size()));
  plan_.u.resize(m, problem_.knots());
  for (std::size_t k = 0; k < shots_.size(); ++k) {
    Shot& shot = shots_[k];
    const int offset = places_[k].offset, knots = m > 0 ? shot.columns.controls / m : 0;
    plan_.u.middleCols(shot.first / problem_.hold, knots) =
        x.segment(offset + shot.columns.start, shot.columns.controls).reshaped(m, knots);
    if (k == 0) continue;
    shot.start.v = references_[k].v + x.segment(offset + nv, nv);
    const VecX moved = x.segment(offset, nv);
    if (!(moved.norm() < std::sqrt(std::numeric_limits<double>::max())) || !shot.start.v.allFinite()) return false;
    shot.start.q = retract(model, references_[k].q, moved);
  }
  try {
    workers_[0]->evaluator().set_parameters(plan_);
  } catch (const Error&) {
    return false;  // no model has such numbers
  }
  shots_[0].start = workers_[0]->evaluator().start_of(plan_);
  return true;
}

// Simulates all shots, by several threads. Sums over shots are taken afterwards, in their order, so that they have the
// same bits on any number of threads.
bool ShootingProgram::evaluate(const VecX& x) {
  if (!read(x)) return false;
  pool_.parallel_for(static_cast<int>(shots_.size()),
                     [&](int item, int worker) { workers_[worker]->simulate(plan_, shots_[item]); });
  objective_ = 0;
  const int nv = problem_.model.nv();
  for (std::size_t k = 0; k < shots_.size(); ++k) {
    const Shot& shot = shots_[k];
    if (!shot.finite) return false;
    objective_ += shot.cost;
    constraints_.segment(places_[k].constraints, shot.constraints.size()) = shot.constraints;
    if (shot.last) continue;
    const State& next = shots_[k + 1].start;
    constraints_.segment(places_[k].gap, nv) = difference(problem_.model, shot.q.col(shot.steps), next.q);
    constraints_.segment(places_[k].gap + nv, nv) = shot.v.col(shot.steps) - next.v;
  }
  return std::isfinite(objective_) && constraints_.allFinite();
}

// How the offsets move the first state of each shot in its tangent: the identity, but for balls, where q ⊕ δ moves by
// J_r(δ).
void ShootingProgram::set_start_maps() {
  const int nv = problem_.model.nv();
  for (std::size_t k = 1; k < shots_.size(); ++k) {
    shots_[k].start_map.setIdentity(2 * nv, 2 * nv);
    shots_[k].start_map.topLeftCorner(nv, nv) =
        retract_derivative_delta(problem_.model, x_.segment(places_[k].offset, nv));
  }
  VecX offset = VecX::Zero(nv);
  for (std::size_t i = 0; i < problem_.free_start.size(); ++i) {
    if (!problem_.free_start[i].velocity)
      offset[problem_.free_start[i].dof] += plan_.start[static_cast<Eigen::Index>(i)];
  }
  const MatX by_offset = retract_derivative_delta(problem_.model, offset);
  MatX& map = shots_[0].start_map;
  map.setZero(2 * nv, shots_[0].columns.start);
  for (int i = 0; i < map.cols(); ++i) {
    const FreeStart& free = problem_.free_start[i];
    if (free.velocity) {
      map(nv + free.dof, i) = 1;
    } else {
      map.col(i).head(nv) = by_offset.col(free.dof);
    }
  }
}

void ShootingProgram::linearize() {
  set_start_maps();
  pool_.parallel_for(static_cast<int>(shots_.size()), [&](int item, int worker) {
    workers_[worker]->linearize(plan_, options_.gradient, options_.hessian, shots_[item]);
  });
  gradient_.setZero(start_.size());
  Eigen::Index entry = 0;
  for (std::size_t k = 0; k < shots_.size(); ++k) {
    for (int j = 0; j < shots_[k].columns.count(); ++j) gradient_[places_[k].variables[j]] += shots_[k].gradient[j];
    for (const auto& [i, j] : places_[k].hessian) hessian_[entry++] = shots_[k].hessian(i, j);
  }
  write_jacobian();
}

// The derivatives of gaps and constraints. A gap x_end ⊖ x_start is taken in the tangent at x_start, so where there are
// balls, the derivatives of ⊖ by both of its sides come in.
void ShootingProgram::write_jacobian() {
  const Model& model = problem_.model;
  const int nv = model.nv();
  Eigen::Index entry = 0;
  MatX by_offset = -MatX::Identity(2 * nv, 2 * nv);
  for (std::size_t k = 0; k < shots_.size(); ++k) {
    Shot& shot = shots_[k];
    if (!shot.last) {
      if (!model.tree().balls.empty()) {
        const VecX gap = constraints_.segment(places_[k].gap, nv);
        shot.end.topRows(nv) = difference_derivative_q1(model, gap) * shot.end.topRows(nv);
        by_offset.topLeftCorner(nv, nv) =
            difference_derivative_q0(model, gap) * shots_[k + 1].start_map.topLeftCorner(nv, nv);
      }
      for (const auto& [i, j] : places_[k].end) jacobian_[entry++] = shot.end(i, j);
      for (const auto& [i, j] : gap_by_offset_) jacobian_[entry++] = by_offset(i, j);
    }
    for (const auto& [i, j] : places_[k].by_constraints) jacobian_[entry++] = shot.by_constraints(i, j);
  }
}

Plan ShootingProgram::plan() const {
  Plan plan = plan_;
  plan.q.resize(problem_.model.nq(), problem_.steps + 1);
  plan.v.resize(problem_.model.nv(), problem_.steps + 1);
  for (const Shot& shot : shots_) {
    plan.q.middleCols(shot.first, shot.steps + 1) = shot.q;
    plan.v.middleCols(shot.first, shot.steps + 1) = shot.v;
  }
  return plan;
}

double ShootingProgram::largest_gap() const {
  double largest = 0;
  for (std::size_t k = 0; k + 1 < shots_.size(); ++k) {
    largest = std::max(largest, constraints_.segment(places_[k].gap, 2 * problem_.model.nv()).cwiseAbs().maxCoeff());
  }
  return largest;
}

}  // namespace lithe::internal

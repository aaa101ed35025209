#include "lithe/optimize/problem.h"

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/simd/internal/finite.h"

namespace lithe {

using namespace internal;

namespace {

// Several joints between the world and a body let it float, in the plane or in space. Nothing drives such a base.
bool floats(const Model& model, const Joint& joint) {
  if (model.bodies()[joint.body].parent != Model::world()) return false;
  return std::ranges::count_if(model.joints(), [&](const Joint& other) { return other.body == joint.body; }) > 1;
}

// Adds a control that pushes a DoF with at most ± limit; an infinite limit leaves it unbounded.
void actuate(Problem& problem, int dof, double limit) {
  problem.actuated.push_back(dof);
  const auto count = static_cast<Eigen::Index>(problem.actuated.size());
  problem.lower.conservativeResize(count);
  problem.upper.conservativeResize(count);
  problem.lower[count - 1] = -limit;
  problem.upper[count - 1] = limit;
}

// Takes back what was actuated before: every call of actuate_joints() chooses anew.
void start_actuating(Problem& problem) {
  problem.actuated.clear();
  problem.lower.resize(0);
  problem.upper.resize(0);
}

// Bounds may be missing or infinite. NaN is refused, because no comparison with it is true: it would bound nothing.
void check_bounds(const Problem& problem) {
  const int m = problem.controls();
  for (const auto& [bound, name] : {std::pair(&problem.lower, "lower"), std::pair(&problem.upper, "upper")}) {
    LITHE_CHECK(bound->size() == 0 || bound->size() == m,
                "Problem::{} has {} numbers, but there are {} controls (Problem::actuated)", name, bound->size(), m);
    for (int k = 0; k < bound->size(); ++k) {
      LITHE_CHECK(!std::isnan((*bound)[k]), "Problem::{}[{}] is not a number", name, k);
    }
  }
  for (int k = 0; k < m && problem.lower.size() > 0 && problem.upper.size() > 0; ++k) {
    LITHE_CHECK(problem.lower[k] <= problem.upper[k], "control {}: its lower bound {} is above the upper one {}", k,
                problem.lower[k], problem.upper[k]);
  }
}

// A cost or constraint that counts at no time is a mistake of whoever wrote its times. At t = T no step is taken, so
// there are neither controls nor impulses to look at.
void check_times(const Problem& problem, const Residual& residual, const Times& times, const char* what, int index) {
  bool counts = false;
  for (int t = 0; t <= problem.steps && !counts; ++t) counts = times.contains(t, problem.steps);
  LITHE_CHECK(counts, "{} {} ({}) counts at no time: its times are {} … {}, and the motion has t = 0 … {}", what, index,
              residual.name(), times.first, times.last, problem.steps);
  const bool at_end = times.contains(problem.steps, problem.steps);
  LITHE_CHECK(!at_end || !residual.needs_controls(),
              "{} {} ({}) is asked for at the end of the motion, where no control acts; use Times::running()", what,
              index, residual.name());
  LITHE_CHECK(!at_end || !residual.needs_impulses(),
              "{} {} ({}) is asked for at the end of the motion, where no step is taken; use Times::running()", what,
              index, residual.name());
}

// Where numbers of the model are free, every residual has to know its derivative by them. One that does not would make
// gradients wrong, and nobody would notice.
void check_free_parameters(const Problem& problem, const Residual& residual, const StepParameters& parameters,
                           const char* what, int index) {
  for (int k = 0; k < parameters.size(); ++k) {
    LITHE_CHECK(
        residual.knows(parameters.entries()[k]),
        "{} {} ({}) depends on {} directly, and its derivative by that number is not known; fix the number or use "
        "another residual",
        what, index, residual.name(), problem.free_parameters[k].name);
  }
}

}  // namespace

void actuate_joints(Problem& problem) {
  start_actuating(problem);
  const Model& model = problem.model;
  const auto one_dof = [](const Joint& joint) { return joint.type != JointType::ball; };
  for (const Joint& joint : model.joints()) {
    if (one_dof(joint) && joint.effort_limit > 0 && std::isfinite(joint.effort_limit)) {
      actuate(problem, joint.v_index, joint.effort_limit);
    }
  }
  // Without any limit, nothing says which joints have a drive: all count as driven that do not carry a floating base.
  if (!problem.actuated.empty()) return;
  for (const Joint& joint : model.joints()) {
    if (one_dof(joint) && joint.effort_limit > 0 && !floats(model, joint)) actuate(problem, joint.v_index, kInfinity);
  }
}

void actuate_joints(Problem& problem, const std::vector<std::string>& joints) {
  start_actuating(problem);
  for (const std::string& name : joints) {
    const Joint& joint = problem.model.joints()[problem.model.joint(name)];
    LITHE_CHECK(joint.type != JointType::ball,
                "joint '{}' is a ball and has no single force; name its DoFs in Problem::actuated", name);
    actuate(problem, joint.v_index, joint.effort_limit);
  }
}

void check_problem(const Problem& problem) {
  const Model& model = problem.model;
  LITHE_CHECK(model.nv() > 0, "the model has no degree of freedom: there is nothing to move");
  LITHE_CHECK(problem.steps > 0, "Problem::steps is {}; a motion needs at least one step", problem.steps);
  LITHE_CHECK(problem.hold > 0, "Problem::hold is {}; a control is held for at least one step", problem.hold);
  check_options(problem.step);
  check_configuration(model, problem.start.q);
  check_tangent(model, problem.start.v, "Problem::start.v");
  LITHE_CHECK(problem.motor_targets.size() == 0 ||
                  problem.motor_targets.size() == static_cast<Eigen::Index>(model.motors().size()),
              "Problem::motor_targets has {} numbers, but the model has {} motors", problem.motor_targets.size(),
              model.motors().size());
  for (std::size_t k = 0; k < problem.actuated.size(); ++k) {
    const int dof = problem.actuated[k];
    LITHE_CHECK(dof >= 0 && dof < model.nv(), "Problem::actuated[{}] is {}, but the model's DoFs are 0 … {}", k, dof,
                model.nv() - 1);
    LITHE_CHECK(std::ranges::count(problem.actuated, dof) == 1, "DoF {} is in Problem::actuated more than once", dof);
  }
  check_bounds(problem);
  LITHE_CHECK(problem.u_before.size() == 0 || problem.u_before.size() == problem.controls(),
              "Problem::u_before has {} numbers, but there are {} controls", problem.u_before.size(),
              problem.controls());
  LITHE_CHECK(all_finite(problem.u_before) && all_finite(problem.motor_targets),
              "Problem::u_before or motor_targets has a number that is not finite");
  for (const FreeStart& free : problem.free_start) {
    LITHE_CHECK(free.dof >= 0 && free.dof < model.nv(), "a FreeStart names DoF {}, but the model's DoFs are 0 … {}",
                free.dof, model.nv() - 1);
    LITHE_CHECK(free.range >= 0, "the FreeStart of DoF {} has the range {}; it must not be negative", free.dof,
                free.range);
  }
  std::vector<std::string> names;
  for (const FreeParameter& free : problem.free_parameters) {
    LITHE_CHECK(free.lower <= free.upper, "{}: its lower bound {} is above the upper one {}", free.name, free.lower,
                free.upper);
    LITHE_CHECK(find_parameter(model, free.name),
                "'{}' is no parameter of this model (model/parameters.h lists the names)", free.name);
    names.push_back(free.name);
  }
  LITHE_CHECK(
      problem.controls() > 0 || !problem.free_start.empty() || !names.empty(),
      "nothing is free: give Problem::actuated, free_start or free_parameters (actuate_joints() names all joints)");
  // The names as steps know them, which is what residuals are asked about below.
  const StepParameters parameters(model, names);
  LITHE_CHECK(!problem.costs.empty() || !problem.constraints.empty(), "the problem has no cost and no constraint");
  for (int k = 0; k < static_cast<int>(problem.costs.size()); ++k) {
    const Cost& cost = problem.costs[k];
    LITHE_CHECK(cost.residual, "cost {} has no residual", k);
    const int size = cost.residual->size(model);
    LITHE_CHECK(cost.scales.size() == 0 || cost.scales.size() == size, "cost {} ({}) has {} scales for {} numbers", k,
                cost.residual->name(), cost.scales.size(), size);
    LITHE_CHECK(std::isfinite(cost.weight) && all_finite(cost.scales), "cost {} ({}) has a weight that is not finite",
                k, cost.residual->name());
    LITHE_CHECK(cost.norm != Norm::smooth_size || cost.width > 0, "cost {} ({}) has the width {}; it must be positive",
                k, cost.residual->name(), cost.width);
    check_times(problem, *cost.residual, cost.times, "cost", k);
    check_free_parameters(problem, *cost.residual, parameters, "cost", k);
  }
  for (int k = 0; k < static_cast<int>(problem.constraints.size()); ++k) {
    const PathConstraint& constraint = problem.constraints[k];
    LITHE_CHECK(constraint.residual, "constraint {} has no residual", k);
    LITHE_CHECK(constraint.residual->size(model) > 0, "constraint {} ({}) has no numbers", k,
                constraint.residual->name());
    check_times(problem, *constraint.residual, constraint.times, "constraint", k);
    check_free_parameters(problem, *constraint.residual, parameters, "constraint", k);
  }
}

Plan initial_plan(const Problem& problem) {
  Plan plan = {.u = MatX::Zero(problem.controls(), problem.knots())};
  clamp(problem, plan);
  return plan;
}

void check_plan(const Problem& problem, const Plan& plan) {
  LITHE_CHECK(plan.u.rows() == problem.controls() && plan.u.cols() == problem.knots(),
              "Plan::u is {} × {}; the problem has {} controls and {} knots", plan.u.rows(), plan.u.cols(),
              problem.controls(), problem.knots());
  LITHE_CHECK(plan.start.size() == 0 || plan.start.size() == static_cast<Eigen::Index>(problem.free_start.size()),
              "Plan::start has {} numbers, but {} of the start are free", plan.start.size(), problem.free_start.size());
  LITHE_CHECK(plan.parameters.size() == 0 ||
                  plan.parameters.size() == static_cast<Eigen::Index>(problem.free_parameters.size()),
              "Plan::parameters has {} numbers, but {} of the model are free", plan.parameters.size(),
              problem.free_parameters.size());
  LITHE_CHECK(plan.u.allFinite() && all_finite(plan.start) && all_finite(plan.parameters),
              "the plan has a number that is not finite");
  LITHE_CHECK((plan.q.size() == 0) == (plan.v.size() == 0), "a plan's guess of the states needs both q and v");
  if (plan.q.size() == 0) return;
  // The guess has a state before each step and one at the end.
  const int states = problem.steps + 1;
  LITHE_CHECK(plan.q.rows() == problem.model.nq() && plan.v.rows() == problem.model.nv() && plan.q.cols() == states &&
                  plan.v.cols() == states,
              "a plan's guess of the states is {} × {} and {} × {}; the problem has nq = {}, nv = {} and {} states",
              plan.q.rows(), plan.q.cols(), plan.v.rows(), plan.v.cols(), problem.model.nq(), problem.model.nv(),
              states);
  LITHE_CHECK(plan.q.allFinite() && plan.v.allFinite(), "a plan's guess of the states has a number that is not finite");
}

void clamp(const Problem& problem, Plan& plan) {
  if (problem.lower.size() > 0) plan.u = plan.u.cwiseMax(problem.lower.replicate(1, plan.u.cols()));
  if (problem.upper.size() > 0) plan.u = plan.u.cwiseMin(problem.upper.replicate(1, plan.u.cols()));
  for (int k = 0; k < plan.start.size(); ++k) {
    plan.start[k] = std::clamp(plan.start[k], -problem.free_start[k].range, problem.free_start[k].range);
  }
  for (int k = 0; k < plan.parameters.size(); ++k) {
    const FreeParameter& free = problem.free_parameters[k];
    plan.parameters[k] = std::clamp(plan.parameters[k], free.lower, free.upper);
  }
}

void shift(const Problem& problem, int steps, Plan& plan) {
  LITHE_CHECK(steps >= 0 && steps % problem.hold == 0, "a plan moves by whole knots of {} steps, not by {} steps",
              problem.hold, steps);
  const auto move = [](MatX& columns, Eigen::Index by) {
    const Eigen::Index count = columns.cols(), kept = std::max<Eigen::Index>(0, count - by);
    if (count == 0 || by == 0) return;
    const VecX last = columns.col(count - 1);
    // From front to back, so that no column is overwritten before it has been moved.
    for (Eigen::Index k = 0; k < kept; ++k) columns.col(k) = columns.col(k + by).eval();
    for (Eigen::Index k = kept; k < count; ++k) columns.col(k) = last;
  };
  move(plan.u, steps / problem.hold);
  move(plan.q, steps);
  move(plan.v, steps);
}

}  // namespace lithe

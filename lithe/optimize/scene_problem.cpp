#include "lithe/optimize/scene_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/inverse_dynamics.h"
#include "lithe/dynamics/jacobians.h"
#include "lithe/optimize/residuals.h"
#include "lithe/scenes/catalogue.h"

namespace lithe {

namespace {

// What effort is measured by where a joint has no limit, N or N·m.
constexpr double kForceWithoutLimit = 10;

const Joint& joint_of(const TaskTerm& term, const Model& model) { return model.joints()[model.joint(term.joint)]; }

// A term of the task, which judges one joint at the end of the motion.
Cost cost_of(const TaskTerm& term, const Model& model) {
  return {.residual = term.of == TaskTerm::Of::position ? residuals::joint_position(model, term.joint, term.target)
                                                        : residuals::joint_velocity(model, term.joint, term.target),
          .times = Times::final(),
          .weight = term.weight,
          .norm = term.form == TaskTerm::Form::square ? Norm::square : Norm::signed_square};
}

// A point of the task: how far a point that rides on a body is from its target at the end, with p_WP and its Jacobian.
Cost cost_of(const TaskPoint& point, const Model& model) {
  const auto miss = [body = model.body(point.body), p_B = point.point, target = point.target](
                        const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) {
    value = point_position(at.model, at.kin, body, p_B) - target;
    if (!jacobian) return;
    Mat3X J;
    point_jacobian(at.model, at.kin, body, p_B, J);
    jacobian->by_q = J;
  };
  return {.residual = residuals::custom(
              {.name = fmt::format("place of a point of body '{}'", point.body), .size = 3, .evaluate = miss}),
          .times = Times::final(),
          .weight = point.weight};
}

// Frees the start velocity of every joint that the task has a term of, once each. That is what a throw can choose.
void free_start_velocity(const Scene& scene, double range, Problem& problem) {
  for (const TaskTerm& term : scene.task->terms) {
    const int dof = joint_of(term, scene.model).v_index;
    if (std::ranges::find(problem.free_start, dof, &FreeStart::dof) != problem.free_start.end()) continue;
    problem.free_start.push_back({.dof = dof, .velocity = true, .range = range});
  }
}

// weight · mean over the steps of Σ (u/limit)²: what keeps forces small where the task leaves them open.
Cost effort_cost(const Problem& problem, double weight) {
  VecX scales(problem.controls());
  for (int k = 0; k < problem.controls(); ++k) {
    const double limit = problem.upper[k];
    scales[k] = std::pow(std::isfinite(limit) ? limit : kForceWithoutLimit, -2);
  }
  return {.residual = residuals::controls(VecX::Zero(problem.controls())),
          .times = Times::running(),
          .weight = weight / problem.steps,
          .scales = scales};
}

}  // namespace

Problem problem_of(const Scene& scene, const SceneProblemOptions& options) {
  LITHE_CHECK(scene.task, "the scene has no task, so there is nothing to optimize; these have one: {}",
              fmt::join(scenes_with_tasks(), ", "));
  LITHE_CHECK(std::isfinite(options.effort_weight) && options.effort_weight >= 0,
              "the weight of the effort is {}; it must be finite and not negative", options.effort_weight);
  LITHE_CHECK(options.steps >= 0, "a motion cannot have {} steps", options.steps);
  Problem problem = {.model = scene.model,
                     .start = {scene.q, scene.v},
                     .steps = options.steps > 0 ? options.steps : scene.task->steps,
                     .hold = options.hold,
                     .motor_targets = scene.motor_targets};
  problem.step.time_step = scene.time_step;
  actuate_joints(problem);
  for (const TaskTerm& term : scene.task->terms) problem.costs.push_back(cost_of(term, scene.model));
  for (const TaskPoint& point : scene.task->points) problem.costs.push_back(cost_of(point, scene.model));
  if (problem.controls() == 0) {
    free_start_velocity(scene, options.start_velocity, problem);
  } else if (options.effort_weight > 0) {
    problem.costs.push_back(effort_cost(problem, options.effort_weight));
  }
  check_problem(problem);
  return problem;
}

// Inverse dynamics at rest: τ = h(q, 0), the forces that gravity asks for (docs/conventions.md, Dynamics).
Plan holding_plan(const Problem& problem) {
  Kinematics kin;
  kinematics(problem.model, problem.start.q, kin);
  InverseDynamics dynamics;
  rnea(problem.model, kin, VecX::Zero(problem.model.nv()), dynamics);
  Plan plan = initial_plan(problem);
  plan.u.colwise() = VecX(dynamics.tau(problem.actuated));
  clamp(problem, plan);
  return plan;
}

PointValue point_value(const TaskPoint& point, const Model& model, const ConstVecRef& q) {
  Kinematics kin;
  kinematics(model, q, kin);
  const Vec3 place = point_position(model, kin, model.body(point.body), point.point);
  return {.place = place, .cost = point.weight * (place - point.target).squaredNorm()};
}

TermValue term_value(const TaskTerm& term, const Model& model, const ConstVecRef& q, const ConstVecRef& v) {
  const Joint& joint = joint_of(term, model);
  const TaskLoss loss = task_loss({.terms = {term}}, model, q, v);  // checks sizes and the joint
  return {.x = term.of == TaskTerm::Of::position ? q[joint.q_index] : v[joint.v_index], .cost = loss.value};
}

std::vector<std::string> scenes_with_tasks() {
  std::vector<std::string> names = scene_names();
  std::erase_if(names, [](const std::string& name) { return !scene(name).task; });
  return names;
}

}  // namespace lithe

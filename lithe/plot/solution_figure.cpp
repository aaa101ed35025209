#include "lithe/plot/solution_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lithe/plot/internal/style.h"

namespace lithe::plot {

using namespace internal;

namespace {

constexpr std::size_t kMostCurves = plot_style::kStyles.size();  // more cannot be told apart

// The cost over wall-clock time, and the best so far where that is another curve: solvers may go uphill on their way.
Panel cost_panel(const std::vector<Progress>& history) {
  Curve cost = {.label = "cost"}, best = {.label = "best so far"};
  for (const Progress& progress : history) {
    cost.x.push_back(progress.seconds);
    cost.y.push_back(progress.cost);
    best.x.push_back(progress.seconds);
    best.y.push_back(progress.best_cost);
  }
  Panel panel = {.title = "Convergence", .x = {.label = "Wall-clock time", .unit = "s"}, .y = {.label = "Cost"}};
  panel.y.scale = fitting_scale(cost.y);
  if (!history.empty() && history.back().seconds > 0) panel.x.range = AxisRange{0, history.back().seconds};
  panel.curves = {cost};
  if (best.y != cost.y) {
    best.stairs = true;
    panel.curves.push_back(best);
  } else {
    panel.curves[0].label.clear();  // alone, it is what the axis says
  }
  return panel;
}

// Leaves out curves that would share their style with an earlier one; the panel's title says how many of them are
// shown.
void keep_distinct(Panel& panel) {
  const std::size_t all = panel.curves.size();
  if (all <= kMostCurves) return;
  panel.title += fmt::format(" ({} of {})", kMostCurves, all);
  panel.curves.resize(kMostCurves);
}

// The controls over the time of the motion, as stairs: each holds for a knot. Forces (of prismatic joints) and torques
// have different units, so each kind has a panel of its own.
Panel control_panel(const Problem& problem, const Plan& plan, bool sliding) {
  const double step = problem.step.time_step;
  Panel panel = {.title = sliding ? "Forces" : "Torques",
                 .x = {.label = "Time", .unit = "s"},
                 .y = {.label = sliding ? "Force" : "Torque", .unit = sliding ? "N" : "N·m"}};
  for (int k = 0; k < problem.controls(); ++k) {
    const auto& joints = problem.model.joints();
    const auto joint = std::ranges::find_if(joints, [&](const Joint& each) {
      return each.v_index <= problem.actuated[k] && problem.actuated[k] < each.v_index + each.nv();
    });
    if ((joint->type == JointType::prismatic) != sliding) continue;
    Curve curve = {.label = joint->name, .stairs = true};
    for (int knot = 0; knot < plan.u.cols(); ++knot) {
      curve.x.push_back(knot * problem.hold * step);
      curve.y.push_back(plan.u(k, knot));
    }
    // The last knot holds until the end of the motion.
    curve.x.push_back(problem.steps * step);
    curve.y.push_back(plan.u(k, plan.u.cols() - 1));
    panel.curves.push_back(std::move(curve));
  }
  keep_distinct(panel);
  return panel;
}

// The positions of the 1-DoF joints over the time of the motion, up to where it diverged if it did; lengths and angles
// in a panel each.
Panel position_panel(const Problem& problem, const Trajectory& motion, bool sliding) {
  Panel panel = {.title = sliding ? "Positions" : "Angles",
                 .x = {.label = "Time", .unit = "s"},
                 .y = {.label = sliding ? "Position" : "Angle", .unit = sliding ? "m" : "rad"}};
  for (const Joint& joint : problem.model.joints()) {
    if (joint.nv() != 1 || (joint.type == JointType::prismatic) != sliding) continue;
    Curve curve = {.label = joint.name};
    for (int t = 0; t <= motion.moved(); ++t) {
      curve.x.push_back(t * problem.step.time_step);
      curve.y.push_back(motion.q(joint.q_index, t));
    }
    panel.curves.push_back(std::move(curve));
  }
  keep_distinct(panel);
  return panel;
}

// Adds a line for each place that the task wants joints of this kind to come to. Joints that shall come to the same
// place share one.
void add_targets(const Task& task, const Model& model, bool sliding, Panel& panel) {
  for (const TaskTerm& term : task.terms) {
    if (term.of != TaskTerm::Of::position || term.form != TaskTerm::Form::square) continue;
    if ((model.joints()[model.joint(term.joint)].type == JointType::prismatic) != sliding) continue;
    const auto same = std::ranges::find(panel.targets, term.target, &TargetLine::y);
    if (same == panel.targets.end()) {
      panel.targets.push_back({term.target, "target: " + term.joint});
    } else {
      same->label += ", " + term.joint;
    }
  }
}

}  // namespace

AxisScale fitting_scale(const std::vector<double>& values) {
  double least = HUGE_VAL, most = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    if (value <= 0) return AxisScale::linear;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return most > 10 * least ? AxisScale::log : AxisScale::linear;
}

Figure solution_figure(const std::string& title, const Problem& problem, const Solution& solution, const Task* task) {
  Figure figure = {.title = title, .panels = {cost_panel(solution.history)}, .panel_height = 230};
  for (const bool sliding : {true, false}) {
    Panel controls = control_panel(problem, solution.plan, sliding);
    if (!controls.curves.empty()) figure.panels.push_back(std::move(controls));
  }
  for (const bool sliding : {true, false}) {
    Panel positions = position_panel(problem, solution.trajectory, sliding);
    if (positions.curves.empty()) continue;
    if (task) add_targets(*task, problem.model, sliding, positions);
    figure.panels.push_back(std::move(positions));
  }
  return figure;
}

}  // namespace lithe::plot

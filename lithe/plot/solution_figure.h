#pragma once

#include <string>

#include "lithe/optimize/solve.h"
#include "lithe/plot/svg_plot.h"
#include "lithe/scenes/task.h"

namespace lithe::plot {

// How a solver went and what it found, as panels: the cost over wall-clock time; then, over the time of the motion, the controls and the
// positions of 1-DoF joints, by unit, with the task's targets.
Figure solution_figure(const std::string& title, const Problem& problem, const Solution& solution, const Task* task);

// A logarithmic axis where the values are positive and more than a decade apart.
AxisScale fitting_scale(const std::vector<double>& values);

}  // namespace lithe::plot

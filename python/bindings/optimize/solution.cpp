#include <fmt/format.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bindings/optimize/optimize_arguments.h"
#include "python/bindings/parts.h"
#include "python/bindings/rollout/rollout_arguments.h"

namespace lithe::python {

namespace {

const PythonSolution& solution_in(nb::handle self) { return nb::cast<const PythonSolution&>(self); }

// The generalised forces of every step, nv × T.
MatX forces_of(const Problem& problem, const Plan& plan) {
  MatX tau = MatX::Zero(problem.model.nv(), problem.steps);
  for (int t = 0; t < problem.steps; ++t) {
    for (int k = 0; k < problem.controls(); ++k) tau(problem.actuated[k], t) = plan.u(k, t / problem.hold);
  }
  return tau;
}

std::optional<Array> gains_of(const Solution& solution) {
  if (solution.gains.empty()) return std::nullopt;
  const MatX& first = solution.gains.front();
  double* data = nullptr;
  Array array = make_array(
      {solution.gains.size(), static_cast<std::size_t>(first.rows()), static_cast<std::size_t>(first.cols())}, data);
  for (const MatX& gain : solution.gains) {
    for (Eigen::Index i = 0; i < gain.rows(); ++i) {
      for (Eigen::Index j = 0; j < gain.cols(); ++j) *data++ = gain(i, j);
    }
  }
  return array;
}

void bind_progress(nb::module_& m) {
  print_names(
      nb::enum_<StopReason>(m, "StopReason", "Why a solver stopped.", nb::is_str())
          .str_value("converged", StopReason::converged, "converged",
                     "No first-order way down is left, within the tolerance.")
          .str_value("saddle", StopReason::saddle, "saddle",
                     "All gradients are zero although the costs are not at rest: contacts hide them.")
          .str_value("stalled", StopReason::stalled, "stalled", "No step leads further down, short of the tolerance.")
          .str_value("infeasible", StopReason::infeasible, "infeasible", "The constraints could not be met.")
          .str_value("iteration_limit", StopReason::iteration_limit, "iteration_limit")
          .str_value("time_limit", StopReason::time_limit, "time_limit")
          .str_value("interrupted", StopReason::interrupted, "interrupted", "By progress() or Ctrl-C."));

  nb::class_<Progress>(m, "Progress", "One line of a solver's progress.")
      .def_ro("iteration", &Progress::iteration)
      .def_ro("cost", &Progress::cost, "Of the motion at hand, without constraints.")
      .def_ro("infeasibility", &Progress::infeasibility,
              "The largest violation of a constraint, a bound or (multiple_shooting, ddp) the dynamics.")
      .def_ro("step", &Progress::step, "The share of the step that was taken, or its length; 0: none.")
      .def_ro("gradient", &Progress::gradient,
              "The size of the first-order conditions, which `tolerance` is compared with; 0 where unknown.")
      .def_ro("seconds", &Progress::seconds, "Since the start.")
      .def_ro("best_cost", &Progress::best_cost, "Of the best feasible motion so far.")
      .def("__repr__", [](const Progress& p) {
        return fmt::format("<Progress: iteration {}, cost {:.6g}, infeasibility {:.2g}, {:.3g} s>", p.iteration, p.cost,
                           p.infeasibility, p.seconds);
      });

  nb::class_<StageSeconds>(m, "StageSeconds", "Wall-clock seconds per stage, as the calling thread sees them.")
      .def_ro("rollout", &StageSeconds::rollout, "Steps and costs.")
      .def_ro("derivatives", &StageSeconds::derivatives, "Of steps and costs.")
      .def_ro("solve", &StageSeconds::solve, "Backward pass, linear systems, updates of a distribution.")
      .def_ro("total", &StageSeconds::total)
      .def("__repr__", [](const StageSeconds& s) {
        return fmt::format("<StageSeconds: rollout {:.3g}, derivatives {:.3g}, solve {:.3g}, total {:.3g}>", s.rollout,
                           s.derivatives, s.solve, s.total);
      });
}

}  // namespace

PythonSolution to_python(const Problem& problem, Solution solution, const SolveOptions& options,
                         const CallState& state) {
  const bool feasible = solution.feasible(options);
  solution.message = python_words(std::move(solution.message));
  if (state.interrupted && solution.reason == StopReason::interrupted) solution.message = "interrupted by Ctrl-C";
  MatX tau = forces_of(problem, solution.plan);
  return {.solution = std::move(solution), .tau = std::move(tau), .feasible = feasible};
}

void bind_solution(nb::module_& m) {
  bind_progress(m);
  nb::class_<PythonSolution>(
      m, "Solution", "The best plan that a solver found, and the motion that it leads to. Arrays are read-only.")
      .def_prop_ro(
          "plan", [](PythonSolution& self) -> Plan& { return self.solution.plan; }, nb::rv_policy::reference_internal,
          "Feasible if any was.")
      .def_prop_ro(
          "u", [](nb::handle self) { return rows_view_of(solution_in(self).solution.plan.u, self); },
          "The plan's controls (knots, m).")
      .def_prop_ro(
          "q", [](nb::handle self) { return rows_view_of(solution_in(self).solution.trajectory.q, self); },
          "The motion from the start (T + 1, nq).")
      .def_prop_ro(
          "v", [](nb::handle self) { return rows_view_of(solution_in(self).solution.trajectory.v, self); },
          "(T + 1, nv)")
      .def_prop_ro(
          "tau", [](nb::handle self) { return rows_view_of(solution_in(self).tau, self); },
          "The controls as generalised forces of every step (T, nv), as rollout() takes them.")
      .def_prop_ro(
          "status", [](const PythonSolution& self) { return self.solution.trajectory.status; },
          "A StepStatus per step of the motion.")
      .def_prop_ro("cost", [](const PythonSolution& self) { return self.solution.cost; })
      .def_prop_ro(
          "infeasibility", [](const PythonSolution& self) { return self.solution.infeasibility; },
          "The largest violation.")
      .def_ro("feasible", &PythonSolution::feasible, "Whether that is within the solver's `feasibility`.")
      .def_prop_ro(
          "reason", [](const PythonSolution& self) { return self.solution.reason; },
          "Why it stopped: 'converged', 'saddle', 'stalled', 'infeasible', 'iteration_limit', 'time_limit' or "
          "'interrupted'.")
      .def_prop_ro(
          "message", [](const PythonSolution& self) { return self.solution.message; },
          "A sentence for people: why it stopped, and what to try.")
      .def_prop_ro("iterations", [](const PythonSolution& self) { return self.solution.iterations; })
      .def_prop_ro(
          "history", [](const PythonSolution& self) { return self.solution.history; },
          "One Progress per iteration; the first is the initial plan.")
      .def_prop_ro("seconds", [](const PythonSolution& self) { return self.solution.seconds; })
      .def_prop_ro(
          "gains", [](const PythonSolution& self) { return gains_of(self.solution); },
          "Of ddp(gains=True): (knots, m, 2 nv), by (q, v): u = plan.u + gains (x ⊖ trajectory). None where not asked "
          "for.")
      .def("__repr__", [](const PythonSolution& self) {
        const Solution& s = self.solution;
        return fmt::format("<Solution: {} after {} iterations, cost {:.6g}{}>", to_string(s.reason), s.iterations,
                           s.cost, s.infeasibility > 0 ? fmt::format(", infeasibility {:.2g}", s.infeasibility) : "");
      });
}

}  // namespace lithe::python

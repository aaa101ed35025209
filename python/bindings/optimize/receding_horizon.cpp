#include "lithe/optimize/receding_horizon.h"

#include <fmt/format.h>

#include <mutex>
#include <nanobind/stl/optional.h>

#include "python/bindings/optimize/solve_options.h"
#include "python/bindings/parts.h"

namespace lithe::python {

namespace {

// The controller, and the Python objects that it calls.
struct PythonHorizon {
  ReadyProblem problem;
  nb::object progress;
  DdpOptions options;
  RecedingHorizon controller;
  std::mutex mutex = {};  // one update at a time
};

int traverse_horizon(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto* horizon = nb::inst_ptr<PythonHorizon>(self);
  for (const nb::object& kept : horizon->problem.keep) Py_VISIT(kept.ptr());
  Py_VISIT(horizon->progress.ptr());
  return 0;
}

int clear_horizon(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  auto* horizon = nb::inst_ptr<PythonHorizon>(self);
  horizon->problem.keep.clear();
  horizon->progress.reset();
  return 0;
}

PyType_Slot horizon_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_horizon)},
                               {Py_tp_clear, reinterpret_cast<void*>(&clear_horizon)},
                               {0, nullptr}};

Array update(PythonHorizon& self, const ArrayIn& q, const ArrayIn& v, std::optional<int> steps) {
  const Problem& problem = self.problem.problem;
  const State now = {q.vector("q", problem.model.nq()), v.vector("v", problem.model.nv())};
  VecX u = in_python_words([&] {
    const nb::gil_scoped_release released;
    const std::lock_guard turn(self.mutex);
    return self.controller.update(now, steps.value_or(problem.hold));
  });
  // A controller runs in a loop, which has to end.
  if (self.problem.state->interrupted.exchange(false)) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
  return to_numpy(std::move(u));
}

PythonSolution solution_of(PythonHorizon& self) {
  Solution last;
  {
    // Without the GIL, which an update that is under way may wait for.
    const nb::gil_scoped_release released;
    const std::lock_guard turn(self.mutex);
    last = self.controller.solution();
  }
  return to_python(self.problem.problem, std::move(last), self.options, *self.problem.state);
}

}  // namespace

void bind_receding_horizon(nb::module_& m) {
  nb::class_<PythonHorizon>(
      m, "RecedingHorizon",
      R"(Model-predictive control: the same problem, solved again and again by ddp() from wherever the model is by
then.

The plan is kept; each solution starts from what is left of the last one, so that a few iterations are enough:

    controller = lithe.RecedingHorizon(problem, max_iterations=3)
    u = controller.update(q, v)        # again and again; one knot has passed since the last call

The first plan starts from `initial` and may take `first_iterations`. The other options are those of ddp(); set
`max_seconds` where there is a deadline. The problem is copied.)",
      nb::type_slots(horizon_slots))
      .def(
          "__init__",
          [](PythonHorizon* self, const PythonProblem& given, const PlanIn& initial, int first_iterations,
             int max_iterations, std::optional<double> max_seconds, double tolerance, double feasibility, int threads,
             const std::optional<GradientOptions>& gradient, const ProgressIn& progress, double initial_regularization,
             double largest_regularization, int line_search, bool gains) {
            in_python_words([&] {
              ReadyProblem problem = ready(given);
              check_problem(problem.problem);
              const Plan plan = initial.get("initial", problem.problem);
              DdpOptions options = ddp_options(initial_regularization, largest_regularization, line_search, gains);
              const CommonOptions common = {max_iterations, max_seconds, tolerance, feasibility,
                                            threads,        gradient,    progress};
              common.write(options, problem.state);
              RecedingHorizon controller(problem.problem, options, plan, first_iterations);
              new (self) PythonHorizon{std::move(problem), progress ? nb::object(*progress) : nb::object(), options,
                                       std::move(controller)};
            });
          },
          nb::arg("problem"), nb::arg("initial").none() = nb::none(), nb::kw_only(), nb::arg("first_iterations") = 200,
          nb::arg("max_iterations") = 200, nb::arg("max_seconds") = nb::none(), nb::arg("tolerance") = 1e-6,
          nb::arg("feasibility") = 1e-6, nb::arg("threads") = 1, nb::arg("gradient") = nb::none(),
          nb::arg("progress") = nb::none(), nb::arg("initial_regularization") = 0.0,
          nb::arg("largest_regularization") = 1e10, nb::arg("line_search") = 10, nb::arg("gains") = false)
      .def("update", &update, nb::arg("q"), nb::arg("v"), nb::arg("steps") = nb::none(),
           R"(The controls for now (m,): those of the first knot of a new plan from the state (q, v).

`steps` have passed since the last call, a multiple of Problem.hold; None: one knot. Ignored the first time. If the
old plan leads from here to a motion that diverges, planning starts anew from no forces, and solution.message says
so. Ctrl-C is raised when the plan is done.)")
      .def_prop_ro("solution", &solution_of, "Of the last update.")
      .def_prop_ro(
          "updates", [](const PythonHorizon& self) { return self.controller.updates(); }, "How many there were.")
      .def("__repr__", [](const PythonHorizon& self) {
        return fmt::format("<RecedingHorizon: {} steps of {:g} s, {} updates>", self.problem.problem.steps,
                           self.problem.problem.step.time_step, self.controller.updates());
      });
}

}  // namespace lithe::python

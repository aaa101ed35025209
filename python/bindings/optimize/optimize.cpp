#include <array>
#include <string_view>
#include <utility>

#include "python/bindings/optimize/optimize_arguments.h"
#include "python/bindings/parts.h"

namespace lithe::python {

std::string python_words(std::string text) {
  // Longer phrases first.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kWords = {{
      {"Problem::start.v", "Problem.v"},
      {"Problem::motor_targets", "Problem.targets"},
      {"(actuate_joints() names all joints)", "(Problem.actuate_joints() names all joints)"},
      {"give Problem::actuated, free_start or free_parameters",
       "give Problem.actuated, or call add_free_start() or add_free_parameter()"},
      {"Problem::", "Problem."},
      {"Plan::", "Plan."},
      {"Times::running()", "times='running'"},
      {"(model/parameters.h lists the names)", "(model.parameter_names() lists them)"},
      {"set ResidualCheckOptions::controls to how many there are", "say how many there are: controls=…"},
      {"ResidualCheckOptions::", ""},
      {"stopped by SolveOptions::progress", "stopped by progress()"},
      {"SolveOptions::", ""},
      {"DdpOptions::", ""},
      {"SingleShootingOptions::Method::", "method "},
      {"SingleShootingOptions::", ""},
      {"MultipleShootingOptions::", ""},
      {"StochasticSearchOptions::", ""},
      {"HybridOptions::", ""},
      {"HybridOptions has", "there are"},
      {"GradientOptions::", "GradientOptions."},
      {"Method::", "method "},
      {"name some in Identification::parameters", "name some in parameters"},
      {"Identification::", ""},
      {"RecedingHorizon::update: ", ""},
  }};
  for (const auto& [from, to] : kWords) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

std::function<bool(const Progress&)> progress_of(nb::handle function, std::shared_ptr<CallState> state) {
  return [function, state = std::move(state)](const Progress& line) {
    const nb::gil_scoped_acquire gil;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (function.is_valid() && !function.is_none()) {
        const nb::object answer = function(line);
        const int wants_more = answer.is_none() ? 1 : PyObject_IsTrue(answer.ptr());
        if (wants_more < 0) throw nb::python_error();
        if (wants_more == 0) return false;
      }
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_KeyboardInterrupt)) throw;
      state->interrupted = true;
    }
    return !state->interrupted;
  };
}

void bind_optimize(nb::module_& m) {
  bind_residuals(m);
  bind_problem(m);
  bind_plan(m);
  bind_solution(m);
  bind_solvers(m);
  bind_receding_horizon(m);
  bind_identification(m);
}

}  // namespace lithe::python

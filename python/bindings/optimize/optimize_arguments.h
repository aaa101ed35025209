#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lithe/core/check.h"
#include "lithe/optimize/solve.h"
#include "python/bindings/optimize/residual_adapter.h"
#include "python/bindings/values/arrays.h"
#include "python/bindings/values/choices.h"

// What problems, solvers and identification share.
namespace lithe::python {

// A text of the C++ library, with the names that things have in Python.
std::string python_words(std::string text);

// An enumeration of names prints as these: print(solution.reason) is "converged".
template <class Enum>
void print_names(nb::enum_<Enum>& enumeration) {
  const auto format = [](nb::handle self, nb::handle how) {
    const nb::object name = self.attr("value");
    return nb::steal<nb::str>(PyObject_Format(name.ptr(), how.ptr()));
  };
  enumeration.def("__str__", [](nb::handle self) { return nb::str(nb::handle(self.attr("value"))); });
  enumeration.def("__format__", format, nb::arg("format_spec"),
                  nb::sig("def __format__(self, format_spec: str) -> str"));
}

// Runs `action`; an Error that it throws is thrown with python_words().
template <class Action>
auto in_python_words(Action action) {
  try {
    return action();
  } catch (const Error& error) {
    throw Error(python_words(error.what()));
  }
}

// lithe.Cost and lithe.PathConstraint: a residual, as a Python object, and the rest.
struct PythonCost {
  nb::object residual;
  Cost cost;
};
struct PythonConstraint {
  nb::object residual;
  PathConstraint constraint;
};

using NormIn = Choice<Norm>;
using KindIn = Choice<PathConstraint::Kind>;
PythonCost cost_of(nb::handle residual, const NormIn& norm, nb::handle times, double weight,
                   const OptionalArray& scales, double width);
PythonConstraint constraint_of(nb::handle residual, const KindIn& kind, nb::handle times);

// lithe.Problem. Costs and constraints are lists of Python, so that they are changed as such.
struct PythonProblem {
  Problem problem;
  nb::list costs, constraints;
};

// A problem as solvers take it. Python objects that its residuals call are in `keep`, and must last as long;
// destroyed with the GIL held.
struct ReadyProblem {
  Problem problem;
  std::shared_ptr<CallState> state;
  std::vector<nb::object> keep;
};
// Where Ctrl-C is not to be turned into the end of a solve, there is no state, and functions just raise it.
ReadyProblem ready(const PythonProblem& problem, bool stops_at_interrupts = true);

// lithe.Solution.
struct PythonSolution {
  Solution solution;
  MatX tau;  // nv × T
  bool feasible;
};
PythonSolution to_python(const Problem& problem, Solution solution, const SolveOptions& options,
                         const CallState& state);

// References that Python's collector must know of: functions refer to problems that refer to functions.
template <class T, class ForEach>
int visit_members(PyObject* self, visitproc visit, void* arg, ForEach for_each) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const nb::handle member : for_each(*nb::inst_ptr<T>(self))) Py_VISIT(member.ptr());
  return 0;
}
// A copy that cannot be written to: numbers of a problem change by assignment, and writing into a copy would be lost.
Array frozen(const VecX& vector);
std::optional<Array> frozen_or_none(const VecX& vector);

// A plan, a Solution, an array of controls (knots, m) or (m,), or None: no forces.
class PlanIn {
 public:
  PlanIn() = default;
  explicit PlanIn(nb::handle object) : object_(nb::borrow(object)) {}
  Plan get(const char* name, const Problem& problem) const;

 private:
  nb::object object_;
};

// {'name': (lower, upper)}.
class BoundsIn {
 public:
  BoundsIn() = default;
  explicit BoundsIn(nb::handle object) : object_(nb::borrow(object)) {}
  std::vector<FreeParameter> get(const char* name) const;

 private:
  nb::object object_;
};

// SolveOptions::progress that looks for Ctrl-C and then calls `function`, if it is one. The function must last.
std::function<bool(const Progress&)> progress_of(nb::handle function, std::shared_ptr<CallState> state);

}  // namespace lithe::python

namespace nanobind::detail {

template <>
struct type_caster<lithe::python::PlanIn> {
  NB_TYPE_CASTER(lithe::python::PlanIn, const_name("Plan | Solution | numpy.typing.ArrayLike"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    value = lithe::python::PlanIn(source);
    return true;
  }
  static handle from_cpp(const lithe::python::PlanIn&, rv_policy, cleanup_list*) noexcept { return none().release(); }
};

template <>
struct type_caster<lithe::python::BoundsIn> {
  NB_TYPE_CASTER(lithe::python::BoundsIn, const_name("dict[str, tuple[float, float]]"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    value = lithe::python::BoundsIn(source);
    return true;
  }
  static handle from_cpp(const lithe::python::BoundsIn&, rv_policy, cleanup_list*) noexcept { return none().release(); }
};

}  // namespace nanobind::detail

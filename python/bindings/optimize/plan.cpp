#include <fmt/format.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "python/bindings/optimize/optimize_arguments.h"
#include "python/bindings/parts.h"
#include "python/bindings/rollout/rollout_arguments.h"

namespace lithe::python {

namespace {

// (rows, any) as one column per row.
MatX columns_or_empty(const OptionalArray& array, const char* name) {
  return array ? MatX(array->matrix(name, -1, -1).transpose()) : MatX();
}

std::optional<Array> rows_or_none(const MatX& by_column, nb::handle owner) {
  return by_column.size() > 0 ? std::optional(rows_view_of(by_column, owner)) : std::nullopt;
}
std::optional<Array> view_or_none(const VecX& vector, nb::handle owner) {
  return vector.size() > 0 ? std::optional(view_of(vector, owner)) : std::nullopt;
}

Plan plan_of(const ArrayIn& u, const OptionalArray& start, const OptionalArray& parameters, const OptionalArray& q,
             const OptionalArray& v) {
  return {.u = u.matrix("u", -1, -1).transpose(),
          .start = vector_or_empty(start, "start"),
          .parameters = vector_or_empty(parameters, "parameters"),
          .q = columns_or_empty(q, "q"),
          .v = columns_or_empty(v, "v")};
}

const Plan& plan_in(nb::handle self) { return nb::cast<const Plan&>(self); }

void check_shape(const MatX& by_column, const char* argument, const char* part, Eigen::Index rows,
                 Eigen::Index columns) {
  if (by_column.cols() == rows && by_column.rows() == columns) return;
  throw nb::value_error(fmt::format("{}: expected {} of shape ({}, {}), got ({}, {})", argument, part, rows, columns,
                                    by_column.cols(), by_column.rows())
                            .c_str());
}

}  // namespace

Plan PlanIn::get(const char* name, const Problem& problem) const {
  if (!object_.is_valid() || object_.is_none()) return initial_plan(problem);
  Plan plan;
  const Plan* given = nullptr;
  const PythonSolution* solution = nullptr;
  if (nb::try_cast(object_, given, false)) {
    plan = *given;
  } else if (nb::try_cast(object_, solution, false)) {
    plan = solution->solution.plan;
  } else {
    const ArrayIn array(object_);
    plan = initial_plan(problem);
    if (array.view(name).shape.size() == 1) {
      plan.u.colwise() = array.vector(name, problem.controls());
    } else {
      plan.u = array.matrix(name, problem.knots(), problem.controls()).transpose();
    }
  }
  check_shape(plan.u, name, "u", problem.knots(), problem.controls());
  if (plan.q.size() > 0) check_shape(plan.q, name, "q", problem.steps + 1, problem.model.nq());
  if (plan.v.size() > 0) check_shape(plan.v, name, "v", problem.steps + 1, problem.model.nv());
  return plan;
}

void bind_plan(nb::module_& m) {
  nb::class_<Plan>(
      m, "Plan",
      "The values of everything that is free in a Problem. Its arrays are read-only; another plan is made of others: "
      "Plan(plan.u + 1).")
      .def(
          "__init__",
          [](Plan* self, const ArrayIn& u, const OptionalArray& start, const OptionalArray& parameters,
             const OptionalArray& q, const OptionalArray& v) { new (self) Plan(plan_of(u, start, parameters, q, v)); },
          nb::arg("u"), nb::kw_only(), nb::arg("start") = nb::none(), nb::arg("parameters") = nb::none(),
          nb::arg("q") = nb::none(), nb::arg("v") = nb::none())
      .def_prop_ro(
          "u", [](nb::handle self) { return rows_view_of(plan_in(self).u, self); }, "Controls (knots, m), N or N·m.")
      .def_prop_ro(
          "start", [](nb::handle self) { return view_or_none(plan_in(self).start, self); },
          "One per free number of the start: the offset from the problem's (n,). None: zero.")
      .def_prop_ro(
          "parameters", [](nb::handle self) { return view_or_none(plan_in(self).parameters, self); },
          "One per free number of the model (n,). None: the model's own.")
      .def_prop_ro(
          "q", [](nb::handle self) { return rows_or_none(plan_in(self).q, self); },
          "A guess of the states (T + 1, nq), for multiple_shooting() and ddp(), which close the gaps between them. "
          "None: "
          "those that u leads to.")
      .def_prop_ro(
          "v", [](nb::handle self) { return rows_or_none(plan_in(self).v, self); }, "(T + 1, nv)")
      .def(
          "shifted",
          [](Plan self, const PythonProblem& problem, int steps) {
            return in_python_words([&] {
              shift(problem.problem, steps, self);
              return self;
            });
          },
          nb::arg("problem"), nb::arg("steps"),
          "What is left of the plan after `steps` steps: the rest, moved to the front, its last controls repeated.")
      .def("__repr__",
           [](const Plan& plan) {
             return fmt::format(
                 "<Plan: u ({}, {}){}{}{}>", plan.u.cols(), plan.u.rows(),
                 plan.start.size() > 0 ? fmt::format(", start ({},)", plan.start.size()) : "",
                 plan.parameters.size() > 0 ? fmt::format(", parameters ({},)", plan.parameters.size()) : "",
                 plan.q.size() > 0 ? ", with states" : "");
           })
      .def(
          "__getstate__",
          [](nb::handle self) {
            const Plan& plan = plan_in(self);
            return nb::make_tuple(rows_view_of(plan.u, self).object, view_or_none(plan.start, self),
                                  view_or_none(plan.parameters, self), rows_or_none(plan.q, self),
                                  rows_or_none(plan.v, self));
          },
          nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__setstate__",
          [](Plan& self, const std::tuple<ArrayIn, OptionalArray, OptionalArray, OptionalArray, OptionalArray>& state) {
            std::apply([&](const auto&... parts) { new (&self) Plan(plan_of(parts...)); }, state);
          });
}

}  // namespace lithe::python

#include <fmt/format.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "python/bindings/optimize/optimize_arguments.h"
#include "python/bindings/parts.h"

namespace lithe::python {

namespace {

// 'running', 'all', 'final', one time, or (first, last).
Times times_of(nb::handle times) {
  const auto refuse = [&] {
    throw nb::value_error(
        fmt::format("times: expected 'running', 'all', 'final', a step, or a pair (first, last), got {}",
                    nb::repr(times).c_str())
            .c_str());
  };
  if (nb::isinstance<nb::str>(times)) {
    const auto name = nb::cast<std::string>(times);
    if (name == "running") return Times::running();
    if (name == "all") return Times::all();
    if (name != "final") refuse();
    return Times::final();
  }
  int at = 0;
  if (nb::try_cast(times, at)) return Times::at(at);
  std::pair<int, int> range;
  if (!nb::try_cast(times, range)) refuse();
  return {range.first, range.second};
}

std::string times_text(const Times& times) {
  const auto is = [&](const Times& other) { return times.first == other.first && times.last == other.last; };
  if (is(Times::running())) return "running";
  if (is(Times::all())) return "all";
  if (is(Times::final())) return "final";
  return fmt::format("({}, {})", times.first, times.last);
}

std::string residual_text(const nb::object& residual) { return nb::cast<std::string>(residual.attr("name")); }

template <class T>
int traverse_term(PyObject* self, visitproc visit, void* arg) {
  return visit_members<T>(self, visit, arg, [](const T& term) { return std::array<nb::handle, 1>{term.residual}; });
}
template <class T>
int clear_term(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<T>(self)->residual.reset();
  return 0;
}
PyType_Slot cost_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_term<PythonCost>)},
                            {Py_tp_clear, reinterpret_cast<void*>(&clear_term<PythonCost>)},
                            {0, nullptr}};
PyType_Slot constraint_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_term<PythonConstraint>)},
                                  {Py_tp_clear, reinterpret_cast<void*>(&clear_term<PythonConstraint>)},
                                  {0, nullptr}};
constexpr const char* kTimesDoc =
    "(first, last): t = first … last, negative numbers from the end (−1 is T). Set to these, to one time, or "
    "to 'running', 'all' or 'final'.";

}  // namespace

Array frozen(const VecX& vector) {
  Array array = to_numpy(vector);
  array.object.attr("setflags")(nb::arg("write") = false);
  return array;
}
std::optional<Array> frozen_or_none(const VecX& vector) {
  return vector.size() > 0 ? std::optional(frozen(vector)) : std::nullopt;
}

PythonCost cost_of(nb::handle residual, const NormIn& norm, nb::handle times, double weight,
                   const OptionalArray& scales, double width) {
  return {.residual = residual_object(residual, "residual"),
          .cost = {.residual = {},
                   .times = times_of(times),
                   .weight = weight,
                   .scales = scales ? scales->vector("scales") : VecX(),
                   .norm = norm.get("norm"),
                   .width = width}};
}

PythonConstraint constraint_of(nb::handle residual, const KindIn& kind, nb::handle times) {
  return {.residual = residual_object(residual, "residual"),
          .constraint = {.residual = {}, .times = times_of(times), .kind = kind.get("kind")}};
}

void bind_problem_terms(nb::module_& m) {
  print_names(
      nb::enum_<Norm>(m, "Norm", "How the numbers r of a residual become a cost.", nb::is_str())
          .str_value("square", Norm::square, "square", "weight · Σ s r²")
          .str_value("smooth_size", Norm::smooth_size, "smooth_size",
                     "weight · Σ s (√(r² + width²) − width): |r| from afar, quadratic within `width`")
          .str_value("signed_square", Norm::signed_square, "signed_square", "weight · Σ s r |r|: rewards going one way")
          .str_value("linear", Norm::linear, "linear", "weight · Σ s r: r is the cost itself"));
  print_names(nb::enum_<PathConstraint::Kind>(m, "ConstraintKind", "What a constraint's numbers must be.", nb::is_str())
                  .str_value("zero", PathConstraint::Kind::zero, "zero")
                  .str_value("not_positive", PathConstraint::Kind::not_positive, "not_positive"));

  nb::class_<PythonCost>(m, "Cost", "A residual, made one number by a norm, at some times.", nb::type_slots(cost_slots))
      .def(
          "__init__",
          [](PythonCost* self, nb::handle residual, const NormIn& norm, nb::handle times, double weight,
             const OptionalArray& scales,
             double width) { new (self) PythonCost(cost_of(residual, norm, times, weight, scales, width)); },
          nb::arg("residual"), nb::kw_only(), nb::arg("norm") = "square", nb::arg("times") = "running",
          nb::arg("weight") = 1.0, nb::arg("scales") = nb::none(), nb::arg("width") = 1e-2,
          nb::sig("def __init__(self, residual: Residual | collections.abc.Callable[[ResidualPoint], typing.Any], *, "
                  "norm: Norm | str = "
                  "'square', times: str | int | tuple[int, int] = 'running', weight: float = 1.0, scales: "
                  "numpy.typing.ArrayLike | None = "
                  "None, width: float = 0.01) -> None"))
      .def_prop_ro(
          "residual", [](const PythonCost& self) { return self.residual; }, nb::sig("def residual(self) -> Residual"))
      .def_prop_rw(
          "norm", [](const PythonCost& self) { return self.cost.norm; },
          [](PythonCost& self, const NormIn& norm) { self.cost.norm = norm.get("norm"); })
      .def_prop_rw(
          "times", [](const PythonCost& self) { return std::pair(self.cost.times.first, self.cost.times.last); },
          [](PythonCost& self, nb::handle times) { self.cost.times = times_of(times); }, kTimesDoc)
      .def_prop_rw(
          "weight", [](const PythonCost& self) { return self.cost.weight; },
          [](PythonCost& self, double weight) { self.cost.weight = weight; })
      .def_prop_rw(
          "scales", [](const PythonCost& self) { return frozen_or_none(self.cost.scales); },
          [](PythonCost& self, const OptionalArray& scales) {
            self.cost.scales = scales ? scales->vector("scales") : VecX();
          },
          nb::arg("scales").none(), "s, one per number of the residual (k,); None: all 1.")
      .def_prop_rw(
          "width", [](const PythonCost& self) { return self.cost.width; },
          [](PythonCost& self, double width) { self.cost.width = width; }, "Of the norm smooth_size.")
      .def("__repr__", [](const PythonCost& self) {
        return fmt::format("<Cost: {}, times {}, weight {:g}>", residual_text(self.residual),
                           times_text(self.cost.times), self.cost.weight);
      });

  nb::class_<PythonConstraint>(m, "PathConstraint",
                               "A residual that must be zero, or must not be positive, at some times.",
                               nb::type_slots(constraint_slots))
      .def(
          "__init__",
          [](PythonConstraint* self, nb::handle residual, const KindIn& kind, nb::handle times) {
            new (self) PythonConstraint(constraint_of(residual, kind, times));
          },
          nb::arg("residual"), nb::kw_only(), nb::arg("kind") = "zero", nb::arg("times") = "final",
          nb::sig("def __init__(self, residual: Residual | collections.abc.Callable[[ResidualPoint], typing.Any], *, "
                  "kind: ConstraintKind | "
                  "str = 'zero', times: str | int | tuple[int, int] = 'final') -> None"))
      .def_prop_ro(
          "residual", [](const PythonConstraint& self) { return self.residual; },
          nb::sig("def residual(self) -> Residual"))
      .def_prop_rw(
          "kind", [](const PythonConstraint& self) { return self.constraint.kind; },
          [](PythonConstraint& self, const KindIn& kind) { self.constraint.kind = kind.get("kind"); })
      .def_prop_rw(
          "times",
          [](const PythonConstraint& self) {
            return std::pair(self.constraint.times.first, self.constraint.times.last);
          },
          [](PythonConstraint& self, nb::handle times) { self.constraint.times = times_of(times); }, kTimesDoc)
      .def("__repr__", [](const PythonConstraint& self) {
        return fmt::format("<PathConstraint: {} {}, times {}>", residual_text(self.residual),
                           self.constraint.kind == PathConstraint::Kind::zero ? "= 0" : "≤ 0",
                           times_text(self.constraint.times));
      });
}

}  // namespace lithe::python

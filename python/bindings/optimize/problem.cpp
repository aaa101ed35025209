#include "lithe/optimize/problem.h"

#include <fmt/format.h>

#include <cmath>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <variant>

#include "lithe/optimize/solvers/evaluated_motion.h"
#include "python/bindings/optimize/optimize_arguments.h"
#include "python/bindings/parts.h"
#include "python/bindings/values/arguments.h"

namespace lithe::python {

using namespace internal;

namespace {

int traverse_problem(PyObject* self, visitproc visit, void* arg) {
  return visit_members<PythonProblem>(self, visit, arg, [](const PythonProblem& problem) {
    return std::array<nb::handle, 2>{problem.costs, problem.constraints};
  });
}
int clear_problem(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  nb::inst_ptr<PythonProblem>(self)->costs.reset();
  nb::inst_ptr<PythonProblem>(self)->constraints.reset();
  return 0;
}

PyType_Slot problem_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_problem)},
                               {Py_tp_clear, reinterpret_cast<void*>(&clear_problem)},
                               {0, nullptr}};

// A DoF by its number, or that of a 1-DoF joint by its name.
int dof_of(const Model& model, const std::variant<int, std::string>& dof) {
  if (std::holds_alternative<int>(dof)) return std::get<int>(dof);
  const auto& name = std::get<std::string>(dof);
  const Joint& joint = model.joints()[model.joint(name)];
  LITHE_CHECK(joint.type != JointType::ball, "joint '{}' is a ball: name one of its DoFs by its number", name);
  return joint.v_index;
}

std::string describe_problem(const PythonProblem& self) {
  const Problem& problem = self.problem;
  return fmt::format(
      "<Problem: {} steps of {:g} s, {} controls with {} knots, {} costs, {} constraints, {} free otherwise>",
      problem.steps, problem.step.time_step, problem.controls(),
      problem.steps > 0 && problem.hold > 0 ? problem.knots() : 0, nb::len(self.costs), nb::len(self.constraints),
      problem.free_start.size() + problem.free_parameters.size());
}

constexpr const char* kProblemDoc =
    R"(What a motion shall be: x_{t+1} = step(x_t, u_t) for t = 0 … T − 1 from (q, v), with the controls u (forces
on the actuated DoFs) chosen such that the costs are small and the constraints hold:

    minimise Σ costs   over u_0 …, and the free numbers of the start and of the model,   lower ≤ u ≤ upper

`steps` is T, `hold` the steps for which a control stays, `options` a StepOptions or a time step in seconds,
`targets` those of the model's own motors, the same in all steps (None: motors are off). The model is copied. v may
be None: at rest.)";

void bind_problem_class(nb::module_& m) {
  nb::class_<PythonProblem>(m, "Problem", kProblemDoc, nb::type_slots(problem_slots))
      .def(
          "__init__",
          [](PythonProblem* self, const Model& model, const ArrayIn& q, const OptionalArray& v, int steps, int hold,
             const OptionsIn& options, const OptionalArray& targets) {
            if (steps < 1) throw nb::value_error(fmt::format("steps: expected at least 1, got {}", steps).c_str());
            if (hold < 1) throw nb::value_error(fmt::format("hold: expected at least 1, got {}", hold).c_str());
            new (self) PythonProblem{
                .problem = {.model = model,
                            .start = {q.vector("q", model.nq()),
                                      v ? v->vector("v", model.nv()) : VecX(VecX::Zero(model.nv()))},
                            .steps = steps,
                            .hold = hold,
                            .step = options.get(),
                            .motor_targets =
                                vector_or_empty(targets, "targets", static_cast<Eigen::Index>(model.motors().size()))},
                .costs = {},
                .constraints = {}};
          },
          nb::arg("model"), nb::arg("q"), nb::arg("v").none(), nb::arg("steps"), nb::kw_only(), nb::arg("hold") = 1,
          nb::arg("options").none() = nb::none(), nb::arg("targets") = nb::none())
      .def_prop_ro(
          "model", [](PythonProblem& self) -> Model& { return self.problem.model; }, nb::rv_policy::reference_internal,
          "The problem's own copy.")
      .def_prop_rw(
          "q", [](const PythonProblem& self) { return frozen(self.problem.start.q); },
          [](PythonProblem& self, const ArrayIn& q) { self.problem.start.q = q.vector("q", self.problem.model.nq()); },
          "The configuration that the motion starts from (nq,).")
      .def_prop_rw(
          "v", [](const PythonProblem& self) { return frozen(self.problem.start.v); },
          [](PythonProblem& self, const ArrayIn& v) { self.problem.start.v = v.vector("v", self.problem.model.nv()); },
          "The velocity that it starts with (nv,).")
      .def_prop_rw(
          "steps", [](const PythonProblem& self) { return self.problem.steps; },
          [](PythonProblem& self, int steps) { self.problem.steps = steps; }, "T.")
      .def_prop_rw(
          "hold", [](const PythonProblem& self) { return self.problem.hold; },
          [](PythonProblem& self, int hold) { self.problem.hold = hold; },
          "Steps for which a control stays; the last one may be cut short.")
      .def_prop_rw(
          "options", [](PythonProblem& self) -> StepOptions& { return self.problem.step; },
          [](PythonProblem& self, const OptionsIn& options) { self.problem.step = options.get(); },
          nb::rv_policy::reference_internal, "How steps are taken.")
      .def_prop_rw(
          "targets", [](const PythonProblem& self) { return frozen_or_none(self.problem.motor_targets); },
          [](PythonProblem& self, const OptionalArray& targets) {
            self.problem.motor_targets =
                vector_or_empty(targets, "targets", static_cast<Eigen::Index>(self.problem.model.motors().size()));
          },
          nb::arg("targets").none(), "Of the model's own motors, in all steps (motors,); None: motors are off.")
      .def_prop_rw(
          "actuated", [](const PythonProblem& self) { return self.problem.actuated; },
          [](PythonProblem& self, const std::vector<int>& dofs) {
            self.problem.actuated = dofs;
            self.problem.lower.resize(0);
            self.problem.upper.resize(0);
            self.problem.u_before.resize(0);
          },
          "The DoF that each control pushes. Setting it clears the bounds.")
      .def(
          "actuate_joints",
          [](PythonProblem& self, const std::optional<std::vector<std::string>>& names) {
            in_python_words([&] { names ? actuate_joints(self.problem, *names) : actuate_joints(self.problem); });
          },
          nb::arg("names") = nb::none(),
          "One control per joint, within ± its effort limit. Without names: every 1-DoF joint that has a finite effort "
          "limit above "
          "zero; where none has one, every 1-DoF joint that is not part of a floating base, without bounds.")
      .def_prop_rw(
          "lower", [](const PythonProblem& self) { return frozen_or_none(self.problem.lower); },
          [](PythonProblem& self, const OptionalArray& lower) {
            self.problem.lower = vector_or_empty(lower, "lower", self.problem.controls());
          },
          nb::arg("lower").none(), "Lower bounds of the controls (m,), N or N·m; None: none.")
      .def_prop_rw(
          "upper", [](const PythonProblem& self) { return frozen_or_none(self.problem.upper); },
          [](PythonProblem& self, const OptionalArray& upper) {
            self.problem.upper = vector_or_empty(upper, "upper", self.problem.controls());
          },
          nb::arg("upper").none(), "Upper bounds of the controls (m,), N or N·m; None: none.")
      .def_prop_rw(
          "u_before", [](const PythonProblem& self) { return frozen_or_none(self.problem.u_before); },
          [](PythonProblem& self, const OptionalArray& u_before) {
            self.problem.u_before = vector_or_empty(u_before, "u_before", self.problem.controls());
          },
          nb::arg("u_before").none(), "What control_change() compares the first controls with (m,); None: zero.")
      .def_prop_ro(
          "controls", [](const PythonProblem& self) { return self.problem.controls(); }, "How many there are: m.")
      .def_prop_ro(
          "knots", [](const PythonProblem& self) { return self.problem.knots(); }, "⌈T / hold⌉: rows of a plan's u.")
      .def_prop_ro(
          "costs", [](const PythonProblem& self) { return self.costs; }, nb::sig("def costs(self) -> list[Cost]"),
          "A list, which may be changed.")
      .def_prop_ro(
          "constraints", [](const PythonProblem& self) { return self.constraints; },
          nb::sig("def constraints(self) -> list[PathConstraint]"), "A list, which may be changed.")
      .def(
          "add_cost",
          [](PythonProblem& self, nb::handle residual, const NormIn& norm, nb::handle times, double weight,
             const OptionalArray& scales, double width) {
            nb::object cost = nb::cast(cost_of(residual, norm, times, weight, scales, width));
            self.costs.append(cost);
            return cost;
          },
          nb::arg("residual"), nb::kw_only(), nb::arg("norm") = "square", nb::arg("times") = "running",
          nb::arg("weight") = 1.0, nb::arg("scales") = nb::none(), nb::arg("width") = 1e-2,
          nb::sig("def add_cost(self, residual: Residual | collections.abc.Callable[[ResidualPoint], typing.Any], *, "
                  "norm: Norm | str = "
                  "'square', times: str | int | tuple[int, int] = 'running', weight: float = 1.0, scales: "
                  "numpy.typing.ArrayLike | None = "
                  "None, width: float = 0.01) -> Cost"),
          R"(Adds a cost: a Residual, or a function of a ResidualPoint (residuals.custom() says more), made one
number by `norm`.

`times` says when it counts: 'running' (t = 0 … T − 1), 'all', 'final' (T), one step, or (first, last); negative
numbers count from the end, and −1 is T. A running cost is a sum over steps, not an integral. `scales` (k,) weighs
the residual's numbers; `width` is of 'smooth_size'. Returns the Cost, whose weight may be changed later.)")
      .def(
          "add_constraint",
          [](PythonProblem& self, nb::handle residual, const KindIn& kind, nb::handle times) {
            nb::object constraint = nb::cast(constraint_of(residual, kind, times));
            self.constraints.append(constraint);
            return constraint;
          },
          nb::arg("residual"), nb::kw_only(), nb::arg("kind") = "zero", nb::arg("times") = "final",
          nb::sig("def add_constraint(self, residual: Residual | collections.abc.Callable[[ResidualPoint], "
                  "typing.Any], *, kind: "
                  "ConstraintKind | str = 'zero', times: str | int | tuple[int, int] = 'final') -> PathConstraint"),
          "Numbers that must be zero ('zero') or must not be positive ('not_positive') at their times.")
      .def(
          "add_free_start",
          [](PythonProblem& self, const std::variant<int, std::string>& dof, double range, bool velocity) {
            self.problem.free_start.push_back({dof_of(self.problem.model, dof), velocity, range});
          },
          nb::arg("dof"), nb::arg("range"), nb::kw_only(), nb::arg("velocity") = false,
          "Lets a DoF of the start be chosen too: ± range from q, in its tangent, or from v. A DoF is named by its "
          "number or by its joint.")
      .def(
          "add_free_parameter",
          [](PythonProblem& self, const std::string& name, double lower, double upper) {
            self.problem.free_parameters.push_back({name, lower, upper});
          },
          nb::arg("name"), nb::arg("lower"), nb::arg("upper"),
          "Lets a number of the model ('body/arm/mass') be chosen too, within bounds.")
      .def_prop_ro(
          "free_start",
          [](const PythonProblem& self) {
            std::vector<std::tuple<int, bool, double>> free;
            for (const FreeStart& f : self.problem.free_start) free.emplace_back(f.dof, f.velocity, f.range);
            return free;
          },
          "(dof, whether it is its velocity, range) of each.")
      .def_prop_ro(
          "free_parameters",
          [](const PythonProblem& self) {
            std::vector<std::tuple<std::string, double, double>> free;
            for (const FreeParameter& f : self.problem.free_parameters) free.emplace_back(f.name, f.lower, f.upper);
            return free;
          },
          "(name, lower, upper) of each.")
      .def(
          "check",
          [](const PythonProblem& self) { in_python_words([&] { check_problem(ready(self, false).problem); }); },
          "Raises an Error that says which part makes no sense, and why. Solvers do this first.")
      .def(
          "initial_plan", [](const PythonProblem& self) { return initial_plan(self.problem); },
          "No forces (or the bound nearest to that), the start as given, the model's own numbers.")
      .def(
          "evaluate",
          [](const PythonProblem& self, const PlanIn& plan) {
            const ReadyProblem problem = ready(self, false);
            return in_python_words([&] {
              check_problem(problem.problem);
              const Plan given = plan.get("plan", problem.problem);
              const nb::gil_scoped_release released;
              MotionEvaluator evaluator(problem.problem);
              EvaluatedMotion motion;
              evaluator.run(given, MotionEvaluator::Keep::nothing, nullptr, motion);
              return std::pair(motion.cost, motion.violation);
            });
          },
          nb::arg("plan").none() = nb::none(),
          "The cost of the motion that a plan leads to, and the largest violation of a constraint. Infinite where it "
          "diverges.")
      .def(
          "copy",
          [](const PythonProblem& self) {
            return PythonProblem{self.problem, nb::list(self.costs.attr("copy")()),
                                 nb::list(self.constraints.attr("copy")())};
          },
          "Costs and constraints are the same objects, in new lists.")
      .def("__repr__", &describe_problem);
}

}  // namespace

ReadyProblem ready(const PythonProblem& self, bool stops_at_interrupts) {
  ReadyProblem out = {
      .problem = self.problem, .state = stops_at_interrupts ? std::make_shared<CallState>() : nullptr, .keep = {}};
  Problem& problem = out.problem;
  std::vector<std::string> names;
  for (const FreeParameter& free : problem.free_parameters) names.push_back(free.name);
  const auto make = [&](const nb::object& object, const Times& times) {
    const auto& residual = nb::cast<PythonResidual&>(object);
    if (!residual.is_function()) return residual.library;
    FirstCall first = {.model = problem.model, .state = problem.start, .step = problem.step};
    first.t = std::clamp(times.first < 0 ? problem.steps + 1 + times.first : times.first, 0, problem.steps);
    first.at_end = first.t == problem.steps;
    if (!first.at_end) first.u = VecX::Zero(problem.controls());
    first.u_before = problem.u_before.size() > 0 ? problem.u_before : VecX(VecX::Zero(problem.controls()));
    first.parameters = StepParameters(problem.model, names);
    out.keep.push_back(residual.function);
    return residual_for(residual, first, out.state);
  };
  for (const nb::handle item : self.costs) {
    const PythonCost* cost = nullptr;
    if (!nb::try_cast(item, cost)) throw nb::type_error("Problem.costs: expected a list of Cost");
    problem.costs.push_back(cost->cost);
    problem.costs.back().residual = make(cost->residual, cost->cost.times);
  }
  for (const nb::handle item : self.constraints) {
    const PythonConstraint* constraint = nullptr;
    if (!nb::try_cast(item, constraint)) throw nb::type_error("Problem.constraints: expected a list of PathConstraint");
    problem.constraints.push_back(constraint->constraint);
    problem.constraints.back().residual = make(constraint->residual, constraint->constraint.times);
  }
  return out;
}

void bind_problem(nb::module_& m) {
  bind_problem_terms(m);
  bind_problem_class(m);
}

}  // namespace lithe::python

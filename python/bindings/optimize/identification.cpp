#include "lithe/optimize/identification.h"

#include <fmt/format.h>

#include <algorithm>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <variant>

#include "python/bindings/optimize/solve_options.h"
#include "python/bindings/parts.h"
#include "python/bindings/rollout/rollout_arguments.h"
#include "python/bindings/values/arguments.h"

namespace lithe::python {

namespace {

// lithe.ObservedMotion. Wrenches name bodies, which only a model knows.
struct PythonMotion {
  ObservedMotion motion;
  std::vector<nb::object> wrenches;
};

struct PythonIdentification {
  std::vector<std::string> names;
  IdentificationResult result;
};

void check_row_count(const char* name, Eigen::Index found, Eigen::Index wanted) {
  if (found == wanted) return;
  throw nb::value_error(fmt::format("{}: expected {} rows, got {}", name, wanted, found).c_str());
}

PythonMotion motion_of(const ArrayIn& q, const ArrayIn& v, const OptionalArray& tau, const OptionalArray& targets,
                       const std::optional<std::vector<nb::object>>& wrenches) {
  PythonMotion out;
  ObservedMotion& motion = out.motion;
  motion.q = q.matrix("q", -1, -1).transpose();
  if (motion.q.cols() < 2) {
    throw nb::value_error(
        fmt::format("q: expected at least two states (T + 1, nq), got {} rows", motion.q.cols()).c_str());
  }
  const Eigen::Index steps = motion.q.cols() - 1;
  motion.controls.steps = static_cast<int>(steps);
  motion.v = v.matrix("v", steps + 1, -1).transpose();
  if (tau) motion.controls.tau = tau->matrix("tau", steps, -1).transpose();
  if (targets) motion.controls.motor_targets = targets->matrix("targets", steps, -1).transpose();
  if (wrenches) out.wrenches = *wrenches;
  if (wrenches) check_row_count("wrenches", static_cast<Eigen::Index>(wrenches->size()), steps);
  return out;
}

// With the sizes of a model, so that errors can name them as Python sees them.
ObservedMotion motion_for(const Model& model, const PythonMotion& given) {
  ObservedMotion motion = given.motion;
  const auto check = [](const char* name, const MatX& by_column, Eigen::Index size) {
    if (by_column.size() == 0 || by_column.rows() == size) return;
    throw nb::value_error(fmt::format("motions: expected {} of shape ({}, {}), got ({}, {})", name, by_column.cols(),
                                      size, by_column.cols(), by_column.rows())
                              .c_str());
  };
  check("q", motion.q, model.nq());
  check("v", motion.v, model.nv());
  check("tau", motion.controls.tau, model.nv());
  check("targets", motion.controls.motor_targets, static_cast<Eigen::Index>(model.motors().size()));
  for (const nb::object& wrenches : given.wrenches) motion.controls.wrenches.push_back(WrenchesIn(wrenches).get(model));
  return motion;
}

std::vector<ObservedMotion> motions_for(const Model& model, nb::handle motions) {
  const PythonMotion* one = nullptr;
  if (nb::try_cast(motions, one, false)) return {motion_for(model, *one)};
  std::vector<ObservedMotion> all;
  if (PySequence_Check(motions.ptr()) != 0) {
    for (const nb::handle item : motions) {
      if (!nb::try_cast(item, one, false)) break;
      all.push_back(motion_for(model, *one));
    }
  }
  if (all.empty() || all.size() != nb::len(motions)) {
    throw nb::type_error(fmt::format("motions: expected an ObservedMotion or a list of them (at least one), got {}",
                                     nb::type_name(motions.type()).c_str())
                             .c_str());
  }
  return all;
}

int place_of(const PythonIdentification& self, std::string_view name) {
  const auto found = std::ranges::find(self.names, name);
  if (found == self.names.end()) throw nb::key_error(std::string(name).c_str());
  return static_cast<int>(found - self.names.begin());
}

std::string describe_identification(const PythonIdentification& self) {
  std::string values;
  for (std::size_t k = 0; k < self.names.size(); ++k) {
    values +=
        fmt::format("{} = {:.5g} ± {:.2g}, ", self.names[k], self.result.parameters[k], self.result.deviations[k]);
  }
  return fmt::format("<IdentificationResult: {}{}>", values, to_string(self.result.reason));
}

void bind_types(nb::module_& m) {
  nb::class_<PythonMotion>(m, "ObservedMotion", "A motion as it was measured: the states, and what acted.")
      .def(
          "__init__",
          [](PythonMotion* self, const ArrayIn& q, const ArrayIn& v, const OptionalArray& tau,
             const OptionalArray& targets, const std::optional<std::vector<nb::object>>& wrenches) {
            new (self) PythonMotion(motion_of(q, v, tau, targets, wrenches));
          },
          nb::arg("q"), nb::arg("v"), nb::arg("tau") = nb::none(), nb::kw_only(), nb::arg("targets") = nb::none(),
          nb::arg("wrenches") = nb::none(),
          nb::sig("def __init__(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, tau: "
                  "numpy.typing.ArrayLike | None = None, *, "
                  "targets: numpy.typing.ArrayLike | None = None, wrenches: collections.abc.Sequence[dict[str, "
                  "typing.Any] | None] | None = None) -> None"),
          "q (T + 1, nq) and v (T + 1, nv) are the states; noise is expected, in the tangent of q. tau (T, nv) are "
          "generalised forces, "
          "`targets` (T, motors) those of motors (None: off), `wrenches` one dict per step as step() takes it.")
      .def_prop_ro(
          "q", [](nb::handle self) { return rows_view_of(nb::cast<PythonMotion&>(self).motion.q, self); },
          "(T + 1, nq)")
      .def_prop_ro(
          "v", [](nb::handle self) { return rows_view_of(nb::cast<PythonMotion&>(self).motion.v, self); },
          "(T + 1, nv)")
      .def("__len__", [](const PythonMotion& self) { return self.motion.controls.steps; })
      .def("__repr__", [](const PythonMotion& self) {
        return fmt::format("<ObservedMotion: {} steps>", self.motion.controls.steps);
      });

  nb::class_<PythonIdentification>(m, "IdentificationResult", "The numbers of a model that explain the motions best.")
      .def_ro("names", &PythonIdentification::names)
      .def_prop_ro(
          "parameters",
          [](nb::handle self) { return view_of(nb::cast<PythonIdentification&>(self).result.parameters, self); },
          "The estimates, in the order of `names` (n,): model.set_parameters(result.names, result.parameters).")
      .def_prop_ro(
          "deviations",
          [](nb::handle self) { return view_of(nb::cast<PythonIdentification&>(self).result.deviations, self); },
          "Standard deviations that the noise that is left lets expect (n,). Infinite: the motions do not show the "
          "number.")
      .def(
          "__getitem__",
          [](const PythonIdentification& self, std::string_view name) {
            return self.result.parameters[place_of(self, name)];
          },
          nb::arg("name"), "The estimate of a parameter, by name.")
      .def(
          "deviation",
          [](const PythonIdentification& self, std::string_view name) {
            return self.result.deviations[place_of(self, name)];
          },
          nb::arg("name"), "The standard deviation of a parameter, by name.")
      .def_prop_ro(
          "cost", [](const PythonIdentification& self) { return self.result.cost; },
          "The sum of all weighted squared differences.")
      .def_prop_ro(
          "root_mean_square", [](const PythonIdentification& self) { return self.result.root_mean_square; },
          "Of all weighted differences: compare it with the noise.")
      .def_prop_ro("reason", [](const PythonIdentification& self) { return self.result.reason; })
      .def_prop_ro("message", [](const PythonIdentification& self) { return self.result.message; })
      .def_prop_ro("iterations", [](const PythonIdentification& self) { return self.result.iterations; })
      .def_prop_ro("history", [](const PythonIdentification& self) { return self.result.history; })
      .def("__repr__", &describe_identification);
}

}  // namespace

std::vector<FreeParameter> BoundsIn::get(const char* name) const {
  std::vector<FreeParameter> parameters;
  nb::dict by_name;
  const auto refuse = [&](nb::handle what) {
    throw nb::type_error(fmt::format("{}: expected a dict from names of parameters to bounds (lower, upper), got {}",
                                     name, nb::repr(what).c_str())
                             .c_str());
  };
  if (!nb::try_cast(object_, by_name, false)) refuse(object_);
  for (const auto& [key, bounds] : by_name) {
    std::string parameter;
    std::pair<double, double> range;
    if (!nb::try_cast(key, parameter) || !nb::try_cast(bounds, range)) refuse(object_);
    parameters.push_back({parameter, range.first, range.second});
  }
  return parameters;
}

void bind_identification(nb::module_& m) {
  bind_types(m);
  m.def(
      "identify",
      [](const Model& model, nb::handle motions, const BoundsIn& parameters, const OptionsIn& step_options,
         const OptionalArray& q_weights, const OptionalArray& v_weights, bool free_starts, int segment,
         int max_iterations, std::optional<double> max_seconds, double tolerance, int threads,
         const std::optional<GradientOptions>& gradient, const ProgressIn& progress) {
        return in_python_words([&] {
          const Identification problem = {.model = model,
                                          .step = step_options.get(),
                                          .parameters = parameters.get("parameters"),
                                          .motions = motions_for(model, motions),
                                          .q_weights = vector_or_empty(q_weights, "q_weights", model.nv()),
                                          .v_weights = vector_or_empty(v_weights, "v_weights", model.nv()),
                                          .free_starts = free_starts,
                                          .segment = segment};
          const auto state = std::make_shared<CallState>();
          SolveOptions options;
          CommonOptions{max_iterations, max_seconds, tolerance, options.feasibility, threads, gradient, progress}.write(
              options, state);
          PythonIdentification out;
          for (const FreeParameter& free : problem.parameters) out.names.push_back(free.name);
          {
            const nb::gil_scoped_release released;
            out.result = identify(problem, options);
          }
          return out;
        });
      },
      nb::arg("model"), nb::arg("motions"), nb::arg("parameters"), nb::kw_only(),
      nb::arg("options").none() = nb::none(), nb::arg("q_weights") = nb::none(), nb::arg("v_weights") = nb::none(),
      nb::arg("free_starts") = true, nb::arg("segment") = 0, nb::arg("max_iterations") = 200,
      nb::arg("max_seconds") = nb::none(), nb::arg("tolerance") = 1e-6, nb::arg("threads") = 1,
      nb::arg("gradient") = nb::none(), nb::arg("progress") = nb::none(),
      nb::sig("def identify(model: Model, motions: ObservedMotion | collections.abc.Sequence[ObservedMotion], "
              "parameters: dict[str, "
              "tuple[float, float]], *, options: StepOptions | float | None = None, q_weights: numpy.typing.ArrayLike "
              "| None = None, "
              "v_weights: numpy.typing.ArrayLike | None = None, free_starts: bool = True, segment: int = 0, "
              "max_iterations: int = 200, "
              "max_seconds: float | None = None, tolerance: float = 1e-6, threads: int = 1, gradient: GradientOptions "
              "| None = None, "
              "progress: collections.abc.Callable[[Progress], bool | None] | None = None) -> IdentificationResult"),
      R"(Which numbers of a model explain the motions that were measured? Those for which the simulated ones come
closest:

    minimise Σ over motions and times of Σ_i w_i (x_t ⊖ y_t)_i²   over the parameters, and where each motion starts

by Levenberg–Marquardt steps, from the model's own numbers, moved into the bounds. `parameters` names them with
their bounds: {'body/arm/mass': (0.1, 5)}. `q_weights` and `v_weights` (nv,) are w, one over the variance of the
noise. The first measured state is as noisy as the others, so where each motion starts is estimated too; with
free_starts=False it starts as measured. A motion that is chaotic, or bounces, is cut into pieces of `segment`
steps, each from what was measured there. `options` is a StepOptions or a time step in seconds; ddp() explains the
others. The model is not changed.)");
}

}  // namespace lithe::python

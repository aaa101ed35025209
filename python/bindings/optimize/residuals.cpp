#include "lithe/optimize/residuals.h"

#include <fmt/format.h>

#include <algorithm>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "lithe/model/configuration.h"
#include "python/bindings/optimize/optimize_arguments.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/records.h"
#include "python/bindings/values/fixed_arrays.h"

namespace lithe::python {

namespace {

PythonResidual of_library(ResidualPtr residual) { return {.library = std::move(residual)}; }

std::string name_of(const PythonResidual& residual) {
  return residual.is_function() ? residual.name : residual.library->name();
}

Inputs inputs_of(const std::vector<std::string>& names) {
  Inputs inputs;
  for (const std::string& name : names) {
    int k = 0;
    while (k < kInputs && name != name_of(static_cast<Input>(k))) ++k;
    if (k == kInputs) {
      throw nb::value_error(
          fmt::format("depends_on: expected some of 'q', 'v', 'u', 'u_before', 'f', 'parameters', got '{}'", name)
              .c_str());
    }
    inputs.add(static_cast<Input>(k));
  }
  return inputs;
}

residuals::BoundSide side_of(const std::string& name) {
  if (name == "lower") return residuals::BoundSide::lower;
  if (name != "upper") throw nb::value_error(fmt::format("side: expected 'lower' or 'upper', got '{}'", name).c_str());
  return residuals::BoundSide::upper;
}

// A point at the start of a motion of a model.
FirstCall somewhere(const Model& model, int controls) {
  return {.model = model,
          .state = {neutral_configuration(model), VecX::Zero(model.nv())},
          .u = VecX::Zero(controls),
          .u_before = VecX::Zero(controls)};
}

int traverse_residual(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const nb::handle function = nb::inst_ptr<PythonResidual>(self)->function;
  Py_VISIT(function.ptr());
  return 0;
}

int clear_residual(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<PythonResidual>(self)->function.reset();
  return 0;
}

PyType_Slot residual_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_residual)},
                                {Py_tp_clear, reinterpret_cast<void*>(&clear_residual)},
                                {0, nullptr}};

nb::tuple evaluate(const PythonResidual& self, const Model& model, const ArrayIn& q, const ArrayIn& v,
                   const OptionalArray& u, const OptionalArray& u_before, int t, const Record* record) {
  FirstCall first = {.model = model, .state = {q.vector("q", model.nq()), v.vector("v", model.nv())}, .t = t};
  if (u) first.u = u->vector("u");
  first.u_before = u_before ? u_before->vector("u_before", first.u.size()) : VecX::Zero(first.u.size());
  const ResidualPtr residual = residual_for(self, first, nullptr);
  Kinematics kin;
  kinematics(model, first.state.q, first.state.v, kin);
  VecX value = VecX::Zero(residual->size(model));
  ResidualJacobian jacobian;
  residual->evaluate({.model = model,
                      .t = t,
                      .q = first.state.q,
                      .v = first.state.v,
                      .u = first.u,
                      .u_before = first.u_before,
                      .kin = kin,
                      .record = record ? &**record : nullptr,
                      .parameters = first.parameters},
                     value, &jacobian);
  return nb::make_tuple(to_numpy(std::move(value)).object, to_dict(jacobian));
}

void bind_residual(nb::module_& m) {
  nb::class_<PythonResidual>(m, "Residual",
                             "A vector of numbers that a motion should make small, or hold at zero, or keep from being "
                             "positive. Costs and constraints "
                             "of a Problem are made of these. From lithe.residuals.",
                             nb::type_slots(residual_slots))
      .def_prop_ro("name", &name_of)
      .def(
          "size",
          [](const PythonResidual& self, const Model& model) {
            if (self.is_function() && self.size > 0) return self.size;
            return residual_for(self, somewhere(model, 0), nullptr)->size(model);
          },
          nb::arg("model"), "How many numbers it has for a model.")
      .def(
          "__call__",
          [](const PythonResidual& self, nb::handle point) -> nb::object {
            if (self.is_function()) return self.function(point);
            auto& view = nb::cast<PointView&>(point);
            const ResidualPoint& at = view.look_at_all(*self.library);
            VecX value = VecX::Zero(self.library->size(at.model));
            self.library->evaluate(at, value, nullptr);
            return to_numpy(std::move(value)).object;
          },
          nb::arg("point"), nb::sig("def __call__(self, point: ResidualPoint) -> typing.Any"),
          "The value at a point (k,): for residuals of your own that are made of others.")
      .def("evaluate", &evaluate, nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("u") = nb::none(),
           nb::kw_only(), nb::arg("u_before") = nb::none(), nb::arg("t") = 0, nb::arg("record") = nb::none(),
           nb::sig("def evaluate(self, model: Model, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, u: "
                   "numpy.typing.ArrayLike | None = None, *, u_before: numpy.typing.ArrayLike | None = None, t: int = "
                   "0, record: "
                   "StepRecord | None = None) -> tuple[numpy.typing.NDArray[numpy.float64], dict[str, "
                   "numpy.typing.NDArray[numpy.float64]]]"),
           "Its value (k,) and derivatives in a state: {'by_q': (k, nv), …}, in the tangent of q; what is not there is "
           "zero. `record` is "
           "that of a step, for residuals that look at impulses.")
      .def("__repr__", [](const PythonResidual& self) { return "<Residual: " + name_of(self) + ">"; });

  nb::class_<ResidualCheck>(m, "ResidualCheck", "What check_residual() found. True where it passed.")
      .def_ro("passed", &ResidualCheck::passed)
      .def_ro("largest_error", &ResidualCheck::largest_error, "Relative to the largest entry of its part.")
      .def_ro("worst", &ResidualCheck::worst,
              "The entry with the largest error and both values; empty where it passed.")
      .def("__bool__", [](const ResidualCheck& check) { return check.passed; })
      .def("__repr__", [](const ResidualCheck& check) {
        return fmt::format("<ResidualCheck: {}, largest error {:.2g}{}>", check.passed ? "passed" : "failed",
                           check.largest_error, check.worst.empty() ? "" : "; " + check.worst);
      });

  m.def(
      "check_residual",
      [](const Model& model, nb::handle residual, int samples, int controls, double tolerance, std::uint64_t seed) {
        const nb::object object = residual_object(residual, "residual");
        return in_python_words([&] {
          const ResidualPtr made = residual_for(nb::cast<PythonResidual&>(object), somewhere(model, controls), nullptr);
          const nb::gil_scoped_release released;
          return check_residual(model, *made,
                                {.samples = samples, .controls = controls, .tolerance = tolerance, .seed = seed});
        });
      },
      nb::arg("model"), nb::arg("residual"), nb::kw_only(), nb::arg("samples") = 10, nb::arg("controls") = 0,
      nb::arg("tolerance") = 1e-6, nb::arg("seed") = 1,
      nb::sig("def check_residual(model: Model, residual: Residual | collections.abc.Callable[[ResidualPoint], "
              "typing.Any], *, samples: int "
              "= 10, controls: int = 0, tolerance: float = 1e-6, seed: int = 1) -> ResidualCheck"),
      "Compares a residual's derivatives with central differences in random states of the model, with `controls` "
      "random controls.");
}

void bind_state_residuals(nb::module_& m) {
  using namespace residuals;
  m.def(
      "configuration", [](const ArrayIn& target) { return of_library(configuration(target.vector("target"))); },
      nb::arg("target"), "q ⊖ target, in the tangent of q (nv,); the target is a configuration (nq,).");
  m.def(
      "velocity", [](const ArrayIn& target) { return of_library(velocity(target.vector("target"))); },
      nb::arg("target"), "v − target (nv,).");
  m.def(
      "joint_position",
      [](const Model& model, std::string_view joint, double target) {
        return of_library(joint_position(model, joint, target));
      },
      nb::arg("model"), nb::arg("joint"), nb::arg("target") = 0.0,
      "Of a 1-DoF joint, minus the target, m or rad (1,).");
  m.def(
      "joint_velocity",
      [](const Model& model, std::string_view joint, double target) {
        return of_library(joint_velocity(model, joint, target));
      },
      nb::arg("model"), nb::arg("joint"), nb::arg("target") = 0.0, "Of a 1-DoF joint, minus the target (1,).");
  m.def(
      "controls", [](const ArrayIn& target) { return of_library(controls(target.vector("target"))); },
      nb::arg("target"), "u − target (m,): effort, where the target is zero.");
  m.def(
      "control_change", [](int count) { return of_library(control_change(count)); }, nb::arg("controls"),
      "u minus u of the step before (m,), where there are that many controls.");
  const auto bound = [](auto make) {
    return [make](const Model& model, std::string_view joint, const std::string& side, double value) {
      return of_library(make(model, joint, side_of(side), value));
    };
  };
  m.def("position_bound", bound(&position_bound), nb::arg("model"), nb::arg("joint"), nb::arg("side"), nb::arg("bound"),
        "How far a 1-DoF joint is beyond its bound (1,): not positive within. `side` is 'lower' or 'upper'.");
  m.def("velocity_bound", bound(&velocity_bound), nb::arg("model"), nb::arg("joint"), nb::arg("side"), nb::arg("bound"),
        "The same of its velocity.");
}

void bind_frame_residuals(nb::module_& m) {
  using namespace residuals;
  m.def(
      "frame_position",
      [](const Model& model, std::string_view frame, const ArrayIn& target) {
        return of_library(frame_position(model, frame, fixed<3>(target, "target")));
      },
      nb::arg("model"), nb::arg("frame"), nb::arg("target"), "p − target in the world, m (3,).");
  m.def(
      "frame_height",
      [](const Model& model, std::string_view frame, double target, const OptionalArray& up) {
        return of_library(frame_height(model, frame, target, up ? fixed<3>(*up, "up") : Vec3(Vec3::UnitZ())));
      },
      nb::arg("model"), nb::arg("frame"), nb::arg("target"), nb::arg("up") = nb::none(),
      "One coordinate of a frame's place, along `up` (3,), by default +z; minus the target, m (1,).");
  m.def(
      "frame_orientation",
      [](const Model& model, std::string_view frame, const ArrayIn& target) {
        return of_library(frame_orientation(model, frame, fixed<3, 3>(target, "target")));
      },
      nb::arg("model"), nb::arg("frame"), nb::arg("target"),
      "The rotation vector from the target (3, 3) to the frame, in world axes, rad (3,). It jumps where the angle is "
      "π.");
  m.def(
      "frame_velocity",
      [](const Model& model, std::string_view frame, const OptionalArray& target) {
        return of_library(frame_velocity(model, frame, target ? fixed<6>(*target, "target") : Vec6(Vec6::Zero())));
      },
      nb::arg("model"), nb::arg("frame"), nb::arg("target") = nb::none(), "[ω; ṗ] − target in world axes (6,).");
  m.def(
      "frame_distance",
      [](const Model& model, std::string_view frame_a, std::string_view frame_b, double target) {
        return of_library(frame_distance(model, frame_a, frame_b, target));
      },
      nb::arg("model"), nb::arg("frame_a"), nb::arg("frame_b"), nb::arg("target") = 0.0,
      "Between the origins of two frames, minus the target, m (1,). It has no derivative where they meet.");
  m.def(
      "centre_of_mass_position",
      [](const ArrayIn& target) { return of_library(centre_of_mass_position(fixed<3>(target, "target"))); },
      nb::arg("target"), "Of all bodies together, minus the target, m (3,).");
  m.def(
      "centre_of_mass_velocity",
      [](const OptionalArray& target) {
        return of_library(centre_of_mass_velocity(target ? fixed<3>(*target, "target") : Vec3(Vec3::Zero())));
      },
      nb::arg("target") = nb::none(), "Of all bodies together, minus the target, m/s (3,).");
  m.def(
      "contact_force",
      [](const Model& model, std::string_view body, double target) {
        return of_library(contact_force(model, body, target));
      },
      nb::arg("model"), nb::arg("body"), nb::arg("target") = 0.0,
      "The sum of the normal forces of all contacts of a body, mean over the step, minus the target, N (1,).");
}

constexpr const char* kCustomDoc =
    R"(A residual of your own: function(point) returns a number or an array (k,) for a ResidualPoint.

It may return a pair instead: the value, and a dict of derivatives 'by_q' (k, nv) in the tangent of q, 'by_v' (k,
nv), 'by_u' (k, m), 'by_u_before' (k, m), 'by_f' (k, rows), 'by_parameters' (k, free parameters); None says that one
is zero. check_residual() tries them. Those that are left out are taken by central differences, by whatever the
function has looked at: two calls per number. `depends_on`, some of 'q', 'v', 'u', 'u_before', 'f' and 'parameters',
says by what instead; all else counts as constant.

`size` is k; 0: as many as the first call returns. add_cost(), add_constraint() and check_residual() take a plain
function as well.

Solvers with several threads call the function from all of them, one at a time. An exception that it raises ends the
solve and is passed on as it is.)";

}  // namespace

nb::object residual_object(nb::handle residual, const char* argument) {
  if (nb::isinstance<PythonResidual>(residual)) return nb::borrow(residual);
  if (!PyCallable_Check(residual.ptr())) {
    throw nb::type_error(fmt::format("{}: expected a Residual or a function of a ResidualPoint, got {}", argument,
                                     nb::type_name(residual.type()).c_str())
                             .c_str());
  }
  const nb::object name = nb::getattr(residual, "__name__", nb::none());
  return nb::cast(
      PythonResidual{.function = nb::borrow(residual),
                     .name = fmt::format("residual '{}'", name.is_none() ? nb::type_name(residual.type()).c_str()
                                                                         : nb::str(name).c_str())});
}

void bind_residuals(nb::module_& m) {
  bind_residual_point(m);
  bind_residual(m);

  nb::module_ library = m.def_submodule("residuals", "The residuals that motions are usually judged by, and your own.");
  bind_state_residuals(library);
  bind_frame_residuals(library);
  library.def(
      "custom",
      [](nb::handle function, int size, const std::string& name,
         const std::optional<std::vector<std::string>>& depends_on) {
        if (!PyCallable_Check(function.ptr()) || nb::isinstance<PythonResidual>(function)) {
          throw nb::type_error(fmt::format("function: expected a function of a ResidualPoint, got {}",
                                           nb::type_name(function.type()).c_str())
                                   .c_str());
        }
        if (size < 0) throw nb::value_error(fmt::format("size: expected 0 or more, got {}", size).c_str());
        const nb::object object = residual_object(function, "function");
        auto residual = nb::cast<PythonResidual>(object);
        residual.size = size;
        if (!name.empty()) residual.name = fmt::format("residual '{}'", name);
        if (depends_on) residual.depends_on = inputs_of(*depends_on);
        return residual;
      },
      nb::arg("function"), nb::arg("size") = 0, nb::kw_only(), nb::arg("name") = "", nb::arg("depends_on") = nb::none(),
      nb::sig("def custom(function: collections.abc.Callable[[lithe._lithe.ResidualPoint], typing.Any], size: int = 0, "
              "*, name: str = '', depends_on: "
              "collections.abc.Sequence[str] | None = None) -> lithe._lithe.Residual"),
      kCustomDoc);
}

}  // namespace lithe::python

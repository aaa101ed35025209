#include <fmt/format.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "lithe/rollout/rollout_gradient.h"
#include "python/bindings/parts.h"
#include "python/bindings/rollout/rollout_arguments.h"
#include "python/bindings/step/gradient_arguments.h"
#include "python/bindings/values/arguments.h"

namespace lithe::python {

namespace {

struct PythonRollout {
  Rollout rollout;
  RolloutOptions options;
};

void bind_rollout_class(nb::module_& m) {
  nb::class_<PythonRollout>(m, "Rollout", "T steps of a model, and what their gradient is taken from.")
      .def_prop_ro(
          "q", [](nb::handle self) { return rows_view_of(nb::cast<PythonRollout&>(self).rollout.trajectory.q, self); },
          "(T + 1, nq): row t is before step t, the last one is the end.")
      .def_prop_ro(
          "v", [](nb::handle self) { return rows_view_of(nb::cast<PythonRollout&>(self).rollout.trajectory.v, self); },
          "(T + 1, nv)")
      .def_prop_ro(
          "tau",
          [](nb::handle self) { return rows_view_of(nb::cast<PythonRollout&>(self).rollout.controls.tau, self); },
          "(T, nv), as applied.")
      .def_prop_ro(
          "status", [](const PythonRollout& r) { return r.rollout.trajectory.status; }, "A StepStatus per step taken.")
      .def_prop_ro(
          "diverged_at", [](const PythonRollout& r) { return r.rollout.trajectory.diverged_at; },
          "The step in which numbers overflowed, or −1.")
      .def("__len__", [](const PythonRollout& r) { return r.rollout.trajectory.steps(); })
      .def("__repr__", [](const PythonRollout& r) {
        const Trajectory& t = r.rollout.trajectory;
        return fmt::format("<Rollout: {} steps of {:g} s{}>", t.steps(), r.options.step.time_step,
                           t.diverged_at < 0 ? "" : fmt::format(", diverged at {}", t.diverged_at));
      });

  nb::class_<RolloutGradient>(m, "RolloutGradient", "The gradient of a loss by all that a rollout started from.")
      .def_prop_ro(
          "q", [](nb::handle self) { return view_of(nb::cast<RolloutGradient&>(self).q, self); },
          "(nv,), by the initial q, in its tangent.")
      .def_prop_ro(
          "v", [](nb::handle self) { return view_of(nb::cast<RolloutGradient&>(self).v, self); }, "(nv,)")
      .def_prop_ro(
          "tau", [](nb::handle self) { return rows_view_of(nb::cast<RolloutGradient&>(self).tau, self); }, "(T, nv)")
      .def_prop_ro(
          "parameters", [](nb::handle self) { return view_of(nb::cast<RolloutGradient&>(self).parameters, self); },
          "One per parameter: of numbers that hold for all steps.")
      .def_prop_ro(
          "step_parameters",
          [](nb::handle self) { return rows_view_of(nb::cast<RolloutGradient&>(self).step_parameters, self); },
          "(T, parameters): of numbers that differ from step to step, such as motor targets.")
      .def_ro("report", &RolloutGradient::report)
      .def("__repr__", [](const RolloutGradient& g) { return "<RolloutGradient: " + to_string(g.report) + ">"; });
}

}  // namespace

Tape tape_of(const std::string& name) {
  if (name == "none") return Tape::none;
  if (name == "records") return Tape::records;
  if (name == "checkpoints") return Tape::checkpoints;
  throw nb::value_error(fmt::format("tape: expected 'none', 'records' or 'checkpoints', got '{}'", name).c_str());
}

Array rows_view_of(const MatX& by_column, nb::handle owner) {
  return {nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<2>>(
      by_column.data(), {static_cast<std::size_t>(by_column.cols()), static_cast<std::size_t>(by_column.rows())},
      owner))};
}

void bind_rollouts(nb::module_& m) {
  bind_rollout_class(m);
  m.def(
      "rollout",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const OptionalArray& tau, std::optional<int> steps,
         const OptionsIn& options, const OptionalArray& targets, const std::string& tape, int checkpoint_every,
         const ParametersIn& parameters, const std::optional<GradientOptions>& gradient) {
        State start;
        q.read("q", model.nq(), start.q);
        v.read("v", model.nv(), start.v);
        Controls controls;
        if (tau) controls.tau = tau->matrix("tau", steps ? *steps : -1, model.nv()).transpose();
        if (!tau && !steps) throw nb::value_error("steps: say how many, or give tau (T, nv)");
        controls.steps = tau ? static_cast<int>(controls.tau.cols()) : *steps;
        if (targets)
          controls.motor_targets =
              rows_or_repeated(*targets, "targets", controls.steps, static_cast<int>(model.motors().size()));
        auto out = std::make_unique<PythonRollout>();
        out->options = {.step = options.get(),
                        .tape = tape_of(tape),
                        .checkpoint_every = checkpoint_every,
                        .gradient = gradient_options(gradient, parameters.get(model))};
        const nb::gil_scoped_release released;
        rollout(model, start, controls, out->options, out->rollout);
        return out;
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("tau") = nb::none(), nb::kw_only(),
      nb::arg("steps") = nb::none(), nb::arg("options").none() = nb::none(), nb::arg("targets") = nb::none(),
      nb::arg("tape") = "checkpoints", nb::arg("checkpoint_every") = 0, nb::arg("parameters").none() = nb::none(),
      nb::arg("gradient") = nb::none(),
      R"(T steps from (q, v) under the forces tau (T, nv), or without forces for `steps` of them.

`targets` has the motors' targets, (T, motors) or (motors,) for all steps. `tape` is what is kept for rollout_vjp(): 'checkpoints' (one warm
start every `checkpoint_every` steps, 0: about √T), 'records' or 'none'. `parameters` and `gradient` say what rollout_vjp() will differentiate by
and how.)");
  m.def(
      "rollout_vjp",
      [](const Model& model, const PythonRollout& rollout, const OptionalArray& q, const OptionalArray& v,
         const OptionalArray& tau) {
        const int T = rollout.rollout.trajectory.steps(), nv = model.nv();
        RolloutCotangent by;
        if (q) by.q = q->matrix("q", T + 1, nv).transpose();
        if (v) by.v = v->matrix("v", T + 1, nv).transpose();
        if (tau) by.tau = tau->matrix("tau", T, nv).transpose();
        auto out = std::make_unique<RolloutGradient>();
        const nb::gil_scoped_release released;
        thread_local RolloutVjpWorkspace workspace;
        rollout_vjp(model, rollout.rollout, by, rollout.options, workspace, *out);
        return out;
      },
      nb::arg("model"), nb::arg("rollout"), nb::arg("q") = nb::none(), nb::arg("v") = nb::none(),
      nb::arg("tau") = nb::none(),
      R"(The gradient of a loss by the initial state, the forces and the parameters of a rollout, from its gradient by all states: q (T + 1, nv), in
the tangent of each q, v (T + 1, nv), and by the forces themselves tau (T, nv); none: zero. The model must be the rollout's, unchanged.)");
}

}  // namespace lithe::python

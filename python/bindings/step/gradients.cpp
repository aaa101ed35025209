#include <fmt/format.h>

#include <map>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "lithe/step/finite_differences.h"
#include "lithe/step/gradcheck.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_jvp.h"
#include "lithe/step/step_vjp.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/gradient_arguments.h"
#include "python/bindings/step/records.h"
#include "python/bindings/values/arguments.h"

namespace lithe::python {

namespace {

// The blocks of a step, and those by parameters if any were asked for.
struct Jacobians {
  StepJacobians state;
  StepParameterJacobian parameters;
  StepParameters names;
};

void check_record(const Model& model, const Record& record) {
  if (record->next.v.size() != model.nv() || record->next.q.size() != model.nq()) {
    throw nb::value_error(fmt::format("record: of a step with nq={}, nv={}, but the model has nq={}, nv={}",
                                      record->next.q.size(), record->next.v.size(), model.nq(), model.nv())
                              .c_str());
  }
}

template <class Get>
auto block(Get get) {
  return [get](nb::handle self) { return view_of(get(nb::cast<Jacobians&>(self)), self); };
}

void bind_step_jacobians(nb::module_& m) {
  using J = Jacobians;
  nb::class_<J>(m, "StepJacobians",
                "The derivatives of a step. Rows are of the result, columns of what is moved; those by q are by its "
                "tangent: f(q ⊕ δ) ≈ "
                "f(q) + J δ, nv columns. Arrays are read-only views.")
      .def_prop_ro("dqnext_dq", block([](J& j) -> MatX& { return j.state.dqnext_dq; }), "(nv, nv)")
      .def_prop_ro("dqnext_dv", block([](J& j) -> MatX& { return j.state.dqnext_dv; }), "(nv, nv)")
      .def_prop_ro("dqnext_dtau", block([](J& j) -> MatX& { return j.state.dqnext_dtau; }), "(nv, nv)")
      .def_prop_ro("dvnext_dq", block([](J& j) -> MatX& { return j.state.dvnext_dq; }), "(nv, nv)")
      .def_prop_ro("dvnext_dv", block([](J& j) -> MatX& { return j.state.dvnext_dv; }), "(nv, nv)")
      .def_prop_ro("dvnext_dtau", block([](J& j) -> MatX& { return j.state.dvnext_dtau; }), "(nv, nv)")
      .def_prop_ro("df_dq", block([](J& j) -> MatX& { return j.state.df_dq; }),
                   "Of the impulses (rows, nv), with impulses=True.")
      .def_prop_ro("df_dv", block([](J& j) -> MatX& { return j.state.df_dv; }))
      .def_prop_ro("df_dtau", block([](J& j) -> MatX& { return j.state.df_dtau; }))
      .def_prop_ro("dqnext_dp", block([](J& j) -> MatX& { return j.parameters.dqnext; }),
                   "By parameters (nv, parameters).")
      .def_prop_ro("dvnext_dp", block([](J& j) -> MatX& { return j.parameters.dvnext; }))
      .def_prop_ro("df_dp", block([](J& j) -> MatX& { return j.parameters.df; }), "(rows, parameters).")
      .def_prop_ro(
          "report", [](const J& j) { return j.state.report; }, "What these derivatives are.")
      .def("__repr__", [](const J& j) {
        return fmt::format("<StepJacobians: nv={}, {} parameters, {}>", j.state.dvnext_dv.rows(), j.names.size(),
                           to_string(j.state.report.mode));
      });

  m.def(
      "step_jacobians",
      [](const Model& model, const Record& record, bool impulses, const ParametersIn& parameters,
         const std::optional<GradientOptions>& options) {
        check_record(model, record);
        auto out = std::make_unique<J>();
        out->names = parameters.get(model);
        const GradientOptions how = gradient_options(options);
        const nb::gil_scoped_release released;
        // Workspaces stay warm from call to call.
        thread_local StepJacobians warm;
        step_jacobians(model, *record, warm, impulses ? StepBlocks::all : StepBlocks::state, how);
        out->state = warm;
        if (!impulses) out->state.df_dq = out->state.df_dv = out->state.df_dtau = MatX();
        if (out->names.size() > 0) {
          step_parameter_jacobian(model, *record, out->parameters, gradient_options(options, out->names));
        }
        return out;
      },
      nb::arg("model"), nb::arg("record"), nb::kw_only(), nb::arg("impulses") = false,
      nb::arg("parameters").none() = nb::none(), nb::arg("options") = nb::none(),
      R"(All derivatives of a step: of the next q and v by q, v and tau, each (nv, nv).

`record` comes from step() with this model. `impulses`: also of the constraint impulses. `parameters`: also by these numbers of the model (a
StepParameters or a list of names). `options`: a GradientOptions.)");
  m.def(
      "step_differences",
      [](const Model& model, const Record& record, bool impulses, bool ridders) {
        check_record(model, record);
        auto out = std::make_unique<J>();
        DifferenceOptions options;
        if (ridders) options.method = DifferenceMethod::ridders;
        const nb::gil_scoped_release released;
        step_differences(model, *record, out->state, impulses ? StepBlocks::all : StepBlocks::state, options);
        return out;
      },
      nb::arg("model"), nb::arg("record"), nb::kw_only(), nb::arg("impulses") = false, nb::arg("ridders") = false,
      "The same blocks by finite differences of steps: central ones, or Ridders' extrapolation. To compare with.");
}

void bind_products(nb::module_& m) {
  nb::class_<StepVjp>(m, "StepVjp", "The gradient of a loss by what a step started from.")
      .def_prop_ro(
          "q", [](nb::handle self) { return view_of(nb::cast<StepVjp&>(self).q, self); }, "(nv,), in the tangent of q.")
      .def_prop_ro(
          "v", [](nb::handle self) { return view_of(nb::cast<StepVjp&>(self).v, self); }, "(nv,)")
      .def_prop_ro(
          "tau", [](nb::handle self) { return view_of(nb::cast<StepVjp&>(self).tau, self); }, "(nv,)")
      .def_prop_ro(
          "parameters", [](nb::handle self) { return view_of(nb::cast<StepVjp&>(self).parameters, self); },
          "One per parameter.")
      .def_prop_ro(
          "motor_targets", [](nb::handle self) { return view_of(nb::cast<StepVjp&>(self).motor_targets, self); },
          "One per motor, if they were asked for.")
      .def_prop_ro(
          "wrenches", [](const StepVjp& vjp) { return to_numpy_rows(MatX(vjp.wrenches)); },
          "(bodies, 6), if they were asked for: [torque about the body's origin; force], world axes.")
      .def_ro("report", &StepVjp::report)
      .def("__repr__", [](const StepVjp& vjp) {
        return fmt::format("<StepVjp: nv={}, {}>", vjp.v.size(), to_string(vjp.report.mode));
      });
  m.def(
      "step_vjp",
      [](const Model& model, const Record& record, const OptionalArray& q, const OptionalArray& v,
         const OptionalArray& f, const ParametersIn& parameters, bool motor_targets, bool wrenches,
         const std::optional<GradientOptions>& options) {
        check_record(model, record);
        const StepCotangent by_next = {.q = vector_or_empty(q, "q", model.nv()),
                                       .v = vector_or_empty(v, "v", model.nv()),
                                       .f = vector_or_empty(f, "f", static_cast<Eigen::Index>(record->f.size()))};
        GradientOptions how = gradient_options(options, parameters.get(model));
        how.motor_targets = motor_targets;
        how.wrenches = wrenches;
        const nb::gil_scoped_release released;
        thread_local StepVjp warm;
        step_vjp(model, *record, by_next, warm, how);
        return std::make_unique<StepVjp>(warm);
      },
      nb::arg("model"), nb::arg("record"), nb::arg("q") = nb::none(), nb::arg("v") = nb::none(),
      nb::arg("f") = nb::none(), nb::kw_only(), nb::arg("parameters").none() = nb::none(),
      nb::arg("motor_targets") = false, nb::arg("wrenches") = false, nb::arg("options") = nb::none(),
      R"(The gradient of a loss by a step's inputs, from its gradient by the next q (nv,), in its tangent, the next v (nv,) and the impulses f
(rows,); none: zero. Jᵀλ without forming J. With `motor_targets` and `wrenches` also by the targets of the motors and by wrenches on all bodies.)");

  nb::class_<StepJvp>(m, "StepJvp", "How the results of a step move when its inputs do.")
      .def_prop_ro(
          "q", [](nb::handle self) { return view_of(nb::cast<StepJvp&>(self).q, self); },
          "(nv,), in the tangent of the next q.")
      .def_prop_ro(
          "v", [](nb::handle self) { return view_of(nb::cast<StepJvp&>(self).v, self); }, "(nv,)")
      .def_prop_ro(
          "f", [](nb::handle self) { return view_of(nb::cast<StepJvp&>(self).f, self); }, "(rows,)")
      .def_ro("report", &StepJvp::report)
      .def("__repr__", [](const StepJvp& jvp) {
        return fmt::format("<StepJvp: nv={}, {}>", jvp.v.size(), to_string(jvp.report.mode));
      });
  m.def(
      "step_jvp",
      [](const Model& model, const Record& record, const OptionalArray& q, const OptionalArray& v,
         const OptionalArray& tau, const ParametersIn& parameters, const OptionalArray& by_parameters,
         const std::optional<GradientOptions>& options) {
        check_record(model, record);
        const StepParameters names = parameters.get(model);
        const StepTangent direction = {.q = vector_or_empty(q, "q", model.nv()),
                                       .v = vector_or_empty(v, "v", model.nv()),
                                       .tau = vector_or_empty(tau, "tau", model.nv()),
                                       .parameters = vector_or_empty(by_parameters, "by_parameters", names.size())};
        const GradientOptions how = gradient_options(options, names);
        const nb::gil_scoped_release released;
        thread_local StepJvp warm;
        step_jvp(model, *record, direction, warm, how);
        return std::make_unique<StepJvp>(warm);
      },
      nb::arg("model"), nb::arg("record"), nb::arg("q") = nb::none(), nb::arg("v") = nb::none(),
      nb::arg("tau") = nb::none(), nb::kw_only(), nb::arg("parameters").none() = nb::none(),
      nb::arg("by_parameters") = nb::none(), nb::arg("options") = nb::none(),
      R"(How the next q and v move when q, v and tau (nv,) each, and `by_parameters` (one per parameter), move in these directions; none:
zero. J x without forming J.)");
}

void bind_gradcheck(nb::module_& m) {
  nb::class_<GradcheckResult>(m, "GradcheckResult", "Analytic derivatives beside differences of steps.")
      .def_prop_ro("max_error", &GradcheckResult::max_error, "The largest relative error of all blocks.")
      .def_prop_ro(
          "errors",
          [](const GradcheckResult& r) {
            std::map<std::string, double> errors;
            for (int k = 0; k < kGradcheckBlocks; ++k) {
              if (r.blocks[k].compared) errors[to_string(static_cast<GradcheckBlock>(k))] = r.blocks[k].error;
            }
            return errors;
          },
          "The relative error of each block that was compared, by name: 'dvnext_dq' …")
      .def_ro("vjp_error", &GradcheckResult::vjp_error)
      .def_ro("jvp_error", &GradcheckResult::jvp_error)
      .def_ro("columns", &GradcheckResult::columns)
      .def_ro("switched", &GradcheckResult::switched,
              "Columns left out because a change of mode is too close for differences.")
      .def_ro("refused", &GradcheckResult::refused)
      .def_ro("unsettled", &GradcheckResult::unsettled)
      .def_ro("report", &GradcheckResult::report)
      .def_prop_ro("comparable", &GradcheckResult::comparable)
      .def("__repr__", [](const GradcheckResult& r) {
        return fmt::format("<GradcheckResult: largest error {:.2g}, {} of {} columns left out>", r.max_error(),
                           r.switched + r.refused, r.columns);
      });
  m.def(
      "gradcheck",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const OptionalArray& tau, const OptionsIn& options,
         const OptionalArray& targets, const ParametersIn& parameters, std::uint64_t seed) {
        State state;
        q.read("q", model.nq(), state.q);
        v.read("v", model.nv(), state.v);
        Control control;
        read_control(model, tau, targets, {}, control);
        const StepOptions step_options = options.get();
        const StepParameters names = parameters.get(model);
        const nb::gil_scoped_release released;
        return gradcheck(model, state, control, step_options, names, {.seed = seed});
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("tau") = nb::none(), nb::kw_only(),
      nb::arg("options").none() = nb::none(), nb::arg("targets") = nb::none(),
      nb::arg("parameters").none() = nb::none(), nb::arg("seed") = 1,
      "Takes a step, and compares its analytic derivatives with accurate differences of steps.");
}

}  // namespace

void bind_gradients(nb::module_& m) {
  bind_gradient_reports(m);
  bind_step_jacobians(m);
  bind_products(m);
  bind_gradcheck(m);
}

}  // namespace lithe::python

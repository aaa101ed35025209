#include "lithe/step/step.h"

#include <fmt/format.h>

#include <map>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "lithe/model/configuration.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/records.h"
#include "python/bindings/step/status.h"
#include "python/bindings/values/arguments.h"
#include "python/bindings/values/arrays.h"
#include "python/bindings/values/fixed_arrays.h"

namespace lithe::python {

std::vector<std::string> flag_names(LcpFlag flags) {
  std::vector<std::string> names;
  for (const auto& [flag, name] :
       {std::pair(LcpFlag::unpolished, "unpolished"), std::pair(LcpFlag::tied, "tied"),
        std::pair(LcpFlag::targets_dropped, "targets_dropped"), std::pair(LcpFlag::unsolved, "unsolved")}) {
    if (has(flags, flag)) names.emplace_back(name);
  }
  return names;
}

namespace {

void bind_options(nb::module_& m) {
  nb::enum_<Integrator>(m, "Integrator", "How positions follow velocities.")
      .value("semi_implicit", Integrator::semi_implicit, "q⁺ = q ⊕ Δt v⁺")
      .value("explicit_position", Integrator::explicit_position, "q⁺ = q ⊕ Δt v, the paper's");

  nb::class_<StepOptions>(m, "StepOptions", "How a step is taken. Every member is a keyword argument.")
      .def(
          "__init__",
          [](StepOptions* self, double time_step, double correction, double max_correction_speed,
             double loop_correction, double max_loop_speed, double restitution_threshold, Integrator integrator,
             bool contacts, int threads) {
            new (self) StepOptions;
            self->time_step = time_step;
            self->correction = correction;
            self->max_correction_speed = max_correction_speed;
            self->loop_correction = loop_correction;
            self->max_loop_speed = max_loop_speed;
            self->restitution_threshold = restitution_threshold;
            self->integrator = integrator;
            self->contacts = contacts;
            self->threads = threads;
            check_options(*self);
          },
          nb::arg("time_step") = 1e-3, nb::kw_only(), nb::arg("correction") = 0.2,
          nb::arg("max_correction_speed") = 0.1, nb::arg("loop_correction") = 1.0, nb::arg("max_loop_speed") = 10.0,
          nb::arg("restitution_threshold") = 0.1, nb::arg("integrator") = Integrator::semi_implicit,
          nb::arg("contacts") = true, nb::arg("threads") = 1)
      .def_rw("time_step", &StepOptions::time_step, "Δt, s.")
      .def_rw("correction", &StepOptions::correction, "Share of a penetration that one step removes, 0 … 1.")
      .def_rw("max_correction_speed", &StepOptions::max_correction_speed, "m/s, rad/s.")
      .def_rw("loop_correction", &StepOptions::loop_correction)
      .def_rw("max_loop_speed", &StepOptions::max_loop_speed)
      .def_rw("restitution_threshold", &StepOptions::restitution_threshold, "m/s; slower contacts do not bounce.")
      .def_rw("integrator", &StepOptions::integrator)
      .def_rw("contacts", &StepOptions::contacts, "False: shapes pass through one another.")
      .def_rw(
          "threads", &StepOptions::threads,
          "Threads that share the groups of touching bodies in one step, where there are many; 0: one per core. They "
          "change no bit of the result.")
      .def("__repr__", [](const StepOptions& o) { return fmt::format("StepOptions(time_step={:g})", o.time_step); })
      .def("__getstate__",
           [](const StepOptions& o) {
             return std::make_tuple(o.time_step, o.correction, o.max_correction_speed, o.loop_correction,
                                    o.max_loop_speed, o.restitution_threshold, static_cast<int>(o.integrator),
                                    o.contacts, o.threads);
           })
      .def("__setstate__",
           [](StepOptions& o, const std::tuple<double, double, double, double, double, double, int, bool, int>& s) {
             new (&o) StepOptions;
             std::tie(o.time_step, o.correction, o.max_correction_speed, o.loop_correction, o.max_loop_speed,
                      o.restitution_threshold, std::ignore, std::ignore, std::ignore) = s;
             o.integrator = static_cast<Integrator>(std::get<6>(s));
             o.contacts = std::get<7>(s);
             o.threads = std::get<8>(s);
           });
}

void bind_status(nb::module_& m) {
  nb::class_<StepStatus>(m, "StepStatus", "How a step went.")
      .def_ro("contacts", &StepStatus::contacts, "Contact points, touching or about to.")
      .def_ro("rows", &StepStatus::rows, "Of all LCPs together.")
      .def_ro("islands", &StepStatus::islands)
      .def_ro("residual", &StepStatus::residual, "The worst of the LCPs.")
      .def_ro("singular_dof", &StepStatus::singular_dof, "The first DoF that nothing resists; −1: none.")
      .def_ro("diverged", &StepStatus::diverged, "Numbers overflowed: the next state is the one before the step.")
      .def_prop_ro(
          "flags", [](const StepStatus& status) { return flag_names(status.flags); },
          "What the solver says: 'unpolished', 'tied', 'targets_dropped', 'unsolved'.")
      .def_prop_ro("solved", &StepStatus::solved)
      .def("__repr__", [](const StepStatus& s) {
        return fmt::format("<StepStatus: {} contacts, {} rows, residual {:.2g}{}{}>", s.contacts, s.rows, s.residual,
                           s.solved() ? "" : ", not solved", s.diverged ? ", diverged" : "");
      });
}

struct ContactView {
  int shape_a, shape_b;
  Vec3 point, normal, impulse;
  double gap;
};

std::vector<ContactView> contact_views(const Record& record) {
  std::vector<ContactView> views;
  const auto& contacts = record->contacts.contacts;
  for (int k = 0; k < static_cast<int>(contacts.size()); ++k) {
    const Contact& c = contacts[k];
    views.push_back({c.a, c.b, c.p, c.n, contact_impulse(*record, k), c.gap});
  }
  return views;
}

void bind_record(nb::module_& m) {
  nb::class_<ContactView>(m, "Contact", "A contact point of a step, in the world.")
      .def_ro("shape_a", &ContactView::shape_a, "Number of the first shape.")
      .def_ro("shape_b", &ContactView::shape_b)
      .def_prop_ro(
          "point", [](const ContactView& c) { return to_numpy(VecX(c.point)); }, "(3,), m.")
      .def_prop_ro(
          "normal", [](const ContactView& c) { return to_numpy(VecX(c.normal)); }, "(3,), from shape b to shape a.")
      .def_prop_ro(
          "impulse", [](const ContactView& c) { return to_numpy(VecX(c.impulse)); },
          "(3,), on shape a during the step, N·s; divided by the time step it is the mean force.")
      .def_ro("gap", &ContactView::gap, "m; negative inside.")
      .def("__repr__", [](const ContactView& c) {
        return fmt::format("<Contact of shapes {} and {}: gap {:.3g} m, impulse {:.3g} N·s>", c.shape_a, c.shape_b,
                           c.gap, c.impulse.norm());
      });

  nb::class_<WarmStart>(m, "WarmStart", "How a step's constraints were classified: a guess for the next one.")
      .def(nb::init<>())
      .def("__copy__", [](const WarmStart& w) { return WarmStart(w); });

  nb::class_<Record>(m, "StepRecord",
                     "A step and everything on the way there: what its derivatives are taken from.\n\n"
                     "Its arrays are read-only views of its memory: they change when a later step is taken with "
                     "record=this, and are valid "
                     "for as long as they are held.")
      .def_prop_ro(
          "q", [](nb::handle self) { return view_of(nb::cast<Record&>(self)->next.q, self); },
          "The next configuration (nq,).")
      .def_prop_ro(
          "v", [](nb::handle self) { return view_of(nb::cast<Record&>(self)->next.v, self); },
          "The next velocity (nv,).")
      .def_prop_ro(
          "q_before", [](nb::handle self) { return view_of(nb::cast<Record&>(self)->state.q, self); },
          "The configuration that the step started from (nq,).")
      .def_prop_ro("v_before", [](nb::handle self) { return view_of(nb::cast<Record&>(self)->state.v, self); })
      .def_prop_ro(
          "tau", [](nb::handle self) { return view_of(nb::cast<Record&>(self)->control.tau, self); },
          "The generalised forces that acted (nv,).")
      .def_prop_ro(
          "f", [](const Record& record) { return to_numpy(record->f); },
          "Impulses of all constraint rows (status.rows,), N·s or N·m·s.")
      .def_prop_ro("status", [](const Record& record) { return record->status; })
      .def_prop_ro("options", [](const Record& record) { return record->options; })
      .def_prop_ro("contacts", &contact_views, "Contact points with their impulses.")
      .def_prop_ro("warm_start", [](const Record& record) { return record->warm_start; })
      .def(
          "constraint_forces",
          [](const Record& record, const Model& model) { return to_numpy(constraint_forces(model, *record)); },
          nb::arg("model"), "Mean forces of all constraints on the DoFs, Jᵀf/Δt (nv,).")
      .def(
          "motor_effort",
          [](const Record& record, const Model& model, const std::string& motor) {
            return motor_effort(*record, model.motor(motor));
          },
          nb::arg("model"), nb::arg("motor"), "The mean torque or force of a motor during the step.")
      .def("__repr__", [](const Record& record) {
        return fmt::format("<StepRecord: nv={}, {} contacts, {}>", record->next.v.size(), record->status.contacts,
                           record->status.solved() ? "solved" : "not solved");
      });
}

// A record for a step of this model. Views of its states must stay valid, so their sizes may not change.
Record& reusable(nb::handle object, const Model& model) {
  Record* record = nullptr;
  if (!nb::try_cast(object, record, false) || !record) {
    throw nb::type_error(
        fmt::format("record: expected a StepRecord, got {}", nb::type_name(object.type()).c_str()).c_str());
  }
  const auto nq = (*record)->next.q.size(), nv = (*record)->next.v.size();
  if (nv > 0 && (nq != model.nq() || nv != model.nv())) {
    throw nb::value_error(fmt::format("record: of a step with nq={}, nv={}, but the model has nq={}, nv={}", nq, nv,
                                      model.nq(), model.nv())
                              .c_str());
  }
  return *record;
}

}  // namespace

void bind_step(nb::module_& m) {
  bind_options(m);
  bind_status(m);
  bind_record(m);

  m.def(
      "step",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const OptionalArray& tau, const OptionsIn& options,
         const OptionalArray& targets, const WrenchesIn& wrenches, nb::handle guess, nb::object record) {
        State state;
        Control control;
        q.read("q", model.nq(), state.q);
        v.read("v", model.nv(), state.v);
        read_control(model, tau, targets, wrenches, control);
        if (record.is_none()) record = nb::cast(new Record(model), nb::rv_policy::take_ownership);
        Record& out = reusable(record, model);
        const StepOptions step_options = options.get();
        const WarmStart* start = warm_start_of(guess);
        {
          const nb::gil_scoped_release released;
          step(model, state, control, step_options, *out, start);
        }
        return record;
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("tau") = nb::none(), nb::kw_only(),
      nb::arg("options").none() = nb::none(), nb::arg("targets") = nb::none(), nb::arg("wrenches").none() = nb::none(),
      nb::arg("guess").none() = nb::none(), nb::arg("record").none() = nb::none(),
      nb::sig("def step(model: Model, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, tau: "
              "numpy.typing.ArrayLike | None = None, *, "
              "options: StepOptions | float | None = None, targets: numpy.typing.ArrayLike | None = None, wrenches: "
              "collections.abc.Mapping[str, "
              "numpy.typing.ArrayLike] | None = None, guess: WarmStart | StepRecord | None = None, record: StepRecord "
              "| None = None) -> "
              "StepRecord"),
      R"(One step of the model from (q, v).

q (nq,) and v (nv,) are the state, tau (nv,) generalised forces (none: zero). `options` is a StepOptions or a time step in seconds
(none: 1 ms). `targets` has one number per motor (none: motors are off). `wrenches` pushes bodies: {'body': [torque about its origin (3),
force (3)]} in world axes. `guess`, an earlier step's record or warm start, saves time.

Returns a StepRecord: record.q and record.v are the next state, record.contacts what touches; step_jacobians(), step_vjp() and step_jvp()
take it. With record=..., that one is used again, and nothing is allocated; its arrays then show the new step.)");
}

}  // namespace lithe::python

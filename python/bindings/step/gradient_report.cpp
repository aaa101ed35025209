#include "lithe/step/gradient_report.h"

#include <fmt/format.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lithe/rollout/rollout_report.h"
#include "lithe/step/gradient_options.h"
#include "lithe/step/step_parameters.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/gradient_arguments.h"
#include "python/bindings/step/status.h"

namespace lithe::python {

StepParameters ParametersIn::get(const Model& model) const {
  if (!object_.is_valid() || object_.is_none()) return {};
  const StepParameters* parameters = nullptr;
  if (nb::try_cast(object_, parameters, false)) {
    if (!parameters->match(model)) throw nb::value_error("parameters: chosen for a model of another structure");
    return *parameters;
  }
  std::vector<std::string> names;
  if (nb::isinstance<nb::str>(object_) || !nb::try_cast(object_, names)) {
    throw nb::type_error(fmt::format("parameters: expected a StepParameters or a list of names, got {}",
                                     nb::type_name(object_.type()).c_str())
                             .c_str());
  }
  return StepParameters(model, std::move(names));
}

namespace {

std::string describe_report(const GradientReport& r) {
  std::string text = fmt::format("<GradientReport: {}, {} rows ({} clamping, {} sliding)", to_string(r.mode), r.rows,
                                 r.clamping, r.sliding);
  if (r.one_sided) text += ", one-sided";
  if (r.diverged) text += ", diverged";
  if (r.overflowed) text += ", overflowed";
  return text + fmt::format(", margin {:.3g}>", r.margin);
}

void bind_rollout_report(nb::module_& m) {
  nb::class_<RolloutReport>(m, "RolloutReport", "What the gradient of a rollout is: the reports of its steps in one.")
      .def_ro("steps", &RolloutReport::steps, "Steps that were differentiated.")
      .def_ro("exact", &RolloutReport::exact,
              "Steps whose derivative is that of the step as computed, from both sides.")
      .def_ro("bounced", &RolloutReport::bounced)
      .def_ro("heuristic", &RolloutReport::heuristic, "Steps under another classification than their own.")
      .def_ro("one_sided", &RolloutReport::one_sided)
      .def_ro("unsolved", &RolloutReport::unsolved)
      .def_ro("margin", &RolloutReport::margin, "How far the nearest row is from changing its class, m/s or rad/s.")
      .def_ro("margin_step", &RolloutReport::margin_step)
      .def_ro("margin_row", &RolloutReport::margin_row)
      .def_ro("inconsistency", &RolloutReport::inconsistency)
      .def_ro("relabelled_rows", &RolloutReport::relabelled_rows)
      .def_ro("diverged_at", &RolloutReport::diverged_at, "The step in which numbers overflowed, or −1.")
      .def_ro("cut_at", &RolloutReport::cut_at,
              "What comes after this step is left out of everything before it; −1: nowhere.")
      .def_ro("cuts", &RolloutReport::cuts)
      .def_prop_ro("flags", [](const RolloutReport& r) { return flag_names(r.flags); })
      .def_prop_ro("is_exact", &RolloutReport::is_exact,
                   "Whether this is the derivative of the rollout as computed, every part of it.")
      .def("__str__", [](const RolloutReport& r) { return to_string(r); })
      .def("__repr__", [](const RolloutReport& r) { return "<RolloutReport: " + to_string(r) + ">"; });
}

}  // namespace

void bind_gradient_reports(nb::module_& m) {
  nb::enum_<Bounce>(m, "Bounce", "What the derivative of a step through an elastic bounce is.")
      .value("off", Bounce::off, "The derivative of the step as computed.")
      .value("mass_metric", Bounce::mass_metric, "That of the continuous motion through the impact.")
      .value("paper", Bounce::paper, "The paper's rule.");

  nb::class_<GradientOptions>(m, "GradientOptions", "Which derivative is wanted.")
      .def(
          "__init__",
          [](GradientOptions* self, Bounce bounce, bool complementarity_aware) {
            new (self) GradientOptions{.bounce = bounce, .complementarity_aware = complementarity_aware};
          },
          nb::arg("bounce") = Bounce::mass_metric, nb::arg("complementarity_aware") = false)
      .def_static("exact", &GradientOptions::exact,
                  "The derivative of the step as computed, which finite differences agree with.")
      .def_rw("bounce", &GradientOptions::bounce)
      .def_rw("complementarity_aware", &GradientOptions::complementarity_aware,
              "Leaves saddle points: tries a second classification, suggested by the loss. In VJPs and rollouts only.")
      .def("__getstate__",
           [](const GradientOptions& o) { return std::make_pair(static_cast<int>(o.bounce), o.complementarity_aware); })
      .def("__setstate__",
           [](GradientOptions& o, const std::pair<int, bool>& state) {
             new (&o)
                 GradientOptions{.bounce = static_cast<Bounce>(state.first), .complementarity_aware = state.second};
           })
      .def("__repr__", [](const GradientOptions& o) {
        const char* bounce = o.bounce == Bounce::off ? "off" : o.bounce == Bounce::paper ? "paper" : "mass_metric";
        return fmt::format("GradientOptions(bounce=Bounce.{}, complementarity_aware={})", bounce,
                           o.complementarity_aware ? "True" : "False");
      });

  nb::class_<GradientReport>(m, "GradientReport", "What a gradient is. Every gradient comes with one.")
      .def_prop_ro(
          "mode", [](const GradientReport& r) { return std::string(to_string(r.mode)); },
          "'exact', 'bounce_mass_metric', 'bounce_paper' or 'complementarity_aware' (a heuristic).")
      .def_ro("one_sided", &GradientReport::one_sided, "Only a one-sided derivative exists, or none.")
      .def_ro("rows", &GradientReport::rows)
      .def_ro("clamping", &GradientReport::clamping)
      .def_ro("separating", &GradientReport::separating)
      .def_ro("sliding", &GradientReport::sliding, "Friction rows at their bound.")
      .def_ro("saturated", &GradientReport::saturated, "Motors and dry friction at their bounds.")
      .def_ro("rank", &GradientReport::rank, "Of the clamping rows' matrix.")
      .def_ro("margin", &GradientReport::margin, "How far the nearest row is from changing its class, m/s or rad/s.")
      .def_ro("margin_row", &GradientReport::margin_row)
      .def_ro("tied_rows", &GradientReport::tied_rows)
      .def_ro("inconsistency", &GradientReport::inconsistency)
      .def_ro("null_space_term", &GradientReport::null_space_term)
      .def_prop_ro("flags", [](const GradientReport& r) { return flag_names(r.lcp_flags); })
      .def_ro("diverged", &GradientReport::diverged)
      .def_ro("overflowed", &GradientReport::overflowed, "The gradient is too large for a double: zeros stand for it.")
      .def_ro("relabelled_rows", &GradientReport::relabelled_rows)
      .def("__repr__", &describe_report);

  nb::class_<StepParameters>(m, "StepParameters",
                             "Numbers to differentiate by, chosen by name once and used for many steps.")
      .def(nb::init<const Model&, std::vector<std::string>>(), nb::arg("model"), nb::arg("names"),
           "Names as in Model.parameter_names(), 'motor/NAME/target' and 'time_step'.")
      .def_prop_ro("names", &StepParameters::names)
      .def("__len__", &StepParameters::size)
      .def("__repr__", [](const StepParameters& p) { return fmt::format("<StepParameters: {} numbers>", p.size()); });
  bind_rollout_report(m);
}

}  // namespace lithe::python

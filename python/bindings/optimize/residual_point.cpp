#include <fmt/format.h>

#include <map>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/model/parameters.h"
#include "python/bindings/optimize/residual_adapter.h"
#include "python/bindings/parts.h"

namespace lithe::python {

PointView::PointView(const ResidualPoint& at, bool wants_derivatives, Kinematics* stale)
    : at_(&at), wants_derivatives_(wants_derivatives), stale_(stale) {}

const ResidualPoint& PointView::point() const {
  LITHE_CHECK(
      at_, "this ResidualPoint is over: it can be looked at during the call it was given to; keep arrays, not points");
  return *at_;
}

const ResidualPoint& PointView::look(Input input) {
  const ResidualPoint& at = point();
  LITHE_CHECK(!allowed_ || (input != Input::u_before && input != Input::f) || allowed_->has(input),
              "this residual did not look at {0} when it was first called, so nobody knows that it depends on it: "
              "residuals.custom(…, depends_on=['{0}', …]) says so",
              name_of(input));
  LITHE_CHECK(input != Input::u || at.u.size() > 0,
              "there are no controls at t = {}: at the end of a motion none acts (use times='running'), and "
              "check_residual() has those that controls=… says",
              at.t);
  LITHE_CHECK(input != Input::f || at.record,
              "there are no impulses at t = {}: at the end of a motion no step is taken; use times='running'", at.t);
  seen_.add(input);
  return at;
}

const ResidualPoint& PointView::look_at_motion(bool velocity) {
  const ResidualPoint& at = look(Input::q);
  if (velocity) look(Input::v);
  if (at.parameters.size() > 0) look(Input::parameters);
  if (stale_) kinematics(at.model, at.q, at.v, *stale_);
  stale_ = nullptr;
  return at;
}

const ResidualPoint& PointView::look_at_all(const Residual& residual) {
  if (residual.needs_controls()) look(Input::u);
  if (residual.needs_previous_controls()) look(Input::u_before);
  if (residual.needs_impulses()) look(Input::f);
  return look_at_motion(true);
}

void bind_residual_point(nb::module_& m) {
  nb::class_<PointView>(
      m, "ResidualPoint",
      "What a residual sees of a motion at one time. It is over when the call is that it was given to; the arrays "
      "are copies, and stay.")
      .def_prop_ro(
          "t", [](const PointView& p) { return p.point().t; }, "The step that starts here: 0 … T, and T is the end.")
      .def_prop_ro(
          "q", [](PointView& p) { return to_numpy(VecX(p.look(Input::q).q)); }, "Configuration before step t (nq,).")
      .def_prop_ro(
          "v", [](PointView& p) { return to_numpy(VecX(p.look(Input::v).v)); }, "Velocity before step t (nv,).")
      .def_prop_ro(
          "u", [](PointView& p) { return to_numpy(VecX(p.look(Input::u).u)); },
          "Controls of step t (m,), N or N·m. At t = T there are none, and this is an Error.")
      .def_prop_ro(
          "u_before", [](PointView& p) { return to_numpy(VecX(p.look(Input::u_before).u_before)); },
          "Controls of the step before (m,); at t = 0 Problem.u_before.")
      .def_prop_ro(
          "f", [](PointView& p) { return to_numpy(p.look(Input::f).record->f); },
          "Impulses of all constraint rows of step t (rows,), N·s or N·m·s. At t = T there are none, and this is an "
          "Error.")
      .def_prop_ro(
          "model",
          [](PointView& p) {
            if (p.point().parameters.size() > 0) p.look(Input::parameters);
            return Model(p.point().model);
          },
          "A copy of the model, in which the free parameters have their values of this motion. Where none is free, "
          "your own "
          "model is the same and takes no time.")
      .def_prop_ro(
          "parameters",
          [](PointView& p) {
            std::map<std::string, double> values;
            if (p.point().parameters.size() == 0) return values;
            const ResidualPoint& at = p.look(Input::parameters);
            for (const std::string& name : at.parameters.names()) values[name] = parameter(at.model, name);
            return values;
          },
          "The free parameters of the model, by name.")
      .def_prop_ro("wants_derivatives", &PointView::wants_derivatives,
                   "Whether derivatives that are returned will be used. Where not, only the value matters.")
      .def(
          "body_pose",
          [](PointView& p, std::string_view body) {
            const ResidualPoint& at = p.look_at_motion(false);
            return body_pose(at.model, at.kin, at.model.body(body));
          },
          nb::arg("body"), "X_WB of a body, by name.")
      .def(
          "body_velocity",
          [](PointView& p, std::string_view body) {
            const ResidualPoint& at = p.look_at_motion(true);
            return to_numpy(VecX(body_velocity(at.model, at.kin, at.model.body(body))));
          },
          nb::arg("body"), "[ω; ṗ] of a body's origin, in world axes (6,).")
      .def(
          "frame_pose",
          [](PointView& p, std::string_view frame) {
            const ResidualPoint& at = p.look_at_motion(false);
            return frame_pose(at.model, at.kin, at.model.frame(frame));
          },
          nb::arg("frame"), "X_WF of a frame, by name.")
      .def(
          "frame_velocity",
          [](PointView& p, std::string_view frame) {
            const ResidualPoint& at = p.look_at_motion(true);
            return to_numpy(VecX(frame_velocity(at.model, at.kin, at.model.frame(frame))));
          },
          nb::arg("frame"), "[ω; ṗ] of a frame's origin, in world axes (6,).")
      .def("__repr__", [](const PointView& p) { return fmt::format("<ResidualPoint: t={}>", p.point().t); });
}

}  // namespace lithe::python

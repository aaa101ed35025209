#include <fmt/format.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lithe/scenes/task.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/state.h"
#include "python/bindings/values/choices.h"

// What motions are judged by.
namespace lithe::python {

void bind_tasks(nb::module_& m) {
  nb::enum_<TaskTerm::Of>(m, "TaskOf", "What of a joint a TaskTerm judges.", nb::is_str())
      .str_value("position", TaskTerm::Of::position, "position")
      .str_value("velocity", TaskTerm::Of::velocity, "velocity");
  nb::enum_<TaskTerm::Form>(m, "TaskForm", "How a TaskTerm judges it.", nb::is_str())
      .str_value("square", TaskTerm::Form::square, "square", "weight·(x − target)²")
      .str_value("signed_square", TaskTerm::Form::signed_square, "signed_square", "weight·(x − target)·|x − target|");
  nb::class_<TaskTerm> term(
      m, "TaskTerm", "One term of what a motion's end is judged by: of the position or velocity x of a 1-DoF joint.");
  term.def(
          "__init__",
          [](TaskTerm* self, const std::string& joint, const Choice<TaskTerm::Of>& of, double target, double weight,
             const Choice<TaskTerm::Form>& form) {
            new (self) TaskTerm{
                .joint = joint, .of = of.get("of"), .target = target, .weight = weight, .form = form.get("form")};
          },
          nb::arg("joint"), nb::arg("of") = "position", nb::kw_only(), nb::arg("target") = 0.0, nb::arg("weight") = 1.0,
          nb::arg("form") = "square")
      .def_rw("joint", &TaskTerm::joint)
      .def_prop_rw(
          "of", [](const TaskTerm& t) { return t.of; },
          [](TaskTerm& t, const Choice<TaskTerm::Of>& of) { t.of = of.get("of"); })
      .def_rw("target", &TaskTerm::target, "rad, m, rad/s or m/s.")
      .def_rw("weight", &TaskTerm::weight)
      .def_prop_rw(
          "form", [](const TaskTerm& t) { return t.form; },
          [](TaskTerm& t, const Choice<TaskTerm::Form>& form) { t.form = form.get("form"); })
      .def("__repr__", [](const TaskTerm& t) {
        return fmt::format("<TaskTerm: {} of '{}' to {:g}, weight {:g}{}>",
                           t.of == TaskTerm::Of::position ? "position" : "velocity", t.joint, t.target, t.weight,
                           t.form == TaskTerm::Form::square ? "" : ", signed");
      });
  make_picklable(term);

  nb::class_<TaskPoint> point(m, "TaskPoint", "Another term: weight·|p − target|² of a point that rides on a body.");
  point
      .def(
          "__init__",
          [](TaskPoint* self, const std::string& body, const ArrayIn& target, const OptionalArray& at, double weight) {
            new (self) TaskPoint{.body = body,
                                 .point = at ? Vec3(at->vector("point", 3)) : Vec3(Vec3::Zero()),
                                 .target = target.vector("target", 3),
                                 .weight = weight};
          },
          nb::arg("body"), nb::arg("target"), nb::kw_only(), nb::arg("point") = nb::none(), nb::arg("weight") = 1.0)
      .def_rw("body", &TaskPoint::body)
      .def_prop_ro(
          "point", [](const TaskPoint& p) { return to_numpy(VecX(p.point)); }, "In the body's frame (3,), m.")
      .def_prop_ro(
          "target", [](const TaskPoint& p) { return to_numpy(VecX(p.target)); }, "In the world (3,), m.")
      .def_rw("weight", &TaskPoint::weight)
      .def("__repr__", [](const TaskPoint& p) {
        return fmt::format("<TaskPoint: of '{}' to ({:g}, {:g}, {:g}), weight {:g}>", p.body, p.target.x(),
                           p.target.y(), p.target.z(), p.weight);
      });
  make_picklable(point);

  nb::class_<Task> task(m, "Task",
                        "What a scene asks of whoever drives it: make the sum of the terms and points small after "
                        "`steps` steps. hold_task(), reach_task() and rise_task() make one for any robot.");
  task.def(
          "__init__",
          [](Task* self, const std::vector<TaskTerm>& terms, int steps, int shot, const std::string& description,
             const std::vector<TaskPoint>& points) {
            new (self) Task{.description = description, .steps = steps, .shot = shot, .terms = terms, .points = points};
          },
          nb::arg("terms"), nb::arg("steps"), nb::kw_only(), nb::arg("shot") = 0, nb::arg("description") = "",
          nb::arg("points") = std::vector<TaskPoint>())
      .def_rw("description", &Task::description)
      .def_rw("steps", &Task::steps)
      .def_rw("shot", &Task::shot, "Steps per shot of multiple shooting.")
      .def_rw("terms", &Task::terms, "A list of copies: assign a new one to change it.")
      .def_rw("points", &Task::points, "The same.")
      .def("__repr__", [](const Task& t) {
        return fmt::format("<Task: {} ({} steps, {} terms)>", t.description, t.steps, t.terms.size() + t.points.size());
      });
  make_picklable(task);

  nb::class_<TaskLoss>(m, "TaskLoss", "How good the end of a motion is.")
      .def_ro("value", &TaskLoss::value)
      .def_prop_ro(
          "by_q", [](const TaskLoss& loss) { return to_numpy(loss.by_q); }, "Derivative by q (nv,).")
      .def_prop_ro(
          "by_v", [](const TaskLoss& loss) { return to_numpy(loss.by_v); }, "Derivative by v (nv,).")
      .def("__float__", [](const TaskLoss& loss) { return loss.value; })
      .def("__repr__", [](const TaskLoss& loss) { return fmt::format("<TaskLoss: {:g}>", loss.value); });
  m.def(
      "task_loss",
      [](const Task& asked, const Model& model, const ArrayIn& q, const ArrayIn& v) {
        return task_loss(asked, model, q.vector("q", model.nq()), v.vector("v", model.nv()));
      },
      nb::arg("task"), nb::arg("model"), nb::arg("q"), nb::arg("v"),
      "Of a state at the end, q (nq,) and v (nv,), with its derivatives. A term on an unknown joint or a ball is an "
      "Error, and so is a point on an unknown body.");
}

}  // namespace lithe::python

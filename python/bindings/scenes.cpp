#include <fmt/format.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "lithe/model/configuration.h"
#include "lithe/scenes/catalogue.h"
#include "python/bindings/choices.h"
#include "python/bindings/parts.h"
#include "python/bindings/state.h"

namespace lithe::python {

namespace {

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

  nb::class_<Task> task(m, "Task",
                        "What a scene asks of whoever drives it: make the sum of the terms small after `steps` steps.");
  task.def(
          "__init__",
          [](Task* self, const std::vector<TaskTerm>& terms, int steps, int shot, const std::string& description) {
            new (self) Task{.description = description, .steps = steps, .shot = shot, .terms = terms};
          },
          nb::arg("terms"), nb::arg("steps"), nb::kw_only(), nb::arg("shot") = 0, nb::arg("description") = "")
      .def_rw("description", &Task::description)
      .def_rw("steps", &Task::steps)
      .def_rw("shot", &Task::shot, "Steps per shot of multiple shooting.")
      .def_rw("terms", &Task::terms, "A list of copies: assign a new one to change it.")
      .def("__repr__", [](const Task& t) {
        return fmt::format("<Task: {} ({} steps, {} terms)>", t.description, t.steps, t.terms.size());
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
      "Error.");
}

VecX configuration_of(const Model& model, const ArrayIn& q) {
  VecX read = q.vector("q", model.nq());
  check_configuration(model, read);
  return read;
}

VecX velocity_of(const Model& model, const ArrayIn& v) {
  VecX read = v.vector("v", model.nv());
  check_tangent(model, read, "v");
  return read;
}

// Without an array: in the neutral configuration, not moving, every motor's target 0.
Scene make_scene(const Model& model, const OptionalArray& q, const OptionalArray& v, double time_step,
                 const OptionalArray& motor_targets, const std::optional<Task>& task) {
  const auto motors = static_cast<Eigen::Index>(model.motors().size());
  return {.model = model,
          .q = q ? configuration_of(model, *q) : neutral_configuration(model),
          .v = v ? velocity_of(model, *v) : VecX(VecX::Zero(model.nv())),
          .time_step = time_step,
          .motor_targets = motor_targets ? motor_targets->vector("motor_targets", motors) : VecX(VecX::Zero(motors)),
          .task = task};
}

nb::object pack_scene(const Scene& scene) {
  return nb::make_tuple(pack(scene.model), pack(scene.q), pack(scene.v), scene.time_step, pack(scene.motor_targets),
                        scene.task ? pack(*scene.task) : nb::none());
}

Scene unpack_scene(nb::handle state) {
  const auto packed = nb::cast<nb::tuple>(state);
  Scene scene{.model = unpack_model(packed[0]), .q = {}, .v = {}, .time_step = nb::cast<double>(packed[3])};
  unpack(packed[1], scene.q);
  unpack(packed[2], scene.v);
  unpack(packed[4], scene.motor_targets);
  if (const nb::object task = packed[5]; !task.is_none()) unpack(task, scene.task.emplace());
  return scene;
}

}  // namespace

void bind_scenes(nb::module_& m) {
  bind_tasks(m);
  nb::class_<Scene>(m, "Scene", "A model with a state to start from and a time step to take.")
      .def(
          "__init__",
          [](Scene* self, const Model& model, const OptionalArray& q, const OptionalArray& v, double time_step,
             const OptionalArray& motor_targets, const std::optional<Task>& task) {
            new (self) Scene(make_scene(model, q, v, time_step, motor_targets, task));
          },
          nb::arg("model"), nb::arg("q") = nb::none(), nb::arg("v") = nb::none(), nb::kw_only(),
          nb::arg("time_step") = 1e-3, nb::arg("motor_targets") = nb::none(), nb::arg("task").none() = nb::none(),
          "Of a copy of the model. q is the neutral configuration, and v and the motor targets are 0, where they are "
          "not given.")
      .def_prop_ro(
          "model", [](Scene& scene) -> Model& { return scene.model; }, nb::rv_policy::reference_internal)
      .def_prop_rw(
          "q", [](const Scene& scene) { return to_numpy(scene.q); },
          [](Scene& scene, const ArrayIn& q) { scene.q = configuration_of(scene.model, q); },
          "Initial configuration (nq,): a copy.")
      .def_prop_rw(
          "v", [](const Scene& scene) { return to_numpy(scene.v); },
          [](Scene& scene, const ArrayIn& v) { scene.v = velocity_of(scene.model, v); },
          "Initial velocity (nv,): a copy.")
      .def_rw("time_step", &Scene::time_step, "s.")
      .def_prop_rw(
          "motor_targets", [](const Scene& scene) { return to_numpy(scene.motor_targets); },
          [](Scene& scene, const ArrayIn& targets) {
            scene.motor_targets =
                targets.vector("motor_targets", static_cast<Eigen::Index>(scene.model.motors().size()));
          },
          "One per motor: rad or m for a position, rad/s or m/s for a velocity. A copy.")
      .def_prop_rw(
          "task", [](const Scene& scene) { return scene.task; },
          [](Scene& scene, const std::optional<Task>& task) { scene.task = task; },
          nb::for_setter(nb::arg("task").none()), "What is asked of whoever drives it, or None. A copy.")
      .def(
          "set_initial",
          [](Scene& scene, std::string_view joint, double q, double v) { set_initial(scene, joint, q, v); },
          nb::arg("joint"), nb::arg("q"), nb::arg("v") = 0.0, "Changes the initial state of a 1-DoF joint.")
      .def(
          "set_target", [](Scene& scene, std::string_view motor, double target) { set_target(scene, motor, target); },
          nb::arg("motor"), nb::arg("target"))
      .def("__copy__", [](const Scene& scene) { return Scene(scene); })
      .def(
          "__deepcopy__", [](const Scene& scene, nb::handle) { return Scene(scene); }, nb::arg("memo"))
      .def("__getstate__", &pack_scene)
      .def("__setstate__", [](Scene& self, nb::handle state) { new (&self) Scene(unpack_scene(state)); })
      .def("__repr__", [](const Scene& scene) {
        return fmt::format("<Scene: {} bodies, nq={}, nv={}, time step {:g} s>", scene.model.bodies().size() - 1,
                           scene.model.nq(), scene.model.nv(), scene.time_step);
      });
  m.def(
      "scene", [](std::string_view name) { return scene(name); }, nb::arg("name"),
      "A scene by its name, such as 'cartpole' or 'stack:5'. An unknown name is an Error that lists the closest ones.");
  m.def("scene_names", &scene_names, "The names of all scenes.");
  m.def(
      "scene_description", [](std::string_view name) { return scene_description(name); }, nb::arg("name"),
      "What there is to see, in a line.");
  m.def(
      "at_rest", [](const ModelBuilder& builder) { return at_rest(builder); }, nb::arg("builder"),
      "A scene in the neutral configuration, not moving, every motor's target 0.");
}

}  // namespace lithe::python

#include <fmt/format.h>

#include <cmath>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <variant>

#include "lithe/model/configuration.h"
#include "lithe/scenes/any_task.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/from_file.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/state.h"
#include "python/bindings/values/paths.h"

namespace lithe::python {

namespace {

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
                 const OptionalArray& motor_targets) {
  const auto motors = static_cast<Eigen::Index>(model.motors().size());
  return {.model = model,
          .q = q ? configuration_of(model, *q) : neutral_configuration(model),
          .v = v ? velocity_of(model, *v) : VecX(VecX::Zero(model.nv())),
          .time_step = time_step,
          .motor_targets = motor_targets ? motor_targets->vector("motor_targets", motors) : VecX(VecX::Zero(motors))};
}

// True, False or a height in metres. None is left to whoever asks: a file gets a ground if it would fall for ever, others have what they
// have.
using GroundIn = std::optional<std::variant<bool, double>>;

Ground read_ground(const GroundIn& in, Ground::When otherwise) {
  if (!in) return {.when = otherwise};
  if (const bool* wanted = std::get_if<bool>(&*in)) return {.when = *wanted ? Ground::When::yes : Ground::When::no};
  return {.when = Ground::When::at_height, .height = std::get<double>(*in)};
}

void put_on_ground(Scene& scene, const Ground& ground) {
  if (const std::optional<Shape> shape = ground_under(scene.model, scene.q, ground)) {
    scene.model = builder_of(scene.model).add_shape("world", *shape).build();
  }
}

// A task, or the text of one that any robot can be set.
using TaskIn = std::optional<std::variant<Task, std::string>>;

std::optional<Task> read_task(const TaskIn& in, const Scene& scene) {
  if (!in) return std::nullopt;
  if (const Task* task = std::get_if<Task>(&*in)) return *task;
  return task_from(scene, std::get<std::string>(*in));
}

void check_no_file_options(const std::string& what, const std::optional<std::string>& keyframe,
                           const nb::kwargs& load_options) {
  if (keyframe) throw nb::value_error(fmt::format("keyframe: {}, and only files have keyframes", what).c_str());
  if (load_options.size() == 0) return;
  const auto name = nb::cast<std::string>(*load_options.keys().begin());
  throw nb::type_error(fmt::format("{}: {}, and only files are loaded with options", name, what).c_str());
}

// What anything stands for that a scene can be made of.
ShownScene open_source(nb::handle source, const GroundIn& ground, const std::optional<std::string>& keyframe,
                       const nb::kwargs& load_options) {
  const Ground under = read_ground(ground, Ground::When::automatic);
  const auto as_it_is = [&](ShownScene shown, const std::string& what) {
    check_no_file_options(what, keyframe, load_options);
    put_on_ground(shown.scene, read_ground(ground, Ground::When::no));
    return shown;
  };
  if (nb::isinstance<LoadedModel>(source)) {
    check_no_file_options("it is loaded already", std::nullopt, load_options);
    return open_scene(nb::cast<const LoadedModel&>(source), {.ground = under, .keyframe = keyframe.value_or("")});
  }
  if (nb::isinstance<Model>(source)) {
    const auto& model = nb::cast<const Model&>(source);
    return as_it_is({.name = "scene", .scene = make_scene(model, {}, {}, 1e-3, {})}, "it is a Model");
  }
  if (nb::isinstance<ShownScene>(source)) return as_it_is(nb::cast<ShownScene>(source), "it is a Scene");
  if (nb::isinstance<nb::str>(source)) {
    const auto name = nb::cast<std::string>(source);
    if (!names_file(name)) return as_it_is({.name = name, .scene = scene(name)}, fmt::format("'{}' is a scene", name));
  }
  PathIn path;
  if (!nb::try_cast(source, path)) {
    throw nb::type_error(fmt::format("source: expected a Model, a Scene, a LoadedModel or the name of a file or scene, "
                                     "got {}",
                                     nb::type_name(source.type()).c_str())
                             .c_str());
  }
  // What overlaps at the start is looked for in the keyframe, so that it is load() who must know of it.
  const nb::object loaded = nb::module_::import_("lithe._lithe")
                                .attr("load")(source, nb::arg("keyframe") = keyframe.value_or(""), **load_options);
  return open_scene(nb::cast<const LoadedModel&>(loaded), {.ground = under});
}

constexpr const char* kOpenDoc = R"(

ground         whether to put a ground under the lowest point: True (unless there is one), False, or a height in metres.
               None: a file gets one if it would fall for ever without
keyframe       the name of a state of the file to start in
task           a Task, or the text of one that any robot can be set: 'hold', 'reach NAME X Y Z', 'rise HEIGHT'
load_options   of load(), if `source` is a file: base=, packages=, strict= …)";

nb::object pack_scene(const ShownScene& shown) {
  const Scene& scene = shown.scene;
  return nb::make_tuple(pack(scene.model), pack(scene.q), pack(scene.v), scene.time_step, pack(scene.motor_targets),
                        scene.task ? pack(*scene.task) : nb::none(), pack(shown.name), pack(shown.visuals),
                        pack(shown.warnings), pack(shown.excepted_pairs));
}

ShownScene unpack_scene(nb::handle state) {
  const auto packed = nb::cast<nb::tuple>(state);
  Scene scene{.model = unpack_model(packed[0]), .q = {}, .v = {}, .time_step = nb::cast<double>(packed[3])};
  unpack(packed[1], scene.q);
  unpack(packed[2], scene.v);
  unpack(packed[4], scene.motor_targets);
  if (const nb::object task = packed[5]; !task.is_none()) unpack(task, scene.task.emplace());
  ShownScene shown = {.name = {}, .scene = std::move(scene)};
  unpack(packed[6], shown.name);
  unpack(packed[7], shown.visuals);
  unpack(packed[8], shown.warnings);
  unpack(packed[9], shown.excepted_pairs);
  return shown;
}

std::vector<std::string> warnings_of(const ShownScene& shown) {
  std::vector<std::string> texts;
  for (const LoadWarning& warning : shown.warnings) texts.push_back(to_string(warning));
  return texts;
}

void bind_any_tasks(nb::module_& m) {
  m.def(
      "hold_task", [](const ShownScene& shown) { return hold_task(shown.scene); }, nb::arg("scene"),
      "To be, after half a second, where the scene starts, and at rest.");
  m.def(
      "reach_task",
      [](const ShownScene& shown, std::string_view name, const ArrayIn& target) {
        return reach_task(shown.scene, name, Vec3(target.vector("target", 3)));
      },
      nb::arg("scene"), nb::arg("body_or_frame"), nb::arg("target"),
      "To bring a body's or frame's origin to a place in the world (3,) within half a second, and to stop there.");
  m.def(
      "rise_task", [](const ShownScene& shown, double height) { return rise_task(shown.scene, height); },
      nb::arg("scene"), nb::arg("height"),
      "To bring what floats so many metres higher than it starts within half a second: to get up, or to jump.");
  m.def(
      "task_from", [](const ShownScene& shown, std::string_view text) { return task_from(shown.scene, text); },
      nb::arg("scene"), nb::arg("text"), "These by a text: 'hold', 'reach NAME X Y Z', 'rise HEIGHT'.");
}

}  // namespace

void bind_scenes(nb::module_& m) {
  bind_tasks(m);
  nb::class_<ShownScene>(
      m, "Scene",
      (std::string(
           "A model with a state to start from and a time step to take.\n\n"
           "Of a copy of a model: q is the neutral configuration, and v and the motor targets are 0, where they "
           "are not given. Or of what a file, a scene of the catalogue or another Scene holds.") +
       kOpenDoc)
          .c_str())
      .def(
          "__init__",
          [](ShownScene* self, const Model& model, const OptionalArray& q, const OptionalArray& v, double time_step,
             const OptionalArray& motor_targets, const TaskIn& task, const GroundIn& ground) {
            ShownScene made = {.name = "scene", .scene = make_scene(model, q, v, time_step, motor_targets)};
            put_on_ground(made.scene, read_ground(ground, Ground::When::no));
            made.scene.task = read_task(task, made.scene);
            new (self) ShownScene(std::move(made));
          },
          nb::arg("model"), nb::arg("q") = nb::none(), nb::arg("v") = nb::none(), nb::kw_only(),
          nb::arg("time_step") = 1e-3, nb::arg("motor_targets") = nb::none(), nb::arg("task").none() = nb::none(),
          nb::arg("ground").none() = nb::none())
      .def(
          "__init__",
          [](ShownScene* self, nb::object source, const GroundIn& ground, const std::optional<std::string>& keyframe,
             const TaskIn& task, const nb::kwargs& load_options) {
            ShownScene made = open_source(source, ground, keyframe, load_options);
            if (task) made.scene.task = read_task(task, made.scene);
            new (self) ShownScene(std::move(made));
          },
          nb::arg("source").none(), nb::kw_only(), nb::arg("ground").none() = nb::none(),
          nb::arg("keyframe").none() = nb::none(), nb::arg("task").none() = nb::none(), nb::arg("load_options"),
          nb::sig("def __init__(self, source: Model | Scene | LoadedModel | str | os.PathLike[str], *, ground: bool | "
                  "float | "
                  "None = None, keyframe: str | None = None, task: Task | str | None = None, **load_options: "
                  "typing.Any) -> None"))
      .def_prop_ro(
          "model", [](ShownScene& shown) -> Model& { return shown.scene.model; }, nb::rv_policy::reference_internal)
      .def_prop_rw(
          "q", [](const ShownScene& shown) { return to_numpy(shown.scene.q); },
          [](ShownScene& shown, const ArrayIn& q) { shown.scene.q = configuration_of(shown.scene.model, q); },
          "Initial configuration (nq,): a copy.")
      .def_prop_rw(
          "v", [](const ShownScene& shown) { return to_numpy(shown.scene.v); },
          [](ShownScene& shown, const ArrayIn& v) { shown.scene.v = velocity_of(shown.scene.model, v); },
          "Initial velocity (nv,): a copy.")
      .def_prop_rw(
          "time_step", [](const ShownScene& shown) { return shown.scene.time_step; },
          [](ShownScene& shown, double time_step) { shown.scene.time_step = time_step; }, "s.")
      .def_prop_rw(
          "motor_targets", [](const ShownScene& shown) { return to_numpy(shown.scene.motor_targets); },
          [](ShownScene& shown, const ArrayIn& targets) {
            Scene& scene = shown.scene;
            scene.motor_targets =
                targets.vector("motor_targets", static_cast<Eigen::Index>(scene.model.motors().size()));
          },
          "One per motor: rad or m for a position, rad/s or m/s for a velocity. A copy.")
      .def_prop_rw(
          "task", [](const ShownScene& shown) { return shown.scene.task; },
          [](ShownScene& shown, const std::optional<Task>& task) { shown.scene.task = task; },
          nb::for_setter(nb::arg("task").none()), "What is asked of whoever drives it, or None. A copy.")
      .def_ro("name", &ShownScene::name, "The scene's, or what the file calls its robot (else the file's own).")
      .def_prop_ro(
          "visuals", [](const ShownScene& shown) { return shown.visuals; }, "What only the eye sees of it.")
      .def_prop_ro("warnings", &warnings_of, "About the file.")
      .def_prop_ro(
          "excepted_pairs", [](const ShownScene& shown) { return shown.excepted_pairs; },
          "Links of the file that do not touch one another, and why.")
      .def(
          "set_initial",
          [](ShownScene& shown, std::string_view joint, double q, double v) { set_initial(shown.scene, joint, q, v); },
          nb::arg("joint"), nb::arg("q"), nb::arg("v") = 0.0, "Changes the initial state of a 1-DoF joint.")
      .def(
          "set_target",
          [](ShownScene& shown, std::string_view motor, double target) { set_target(shown.scene, motor, target); },
          nb::arg("motor"), nb::arg("target"))
      .def("__copy__", [](const ShownScene& shown) { return ShownScene(shown); })
      .def(
          "__deepcopy__", [](const ShownScene& shown, nb::handle) { return ShownScene(shown); }, nb::arg("memo"))
      .def("__getstate__", &pack_scene)
      .def("__setstate__", [](ShownScene& self, nb::handle state) { new (&self) ShownScene(unpack_scene(state)); })
      .def("__repr__", [](const ShownScene& shown) {
        const Scene& scene = shown.scene;
        return fmt::format("<Scene: {} bodies, nq={}, nv={}, time step {:g} s>", scene.model.bodies().size() - 1,
                           scene.model.nq(), scene.model.nv(), scene.time_step);
      });
  m.def(
      "scene",
      [](nb::object name, const GroundIn& ground, const std::optional<std::string>& keyframe, const TaskIn& task,
         const nb::kwargs& load_options) {
        ShownScene made = open_source(name, ground, keyframe, load_options);
        if (task) made.scene.task = read_task(task, made.scene);
        return made;
      },
      nb::arg("name").none(), nb::kw_only(), nb::arg("ground").none() = nb::none(),
      nb::arg("keyframe").none() = nb::none(), nb::arg("task").none() = nb::none(), nb::arg("load_options"),
      nb::sig("def scene(name: str | os.PathLike[str], *, ground: bool | float | None = None, keyframe: str | None = "
              "None, task: Task | str | None = None, **load_options: typing.Any) -> Scene"),
      (std::string("A scene by its name, such as 'cartpole' or 'stack:5', or what a URDF, SDF or MJCF file holds, on a "
                   "ground. An unknown name is an Error that lists the closest ones.") +
       kOpenDoc)
          .c_str());
  m.def("scene_names", &scene_names, "The names of all scenes.");
  m.def(
      "scene_description", [](std::string_view name) { return scene_description(name); }, nb::arg("name"),
      "What there is to see, in a line.");
  m.def(
      "names_file", [](const std::string& name) { return names_file(name); }, nb::arg("name"),
      "Whether, where the name of a scene or a file is asked for, this one is a file's: it has a '/' or a '.' in it, "
      "or "
      "is no scene's and there is a file of that name.");
  m.def(
      "at_rest", [](const ModelBuilder& builder) { return ShownScene{.name = "scene", .scene = at_rest(builder)}; },
      nb::arg("builder"), "A scene in the neutral configuration, not moving, every motor's target 0.");
  bind_any_tasks(m);
}

}  // namespace lithe::python

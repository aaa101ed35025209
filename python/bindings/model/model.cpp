#include "lithe/model/model.h"

#include <fmt/format.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "lithe/model/parameters.h"
#include "lithe/step/step_parameters.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/state.h"
#include "python/bindings/values/arrays.h"
#include "python/bindings/values/names.h"
#include "python/bindings/values/poses.h"

namespace lithe::python {

namespace {

// A part by its name or by its number, as every setter takes it.
using Which = std::variant<int, std::string>;

template <class Index>
Index find(const Model& model, const Which& which, Index (Model::*by_name)(std::string_view) const) {
  if (const int* number = std::get_if<int>(&which)) return Index(*number);  // checked by the setter
  return (model.*by_name)(std::get<std::string>(which));
}

std::string describe_model(const Model& model) {
  return fmt::format("<Model: {} bodies, nq={}, nv={}, {} shapes, {} motors, {:.6g} kg>", model.bodies().size() - 1,
                     model.nq(), model.nv(), model.shapes().size(), model.motors().size(), model.total_mass());
}

// The parts as lists of values, and what puts a changed one back.
void define_parts(nb::class_<Model>& model) {
  model
      .def_prop_ro(
          "bodies", [](const Model& self) { return self.bodies(); },
          "A list of copies, the world first. Changing one changes no model: set_inertia() and its like do.")
      .def_prop_ro(
          "joints", [](const Model& self) { return self.joints(); }, "A list of copies; set_joint() puts one back.")
      .def_prop_ro(
          "shapes", [](const Model& self) { return self.shapes(); }, "A list of copies; set_shape() puts one back.")
      .def_prop_ro(
          "frames", [](const Model& self) { return self.frames(); }, "A list of copies.")
      .def_prop_ro(
          "motors", [](const Model& self) { return self.motors(); }, "A list of copies; set_motor() puts one back.")
      .def_prop_ro(
          "loops", [](const Model& self) { return self.loops(); }, "A list of copies; set_loop() puts one back.")
      .def_prop_ro(
          "mimics", [](const Model& self) { return self.mimics(); }, "A list of copies; set_mimic() puts one back.")
      .def_prop_ro(
          "pair_exceptions",
          [](const Model& self) {
            std::vector<std::tuple<int, int, bool>> pairs;
            for (const auto& pair : self.pair_exceptions()) pairs.emplace_back(pair.a, pair.b, pair.collide);
            return pairs;
          },
          "Pairs of bodies (a, b, collide) whose shapes do or do not collide, against the default rule.")
      .def(
          "set_inertia",
          [](Model& self, const Which& body, const SpatialInertia& inertia) {
            self.set_inertia(find(self, body, &Model::body), inertia);
          },
          nb::arg("body"), nb::arg("inertia"),
          "Of a body by its name or number. What no model can have is an Error, and changes nothing.")
      .def(
          "set_body_placement",
          [](Model& self, const Which& body, const PoseIn& placement) {
            self.set_body_placement(find(self, body, &Model::body), placement.get("placement"));
          },
          nb::arg("body"), nb::arg("placement").none(),
          "Where a body sits behind its last joint: a Pose or a translation (3,).")
      .def(
          "set_joint",
          [](Model& self, const Which& joint, const Joint& properties) {
            self.set_joint(find(self, joint, &Model::joint), properties);
          },
          nb::arg("joint"), nb::arg("properties"), "Any property of a joint but its name and type.")
      .def(
          "set_shape",
          [](Model& self, const Which& shape, const Shape& properties) {
            self.set_shape(find(self, shape, &Model::shape), properties);
          },
          nb::arg("shape"), nb::arg("properties"), "Any property of a shape but its name and body.")
      .def(
          "set_frame_placement",
          [](Model& self, const Which& frame, const PoseIn& placement) {
            self.set_frame_placement(find(self, frame, &Model::frame), placement.get("placement"));
          },
          nb::arg("frame"), nb::arg("placement").none(),
          "Where a frame sits on its body: a Pose or a translation (3,).")
      .def(
          "set_motor",
          [](Model& self, const Which& motor, const Motor& properties) {
            self.set_motor(find(self, motor, &Model::motor), properties);
          },
          nb::arg("motor"), nb::arg("properties"), "Any property of a motor but its name and joint.")
      .def(
          "set_loop",
          [](Model& self, const Which& loop, const LoopClosure& properties) {
            self.set_loop(find(self, loop, &Model::loop), properties);
          },
          nb::arg("loop"), nb::arg("properties"), "Where a loop closure holds its bodies.")
      .def(
          "set_mimic",
          [](Model& self, const Which& mimic, const Mimic& properties) {
            self.set_mimic(find(self, mimic, &Model::mimic), properties);
          },
          nb::arg("mimic"), nb::arg("properties"), "How a joint follows another.")
      .def("__getstate__", [](const Model& self) { return pack(self); })
      .def("__setstate__", [](Model& self, nb::handle state) { new (&self) Model(unpack_model(state)); });
}

}  // namespace

void bind_model(nb::module_& m) {
  bind_shapes(m);
  bind_joints(m);
  bind_model_parts(m);

  nb::class_<Model> model_class(
      m, "Model",
      "Bodies, joints, shapes, motors and gravity: all that does not change during a step.\n\n"
      "From load(), scene() or a ModelBuilder. Structure is fixed; numbers are read and written by name "
      "(model['body/arm/mass']). "
      "A model may be used by many threads at once as long as none of them changes it. Copies (copy.copy, pickle) "
      "share nothing.");
  model_class
      .def_prop_ro("nq", &Model::nq, "Size of q: one per 1-DoF joint, four per ball (a unit quaternion x, y, z, w).")
      .def_prop_ro("nv", &Model::nv, "Size of v, tau and of every derivative's columns.")
      .def_prop_ro("total_mass", &Model::total_mass, "Of the bodies that can move, kg.")
      .def_prop_rw(
          "gravity", [](const Model& model) { return read_only(model.gravity()); },
          [](Model& model, const ArrayIn& gravity) { model.set_gravity(fixed<3>(gravity, "gravity")); },
          "Gravity (3,) in the world, m/s². Assign a whole one to change it.")
      .def_prop_ro(
          "body_names", [](const Model& model) { return names_of(model.bodies()); }, "The world first.")
      .def_prop_ro("joint_names", [](const Model& model) { return names_of(model.joints()); })
      .def_prop_ro("shape_names", [](const Model& model) { return names_of(model.shapes()); })
      .def_prop_ro("frame_names", [](const Model& model) { return names_of(model.frames()); })
      .def_prop_ro("motor_names", [](const Model& model) { return names_of(model.motors()); })
      .def_prop_ro("loop_names", [](const Model& model) { return names_of(model.loops()); })
      .def_prop_ro("mimic_names", [](const Model& model) { return names_of(model.mimics()); })
      .def(
          "body", [](const Model& model, std::string_view name) -> int { return model.body(name); }, nb::arg("name"),
          "The number of a body. An unknown name is an Error that lists the closest ones.")
      .def(
          "joint", [](const Model& model, std::string_view name) -> int { return model.joint(name); }, nb::arg("name"))
      .def(
          "shape", [](const Model& model, std::string_view name) -> int { return model.shape(name); }, nb::arg("name"))
      .def(
          "frame", [](const Model& model, std::string_view name) -> int { return model.frame(name); }, nb::arg("name"))
      .def(
          "motor", [](const Model& model, std::string_view name) -> int { return model.motor(name); }, nb::arg("name"))
      .def(
          "loop", [](const Model& model, std::string_view name) -> int { return model.loop(name); }, nb::arg("name"))
      .def(
          "mimic", [](const Model& model, std::string_view name) -> int { return model.mimic(name); }, nb::arg("name"))
      .def(
          "q_index",
          [](const Model& model, std::string_view joint) { return model.joints()[model.joint(joint)].q_index; },
          nb::arg("joint"), "Where a joint's first number is in q.")
      .def(
          "v_index",
          [](const Model& model, std::string_view joint) { return model.joints()[model.joint(joint)].v_index; },
          nb::arg("joint"), "Where a joint's first number is in v and tau.")
      .def_prop_ro(
          "ball_joints",
          [](const Model& model) {
            std::vector<std::pair<int, int>> places;
            for (const Joint& joint : model.joints()) {
              if (joint.type == JointType::ball) places.emplace_back(joint.q_index, joint.v_index);
            }
            return places;
          },
          "Where the balls are: (first entry in q, first entry in v) of each.")
      .def(
          "parameter_names", [](const Model& model) { return parameter_names(model); },
          "Every number that the model has, such as 'body/arm/mass' or 'shape/foot/friction'.")
      .def(
          "__getitem__", [](const Model& model, std::string_view name) { return parameter(model, name); },
          nb::arg("name"), "A number by its name.")
      .def(
          "__setitem__", [](Model& model, std::string_view name, double value) { set_parameter(model, name, value); },
          nb::arg("name"), nb::arg("value"),
          "Changes a number. What makes no possible model is an Error, and changes nothing.")
      .def(
          "parameters",
          [](const Model& model, const std::vector<std::string>& names) { return to_numpy(parameters(model, names)); },
          nb::arg("names"), "Several numbers by their names (n,).")
      .def(
          "set_parameters",
          [](Model& model, const std::vector<std::string>& names, const ArrayIn& values) {
            set_parameters(model, names, values.vector("values", static_cast<Eigen::Index>(names.size())));
          },
          nb::arg("names"), nb::arg("values"), "All or nothing.")
      .def("__copy__", [](const Model& model) { return Model(model); })
      .def(
          "__deepcopy__", [](const Model& model, nb::handle) { return Model(model); }, nb::arg("memo"))
      .def("copy", [](const Model& model) { return Model(model); })
      .def("__repr__", &describe_model);
  define_parts(model_class);

  m.def(
      "step_parameter_names", [](const Model& model) { return step_parameter_names(model); }, nb::arg("model"),
      "Every number that a step can be differentiated by: the model's own, 'motor/NAME/target' and 'time_step'.");
}

}  // namespace lithe::python

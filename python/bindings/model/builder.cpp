#include <fmt/format.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "lithe/model/model_builder.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/state.h"
#include "python/bindings/values/poses.h"

namespace lithe::python {

namespace {

using JointsIn = std::optional<std::variant<Joint, std::vector<Joint>>>;

JointList joint_list(const JointsIn& joints) {
  JointList list;
  if (!joints) return list;
  if (const Joint* one = std::get_if<Joint>(&*joints)) {
    list.push_back(*one);
  } else {
    for (const Joint& joint : std::get<std::vector<Joint>>(*joints)) list.push_back(joint);
  }
  return list;
}

constexpr const char* kDoc = R"(Describes a model by names, in any order, and builds it.

    model = (
        lithe.ModelBuilder()
        .add_body('world', lithe.Body('rod', lithe.SpatialInertia.point(1, [0, 0, -1])), lithe.revolute('hip', [0, 1, 0]))
        .add_shape('rod', lithe.Shape('bob', lithe.Sphere(0.1), [0, 0, -1]))
        .build()
    )

Each part is checked when it is added, the whole by build(): unknown parents, cycles, duplicate names and joints that
move no mass are an Error that names them. Several robots and free bodies share one model.)";

}  // namespace

void bind_builder(nb::module_& m) {
  // All but build() return the builder itself, so that calls can be chained.
  constexpr auto kSelf = nb::rv_policy::reference;
  nb::class_<ModelBuilder>(m, "ModelBuilder", kDoc)
      .def(nb::init<>())
      .def(
          "__init__", [](ModelBuilder* self, const Model& model) { new (self) ModelBuilder(builder_of(model)); },
          nb::arg("model"), "Starts with all of a model: build() makes the same one again.")
      .def(
          "set_gravity",
          [](ModelBuilder& b, const ArrayIn& gravity) -> ModelBuilder& {
            return b.set_gravity(fixed<3>(gravity, "gravity"));
          },
          nb::arg("gravity"), kSelf, "Gravity (3,) in the world, m/s².")
      .def(
          "add_body",
          [](ModelBuilder& b, const std::string& parent, const Body& body, const JointsIn& joints) -> ModelBuilder& {
            return b.add_body(parent, body, joint_list(joints));
          },
          nb::arg("parent"), nb::arg("body"), nb::arg("joints").none() = nb::none(), kSelf,
          "`parent` is a body's name or 'world'; the joint or joints lead from the parent to the body, none welds it "
          "there.")
      .def(
          "add_shape",
          [](ModelBuilder& b, const std::string& body, const Shape& shape) -> ModelBuilder& {
            return b.add_shape(body, shape);
          },
          nb::arg("body"), nb::arg("shape"), kSelf, "On a body or on 'world'.")
      .def(
          "add_frame",
          [](ModelBuilder& b, const std::string& body, const Frame& frame) -> ModelBuilder& {
            return b.add_frame(body, frame);
          },
          nb::arg("body"), nb::arg("frame"), kSelf, "On a body or on 'world'.")
      .def(
          "add_motor",
          [](ModelBuilder& b, const std::string& joint, const Motor& motor) -> ModelBuilder& {
            return b.add_motor(joint, motor);
          },
          nb::arg("joint"), nb::arg("motor"), kSelf, "On a joint with one degree of freedom.")
      .def(
          "add_loop",
          [](ModelBuilder& b, const std::string& body_a, const std::string& body_b,
             const LoopClosure& loop) -> ModelBuilder& { return b.add_loop(body_a, body_b, loop); },
          nb::arg("body_a"), nb::arg("body_b"), nb::arg("loop"), kSelf, "Either body may be 'world'.")
      .def(
          "add_mimic",
          [](ModelBuilder& b, const std::string& joint, const std::string& source,
             const Mimic& mimic) -> ModelBuilder& { return b.add_mimic(joint, source, mimic); },
          nb::arg("joint"), nb::arg("source"), nb::arg("mimic"), kSelf, "`joint` follows `source`.")
      .def(
          "set_collision",
          [](ModelBuilder& b, const std::string& body_a, const std::string& body_b, bool collide) -> ModelBuilder& {
            return b.set_collision(body_a, body_b, collide);
          },
          nb::arg("body_a"), nb::arg("body_b"), nb::arg("collide"), kSelf,
          "Overrides the default rule: shapes collide if their filters agree, unless parent and child.")
      .def(
          "add",
          [](ModelBuilder& b, const std::variant<ModelBuilder, Model>& other, const std::string& prefix,
             const std::string& parent, const PoseIn& placement) -> ModelBuilder& {
            const Pose at = placement.get("placement");
            if (const Model* model = std::get_if<Model>(&other)) return b.add(builder_of(*model), prefix, parent, at);
            return b.add(std::get<ModelBuilder>(other), prefix, parent, at);
          },
          nb::arg("other"), nb::arg("prefix") = "", nb::arg("parent") = "world",
          nb::arg("placement").none() = nb::none(), kSelf,
          "Adds all of another builder or model (not its gravity) with `prefix` before every name, its 'world' being "
          "the parent's frame "
          "moved by `placement`, a Pose or a translation (3,).")
      .def("build", &ModelBuilder::build, "Checks the whole and makes the Model. The builder stays as it is.")
      .def("__copy__", [](const ModelBuilder& b) { return ModelBuilder(b); })
      .def(
          "__deepcopy__", [](const ModelBuilder& b, nb::handle) { return ModelBuilder(b); }, nb::arg("memo"))
      .def("__repr__", [](const ModelBuilder&) { return std::string("<ModelBuilder>"); });
}

}  // namespace lithe::python

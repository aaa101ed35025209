#include <fmt/format.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lithe/core/infinity.h"
#include "lithe/model/joint.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/state.h"
#include "python/bindings/values/choices.h"
#include "python/bindings/values/poses.h"

// Primitive joints and the joints that are made of them.
namespace lithe::python {

namespace {

std::string describe_joint(const Joint& joint) {
  std::string text = fmt::format("<Joint '{}': {}", joint.name, to_string(joint.type));
  if (joint.type != JointType::ball) text += fmt::format(" about {}", text_of(joint.axis));
  if (joint.type == JointType::prismatic) text.replace(text.find(" about "), 7, " along ");
  if (joint.lower > -kInfinity || joint.upper < kInfinity)
    text += fmt::format(", {:g} … {:g}", joint.lower, joint.upper);
  return text + ">";
}

// How a joint resists motion: keyword arguments of Joint() and of the functions that make one.
struct Resistance {
  double lower, upper, stiffness, rest, damping, armature, dry_friction, effort_limit, velocity_limit;

  Joint on(Joint joint) const {
    joint.lower = lower;
    joint.upper = upper;
    joint.stiffness = stiffness;
    joint.rest = rest;
    joint.damping = damping;
    joint.armature = armature;
    joint.dry_friction = dry_friction;
    joint.effort_limit = effort_limit;
    joint.velocity_limit = velocity_limit;
    return joint;
  }
};

// Defines a function f(arguments…, *, lower, upper, …) for one that makes a Joint of its arguments.
template <class Maker, class... Arguments>
void define_joint(nb::module_& m, const char* name, Maker make, const char* doc, const Arguments&... arguments) {
  const auto define = [&]<class... Parameters>(Joint (*plain)(Parameters...)) {
    m.def(
        name,
        [plain](Parameters... values, double lower, double upper, double stiffness, double rest, double damping,
                double armature, double dry_friction, double effort_limit, double velocity_limit) {
          return Resistance{lower,    upper,        stiffness,    rest,          damping,
                            armature, dry_friction, effort_limit, velocity_limit}
              .on(plain(values...));
        },
        arguments..., nb::arg("placement").none() = nb::none(), nb::kw_only(), nb::arg("lower") = -kInfinity,
        nb::arg("upper") = kInfinity, nb::arg("stiffness") = 0.0, nb::arg("rest") = 0.0, nb::arg("damping") = 0.0,
        nb::arg("armature") = 0.0, nb::arg("dry_friction") = 0.0, nb::arg("effort_limit") = kInfinity,
        nb::arg("velocity_limit") = kInfinity, doc);
  };
  define(+make);
}

void bind_primitives(nb::module_& m) {
  define_joint(
      m, "revolute",
      [](const std::string& name, const ArrayIn& axis, const PoseIn& placement) {
        return revolute(name, fixed<3>(axis, "axis"), placement.get("placement"));
      },
      "A hinge that turns about `axis` (3,); q in rad. `placement` is where it sits in the parent: a Pose or a "
      "translation (3,).",
      nb::arg("name"), nb::arg("axis"));
  define_joint(
      m, "prismatic",
      [](const std::string& name, const ArrayIn& axis, const PoseIn& placement) {
        return prismatic(name, fixed<3>(axis, "axis"), placement.get("placement"));
      },
      "A slide along `axis` (3,); q in m. `placement` is where it sits in the parent: a Pose or a translation (3,).",
      nb::arg("name"), nb::arg("axis"));
  define_joint(
      m, "screw",
      [](const std::string& name, const ArrayIn& axis, double pitch, const PoseIn& placement) {
        return screw(name, fixed<3>(axis, "axis"), pitch, placement.get("placement"));
      },
      "Turns about `axis` (3,) and slides `pitch` metres per radian; q in rad.", nb::arg("name"), nb::arg("axis"),
      nb::arg("pitch"));
  m.def(
      "ball",
      [](const std::string& name, const PoseIn& placement, double stiffness, double damping, double armature,
         double dry_friction, double effort_limit, double velocity_limit) {
        Joint joint = ball(name, placement.get("placement"));
        return Resistance{-kInfinity,   kInfinity,    stiffness,     0, damping, armature,
                          dry_friction, effort_limit, velocity_limit}
            .on(std::move(joint));
      },
      nb::arg("name"), nb::arg("placement").none() = nb::none(), nb::kw_only(), nb::arg("stiffness") = 0.0,
      nb::arg("damping") = 0.0, nb::arg("armature") = 0.0, nb::arg("dry_friction") = 0.0,
      nb::arg("effort_limit") = kInfinity, nb::arg("velocity_limit") = kInfinity,
      "Any rotation; q is a unit quaternion (x, y, z, w), v the angular velocity in the child's axes.");
}

using Joints = std::vector<Joint>;

void bind_compositions(nb::module_& m) {
  m.def("weld", [] { return Joints(); }, "No joint at all; the body's own placement says where it is held.");
  m.def(
      "free_joint",
      [](const std::string& name, const PoseIn& placement) -> Joints {
        return free_joint(name, placement.get("placement"));
      },
      nb::arg("name"), nb::arg("placement").none() = nb::none(),
      "Six DoFs: joints NAME.x, NAME.y, NAME.z and NAME.ball, so q has x, y, z and a quaternion (x, y, z, w).");
  m.def(
      "planar",
      [](const std::string& name, const PoseIn& placement) -> Joints {
        return planar(name, placement.get("placement"));
      },
      nb::arg("name"), nb::arg("placement").none() = nb::none(), "Slides along x and y, then turns about z.");
  m.def(
      "translational",
      [](const std::string& name, const PoseIn& placement) -> Joints {
        return translational(name, placement.get("placement"));
      },
      nb::arg("name"), nb::arg("placement").none() = nb::none(), "Slides along x, y and z.");
  m.def(
      "universal",
      [](const std::string& name, const ArrayIn& first, const ArrayIn& second, const PoseIn& placement) -> Joints {
        return universal(name, fixed<3>(first, "first"), fixed<3>(second, "second"), placement.get("placement"));
      },
      nb::arg("name"), nb::arg("first"), nb::arg("second"), nb::arg("placement").none() = nb::none(),
      "Turns about `first` (3,), then about `second` (3,).");
  m.def(
      "euler",
      [](const std::string& name, const ArrayIn& first, const ArrayIn& second, const ArrayIn& third,
         const PoseIn& placement) -> Joints {
        return euler(name, fixed<3>(first, "first"), fixed<3>(second, "second"), fixed<3>(third, "third"),
                     placement.get("placement"));
      },
      nb::arg("name"), nb::arg("first"), nb::arg("second"), nb::arg("third"), nb::arg("placement").none() = nb::none(),
      "Turns about three axes (3,), one after the other.");
  m.def(
      "cylindrical",
      [](const std::string& name, const ArrayIn& axis, const PoseIn& placement) -> Joints {
        return cylindrical(name, fixed<3>(axis, "axis"), placement.get("placement"));
      },
      nb::arg("name"), nb::arg("axis"), nb::arg("placement").none() = nb::none(),
      "Slides along `axis` (3,) and turns about it.");
}

}  // namespace

void bind_joints(nb::module_& m) {
  nb::enum_<JointType>(m, "JointType", "The four primitive joints; every other joint is a list of these.", nb::is_str())
      .str_value("revolute", JointType::revolute, "revolute", "Turns about its axis; q in rad.")
      .str_value("prismatic", JointType::prismatic, "prismatic", "Slides along its axis; q in m.")
      .str_value("screw", JointType::screw, "screw",
                 "Turns about its axis and slides `pitch` metres per radian; q in rad.")
      .str_value("ball", JointType::ball, "ball", "Any rotation; q is a unit quaternion (x, y, z, w).");

  nb::class_<Joint> joint(
      m, "Joint",
      "One primitive joint: what it is, where it sits and how it resists motion. For a ball each number holds for "
      "all three DoFs, and `lower`, `upper` do not apply. revolute(), prismatic(), screw(), ball() make one.");
  joint.def(
      "__init__",
      [](Joint* self, const std::string& name, const Choice<JointType>& type, const OptionalArray& axis,
         const PoseIn& placement, double pitch, double lower, double upper, double stiffness, double rest,
         const OptionalArray& rest_orientation, double damping, double armature, double dry_friction,
         double effort_limit, double velocity_limit) {
        Joint made{.name = name, .type = type.get("type"), .pitch = pitch, .placement = placement.get("placement")};
        if (axis) made.axis = fixed<3>(*axis, "axis");
        if (rest_orientation) made.rest_orientation = fixed<4>(*rest_orientation, "rest_orientation");
        new (self) Joint(
            Resistance{lower, upper, stiffness, rest, damping, armature, dry_friction, effort_limit, velocity_limit}.on(
                std::move(made)));
      },
      nb::arg("name"), nb::arg("type") = "revolute", nb::arg("axis").none() = nb::none(),
      nb::arg("placement").none() = nb::none(), nb::kw_only(), nb::arg("pitch") = 0.0, nb::arg("lower") = -kInfinity,
      nb::arg("upper") = kInfinity, nb::arg("stiffness") = 0.0, nb::arg("rest") = 0.0,
      nb::arg("rest_orientation").none() = nb::none(), nb::arg("damping") = 0.0, nb::arg("armature") = 0.0,
      nb::arg("dry_friction") = 0.0, nb::arg("effort_limit") = kInfinity, nb::arg("velocity_limit") = kInfinity,
      "The axis is z where none is given.");
  joint.def_rw("name", &Joint::name)
      .def_prop_rw(
          "type", [](const Joint& j) { return j.type; },
          [](Joint& j, const Choice<JointType>& type) { j.type = type.get("type"); });
  define_vector(joint, "axis", &Joint::axis, "(3,) in the joint's own frame.");
  define_pose(joint, "placement", &Joint::placement,
              "The joint's frame at q = 0 in the frame before it: the parent body's, or the previous joint's after its "
              "motion.");
  define_vector(joint, "rest_orientation", &Joint::rest_orientation, "Of a ball's spring: a quaternion (x, y, z, w).");
  joint.def_rw("pitch", &Joint::pitch, "Of a screw, m/rad.")
      .def_rw("lower", &Joint::lower, "Position limit, rad or m.")
      .def_rw("upper", &Joint::upper, "Position limit, rad or m.")
      .def_rw("stiffness", &Joint::stiffness, "Of a spring with torque −stiffness·(q − rest), N·m/rad or N/m.")
      .def_rw("rest", &Joint::rest, "The spring's rest position.")
      .def_rw("damping", &Joint::damping, "Torque −damping·v.")
      .def_rw("armature", &Joint::armature, "Reflected rotor inertia, added to the mass matrix's diagonal.")
      .def_rw("dry_friction", &Joint::dry_friction, "Largest Coulomb torque or force.")
      .def_rw("effort_limit", &Joint::effort_limit, "Largest actuation torque or force.")
      .def_rw("velocity_limit", &Joint::velocity_limit)
      .def_prop_ro(
          "body", [](const Joint& j) -> int { return j.body; },
          "The number of the body that it carries; −1 before build().")
      .def_ro("q_index", &Joint::q_index, "Its first entry in q; −1 before build().")
      .def_ro("v_index", &Joint::v_index, "Its first entry in v and tau; −1 before build().")
      .def_prop_ro("nq", &Joint::nq)
      .def_prop_ro("nv", &Joint::nv)
      .def("__repr__", &describe_joint);
  make_picklable(joint);
  bind_primitives(m);
  bind_compositions(m);
}

}  // namespace lithe::python

#include <fmt/format.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lithe/core/infinity.h"
#include "lithe/model/body.h"
#include "lithe/model/constraint.h"
#include "lithe/model/motor.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/state.h"
#include "python/bindings/values/choices.h"
#include "python/bindings/values/poses.h"

// Bodies, frames, motors and constraints as values.
namespace lithe::python {

namespace {

void bind_bodies(nb::module_& m) {
  nb::class_<Body> body(m, "Body", "A rigid body. It hangs on its parent by a list of joints; an empty list welds it.");
  body.def(
          "__init__",
          [](Body* self, const std::string& name, const std::optional<SpatialInertia>& inertia, const PoseIn& placement,
             bool allow_unphysical_inertia) {
            new (self) Body{.name = name,
                            .inertia = inertia.value_or(SpatialInertia{}),
                            .placement = placement.get("placement"),
                            .allow_unphysical_inertia = allow_unphysical_inertia};
          },
          nb::arg("name"), nb::arg("inertia").none() = nb::none(), nb::arg("placement").none() = nb::none(),
          nb::kw_only(), nb::arg("allow_unphysical_inertia") = false, "Without an inertia it has no mass.")
      .def_rw("name", &Body::name)
      .def_rw("inertia", &Body::inertia, "In the body's frame, about its origin.")
      .def_rw("allow_unphysical_inertia", &Body::allow_unphysical_inertia,
              "Accept an inertia that no real body has (identified models sometimes carry one).")
      .def_prop_ro(
          "parent", [](const Body& b) -> int { return b.parent; },
          "The number of the body that it hangs on; −1 for the world, and before build().")
      .def_prop_ro(
          "joints", [](const Body& b) { return std::vector<int>(b.joints.begin(), b.joints.end()); },
          "The numbers of its joints, from the parent outwards; empty before build().")
      .def("__repr__", [](const Body& b) { return fmt::format("<Body '{}': {:g} kg>", b.name, b.inertia.mass); });
  define_pose(body, "placement", &Body::placement,
              "The body's frame in the frame of its last joint (after the motion), or in the parent's where there is "
              "no joint.");
  make_picklable(body);

  nb::class_<Frame> frame(m, "Frame", "A named place on a body: a tool tip, a camera, a foot.");
  frame
      .def(
          "__init__",
          [](Frame* self, const std::string& name, const PoseIn& placement) {
            new (self) Frame{.name = name, .placement = placement.get("placement")};
          },
          nb::arg("name"), nb::arg("placement").none() = nb::none())
      .def_rw("name", &Frame::name)
      .def_prop_ro(
          "body", [](const Frame& f) -> int { return f.body; }, "The number of its body; −1 before build().")
      .def("__repr__",
           [](const Frame& f) { return fmt::format("<Frame '{}' at {}>", f.name, text_of(f.placement.p)); });
  define_pose(frame, "placement", &Frame::placement, "In the body's frame.");
  make_picklable(frame);
}

void bind_motors(nb::module_& m) {
  nb::enum_<Motor::Target>(m, "MotorTarget", "What a motor is told.", nb::is_str())
      .str_value("position", Motor::Target::position, "position", "τ = stiffness·(target − q⁺) − damping·v⁺")
      .str_value("velocity", Motor::Target::velocity, "velocity", "τ = damping·(target − v⁺)");

  nb::class_<Motor> motor(
      m, "Motor",
      "Drives a 1-DoF joint towards a target that is given anew at each step, with no more than max_effort.\n\n"
      "The motor asks for the torque (or force) that its law gives at the end of the step, so it is stable for any "
      "gain, and an infinite "
      "gain is allowed. position_servo() and velocity_motor() make one.");
  motor
      .def(
          "__init__",
          [](Motor* self, const std::string& name, const Choice<Motor::Target>& target, double stiffness,
             double damping, double max_effort) {
            new (self) Motor{.name = name,
                             .target = target.get("target"),
                             .stiffness = stiffness,
                             .damping = damping,
                             .max_effort = max_effort};
          },
          nb::arg("name"), nb::arg("target") = "velocity", nb::kw_only(), nb::arg("stiffness") = 0.0,
          nb::arg("damping") = kInfinity, nb::arg("max_effort") = kInfinity)
      .def_rw("name", &Motor::name)
      .def_prop_rw(
          "target", [](const Motor& x) { return x.target; },
          [](Motor& x, const Choice<Motor::Target>& target) { x.target = target.get("target"); })
      .def_rw("stiffness", &Motor::stiffness, "Of a position servo; may be infinite.")
      .def_rw("damping", &Motor::damping, "May be infinite for a velocity motor.")
      .def_rw("max_effort", &Motor::max_effort, "N·m or N; the joint's effort_limit holds as well.")
      .def_prop_ro(
          "joint", [](const Motor& x) -> int { return x.joint; }, "The number of its joint; −1 before build().")
      .def("__repr__", [](const Motor& x) {
        return fmt::format("<Motor '{}': {}, stiffness {:g}, damping {:g}, max_effort {:g}>", x.name,
                           x.target == Motor::Target::position ? "position" : "velocity", x.stiffness, x.damping,
                           x.max_effort);
      });
  make_picklable(motor);

  m.def("position_servo", &position_servo, nb::arg("name"), nb::arg("max_effort") = kInfinity,
        nb::arg("stiffness") = kInfinity, nb::arg("damping") = 0.0, "A motor whose target is a position, rad or m.");
  m.def("velocity_motor", &velocity_motor, nb::arg("name"), nb::arg("max_effort") = kInfinity,
        nb::arg("damping") = kInfinity, "A motor whose target is a velocity, rad/s or m/s.");
}

void bind_constraints(nb::module_& m) {
  nb::enum_<LoopClosure::Kind>(m, "LoopKind", "What a loop closure holds.", nb::is_str())
      .str_value("ball", LoopClosure::Kind::ball, "ball", "The frames' origins coincide: 3 rows.")
      .str_value("weld", LoopClosure::Kind::weld, "weld", "The frames coincide: 6 rows.");

  nb::class_<LoopClosure> loop(
      m, "LoopClosure",
      "Holds a frame of body a on a frame of body b, and so closes a loop that the tree of joints leaves open.");
  loop.def(
          "__init__",
          [](LoopClosure* self, const std::string& name, const Choice<LoopClosure::Kind>& kind,
             const PoseIn& placement_a, const PoseIn& placement_b) {
            new (self) LoopClosure{.name = name,
                                   .kind = kind.get("kind"),
                                   .placement_a = placement_a.get("placement_a"),
                                   .placement_b = placement_b.get("placement_b")};
          },
          nb::arg("name"), nb::arg("kind") = "ball", nb::arg("placement_a").none() = nb::none(),
          nb::arg("placement_b").none() = nb::none(), "Placements are Poses or translations (3,).")
      .def_rw("name", &LoopClosure::name)
      .def_prop_rw(
          "kind", [](const LoopClosure& x) { return x.kind; },
          [](LoopClosure& x, const Choice<LoopClosure::Kind>& kind) { x.kind = kind.get("kind"); })
      .def_prop_ro(
          "a", [](const LoopClosure& x) -> int { return x.a; }, "The number of the first body; −1 before build().")
      .def_prop_ro(
          "b", [](const LoopClosure& x) -> int { return x.b; }, "The number of the second body; −1 before build().")
      .def("__repr__", [](const LoopClosure& x) {
        return fmt::format("<LoopClosure '{}': {}>", x.name, x.kind == LoopClosure::Kind::ball ? "ball" : "weld");
      });
  define_pose(loop, "placement_a", &LoopClosure::placement_a, "Of the frame in body a.");
  define_pose(loop, "placement_b", &LoopClosure::placement_b, "Of the frame in body b.");
  make_picklable(loop);

  nb::class_<Mimic> mimic(m, "Mimic", "Makes a 1-DoF joint follow another: q = multiplier·q_source + offset.");
  mimic
      .def(
          "__init__",
          [](Mimic* self, const std::string& name, double multiplier, double offset) {
            new (self) Mimic{.name = name, .multiplier = multiplier, .offset = offset};
          },
          nb::arg("name"), nb::arg("multiplier") = 1.0, nb::arg("offset") = 0.0,
          "A multiplier of 0 locks the joint at the offset.")
      .def_rw("name", &Mimic::name)
      .def_rw("multiplier", &Mimic::multiplier)
      .def_rw("offset", &Mimic::offset)
      .def_prop_ro(
          "joint", [](const Mimic& x) -> int { return x.joint; },
          "The number of the joint that follows; −1 before build().")
      .def_prop_ro(
          "source", [](const Mimic& x) -> int { return x.source; }, "The number of the joint that it follows.")
      .def("__repr__", [](const Mimic& x) {
        return fmt::format("<Mimic '{}': multiplier {:g}, offset {:g}>", x.name, x.multiplier, x.offset);
      });
  make_picklable(mimic);
}

}  // namespace

void bind_model_parts(nb::module_& m) {
  bind_bodies(m);
  bind_motors(m);
  bind_constraints(m);
}

}  // namespace lithe::python

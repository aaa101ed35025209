#include <fmt/format.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "lithe/spatial/inertia.h"
#include "lithe/spatial/pose.h"
#include "lithe/spatial/rotation.h"
#include "python/bindings/parts.h"
#include "python/bindings/values/arrays.h"
#include "python/bindings/values/fixed_arrays.h"

namespace lithe::python {

void bind_spatial(nb::module_& m) {
  nb::class_<Pose>(m, "Pose",
                   "Where a frame B is, seen from a frame A: p_A = R p_B + p. Poses multiply: X_AB * X_BC is X_AC, and "
                   "X_AB * p_B a point "
                   "in A.")
      .def(
          "__init__",
          [](Pose* self, const OptionalArray& R, const OptionalArray& p) {
            new (self) Pose{.R = R ? fixed<3, 3>(*R, "R") : Mat3(Mat3::Identity()),
                            .p = p ? fixed<3>(*p, "p") : Vec3(Vec3::Zero())};
          },
          nb::arg("R") = nb::none(), nb::arg("p") = nb::none(),
          "A rotation matrix (3, 3) and a translation (3,), in metres.")
      .def_static(
          "translation", [](double x, double y, double z) { return Pose::translation(x, y, z); }, nb::arg("x"),
          nb::arg("y"), nb::arg("z"))
      .def_prop_rw(
          "R", [](const Pose& X) { return to_numpy(MatX(X.R)); },
          [](Pose& X, const ArrayIn& R) { X.R = fixed<3, 3>(R, "R"); }, "Rotation (3, 3).")
      .def_prop_rw(
          "p", [](const Pose& X) { return to_numpy(VecX(X.p)); },
          [](Pose& X, const ArrayIn& p) { X.p = fixed<3>(p, "p"); }, "Translation (3,), m.")
      .def("inverse", &Pose::inverse)
      .def(
          "__mul__", [](const Pose& a, const Pose& b) { return a * b; }, nb::is_operator())
      .def(
          "__mul__", [](const Pose& a, const ArrayIn& x) { return to_numpy(VecX(a * Vec3(fixed<3>(x, "point")))); },
          nb::is_operator())
      .def("__repr__",
           [](const Pose& X) {
             return fmt::format("Pose(p=[{:.6g}, {:.6g}, {:.6g}]{})", X.p.x(), X.p.y(), X.p.z(),
                                X.R.isIdentity(0) ? "" : ", rotated");
           })
      .def("__getstate__", [](const Pose& X) { return std::make_pair(to_numpy(MatX(X.R)), to_numpy(VecX(X.p))); })
      .def("__setstate__", [](Pose& X, const std::pair<ArrayIn, ArrayIn>& state) {
        new (&X) Pose{.R = fixed<3, 3>(state.first, "R"), .p = fixed<3>(state.second, "p")};
      });

  nb::class_<SpatialInertia>(
      m, "SpatialInertia",
      "The mass, first moment and rotational inertia of a body in its own frame, about the frame's origin.")
      .def(nb::init<>())
      .def_static(
          "from_centre",
          [](double mass, const ArrayIn& centre, const ArrayIn& about_centre) {
            return SpatialInertia::from_centre(mass, fixed<3>(centre, "centre"),
                                               fixed<3, 3>(about_centre, "about_centre"));
          },
          nb::arg("mass"), nb::arg("centre"), nb::arg("about_centre"),
          "From the centre of mass (3,) and the inertia about it (3, 3), as robot files state them.")
      .def_static(
          "from_parameters",
          [](const ArrayIn& p) { return SpatialInertia::from_parameters(fixed<10>(p, "parameters")); },
          nb::arg("parameters"), "From mass, m·c (3) and Ixx Ixy Ixz Iyy Iyz Izz about the origin: (10,).")
      .def_static(
          "box", [](double mass, const ArrayIn& size) { return SpatialInertia::box(mass, fixed<3>(size, "size")); },
          nb::arg("mass"), nb::arg("size"), "Solid box; size (3,) from edge to edge.")
      .def_static("sphere", &SpatialInertia::sphere, nb::arg("mass"), nb::arg("radius"))
      .def_static("cylinder", &SpatialInertia::cylinder, nb::arg("mass"), nb::arg("radius"), nb::arg("length"))
      .def_static("capsule", &SpatialInertia::capsule, nb::arg("mass"), nb::arg("radius"), nb::arg("length"),
                  "Solid capsule along z; length between the centres of its caps.")
      .def_static(
          "point",
          [](double mass, const ArrayIn& where) { return SpatialInertia::point(mass, fixed<3>(where, "where")); },
          nb::arg("mass"), nb::arg("where"))
      .def_prop_ro("mass", [](const SpatialInertia& I) { return I.mass; })
      .def_prop_ro(
          "centre", [](const SpatialInertia& I) { return to_numpy(VecX(I.centre())); }, "Centre of mass (3,).")
      .def_prop_ro(
          "about_centre", [](const SpatialInertia& I) { return to_numpy(MatX(I.about_centre())); },
          "Rotational inertia about the centre of mass (3, 3).")
      .def_prop_ro(
          "parameters", [](const SpatialInertia& I) { return to_numpy(VecX(I.parameters())); },
          "The ten numbers that dynamics is linear in (10,).")
      .def("moved", &SpatialInertia::in, nb::arg("X_AB"),
           "The same body seen from frame A, where X_AB is the frame it is in now.")
      .def(
          "__add__",
          [](SpatialInertia a, const SpatialInertia& b) {
            a += b;
            return a;
          },
          nb::is_operator())
      .def("__repr__", [](const SpatialInertia& I) { return fmt::format("SpatialInertia(mass={:.6g})", I.mass); })
      .def("__getstate__", [](const SpatialInertia& I) { return to_numpy(VecX(I.parameters())); })
      .def("__setstate__", [](SpatialInertia& I, const ArrayIn& state) {
        new (&I) SpatialInertia(SpatialInertia::from_parameters(fixed<10>(state, "parameters")));
      });
}

}  // namespace lithe::python

#include <fmt/format.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include "lithe/model/shape.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/state.h"
#include "python/bindings/values/poses.h"

// What bodies collide with.
namespace lithe::python {

namespace {

std::string describe_shape(const Sphere& g) { return fmt::format("Sphere(radius={:g})", g.radius); }
std::string describe_shape(const Capsule& g) {
  return fmt::format("Capsule(radius={:g}, half_length={:g})", g.radius, g.half_length);
}
std::string describe_shape(const Box& g) { return fmt::format("Box(half_size={})", text_of(g.half_size)); }
std::string describe_shape(const Cylinder& g) {
  return fmt::format("Cylinder(radius={:g}, half_length={:g})", g.radius, g.half_length);
}
std::string describe_shape(const Plane&) { return "Plane()"; }
std::string describe_shape(const ConvexMesh& g) { return fmt::format("<ConvexMesh: {} points>", g.points.size()); }
std::string describe_shape(const CollisionFilter& x) {
  return fmt::format("CollisionFilter(groups={:#x}, mask={:#x})", x.groups, x.mask);
}

// What can be compared. Members can be changed, so there is no hash.
template <class T>
void finish(nb::class_<T>& c) {
  c.def(
      "__eq__", [](const T& a, const T& b) { return a == b; }, nb::is_operator(),
      nb::sig("def __eq__(self, other: object) -> bool"));
  c.def("__hash__", [](const T&) -> Py_hash_t { throw nb::type_error("it can be changed, so it has no hash"); });
  c.def("__repr__", [](const T& g) { return describe_shape(g); });
  make_picklable(c);
}

ConvexMesh convex_mesh(const ArrayIn& array) {
  const MatX points = array.matrix("points", -1, 3);
  ConvexMesh mesh;
  for (Eigen::Index k = 0; k < points.rows(); ++k) mesh.points.push_back(points.row(k).transpose());
  return mesh;
}

void bind_round(nb::module_& m) {
  nb::class_<Sphere> sphere(m, "Sphere", "A ball about the origin of its frame.");
  sphere.def(
            "__init__", [](Sphere* self, double radius) { new (self) Sphere{radius}; }, nb::arg("radius"))
      .def_rw("radius", &Sphere::radius, "m.");
  finish(sphere);

  nb::class_<Capsule> capsule(m, "Capsule", "A cylinder along z with round caps, about the origin of its frame.");
  capsule
      .def(
          "__init__", [](Capsule* self, double radius, double half_length) { new (self) Capsule{radius, half_length}; },
          nb::arg("radius"), nb::arg("half_length"))
      .def_rw("radius", &Capsule::radius, "m.")
      .def_rw("half_length", &Capsule::half_length, "From the centre to the centre of a cap, m.");
  finish(capsule);

  nb::class_<Cylinder> cylinder(m, "Cylinder", "A cylinder along z, about the origin of its frame.");
  cylinder
      .def(
          "__init__",
          [](Cylinder* self, double radius, double half_length) { new (self) Cylinder{radius, half_length}; },
          nb::arg("radius"), nb::arg("half_length"))
      .def_rw("radius", &Cylinder::radius, "m.")
      .def_rw("half_length", &Cylinder::half_length, "From the centre to an end, m.");
  finish(cylinder);
}

void bind_flat(nb::module_& m) {
  nb::class_<Box> box(m, "Box", "A box about the origin of its frame.");
  box.def(
      "__init__", [](Box* self, const ArrayIn& half_size) { new (self) Box{fixed<3>(half_size, "half_size")}; },
      nb::arg("half_size"));
  define_vector(box, "half_size", &Box::half_size, "(3,), m: from the centre to the faces.");
  finish(box);

  nb::class_<Plane> plane(m, "Plane", "The half-space z ≤ 0 of its frame.");
  plane.def(nb::init<>());
  finish(plane);

  nb::class_<ConvexMesh> mesh(m, "ConvexMesh", "The convex hull of points.");
  mesh.def(
          "__init__", [](ConvexMesh* self, const ArrayIn& points) { new (self) ConvexMesh(convex_mesh(points)); },
          nb::arg("points"), "points (n, 3), m.")
      .def_prop_rw(
          "points",
          [](const ConvexMesh& g) {
            MatX points(3, static_cast<Eigen::Index>(g.points.size()));
            for (std::size_t k = 0; k < g.points.size(); ++k) points.col(static_cast<Eigen::Index>(k)) = g.points[k];
            return to_numpy_rows(std::move(points));
          },
          [](ConvexMesh& g, const ArrayIn& points) { g = convex_mesh(points); }, "(n, 3), m.");
  finish(mesh);
}

void bind_surface(nb::module_& m) {
  nb::class_<Material> material(m, "Material", "What a surface is made of.");
  material
      .def(
          "__init__",
          [](Material* self, double friction, double restitution) {
            new (self) Material{.friction = friction, .restitution = restitution};
          },
          nb::arg("friction") = 1.0, nb::arg("restitution") = 0.0)
      .def_rw("friction", &Material::friction, "Coulomb's μ.")
      .def_rw("restitution", &Material::restitution, "0 … 1.")
      .def("__repr__", [](const Material& x) {
        return fmt::format("Material(friction={:g}, restitution={:g})", x.friction, x.restitution);
      });
  make_picklable(material);

  nb::class_<CollisionFilter> filter(m, "CollisionFilter",
                                     "Two shapes may collide when each one's groups meet the other's mask.");
  filter
      .def(
          "__init__",
          [](CollisionFilter* self, std::uint32_t groups, std::uint32_t mask) {
            new (self) CollisionFilter{groups, mask};
          },
          nb::arg("groups") = 1u, nb::arg("mask") = ~std::uint32_t{0})
      .def_rw("groups", &CollisionFilter::groups, "32 bits.")
      .def_rw("mask", &CollisionFilter::mask, "32 bits.");
  finish(filter);
}

}  // namespace

void bind_shapes(nb::module_& m) {
  bind_round(m);
  bind_flat(m);
  bind_surface(m);

  nb::class_<Shape> shape(m, "Shape", "A piece of a body's surface.");
  shape
      .def(
          "__init__",
          [](Shape* self, const std::string& name, const Geometry& geometry, const PoseIn& placement,
             const std::optional<Material>& material, double margin, const std::optional<CollisionFilter>& filter) {
            new (self) Shape{.name = name,
                             .geometry = geometry,
                             .placement = placement.get("placement"),
                             .material = material.value_or(Material{}),
                             .margin = margin,
                             .filter = filter.value_or(CollisionFilter{})};
          },
          nb::arg("name"), nb::arg("geometry"), nb::arg("placement").none() = nb::none(), nb::kw_only(),
          nb::arg("material").none() = nb::none(), nb::arg("margin") = 0.0, nb::arg("filter").none() = nb::none(),
          "`placement` is a Pose or a translation (3,): the geometry's frame in the body's.")
      .def_rw("name", &Shape::name)
      .def_rw("geometry", &Shape::geometry,
              "Sphere, Capsule, Box, Cylinder, Plane or ConvexMesh. A copy: assign a new one to change it.")
      .def_rw("material", &Shape::material)
      .def_rw("margin", &Shape::margin, "Contacts exist already at this distance, m.")
      .def_rw("filter", &Shape::filter)
      .def_prop_ro(
          "body", [](const Shape& s) -> int { return s.body; }, "The number of its body; −1 before build().")
      .def("__repr__", [](const Shape& s) {
        return fmt::format("<Shape '{}': {}>", s.name,
                           std::visit([](const auto& g) { return describe_shape(g); }, s.geometry));
      });
  define_pose(shape, "placement", &Shape::placement, "The geometry's frame in the body's.");
  make_picklable(shape);
}

}  // namespace lithe::python

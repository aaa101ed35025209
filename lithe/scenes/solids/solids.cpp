#include "lithe/scenes/solids/solids.h"

#include <variant>

#include "lithe/core/check.h"
#include "lithe/core/internal/overloaded.h"

namespace lithe {

using namespace internal;

SpatialInertia solid_inertia(double mass, const Geometry& geometry) {
  const auto none = [](const char* what) -> SpatialInertia { LITHE_CHECK(false, "a {} is no solid to weigh", what); };
  return std::visit(Overloaded{
                        [&](const Sphere& g) { return SpatialInertia::sphere(mass, g.radius); },
                        [&](const Capsule& g) { return SpatialInertia::capsule(mass, g.radius, 2 * g.half_length); },
                        [&](const Box& g) { return SpatialInertia::box(mass, 2 * g.half_size); },
                        [&](const Cylinder& g) { return SpatialInertia::cylinder(mass, g.radius, 2 * g.half_length); },
                        [&](const Plane&) { return none("plane"); },
                        [&](const ConvexMesh&) { return none("mesh"); },
                    },
                    geometry);
}

void add_free_solid(ModelBuilder& builder, const std::string& name, double mass, const Geometry& geometry,
                    const Pose& placement, const Material& material) {
  builder.add_body("world", {.name = name, .inertia = solid_inertia(mass, geometry)}, free_joint(name, placement));
  builder.add_shape(name, {.name = name, .geometry = geometry, .material = material});
}

void add_ground(ModelBuilder& builder, const Material& material, const Pose& placement) {
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}, .placement = placement, .material = material});
}

}  // namespace lithe

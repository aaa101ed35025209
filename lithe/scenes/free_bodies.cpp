#include "lithe/scenes/free_bodies.h"

#include <fmt/format.h>

#include <string>

#include "lithe/core/check.h"

namespace lithe {

namespace {

constexpr double kEdge = 0.2;
constexpr double kSpacing = 0.4;  // between the cubes' centres

void add_box(ModelBuilder& builder, const std::string& name, const Vec3& size, const Vec3& place) {
  builder.add_body("world", {.name = name, .inertia = SpatialInertia::box(1.0, size)},
                   free_joint(name, Pose::translation(place)));
  builder.add_shape(name, {.name = name, .geometry = Box{size / 2}});
}

// The smallest square's side that has room for n.
int grid_side(int n) {
  int side = 1;
  while (side * side < n) ++side;
  return side;
}

}  // namespace

ModelBuilder tumbling_body() {
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  add_box(builder, "box", {0.3, 0.2, 0.1}, Vec3::Zero());
  return builder;
}

ModelBuilder boxes(int n) {
  LITHE_CHECK(n >= 1, "a grid of boxes needs at least one box, not {}", n);
  ModelBuilder builder;
  const int side = grid_side(n);
  for (int i = 0; i < n; ++i) {
    const Vec3 place(kSpacing * (i % side), kSpacing * (i / side), kEdge / 2);
    add_box(builder, fmt::format("box_{}", i), Vec3::Constant(kEdge), place);
  }
  return builder;
}

}  // namespace lithe

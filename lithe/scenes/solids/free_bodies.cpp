#include "lithe/scenes/solids/free_bodies.h"

#include <fmt/format.h>

#include "lithe/core/check.h"
#include "lithe/scenes/solids/solids.h"

namespace lithe {

namespace {

constexpr double kEdge = 0.2;
constexpr double kSpacing = 0.4;  // between the cubes' centres

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
  add_free_solid(builder, "box", 1, Box{{0.15, 0.1, 0.05}}, {});
  return builder;
}

ModelBuilder boxes(int n) {
  LITHE_CHECK(n >= 1, "a grid of boxes needs at least one box, not {}", n);
  ModelBuilder builder;
  const int side = grid_side(n);
  for (int i = 0; i < n; ++i) {
    const Vec3 place(kSpacing * (i % side), kSpacing * (i / side), kEdge / 2);
    add_free_solid(builder, fmt::format("box_{}", i), 1, Box{Vec3::Constant(kEdge / 2)}, Pose::translation(place));
  }
  return builder;
}

Scene boxes_on_ground(int n) {
  ModelBuilder builder = boxes(n);
  add_ground(builder);
  return at_rest(builder);
}

}  // namespace lithe

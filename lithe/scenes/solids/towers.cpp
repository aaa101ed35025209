#include "lithe/scenes/solids/towers.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "lithe/core/check.h"
#include "lithe/scenes/solids/solids.h"

namespace lithe {

namespace {

constexpr double kTowerEdge = 0.2;

// A cube that stands at x on `below` others of its size.
void add_cube(ModelBuilder& builder, const std::string& name, double mass, double x, int below) {
  add_free_solid(builder, name, mass, Box{Vec3::Constant(kTowerEdge / 2)},
                 Pose::translation(x, 0, kTowerEdge * (below + 0.5)));
}

}  // namespace

Scene stack(int n) {
  LITHE_CHECK(n >= 1, "a stack needs at least one box, not {}", n);
  ModelBuilder builder;
  for (int i = 0; i < n; ++i) add_cube(builder, fmt::format("box_{}", i), 1, 0, i);
  add_ground(builder);
  return at_rest(builder);
}

Scene wall(int n) {
  LITHE_CHECK(n >= 1, "a wall needs at least one brick, not {}", n);
  constexpr double kJoint = 2e-3;  // between bricks of a layer, which do not touch
  int columns = 1;
  while (columns * columns < n) ++columns;
  ModelBuilder builder;
  for (int i = 0; i < n; ++i) {
    const int layer = i / columns;
    const double x = (i % columns + 0.5 * (layer % 2)) * (2 * kTowerEdge + kJoint);
    add_free_solid(builder, fmt::format("brick_{}", i), 2, Box{{kTowerEdge, kTowerEdge / 2, kTowerEdge / 2}},
                   Pose::translation(x, 0, kTowerEdge * (layer + 0.5)));
  }
  add_ground(builder);
  return at_rest(builder);
}

Scene mass_ratio(double ratio) {
  LITHE_CHECK(std::isfinite(ratio) && ratio > 0, "a mass ratio is finite and positive, not {}", ratio);
  ModelBuilder builder;
  add_cube(builder, "light_lower", 1, 0, 0);
  add_cube(builder, "heavy_upper", ratio, 0, 1);
  add_cube(builder, "heavy_lower", ratio, 1, 0);
  add_cube(builder, "light_upper", 1, 1, 1);
  add_ground(builder);
  return at_rest(builder);
}

}  // namespace lithe

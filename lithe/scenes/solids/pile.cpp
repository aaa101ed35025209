#include "lithe/scenes/solids/pile.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <numbers>
#include <string>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"

namespace lithe {

namespace {

constexpr double kDensity = 500;  // kg/m³: wood
constexpr double kCell = 0.5;     // each solid starts in a cube of its own, and none reaches out of it
constexpr double kWallThickness = 0.2;
constexpr double kPi = std::numbers::pi;

// The k-th of a sequence of numbers that fill [low, high] evenly; different streams are unrelated.
double spread(int k, int stream, double low, double high) {
  // Fractional parts of the multiples of an irrational number (Weyl, 1916).
  const double step = std::sqrt(2.0 + 3 * stream + stream * stream);
  const double multiple = (k + 1) * step;
  return low + (high - low) * (multiple - std::floor(multiple));
}

void add_box(ModelBuilder& builder, const std::string& name, int k, const Pose& placement) {
  const Vec3 half(spread(k, 0, 0.06, 0.12), spread(k, 1, 0.06, 0.12), spread(k, 2, 0.06, 0.12));
  add_free_solid(builder, name, kDensity * 8 * half.prod(), Box{half}, placement);
}

void add_ball(ModelBuilder& builder, const std::string& name, int k, const Pose& placement) {
  const double r = spread(k, 0, 0.08, 0.16);
  add_free_solid(builder, name, kDensity * 4 / 3 * kPi * r * r * r, Sphere{r}, placement);
}

void add_capsule(ModelBuilder& builder, const std::string& name, int k, const Pose& placement) {
  const double r = spread(k, 0, 0.05, 0.09);
  const double half = spread(k, 1, 0.06, 0.12);
  add_free_solid(builder, name, kDensity * kPi * r * r * (2 * half + 4 * r / 3), Capsule{r, half}, placement);
}

void add_cylinder(ModelBuilder& builder, const std::string& name, int k, const Pose& placement) {
  const double r = spread(k, 0, 0.06, 0.12);
  const double half = spread(k, 1, 0.06, 0.12);
  add_free_solid(builder, name, kDensity * kPi * r * r * 2 * half, Cylinder{r, half}, placement);
}

// |x| + |y| + |z| ≤ a has the volume 4a³/3 and the moments of inertia m a²/5.
void add_octahedron(ModelBuilder& builder, const std::string& name, int k, const Pose& placement) {
  const double a = spread(k, 0, 0.12, 0.2);
  const double mass = kDensity * 4 / 3 * a * a * a;
  ConvexMesh mesh;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {a, -a}) mesh.points.push_back(side * Vec3::Unit(axis));
  }
  const Mat3 moments = mass * a * a / 5 * Mat3::Identity();
  builder.add_body("world", {.name = name, .inertia = SpatialInertia::from_centre(mass, Vec3::Zero(), moments)},
                   free_joint(name, placement));
  builder.add_shape(name, {.name = name, .geometry = std::move(mesh)});
}

// A pit with the inner side 2·half, centred at the origin.
void add_pit(ModelBuilder& builder, double half) {
  add_ground(builder);
  const double out = half + kWallThickness / 2;
  const double height = 2 * half;
  for (const int side : {1, -1}) {
    builder.add_shape("world", {.name = side > 0 ? "wall_+x" : "wall_-x",
                                .geometry = Box{{kWallThickness / 2, half + kWallThickness, height / 2}},
                                .placement = Pose::translation(side * out, 0, height / 2)});
    builder.add_shape("world", {.name = side > 0 ? "wall_+y" : "wall_-y",
                                .geometry = Box{{half + kWallThickness, kWallThickness / 2, height / 2}},
                                .placement = Pose::translation(0, side * out, height / 2)});
  }
}

// Of solids in a cube of cells: how many along each edge.
int cells_per_edge(int n) {
  int side = 2;
  while (side * side * side < n) ++side;
  return side;
}

// Where the i-th of them starts, with the cells of a layer one after the other, and how it is turned.
Pose start_in_cell(int i, int side, double cell_size) {
  const int column = i % (side * side);
  const Vec3 cell(column % side + 0.5 * (1 - side), column / side + 0.5 * (1 - side), i / (side * side) + 0.5);
  const Vec3 turn(spread(i, 3, -2, 2), spread(i, 4, -2, 2), spread(i, 5, -2, 2));
  return {rotation_exp(turn), cell_size * cell};
}

}  // namespace

Scene pile(int n) {
  LITHE_CHECK(n >= 1, "a pile needs at least one body, not {}", n);
  constexpr void (*kMakers[])(ModelBuilder&, const std::string&, int, const Pose&) = {add_box, add_ball, add_capsule,
                                                                                      add_cylinder, add_octahedron};
  const int side = cells_per_edge(n);  // the pile is about as high as wide
  ModelBuilder builder;
  for (int i = 0; i < n; ++i) {
    kMakers[i % std::size(kMakers)](builder, fmt::format("body_{}", i), i, start_in_cell(i, side, kCell));
  }
  add_pit(builder, kCell * side / 2);
  return at_rest(builder);
}

Scene heap(int n) {
  LITHE_CHECK(n >= 1, "a heap needs at least one cube, not {}", n);
  constexpr double kCubeCell = 0.36;  // the diagonal of a cube is 0.346 m long
  const int side = cells_per_edge(n);
  ModelBuilder builder;
  for (int i = 0; i < n; ++i) {
    add_free_solid(builder, fmt::format("cube_{}", i), 1, Box{Vec3::Constant(0.1)}, start_in_cell(i, side, kCubeCell));
  }
  add_ground(builder);
  return at_rest(builder);
}

}  // namespace lithe

#include "lithe/scenes/robots/four_bar.h"

#include <cmath>
#include <string>

#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"

namespace lithe {

namespace {

constexpr double kCrank = 0.1;
constexpr double kCoupler = 0.4;
constexpr double kRocker = 0.3;
constexpr double kGround = 0.4;
constexpr double kBarRadius = 0.01;
constexpr double kMassPerLength = 2;  // kg/m
constexpr double kMaxEffort = 10;     // N·m

// The upper of the two points at distance r from a and s from b, all in the plane y = 0, with b to the right of a.
Vec3 above_both(const Vec3& a, double r, const Vec3& b, double s) {
  const double d = (b - a).norm();
  const Vec3 along = (b - a) / d;
  const Vec3 up(-along.z(), 0, along.x());
  const double x = (d * d + r * r - s * s) / (2 * d);
  return a + x * along + std::sqrt(r * r - x * x) * up;
}

// A bar from its joint, at `pivot` in its parent, to `end` in its own frame.
void add_bar(ModelBuilder& builder, const std::string& parent, const std::string& name, const Vec3& pivot,
             const Vec3& end) {
  const double length = end.norm();
  const Capsule capsule{kBarRadius, length / 2};
  const Pose middle = {rotation_from_z(end / length), end / 2};
  builder.add_body(parent, {.name = name, .inertia = solid_inertia(kMassPerLength * length, capsule).in(middle)},
                   revolute(name, Vec3::UnitY(), Pose::translation(pivot)));
  builder.add_shape(name, {.name = name, .geometry = capsule, .placement = middle, .filter = {.groups = 0, .mask = 0}});
}

}  // namespace

ModelBuilder four_bar() {
  const Vec3 A = Vec3::Zero();
  const Vec3 B(0, 0, kCrank);
  const Vec3 D(kGround, 0, 0);
  const Vec3 C = above_both(B, kCoupler, D, kRocker);
  ModelBuilder builder;
  add_bar(builder, "world", "crank", A, B - A);
  add_bar(builder, "crank", "coupler", B - A, C - B);
  add_bar(builder, "world", "rocker", D, C - D);
  builder.add_loop("coupler", "rocker",
                   {.name = "pin",
                    .kind = LoopClosure::Kind::ball,
                    .placement_a = Pose::translation(C - B),
                    .placement_b = Pose::translation(C - D)});
  builder.add_motor("crank", velocity_motor("drive", kMaxEffort));
  return builder;
}

Scene driven_four_bar() {
  Scene scene = at_rest(four_bar());
  set_target(scene, "drive", 3);
  return scene;
}

}  // namespace lithe

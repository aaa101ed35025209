#include "lithe/scenes/robots/pendulum.h"

#include <string>

namespace lithe {

namespace {

constexpr double kBobRadius = 0.06;
constexpr double kRodRadius = 0.015;

// Hangs one more bob on `parent`, whose pivot for it is at `pivot`. Mass sits in the bob alone; the rod is for the eye.
void add_bob(ModelBuilder& builder, const std::string& parent, const std::string& suffix, const Vec3& pivot) {
  const Vec3 end(0, 0, -kPendulumLength);
  const std::string bob = "bob" + suffix;
  builder.add_body(parent, {.name = bob, .inertia = SpatialInertia::point(kPendulumMass, end)},
                   revolute("hinge" + suffix, Vec3::UnitY(), Pose::translation(pivot)));
  builder.add_shape(bob, {.name = bob, .geometry = Sphere{kBobRadius}, .placement = Pose::translation(end)});
  builder.add_shape(bob, {.name = "rod" + suffix,
                          .geometry = Capsule{kRodRadius, kPendulumLength / 2 - kRodRadius},
                          .placement = Pose::translation(end / 2)});
  builder.add_frame(bob, {.name = "tip" + suffix, .placement = Pose::translation(end)});
}

}  // namespace

ModelBuilder pendulum() {
  ModelBuilder builder;
  add_bob(builder, "world", "", Vec3::Zero());
  return builder;
}

ModelBuilder double_pendulum() {
  ModelBuilder builder;
  add_bob(builder, "world", "_1", Vec3::Zero());
  add_bob(builder, "bob_1", "_2", {0, 0, -kPendulumLength});
  return builder;
}

}  // namespace lithe

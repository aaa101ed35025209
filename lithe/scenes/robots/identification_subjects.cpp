#include "lithe/scenes/robots/identification_subjects.h"

#include "lithe/scenes/solids/solids.h"

namespace lithe {

ModelBuilder two_link_arm() {
  ModelBuilder builder;
  const Box link{{0.02, 0.02, 0.25}};
  const Pose middle = Pose::translation(0, 0, -0.25);
  builder.add_body("world", {.name = "upper", .inertia = solid_inertia(1.2, link).in(middle)},
                   revolute("shoulder", Vec3::UnitY()));
  builder.add_body("upper", {.name = "lower", .inertia = solid_inertia(0.8, link).in(middle)},
                   revolute("elbow", Vec3::UnitY(), Pose::translation(0, 0, -0.5)));
  return builder;
}

ModelBuilder sliding_block() {
  ModelBuilder builder;
  const Box box{{0.1, 0.1, 0.05}};
  builder.add_body("world", {.name = "block", .inertia = solid_inertia(2, box)},
                   {prismatic("x", Vec3::UnitX()), prismatic("z", Vec3::UnitZ())});
  builder.add_shape("block", {.name = "block", .geometry = box, .material = {.friction = 0.35}});
  add_ground(builder, {.friction = 0.35});
  return builder;
}

ModelBuilder dropped_ball() {
  ModelBuilder builder;
  builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(0.5, 0.1)}, free_joint("root"));
  builder.add_shape("ball",
                    {.name = "ball", .geometry = Sphere{0.1}, .material = {.friction = 0.3, .restitution = 0.7}});
  add_ground(builder, {.friction = 0.3, .restitution = 0});
  return builder;
}

}  // namespace lithe

#include "lithe/scenes/paper/catapult.h"

#include <numbers>

#include "lithe/scenes/paper/paper_parts.h"

namespace lithe {

ModelBuilder catapult() {
  constexpr double edge = 0.1;
  ModelBuilder builder;
  builder.add_body("world", {.name = "projectile", .inertia = unit_inertia()}, sliding_in_plane("projectile"));
  builder.add_shape("projectile", {.name = "projectile", .geometry = Box{Vec3::Constant(edge / 2)}});
  add_segments(builder, "world", {0.5, 0, -0.45}, 1000);
  return builder;
}

Scene armed_catapult() {
  ModelBuilder builder = catapult();
  add_floor(builder, 3.5, {1.2, 0, -0.7});
  Scene scene = at_rest(builder);
  set_initial(scene, "projectile.z", 0.1);
  set_initial(scene, "segment_1", std::numbers::pi / 4);
  set_initial(scene, "segment_3", std::numbers::pi / 4);
  scene.task = {.description = "have the projectile at x = z = 2.2 m",
                .steps = 500,
                .shot = 20,
                .terms = {{.joint = "projectile.x", .target = 2.2}, {.joint = "projectile.z", .target = 2.2}}};
  return scene;
}

}  // namespace lithe

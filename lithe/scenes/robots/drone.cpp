#include "lithe/scenes/robots/drone.h"

#include "lithe/scenes/solids/solids.h"

namespace lithe {

namespace {

constexpr double kDroneRadius = 0.3;
constexpr Material kSmooth = {.friction = 0, .restitution = 0};

}  // namespace

ModelBuilder drone() {
  Joint rail = prismatic("rotor", Vec3::UnitZ());
  rail.effort_limit = 10;
  ModelBuilder builder;
  builder.add_body("world", {.name = "drone", .inertia = SpatialInertia::sphere(0.1, kDroneRadius)}, rail);
  builder.add_shape("drone", {.name = "drone", .geometry = Sphere{kDroneRadius}, .material = kSmooth});
  return builder;
}

Scene resting_drone() {
  ModelBuilder builder = drone();
  add_ground(builder, kSmooth);
  Scene scene = at_rest(builder);
  set_initial(scene, "rotor", kDroneRadius);
  scene.task = {
      .description = "be at a height of 5 m", .steps = 500, .shot = 50, .terms = {{.joint = "rotor", .target = 5}}};
  return scene;
}

}  // namespace lithe

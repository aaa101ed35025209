// A box falls on another one, and the ground carries both.
#include <cstdio>

#include "lithe/model/model_builder.h"
#include "lithe/scenes/world.h"

int main() {
  using namespace lithe;
  ModelBuilder builder;
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}});
  for (const double height : {0.1, 0.5}) {
    const char* name = height < 0.3 ? "lower" : "upper";
    builder.add_body("world", {.name = name, .inertia = SpatialInertia::box(1.0, Vec3::Constant(0.2))},
                     free_joint(name, Pose::translation(0, 0, height)));
    builder.add_shape(name, {.name = name, .geometry = Box{Vec3::Constant(0.1)}});
  }
  World world(builder.build());
  while (world.time() < 1) world.step();

  Vec3 on_ground = Vec3::Zero();
  for (const World::ContactImpulse& contact : world.contacts()) {
    const bool ground = world.model().shapes()[contact.a].name == "ground";
    if (ground) on_ground -= contact.impulse / world.options.time_step;
  }
  std::printf("%d contacts, %.2f N on the ground\n", world.status().contacts, on_ground.z());
}

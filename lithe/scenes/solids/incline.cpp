#include "lithe/scenes/solids/incline.h"

#include <cmath>
#include <numbers>

#include "lithe/core/check.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"

namespace lithe {

Scene incline(double angle, double friction) {
  LITHE_CHECK(std::abs(angle) < std::numbers::pi / 2, "an incline's angle lies between ±π/2, and is not {}", angle);
  const Vec3 half_size(0.2, 0.2, 0.05);  // low: it slides long before it tips
  const Material material = {.friction = friction, .restitution = 0};
  const Pose slope = Pose::rotation(rotation_about(Vec3::UnitY(), angle));
  ModelBuilder builder;
  add_free_solid(builder, "block", 1, Box{half_size}, slope * Pose::translation(0, 0, half_size.z()), material);
  add_ground(builder, material, slope);
  return at_rest(builder);
}

Scene sliding_cube(double angle, double friction) {
  const Material material = {.friction = friction, .restitution = 0};
  const double half_edge = 0.1;
  ModelBuilder builder;
  add_free_solid(builder, "cube", 1, Box{Vec3::Constant(half_edge)}, Pose::translation(0, 0, half_edge), material);
  add_ground(builder, material);
  Scene scene = at_rest(builder);
  set_initial(scene, "cube.x", 0, std::cos(angle));
  set_initial(scene, "cube.y", 0, std::sin(angle));
  return scene;
}

}  // namespace lithe

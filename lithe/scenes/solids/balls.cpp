#include "lithe/scenes/solids/balls.h"

#include <numbers>
#include <string>

#include "lithe/scenes/solids/solids.h"
#include "lithe/spatial/rotation.h"

namespace lithe {

namespace {

void add_ball_on_a_line(ModelBuilder& builder, const std::string& name, double mass, double x) {
  builder.add_body("world", {.name = name, .inertia = SpatialInertia::sphere(mass, kBallRadius)},
                   prismatic(name, Vec3::UnitX(), Pose::translation(x, 0, 0)));
  builder.add_shape(name,
                    {.name = name, .geometry = Sphere{kBallRadius}, .material = {.friction = 0, .restitution = 1}});
}

}  // namespace

Scene two_balls(double left_mass, double right_mass) {
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  add_ball_on_a_line(builder, "left", left_mass, -0.5);
  add_ball_on_a_line(builder, "right", right_mass, 0.5);
  Scene scene = at_rest(builder);
  set_initial(scene, "left", 0, 1);
  set_initial(scene, "right", 0, -1);
  return scene;
}

Scene bouncing_ball(double restitution, double height) {
  const Material rubber = {.friction = 1, .restitution = restitution};
  ModelBuilder builder;
  add_free_solid(builder, "ball", 1, Sphere{kBallRadius}, Pose::translation(0, 0, height + kBallRadius), rubber);
  add_ground(builder, rubber);
  return at_rest(builder);
}

Scene reflected_ball() {
  const Material mirror = {.friction = 0, .restitution = 1};
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(1, kBallRadius)},
                   translational("ball", Pose::translation(-1, 0, 1)));
  builder.add_shape("ball", {.name = "ball", .geometry = Sphere{kBallRadius}, .material = mirror});
  add_ground(builder, mirror);
  Scene scene = at_rest(builder);
  set_initial(scene, "ball.x", 0, 2);
  set_initial(scene, "ball.z", 0, -2);
  scene.time_step = 1.0 / 480;
  return scene;
}

Scene ball_and_wall() {
  const Material rubber = {.friction = 0, .restitution = 0.92};
  const Vec3 start(-0.5, 0, 1), goal(-2, 0, 1.5);
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(1, kBallRadius)},
                   translational("ball", Pose::translation(start)));
  builder.add_shape("ball", {.name = "ball", .geometry = Sphere{kBallRadius}, .material = rubber});
  add_ground(builder, rubber);
  builder.add_shape("world", {.name = "wall",
                              .geometry = Plane{},
                              .placement = {rotation_about(Vec3::UnitY(), -std::numbers::pi / 2), Vec3::UnitX()},
                              .material = rubber});
  Scene scene = at_rest(builder);
  set_initial(scene, "ball.x", 0, 5);
  set_initial(scene, "ball.z", 0, -5);
  scene.time_step = 0.6 / 288;
  scene.task = {.description = "throw it so that it is at x = −2 m and z = 1.5 m",
                .steps = 288,
                .terms = {{.joint = "ball.x", .target = goal.x() - start.x()},
                          {.joint = "ball.y", .target = goal.y() - start.y()},
                          {.joint = "ball.z", .target = goal.z() - start.z()}}};
  return scene;
}

Scene rolling_sphere() {
  const Material felt = {.friction = 0.5, .restitution = 0};
  ModelBuilder builder;
  add_free_solid(builder, "ball", 1, Sphere{kBallRadius}, Pose::translation(0, 0, kBallRadius), felt);
  add_ground(builder, felt);
  Scene scene = at_rest(builder);
  set_initial(scene, "ball.x", 0, 1);
  return scene;
}

}  // namespace lithe

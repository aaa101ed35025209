#include "lithe/scenes/paper/cartpole.h"

#include <initializer_list>
#include <numbers>
#include <string>

#include "lithe/scenes/paper/paper_parts.h"
#include "lithe/scenes/solids/solids.h"

namespace lithe {

namespace {

constexpr double kPoleLength = 0.3;  // of the double cartpole
constexpr double kPoleMass = 0.025;
constexpr double kPoleDamping = 0.1;
constexpr double kWeightHeight = 0.04;

// Shapes are for the eye.
Shape ghost(const std::string& name, const Geometry& geometry, const Pose& placement = {}) {
  return {.name = name, .geometry = geometry, .placement = placement, .filter = {.groups = 0, .mask = 0}};
}

Task upright_at_rest(std::initializer_list<const char*> joints) {
  Task task = {.description = "be in the middle, upright and at rest", .steps = 500, .shot = 50};
  for (const char* joint : joints) {
    task.terms.push_back({.joint = joint});
    task.terms.push_back({.joint = joint, .of = TaskTerm::Of::velocity});
  }
  return task;
}

void add_pole(ModelBuilder& builder, const std::string& parent, const std::string& name, const Vec3& place) {
  const Box box{{0.01, 0.01, kPoleLength / 2}};
  const Pose middle = Pose::translation(0, 0, kPoleLength / 2);
  Joint joint = turning_in_plane(name, place, 0);
  joint.damping = kPoleDamping;
  builder.add_body(parent, {.name = name, .inertia = solid_inertia(kPoleMass, box).in(middle)}, joint);
  builder.add_shape(name, ghost(name, box, middle));
}

}  // namespace

ModelBuilder cartpole() {
  constexpr double length = 1;
  Joint slide = prismatic("cart", Vec3::UnitX());
  slide.lower = -10;
  slide.upper = 10;
  slide.effort_limit = 10;
  ModelBuilder builder;
  builder.add_body("world", {.name = "cart", .inertia = unit_inertia()}, slide);
  builder.add_shape("cart", ghost("cart", Box{{0.25, 0.05, 0.05}}));
  builder.add_body("cart",
                   {.name = "pole", .inertia = unit_inertia(), .placement = Pose::translation(0, 0, length / 2)},
                   turning_in_plane("pole", Vec3::Zero(), 0));
  builder.add_shape("pole", ghost("pole", Box{{0.05, 0.05, length / 2}}));
  return builder;
}

Scene leaning_cartpole() {
  Scene scene = at_rest(cartpole());
  set_initial(scene, "cart", 1);
  set_initial(scene, "pole", 1);
  scene.time_step = 0.01;
  scene.task = upright_at_rest({"cart", "pole"});
  return scene;
}

ModelBuilder double_cartpole() {
  const Box cart{{0.1, 0.025, 0.025}};
  const Box weight{{0.04, 0.04, kWeightHeight / 2}};
  const Vec3 end(0, 0, kPoleLength);
  ModelBuilder builder;
  builder.add_body("world", {.name = "cart", .inertia = solid_inertia(0.75, cart)}, prismatic("cart", Vec3::UnitX()));
  builder.add_shape("cart", ghost("cart", cart));
  add_pole(builder, "cart", "pole_1", Vec3::Zero());
  add_pole(builder, "pole_1", "pole_2", end);
  builder.add_body("pole_2", {.name = "weight",
                              .inertia = solid_inertia(0.3, weight),
                              .placement = Pose::translation(0, 0, kPoleLength + kWeightHeight / 2)});
  builder.add_shape("weight", ghost("weight", weight));
  return builder;
}

Scene hanging_double_cartpole() {
  Scene scene = at_rest(double_cartpole());
  set_initial(scene, "pole_1", std::numbers::pi);
  scene.time_step = 0.01;
  scene.task = upright_at_rest({"cart", "pole_1", "pole_2"});
  return scene;
}

}  // namespace lithe

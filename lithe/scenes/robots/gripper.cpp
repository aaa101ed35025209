#include "lithe/scenes/robots/gripper.h"

#include <string>

#include "lithe/scenes/solids/solids.h"

namespace lithe {

namespace {

constexpr double kPalmHeight = 0.25;
constexpr double kPalmDepth = 0.06;
constexpr double kFingerLength = 0.2;  // below the palm
constexpr double kFingerPlace = 0.1;   // on either side of the middle
constexpr double kFingerReach = 0.08;

// `side` is 1 on the left (+y) and −1 on the right.
void add_finger(ModelBuilder& builder, const std::string& name, const std::string& joint, double side) {
  Joint slide = prismatic(joint, -side * Vec3::UnitY(), Pose::translation(0, side * kFingerPlace, -kPalmDepth / 2));
  slide.lower = 0;
  slide.upper = kFingerReach;
  slide.velocity_limit = 0.1;
  const Box box{{0.02, 0.01, kFingerLength / 2}};
  const Pose middle = Pose::translation(0, 0, -kFingerLength / 2);
  builder.add_body("palm", {.name = name, .inertia = solid_inertia(0.1, box).in(middle)}, slide);
  builder.add_shape(name, {.name = name, .geometry = box, .placement = middle});
}

}  // namespace

ModelBuilder gripper() {
  const Box box{{0.05, 0.15, kPalmDepth / 2}};
  ModelBuilder builder;
  Joint lift = prismatic("lift", Vec3::UnitZ(), Pose::translation(0, 0, kPalmHeight));
  lift.velocity_limit = 0.05;
  builder.add_body("world", {.name = "palm", .inertia = solid_inertia(0.5, box)}, lift);
  builder.add_shape("palm", {.name = "palm", .geometry = box});
  add_finger(builder, "left_finger", "left_slide", 1);
  add_finger(builder, "right_finger", "right_slide", -1);
  builder.add_motor("lift", position_servo("lift", 200));
  builder.add_motor("left_slide", position_servo("grip", 40));
  builder.add_mimic("right_slide", "left_slide", {.name = "gear"});
  return builder;
}

Scene gripper_with_cube() {
  constexpr double edge = 0.1;
  ModelBuilder builder = gripper();
  add_free_solid(builder, "cube", 0.5, Box{Vec3::Constant(edge / 2)}, Pose::translation(0, 0, edge / 2));
  add_ground(builder);
  Scene scene = at_rest(builder);
  set_target(scene, "grip", kFingerReach);  // further than the cube allows: the motor squeezes
  set_target(scene, "lift", 0.15);
  return scene;
}

}  // namespace lithe

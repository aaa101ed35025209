#include "lithe/scenes/paper/jump_worm.h"

#include <numbers>

#include "lithe/scenes/paper/paper_parts.h"

namespace lithe {

ModelBuilder jump_worm() {
  constexpr double edge = 0.1;
  ModelBuilder builder;
  builder.add_body("world", {.name = "root", .inertia = unit_inertia()}, sliding_in_plane("root"));
  builder.add_shape("root", {.name = "root",
                             .geometry = Box{Vec3::Constant(edge / 2)},
                             .filter = {.groups = kSegmentGroup, .mask = ~kSegmentGroup}});
  add_segments(builder, "root", Vec3::Zero(), 100);
  return builder;
}

Scene falling_jump_worm() {
  ModelBuilder builder = jump_worm();
  add_floor(builder, 2.5, {0, 0, -0.7});
  Scene scene = at_rest(builder);
  set_initial(scene, "segment_1", std::numbers::pi / 2);
  set_initial(scene, "segment_2", std::numbers::pi / 2);
  set_initial(scene, "segment_3", std::numbers::pi / 4);
  scene.task = {.description = "be as high as possible",
                .steps = 400,
                .shot = 20,
                .terms = {{.joint = "root.z", .weight = -100, .form = TaskTerm::Form::signed_square}}};
  return scene;
}

Scene touching_jump_worm() {
  Scene scene = falling_jump_worm();
  set_initial(scene, "root.z", -0.14);
  return scene;
}

}  // namespace lithe

#include "lithe/scenes/from_file.h"

#include <gtest/gtest.h>

#include "lithe/collision/detect_contacts.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe::test {
namespace {

// A robot of one tilted shape, turned by a joint at q = 0.3.
LoadedModel robot_with(const Geometry& geometry) {
  LoadedModel loaded;
  loaded.builder.add_body("world", {.name = "body", .inertia = SpatialInertia::sphere(1, 0.1)},
                          revolute("hinge", Vec3(1, 2, 0.5).normalized(), Pose::translation(0.1, 0.2, 1.5)));
  loaded.builder.add_shape("body",
                           {.name = "shape",
                            .geometry = geometry,
                            .placement = {rotation_about(Vec3(1, -1, 2).normalized(), 0.8), Vec3(0.05, 0, -0.1)}});
  loaded.model = loaded.builder.build();
  loaded.q = VecX::Constant(1, 0.3);
  loaded.v = VecX::Zero(1);
  loaded.time_step = 0.002;
  return loaded;
}

TEST(SceneOnGround, JustTouchesEveryShape) {
  const ConvexMesh wedge = {{{0, 0, 0}, {0.3, 0, 0}, {0, 0.2, 0}, {0.1, 0.1, 0.4}, {-0.1, 0, 0.2}}};
  for (const Geometry& geometry : {Geometry(Sphere{0.2}), Geometry(Capsule{0.1, 0.3}), Geometry(Box{{0.1, 0.2, 0.3}}),
                                   Geometry(Cylinder{0.15, 0.25}), Geometry(wedge)}) {
    SCOPED_TRACE(geometry.index());
    const Scene scene = scene_on_ground(robot_with(geometry));
    EXPECT_EQ(scene.time_step, 0.002);
    Kinematics kin;
    kinematics(scene.model, scene.q, kin);
    std::vector<Pose> poses;
    body_poses(scene.model, kin, poses);
    DetectionWorkspace workspace;
    ContactSet contacts;
    detect_contacts(ColliderSet(scene.model), poses, workspace, contacts);
    ASSERT_GE(contacts.contacts.size(), 1u);
    double gap = 1;
    for (const Contact& contact : contacts.contacts) gap = std::min(gap, contact.gap);
    EXPECT_NEAR(gap, 0, 1e-12);
  }
}

TEST(SceneOnGround, LeavesAWorldWithItsOwnFloorAlone) {
  LoadedModel loaded = robot_with(Sphere{0.2});
  loaded.builder.add_shape("world", {.name = "table", .geometry = Box{{1, 1, 0.1}}});
  loaded.model = loaded.builder.build();
  EXPECT_EQ(scene_on_ground(loaded).model.shapes().size(), 2u);
  EXPECT_EQ(scene_on_ground(robot_with(Sphere{0.2})).model.shapes().size(), 2u);
}

}  // namespace
}  // namespace lithe::test

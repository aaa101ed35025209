#include "lithe/io/write_mjcf.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lithe/collision/collider_set.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/model/configuration.h"
#include "tests/io/mjcf_text.h"
#include "tests/support/constrained_model.h"
#include "tests/support/random_test.h"

// What is written is read back as the same model.
namespace lithe::test {
namespace {

LoadedModel read_back_mjcf(const Model& model) { return load_text(write_mjcf(model).xml, "written.xml"); }

bool warned(const MjcfFile& file, std::string_view part) {
  return std::ranges::any_of(file.warnings, [&](const std::string& w) { return w.find(part) != std::string::npos; });
}

// Where each joint frame is in its body at q = 0: MJCF measures a ball's orientation in the body's axes.
Mat3 turn_of_ball(const Model& model, const Joint& ball) {
  const Body& body = model.bodies()[ball.body];
  Mat3 R = Mat3::Identity(), at = R;
  for (const JointIndex j : body.joints) {
    R = R * model.joints()[j].placement.R;
    if (model.joints()[j].name == ball.name) at = R;
  }
  return (R * body.placement.R).transpose() * at;
}

// The same state in the written model: its q, and its velocities v' = T v. A ball's are turned; a screw's slide goes with its hinge.
struct Translated {
  VecX q;
  MatX T;
};
Translated translated(const Model& model, const Model& again, const VecX& q) {
  Translated result{VecX::Zero(again.nq()), MatX::Zero(again.nv(), model.nv())};
  for (const Joint& joint : model.joints()) {
    const Joint& there = again.joints()[again.joint(joint.name)];
    result.q.segment(there.q_index, joint.nq()) = q.segment(joint.q_index, joint.nq());
    result.T.block(there.v_index, joint.v_index, joint.nv(), joint.nv()).setIdentity();
    if (joint.type == JointType::ball) {
      const Mat3 R = turn_of_ball(model, joint);
      result.q.segment<3>(there.q_index) = R * q.segment<3>(joint.q_index);
      result.T.block<3, 3>(there.v_index, joint.v_index) = R;
    } else if (joint.type == JointType::screw) {
      const Joint& slide = again.joints()[again.joint(joint.name + "_slide")];
      result.q[slide.q_index] = joint.pitch * q[joint.q_index];
      result.T(slide.v_index, joint.v_index) = joint.pitch;
    }
  }
  return result;
}

void expect_same_motion(const Model& model, const Model& again, const VecX& q) {
  const Translated there = translated(model, again, q);
  const MatX M = mass_matrix(model, q);
  const MatX M_again = there.T.transpose() * mass_matrix(again, there.q) * there.T;
  EXPECT_LT((M - M_again).cwiseAbs().maxCoeff(), 1e-11 * std::max(1.0, M.cwiseAbs().maxCoeff()));
  Kinematics kin, kin_again;
  kinematics(model, q, kin);
  kinematics(again, there.q, kin_again);
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    const Pose X = body_pose(model, kin, BodyIndex(static_cast<int>(b)));
    const Pose Y = body_pose(again, kin_again, BodyIndex(static_cast<int>(b)));
    EXPECT_EQ(model.bodies()[b].name, again.bodies()[b].name);
    EXPECT_LT((X.R - Y.R).cwiseAbs().maxCoeff() + (X.p - Y.p).cwiseAbs().maxCoeff(), 1e-12 * std::max(1.0, X.p.norm()));
  }
}

void expect_same_joints(const Model& model, const Model& again) {
  for (const Joint& a : model.joints()) {
    const Joint& b = again.joints()[again.joint(a.name)];
    SCOPED_TRACE(a.name);
    EXPECT_EQ(a.type == JointType::screw ? JointType::revolute : a.type, b.type);
    if (a.type != JointType::ball) {
      EXPECT_EQ(a.lower, b.lower);
      EXPECT_LE(std::abs(std::min(a.upper, 1e300) - std::min(b.upper, 1e300)), 1e-15 * std::abs(a.upper))
          << "a ulp where lower = upper";
      EXPECT_EQ(a.rest, b.rest);
      EXPECT_EQ(a.effort_limit, b.effort_limit);
    }
    EXPECT_EQ(a.stiffness, b.stiffness);
    EXPECT_EQ(a.damping, b.damping);
    EXPECT_EQ(a.armature, b.armature);
    EXPECT_EQ(a.dry_friction, b.dry_friction);
  }
}

// To the bit, but for the points of meshes, which MJCF has in single precision.
void expect_same_geometry(const Geometry& a, const Geometry& b) {
  const auto *mesh = std::get_if<ConvexMesh>(&a), *mesh_again = std::get_if<ConvexMesh>(&b);
  if (mesh == nullptr || mesh_again == nullptr) {
    EXPECT_EQ(a, b);
    return;
  }
  ASSERT_EQ(mesh->points.size(), mesh_again->points.size());
  for (std::size_t i = 0; i < mesh->points.size(); ++i) {
    EXPECT_LT((mesh->points[i] - mesh_again->points[i]).norm(), 1e-7 * mesh->points[i].norm() + 1e-14) << "point " << i;
  }
}

void expect_same_shapes(const Model& model, const Model& again) {
  ASSERT_EQ(model.shapes().size(), again.shapes().size());
  const ColliderSet colliders(model), colliders_again(again);
  for (const Shape& a : model.shapes()) {
    const Shape& b = again.shapes()[again.shape(a.name)];
    SCOPED_TRACE(a.name);
    EXPECT_EQ(model.bodies()[a.body].name, again.bodies()[b.body].name);
    expect_same_geometry(a.geometry, b.geometry);
    EXPECT_EQ(a.placement.p, b.placement.p);
    EXPECT_LT((a.placement.R - b.placement.R).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_EQ(a.material.friction, b.material.friction);
    EXPECT_EQ(a.margin, b.margin);
    for (const Shape& other : model.shapes()) {
      EXPECT_EQ(colliders.may_touch(model.shape(a.name), model.shape(other.name)),
                colliders_again.may_touch(again.shape(a.name), again.shape(other.name)))
          << other.name;
    }
  }
}

// Loops are the same if they want the same: where the frames of the two bodies have to be relative to each other.
void expect_same_constraints(const Model& model, const Model& again) {
  ASSERT_EQ(model.loops().size(), again.loops().size());
  for (std::size_t i = 0; i < model.loops().size(); ++i) {
    const LoopClosure &a = model.loops()[i], &b = again.loops()[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.a, b.a);
    EXPECT_EQ(a.b, b.b);
    EXPECT_LT((a.placement_a.p - b.placement_a.p).norm() + (a.placement_b.p - b.placement_b.p).norm(), 1e-12);
    if (a.kind == LoopClosure::Kind::ball) continue;
    EXPECT_LT((a.placement_a.R * a.placement_b.R.transpose() - b.placement_a.R * b.placement_b.R.transpose()).norm(),
              1e-13);
  }
  const auto screws = std::ranges::count(model.joints(), JointType::screw, &Joint::type);
  ASSERT_EQ(model.mimics().size() + static_cast<std::size_t>(screws), again.mimics().size());
  for (std::size_t i = 0; i < model.mimics().size(); ++i) {
    const Mimic &a = model.mimics()[i], &b = again.mimics()[i];
    EXPECT_EQ(model.joints()[a.joint].name, again.joints()[b.joint].name);
    EXPECT_EQ(model.joints()[a.source].name, again.joints()[b.source].name);
    EXPECT_EQ(a.multiplier, b.multiplier);
    EXPECT_EQ(a.offset, b.offset);
  }
  ASSERT_EQ(model.motors().size(), again.motors().size());
  for (std::size_t i = 0; i < model.motors().size(); ++i) {
    const Motor &a = model.motors()[i], &b = again.motors()[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.target, b.target);
    EXPECT_EQ(model.joints()[a.joint].name, again.joints()[b.joint].name);
    EXPECT_EQ(std::min(a.stiffness, 1e8), b.stiffness);
    EXPECT_EQ(std::min(a.damping, 1e8), b.damping);
    EXPECT_EQ(a.max_effort, b.max_effort);
  }
}

TEST(WriteMjcf, RandomModelsComeBack) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const ConstrainedCase one = random_constrained_case(random);
    const MjcfFile file = write_mjcf(one.model);
    if (warned(file, "loses its pitch")) return Outcome::skipped;
    const LoadedModel again = load_text(file.xml, "written.xml");
    expect_same_motion(one.model, again.model, one.state.q);
    expect_same_joints(one.model, again.model);
    expect_same_shapes(one.model, again.model);
    expect_same_constraints(one.model, again.model);
    EXPECT_EQ(one.model.gravity(), again.model.gravity());
    return Outcome::checked;
  });
}

TEST(WriteMjcf, FramesComeBack) {
  const Model model =
      ModelBuilder()
          .add_body("world", {.name = "b", .inertia = SpatialInertia::sphere(1, 1)}, free_joint("root"))
          .add_frame("b", {.name = "tip & <top>", .placement = {rotation_exp(Vec3(1, 2, 3)), Vec3(1, 2, 3)}})
          .build();
  const LoadedModel again = read_back_mjcf(model);
  ASSERT_EQ(again.model.frames().size(), 1u);
  EXPECT_EQ(again.model.frames()[0].name, "tip & <top>");
  EXPECT_TRUE(again.model.frames()[0].placement.R.isApprox(rotation_exp(Vec3(1, 2, 3)), 1e-15));
  EXPECT_EQ(again.model.joints()[3].name, "root.ball");
  EXPECT_NE(write_mjcf(model).xml.find("<freejoint name=\"root\"/>"), std::string::npos);
}

TEST(WriteMjcf, EveryShapeComesBack) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "b", .inertia = SpatialInertia::sphere(1, 1)}, revolute("j", Vec3::UnitX()));
  const Pose placement{rotation_exp(Vec3(0.1, 0.2, 0.3)), Vec3(1, 2, 3)};
  const std::vector<Geometry> geometries = {
      Sphere{0.1}, Capsule{0.1, 0.3}, Box{Vec3(0.1, 0.2, 1.0 / 3)}, Cylinder{0.1, 0.7},
      ConvexMesh{{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1.0 / 3, 0), Vec3(0, 0, 1)}}};
  for (std::size_t i = 0; i < geometries.size(); ++i) {
    builder.add_shape(i % 2 ? "b" : "world", {.name = fmt::format("shape{}", i),
                                              .geometry = geometries[i],
                                              .placement = placement,
                                              .material = {.friction = 0.3},
                                              .margin = 0.01});
  }
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}});
  const Model model = builder.build();
  EXPECT_TRUE(write_mjcf(model).warnings.empty());
  expect_same_shapes(model, read_back_mjcf(model).model);
}

TEST(WriteMjcf, FiltersAndExceptionsComeBack) {
  for_random_cases(50, [](std::mt19937_64& random) {
    ModelBuilder builder;
    for (int i = 0; i < 8; ++i) {
      const std::string name = fmt::format("b{}", i);
      const std::string parent = i == 0 || chance(random, 0.3) ? "world" : fmt::format("b{}", i - 1);
      builder.add_body(parent, {.name = name, .inertia = SpatialInertia::sphere(1, 1)}, revolute(name, Vec3::UnitX()));
      const CollisionFilter filter{static_cast<std::uint32_t>(uniform_int(random, 0, 7)),
                                   static_cast<std::uint32_t>(uniform_int(random, 0, 7))};
      builder.add_shape(name, {.name = name, .geometry = Sphere{0.1}, .filter = filter});
    }
    for (int i = 0; i < 4; ++i) {
      builder.set_collision(fmt::format("b{}", uniform_int(random, 0, 3)),
                            fmt::format("b{}", uniform_int(random, 4, 7)), chance(random, 0.5));
    }
    const Model model = builder.build();
    expect_same_shapes(model, read_back_mjcf(model).model);
  });
}

TEST(WriteMjcf, AScrewBecomesAHingeAndASlideThatFollows) {
  const Model model =
      ModelBuilder()
          .add_body("world", {.name = "b", .inertia = SpatialInertia::sphere(1, 1)}, screw("s", Vec3::UnitX(), 0.25))
          .build();
  const MjcfFile file = write_mjcf(model);
  EXPECT_TRUE(warned(file, "screw"));
  const LoadedModel again = load_text(file.xml, "written.xml");
  ASSERT_EQ(again.model.mimics().size(), 1u);
  EXPECT_EQ(again.model.mimics()[0].multiplier, 0.25);
  EXPECT_EQ(again.model.joints()[again.model.mimics()[0].joint].name, "s_slide");
}

TEST(WriteMjcf, WarnsOfWhatMjcfCannotHold) {
  Joint turned = ball("ball");
  turned.stiffness = 1;
  turned.rest_orientation = quaternion_exp(Vec3(1, 0, 0));
  Joint fast = revolute("fast", Vec3::UnitX());
  fast.velocity_limit = 3;
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "a", .inertia = SpatialInertia::sphere(1, 1)}, fast)
                          .add_body("a",
                                    {.name = "b",
                                     .inertia = SpatialInertia::point(1, Vec3(1, 0, 0)),
                                     .placement = Pose::rotation(rotation_exp(Vec3(0, 1, 0)))},
                                    turned)
                          .add_shape("a", {.name = "plane", .geometry = Plane{}})
                          .add_shape("a", {.name = "ball", .geometry = Sphere{1}, .material = {.restitution = 0.5}})
                          .add_motor("fast", velocity_motor("rigid"))
                          .build();
  const MjcfFile file = write_mjcf(model);
  for (const char* part : {"'plane'", "'ball' bounces", "'rigid' is rigid", "velocity limit", "rests at an orientation",
                           "turned against", "moment of inertia of 0"}) {
    EXPECT_TRUE(warned(file, part)) << part;
  }
  EXPECT_EQ(file.warnings.size(), 7u);
  EXPECT_EQ(load_text(file.xml, "written.xml").model.shapes().size(), 1u);
}

}  // namespace
}  // namespace lithe::test

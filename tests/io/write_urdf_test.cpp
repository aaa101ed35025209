#include "lithe/io/write_urdf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "lithe/dynamics/mass_matrix.h"
#include "lithe/model/configuration.h"
#include "tests/io/scratch_folder.h"
#include "tests/io/urdf_text.h"
#include "tests/support/error_text.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {
namespace {

LoadedModel read_back_urdf(const Model& model) { return load_text(write_urdf(model).xml, "written.urdf"); }

bool has_screw(const Model& model) {
  return std::ranges::any_of(model.joints(), [](const Joint& joint) { return joint.type == JointType::screw; });
}

Shape random_shape(std::mt19937_64& random, const std::string& name) {
  Shape shape{.name = name, .placement = random_pose(random)};
  const double a = uniform(random, 0.1, 1), b = uniform(random, 0.1, 1), c = uniform(random, 0.1, 1);
  switch (uniform_int(random, 0, 3)) {
    case 0: shape.geometry = Sphere{a}; break;
    case 1: shape.geometry = Capsule{a, b}; break;
    case 2: shape.geometry = Box{Vec3(a, b, c)}; break;
    default: shape.geometry = Cylinder{a, b}; break;
  }
  return shape;
}

// A random model as URDF can hold it: no screws, no armature, gravity downwards; with shapes, limits, damping, springs and mimics.
Model random_urdf_model(std::mt19937_64& random) {
  RandomModelOptions options;
  options.armature = 0;
  options.max_dofs = 30;
  Model plain = random_model(random, options);
  while (has_screw(plain)) plain = random_model(random, options);
  plain.set_gravity(Vec3(0, 0, -9.81));
  ModelBuilder builder = builder_of(plain);
  for (const Body& body : plain.bodies()) {
    // Friction is one for all of a body's shapes.
    const Material material{chance(random, 0.5) ? uniform(random, 0, 2) : 1,
                            chance(random, 0.3) ? uniform(random, 0, 1) : 0};
    for (int i = uniform_int(random, 0, 2); i > 0; --i) {
      Shape shape = random_shape(random, body.name + "_" + std::to_string(i));
      shape.material = material;
      builder.add_shape(body.name, shape);
    }
  }
  std::vector<std::string> single;  // joints that can follow others
  for (const Joint& joint : plain.joints()) {
    if (joint.type != JointType::ball) single.push_back(joint.name);
  }
  if (single.size() >= 2 && chance(random, 0.5)) {
    builder.add_mimic(single.back(), single.front(), {.name = single.back(), .multiplier = -1.5, .offset = 0.1});
  }
  Model model = builder.build();
  for (std::size_t j = 0; j < model.joints().size(); ++j) {
    if (chance(random, 0.5)) continue;
    Joint joint = model.joints()[j];
    if (joint.type != JointType::ball) {
      if (chance(random, 0.7)) joint.lower = uniform(random, -3, 0);
      if (chance(random, 0.7)) joint.upper = uniform(random, 0, 3);
      if (chance(random, 0.3)) joint.stiffness = uniform(random, 0, 5), joint.rest = uniform(random, -1, 1);
    }
    if (chance(random, 0.5)) joint.damping = uniform(random, 0, 2);
    if (chance(random, 0.5)) joint.dry_friction = uniform(random, 0, 2);
    if (chance(random, 0.5)) joint.effort_limit = uniform(random, 1, 9);
    if (chance(random, 0.5)) joint.velocity_limit = uniform(random, 1, 9);
    model.set_joint(JointIndex(static_cast<int>(j)), joint);
  }
  return model;
}

void expect_same_joint(const Joint& a, const Joint& b) {
  EXPECT_EQ(a.type, b.type) << a.name;
  EXPECT_EQ(a.lower, b.lower) << a.name;
  EXPECT_EQ(a.upper, b.upper) << a.name;
  EXPECT_EQ(a.effort_limit, b.effort_limit) << a.name;
  EXPECT_EQ(a.velocity_limit, b.velocity_limit) << a.name;
  EXPECT_EQ(a.damping, b.damping) << a.name;
  EXPECT_EQ(a.dry_friction, b.dry_friction) << a.name;
  EXPECT_EQ(a.stiffness, b.stiffness) << a.name;
  EXPECT_EQ(a.stiffness == 0 ? 0 : a.rest, b.stiffness == 0 ? 0 : b.rest) << a.name;
}

void expect_same_shape(const Model& a, const Shape& shape, const Model& b) {
  const Shape& other = b.shapes()[b.shape(shape.name)];
  EXPECT_EQ(a.bodies()[shape.body].name, b.bodies()[other.body].name);
  EXPECT_EQ(shape.geometry, other.geometry) << shape.name;
  EXPECT_EQ(shape.material.friction, other.material.friction) << shape.name;
  EXPECT_EQ(shape.material.restitution, other.material.restitution) << shape.name;
  EXPECT_EQ(shape.placement.p, other.placement.p) << shape.name;
  EXPECT_LT((shape.placement.R - other.placement.R).cwiseAbs().maxCoeff(), 1e-14) << shape.name;
}

// q of `from`, joint by joint by name, for `to`.
VecX same_configuration(const Model& from, const VecX& q, const Model& to) {
  VecX out = neutral_configuration(to);
  for (const Joint& joint : from.joints()) {
    out.segment(to.joints()[to.joint(joint.name)].q_index, joint.nq()) = q.segment(joint.q_index, joint.nq());
  }
  return out;
}

// The DoF of `to` for each DoF of `from`.
std::vector<int> same_dofs(const Model& from, const Model& to) {
  std::vector<int> dofs(from.nv());
  for (const Joint& joint : from.joints()) {
    for (int k = 0; k < joint.nv(); ++k) dofs[joint.v_index + k] = to.joints()[to.joint(joint.name)].v_index + k;
  }
  return dofs;
}

// The two models hold the same bodies, joints and shapes under the same names, and move and resist alike.
void expect_same_model(const Model& model, const Model& again, std::mt19937_64& random) {
  ASSERT_EQ(again.nv(), model.nv());
  ASSERT_EQ(again.nq(), model.nq());
  for (const Joint& joint : model.joints()) expect_same_joint(joint, again.joints()[again.joint(joint.name)]);
  ASSERT_EQ(again.shapes().size(), model.shapes().size());
  for (const Shape& shape : model.shapes()) expect_same_shape(model, shape, again);
  ASSERT_EQ(again.mimics().size(), model.mimics().size());
  for (const Mimic& mimic : model.mimics()) {
    const Mimic& other = again.mimics()[again.mimic(model.joints()[mimic.joint].name)];
    EXPECT_EQ(again.joints()[other.source].name, model.joints()[mimic.source].name);
    EXPECT_EQ(other.multiplier, mimic.multiplier);
    EXPECT_EQ(other.offset, mimic.offset);
  }
  const VecX q = random_state(model, random).q;
  const VecX q_again = same_configuration(model, q, again);
  const PlainKinematics at = plain_kinematics(model, q), at_again = plain_kinematics(again, q_again);
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    const Pose& X = at.X_WB[b];
    const Pose& X_again = at_again.X_WB[again.body(model.bodies()[b].name)];
    EXPECT_LT((X.R - X_again.R).cwiseAbs().maxCoeff(), 1e-12) << model.bodies()[b].name;
    EXPECT_LT((X.p - X_again.p).cwiseAbs().maxCoeff(), 1e-12) << model.bodies()[b].name;
  }
  const std::vector<int> dofs = same_dofs(model, again);
  const MatX M = mass_matrix(model, q), M_again = mass_matrix(again, q_again)(dofs, dofs);
  EXPECT_LT((M - M_again).cwiseAbs().maxCoeff(), 1e-11 * M.cwiseAbs().maxCoeff());
}

TEST(WriteUrdf, GivesBackRandomModels) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const Model model = random_urdf_model(random);
    expect_same_model(model, read_back_urdf(model).model, random);
  });
}

TEST(WriteUrdf, WritesTheSameAgain) {
  for_random_cases(30, [](std::mt19937_64& random) {
    const Model once = read_back_urdf(random_urdf_model(random)).model;
    expect_same_model(once, read_back_urdf(once).model, random);
    EXPECT_EQ(read_back_urdf(once).model.bodies().size(), once.bodies().size());
  });
}

TEST(WriteUrdf, KeepsAFreeRootAndAHeldOneWithoutALinkForTheWorld) {
  const SpatialInertia ball = SpatialInertia::sphere(1, 0.1);
  const Model free = ModelBuilder().add_body("world", {.name = "base", .inertia = ball}, free_joint("root")).build();
  EXPECT_EQ(write_urdf(free).xml.find("world"), std::string::npos);
  EXPECT_EQ(read_back_urdf(free).model.joints()[3].name, "root.ball");

  const Model held = ModelBuilder()
                         .add_body("world", {.name = "base"})
                         .add_body("base", {.name = "rod", .inertia = ball}, revolute("hinge", Vec3::UnitY()))
                         .build();
  EXPECT_EQ(write_urdf(held).xml.find("world"), std::string::npos);
  EXPECT_EQ(read_back_urdf(held).model.nv(), 1);
}

TEST(WriteUrdf, NamesTheWorldWhereALoaderWouldAssumeOtherwise) {
  const SpatialInertia ball = SpatialInertia::sphere(1, 0.1);
  const auto joints_of = [&](const JointList& joints, const Pose& placement) {
    const Body body{.name = "base", .inertia = ball, .placement = placement};
    return read_back_urdf(ModelBuilder().add_body("world", body, joints).build()).model;
  };
  EXPECT_EQ(joints_of(weld(), {}).nv(), 0);  // heavy, but held
  EXPECT_EQ(joints_of(free_joint("float"), {}).joints()[0].name, "float.x");
  EXPECT_EQ(joints_of(free_joint("root", Pose::translation(1, 2, 3)), {}).joints()[0].placement.p, Vec3(1, 2, 3));
  EXPECT_EQ(joints_of(free_joint("root"), Pose::translation(1, 2, 3)).nv(), 6);
}

TEST(WriteUrdf, WritesComposedJointsAsOne) {
  const Body body{.name = "puck", .inertia = SpatialInertia::sphere(1, 0.1)};
  const Model model = ModelBuilder().add_body("world", body, planar("slide", Pose::translation(0, 0, 1))).build();
  EXPECT_NE(write_urdf(model).xml.find("type=\"planar\""), std::string::npos);
  EXPECT_EQ(read_back_urdf(model).model.bodies().size(), 2u);

  // With a limit on one of its parts it cannot be one joint.
  Model limited = model;
  Joint part = limited.joints()[0];
  part.upper = 1;
  limited.set_joint(JointIndex(0), part);
  EXPECT_EQ(write_urdf(limited).xml.find("type=\"planar\""), std::string::npos);
  EXPECT_EQ(read_back_urdf(limited).model.joints()[0].upper, 1);
}

TEST(WriteUrdf, WritesConvexMeshesAndVisualsBesideTheFile) {
  const ScratchFolder folder("lithe_write_urdf");
  ConvexMesh hull;
  for (const double x : {-1.0, 1.0 / 3}) {
    for (const double y : {-1.0, 1e-3}) hull.points.insert(hull.points.end(), {Vec3(x, y, 0.1), Vec3(y, x, -0.1)});
  }
  ModelBuilder builder;
  builder.add_body("world", {.name = "b", .inertia = SpatialInertia::sphere(1, 1)}, free_joint("root"));
  builder.add_shape("b", {.name = "a/b", .geometry = hull}).add_shape("b", {.name = "a b", .geometry = hull});
  auto mesh = std::make_shared<TriangleMesh>();
  mesh->vertices = {Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  mesh->triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  Visual seen{.name = "seen", .body = "b", .geometry = Visual::Mesh{mesh, Vec3(1, 2, 3)}, .color = Vec4(1, 0, 0, 0.5)};
  const std::string file = folder.at("out.urdf");
  EXPECT_TRUE(save_urdf(builder.build(), file, {.name = "saved", .visuals = {seen}}).empty());
  EXPECT_TRUE(std::filesystem::exists(folder.at("meshes/a_b.obj")));

  const LoadedModel loaded = load(file);
  EXPECT_EQ(loaded.name, "saved");
  ASSERT_EQ(loaded.model.shapes().size(), 2u);
  for (const Shape& shape : loaded.model.shapes()) EXPECT_EQ(shape.geometry, Geometry(hull));
  ASSERT_EQ(loaded.visuals.size(), 1u);
  EXPECT_EQ(loaded.visuals[0].color, seen.color);
  const auto& again = std::get<Visual::Mesh>(loaded.visuals[0].geometry);
  EXPECT_EQ(again.triangles->vertices, mesh->vertices);
  EXPECT_EQ(again.triangles->triangles, mesh->triangles);
  EXPECT_EQ(again.scale, Vec3(1, 2, 3));
}

TEST(WriteUrdf, KeepsNamesThatXmlWouldMisread) {
  const std::string name = "a<b>&\"c' ä\t";
  const Model model =
      ModelBuilder()
          .add_body("world", {.name = name, .inertia = SpatialInertia::sphere(1, 1)}, free_joint("root"))
          .build();
  EXPECT_EQ(read_back_urdf(model).model.bodies()[1].name, name);
}

TEST(WriteUrdf, WritesFramesAsMasslessLinks) {
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "b", .inertia = SpatialInertia::sphere(1, 1)}, free_joint("root"))
                          .add_frame("b", {.name = "tip", .placement = Pose::translation(0, 0, 1)})
                          .build();
  const Model again = read_back_urdf(model).model;
  const Body& tip = again.bodies()[again.body("tip")];
  EXPECT_EQ(tip.placement.p, Vec3(0, 0, 1));
  EXPECT_EQ(again.bodies()[tip.parent].name, "b");
}

TEST(WriteUrdf, TellsWhatIsLost) {
  const Body body{.name = "b", .inertia = SpatialInertia::sphere(1, 1)};
  const auto first_warning = [&](ModelBuilder builder) {
    const std::vector<std::string> warnings = write_urdf(builder.build()).warnings;
    return warnings.size() == 1 ? warnings[0] : std::to_string(warnings.size()) + " warnings";
  };
  Joint hinge = revolute("hinge", Vec3::UnitX());
  const auto with_hinge = [&] { return ModelBuilder().add_body("world", body, hinge); };
  EXPECT_NE(first_warning(with_hinge().set_gravity(Vec3::Zero())).find("gravity"), std::string::npos);
  EXPECT_NE(first_warning(with_hinge().add_motor("hinge", velocity_motor("m"))).find("motor 'm'"), std::string::npos);
  EXPECT_NE(first_warning(with_hinge().add_loop("world", "b", {.name = "l"})).find("loop 'l'"), std::string::npos);
  EXPECT_NE(first_warning(with_hinge().add_shape("world", {.name = "floor", .geometry = Plane{}})).find("plane"),
            std::string::npos);
  EXPECT_NE(first_warning(with_hinge().set_collision("world", "b", false)).find("exceptions"), std::string::npos);
  const Shape sphere{.name = "s", .geometry = Sphere{1}, .margin = 0.1};
  EXPECT_NE(first_warning(with_hinge().add_shape("b", sphere)).find("margin of shape 's'"), std::string::npos);
  Shape filtered = sphere;
  filtered.margin = 0;
  filtered.filter.mask = 2;
  EXPECT_NE(first_warning(with_hinge().add_shape("b", filtered)).find("filter of shape 's'"), std::string::npos);
  hinge.armature = 1;
  EXPECT_NE(first_warning(with_hinge()).find("armature of joint 'hinge'"), std::string::npos);
  EXPECT_NE(first_warning(ModelBuilder().add_body("world", body, ball("socket"))).find("\"spherical\""),
            std::string::npos);
  EXPECT_EQ(first_warning(ModelBuilder().add_body("world", body, weld())), "0 warnings");
}

TEST(WriteUrdf, RefusesAScrew) {
  const Body body{.name = "b", .inertia = SpatialInertia::sphere(1, 1)};
  const Model model = ModelBuilder().add_body("world", body, screw("lead", Vec3::UnitX(), 0.1)).build();
  expect_error([&] { write_urdf(model); }, "'lead'", "screw");
}

}  // namespace
}  // namespace lithe::test

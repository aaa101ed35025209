#include <gtest/gtest.h>

#include "tests/io/sdf_text.h"
#include "tests/support/error_text.h"

// Links with what is on them, worlds, and real files.
namespace lithe::test::sdf {
namespace {

const Shape& shape_of(const LoadedModel& loaded) { return loaded.model.shapes().at(0); }

TEST(SdfLink, ReadsTheInertiaAboutTheCentreOfMass) {
  // 2 kg at (1, 0, 0), moments (3, 4, 5) in axes that are turned by 90° about z: (4, 3, 5) in the link's. About the link's origin the
  // two across x gain m·1².
  const LoadedModel loaded = load_model(link_text(
      "a",
      "<inertial><mass>2</mass>" + pose_text("1 0 0 0 0 1.5707963267948966") +
          "<inertia><ixx>3</ixx><iyy>4</iyy><izz>5</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>"));
  const SpatialInertia& inertia = body_named(loaded, "a").inertia;
  EXPECT_EQ(inertia.mass, 2);
  EXPECT_LT((inertia.first_moment - Vec3(2, 0, 0)).norm(), kExact);
  EXPECT_LT((inertia.rotational - Mat3(Vec3(4, 5, 7).asDiagonal())).norm(), kExact);
}

TEST(SdfLink, WithoutAnInertialHasTheFormatsDefault) {
  const LoadedModel loaded = load_model(link_text("a") + link_text("b", "<inertial><mass>3</mass></inertial>"));
  EXPECT_EQ(body_named(loaded, "a").inertia.mass, 1);
  EXPECT_LT((body_named(loaded, "a").inertia.rotational - Mat3::Identity()).norm(), kExact);
  EXPECT_EQ(body_named(loaded, "b").inertia.mass, 3);
  EXPECT_LT((body_named(loaded, "b").inertia.rotational - Mat3::Identity()).norm(), kExact);
}

TEST(SdfLink, ReadsProductsOfInertiaAsMatrixEntries) {
  const LoadedModel loaded = load_model(link_text("a",
                                                  "<inertial><inertia><ixx>3</ixx><iyy>4</iyy><izz>5</izz><ixy>0.1</"
                                                  "ixy><ixz>0.2</ixz><iyz>0.3</iyz></inertia></inertial>"));
  const Mat3& I = body_named(loaded, "a").inertia.rotational;
  EXPECT_EQ(I(0, 1), 0.1);
  EXPECT_EQ(I(2, 0), 0.2);
  EXPECT_EQ(I(1, 2), 0.3);
}

TEST(SdfGeometry, HasHalfOfTheWrittenSizes) {
  const auto geometry = [](const std::string& text) {
    return shape_of(load_model(link_text("a", collision_text(text)))).geometry;
  };
  EXPECT_EQ(std::get<Box>(geometry("<box><size>1 2 3</size></box>")).half_size, Vec3(0.5, 1, 1.5));
  EXPECT_EQ(std::get<Sphere>(geometry("<sphere><radius>2</radius></sphere>")).radius, 2);
  EXPECT_EQ(std::get<Cylinder>(geometry("<cylinder><radius>2</radius><length>3</length></cylinder>")),
            (Cylinder{2, 1.5}));
  EXPECT_EQ(std::get<Capsule>(geometry("<capsule><radius>2</radius><length>3</length></capsule>")), (Capsule{2, 1.5}));
}

TEST(SdfGeometry, TurnsAPlaneToItsNormal) {
  const LoadedModel loaded = load_model(
      "<static>1</static>" + link_text("a", collision_text("<plane><normal>0 3 0</normal><size>1 1</size></plane>")));
  EXPECT_TRUE(std::holds_alternative<Plane>(shape_of(loaded).geometry));
  EXPECT_LT((shape_of(loaded).placement.R.col(2) - Vec3(0, 1, 0)).norm(), kExact);
  EXPECT_EQ(warnings_of(loaded, "sdf.plane"), 1);
}

TEST(SdfGeometry, MakesAnEllipsoidOfPointsOnIt) {
  const LoadedModel loaded = load_model(link_text("a", collision_text("<ellipsoid><radii>1 2 3</radii></ellipsoid>")));
  for (const Vec3& p : std::get<ConvexMesh>(shape_of(loaded).geometry).points) {
    EXPECT_NEAR(p.x() * p.x() + p.y() * p.y() / 4 + p.z() * p.z() / 9, 1, kExact);
  }
  EXPECT_EQ(warnings_of(loaded, "sdf.ellipsoid"), 1);
}

TEST(SdfGeometry, LeavesOutWhatItDoesNotHave) {
  for (const char* kind : {"heightmap", "image", "polyline"}) {
    const LoadedModel loaded = load_model(link_text("a", collision_text(std::string("<") + kind + "/>")));
    EXPECT_TRUE(loaded.model.shapes().empty());
    EXPECT_EQ(warnings_of(loaded, std::string("sdf.") + kind), 1) << kind;
  }
  EXPECT_TRUE(load_model(link_text("a", collision_text("<empty/>"))).warnings.empty());
}

TEST(SdfGeometry, ReadsAMeshWithItsScale) {
  const Folder folder("mesh");
  folder.write("t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const std::string mesh = "<mesh><uri>t.obj</uri><scale>2 3 -4</scale></mesh>";
  const std::string file =
      folder.write("m.sdf", around(in_model(link_text("a", collision_text(mesh) + "<visual name='v'><geometry>" + mesh +
                                                               "</geometry></visual>"))));
  const LoadedModel loaded = load(file);
  const auto& points = std::get<ConvexMesh>(shape_of(loaded).geometry).points;
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[1], Vec3(2, 0, 0));
  EXPECT_EQ(points[3], Vec3(0, 0, -4));
  const auto& seen = std::get<Visual::Mesh>(loaded.visuals.at(0).geometry);
  EXPECT_EQ(seen.scale, Vec3(2, 3, -4));
  EXPECT_EQ(seen.triangles->triangles.size(), 4u);
  EXPECT_EQ(seen.file, folder.at("t.obj"));
}

TEST(SdfVisual, AMeshThatIsNotThereIsAWarning) {
  const std::string mesh = "<geometry><mesh><uri>none.stl</uri></mesh></geometry>";
  const LoadedModel loaded =
      load_model(link_text("a", "<visual name='v'>" + mesh + "</visual><visual name='w'>" + mesh + "</visual>"));
  EXPECT_TRUE(loaded.visuals.empty());
  EXPECT_EQ(warnings_of(loaded, "visual.mesh"), 1);
  const LoadedModel collides = load_model(link_text("a", "<collision name='c'>" + mesh + "</collision>"));
  EXPECT_TRUE(collides.model.shapes().empty());
  EXPECT_EQ(warnings_of(collides, "mesh.missing"), 1);
}

TEST(SdfVisual, HasItsPlaceAndColour) {
  const std::string sphere = "<geometry><sphere><radius>1</radius></sphere></geometry>";
  const LoadedModel loaded = load_model(
      link_text("a", "<visual name='d'>" + sphere + pose_text("1 2 3 0 0 0") +
                         "<transparency>0.5</transparency><material><ambient>0 0 0 1</ambient><diffuse>0.1 0.2 0.3 "
                         "0.8</diffuse></material></visual>" +
                         "<visual name='b'>" + sphere + "<material><ambient>0.4 0.5 0.6</ambient></material></visual>" +
                         "<visual name='n'>" + sphere + "</visual>"));
  ASSERT_EQ(loaded.visuals.size(), 3u);
  EXPECT_EQ(loaded.visuals[0].name, "a::d");
  EXPECT_EQ(loaded.visuals[0].body, "a");
  EXPECT_LT((loaded.visuals[0].placement.p - Vec3(1, 2, 3)).norm(), kExact);
  EXPECT_LT((loaded.visuals[0].color - Vec4(0.1, 0.2, 0.3, 0.4)).norm(), kExact);
  EXPECT_LT((loaded.visuals[1].color - Vec4(0.4, 0.5, 0.6, 1)).norm(), kExact);
  EXPECT_LT((loaded.visuals[2].color - Vec4(0.7, 0.7, 0.7, 1)).norm(), kExact);
  LoadOptions options;
  options.visuals = false;
  EXPECT_TRUE(load_model(link_text("a", "<visual name='d'>" + sphere + "</visual>"), "1.9", options).visuals.empty());
}

TEST(SdfSurface, HasFrictionRestitutionAndMasks) {
  const LoadedModel loaded = load_model(
      link_text("a", collision_text("<sphere><radius>1</radius></sphere>",
                                    pose_text("1 2 3 0 0 0") +
                                        "<surface><friction><ode><mu>0.4</mu><mu2>0.4</mu2></ode></friction><bounce>"
                                        "<restitution_coefficient>0.25</restitution_coefficient></bounce><contact>"
                                        "<collide_bitmask>6</collide_bitmask></contact></surface>")));
  const Shape& shape = shape_of(loaded);
  EXPECT_EQ(shape.name, "a::c");
  EXPECT_LT((shape.placement.p - Vec3(1, 2, 3)).norm(), kExact);
  EXPECT_EQ(shape.material.friction, 0.4);
  EXPECT_EQ(shape.material.restitution, 0.25);
  EXPECT_EQ(shape.filter, (CollisionFilter{6, 6}));
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST(SdfSurface, HasTheFormatsDefaults) {
  const LoadedModel loaded = load_model(link_text("a", collision_text("<sphere><radius>1</radius></sphere>")));
  EXPECT_EQ(shape_of(loaded).material.friction, 1);
  EXPECT_EQ(shape_of(loaded).material.restitution, 0);
  EXPECT_EQ(shape_of(loaded).filter, (CollisionFilter{65535, 65535}));
}

// Pairs that the model forbids, as text "a-b".
std::string forbidden(const LoadedModel& loaded) {
  std::string pairs;
  for (const auto& pair : loaded.model.pair_exceptions()) {
    EXPECT_FALSE(pair.collide);
    pairs += loaded.model.bodies()[pair.a].name + "-" + loaded.model.bodies()[pair.b].name + " ";
  }
  return pairs;
}

TEST(SdfModel, CollidesWithItselfOnlyIfItSaysSo) {
  const auto link = [](const std::string& name, const std::string& more = "") {
    return link_text(name, collision_text("<sphere><radius>1</radius></sphere>") + more);
  };
  EXPECT_EQ(forbidden(load_model(link("a") + link("b") + link("c"))), "a-b a-c b-c ");
  EXPECT_EQ(forbidden(load_model("<self_collide>true</self_collide>" + link("a") + link("b"))), "");
  // One of the two suffices.
  const std::string says_so = link("c", "<self_collide>true</self_collide>");
  EXPECT_EQ(forbidden(load_model(link("a") + link("b") + says_so)), "a-b ");
  // Different models collide; a nested one belongs to the one around it.
  const std::string two = "<model name='r'>" + link("a") + "</model><model name='s'>" + link("a") + "</model>";
  EXPECT_EQ(forbidden(load_inside(in_world(two))), "");
  EXPECT_EQ(
      forbidden(load_inside("<model name='r'>" + link("a") + "<model name='n'>" + link("a") + "</model></model>")),
      "a-n::a ");
}

TEST(SdfWorld, HasGravityAndATimeStep) {
  const std::string model = "<model name='m'>" + link_text("a") + "</model>";
  const LoadedModel loaded = load_inside(
      in_world("<gravity>1 2 3</gravity><physics type='ode'><max_step_size>0.004</max_step_size></physics>" + model));
  EXPECT_EQ(loaded.model.gravity(), Vec3(1, 2, 3));
  EXPECT_EQ(loaded.time_step, 0.004);
  const LoadedModel old =
      load_inside(in_world("<physics type='ode'><gravity>0 0 -3</gravity></physics>" + model), "1.4");
  EXPECT_EQ(old.model.gravity(), Vec3(0, 0, -3));
  EXPECT_EQ(load_inside(in_world(model)).model.gravity(), Vec3(0, 0, -9.8));
}

TEST(SdfWarnings, NameEachKindOnceWithItsFirstLine) {
  const LoadedModel loaded = load_inside(in_world("<light name='l'/>\n<light name='k'/>\n<model name='m'>" +
                                                  link_text("a", "<sensor name='s'/><gravty>0</gravty>") + "</model>"));
  ASSERT_EQ(loaded.warnings.size(), 3u);
  EXPECT_EQ(warnings_of(loaded, "sdf.light"), 2);
  EXPECT_EQ(warnings_of(loaded, "sdf.sensor"), 1);
  EXPECT_EQ(warnings_of(loaded, "sdf.unknown.gravty"), 1);
  EXPECT_EQ(loaded.warnings[0].place.line, 3);
  LoadOptions strict;
  strict.strict = true;
  expect_error([&] { load_inside(in_world("<light name='l'/>" + in_model(link_text("a"))), "1.9", strict); },
               "robot.sdf:3", "<light>");
}

TEST(SdfWarnings, NameWhatALinkCannotHave) {
  const LoadedModel loaded =
      load_model(link_text("a",
                           "<gravity>0</gravity><kinematic>1</kinematic><velocity_decay><linear>0.1</linear>"
                           "</velocity_decay><inertial auto='true'/>"));
  EXPECT_EQ(warnings_of(loaded, "sdf.link_gravity"), 1);
  EXPECT_EQ(warnings_of(loaded, "sdf.link_kinematic"), 1);
  EXPECT_EQ(warnings_of(loaded, "sdf.link_velocity_decay"), 1);
  EXPECT_EQ(warnings_of(loaded, "sdf.auto_inertia"), 1);
  // What is at its default is harmless.
  const LoadedModel calm =
      load_model(link_text("a", "<gravity>1</gravity><velocity_decay><linear>0</linear></velocity_decay>"));
  EXPECT_TRUE(calm.warnings.empty());
}

TEST(SdfFiles, Load) {
  const auto models = models_folder();
  if (!models) GTEST_SKIP() << "set LITHE_MODELS to the folder of model files";
  const auto read = [&](const char* name) { return load((*models / "sdf" / name).string()); };
  // Pendulum: two links of 1 kg on revolute joints, and a ground.
  const LoadedModel pendulum = read("double_pendulum.world");
  EXPECT_EQ(pendulum.model.nv(), 2);
  EXPECT_EQ(pendulum.model.total_mass(), 2);
  const std::string upper = "double_pendulum_with_base::upper_link", lower = "double_pendulum_with_base::lower_link";
  EXPECT_LT((pose_of(pendulum, upper).p - Vec3(0, 0, 2.1)).norm(), kExact);
  EXPECT_LT((pose_of(pendulum, lower).p - Vec3(0.25, 1, 2.1)).norm(), kExact);
  EXPECT_LT((pose_of(pendulum, lower).R - rotation_about(Vec3::UnitX(), -2)).norm(), kExact);
  EXPECT_LT((axis_of(pendulum, "double_pendulum_with_base::lower_joint") - Vec3(1, 0, 0)).norm(), kExact);
  EXPECT_LT((body_named(pendulum, upper).inertia.first_moment - Vec3(0, 0, 0.5)).norm(), kExact);
  EXPECT_EQ(pendulum.model.gravity(), Vec3(0, 0, -9.81));

  const LoadedModel issue = read("issue1193_revolute_test.sdf");
  EXPECT_EQ(issue.model.nv(), 7);
  EXPECT_LT((pose_of(issue, "link1").p - Vec3(1, 1, 2)).norm(), kExact);
  EXPECT_LT((pose_of(issue, "link2").p - Vec3(1, 1, -2)).norm(), kExact);
  EXPECT_LT((joint_named(issue, "revJoint").placement.p - Vec3(0, 0, -4)).norm(), kExact);
  EXPECT_EQ(issue.model.gravity(), Vec3(0, 0, 0));

  // Three pendulum stands of 102 kg, each free with two joints; in two of them one joint follows the other.
  const LoadedModel mimic = read("mimic_fast_slow_pendulums_world.sdf");
  EXPECT_EQ(mimic.model.nv(), 3 * (6 + 2));
  EXPECT_EQ(mimic.model.total_mass(), 3 * 102);
  ASSERT_EQ(mimic.model.mimics().size(), 2u);
  const std::string follows = "pendulum_with_base_mimic_slow_follows_fast::";
  EXPECT_EQ(mimic.model.mimics()[0].joint, mimic.model.joint(follows + "slow_joint"));
  EXPECT_EQ(mimic.model.mimics()[0].source, mimic.model.joint(follows + "fast_joint"));
  EXPECT_EQ(mimic.model.mimics()[0].multiplier, 1);

  EXPECT_EQ(read("quad.sdf").model.nv(), 6 + 16);
  EXPECT_EQ(read("shapes.sdf").model.nv(), 6);
  // Free, then prismatic, revolute, screw and two revolutes.
  const LoadedModel joints = read("test_skeleton_joint.world");
  EXPECT_EQ(joints.model.nv(), 6 + 1 + 1 + 1 + 2);
  EXPECT_EQ(joint_named(joints, "joint_prismatic").upper, 3);
  EXPECT_EQ(joint_named(joints, "joint_revolute").stiffness, 3);
  EXPECT_LT((joint_named(joints, "joint_revolute2.2").axis - Vec3(1, 2, 3).normalized()).norm(), kExact);
}

TEST(SdfFiles, LoadAtlas) {
  const auto models = models_folder();
  if (!models) GTEST_SKIP() << "set LITHE_MODELS to the folder of model files";
  LoadOptions options;
  options.convex_pieces["utorso_pack.stl"] = {"utorso.stl"};  // the file names a mesh that is not in the folder
  const LoadedModel atlas = load((*models / "atlas/atlas_v3_no_head.sdf").string(), options);
  EXPECT_EQ(atlas.model.nv(), 33);
  EXPECT_EQ(atlas.model.shapes().size(), 29u);
  const LoadedModel without = load((*models / "atlas/atlas_v3_no_head.sdf").string());
  EXPECT_EQ(without.model.shapes().size(), 28u);
  EXPECT_NEAR(atlas.model.total_mass(), 146.55, 0.005);
  EXPECT_EQ(atlas.model.bodies().size(), 1u + 28);
  EXPECT_EQ(joint_named(atlas, "root.x").body, atlas.model.body("pelvis"));
  EXPECT_LT((pose_of(atlas, "r_foot").p - Vec3(0, -0.089, -0.846)).norm(), kExact);
  EXPECT_EQ(joint_named(atlas, "r_leg_akx").upper, 0.8);
  EXPECT_LT((axis_of(atlas, "r_leg_akx") - Vec3(1, 0, 0)).norm(), kExact);
}

}  // namespace
}  // namespace lithe::test::sdf

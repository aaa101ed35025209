#include <gtest/gtest.h>

#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "tests/io/mjcf_text.h"
#include "tests/io/scratch_folder.h"
#include "tests/support/constants.h"
#include "tests/support/error_text.h"

// What MJCF says of bodies, joints, geoms and sites, and how default classes and the compiler change it.
namespace lithe::test {
namespace {

Pose pose_at(const LoadedModel& loaded, const std::string& body, const VecX& q) {
  Kinematics kin;
  kinematics(loaded.model, q, kin);
  return body_pose(loaded.model, kin, loaded.model.body(body));
}

// The orientation of a body that is written like this, at rest.
Mat3 orientation(const std::string& attributes, const std::string& compiler = "") {
  const LoadedModel loaded =
      load_mjcf_text("<compiler " + compiler + "/><worldbody><body name=\"b\" " + attributes + "/></worldbody>");
  return pose_at(loaded, "b", loaded.q).R;
}

TEST(Mjcf, ReadsOptionsAndTheName) {
  const LoadedModel loaded =
      load_text("<mujoco model=\"arm\"><option timestep=\"0.01\" gravity=\"1 2 3\"/><worldbody/></mujoco>", "a.xml");
  EXPECT_EQ(loaded.name, "arm");
  EXPECT_EQ(loaded.time_step, 0.01);
  EXPECT_EQ(loaded.model.gravity(), Vec3(1, 2, 3));
  EXPECT_EQ(load_world("").time_step, 0.002) << "MuJoCo's default";
  EXPECT_TRUE(load_mjcf_text("<option><flag gravity=\"disable\"/></option><worldbody/>").model.gravity().isZero(0));
}

TEST(Mjcf, ReadsOrientationsInAllFiveWays) {
  const Mat3 quarter = rotation_about(Vec3::UnitZ(), kPi / 2);
  EXPECT_TRUE(orientation("quat=\"1 0 0 1\"").isApprox(quarter, 1e-15));
  EXPECT_TRUE(orientation("axisangle=\"0 0 2 90\"").isApprox(quarter, 1e-15));
  EXPECT_TRUE(orientation("xyaxes=\"0 2 0 -3 1 0\"").isApprox(quarter, 1e-15)) << "y is made perpendicular";
  EXPECT_TRUE(orientation("euler=\"0 0 90\"").isApprox(quarter, 1e-15));
  EXPECT_TRUE(orientation("zaxis=\"0 3 0\"").isApprox(rotation_about(Vec3::UnitX(), -kPi / 2), 1e-15));
  EXPECT_TRUE(orientation("zaxis=\"0 0 -1\"").isApprox(rotation_about(Vec3::UnitX(), kPi), 1e-15));
}

TEST(Mjcf, ReadsAnglesInDegreesUnlessTheCompilerSaysRadians) {
  const std::string world = "<worldbody>" +
                            heavy_body("b",
                                       "<joint name=\"h\" range=\"-90 45\"/><joint name=\"s\" type=\"slide\" "
                                       "axis=\"1 0 0\" range=\"-90 45\"/>") +
                            "</worldbody>";
  const LoadedModel degrees = load_mjcf_text(world);
  EXPECT_DOUBLE_EQ(joint_of(degrees, "h").lower, -kPi / 2);
  EXPECT_DOUBLE_EQ(joint_of(degrees, "h").upper, kPi / 4);
  EXPECT_EQ(joint_of(degrees, "s").lower, -90) << "metres";
  const LoadedModel radians = load_mjcf_text(world + "<compiler angle=\"radian\"/>");
  EXPECT_EQ(joint_of(radians, "h").lower, -90);
  EXPECT_EQ(joint_of(radians, "h").upper, 45);
}

TEST(Mjcf, TurnsByTheEulerSequence) {
  const auto turn = [](int axis, double degrees) { return rotation_about(Vec3::Unit(axis), degrees * kPi / 180); };
  const std::string angles = "euler=\"10 20 30\"";
  EXPECT_TRUE(orientation(angles).isApprox(turn(0, 10) * turn(1, 20) * turn(2, 30), 1e-15));
  EXPECT_TRUE(orientation(angles, "eulerseq=\"XYZ\"").isApprox(turn(2, 30) * turn(1, 20) * turn(0, 10), 1e-15));
  EXPECT_TRUE(orientation(angles, "eulerseq=\"zxz\"").isApprox(turn(2, 10) * turn(0, 20) * turn(2, 30), 1e-15));
}

TEST(Mjcf, TurnsAHingeAboutItsAnchor) {
  // About the point (1, 0, 0) of the body, which is 2 to the right of its parent: a quarter turn puts the origin below it.
  const LoadedModel loaded =
      load_world("<body name=\"b\" pos=\"2 0 0\"><joint axis=\"0 0 1\" pos=\"1 0 0\"/><geom size=\"1\"/></body>");
  const Pose X = pose_at(loaded, "b", VecX::Constant(1, kPi / 2));
  EXPECT_TRUE(X.p.isApprox(Vec3(3, -1, 0), 1e-15));
  EXPECT_TRUE(X.R.isApprox(rotation_about(Vec3::UnitZ(), kPi / 2), 1e-15));
  EXPECT_EQ(loaded.model.joints()[0].name, "b_joint");
}

TEST(Mjcf, MovesSeveralJointsOfABodyInTheirOrder) {
  // First the turn, then a slide along the axis that has turned with it.
  const LoadedModel loaded = load_world(
      "<body name=\"b\"><joint axis=\"0 0 1\"/><joint type=\"slide\" axis=\"1 0 0\"/><geom size=\"1\"/></body>");
  EXPECT_TRUE(pose_at(loaded, "b", Eigen::Vector2d(kPi / 2, 3)).p.isApprox(Vec3(0, 3, 0), 1e-15));
  EXPECT_EQ(loaded.model.joints()[1].name, "b_joint_2");
}

TEST(Mjcf, CountsPositionsFromTheFilesPose) {
  const LoadedModel loaded = load_mjcf_text(
      "<worldbody>" +
      heavy_body("b",
                 "<joint name=\"h\" axis=\"0 0 1\" ref=\"30\" range=\"-60 90\" springref=\"45\" stiffness=\"2\"/>"
                 "<joint name=\"s\" type=\"slide\" ref=\"0.5\" range=\"0 1\" springref=\"0.7\"/>") +
      "</worldbody><keyframe><key qpos=\"120 0.25\"/></keyframe>"
      "<actuator><position joint=\"s\" kp=\"3\" ctrlrange=\"0 2\"/></actuator>");
  EXPECT_TRUE(pose_at(loaded, "b", loaded.q).R.isIdentity(0)) << "the file's pose is where q = 0, whatever ref says";
  const Joint& hinge = joint_of(loaded, "h");
  EXPECT_NEAR(hinge.lower, -kPi / 2, 1e-15);
  EXPECT_NEAR(hinge.upper, kPi / 3, 1e-15);
  EXPECT_NEAR(hinge.rest, kPi / 12, 1e-15);
  const Joint& slide = joint_of(loaded, "s");
  EXPECT_DOUBLE_EQ(slide.lower, -0.5);
  EXPECT_DOUBLE_EQ(slide.upper, 0.5);
  EXPECT_NEAR(slide.rest, 0.2, 1e-15);
  ASSERT_EQ(loaded.keyframes.size(), 1u);
  EXPECT_NEAR(loaded.keyframes[0].q[0], 120 - kPi / 6, 1e-13) << "keyframes are in radians";
  EXPECT_DOUBLE_EQ(loaded.keyframes[0].q[1], -0.25);
  EXPECT_DOUBLE_EQ(loaded.actuators[0].lower, -0.5) << "a target, too, counts from the file's pose";
  EXPECT_DOUBLE_EQ(loaded.actuators[0].upper, 1.5);
}

TEST(Mjcf, PutsAFreeBodyWhereTheFileSays) {
  const LoadedModel loaded =
      load_world("<body name=\"b\" pos=\"1 2 3\" euler=\"0 0 90\"><freejoint name=\"f\"/><geom size=\"1\"/></body>");
  ASSERT_EQ(loaded.model.nq(), 7);
  EXPECT_EQ(loaded.model.joints()[3].name, "f.ball");
  VecX expected(7);
  expected << 1, 2, 3, 0, 0, std::sqrt(0.5), std::sqrt(0.5);
  EXPECT_TRUE(loaded.q.isApprox(expected, 1e-15)) << loaded.q.transpose();
  const Pose X = pose_at(loaded, "b", loaded.q);
  EXPECT_TRUE(X.p.isApprox(Vec3(1, 2, 3), 1e-15));
  EXPECT_TRUE(X.R.isApprox(rotation_about(Vec3::UnitZ(), kPi / 2), 1e-15));
}

TEST(Mjcf, ReadsWhatResistsAJoint) {
  const LoadedModel loaded = load_world(heavy_body(
      "b",
      "<joint name=\"j\" stiffness=\"1\" damping=\"2\" armature=\"3\" frictionloss=\"4\" actuatorfrcrange=\"-5 5\"/>"));
  const Joint& joint = joint_of(loaded, "j");
  EXPECT_EQ(joint.stiffness, 1);
  EXPECT_EQ(joint.damping, 2);
  EXPECT_EQ(joint.armature, 3);
  EXPECT_EQ(joint.dry_friction, 4);
  EXPECT_EQ(joint.effort_limit, 5);
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST(Mjcf, LimitsAJointOnlyWhereTheFileMeansIt) {
  const auto upper = [](const std::string& joint, const std::string& compiler = "") {
    const LoadedModel loaded = load_mjcf_text("<compiler angle=\"radian\" " + compiler + "/><worldbody>" +
                                              heavy_body("b", "<joint name=\"j\" " + joint + "/>") + "</worldbody>");
    return joint_of(loaded, "j").upper;
  };
  EXPECT_EQ(upper("range=\"-1 1\""), 1);
  EXPECT_EQ(upper("range=\"-1 1\" limited=\"false\""), Joint::kInfinity);
  EXPECT_EQ(upper("range=\"-1 1\"", "autolimits=\"false\""), Joint::kInfinity);
  EXPECT_EQ(upper("range=\"-1 1\" limited=\"true\"", "autolimits=\"false\""), 1);
  EXPECT_EQ(upper("range=\"0 0\""), Joint::kInfinity);
}

TEST(Mjcf, InheritsDefaultsThroughClasses) {
  const LoadedModel loaded = load_mjcf_text(R"(
    <default>
      <joint damping="1" armature="1" frictionloss="1"/>
      <default class="outer">
        <default class="inner"><joint armature="3"/></default>
        <joint damping="2"/>
      </default>
    </default>
    <worldbody>)" + heavy_body("plain", "<joint name=\"plain\"/>") +
                                            R"(<body name="b" childclass="outer"><geom size="1"/><joint name="child"/>
      <body name="c"><geom size="1"/><joint name="own" class="inner" frictionloss="4"/><body name="d"><geom size="1"/>
        <joint name="main" class="main"/></body></body></body></worldbody>)");
  const auto resistance = [&](const char* name) {
    const Joint& joint = joint_of(loaded, name);
    return Vec3(joint.damping, joint.armature, joint.dry_friction);
  };
  EXPECT_EQ(resistance("plain"), Vec3(1, 1, 1));
  EXPECT_EQ(resistance("child"), Vec3(2, 1, 1));
  EXPECT_EQ(resistance("own"), Vec3(2, 3, 4)) << "a class has its parent's settings, even those that follow it";
  EXPECT_EQ(resistance("main"), Vec3(1, 1, 1)) << "an element's own class goes over the childclass";
}

TEST(Mjcf, FillsAShortListFromTheClass) {
  const LoadedModel loaded = load_mjcf_text(R"(
    <default><geom type="box" size="1 2 3"/><default class="thin"><geom size="0.1"/></default></default>
    <worldbody><geom name="a" size="5"/><geom name="b" class="thin"/></worldbody>)");
  EXPECT_EQ(std::get<Box>(shape_of(loaded, "a").geometry).half_size, Vec3(5, 2, 3));
  EXPECT_EQ(std::get<Box>(shape_of(loaded, "b").geometry).half_size, Vec3(0.1, 2, 3));
}

TEST(Mjcf, ReadsEveryShape) {
  const LoadedModel loaded = load_mjcf_text(R"(
    <asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="2 1 1"/></asset>
    <worldbody>
      <geom name="plane" type="plane" size="0 0 1" pos="0 0 -1"/>
      <geom name="sphere" size="0.5"/>
      <geom name="capsule" type="capsule" size="0.1 0.2" friction="0.7" margin="0.01"/>
      <geom name="cylinder" type="cylinder" size="0.1 0.2"/>
      <geom name="box" type="box" size="1 2 3"/>
      <geom name="ellipsoid" type="ellipsoid" size="1 2 3"/>
      <geom name="mesh" type="mesh" mesh="m"/>
    </worldbody>)");
  EXPECT_TRUE(std::holds_alternative<Plane>(shape_of(loaded, "plane").geometry));
  EXPECT_EQ(shape_of(loaded, "plane").placement.p, Vec3(0, 0, -1));
  EXPECT_EQ(std::get<Sphere>(shape_of(loaded, "sphere").geometry), Sphere{0.5});
  EXPECT_EQ(std::get<Capsule>(shape_of(loaded, "capsule").geometry), (Capsule{0.1, 0.2}));
  EXPECT_EQ(shape_of(loaded, "capsule").material.friction, 0.7);
  EXPECT_EQ(shape_of(loaded, "capsule").margin, 0.01);
  EXPECT_EQ(std::get<Cylinder>(shape_of(loaded, "cylinder").geometry), (Cylinder{0.1, 0.2}));
  EXPECT_EQ(std::get<Box>(shape_of(loaded, "box").geometry).half_size, Vec3(1, 2, 3));
  EXPECT_EQ(warning_count(loaded, "mjcf.geom.ellipsoid"), 1);
  for (const Vec3& p : std::get<ConvexMesh>(shape_of(loaded, "ellipsoid").geometry).points) {
    EXPECT_NEAR(p.cwiseQuotient(Vec3(1, 2, 3)).norm(), 1, 1e-14);
  }
  EXPECT_EQ(std::get<ConvexMesh>(shape_of(loaded, "mesh").geometry).points[1], Vec3(2, 0, 0));
  EXPECT_EQ(loaded.visuals.size(), 7u) << "what collides is seen as well";
}

TEST(Mjcf, PutsACapsuleBetweenTwoPoints) {
  const LoadedModel loaded =
      load_world("<geom name=\"c\" type=\"capsule\" size=\"0.1\" fromto=\"1 2 3 1 6 3\" pos=\"9 9 9\"/>");
  const Shape& shape = shape_of(loaded, "c");
  EXPECT_EQ(std::get<Capsule>(shape.geometry), (Capsule{0.1, 2}));
  EXPECT_TRUE(shape.placement.p.isApprox(Vec3(1, 4, 3), 1e-15));
  EXPECT_NEAR(std::abs(shape.placement.R.col(2).y()), 1, 1e-15);
}

TEST(Mjcf, ShowsButDoesNotCollideWhatIsOnlyVisual) {
  const LoadedModel loaded = load_mjcf_text(R"(
    <asset><material name="red" rgba="1 0 0 0.5"/></asset>
    <worldbody>
      <geom name="seen" size="1" contype="0" conaffinity="0" material="red"/>
      <geom name="felt" size="1" group="3"/>
      <geom name="both" size="1" rgba="0 1 0 1" material="red"/>
    </worldbody>)");
  ASSERT_EQ(loaded.model.shapes().size(), 2u);
  EXPECT_EQ(loaded.model.shapes()[0].name, "felt");
  ASSERT_EQ(loaded.visuals.size(), 2u);
  EXPECT_EQ(loaded.visuals[0].name, "seen");
  EXPECT_EQ(loaded.visuals[0].color, Vec4(1, 0, 0, 0.5));
  EXPECT_EQ(loaded.visuals[1].color, Vec4(0, 1, 0, 1));
  LoadOptions options;
  options.visuals = false;
  EXPECT_TRUE(load_world("<geom size=\"1\"/>", options).visuals.empty());
}

TEST(Mjcf, MakesFramesOfSites) {
  const LoadedModel loaded = load_world(heavy_body("b",
                                                   "<site name=\"tip\" pos=\"1 2 3\" euler=\"0 0 90\"/><frame pos=\"1 "
                                                   "0 0\" euler=\"0 0 90\"><site pos=\"1 0 0\"/></frame>"));
  ASSERT_EQ(loaded.model.frames().size(), 2u);
  EXPECT_EQ(loaded.model.frames()[0].name, "tip");
  EXPECT_EQ(loaded.model.frames()[0].placement.p, Vec3(1, 2, 3));
  EXPECT_EQ(loaded.model.frames()[1].name, "b_site");
  EXPECT_TRUE(loaded.model.frames()[1].placement.p.isApprox(Vec3(1, 1, 0), 1e-15)) << "a frame moves what is in it";
}

TEST(Mjcf, GivesNamesToWhatHasNone) {
  const LoadedModel loaded = load_world(
      "<geom size=\"1\"/><geom size=\"1\"/><body><joint/><joint axis=\"1 0 0\"/><geom size=\"1\"/></body>"
      "<body name=\"body_2\"><geom size=\"1\"/></body><body><geom size=\"1\"/></body>");
  std::vector<std::string> bodies, shapes;
  for (const Body& body : loaded.model.bodies()) bodies.push_back(body.name);
  for (const Shape& shape : loaded.model.shapes()) shapes.push_back(shape.name);
  EXPECT_EQ(bodies, (std::vector<std::string>{"world", "body_1", "body_2", "body_3"}));
  EXPECT_EQ(shapes, (std::vector<std::string>{"world_sphere", "world_sphere_2", "body_1_sphere", "body_2_sphere",
                                              "body_3_sphere"}));
}

TEST(Mjcf, ReadsIncludedFilesRelativeToTheMainOne) {
  const ScratchFolder folder("lithe_mjcf_include");
  folder.write("parts/outer.xml", "<mujocoinclude>\n<include file=\"parts/inner.xml\"/>\n</mujocoinclude>");
  folder.write("parts/inner.xml", "<x>" + heavy_body("b", "<joint name=\"j\"/>") + "</x>");
  const std::string file =
      folder.write("main.xml", mjcf_around("<worldbody><include file=\"parts/outer.xml\"/></worldbody>"));
  const LoadedModel loaded = load(file);
  EXPECT_EQ(loaded.model.bodies().size(), 2u);
  EXPECT_EQ(loaded.files.size(), 3u);
}

TEST(Mjcf, FindsMeshesInItsFolder) {
  const ScratchFolder folder("lithe_mjcf_mesh");
  folder.write("assets/part.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const std::string world =
      "<worldbody><body><freejoint/><geom name=\"g\" type=\"mesh\" mesh=\"part\"/></body></worldbody>";
  const auto points = [&](const std::string& head) {
    const LoadedModel loaded = load(folder.write("main.xml", mjcf_around(head + world)));
    return std::get<ConvexMesh>(shape_of(loaded, "g").geometry).points;
  };
  EXPECT_EQ(points("<compiler meshdir=\"assets\"/><asset><mesh file=\"part.obj\"/></asset>").size(), 4u);
  EXPECT_EQ(
      points("<compiler assetdir=\"assets\" strippath=\"true\"/><asset><mesh file=\"a/b/part.obj\"/></asset>").size(),
      4u);
  // The reference frame is taken away, then the mesh is scaled: (1, 0, 0) − (0, 1, 0) → turned back by 90° about z → (−1, −1, 0).
  const std::vector<Vec3> moved = points(
      "<compiler meshdir=\"assets\"/><asset><mesh file=\"part.obj\" refpos=\"0 1 0\" refquat=\"1 0 0 1\" scale=\"2 3 "
      "4\"/></asset>");
  EXPECT_TRUE(moved[1].isApprox(Vec3(-2, -3, 0), 1e-14)) << moved[1].transpose();
}

TEST(Mjcf, WarnsOnceOfEachKindOfThingThatItDoesNotHonour) {
  const LoadedModel loaded = load_mjcf_text(R"(<option integrator="RK4" cone="elliptic" wind="1 0 0" density="1.2"/>
    <worldbody><geom size="1" solref="0.01 1" condim="4"/><geom size="1" solref="0.02 1" frction="0.3"/>
      <body name="b" gravcomp="1" mocap="true"><geom size="1"/></body><camera name="c"/><light/><thing/></worldbody>
    <sensor><clock/></sensor><tendon><spatial/></tendon><nonsense/><visual/><statistic/><size njmax="3"/>)");
  for (const char* kind : {"mjcf.option.integrator", "mjcf.option.cone", "mjcf.option.wind", "mjcf.option.density",
                           "mjcf.geom.condim", "mjcf.unknown.geom.frction", "mjcf.body.gravcomp", "mjcf.body.mocap",
                           "mjcf.unknown.thing", "mjcf.sensor", "mjcf.tendon", "mjcf.unknown.nonsense"}) {
    EXPECT_EQ(warning_count(loaded, kind), 1) << kind;
  }
  EXPECT_EQ(warning_count(loaded, "mjcf.geom.solref"), 2);
  EXPECT_EQ(loaded.warnings.size(), 13u) << "and of nothing else";
  LoadOptions strict;
  strict.strict = true;
  expect_error([&] { load_world("<geom size=\"1\"\nsolref=\"0.01 1\"/>", strict); }, "robot.xml:2: error:", "solref");
}

}  // namespace
}  // namespace lithe::test

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <cmath>

#include "lithe/dynamics/mass_matrix.h"
#include "lithe/model/configuration.h"
#include "tests/io/urdf_text.h"
#include "tests/support/plain_dynamics.h"

// What a URDF says is what the model has: values by hand.
namespace lithe::test {
namespace {

using Eigen::AngleAxisd;

// Roll about x, then pitch about y, then yaw about z, all fixed.
Mat3 rpy(double roll, double pitch, double yaw) {
  return (AngleAxisd(yaw, Vec3::UnitZ()) * AngleAxisd(pitch, Vec3::UnitY()) * AngleAxisd(roll, Vec3::UnitX())).matrix();
}

constexpr const char* kOrigin = "<origin xyz=\"1 2 3\" rpy=\"0.1 0.2 0.3\"/>";
Pose origin() { return {rpy(0.1, 0.2, 0.3), Vec3(1, 2, 3)}; }

Pose pose_of(const LoadedModel& loaded, const std::string& body, const VecX& q) {
  return plain_kinematics(loaded.model, q).X_WB[loaded.model.body(body)];
}

void expect_pose(const Pose& actual, const Pose& expected) {
  EXPECT_LT((actual.R - expected.R).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((actual.p - expected.p).cwiseAbs().maxCoeff(), 1e-14);
}

VecX vec(std::initializer_list<double> numbers) {
  return Eigen::Map<const VecX>(numbers.begin(), static_cast<Eigen::Index>(numbers.size()));
}

// An arm that turns in the horizontal plane. The inertial frames are turned so that of the first link's moments iyy is the one about
// z, and of the second link's ixx; the second joint's frame is turned by a right angle, so the angle between the links is q₂ + π/2.
constexpr const char* kArm = R"(
  <link name="world"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.5 0 0" rpy="1.5707963267948966 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/>
    </inertial>
  </link>
  <link name="fore">
    <inertial>
      <origin xyz="0.25 0 0" rpy="0 1.5707963267948966 0"/>
      <mass value="3"/>
      <inertia ixx="0.3" ixy="0" ixz="0" iyy="0.35" iyz="0" izz="0.4"/>
    </inertial>
  </link>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="fore"/>
    <origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>
    <axis xyz="0 0 1"/>
  </joint>
  <joint name="shoulder" type="revolute">
    <parent link="world"/><child link="upper"/>
    <origin xyz="0 0 0.5"/>
    <axis xyz="0 0 2"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/>
    <dynamics damping="0.5" friction="0.25"/>
  </joint>)";

TEST(Urdf, GivesTheTextbookMassMatrixOfATwoLinkArm) {
  const LoadedModel arm = load_urdf_text(kArm);
  ASSERT_EQ(arm.model.nv(), 2);
  for (const double q2 : {0.0, 0.4, -2.0}) {
    const double cosine = -std::sin(q2);  // of q₂ + π/2
    const double m22 = 0.3 + 3 * 0.0625;
    const double m12 = m22 + 3 * 0.25 * cosine;
    const double m11 = 0.2 + 2 * 0.25 + m22 + 3 + 2 * 3 * 0.25 * cosine;
    const MatX M = mass_matrix(arm.model, vec({0.7, q2}));
    EXPECT_NEAR(M(0, 0), m11, 1e-14);
    EXPECT_NEAR(M(0, 1), m12, 1e-14);
    EXPECT_NEAR(M(1, 1), m22, 1e-14);
  }
}

TEST(Urdf, ReadsInertiaAboutTheCentreOfMass) {
  const LoadedModel arm = load_urdf_text(kArm);
  const Body& upper = arm.model.bodies()[arm.model.body("upper")];
  EXPECT_EQ(upper.inertia.mass, 2);
  EXPECT_LT((upper.inertia.centre() - Vec3(0.5, 0, 0)).norm(), 1e-15);
  // Turned by a right angle about x: y and z change places.
  EXPECT_LT((upper.inertia.about_centre() - Mat3(Vec3(0.1, 0.25, 0.2).asDiagonal())).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(Urdf, KeepsOffDiagonalMoments) {
  const LoadedModel loaded = load_urdf_text(
      "<link name=\"b\"><inertial><mass value=\"2\"/>"
      "<inertia ixx=\"3\" ixy=\"0.1\" ixz=\"0.2\" iyy=\"4\" iyz=\"0.3\" izz=\"5\"/></inertial></link>");
  Mat3 I;
  I << 3, 0.1, 0.2, 0.1, 4, 0.3, 0.2, 0.3, 5;
  EXPECT_EQ(loaded.model.bodies()[1].inertia.rotational, I);
}

TEST(Urdf, ReadsLimitsAndDynamics) {
  const LoadedModel arm = load_urdf_text(kArm);
  const Joint& shoulder = arm.model.joints()[arm.model.joint("shoulder")];
  EXPECT_EQ(shoulder.axis, Vec3::UnitZ());
  EXPECT_EQ(shoulder.lower, -1);
  EXPECT_EQ(shoulder.upper, 2);
  EXPECT_EQ(shoulder.effort_limit, 30);
  EXPECT_EQ(shoulder.velocity_limit, 4);
  EXPECT_EQ(shoulder.damping, 0.5);
  EXPECT_EQ(shoulder.dry_friction, 0.25);
  const Joint& elbow = arm.model.joints()[arm.model.joint("elbow")];
  EXPECT_EQ(elbow.lower, -Joint::kInfinity);
  EXPECT_EQ(elbow.upper, Joint::kInfinity);
  EXPECT_TRUE(arm.warnings.empty());
}

TEST(Urdf, IgnoresPositionLimitsOfAContinuousJoint) {
  const LoadedModel loaded =
      load_urdf_text(on_world("continuous", "<limit lower=\"-1\" upper=\"1\" effort=\"5\" velocity=\"6\"/>"));
  const Joint& joint = loaded.model.joints()[0];
  EXPECT_EQ(joint.upper, Joint::kInfinity);
  EXPECT_EQ(joint.effort_limit, 5);
  EXPECT_EQ(joint.velocity_limit, 6);
}

TEST(Urdf, TakesAMissingLowerOrUpperLimitAsZero) {
  const Joint upper_only = load_urdf_text(on_world("prismatic", "<limit upper=\"0.5\"/>")).model.joints()[0];
  EXPECT_EQ(upper_only.lower, 0);
  EXPECT_EQ(upper_only.upper, 0.5);
  EXPECT_EQ(upper_only.effort_limit, Joint::kInfinity);
  const LoadedModel neither = load_urdf_text(on_world("revolute", "<limit effort=\"1\" velocity=\"1\"/>"));
  EXPECT_EQ(neither.model.joints()[0].lower, -Joint::kInfinity);
  EXPECT_EQ(warning_count(neither, "urdf.no_limit"), 1);
}

TEST(Urdf, TakesAHugeLimitAsNone) {
  const Joint joint =
      load_urdf_text(on_world("revolute", "<limit lower=\"-1e16\" upper=\"1e308\" effort=\"1e20\" velocity=\"1e12\"/>"))
          .model.joints()[0];
  EXPECT_EQ(joint.lower, -Joint::kInfinity);
  EXPECT_EQ(joint.upper, Joint::kInfinity);
  EXPECT_EQ(joint.effort_limit, Joint::kInfinity);
  EXPECT_EQ(joint.velocity_limit, Joint::kInfinity);
}

TEST(Urdf, KeepsAnEffortLimitOfZeroAndSaysSo) {
  const LoadedModel loaded =
      load_urdf_text(on_world("revolute", "<limit lower=\"-1\" upper=\"1\" effort=\"0\" velocity=\"0\"/>"));
  EXPECT_EQ(loaded.model.joints()[0].effort_limit, 0);
  EXPECT_EQ(loaded.model.joints()[0].velocity_limit, 0);
  EXPECT_EQ(warning_count(loaded, "urdf.zero_limit"), 1);
}

TEST(Urdf, TurnsAboutTheAxisInTheJointsFrame) {
  const LoadedModel loaded = load_urdf_text(on_world("continuous", std::string(kOrigin) + "<axis xyz=\"0 3 4\"/>"));
  const Mat3 turn = AngleAxisd(0.8, Vec3(0, 0.6, 0.8)).matrix();
  expect_pose(pose_of(loaded, "b", vec({0.8})), origin() * Pose::rotation(turn));
}

TEST(Urdf, TurnsAboutXWithoutAnAxis) {
  const LoadedModel loaded = load_urdf_text(on_world("continuous"));
  expect_pose(pose_of(loaded, "b", vec({0.8})), Pose::rotation(AngleAxisd(0.8, Vec3::UnitX()).matrix()));
}

TEST(Urdf, SlidesAlongTheAxisInTheJointsFrame) {
  const LoadedModel loaded = load_urdf_text(
      on_world("prismatic", std::string(kOrigin) + "<axis xyz=\"0 3 4\"/><limit lower=\"-1\" upper=\"1\"/>"));
  expect_pose(pose_of(loaded, "b", vec({0.5})), origin() * Pose::translation(0, 0.3, 0.4));
}

TEST(Urdf, WeldsAFixedJoint) {
  const LoadedModel loaded = load_urdf_text(on_world("fixed", kOrigin));
  EXPECT_EQ(loaded.model.nv(), 0);
  expect_pose(pose_of(loaded, "b", VecX(0)), origin());
}

TEST(Urdf, MakesAFloatingJointFree) {
  const LoadedModel loaded = load_urdf_text(on_world("floating", kOrigin));
  ASSERT_EQ(loaded.model.nq(), 7);
  EXPECT_EQ(loaded.model.joints()[0].name, "j.x");
  EXPECT_EQ(loaded.model.joints()[3].name, "j.ball");
  const Vec3 axis = Vec3(1, 2, 2) / 3;
  VecX q = vec({0.1, 0.2, 0.3, 0, 0, 0, std::cos(0.35)});
  q.segment<3>(3) = std::sin(0.35) * axis;
  expect_pose(pose_of(loaded, "b", q), origin() * Pose{AngleAxisd(0.7, axis).matrix(), Vec3(0.1, 0.2, 0.3)});
}

TEST(Urdf, MakesABallOfASphericalJoint) {
  for (const char* type : {"ball", "spherical"}) {
    const LoadedModel loaded = load_urdf_text(on_world(type, std::string(kOrigin) + "<dynamics damping=\"2\"/>"));
    ASSERT_EQ(loaded.model.nq(), 4);
    EXPECT_EQ(loaded.model.joints()[0].damping, 2);
    const VecX q = vec({0, std::sin(0.35), 0, std::cos(0.35)});
    expect_pose(pose_of(loaded, "b", q), origin() * Pose::rotation(AngleAxisd(0.7, Vec3::UnitY()).matrix()));
  }
}

TEST(Urdf, MovesAPlanarJointInXAndYForTheAxisZ) {
  const LoadedModel loaded = load_urdf_text(on_world("planar", std::string(kOrigin) + "<axis xyz=\"0 0 1\"/>"));
  ASSERT_EQ(loaded.model.nv(), 3);
  const Pose moved{AngleAxisd(0.7, Vec3::UnitZ()).matrix(), Vec3(0.1, 0.2, 0)};
  expect_pose(pose_of(loaded, "b", vec({0.1, 0.2, 0.7})), origin() * moved);
}

TEST(Urdf, MovesAPlanarJointAcrossAnyAxisAndTurnsAboutIt) {
  const Vec3 axis = Vec3(2, -1, 2) / 3;
  const LoadedModel loaded = load_urdf_text(on_world("planar", std::string(kOrigin) + "<axis xyz=\"2 -1 2\"/>"));
  const Pose moved = origin().inverse() * pose_of(loaded, "b", vec({0.3, 0.4, 0.7}));
  EXPECT_NEAR(moved.p.dot(axis), 0, 1e-15);
  EXPECT_NEAR(moved.p.norm(), 0.5, 1e-15);  // x and y are at right angles
  EXPECT_LT((moved.R - AngleAxisd(0.7, axis).matrix()).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(Urdf, ReadsAnOriginsQuaternion) {
  const LoadedModel loaded = load_urdf_text(on_world("fixed", "<origin quat_xyzw=\"0 0 0.6 0.8\"/>"));
  const double angle = 2 * std::atan2(0.6, 0.8);
  expect_pose(pose_of(loaded, "b", VecX(0)), Pose::rotation(AngleAxisd(angle, Vec3::UnitZ()).matrix()));
}

TEST(Urdf, ReadsMimics) {
  const LoadedModel loaded = load_urdf_text(
      "<link name=\"world\"/>" + heavy_link("a") + heavy_link("b") +
      joint_text("follower", "continuous", "a", "b", "<mimic joint=\"leader\" multiplier=\"-2\" offset=\"0.5\"/>") +
      joint_text("leader", "continuous", "world", "a"));
  ASSERT_EQ(loaded.model.mimics().size(), 1u);
  const Mimic& mimic = loaded.model.mimics()[0];
  EXPECT_EQ(loaded.model.joints()[mimic.joint].name, "follower");
  EXPECT_EQ(loaded.model.joints()[mimic.source].name, "leader");
  EXPECT_EQ(mimic.multiplier, -2);
  EXPECT_EQ(mimic.offset, 0.5);
}

TEST(Urdf, HoldsARootCalledWorldAndARootWithoutMass) {
  const LoadedModel world = load_urdf_text(on_world("fixed") + "");
  EXPECT_EQ(world.model.bodies().size(), 2u);  // the world and b
  EXPECT_EQ(world.model.bodies()[1].parent, Model::world());

  const LoadedModel massless =
      load_urdf_text("<link name=\"base\"/>" + heavy_link("b") + joint_text("j", "continuous", "base", "b"));
  EXPECT_EQ(massless.model.nv(), 1);
  EXPECT_TRUE(massless.model.bodies()[massless.model.body("base")].joints.empty());
}

TEST(Urdf, PutsWhatIsOnTheLinkWorldOnTheWorld) {
  const LoadedModel loaded = load_urdf_text(
      "<link name=\"world\"><collision name=\"floor\"><geometry><box size=\"9 9 1\"/></geometry></collision>"
      "<visual><geometry><sphere radius=\"1\"/></geometry></visual></link>" +
      heavy_link("b") + joint_text("j", "floating", "world", "b"));
  ASSERT_EQ(loaded.model.shapes().size(), 1u);
  EXPECT_EQ(loaded.model.shapes()[0].body, Model::world());
  ASSERT_EQ(loaded.visuals.size(), 1u);
  EXPECT_EQ(loaded.visuals[0].body, "world");
}

TEST(Urdf, LetsAnyOtherRootFloat) {
  const LoadedModel loaded = load_urdf_text(heavy_link("base"));
  ASSERT_EQ(loaded.model.nv(), 6);
  EXPECT_EQ(loaded.model.joints()[0].name, "root.x");
}

TEST(Urdf, GivesTheRootsJointANameThatIsFree) {
  const LoadedModel loaded = load_urdf_text(heavy_link("base") + heavy_link("b") + heavy_link("c") +
                                            joint_text("root", "continuous", "base", "b") +
                                            joint_text("root_2.ball", "continuous", "base", "c"));
  EXPECT_EQ(loaded.model.joints()[0].name, "root_3.x");
}

TEST(Urdf, HoldsOrFreesTheRootAsTheOptionsSay) {
  LoadOptions fixed, floating;
  fixed.base = LoadOptions::Base::fixed;
  floating.base = LoadOptions::Base::floating;
  EXPECT_EQ(load_urdf_text(heavy_link("base"), fixed).model.nv(), 0);
  const std::string massless = "<link name=\"base\"/>" + heavy_link("b") + joint_text("j", "fixed", "base", "b");
  EXPECT_EQ(load_urdf_text(massless).model.nv(), 0);
  EXPECT_EQ(load_urdf_text(massless, floating).model.nv(), 6);
  // The file itself attaches what hangs on "world".
  EXPECT_EQ(load_urdf_text(on_world("continuous"), floating).model.nv(), 1);
}

TEST(Urdf, ReadsEveryShapeWithItsNameAndPlace) {
  const LoadedModel loaded = load_urdf_text(
      heavy_link("b",
                 "<collision name=\"crate\"><origin xyz=\"1 2 3\" rpy=\"0.1 0.2 0.3\"/><geometry><box size=\"1 2 "
                 "4\"/></geometry></collision>"
                 "<collision><geometry><sphere radius=\"0.5\"/></geometry></collision>"
                 "<collision><geometry><cylinder radius=\"0.5\" length=\"3\"/></geometry></collision>"
                 "<collision name=\"crate\"><geometry><capsule radius=\"0.25\" length=\"5\"/></geometry></collision>"));
  const std::vector<Shape>& shapes = loaded.model.shapes();
  ASSERT_EQ(shapes.size(), 4u);
  EXPECT_EQ(shapes[0].geometry, Geometry(Box{Vec3(0.5, 1, 2)}));
  EXPECT_EQ(shapes[1].geometry, Geometry(Sphere{0.5}));
  EXPECT_EQ(shapes[2].geometry, Geometry(Cylinder{0.5, 1.5}));
  EXPECT_EQ(shapes[3].geometry, Geometry(Capsule{0.25, 2.5}));
  expect_pose(shapes[0].placement, origin());
  EXPECT_EQ(shapes[0].name, "crate");
  EXPECT_EQ(shapes[1].name, "b_collision");
  EXPECT_EQ(shapes[2].name, "b_collision_2");
  EXPECT_EQ(shapes[3].name, "crate_2");
}

TEST(Urdf, ColoursVisualsByTheirOwnOrANamedMaterial) {
  const std::string sphere = "<geometry><sphere radius=\"1\"/></geometry>";
  const LoadedModel loaded = load_urdf_text(
      "<material name=\"rust\"><color rgba=\"0.5 0.25 0 1\"/></material>" +
      heavy_link("b", "<visual>" + sphere + "<material name=\"rust\"/></visual>" + "<visual name=\"own\">" + sphere +
                          "<material name=\"\"><color rgba=\"0 1 0 0.5\"/></material></visual>" + "<visual>" + sphere +
                          "<material name=\"later\"/></visual>" + "<visual>" + sphere +
                          "<material name=\"later\"><color rgba=\"1 0 1 1\"/></material></visual>" + "<visual>" +
                          sphere + "<material name=\"nowhere\"/></visual><visual>" + sphere + "</visual>"));
  ASSERT_EQ(loaded.visuals.size(), 6u);
  EXPECT_EQ(loaded.visuals[0].color, Vec4(0.5, 0.25, 0, 1));
  EXPECT_EQ(loaded.visuals[1].color, Vec4(0, 1, 0, 0.5));
  EXPECT_EQ(loaded.visuals[1].name, "own");
  EXPECT_EQ(loaded.visuals[2].color, Vec4(1, 0, 1, 1));
  EXPECT_EQ(loaded.visuals[4].color, Visual{}.color);
  EXPECT_EQ(loaded.visuals[5].color, Visual{}.color);
  EXPECT_EQ(warning_count(loaded, "urdf.material"), 1);
}

TEST(Urdf, ReadsNoVisualsIfNoneAreWanted) {
  LoadOptions options;
  options.visuals = false;
  const std::string visual = "<visual><geometry><mesh filename=\"not_there.stl\"/></geometry></visual>";
  const LoadedModel loaded = load_urdf_text(heavy_link("b", visual), options);
  EXPECT_TRUE(loaded.visuals.empty());
  EXPECT_TRUE(loaded.warnings.empty());
}

constexpr const char* kBall = "<collision><geometry><sphere radius=\"1\"/></geometry></collision>";

TEST(Urdf, TakesFrictionFromGazebo) {
  const auto friction = [&](const std::string& gazebo) {
    return load_urdf_text(heavy_link("b", kBall) + "<gazebo reference=\"b\">" + gazebo + "</gazebo>");
  };
  EXPECT_EQ(friction("<mu1>0.5</mu1><mu2>0.5</mu2>").model.shapes()[0].material.friction, 0.5);
  EXPECT_EQ(friction("<mu1 value=\"0.25\"/>").model.shapes()[0].material.friction, 0.25);
  EXPECT_EQ(friction("<mu>2</mu>").model.shapes()[0].material.friction, 2);
  const LoadedModel uneven = friction("<mu1>0.5</mu1><mu2>1.5</mu2>");
  EXPECT_EQ(uneven.model.shapes()[0].material.friction, 1);
  EXPECT_EQ(warning_count(uneven, "urdf.gazebo.mu"), 1);
  EXPECT_EQ(friction("").model.shapes()[0].material.friction, 1);
}

TEST(Urdf, TakesFrictionAndRestitutionFromContact) {
  const LoadedModel loaded = load_urdf_text(
      heavy_link("b", std::string("<contact><lateral_friction value=\"0.5\"/><restitution value=\"0.25\"/>"
                                  "<rolling_friction value=\"1\"/></contact>") +
                          kBall));
  EXPECT_EQ(loaded.model.shapes()[0].material.friction, 0.5);
  EXPECT_EQ(loaded.model.shapes()[0].material.restitution, 0.25);
  EXPECT_EQ(warning_count(loaded, "urdf.contact.rolling_friction"), 1);
}

TEST(Urdf, TakesSpringsFromGazebo) {
  const LoadedModel loaded = load_urdf_text(
      on_world("continuous") +
      "<gazebo reference=\"j\"><implicitSpringDamper>true</implicitSpringDamper><springStiffness>7</springStiffness>"
      "<springReference>0.5</springReference><stopCfm>0</stopCfm><stopErp>0.2</stopErp></gazebo>");
  EXPECT_EQ(loaded.model.joints()[0].stiffness, 7);
  EXPECT_EQ(loaded.model.joints()[0].rest, 0.5);
  EXPECT_EQ(warning_count(loaded, "urdf.gazebo.stop"), 2);
}

TEST(Urdf, KeepsLinksApartThatGazeboDoesNotLetCollide) {
  const LoadedModel loaded = load_urdf_text(
      heavy_link("a", kBall) + heavy_link("b", kBall) + heavy_link("c") + joint_text("j", "continuous", "a", "b") +
      joint_text("k", "continuous", "b", "c") + "<gazebo reference=\"a\"><selfCollide>false</selfCollide></gazebo>");
  ASSERT_EQ(loaded.model.pair_exceptions().size(), 1u);
  EXPECT_FALSE(loaded.model.pair_exceptions()[0].collide);
  EXPECT_EQ(loaded.model.bodies()[loaded.model.pair_exceptions()[0].b].name, "b");
}

TEST(Urdf, PaintsUncolouredVisualsInGazebosColour) {
  const std::string sphere = "<visual><geometry><sphere radius=\"1\"/></geometry>";
  const LoadedModel loaded =
      load_urdf_text(heavy_link("b", sphere + "</visual>" + sphere +
                                         "<material name=\"m\"><color rgba=\"0 0 1 1\"/></material></visual>") +
                     "<gazebo reference=\"b\"><material>Gazebo/Red</material></gazebo>");
  EXPECT_EQ(loaded.visuals[0].color, Vec4(1, 0, 0, 1));
  EXPECT_EQ(loaded.visuals[1].color, Vec4(0, 0, 1, 1));
}

TEST(Urdf, MakesAnActuatorOfATransmission) {
  const LoadedModel loaded = load_urdf_text(
      on_world("continuous", "<limit effort=\"5\" velocity=\"1\"/>") +
      "<transmission name=\"t\"><type>transmission_interface/SimpleTransmission</type>"
      "<joint name=\"j\"><hardwareInterface>hardware_interface/EffortJointInterface</hardwareInterface></joint>"
      "<actuator name=\"motor\"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>"
      "<transmission name=\"u\"><joint name=\"nobody\"/></transmission>");
  ASSERT_EQ(loaded.actuators.size(), 1u);
  EXPECT_EQ(loaded.actuators[0].name, "motor");
  EXPECT_EQ(loaded.actuators[0].joint, "j");
  EXPECT_EQ(loaded.actuators[0].kind, Actuator::Kind::effort);
  EXPECT_EQ(loaded.actuators[0].upper, 5);
  EXPECT_EQ(loaded.actuators[0].lower, -5);
  EXPECT_EQ(warning_count(loaded, "urdf.transmission.reduction"), 1);
  EXPECT_EQ(warning_count(loaded, "urdf.transmission.joint"), 1);
}

// Everything that is said and not used, with the kind of its warning.
TEST(Urdf, WarnsOfWhatItDoesNotUse) {
  const std::string joint = on_world("continuous");
  const struct {
    const char* kind;
    std::string inside;
  } cases[] = {
      {"urdf.safety_controller", on_world("continuous", "<safety_controller k_velocity=\"1\"/>")},
      {"urdf.calibration", on_world("continuous", "<calibration rising=\"0\"/>")},
      {"urdf.floating.limit", on_world("floating", "<limit effort=\"1\" velocity=\"1\"/>")},
      {"urdf.planar.dynamics", on_world("planar", "<dynamics damping=\"1\"/>")},
      {"urdf.fixed.mimic", on_world("fixed", "<mimic joint=\"j\"/>")},
      {"urdf.no_limit", on_world("revolute")},
      {"urdf.locked", on_world("revolute", "<limit lower=\"0\" upper=\"0\"/>")},
      {"urdf.second.axis", on_world("continuous", "<axis xyz=\"0 0 1\"/><axis xyz=\"0 1 0\"/>")},
      {"urdf.second.inertial", "<link name=\"a\">" + std::string(kUnitInertial) + kUnitInertial + "</link>"},
      {"urdf.unknown.orign", on_world("continuous", "<orign xyz=\"0 0 1\"/>")},
      {"urdf.unknown.limit.uper", on_world("revolute", "<limit lower=\"-1\" uper=\"1\"/>")},
      {"urdf.unknown.frobnicate", joint + "<frobnicate/>"},
      {"urdf.unknown.drake:proximity_properties", heavy_link("a", "<drake:proximity_properties/>")},
      {"urdf.unknown.drake:acceleration", on_world("continuous", "<drake:acceleration value=\"1\"/>")},
      {"urdf.ros2_control", joint + "<ros2_control/>"},
      {"urdf.gazebo.plugin", joint + "<gazebo><plugin/></gazebo>"},
      {"urdf.gazebo.sensor", joint + "<gazebo reference=\"b\"><sensor/></gazebo>"},
      {"urdf.gazebo.contact", joint + "<gazebo reference=\"b\"><kp>1e6</kp></gazebo>"},
      {"urdf.gazebo.gravity", joint + "<gazebo reference=\"b\"><turnGravityOff>true</turnGravityOff></gazebo>"},
      {"urdf.gazebo.gravity", joint + "<gazebo reference=\"b\"><gravity>false</gravity></gazebo>"},
      {"urdf.gazebo.reference", joint + "<gazebo reference=\"nobody\"/>"},
      {"urdf.unknown.gazebo.static", joint + "<gazebo><static>true</static></gazebo>"},
      {"urdf.transmission.interface",
       joint +
           "<transmission name=\"t\"><joint name=\"j\"><hardwareInterface>PositionJointInterface</hardwareInterface>"
           "</joint></transmission>"},
      {"urdf.texture", "<material name=\"m\"><texture filename=\"a.png\"/></material>" + joint},
      {"urdf.rgba", "<material name=\"m\"><color rgba=\"255 0 0 1\"/></material>" + joint},
      {"urdf.second.geometry",
       heavy_link("a", "<collision><geometry><sphere radius=\"1\"/><sphere radius=\"2\"/></geometry></collision>")},
      {"urdf.empty_mesh", heavy_link("a", "<visual><geometry><mesh filename=\"\"/></geometry></visual>")},
      {"visual.mesh", heavy_link("a", "<visual><geometry><mesh filename=\"not_there.stl\"/></geometry></visual>")},
      {"inertia.unphysical",
       "<link name=\"a\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"3\"/></inertial></link>"},
      {"urdf.world_inertia", "<link name=\"world\">" + std::string(kUnitInertial) + "</link>" + heavy_link("b") +
                                 joint_text("j", "continuous", "world", "b")},
  };
  for (const auto& [kind, inside] : cases) {
    const LoadedModel loaded = load_urdf_text(inside);
    EXPECT_EQ(warning_count(loaded, kind), 1) << kind;
    EXPECT_EQ(loaded.warnings.size(), 1u) << kind << ": " << to_string(loaded.warnings.back());
    for (const LoadWarning& warning : loaded.warnings) EXPECT_GE(warning.place.line, 2) << kind;
    LoadOptions strict;
    strict.strict = true;
    EXPECT_THROW(load_urdf_text(inside, strict), LoadError) << kind;
  }
}

TEST(Urdf, TakesThePointMassesOfRoundingForWhatTheyAre) {
  const auto link = [](const std::string& ixz) {
    return "<link name=\"a\"><inertial><mass value=\"1.3\"/><origin xyz=\"0 -0.1 0\"/>"
           "<inertia ixx=\"0\" iyy=\"0\" izz=\"0\" ixy=\"0\" iyz=\"0\" ixz=\"" +
           ixz + "\"/></inertial></link>";
  };
  EXPECT_EQ(warning_count(load_urdf_text(link("2.40741e-35")), "inertia.unphysical"), 0);
  EXPECT_EQ(warning_count(load_urdf_text(link("1e-9")), "inertia.unphysical"), 1);
}

TEST(Urdf, SaysNothingAboutWhatMeansNothing) {
  const LoadedModel loaded = load_text(
      "<robot name=\"r\" version=\"1.0\" xmlns:xacro=\"http://www.ros.org/wiki/xacro\">" +
          heavy_link("a", std::string(
                              "<collision group=\"default\"><geometry><sphere radius=\"1\"/></geometry></collision>")) +
          heavy_link("b") +
          joint_text("j", "fixed", "a", "b", "<axis xyz=\"0 0 0\"/><limit effort=\"0\" velocity=\"0\"/>") +
          "<gazebo reference=\"j\"><preserveFixedJoint>true</preserveFixedJoint></gazebo></robot>",
      "robot.urdf");
  EXPECT_TRUE(loaded.warnings.empty()) << to_string(loaded.warnings.front());
}

}  // namespace
}  // namespace lithe::test

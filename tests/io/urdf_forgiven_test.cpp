#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lithe/dynamics/body_motion.h"
#include "lithe/spatial/rotation.h"
#include "tests/io/urdf_text.h"

// What other readers take, or robots in the wild have, is read with one warning that says what was assumed; strictly it is an error.
namespace lithe::test {
namespace {

LoadOptions strictly() {
  LoadOptions options;
  options.strict = true;
  return options;
}

// Loads it, with that warning and no other; strictly it is refused at the same line.
LoadedModel forgiven(const std::string& inside, const std::string& kind, WarningRank rank, const std::string& says) {
  LoadedModel loaded = load_urdf_text(inside);
  EXPECT_EQ(loaded.warnings.size(), 1u) << kind;
  if (loaded.warnings.empty()) return loaded;
  const LoadWarning& warning = loaded.warnings.front();
  EXPECT_EQ(warning.kind, kind) << to_string(warning);
  EXPECT_EQ(warning.rank, rank) << to_string(warning);
  EXPECT_NE(warning.text.find(says), std::string::npos) << "'" << says << "' is not in: " << to_string(warning);
  try {
    load_urdf_text(inside, strictly());
    ADD_FAILURE() << kind << ": strictly, too, it was read";
  } catch (const LoadError& error) {
    EXPECT_EQ(error.place().line, warning.place.line) << error.what();
    EXPECT_EQ(error.text(), warning.text);
  }
  return loaded;
}

constexpr auto kMotion = WarningRank::motion;
constexpr auto kContact = WarningRank::contact;
constexpr auto kUnused = WarningRank::unused;

std::string small_link(const std::string& name) { return "<link name=\"" + name + "\"/>\n"; }

Pose start_pose(const LoadedModel& loaded, const std::string& body) {
  Kinematics kin;
  kinematics(loaded.model, loaded.q, kin);
  return body_pose(loaded.model, kin, loaded.model.body(body));
}

TEST(UrdfForgiven, AJointThatMovesNoMassIsLocked) {
  const std::string arm =
      "<link name=\"world\"/>" + heavy_link("b") + small_link("finger") + joint_text("j", "continuous", "world", "b");
  const LoadedModel loaded = forgiven(arm + joint_text("k", "continuous", "b", "finger"), "urdf.massless", kMotion,
                                      "joint 'k' moves no mass and is locked at 0");
  EXPECT_EQ(loaded.model.nv(), 1);
  // At the nearest position within its limits.
  const LoadedModel bent =
      forgiven(arm + joint_text("k", "revolute", "b", "finger",
                                "<axis xyz=\"0 0 1\"/><limit lower=\"0.5\" upper=\"1\" effort=\"1\" velocity=\"1\"/>"),
               "urdf.massless", kMotion, "locked at 0.5");
  EXPECT_TRUE(start_pose(bent, "finger").R.isApprox(rotation_about(Vec3::UnitZ(), 0.5), 1e-15));
  const LoadedModel slid = forgiven(
      arm + joint_text("k", "prismatic", "b", "finger",
                       "<origin xyz=\"1 0 0\"/><axis xyz=\"0 1 0\"/><limit lower=\"-2\" upper=\"-1\" effort=\"1\" "
                       "velocity=\"1\"/>"),
      "urdf.massless", kMotion, "locked at -1");
  EXPECT_EQ(start_pose(slid, "finger").p, Vec3(1, -1, 0));
  EXPECT_EQ(forgiven(arm + joint_text("k", "floating", "b", "finger"), "urdf.massless", kMotion, "'k'").model.nv(), 1);
}

TEST(UrdfForgiven, WhatFollowsALockedOrFixedJointIsLockedWithIt) {
  const std::string links = "<link name=\"world\"/>" + heavy_link("a") + small_link("b") + heavy_link("c") +
                            joint_text("i", "continuous", "world", "a");
  const std::string range = "<limit lower=\"0.5\" upper=\"3\" effort=\"1\" velocity=\"1\"/>";
  const std::string about_z = "<axis xyz=\"0 0 1\"/>";
  const LoadedModel follower = load_urdf_text(
      links + joint_text("j", "revolute", "a", "b", range) +
      joint_text("k", "continuous", "a", "c", about_z + "<mimic joint=\"j\" multiplier=\"2\" offset=\"1\"/>"));
  EXPECT_EQ(follower.model.nv(), 1);
  EXPECT_TRUE(follower.model.mimics().empty());
  EXPECT_EQ(warning_count(follower, "urdf.massless"), 1);
  EXPECT_EQ(warning_count(follower, "urdf.locked_mimic"), 1);
  EXPECT_TRUE(start_pose(follower, "c").R.isApprox(rotation_about(Vec3::UnitZ(), 2), 1e-15));  // 2·0.5 + 1

  const LoadedModel fixed = forgiven(
      links + joint_text("j", "fixed", "a", "b") + joint_text("k", "continuous", "a", "c", "<mimic joint=\"j\"/>"),
      "urdf.locked_mimic", kMotion, "joint 'k' follows 'j', which does not move: it is locked at 0");
  EXPECT_EQ(fixed.model.nv(), 1);

  // The one that is locked may itself follow: it stands where the joint it follows starts.
  const LoadedModel led =
      load_urdf_text(links + joint_text("j", "continuous", "a", "b", "<mimic joint=\"i\" offset=\"2\"/>") +
                     joint_text("k", "continuous", "a", "c"));
  EXPECT_EQ(led.model.nv(), 2);
  EXPECT_NE(led.warnings.at(0).text.find("locked at 2"), std::string::npos);
}

TEST(UrdfForgiven, AMimicOfNobodyMovesFreely) {
  const LoadedModel loaded = forgiven(on_world("continuous", "<mimic joint=\"k\"/>"), "urdf.mimic", kMotion,
                                      "is to follow 'k', which is not there, and moves freely (did you mean 'j'?)");
  EXPECT_EQ(loaded.model.nv(), 1);
  EXPECT_TRUE(loaded.model.mimics().empty());
  const std::string two = "<link name=\"world\"/>" + heavy_link("a") + heavy_link("b");
  EXPECT_EQ(forgiven(two + joint_text("j", "floating", "world", "a") +
                         joint_text("k", "continuous", "a", "b", "<mimic joint=\"j\"/>"),
                     "urdf.mimic", kMotion, "which is floating, and moves freely")
                .model.nv(),
            7);
  EXPECT_EQ(forgiven(two + joint_text("j", "planar", "world", "a", "<mimic joint=\"k\"/>") +
                         joint_text("k", "continuous", "a", "b"),
                     "urdf.mimic", kMotion, "is planar and moves freely")
                .model.nv(),
            4);
}

TEST(UrdfForgiven, AnAxisWithoutDirectionLocksItsJoint) {
  for (const char* axis : {"0 0 0", "1e-300 0 0"}) {
    const LoadedModel loaded = forgiven(on_world("continuous", "<axis xyz=\"" + std::string(axis) + "\"/>"),
                                        "urdf.axis", kMotion, "the joint is locked");
    EXPECT_EQ(loaded.model.nv(), 0);
  }
}

TEST(UrdfForgiven, LimitsThatSayNothingOrAreExchanged) {
  const auto joint = [&](const std::string& limit, const std::string& kind, const std::string& says) {
    const LoadedModel loaded = forgiven(on_world("revolute", "<limit " + limit + "/>"), kind, kMotion, says);
    return loaded.model.joints().front();
  };
  const Joint exchanged = joint("lower=\"1\" upper=\"-2\" effort=\"3\" velocity=\"4\"", "urdf.limits", "exchanged");
  EXPECT_EQ(exchanged.lower, -2);
  EXPECT_EQ(exchanged.upper, 1);
  EXPECT_EQ(
      joint("lower=\"0\" upper=\"1\" effort=\"\" velocity=\"4\"", "urdf.empty_limit", "an empty effort").effort_limit,
      Joint::kInfinity);
  EXPECT_EQ(
      joint("lower=\"0\" upper=\"1\" effort=\"3\" velocity=\"-1\"", "urdf.negative_limit", "velocity of <limit> is -1")
          .velocity_limit,
      Joint::kInfinity);
  const LoadedModel open = load_urdf_text(on_world("revolute", "<limit lower=\"\" upper=\" \"/>"));
  EXPECT_EQ(warning_count(open, "urdf.empty_limit"), 2);
  EXPECT_EQ(warning_count(open, "urdf.no_limit"), 1);
  EXPECT_EQ(open.model.joints().front().upper, Joint::kInfinity);
}

TEST(UrdfForgiven, InfiniteLimitsAreNone) {
  const LoadedModel loaded = load_urdf_text(
      on_world("revolute", "<limit lower=\"-inf\" upper=\"INF\" effort=\"inf\" velocity=\"Infinity\"/>"));
  EXPECT_TRUE(loaded.warnings.empty());
  const Joint& joint = loaded.model.joints().front();
  EXPECT_EQ(joint.lower, -Joint::kInfinity);
  EXPECT_EQ(joint.upper, Joint::kInfinity);
  EXPECT_EQ(joint.effort_limit, Joint::kInfinity);
  EXPECT_EQ(joint.velocity_limit, Joint::kInfinity);
}

TEST(UrdfForgiven, ATypeInCapitals) {
  const LoadedModel loaded =
      forgiven(on_world("Continuous"), "urdf.type", kUnused, "joint type \"Continuous\" is read as continuous");
  EXPECT_EQ(loaded.model.nv(), 1);
}

TEST(UrdfForgiven, ShapesWithoutSubstanceAreLeftOut) {
  const struct {
    std::string inside, says;
  } cases[] = {
      {"", "has no <geometry>"},
      {"<geometry/>", "<geometry> is empty"},
      {"<geometry><sphere radius=\"0\"/></geometry>", "<sphere> has a radius of 0"},
      {"<geometry><cylinder radius=\"0\" length=\"1\"/></geometry>", "<cylinder> has a radius of 0"},
      {"<geometry><cone radius=\"1\"/></geometry>", "<cone> is no shape that is known here"},
      {"<geometry><drake:ellipsoid a=\"1\"/></geometry>", "<drake:ellipsoid> is no shape"},
  };
  for (const auto& [inside, says] : cases) {
    const LoadedModel solid =
        forgiven(heavy_link("b", "<collision>" + inside + "</collision>"), "urdf.shape", kContact, says);
    EXPECT_TRUE(solid.model.shapes().empty());
    const LoadedModel seen = forgiven(heavy_link("b", "<visual>" + inside + "</visual>"), "urdf.visual", kUnused, says);
    EXPECT_TRUE(seen.visuals.empty());
  }
}

TEST(UrdfForgiven, ColoursThatCannotBeReadAreLeftOut) {
  const std::string visual = "<visual><geometry><sphere radius=\"1\"/></geometry><material name=\"m\"><color rgba=\"";
  const LoadedModel red =
      forgiven(heavy_link("b", visual + "red\"/></material></visual>"), "urdf.rgba", kUnused, "red");
  EXPECT_EQ(red.visuals.at(0).color, Visual{}.color);
  const LoadedModel opaque = load_urdf_text(heavy_link("b", visual + "0 1 0\"/></material></visual>"));
  EXPECT_TRUE(opaque.warnings.empty());
  EXPECT_EQ(opaque.visuals.at(0).color, Vec4(0, 1, 0, 1));
}

TEST(UrdfForgiven, WhatGazeboWouldNotMind) {
  const std::string ball = heavy_link("b", "<collision><geometry><sphere radius=\"1\"/></geometry></collision>");
  const auto gazebo = [&](const std::string& inside) {
    return ball + "<gazebo reference=\"b\">" + inside + "</gazebo>";
  };
  forgiven(gazebo("<turnGravityOff/>"), "urdf.gazebo.empty", kUnused, "<turnGravityOff> in <gazebo> is empty");
  EXPECT_EQ(forgiven(gazebo("<mu1/>"), "urdf.gazebo.empty", kUnused, "<mu1>").model.shapes().at(0).material.friction,
            1);
  forgiven(gazebo("<selfCollide>perhaps</selfCollide>"), "urdf.gazebo.flag", kMotion, "takes for false");
  EXPECT_TRUE(load_urdf_text(gazebo("<gravity>TRUE</gravity><selfCollide>yes</selfCollide>")).warnings.empty());
  const LoadedModel sticky = forgiven(gazebo("<mu1>1e14</mu1>"), "urdf.gazebo.friction", kContact,
                                      "<mu1> is 1e+14: a friction of 10000 is taken");
  EXPECT_EQ(sticky.model.shapes().at(0).material.friction, 1e4);
  const LoadedModel both = load_urdf_text(gazebo("<mu1>1e14</mu1><mu2>1e300</mu2>"));
  EXPECT_EQ(warning_count(both, "urdf.gazebo.friction"), 2);
  EXPECT_EQ(both.model.shapes().at(0).material.friction, 1e4);
  const std::string contact = "<contact><lateral_friction value=\"1e14\"/></contact>";
  EXPECT_EQ(warning_count(load_urdf_text(heavy_link("b", contact)), "urdf.gazebo.friction"), 1);
}

TEST(UrdfForgiven, ATransmissionWithoutAJointIsNotUsed) {
  EXPECT_TRUE(forgiven(on_world("continuous") + "<transmission name=\"t\"><joint/></transmission>",
                       "urdf.transmission.joint", kUnused, "unknown joint ''")
                  .actuators.empty());
}

TEST(UrdfForgiven, WhateverStandsAroundTheRobot) {
  const std::string robot = urdf_around(on_world("continuous"));
  std::string lines;
  for (const char c : robot) lines += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const std::string& text : {"\xEF\xBB\xBF" + robot, "<?xml version=\"1.0\"?>\n<!-- made by hand -->\n" + robot,
                                  lines, "\n\n " + robot + "\n<!-- end -->"}) {
    const LoadedModel loaded = load_text(text, "robot.urdf");
    EXPECT_EQ(loaded.model.nv(), 1);
    EXPECT_TRUE(loaded.warnings.empty());
  }
  const LoadedModel prefixed =
      load_urdf_text(on_world("continuous") + "<drake:joint_filter/><sensor:camera name=\"c\"/>");
  EXPECT_EQ(prefixed.model.nv(), 1);
  EXPECT_EQ(prefixed.warnings.size(), 2u);
}

TEST(UrdfForgiven, AWordThatIsMisspeltComesFirst) {
  const LoadedModel loaded =
      load_urdf_text(on_world("continuous", "<sauce/><orign xyz=\"0 0 1\"/>") + "<ros2_control/>");
  ASSERT_EQ(loaded.warnings.size(), 3u);
  EXPECT_EQ(loaded.warnings[0].kind, "urdf.unknown.orign");
  EXPECT_EQ(loaded.warnings[0].rank, kMotion);
  EXPECT_NE(loaded.warnings[0].text.find("did you mean 'origin'?"), std::string::npos);
  EXPECT_EQ(loaded.warnings[1].rank, kUnused);
}

TEST(UrdfForgiven, AJointThatNothingResistsIsTold) {
  const std::string point =
      "<link name=\"p\"><inertial><mass value=\"1\"/><inertia ixx=\"0\" iyy=\"0\" izz=\"0\"/></inertial></link>";
  const LoadedModel loaded = forgiven("<link name=\"world\"/>" + point + joint_text("j", "continuous", "world", "p"),
                                      "inertia.singular", kMotion, "nothing resists joint 'j' where the model starts");
  EXPECT_EQ(loaded.model.nv(), 1);
}

// Roots. The file says it of a link called world; of others the mass does.
struct RootCase {
  std::string what, inside;
  int nv;
  double mass;
  bool told;
};

TEST(UrdfBase, FloatsByTheMassThatIsFixedToTheRoot) {
  const std::string trunk = small_link("base") + heavy_link("trunk") + joint_text("f", "fixed", "base", "trunk");
  const std::string leg = heavy_link("leg") + joint_text("j", "continuous", "trunk", "leg");
  const std::string other = heavy_link("other") + joint_text("k", "continuous", "trunk", "other");
  const std::string shin = heavy_link("shin") + joint_text("s", "continuous", "leg", "shin");
  const RootCase cases[] = {
      {"legs on a trunk on a frame", trunk + leg + other, 8, 3, true},
      {"one leg, no heavier than the trunk", trunk + leg, 7, 2, true},
      {"an arm, heavier than its pedestal", trunk + leg + shin, 2, 2, true},
      {"a trunk alone, which is scenery", trunk, 0, 0, true},
      {"a frame whose limbs have all the mass",
       small_link("base") + heavy_link("a") + heavy_link("b") + joint_text("i", "continuous", "base", "a") +
           joint_text("j", "continuous", "base", "b"),
       2, 2, false},
      {"a root with a mass", heavy_link("base") + heavy_link("b") + joint_text("j", "continuous", "base", "b"), 7, 2,
       false},
      {"an arm whose root has a mass",
       heavy_link("base") + heavy_link("a") + heavy_link("b") + joint_text("i", "continuous", "base", "a") +
           joint_text("j", "continuous", "a", "b"),
       8, 3, true},
      {"the world",
       "<link name=\"world\"/>" + heavy_link("trunk") + joint_text("f", "fixed", "world", "trunk") + leg + other, 2, 2,
       false},
  };
  for (const auto& [what, inside, nv, mass, told] : cases) {
    for (const LoadOptions& options : {LoadOptions{}, strictly()}) {
      const LoadedModel loaded = load_urdf_text(inside, options);  // nothing is wrong with them
      EXPECT_EQ(loaded.model.nv(), nv) << what;
      EXPECT_EQ(loaded.model.total_mass(), mass) << what;
      EXPECT_EQ(warning_count(loaded, "urdf.base"), told ? 1 : 0) << what;
      EXPECT_EQ(loaded.warnings.size(), told ? 1u : 0u) << what;
    }
    for (const LoadOptions::Base base : {LoadOptions::Base::fixed, LoadOptions::Base::floating}) {
      LoadOptions options;
      options.base = base;
      if (what.starts_with("a frame") && base == LoadOptions::Base::floating) continue;  // which cannot float
      EXPECT_TRUE(load_urdf_text(inside, options).warnings.empty()) << what << ": who says it need not be told";
    }
  }
}

}  // namespace
}  // namespace lithe::test

#include <gtest/gtest.h>

#include "tests/io/mjcf_text.h"
#include "tests/io/scratch_folder.h"
#include "tests/support/error_text.h"

// What MuJoCo forgives or is told to leave out.
namespace lithe::test {
namespace {

// A joint with everything that a flag can switch off, two balls that touch, a loop, a follower and an actuator.
LoadedModel load_with_flags(const std::string& flags) {
  return load_mjcf_text("<option><flag " + flags + R"(/></option><worldbody>
    <body name="a"><joint name="ja" type="slide" range="-1 2" stiffness="3" damping="4" frictionloss="5"/><geom name="ga" size="0.1"/></body>
    <body name="b" pos="0.1 0 0"><joint name="jb" type="slide"/><geom name="gb" size="0.1"/></body></worldbody>
    <contact><pair geom1="ga" geom2="gb"/></contact>
    <equality><joint joint1="jb" joint2="ja"/><connect body1="a" body2="b" anchor="0 0 0"/></equality>
    <actuator><motor joint="ja" ctrlrange="-1 1"/></actuator>)");
}

TEST(MjcfFlags, LeaveOutPartsOfThePhysics) {
  const LoadedModel whole = load_with_flags("");
  EXPECT_EQ(whole.model.shapes().size(), 2u);
  EXPECT_EQ(whole.model.loops().size() + whole.model.mimics().size(), 2u);
  EXPECT_EQ(joint_of(whole, "ja").upper, 2);
  EXPECT_EQ(whole.actuators.size(), 1u);

  EXPECT_TRUE(load_with_flags("gravity=\"disable\"").model.gravity().isZero(0));
  EXPECT_TRUE(load_with_flags("contact=\"disable\"").model.shapes().empty());
  const LoadedModel unequal = load_with_flags("equality=\"disable\"");
  EXPECT_TRUE(unequal.model.loops().empty() && unequal.model.mimics().empty());
  EXPECT_EQ(joint_of(load_with_flags("limit=\"disable\""), "ja").upper, Joint::kInfinity);
  EXPECT_EQ(joint_of(load_with_flags("frictionloss=\"disable\""), "ja").dry_friction, 0);
  EXPECT_EQ(joint_of(load_with_flags("spring=\"disable\""), "ja").stiffness, 0);
  EXPECT_EQ(joint_of(load_with_flags("damper=\"disable\""), "ja").damping, 0);
  EXPECT_EQ(joint_of(load_with_flags("passive=\"disable\""), "ja").damping, 0);
  const LoadedModel limp = load_with_flags("actuation=\"disable\"");
  EXPECT_TRUE(limp.actuators.empty());
  EXPECT_EQ(limp.mujoco.controls.size(), 1u) << "ctrl still has a number for it";
  EXPECT_EQ(load_with_flags("clampctrl=\"disable\"").actuators[0].upper, Joint::kInfinity);

  const LoadedModel free = load_with_flags("constraint=\"disable\"");
  EXPECT_TRUE(free.model.shapes().empty() && free.model.loops().empty() && free.model.mimics().empty());
  EXPECT_EQ(joint_of(free, "ja").upper, Joint::kInfinity);
  EXPECT_EQ(joint_of(free, "ja").dry_friction, 0);
  EXPECT_EQ(joint_of(free, "ja").stiffness, 3) << "a spring is no constraint";
  for (const LoadWarning& warning : free.warnings) EXPECT_FALSE(warning.kind.starts_with("mjcf.flag")) << warning.text;
}

TEST(MjcfFlags, WarnOfWhatCannotBeSwitched) {
  const LoadedModel loaded = load_with_flags("override=\"enable\" filterparent=\"disable\"");
  EXPECT_EQ(warning_count(loaded, "mjcf.flag.override"), 1);
  EXPECT_EQ(warning_count(loaded, "mjcf.flag.filterparent"), 1);
}

TEST(Mjcf, TakesEmptyAttributesForAbsentOnes) {
  const LoadedModel loaded = load_mjcf_text(R"(
    <asset><material name="red" rgba="1 0 0 1"/></asset>
    <default><geom material="red" friction="0.5"/></default>
    <worldbody><body><joint range=""/><geom name="a" size="0.1" rgba="" friction="" quat=""/>
      <geom name="b" size="0.1" material=""/></body></worldbody>)");
  EXPECT_EQ(loaded.visuals[0].color, Vec4(1, 0, 0, 1));
  EXPECT_EQ(loaded.visuals[1].color, Vec4(0.5, 0.5, 0.5, 1)) << "no material, whatever the class says";
  EXPECT_EQ(shape_of(loaded, "a").material.friction, 0.5);
}

TEST(Mjcf, LocksAJointThatMovesNoMass) {
  const std::string text = "<worldbody>" + heavy_body("a", "<joint name=\"ja\"/>") +
                           "<body name=\"b\"><joint name=\"jb\"/></body></worldbody><actuator><motor joint=\"jb\"/>"
                           "<motor joint=\"ja\"/></actuator><equality><joint joint1=\"jb\" joint2=\"ja\"/></equality>";
  const LoadedModel loaded = load_mjcf_text(text);
  EXPECT_EQ(loaded.model.nv(), 1);
  EXPECT_EQ(warning_count(loaded, "mjcf.joint.massless"), 1);
  EXPECT_EQ(warning_count(loaded, "mjcf.actuator.locked"), 1);
  EXPECT_EQ(warning_count(loaded, "mjcf.equality.locked"), 1);
  ASSERT_EQ(loaded.actuators.size(), 1u);
  LoadOptions strict;
  strict.strict = true;
  expect_error([&] { load_mjcf_text(text, strict); }, "moves no mass");
}

// MuJoCo looks beside the main file first, then beside the one that speaks.
TEST(Mjcf, FindsNestedIncludesAndMeshesBesideTheFileThatNamesThem) {
  const ScratchFolder folder("lithe_mjcf_nested");
  folder.write("parts/inner.xml", "<mujocoinclude><body name=\"inner\"/></mujocoinclude>");
  folder.write("parts/outer.xml",
               "<mujocoinclude><body name=\"outer\"><include file=\"inner.xml\"/><include file=\"both.xml\"/></body>"
               "</mujocoinclude>");
  folder.write("parts/both.xml", "<mujocoinclude><body name=\"beside_the_part\"/></mujocoinclude>");
  folder.write("both.xml", "<mujocoinclude><body name=\"beside_the_main_file\"/></mujocoinclude>");
  folder.write("parts/assets.xml", "<mujocoinclude><mesh file=\"m/tetra.obj\"/></mujocoinclude>");
  folder.write("parts/m/tetra.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const std::string file = folder.write(
      "main.xml", mjcf_around("<asset><include file=\"parts/assets.xml\"/></asset><worldbody><include "
                              "file=\"parts/outer.xml\"/><geom type=\"mesh\" mesh=\"tetra\"/></worldbody>"));
  const LoadedModel loaded = load(file);
  EXPECT_EQ(loaded.model.bodies().size(), 4u);
  EXPECT_NO_THROW(loaded.model.body("inner"));
  EXPECT_NO_THROW(loaded.model.body("beside_the_main_file"));
  EXPECT_EQ(loaded.model.shapes().size(), 1u);
}

}  // namespace
}  // namespace lithe::test

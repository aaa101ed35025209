#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/io/mjcf_text.h"
#include "tests/io/scratch_folder.h"
#include "tests/io/wrong_file.h"
#include "tests/support/clock.h"

// A file that is wrong is refused with one line that says where and what; nothing else comes out of the reader.
namespace lithe::test {
namespace {

std::string world(const std::string& inside) { return mjcf_around("<worldbody>\n" + inside + "\n</worldbody>"); }
// What is in the body, which can move and has mass, is on line 4.
std::string in_body(const std::string& inside) {
  return world("<body name=\"b\"><joint name=\"j\"/><geom name=\"g\" size=\"1\"/>\n" + inside + "</body>");
}
// What follows is on line 5.
std::string after_body(const std::string& more) {
  return mjcf_around("<worldbody>\n" + heavy_body("b", "<joint name=\"j\"/>") + heavy_body("c", "<joint name=\"k\"/>") +
                     "\n</worldbody>\n" + more);
}
std::string repeated_text(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

std::vector<Wrong> wrong_mjcf_structure() {
  return {
      {"empty file", "", 0, "empty"},
      {"no end", "<mujoco>\n<worldbody>", 2, "XML"},
      {"cut in an attribute", "<mujoco>\n<worldbody>\n<geom size=\"1", 3, "XML"},
      {"doctype", "<!DOCTYPE mujoco [<!ENTITY a \"b\">]>\n<mujoco><worldbody/></mujoco>", 1, "DOCTYPE"},
      {"10,000 deep", world(repeated_text("<body>", 10'000) + repeated_text("</body>", 10'000)), 3, "deep"},
      {"no worldbody", mjcf_around("<option/>"), 1, "worldbody"},
      {"joint in the world", world("<joint/>"), 3, "<worldbody>"},
      {"mass in the world", world("<inertial pos=\"0 0 0\" mass=\"1\"/>"), 3, "world"},
      {"two inertials", in_body("<inertial pos=\"0 0 0\" mass=\"1\"/>\n<inertial pos=\"0 0 0\" mass=\"1\"/>"), 5,
       "second"},
      {"two bodies of a name", in_body("<body name=\"b\"/>"), 4, "two bodies named \"b\""},
      {"two joints of a name", in_body("<joint name=\"j\"/>"), 4, "two joints named \"j\""},
      {"two geoms of a name", in_body("<geom name=\"g\" size=\"1\"/>"), 4, "two geoms named \"g\""},
      {"a body called world", world("<body name=\"world\"/>"), 3, "taken"},
      {"free joint on a child", in_body("<body><freejoint/></body>"), 4, "<worldbody>"},
      {"free joint beside another", in_body("<freejoint/>"), 4, "only joint"},
      {"seven degrees of freedom", in_body("<joint type=\"ball\"/><joint type=\"ball\"/>"), 4, "7 degrees"},
      {"plane that moves", in_body("<geom type=\"plane\" size=\"1 1 1\"/>"), 4, "plane"},
      {"include without file", mjcf_around("<include/>"), 2, "file"},
      {"include that is not there", mjcf_around("<include file=\"nowhere.xml\"/>"), 2, "nowhere.xml"},
      {"include that leads outside", mjcf_around("<include file=\"/etc/passwd\"/>"), 2, "outside"},
      {"include by an absolute path", mjcf_around("<include file=\"/etc/passwd\"/>"), 2, "outside"},
      {"include by http", mjcf_around("<include file=\"http://a/b.xml\"/>"), 2, "local"},
  };
}

std::vector<Wrong> wrong_mjcf_numbers() {
  return {
      {"nan", in_body("<geom size=\"nan\"/>"), 4, "nan"},
      {"infinite", in_body("<geom size=\"1e999\"/>"), 4, "too large"},
      {"a word", in_body("<geom size=\"big\"/>"), 4, "big"},
      {"too few", in_body("<body pos=\"1 2\"/>"), 4, "pos"},
      {"too many", in_body("<body pos=\"1 2 3 4\"/>"), 4, "pos"},
      {"zero quaternion", in_body("<body quat=\"0 0 0 0\"/>"), 4, "quaternion"},
      {"zero axis of an angle", in_body("<body axisangle=\"0 0 0 1\"/>"), 4, "length 0"},
      {"parallel axes", in_body("<body xyaxes=\"1 0 0 2 0 0\"/>"), 4, "length 0"},
      {"zero zaxis", in_body("<body zaxis=\"0 0 0\"/>"), 4, "length 0"},
      {"two orientations", in_body("<body quat=\"1 0 0 0\" euler=\"1 2 3\"/>"), 4, "already"},
      {"zero joint axis", in_body("<joint axis=\"0 0 0\"/>"), 4, "length 0"},
      {"limits the wrong way round", in_body("<joint range=\"1 -1\"/>"), 4, "lower end"},
      {"limited without range", in_body("<joint limited=\"true\"/>"), 4, "no range"},
      {"negative damping", in_body("<joint damping=\"-1\"/>"), 4, "negative"},
      {"negative stiffness", in_body("<joint stiffness=\"-1\"/>"), 4, "negative"},
      {"negative armature", in_body("<joint armature=\"-1\"/>"), 4, "negative"},
      {"negative friction loss", in_body("<joint frictionloss=\"-1\"/>"), 4, "negative"},
      {"unknown joint type", in_body("<joint type=\"screw\"/>"), 4, "known are: hinge"},
      {"negative radius", in_body("<geom size=\"-1\"/>"), 4, "positive"},
      {"no size", in_body("<geom type=\"box\" size=\"1 1\"/>"), 4, "number 3"},
      {"four sizes", in_body("<geom type=\"box\" size=\"1 1 1 1\"/>"), 4, "size"},
      {"unknown geom type", in_body("<geom type=\"torus\" size=\"1\"/>"), 4, "known are"},
      {"fromto of a sphere", in_body("<geom size=\"1\" fromto=\"0 0 0 1 1 1\"/>"), 4, "fromto"},
      {"fromto of no length", in_body("<geom type=\"capsule\" size=\"1\" fromto=\"1 1 1 1 1 1\"/>"), 4, "apart"},
      {"negative mass", in_body("<geom size=\"1\" mass=\"-1\"/>"), 4, "negative"},
      {"negative density", in_body("<geom size=\"1\" density=\"-1\"/>"), 4, "negative"},
      {"negative friction", in_body("<geom size=\"1\" friction=\"-1\"/>"), 4, "negative"},
      {"negative margin", in_body("<geom size=\"1\" margin=\"-1\"/>"), 4, "negative"},
      {"odd condim", in_body("<geom size=\"1\" condim=\"2\"/>"), 4, "condim"},
      {"half a contype", in_body("<geom size=\"1\" contype=\"0.5\"/>"), 4, "whole"},
      {"overflowing geom", in_body("<body>\n<geom size=\"1e200\"/></body>"), 4, "finite"},
      {"overflowing place",
       in_body("<body pos=\"1e308 0 0\"><body pos=\"1e308 0 0\"><geom size=\"1\" pos=\"1e300 0 0\"/></body></body>"), 4,
       "finite"},
      {"inertial without mass", in_body("<inertial pos=\"0 0 0\"/>"), 4, "mass"},
      {"inertial without place", in_body("<inertial mass=\"1\"/>"), 4, "pos"},
      {"inertial of negative mass", in_body("<inertial pos=\"0 0 0\" mass=\"-1\"/>"), 4, "negative"},
      {"two inertias",
       in_body("<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\" fullinertia=\"1 1 1 0 0 0\"/>"), 4, "already"},
      {"turned full inertia",
       in_body("<inertial pos=\"0 0 0\" mass=\"1\" euler=\"1 2 3\" fullinertia=\"1 1 1 0 0 0\"/>"), 4, "orientation"},
      {"time step of 0", after_body("<option timestep=\"0\"/>"), 5, "positive"},
      {"unknown angle unit", after_body("<compiler angle=\"gon\"/>"), 5, "known are: degree, radian"},
      {"bad euler sequence", after_body("<compiler eulerseq=\"xyw\"/>"), 5, "three letters"},
      {"global coordinates", after_body("<compiler coordinate=\"global\"/>"), 5, "global"},
      {"groups the wrong way round", after_body("<compiler inertiagrouprange=\"3 1\"/>"), 5, "lower one first"},
      {"negative bound", after_body("<compiler boundmass=\"-1\"/>"), 5, "negative"},
  };
}

std::vector<Wrong> wrong_mjcf_references() {
  return {
      {"unknown class", in_body("<geom class=\"nope\"/>"), 4, "no default class \"nope\""},
      {"unknown childclass", in_body("<body childclass=\"nope\"/>"), 4, "no default class \"nope\""},
      {"class without name", after_body("<default>\n<default/></default>"), 6, "class"},
      {"class twice", after_body("<default><default class=\"a\"/>\n<default class=\"a\"/></default>"), 6, "twice"},
      {"class inside itself", after_body("<default><default class=\"a\">\n<default class=\"a\"/></default></default>"),
       6, "twice"},
      {"bad value in a class", after_body("<default>\n<joint damping=\"-3\"/></default>"), 6, "negative"},
      {"unknown mesh", in_body("<geom type=\"mesh\" mesh=\"nope\"/>"), 4, "no mesh \"nope\""},
      {"mesh geom without mesh", in_body("<geom type=\"mesh\"/>"), 4, "mesh"},
      {"unknown material", in_body("<geom size=\"1\" material=\"nope\"/>"), 4, "no material \"nope\""},
      {"mesh without anything", after_body("<asset><mesh name=\"m\"/></asset>"), 5, "file or vertices"},
      {"two meshes of a name",
       after_body("<asset><mesh name=\"m\" file=\"a.stl\"/>\n<mesh name=\"m\" file=\"b.stl\"/></asset>"), 6,
       "two meshes"},
      {"exclude of an unknown body", after_body("<contact><exclude body1=\"b\" body2=\"nope\"/></contact>"), 5, "nope"},
      {"exclude of one body", after_body("<contact><exclude body1=\"b\"/></contact>"), 5, "body2"},
      {"pair of an unknown geom", after_body("<contact><pair geom1=\"x\" geom2=\"y\"/></contact>"), 5, "geom \"x\""},
      {"connect without anchor", after_body("<equality><connect body1=\"b\" body2=\"c\"/></equality>"), 5, "anchor"},
      {"weld by one site", after_body("<equality><weld site1=\"s\"/></equality>"), 5, "site"},
      {"joints in a circle",
       after_body("<equality><joint joint1=\"j\" joint2=\"k\"/>\n<joint joint1=\"k\" joint2=\"j\"/></equality>"), 5,
       "j → k → j"},
      {"joint that follows itself", after_body("<equality><joint joint1=\"j\" joint2=\"j\"/></equality>"), 5, "itself"},
      {"unknown joint", after_body("<equality><joint joint1=\"jj\"/></equality>"), 5, "did you mean"},
      {"actuator without joint", after_body("<actuator><motor/></actuator>"), 5, "joint"},
      {"actuator of an unknown joint", after_body("<actuator><motor joint=\"x\"/></actuator>"), 5,
       "unknown joint \"x\""},
      {"negative gain", after_body("<actuator><position joint=\"j\" kp=\"-1\"/></actuator>"), 5, "negative"},
      {"servo without gain", after_body("<actuator><position joint=\"j\" kp=\"0\"/></actuator>"), 5,
       "stiffness or a damping"},
      {"inverted control range", after_body("<actuator><motor joint=\"j\" ctrlrange=\"1 -1\"/></actuator>"), 5,
       "lower end"},
      {"short keyframe", after_body("<keyframe><key qpos=\"1\"/></keyframe>"), 5,
       "qpos has 1 numbers, but the model has 2"},
      {"long keyframe", after_body("<keyframe><key qvel=\"1 2 3\"/></keyframe>"), 5, "qvel has 3 numbers"},
      {"face without vertex",
       mjcf_around("<asset>\n<mesh name=\"m\" vertex=\"0 0 0 1 0 0 0 1 0 0 0 1\" face=\"0 1 4\"/></asset>\n"
                   "<worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody>"),
       3, "not a vertex"},
      {"mesh of three points",
       mjcf_around("<asset>\n<mesh name=\"m\" vertex=\"0 0 0 1 0 0 0 1 0\"/></asset>\n"
                   "<worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody>"),
       3, "vertex"},
      {"flat mesh with mass",
       mjcf_around("<asset>\n<mesh name=\"m\" vertex=\"0 0 0 1 0 0 0 1 0 1 1 0\"/></asset>\n"
                   "<worldbody><body><freejoint/><geom type=\"mesh\" mesh=\"m\"/></body></worldbody>"),
       3, "no volume"},
      {"mesh scaled to nothing",
       mjcf_around("<asset>\n<mesh name=\"m\" vertex=\"0 0 0 1 0 0 0 1 0 0 0 1\" scale=\"1 0 1\"/></asset>\n"
                   "<worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody>"),
       3, "scale"},
      {"mesh file that is not there",
       mjcf_around("<asset>\n<mesh name=\"m\" file=\"nowhere.stl\"/></asset>\n<worldbody><geom type=\"mesh\" "
                   "mesh=\"m\"/></worldbody>"),
       3, "nowhere.stl"},
      {"mesh file that leads outside",
       mjcf_around("<compiler meshdir=\"/\"/><asset>\n<mesh name=\"m\" file=\"etc/passwd\"/></asset>\n"
                   "<worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody>"),
       3, "outside"},
  };
}

void expect_mjcf_refused(const std::vector<Wrong>& cases) {
  for (const Wrong& wrong : cases) {
    SCOPED_TRACE(wrong.what);
    try {
      load_text(wrong.text, "robot.xml");
      ADD_FAILURE() << "it was accepted";
    } catch (const LoadError& error) {
      const std::string text = error.what();
      const std::string place =
          wrong.line == 0 ? "robot.xml: error: " : fmt::format("robot.xml:{}: error: ", wrong.line);
      EXPECT_EQ(text.substr(0, place.size()), place) << text;
      EXPECT_NE(text.find(wrong.says), std::string::npos) << "'" << wrong.says << "' is not in: " << text;
      EXPECT_LT(text.size(), 1000u);
    }
  }
}

TEST(MjcfErrors, NameTheLineOfAWrongStructure) { expect_mjcf_refused(wrong_mjcf_structure()); }
TEST(MjcfErrors, NameTheLineOfAWrongNumber) { expect_mjcf_refused(wrong_mjcf_numbers()); }
TEST(MjcfErrors, NameTheLineOfAWrongReference) { expect_mjcf_refused(wrong_mjcf_references()); }

TEST(MjcfErrors, CoverAtLeastFiftyKinds) {
  EXPECT_GE(wrong_mjcf_structure().size() + wrong_mjcf_numbers().size() + wrong_mjcf_references().size(), 50u);
}

TEST(MjcfErrors, FindFilesThatIncludeOneAnother) {
  const ScratchFolder folder("lithe_mjcf_cycle");
  folder.write("a.xml", "<mujocoinclude>\n<include file=\"b.xml\"/></mujocoinclude>");
  folder.write("b.xml", "<mujocoinclude>\n\n<include file=\"a.xml\"/></mujocoinclude>");
  const std::string main = folder.write("main.xml", mjcf_around("<include file=\"a.xml\"/><worldbody/>"));
  try {
    load(main);
    ADD_FAILURE() << "it was accepted";
  } catch (const LoadError& error) {
    EXPECT_EQ(error.place().line, 3);
    EXPECT_TRUE(error.place().file.ends_with("b.xml")) << error.what();
    EXPECT_NE(std::string(error.what()).find("included again"), std::string::npos) << error.what();
  }
  const std::string self = folder.write("self.xml", mjcf_around("<include file=\"self.xml\"/><worldbody/>"));
  EXPECT_THROW(load(self), LoadError);
}

TEST(MjcfErrors, BoundTheDepthOfIncludes) {
  const ScratchFolder folder("lithe_mjcf_depth");
  for (int i = 0; i < 30; ++i) {
    folder.write(fmt::format("{}.xml", i), fmt::format("<x><include file=\"{}.xml\"/></x>", i + 1));
  }
  EXPECT_THROW(load(folder.write("main.xml", mjcf_around("<include file=\"0.xml\"/><worldbody/>"))), LoadError);
}

// Files that would cost a careless reader minutes or gigabytes: accepted or not, they take a fraction of a second.
TEST(MjcfErrors, ComeSoon) {
  const auto seconds = [](const std::string& text) {
    return cpu_seconds([&] {
      try {
        load_text(text, "robot.xml");
      } catch (const LoadError&) {
      }
    });
  };
  std::string classes = "<default>", names;
  for (int i = 0; i < 29'000; ++i) {
    classes += fmt::format("<default class=\"c{}\"><geom size=\"1\"/></default>", i);
    names += "<geom size=\"1\"/>";
  }
  std::string deep = "<default>";
  for (int i = 0; i < 90; ++i) deep += fmt::format("<default class=\"c{}\"><geom rgba=\"1 1 1 1\"/>", i);
  deep += repeated_text("</default>", 91);
  std::string chain = "<equality>", hinges;
  for (int i = 0; i < 9'000; ++i) {
    hinges += fmt::format("<body><geom size=\"1\"/><joint name=\"j{}\"/></body>", i);
    if (i > 0) chain += fmt::format("<joint joint1=\"j{}\" joint2=\"j{}\"/>", i - 1, i);
  }
  EXPECT_LT(seconds(mjcf_around(classes + "</default><worldbody/>")), kLong) << "many classes";
  EXPECT_LT(seconds(mjcf_around("<worldbody>" + names + "</worldbody>")), kLong) << "many geoms without names";
  EXPECT_LT(seconds(mjcf_around(deep + "<worldbody><body childclass=\"c89\">" + names + "</body></worldbody>")), kLong)
      << "deep classes";
  EXPECT_LT(seconds(mjcf_around("<worldbody>" + hinges + "</worldbody>" + chain + "</equality>")), kLong)
      << "a chain of followers";
  EXPECT_LT(
      seconds(mjcf_around(
          "<worldbody>" +
          repeated_text("<body><joint/><joint/><joint/><joint/><joint/><joint/><geom size=\"1\"/>", 90) +
          repeated_text("<body><joint/><joint/><joint/><joint/><joint/><joint/><geom size=\"1\"/></body>", 9'000) +
          repeated_text("</body>", 90) + "</worldbody>")),
      kLong)
      << "a comb";
}

}  // namespace
}  // namespace lithe::test

#include <gtest/gtest.h>

#include "tests/io/sdf_text.h"
#include "tests/support/clock.h"
#include "tests/support/error_text.h"

// Files that are wrong: each is an error that says where and what.
namespace lithe::test::sdf {
namespace {

struct Wrong {
  const char* what;
  std::string text;
  int line;          // of the error
  const char* says;  // a part of it
};

void expect_all(const std::vector<Wrong>& files) {
  for (const Wrong& wrong : files) {
    SCOPED_TRACE(wrong.what);
    try {
      load_text(wrong.text, "robot.sdf");
      ADD_FAILURE() << "no error";
    } catch (const LoadError& error) {
      EXPECT_EQ(error.place().line, wrong.line) << error.what();
      EXPECT_NE(std::string(error.what()).find(wrong.says), std::string::npos) << error.what();
    }
  }
}

// In a model: the first line inside is line 3.
std::string model(const std::string& inside, const std::string& version = "1.9") {
  return around(in_model(inside), version);
}
std::string world(const std::string& inside) { return around(in_world(inside)); }

// Two links in lines 3 and 4; the joint is in line 5.
std::string jointed(const std::string& type, const std::string& more, const std::string& parent = "a",
                    const std::string& child = "b") {
  return model(link_text("a") + link_text("b") + joint_text("j", type, parent, child, more));
}
std::string shaped(const std::string& geometry, const std::string& more = "") {
  return model(link_text("a", collision_text(geometry, more)));
}

TEST(SdfErrors, OfTheFileAsAWhole) {
  expect_all({
      {"truncated", "<sdf version='1.9'>\n<model name='m'>\n<link name='a'>", 3, "XML"},
      {"cut in a tag", "<sdf version='1.9'>\n<model na", 2, "XML"},
      {"empty", "", 0, "empty"},
      {"doctype", "<!DOCTYPE sdf [<!ENTITY a 'b'>]>\n<sdf version='1.9'/>", 1, "document type"},
      {"no version", "<sdf/>", 1, "version"},
      {"too old", around("", "0.9"), 1, "too old"},
      {"old", around("", "1.3"), 1, "too old"},
      {"unknown", around("", "99"), 1, "1.9"},
      {"too new", around("", "99.0"), 1, "not known"},
      {"version of letters", around("", "one.five"), 1, "version"},
      {"version with a tail", around("", "1.5x"), 1, "version"},
      {"nothing in it", around(""), 1, "neither"},
      {"not UTF-8", "<sdf version='1.9'>\n\xff</sdf>", 2, "UTF-8"},
  });
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "<model name='m'>";
  expect_error([&] { load_text(around(deep), "robot.sdf"); }, "robot.sdf:2", "nested");
}

TEST(SdfErrors, OfNames) {
  expect_all({
      {"model without", around("<model/>"), 2, "name"},
      {"link without", model("<link/>"), 3, "name"},
      {"empty", model("<link name=''/>"), 3, "empty"},
      {"reserved", model("<link name='world'/>"), 3, "reserved"},
      {"reserved too", model("<link name='__model__'/>"), 3, "reserved"},
      {"two links", model(link_text("a") + link_text("a")), 4, "second"},
      {"two joints",
       model(link_text("a") + link_text("b") + joint_text("j", "fixed", "a", "b") + joint_text("j", "fixed", "a", "b")),
       6, "second"},
      {"two models", world("<model name='m'/>\n<model name='m'/>"), 4, "second"},
      {"collision without",
       model(link_text("a", "<collision><geometry><empty/><sphere/></geometry></collision>") +
             link_text("b", "<collision><geometry><sphere/></geometry></collision>")),
       4, "name"},
  });
}

TEST(SdfErrors, OfPoses) {
  expect_all({
      {"five numbers", model(link_text("a", pose_text("1 2 3 4 5"))), 3, "6 numbers"},
      {"seven numbers", model(link_text("a", pose_text("1 2 3 4 5 6 7"))), 3, "6 numbers"},
      {"not a number", model(link_text("a", pose_text("0 0 nan 0 0 0"))), 3, "nan"},
      {"infinite", model(link_text("a", pose_text("0 0 inf 0 0 0"))), 3, "inf"},
      {"words", model(link_text("a", pose_text("a b c d e f"))), 3, "number"},
      {"too large", model(link_text("a", pose_text("1e300 0 0 0 0 0"))), 3, "1e+15"},
      {"larger than a number", model(link_text("a", pose_text("1e999 0 0 0 0 0"))), 3, "1e999"},
      {"a zero quaternion", model(link_text("a", pose_text("0 0 0 0 0 0 0", "rotation_format='quat_xyzw'"))), 3,
       "zero"},
      {"unknown format", model(link_text("a", pose_text("0 0 0 0 0 0", "rotation_format='wxyz'"))), 3, "quat_xyzw"},
      {"degrees of a quaternion",
       model(link_text("a", pose_text("0 0 0 0 0 0 1", "rotation_format='quat_xyzw' degrees='1'"))), 3, "degrees"},
      {"relative to nothing", model(link_text("a", pose_text("0 0 0 0 0 0", "relative_to='q'"))), 3, "\"q\""},
      {"relative to itself", model(link_text("a", pose_text("0 0 0 0 0 0", "relative_to='a'"))), 3,
       "depends on itself"},
      {"in a circle",
       model(link_text("a", pose_text("", "relative_to='b'")) + link_text("b", pose_text("", "relative_to='c'")) +
             link_text("c", pose_text("", "relative_to='a'"))),
       5, "depends on itself"},
      {"circle by a joint",
       model(link_text("a") + link_text("b", pose_text("", "relative_to='j'")) + joint_text("j", "fixed", "a", "b")), 5,
       "depends on itself"},
      {"relative to the world", model(link_text("a", pose_text("", "relative_to='world'"))), 3, "world"},
      {"attached in a circle",
       model(link_text("a") + "<frame name='f' attached_to='g'/>\n<frame name='g' attached_to='f'/>"), 4,
       "attached to itself"},
      {"attached to nothing", model(link_text("a") + "<frame name='f' attached_to='g'/>"), 4, "attached_to"},
      {"no canonical link", around("<model name='m' canonical_link='q'><link name='a'/></model>"), 2, "canonical_link"},
      {"no placement frame", around("<model name='m' placement_frame='q'><link name='a'/></model>"), 2,
       "placement_frame"},
      {"a frame of nothing", model("<frame name='f'/>"), 3, "without links"},
      {"collision relative to nothing", shaped("<sphere><radius>1</radius></sphere>", pose_text("", "relative_to='q'")),
       3, "\"q\""},
  });
}

TEST(SdfErrors, OfJoints) {
  const std::string axis = axis_text("1 0 0");
  const auto limit = [](const std::string& text) { return axis_text("1 0 0", "<limit>" + text + "</limit>"); };
  const auto dynamics = [](const std::string& text) { return axis_text("1 0 0", "<dynamics>" + text + "</dynamics>"); };
  expect_all({
      {"no type", model(link_text("a") + "<joint name='j'><parent>world</parent><child>a</child></joint>"), 4, "type"},
      {"unknown type", jointed("hinge", axis), 5, "revolute"},
      {"no parent", model(link_text("a") + "<joint name='j' type='fixed'><child>a</child></joint>"), 4, "parent"},
      {"no child", model(link_text("a") + "<joint name='j' type='fixed'><parent>a</parent></joint>"), 4, "child"},
      {"unknown parent", jointed("revolute", axis, "aa"), 5, "\"aa\""},
      {"unknown child", jointed("revolute", axis, "a", "bb"), 5, "\"bb\""},
      {"empty child", jointed("revolute", axis, "a", ""), 5, "empty"},
      {"itself", jointed("revolute", axis, "a", "a"), 5, "itself"},
      {"no axis", jointed("revolute", ""), 5, "<axis>"},
      {"no second axis", jointed("universal", axis), 5, "<axis2>"},
      {"zero axis", jointed("revolute", axis_text("0 0 0")), 5, "no direction"},
      {"two numbers", jointed("revolute", axis_text("0 1")), 5, "3 numbers"},
      {"parallel axes", jointed("universal", axis + "<axis2><xyz>-2 0 0</xyz></axis2>"), 5, "parallel"},
      {"expressed in nothing", jointed("revolute", "<axis><xyz expressed_in='q'>1 0 0</xyz></axis>"), 5, "\"q\""},
      {"limits the wrong way", jointed("revolute", limit("<lower>2</lower><upper>1</upper>")), 5, "lower"},
      {"limits that leave nothing", jointed("revolute", limit("<lower>inf</lower><upper>inf</upper>")), 5, "lower"},
      {"a limit that is no number", jointed("revolute", limit("<lower>nan</lower>")), 5, "nan"},
      {"negative damping", jointed("revolute", dynamics("<damping>-1</damping>")), 5, "negative"},
      {"negative friction", jointed("revolute", dynamics("<friction>-1</friction>")), 5, "negative"},
      {"negative stiffness", jointed("revolute", dynamics("<spring_stiffness>-1</spring_stiffness>")), 5, "negative"},
      {"no thread", jointed("screw", axis + "<thread_pitch>0</thread_pitch>"), 5, "radians per metre"},
      {"follows nothing",
       jointed("revolute", axis_text("1 0 0", "<mimic joint='q'><multiplier>1</multiplier></mimic>")), 5, "\"q\""},
      {"follows without a multiplier", jointed("revolute", axis_text("1 0 0", "<mimic joint='j'/>")), 5, "multiplier"},
      {"follows itself", jointed("revolute", axis_text("1 0 0", "<mimic joint='j'><multiplier>1</multiplier></mimic>")),
       5, "follows itself"},
      {"follows a third axis",
       jointed("revolute", axis_text("1 0 0", "<mimic joint='j' axis='axis3'><multiplier>1</multiplier></mimic>")), 5,
       "axis2"},
      {"moves no mass",
       model(link_text("a") +
             link_text("b",
                       "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>") +
             joint_text("j", "revolute", "a", "b", axis)),
       4, "no mass"},
  });
}

TEST(SdfErrors, OfLinksAndWorlds) {
  const auto inertial = [](const std::string& text) {
    return model(link_text("a", "\n<inertial>" + text + "</inertial>"));
  };
  expect_all({
      {"negative mass", inertial("<mass>-1</mass>"), 4, "negative"},
      {"mass of words", inertial("<mass>heavy</mass>"), 4, "heavy"},
      {"huge mass", inertial("<mass>1e300</mass>"), 4, "1e+15"},
      {"inertia that is no number", inertial("<inertia><ixx>nan</ixx></inertia>"), 4, "nan"},
      {"no geometry", model(link_text("a", "<collision name='c'/>")), 3, "<geometry>"},
      {"an empty geometry", shaped(""), 3, "<empty/>"},
      {"a flat sphere", shaped("<sphere><radius>0</radius></sphere>"), 3, "positive"},
      {"a negative cylinder", shaped("<cylinder><radius>1</radius><length>-1</length></cylinder>"), 3, "negative"},
      {"a negative box", shaped("<box><size>1 -1 1</size></box>"), 3, "not negative"},
      {"a box of two", shaped("<box><size>1 1</size></box>"), 3, "3 numbers"},
      {"a flat ellipsoid", shaped("<ellipsoid><radii>1 0 1</radii></ellipsoid>"), 3, "positive"},
      {"a plane without a normal", shaped("<plane><normal>0 0 0</normal></plane>"), 3, "zero"},
      {"a mesh without a file", shaped("<mesh/>"), 3, "<uri>"},
      {"a mesh outside", shaped("<mesh><uri>/etc/passwd</uri></mesh>"), 3, "passwd"},
      {"negative friction", shaped("<sphere/>", "<surface><friction><ode><mu>-1</mu></ode></friction></surface>"), 3,
       "negative"},
      {"too much bounce",
       shaped("<sphere/>", "<surface><bounce><restitution_coefficient>2</restitution_coefficient></bounce></surface>"),
       3, "between 0 and 1"},
      {"half a bitmask",
       shaped("<sphere/>", "<surface><contact><collide_bitmask>0.5</collide_bitmask></contact></surface>"), 3, "whole"},
      {"a colour too bright",
       model(link_text(
           "a",
           "<visual name='v'><geometry><sphere/></geometry><material><diffuse>2 0 0 1</diffuse></material></visual>")),
       3, "between 0 and 1"},
      {"a flag of words", model("<static>maybe</static>" + link_text("a")), 3, "maybe"},
      {"no time step", world("<physics type='ode'>\n<max_step_size>0</max_step_size></physics>"), 4, "positive"},
      {"gravity of two", world("<gravity>0 0</gravity>"), 3, "3 numbers"},
      {"an include of nothing", world("<include/>"), 3, "<uri>"},
      {"a merge into the world", world("<include merge='1'><uri>model://ground_plane</uri></include>"), 3, "merge"},
  });
}

void read_hostile_files() {
  // A chain of 7,000 joints: no robot.
  std::string chain = link_text("l0");
  for (int i = 1; i < 7'000; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    chain += link_text("l" + n) + joint_text("j" + n, "revolute", "l" + before, "l" + n, axis_text("1 0 0"));
  }
  expect_error([&] { load_text(model(chain), "robot.sdf"); }, "too long a chain");
  // Joints that follow one another in a long line.
  std::string line = link_text("a");
  for (int i = 0; i < 3000; ++i) {
    const std::string n = std::to_string(i);
    line += link_text("l" + n) + joint_text("j" + n, "revolute", "a", "l" + n,
                                            axis_text("1 0 0", "<mimic joint='j" + std::to_string(i + 1) +
                                                                   "'><multiplier>1</multiplier></mimic>"));
  }
  line += link_text("z") + joint_text("j3000", "revolute", "a", "z", axis_text("1 0 0"));
  expect_error([&] { load_text(model(line), "robot.sdf"); }, "more than 100 joints");
  // Models within models.
  std::string nested, ends;
  for (int i = 0; i < 90; ++i) {
    nested += "<model name='" + std::string(255, 'n') + "'>" + link_text("l");
    ends += "</model>";
  }
  const LoadedModel deep = load_text(around(nested + ends), "robot.sdf");
  EXPECT_EQ(deep.model.bodies().size(), 91u);
  // Many links that may not touch each other: a warning instead of a million pairs.
  std::string many;
  for (int i = 0; i < 2000; ++i) many += link_text(numbered("l", i), collision_text("<sphere/>"));
  EXPECT_EQ(warnings_of(load_text(model(many), "robot.sdf"), "sdf.self_collide"), 1);
}

// Hostile files cost little.
TEST(SdfErrors, ComeSoon) { EXPECT_LT(cpu_seconds(read_hostile_files), kLong); }

}  // namespace
}  // namespace lithe::test::sdf

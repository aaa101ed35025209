#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/io/urdf_text.h"
#include "tests/io/wrong_file.h"
#include "tests/support/clock.h"

// A file that is wrong is refused with one line that says where and what; nothing else comes out of the reader.
namespace lithe::test {
namespace {

// The joint is on line 4.
std::string in_joint(const std::string& inside) {
  return urdf_around("<link name=\"world\"/>\n" + heavy_link("b") + joint_text("j", "revolute", "world", "b", inside));
}
// The collision is on line 4.
std::string with_geometry(const std::string& geometry) {
  return urdf_around("<link name=\"b\">\n" + std::string(kUnitInertial) + "\n<collision><geometry>" + geometry +
                     "</geometry></collision></link>");
}
// The inertial is on line 3.
std::string with_inertial(const std::string& inertial) {
  return urdf_around("<link name=\"b\">\n<inertial>" + inertial + "</inertial></link>");
}
// Links a, b, c; what follows is on line 5.
std::string with_links(const std::string& more) {
  return urdf_around(heavy_link("a") + heavy_link("b") + heavy_link("c") + more);
}

std::vector<Wrong> wrong_urdf_structure() {
  return {
      {"empty file", "", 0, "empty"},
      {"blank file", " \n\n ", 0, "empty"},
      {"no XML", "This is not a valid URDF file.", 1, "XML"},
      {"no end", "<robot name=\"r\">\n<link name=\"a\">", 2, "XML"},
      {"crossed tags", "<robot>\n<link name=\"a\"></robot></link>", 2, "XML"},
      {"two roots", "<robot name=\"r\"><link name=\"a\"/></robot>\n<robot/>", 2, "root"},
      {"doctype", "<!DOCTYPE robot [<!ENTITY a \"b\">]>\n<robot name=\"r\"><link name=\"&a;\"/></robot>", 1, "DOCTYPE"},
      {"UTF-16", "\xFF\xFE<\0r", 1, "UTF-16"},
      {"byte that is no text", "<robot name=\"r\">\n<link name=\"\x80\"/></robot>", 2, "UTF-8"},
      {"another root", "<world/>", 1, "<world>"},
      {"no link", urdf_around(""), 1, "no <link>"},
      {"link without name", urdf_around("<link/>"), 2, "name"},
      {"empty link name", urdf_around("<link name=\"\"/>"), 2, "empty name"},
      {"two links of a name", urdf_around(heavy_link("a") + heavy_link("a")), 3, "two links called 'a'"},
      {"joint without name", with_links("<joint type=\"fixed\"/>"), 5, "name"},
      {"empty joint name", with_links("<joint name=\"\" type=\"fixed\"/>"), 5, "empty name"},
      {"joint without type", with_links("<joint name=\"j\"/>"), 5, "type"},
      {"joint without parent", with_links("<joint name=\"j\" type=\"fixed\"><child link=\"b\"/></joint>"), 5,
       "<parent>"},
      {"joint without child", with_links("<joint name=\"j\" type=\"fixed\"><parent link=\"b\"/></joint>"), 5,
       "<child>"},
      {"parent without link", with_links("<joint name=\"j\" type=\"fixed\"><parent/><child link=\"b\"/></joint>"), 5,
       "link"},
      {"two joints of a name", with_links(joint_text("j", "fixed", "a", "b") + joint_text("j", "fixed", "a", "c")), 6,
       "two joints called 'j'"},
      {"unknown type", with_links(joint_text("j", "hinge", "a", "b")), 5, "\"hinge\""},
      {"unknown parent", with_links(joint_text("j", "fixed", "aa", "b")), 5, "did you mean 'a'"},
      {"unknown child", with_links(joint_text("j", "fixed", "a", "d")), 5, "unknown child link 'd'"},
      {"child of itself", with_links(joint_text("j", "fixed", "a", "a")), 5, "itself"},
      {"two parents", with_links(joint_text("j", "fixed", "a", "c") + joint_text("k", "fixed", "b", "c")), 6,
       "already the child of joint 'j' (line 5)"},
      {"several roots", with_links(joint_text("j", "fixed", "a", "b")), 4, "both roots"},
      {"cycle",
       with_links(joint_text("i", "fixed", "a", "b") + joint_text("j", "fixed", "b", "c") +
                  joint_text("k", "fixed", "c", "a")),
       7, "cycle"},
      {"cycle beside a root", with_links(joint_text("j", "fixed", "b", "c") + joint_text("k", "fixed", "c", "b")), 6,
       "cycle"},
      {"world as a child", urdf_around(heavy_link("a") + heavy_link("world") + joint_text("j", "fixed", "a", "world")),
       3, "'world'"},
      {"joint named as a part",
       with_links(joint_text("j", "floating", "a", "b") + joint_text("j.x", "fixed", "b", "c")), 5, "'j.x'"},
      {"xacro element", "<robot name=\"r\" xmlns:xacro=\"x\">\n<xacro:include filename=\"a\"/></robot>", 2,
       "run `xacro"},
      {"xacro value", urdf_around("<link name=\"${prefix}a\"/>"), 2, "run `xacro"},
      {"xacro argument",
       urdf_around(
           "<link name=\"a\">\n<visual><geometry><mesh filename=\"$(find p)/a.stl\"/></geometry></visual></link>"),
       3, "run `xacro"},
  };
}

std::vector<Wrong> wrong_urdf_numbers() {
  const std::string inertia = "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/>";
  return {
      {"inertial without mass", with_inertial(inertia), 3, "<mass"},
      {"inertial without inertia", with_inertial("<mass value=\"1\"/>"), 3, "<inertia"},
      {"mass without value", with_inertial("<mass/>" + inertia), 3, "value"},
      {"negative mass", with_inertial("<mass value=\"-1\"/>" + inertia), 3, "negative"},
      {"mass nan", with_inertial("<mass value=\"nan\"/>" + inertia), 3, "nan"},
      {"mass inf", with_inertial("<mass value=\"inf\"/>" + inertia), 3, "inf"},
      {"mass 1e999", with_inertial("<mass value=\"1e999\"/>" + inertia), 3, "1e999"},
      {"mass 1e308", with_inertial("<mass value=\"1e308\"/>" + inertia), 3, "1e+308"},
      {"mass with a unit", with_inertial("<mass value=\"1kg\"/>" + inertia), 3, "1kg"},
      {"mass with a comma", with_inertial("<mass value=\"1,5\"/>" + inertia), 3, "1,5"},
      {"two masses in one", with_inertial("<mass value=\"1 2\"/>" + inertia), 3, "1 number"},
      {"no izz", with_inertial("<mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\"/>"), 3, "izz"},
      {"huge inertia", with_inertial("<mass value=\"1\"/><inertia ixx=\"1e300\" iyy=\"1\" izz=\"1\"/>"), 3, "ixx"},
      {"far centre", with_inertial("<origin xyz=\"1e200 0 0\"/><mass value=\"1\"/>" + inertia), 3, "xyz"},
      {"two coordinates", with_inertial("<origin xyz=\"1 0\"/><mass value=\"1\"/>" + inertia), 3, "3 numbers"},
      {"four coordinates", with_inertial("<origin rpy=\"1 0 0 0\"/><mass value=\"1\"/>" + inertia), 3, "3 numbers"},
      {"zero quaternion", with_inertial("<origin quat_xyzw=\"0 0 0 0\"/><mass value=\"1\"/>" + inertia), 3, "zero"},
      {"two rotations", with_inertial("<origin rpy=\"0 0 0\" quat_xyzw=\"0 0 0 1\"/><mass value=\"1\"/>" + inertia), 3,
       "both"},
      {"limit nan", in_joint("<limit lower=\"nan\" upper=\"1\"/>"), 4, "nan"},
      {"limits nowhere", in_joint("<limit lower=\"1e300\" upper=\"1e301\"/>"), 4, "no position"},
      {"limit in degrees sign", in_joint("<limit lower=\"90°\" upper=\"1\"/>"), 4, "90°"},
      {"negative damping", in_joint("<limit lower=\"0\" upper=\"1\"/><dynamics damping=\"-1\"/>"), 4, "damping"},
      {"negative friction", in_joint("<limit lower=\"0\" upper=\"1\"/><dynamics friction=\"-1\"/>"), 4, "friction"},
      {"huge damping", in_joint("<limit lower=\"0\" upper=\"1\"/><dynamics damping=\"1e300\"/>"), 4, "damping"},
      {"axis nan", in_joint("<axis xyz=\"nan 0 0\"/>"), 4, "nan"},
      {"axis without xyz", in_joint("<axis/>"), 4, "xyz"},
      {"mimic without joint", in_joint("<mimic/>"), 4, "joint"},
      {"mimic of itself", in_joint("<mimic joint=\"j\"/>"), 4, "follow itself"},
      {"mimic in a circle",
       urdf_around("<link name=\"world\"/>" + heavy_link("a") + heavy_link("b") +
                   joint_text("j", "continuous", "world", "a", "<mimic joint=\"k\"/>") +
                   joint_text("k", "continuous", "a", "b", "<mimic joint=\"j\"/>")),
       4, "follow itself"},
      {"negative mu", urdf_around(heavy_link("a") + "<gazebo reference=\"a\"><mu1>-1</mu1></gazebo>"), 3, "negative"},
      {"mu that is no number", urdf_around(heavy_link("a") + "<gazebo reference=\"a\"><mu1>much</mu1></gazebo>"), 3,
       "much"},
      {"restitution above 1", urdf_around(heavy_link("a", "<contact><restitution value=\"2\"/></contact>")), 2,
       "restitution"},
      {"floating link without mass",
       urdf_around("<link name=\"world\"/><link name=\"a\"/>" + heavy_link("b") +
                   joint_text("j", "floating", "world", "a") + joint_text("k", "continuous", "a", "b")),
       3, "has a mass"},
  };
}

std::vector<Wrong> wrong_urdf_shapes() {
  return {
      {"box without size", with_geometry("<box/>"), 4, "size"},
      {"box of two", with_geometry("<box size=\"1 2\"/>"), 4, "3 numbers"},
      {"negative sphere", with_geometry("<sphere radius=\"-1\"/>"), 4, "negative"},
      {"negative box", with_geometry("<box size=\"1 -1 1\"/>"), 4, "negative"},
      {"sphere without radius", with_geometry("<sphere/>"), 4, "radius"},
      {"cylinder without length", with_geometry("<cylinder radius=\"1\"/>"), 4, "length"},
      {"negative capsule", with_geometry("<capsule radius=\"1\" length=\"-1\"/>"), 4, "negative"},
      {"huge sphere", with_geometry("<sphere radius=\"1e308\"/>"), 4, "radius"},
      {"mesh without filename", with_geometry("<mesh/>"), 4, "filename"},
      {"mesh from the web", with_geometry("<mesh filename=\"http://example.com/a.stl\"/>"), 4, "http"},
      {"way out of the folder", with_geometry("<mesh filename=\"/etc/passwd\"/>"), 4, "passwd"},
      {"absolute way out", with_geometry("<mesh filename=\"/etc/passwd\"/>"), 4, "passwd"},
      {"file URI out", with_geometry("<mesh filename=\"file:///etc/passwd\"/>"), 4, "passwd"},
      {"flat scale", with_geometry("<mesh filename=\"a.stl\" scale=\"1 0 1\"/>"), 4, "zero"},
      {"scale of two", with_geometry("<mesh filename=\"a.stl\" scale=\"1 1\"/>"), 4, "scale"},
  };
}

void expect_urdf_refused(const Wrong& wrong) {
  try {
    load_text(wrong.text, "robot.urdf");
    ADD_FAILURE() << wrong.what << ": it was read";
  } catch (const LoadError& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.place().line, wrong.line) << wrong.what << ": " << text;
    EXPECT_TRUE(text.starts_with("robot.urdf")) << wrong.what << ": " << text;
    EXPECT_NE(text.find(": error: "), std::string::npos) << wrong.what << ": " << text;
    EXPECT_NE(text.find(wrong.says), std::string::npos) << wrong.what << ": '" << wrong.says << "' is not in: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << wrong.what << ": more than one line";
  }
}

TEST(UrdfErrors, NameTheLineOfAWrongStructure) {
  for (const Wrong& wrong : wrong_urdf_structure()) expect_urdf_refused(wrong);
}
TEST(UrdfErrors, NameTheLineOfAWrongNumber) {
  for (const Wrong& wrong : wrong_urdf_numbers()) expect_urdf_refused(wrong);
}
TEST(UrdfErrors, NameTheLineOfAWrongShape) {
  for (const Wrong& wrong : wrong_urdf_shapes()) expect_urdf_refused(wrong);
}

TEST(UrdfErrors, RefuseDeepNesting) {
  std::string text = "<robot name=\"r\">";
  for (int i = 0; i < 10'000; ++i) text += "<link name=\"a\">";
  EXPECT_THROW(load_text(text, "robot.urdf"), LoadError);
}

// A file with a bit of everything.
const std::string& rich_file() {
  static const std::string text = urdf_around(
      "<material name=\"m\"><color rgba=\"1 0 0 1\"/></material>\n"
      "<link name=\"world\"/>\n" +
      heavy_link("a",
                 "<collision name=\"s\"><origin xyz=\"1 2 3\" rpy=\"0 1 0\"/><geometry><box size=\"1 2 "
                 "3\"/></geometry></collision>\n"
                 "<visual><geometry><cylinder radius=\"1\" length=\"2\"/></geometry><material name=\"m\"/></visual>") +
      heavy_link("b", "<contact><lateral_friction value=\"0.5\"/></contact>") +
      joint_text("j", "revolute", "world", "a",
                 "<axis xyz=\"0 0 1\"/><limit lower=\"-1\" upper=\"1\" effort=\"3\" velocity=\"4\"/>\n"
                 "<dynamics damping=\"1\" friction=\"2\"/>") +
      joint_text("k", "prismatic", "a", "b", "<mimic joint=\"j\" multiplier=\"2\" offset=\"1\"/><limit upper=\"1\"/>") +
      "<gazebo reference=\"a\"><mu1>0.5</mu1></gazebo><gazebo "
      "reference=\"j\"><springStiffness>1</springStiffness></gazebo>\n"
      "<transmission name=\"t\"><joint name=\"j\"/><actuator name=\"m\"/></transmission>");
  return text;
}

TEST(UrdfErrors, RefuseEveryBeginningOfAFile) {
  const std::string& whole = rich_file();
  const std::size_t end = whole.rfind("</robot>") + std::string("</robot>").size();
  EXPECT_NO_THROW(load_text(whole.substr(0, end), "robot.urdf"));
  for (std::size_t length = 0; length < end; ++length) {
    EXPECT_THROW(load_text(whole.substr(0, length), "robot.urdf"), LoadError) << "the first " << length << " bytes";
  }
}

// Replaces each attribute's value in turn. What comes is a model or a LoadError with a place, never anything else.
TEST(UrdfErrors, AreAllThatASpoiltValueCanCause) {
  const std::string& whole = rich_file();
  int refused = 0, read = 0;
  for (const std::string value :
       {"", "nan", "1e308", "-1", "0", "0 0 0", "1e-308", "a", "world", "../../x", "\xC3\xA4", "9999999"}) {
    for (std::size_t at = whole.find("=\""); at != std::string::npos; at = whole.find("=\"", at + 1)) {
      std::string spoilt = whole;
      spoilt.replace(at + 2, whole.find('"', at + 2) - at - 2, value);
      try {
        EXPECT_TRUE(load_text(spoilt, "robot.urdf").q.allFinite());
        ++read;
      } catch (const LoadError& error) {
        EXPECT_GT(error.place().line, 0) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(read, 100);
}

double seconds_to_refuse_or_read(const std::string& text, const LoadOptions& options = {}) {
  return cpu_seconds([&] {
    try {
      load_text(text, "robot.urdf", options);
    } catch (const LoadError&) {
    }
  });
}

TEST(UrdfErrors, ComeSoonForAFileOfManyLinks) {
  std::string chain = heavy_link("l0"), star = chain, mimics = "<link name=\"world\"/>";
  for (int i = 1; i < 8'000; ++i) {
    const std::string name = "l" + std::to_string(i), last = "l" + std::to_string(i - 1);
    chain += heavy_link(name) + joint_text("j" + name, "continuous", last, name);
    star += "<link name=\"" + name + "\">" + kUnitInertial +
            "<collision name=\"same\"><geometry><sphere radius=\"1\"/></geometry></collision></link>" +
            joint_text("j" + name, "fixed", "l0", name) + "<gazebo reference=\"" + name +
            "\"><selfCollide>false</selfCollide></gazebo>";
    mimics += heavy_link(name) + joint_text("j" + std::to_string(i), "continuous", "world", name,
                                            "<mimic joint=\"j" + std::to_string(i + 1) + "\"/>");
  }
  EXPECT_LT(seconds_to_refuse_or_read(urdf_around(chain)), kLong);
  EXPECT_LT(seconds_to_refuse_or_read(urdf_around(star)), kLong);
  EXPECT_LT(seconds_to_refuse_or_read(urdf_around(mimics)), kLong);
}

TEST(UrdfErrors, ComeSoonForLongNamesAndManyMissingMeshes) {
  const std::string name(1'000'000, 'x');
  EXPECT_LT(
      seconds_to_refuse_or_read(urdf_around(heavy_link(name + "a") + joint_text("j", "fixed", name + "b", name + "c"))),
      kLong);
  std::string visuals;
  for (int i = 0; i < 20'000; ++i) {
    visuals += "<visual><geometry><mesh filename=\"" + std::to_string(i) + ".stl\"/></geometry></visual>";
  }
  EXPECT_LT(seconds_to_refuse_or_read(urdf_around(heavy_link("a", visuals))), kLong);
}

}  // namespace
}  // namespace lithe::test

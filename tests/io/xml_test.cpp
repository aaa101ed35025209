#include "lithe/io/xml/xml.h"

#include <gtest/gtest.h>

#include <string>

namespace lithe::test {

using namespace internal;
namespace {

class Parsed {
 public:
  explicit Parsed(const std::string& text, int elements = 1000)
      : elements_(elements), document_(text, "robot.xml", elements_) {}
  XmlElement root() const { return document_.root(); }

 private:
  int elements_;
  XmlDocument document_;
};

// The message of the LoadError that `action` throws.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const LoadError& error) {
    return error.what();
  }
  return "no error";
}
std::string message_of_parsing(const std::string& text, int elements = 1000) {
  return message_of([&] { Parsed(text, elements); });
}

TEST(Xml, ReadsNumbersWithoutLocale) {
  const Parsed xml("<a x=\" 1.5 \" y='+1e-3' z='-0x' many='1 2\t3\n4'>\n <!-- note --> 7 8 </a>");
  const XmlElement a = xml.root();
  EXPECT_EQ(a.number("x"), 1.5);
  EXPECT_EQ(a.number("y"), 1e-3);
  EXPECT_EQ(a.number("none"), std::nullopt);
  EXPECT_EQ(a.number_or("none", 3), 3);
  EXPECT_EQ(a.numbers("many", 4, 4), (VecX(4) << 1, 2, 3, 4).finished());
  EXPECT_EQ(a.text_numbers(2, 2), (VecX(2) << 7, 8).finished());
  EXPECT_EQ(a.line(), 1);
}

TEST(Xml, AWrongNumberIsShownWithItsLine) {
  const Parsed xml(
      "<a>\n<b x='1,5'/>\n<b x='1.5m'/>\n<b x='nan'/>\n<b x='inf'/>\n<b x='1e999'/>\n<b x=''/>\n<b x='1 2'/>\n</a>");
  const std::vector<XmlElement> b = xml.root().children("b");
  const auto message = [&](int i) { return message_of([&] { b[static_cast<std::size_t>(i)].number("x"); }); };
  EXPECT_EQ(message(0), "robot.xml:2: error: attribute x of <b> has \"1,5\" where a number is expected");
  EXPECT_EQ(message(1), "robot.xml:3: error: attribute x of <b> has \"1.5m\" where a number is expected");
  EXPECT_EQ(message(2), "robot.xml:4: error: attribute x of <b> is \"nan\", but must be a finite number");
  EXPECT_EQ(message(3), "robot.xml:5: error: attribute x of <b> is \"inf\", but must be a finite number");
  EXPECT_EQ(message(4), "robot.xml:6: error: attribute x of <b> is \"1e999\", which is too large for a number");
  EXPECT_EQ(message(5), "robot.xml:7: error: attribute x of <b> is \"\", but must be 1 number");
  EXPECT_EQ(message(6), "robot.xml:8: error: attribute x of <b> is \"1 2\", but must be 1 number");
}

TEST(Xml, NumbersTooSmallToHoldAreZero) {
  const Parsed xml("<a x='1e-400' y='-2E-999'/>");
  EXPECT_EQ(xml.root().number("x"), 0);
  EXPECT_EQ(xml.root().number("y"), 0);
}

TEST(Xml, WholeNumbersAndFlagsAreChecked) {
  const Parsed xml("<a n='3' m='3.5' huge='1e12' yes='true' no='0' maybe='perhaps'/>");
  const XmlElement a = xml.root();
  EXPECT_EQ(a.integer("n"), 3);
  EXPECT_EQ(a.flag("yes"), true);
  EXPECT_EQ(a.flag("no"), false);
  EXPECT_NE(message_of([&] { a.integer("m"); }).find("must be a whole number"), std::string::npos);
  EXPECT_NE(message_of([&] { a.integer("huge"); }).find("must be a whole number"), std::string::npos);
  EXPECT_NE(message_of([&] { a.flag("maybe"); }).find("\"perhaps\", but must be true or false"), std::string::npos);
}

TEST(Xml, WhatIsMissingIsNamed) {
  const Parsed xml("<robot>\n  <link/>\n</robot>");
  const XmlElement link = xml.root().child("link");
  EXPECT_EQ(message_of([&] { link.required_attribute("name"); }),
            "robot.xml:2: error: <link> needs the attribute name");
  EXPECT_EQ(message_of([&] { link.required("inertial"); }), "robot.xml:2: error: <link> needs a <inertial> inside");
  EXPECT_FALSE(link.child("inertial"));
}

TEST(Xml, AFileThatIsNoXmlSaysWhere) {
  EXPECT_EQ(message_of_parsing("").substr(0, 21), "robot.xml: error: the");
  EXPECT_NE(message_of_parsing("<a>\n<b>\n</a>").find("robot.xml:"), std::string::npos);
  EXPECT_NE(message_of_parsing("<a>\n<b>\n</a>").find("not well-formed"), std::string::npos);
  EXPECT_NE(message_of_parsing("just text").find("error"), std::string::npos);
  EXPECT_NE(message_of_parsing("<a/><b/>").find("one root element"), std::string::npos);
  EXPECT_NE(message_of_parsing("<a x='1' x='2'").find("error"), std::string::npos);
}

TEST(Xml, ADocumentTypeIsRefusedAndSoAreItsEntities) {
  const std::string bomb =
      "<?xml version='1.0'?>\n<!DOCTYPE lolz [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]>\n<robot>&b;</robot>";
  EXPECT_NE(message_of_parsing(bomb).find("error"), std::string::npos);
  EXPECT_NE(message_of_parsing("<!DOCTYPE robot>\n<robot/>").find("document type"), std::string::npos);
  EXPECT_NE(message_of_parsing("<robot><!ENTITY x></robot>").find("document type"), std::string::npos);
}

TEST(Xml, OtherEncodingsAreNamed) {
  EXPECT_NE(message_of_parsing(std::string("\xFF\xFE<\0a\0", 6)).find("UTF-16"), std::string::npos);
  EXPECT_EQ(message_of_parsing("<a>\n caf\xE9 </a>"),
            "robot.xml:2: error: byte 0xe9 is not UTF-8; save the file as UTF-8");
  EXPECT_NE(message_of_parsing(std::string("<a>\0</a>", 8)).find("byte 0x00"), std::string::npos);
  EXPECT_EQ(message_of_parsing("\xEF\xBB\xBF<a/>"), "no error");  // a byte order mark
  EXPECT_EQ(message_of_parsing("<a>caf\xC3\xA9</a>"), "no error");
}

TEST(Xml, NestingAndCountsAreBounded) {
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "<a>";
  EXPECT_NE(message_of_parsing(deep, 10'000).find("nested more than"), std::string::npos);
  std::string many = "<r>";
  for (int i = 0; i < 100; ++i) many += "<a/>";
  many += "</r>";
  EXPECT_EQ(message_of_parsing(many, 101), "no error");
  EXPECT_NE(message_of_parsing(many, 100).find("LoadLimits::elements"), std::string::npos);
}

TEST(Xml, AttributesOfOneElementAreBounded) {
  std::string many = "<r";
  for (int i = 0; i < 1'000'000; ++i) many += " a" + std::to_string(i) + "='='";
  EXPECT_NE(message_of_parsing(many + "/>").find("more than 100 attributes"), std::string::npos);
  EXPECT_EQ(message_of_parsing("<r a='" + std::string(5000, '=') + "'><!-- " + std::string(5000, '=') + " --></r>"),
            "no error");
}

TEST(Xml, AttributesCountWhereTheyAreMany) {
  const std::string ten = "a='' b='' c='' d='' e='' f='' g='' h='' i='' j=''";
  EXPECT_EQ(message_of_parsing("<r " + ten + "/>", 3), "no error");  // three count as one
  EXPECT_NE(message_of_parsing("<r " + ten + "/>", 2).find("LoadLimits::elements"), std::string::npos);
  // What looks like an attribute and is none, or hides one.
  EXPECT_EQ(message_of_parsing("<r>" + ten + "<![CDATA[<a b='\"]]></r>", 3), "no error");
  EXPECT_EQ(message_of_parsing("<r a='><a b='/>", 1), message_of_parsing("<r a='><a b='/>", 100));
  EXPECT_NE(message_of_parsing("<r><![CDATA[\"]]><a " + ten + "/></r>", 2).find("LoadLimits::elements"),
            std::string::npos);
}

TEST(Xml, CommentsCountAsElements) {
  EXPECT_EQ(message_of_parsing("<r><!--<a/><a/>--><!-- b='1' --></r>", 3), "no error");
  EXPECT_NE(message_of_parsing("<r>\n<!----><!----></r>", 2).find("robot.xml:2: error: "), std::string::npos);
}

TEST(Xml, NamesAreBounded) {
  const std::string longest(255, 'n'), longer(256, 'n');
  EXPECT_EQ(message_of_parsing("<" + longest + " " + longest + "='' name='" + longest + "'/>"), "no error");
  for (const std::string& text : {"<" + longer + "/>", "<a " + longer + "=''/>", "<a name='" + longer + "'/>"}) {
    EXPECT_NE(message_of_parsing(text).find("(256 characters); at most 255 are allowed"), std::string::npos);
  }
  EXPECT_EQ(message_of_parsing("<a file='" + std::string(4096, '/') + "' rgba='" + std::string(9999, '1') + "'/>"),
            "no error");
  EXPECT_NE(message_of_parsing("<a filename='" + std::string(4097, '/') + "'/>").find("at most 4096"),
            std::string::npos);
  EXPECT_NE(message_of_parsing("<a meshdir='" + std::string(4097, '/') + "'/>").find("at most 4096"),
            std::string::npos);
}

TEST(Xml, LongValuesAreCutInMessages) {
  const Parsed xml("<a x='" + std::string(100000, 'z') + "'/>");
  EXPECT_LT(message_of([&] { xml.root().number("x"); }).size(), 250u);
}

TEST(Warnings, OfOneKindAreOne) {
  WarningList warnings;
  warnings.add({"a.urdf", 3}, "urdf.transmission", "transmissions are ignored");
  warnings.add({"a.urdf", 9}, "urdf.transmission", "transmissions are ignored");
  warnings.add({"a.urdf", 5}, "urdf.sensor", "sensors are ignored");
  ASSERT_EQ(warnings.warnings().size(), 2u);
  EXPECT_EQ(to_string(warnings.warnings()[0]), "a.urdf:3: warning: transmissions are ignored (and 1 more)");
  EXPECT_EQ(to_string(warnings.warnings()[1]), "a.urdf:5: warning: sensors are ignored");
}

TEST(Warnings, OfVeryManyKindsDoNotFillMemory) {
  WarningList warnings;
  for (int i = 0; i < 100'000; ++i) warnings.add({"a.urdf", i}, std::to_string(i), "odd");
  EXPECT_EQ(warnings.warnings().size(), 1000u);
  EXPECT_EQ(warnings.warnings().back().kind, "more");
}

TEST(Warnings, AreErrorsWhereOneIsStrict) {
  WarningList warnings(true);
  EXPECT_EQ(message_of([&] { warnings.add({"a.urdf", 3}, "kind", "text"); }), "a.urdf:3: error: text");
}

TEST(WarningList, RanksWhatMattersFirst) {
  WarningList warnings;
  warnings.add({"a.urdf", 3}, "urdf.safety_controller", "controllers are not used");
  warnings.add({"a.urdf", 4}, "mesh.missing", "a mesh is missing");
  warnings.add({"a.urdf", 5}, "urdf.massless", "a joint is locked");
  warnings.add({"a.urdf", 6}, "urdf.transmission.joint", "transmissions are not used");
  warnings.add({"a.urdf", 7}, "urdf.safety_controller", "controllers are not used");
  warnings.add({"a.urdf", 8}, "a.kind.that.nobody.knows", "something happened");
  warnings.add({"a.urdf", 9}, "urdf.unknown.lmit", "<lmit> is not known", WarningRank::motion);
  std::vector<std::string> kinds;
  for (const LoadWarning& warning : warnings.ranked()) kinds.push_back(warning.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"urdf.massless", "a.kind.that.nobody.knows", "urdf.unknown.lmit",
                                             "mesh.missing", "urdf.safety_controller", "urdf.transmission.joint"}));
  EXPECT_EQ(to_string(WarningRank::motion), "motion");
  EXPECT_EQ(to_string(WarningRank::contact), "contact");
  EXPECT_EQ(to_string(WarningRank::unused), "unused");

  const std::vector<std::string> lines = folded(warnings.ranked(), "see the list");
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "a.urdf:5: warning: a joint is locked");
  EXPECT_EQ(
      lines[4],
      "a.urdf: note: 3 more things in the file are not used, and change neither motion nor contact: see the list");
  EXPECT_EQ(folded(warnings.ranked(), "").size(), 6u);
  EXPECT_TRUE(folded({}, "see the list").empty());
}

TEST(WarningList, TellsWhatAFileLeavesOpenAlsoStrictly) {
  WarningList strict(true);
  strict.note({"a.urdf", 1}, "urdf.base", "it floats");
  EXPECT_EQ(strict.warnings().size(), 1u);
  EXPECT_THROW(strict.add({"a.urdf", 2}, "urdf.axis", "it has none"), LoadError);
}

}  // namespace
}  // namespace lithe::test

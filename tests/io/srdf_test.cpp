#include "lithe/io/srdf/srdf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lithe/io/write_srdf.h"
#include "tests/io/mjcf_text.h"
#include "tests/io/scratch_folder.h"
#include "tests/io/urdf_text.h"

namespace lithe::test {

using namespace internal;
namespace {

using Reason = ExceptedPair::Reason;

constexpr const char* kCube = "<collision><geometry><box size=\"0.1 0.1 0.1\"/></geometry></collision>";

// Five cubes in a row, 1 m apart, that turn about their row.
std::string row_of_links() {
  std::string text;
  for (const char name : {'a', 'b', 'c', 'd', 'e'}) text += heavy_link(std::string(1, name), kCube);
  for (const char name : {'a', 'b', 'c', 'd'}) {
    text += joint_text(std::string("j") + name, "continuous", std::string(1, name),
                       std::string(1, static_cast<char>(name + 1)), "<origin xyz=\"1 0 0\"/>");
  }
  return urdf_around(text);
}

std::string disable(const std::string& a, const std::string& b) {
  return "<disable_collisions link1=\"" + a + "\" link2=\"" + b + "\" reason=\"Never\"/>\n";
}
std::string srdf_around(const std::string& inside) { return "<robot name=\"r\">\n" + inside + "</robot>\n"; }

std::string pairs_of(const LoadedModel& loaded) {
  std::string text;
  for (const ExceptedPair& pair : loaded.excepted_pairs) {
    text += (text.empty() ? "" : ", ") + pair.a + "-" + pair.b + " " + to_string(pair.reason);
  }
  return text;
}

// The URDF with an SRDF that is named.
LoadedModel load_with(const std::string& srdf, const std::string& urdf = row_of_links(), LoadOptions options = {}) {
  const ScratchFolder folder("lithe_srdf");
  options.base = LoadOptions::Base::floating;  // otherwise there is a warning about what was assumed
  options.srdf = folder.write("said.srdf", srdf);
  return load(folder.write("robot.urdf", urdf), options);
}

const Keyframe& keyframe_of(const LoadedModel& loaded, const std::string& name) {
  const auto found = std::ranges::find(loaded.keyframes, name, &Keyframe::name);
  if (found == loaded.keyframes.end()) throw Error("no keyframe " + name);
  return *found;
}

TEST(Srdf, DisablesPairs) {
  const LoadedModel loaded = load_with(srdf_around(disable("a", "c") + disable("e", "b") + disable("a", "c")));
  EXPECT_EQ(pairs_of(loaded), "a-c srdf, e-b srdf");
  EXPECT_TRUE(loaded.warnings.empty());
  ASSERT_EQ(loaded.model.pair_exceptions().size(), 2u);
  EXPECT_FALSE(loaded.model.pair_exceptions()[0].collide);
  EXPECT_EQ(loaded.files.size(), 2u);
}

TEST(Srdf, HoldsWithEveryPolicy) {
  for (const auto policy : {LoadOptions::SelfCollision::automatic_strict, LoadOptions::SelfCollision::all}) {
    LoadOptions options;
    options.self_collision = policy;
    EXPECT_EQ(pairs_of(load_with(srdf_around(disable("a", "c")), row_of_links(), options)), "a-c srdf");
  }
}

TEST(Srdf, DisablesALinkWithExceptions) {
  const LoadedModel loaded =
      load_with(srdf_around("<disable_default_collisions link=\"e\"/>"
                            "<enable_collisions link1=\"e\" link2=\"b\"/>" +
                            disable("b", "e")));
  EXPECT_EQ(pairs_of(loaded), "e-a srdf, e-c srdf, e-d srdf");
}

// The outer two of three links that share a centre.
std::string overlapping_links(const std::string& more = "") {
  return urdf_around(heavy_link("a", kCube) + heavy_link("b", kCube) + heavy_link("c", kCube) +
                     joint_text("j", "continuous", "a", "b") + joint_text("k", "continuous", "b", "c", more));
}

TEST(Srdf, IsTakenInsteadOfSampling) {
  EXPECT_EQ(pairs_of(load_text(overlapping_links(), "robot.urdf")), "a-c often");
  // Who lists pairs has thought about them; what overlaps at the start is excepted nonetheless.
  EXPECT_EQ(pairs_of(load_with(srdf_around(disable("a", "b")), overlapping_links())), "a-b srdf, a-c start");
  // States alone say nothing about pairs.
  EXPECT_EQ(pairs_of(load_with(srdf_around("<group_state name=\"s\"><joint name=\"j\" value=\"1\"/></group_state>"),
                               overlapping_links())),
            "a-c often");
}

TEST(Srdf, WinsOverWhatIsFoundAutomatically) {
  const LoadedModel loaded =
      load_with(srdf_around("<enable_collisions link1=\"c\" link2=\"a\"/>"), overlapping_links());
  EXPECT_EQ(pairs_of(loaded), "");
  ASSERT_EQ(loaded.model.pair_exceptions().size(), 1u);
  EXPECT_TRUE(loaded.model.pair_exceptions()[0].collide);
}

TEST(Srdf, HasStatesThatBecomeKeyframes) {
  const std::string arm =
      "<group_state name=\"half_sitting\" group=\"arm\">"
      "<joint name=\"root_joint\" value=\"1 2 3 0 0 2 0\"/>"
      "<joint name=\"ja\" value=\"0.5\"/></group_state>";
  const std::string hand =
      "<group_state name=\"half_sitting\" group=\"hand\">"
      "<joint name=\"jb\" value=\"0 1\"/></group_state>";
  const LoadedModel loaded = load_with(srdf_around(arm + hand));
  ASSERT_EQ(loaded.keyframes.size(), 1u);  // of two groups, but of one name
  const Keyframe& keyframe = loaded.keyframes[0];
  EXPECT_EQ(keyframe.name, "half_sitting");
  ASSERT_EQ(keyframe.q.size(), loaded.model.nq());
  EXPECT_EQ(keyframe.v, VecX::Zero(loaded.model.nv()));
  EXPECT_EQ(keyframe.q.head<3>(), Vec3(1, 2, 3));
  EXPECT_EQ(keyframe.q.segment<4>(3), Vec4(0, 0, 1, 0));
  EXPECT_EQ(keyframe.q[7], 0.5);
  EXPECT_NEAR(keyframe.q[8], std::acos(0.0), 1e-15);  // cosine and sine
  EXPECT_EQ(keyframe.q[9], 0);                        // where the file starts
  EXPECT_EQ(loaded.q[7], 0);
}

TEST(Srdf, HasStatesOfPlanarAndFloatingJointsAndOfFollowers) {
  const std::string urdf =
      urdf_around("<link name=\"world\"/>" + heavy_link("a") + heavy_link("b") + heavy_link("c") + heavy_link("d") +
                  joint_text("plane", "planar", "world", "a", "<axis xyz=\"0 0 1\"/>") +
                  joint_text("free", "floating", "a", "b") + joint_text("j", "continuous", "b", "c") +
                  joint_text("k", "continuous", "b", "d", "<mimic joint=\"j\" multiplier=\"2\"/>"));
  const std::string state =
      "<group_state name=\"s\"><joint name=\"plane\" value=\"1 2 0 1\"/>"
      "<joint name=\"free\" value=\"4 5 6 0 1 0 0\"/><joint name=\"j\" value=\"0.3\"/>"
      "<joint name=\"root_joint\" value=\"0 0 0 0 0 0 1\"/></group_state>";
  const LoadedModel loaded = load_with(srdf_around(state), urdf);
  const VecX& q = keyframe_of(loaded, "s").q;
  const auto position = [&](const std::string& joint) { return q[joint_of(loaded, joint).q_index]; };
  EXPECT_EQ(position("plane.x"), 1);
  EXPECT_EQ(position("plane.y"), 2);
  EXPECT_NEAR(position("plane.turn"), std::acos(0.0), 1e-15);
  EXPECT_EQ(position("free.z"), 6);
  EXPECT_EQ(q[joint_of(loaded, "free.ball").q_index + 1], 1);
  EXPECT_EQ(position("k"), 0.6);
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST(Srdf, GivesAPoseToStartIn) {
  // c slides away from a: they overlap where the file starts, but not where the state does.
  const std::string urdf = urdf_around(
      heavy_link("a", kCube) +
      heavy_link("m",
                 "<collision><origin xyz=\"0 2 0\"/><geometry><sphere "
                 "radius=\"0.1\"/></geometry></collision>") +
      heavy_link("c", kCube) +
      joint_text("slide", "prismatic", "a", "m", "<limit lower=\"0\" upper=\"9\" effort=\"1\" velocity=\"1\"/>") +
      joint_text("turn", "continuous", "m", "c"));
  const std::string srdf = srdf_around("<group_state name=\"out\"><joint name=\"slide\" value=\"5\"/></group_state>");
  EXPECT_EQ(pairs_of(load_with(srdf, urdf)), "a-c start");
  LoadOptions options;
  options.keyframe = "out";
  const LoadedModel out = load_with(srdf, urdf, options);
  EXPECT_EQ(pairs_of(out), "");
  EXPECT_EQ(out.q[joint_of(out, "slide").q_index], 5);
  options.keyframe = "aut";
  try {
    load_with(srdf, urdf, options);
    FAIL();
  } catch (const LoadError& error) {
    EXPECT_NE(std::string(error.what()).find("'r' has 'out'"), std::string::npos) << error.what();
  }
}

TEST(Srdf, WarnsOfWhatItCannotUse) {
  const LoadedModel loaded =
      load_with(srdf_around(disable("a", "ghost") + disable("gone", "b") +
                            "<group_state name=\"s\"><joint name=\"nobody\" value=\"1\"/>"
                            "<joint name=\"ja\" value=\"1 2 3\"/></group_state>" +
                            "<disable_collision link1=\"a\" link2=\"c\"/><rotor_params/><group name=\"g\"/>"));
  EXPECT_EQ(warning_count(loaded, "srdf.link"), 2);
  EXPECT_EQ(warning_count(loaded, "srdf.joint"), 1);
  EXPECT_EQ(warning_count(loaded, "srdf.value"), 1);
  EXPECT_EQ(warning_count(loaded, "srdf.unknown.disable_collision"), 1);
  EXPECT_EQ(loaded.warnings.size(), 4u);  // what the format lets others add is none
  EXPECT_TRUE(loaded.keyframes.empty());
  LoadOptions strict;
  strict.strict = true;
  EXPECT_THROW(load_with(srdf_around(disable("a", "ghost")), row_of_links(), strict), LoadError);
}

TEST(Srdf, IsRefusedWhereItIsWrong) {
  std::string nested;
  for (int i = 0; i < 200; ++i) nested += "<group>";
  const struct {
    const char* what;
    std::string text;
    const char* says;
  } cases[] = {
      {"another root", "<mujoco/>", "no SRDF"},
      {"a URDF", srdf_around("<link name=\"a\"/>"), "URDF"},
      {"no second link", srdf_around("<disable_collisions link1=\"a\"/>"), "link2"},
      {"a word for a number", srdf_around("<group_state name=\"s\"><joint name=\"ja\" value=\"x\"/></group_state>"),
       "x"},
      {"a state without a name", srdf_around("<group_state/>"), "name"},
      {"entities", "<!DOCTYPE r [<!ENTITY a \"b\">]>" + srdf_around(""), "DOCTYPE"},
      {"depth", srdf_around(nested), "deep"},
      {"no XML", "robot", ""},
      {"nothing", "", ""},
  };
  for (const auto& wrong : cases) {
    try {
      load_with(wrong.text);
      ADD_FAILURE() << wrong.what << " was read";
    } catch (const LoadError& error) {
      EXPECT_NE(std::string(error.what()).find(wrong.says), std::string::npos) << wrong.what << ": " << error.what();
      EXPECT_NE(error.place().file.find("said.srdf"), std::string::npos) << wrong.what;
    }
  }
  LoadOptions small;
  small.limits.xml_bytes = 3'000;
  EXPECT_THROW(load_with(srdf_around(std::string(4'000, ' ')), row_of_links(), small), LoadError);
  small = {};
  small.limits.elements = 100;
  std::string many;
  for (int i = 0; i < 100; ++i) many += disable("a", "c");
  EXPECT_THROW(load_with(srdf_around(many), row_of_links(), small), LoadError);
  LoadOptions missing;
  missing.srdf = "/there/is/no.srdf";
  EXPECT_THROW(load_text(row_of_links(), "robot.urdf", missing), LoadError);
}

TEST(Srdf, GoesWithAUrdfOnly) {
  LoadOptions options;
  options.srdf = "any.srdf";
  EXPECT_THROW(load_text(mjcf_around("<worldbody/>"), "robot.xml", options), LoadError);
}

TEST(Srdf, IsFoundWherePeopleKeepIt) {
  for (const char* place : {"urdf/robot.srdf", "srdf/robot.srdf"}) {
    const ScratchFolder folder("lithe_srdf_found");
    const std::string urdf = folder.write("urdf/robot.urdf", row_of_links());
    EXPECT_EQ(pairs_of(load(urdf)), "");
    const std::string srdf = folder.write(place, srdf_around(disable("a", "c")));
    folder.write("srdf/another.srdf", srdf_around(disable("a", "d")));
    const LoadedModel loaded = load(urdf);
    EXPECT_EQ(pairs_of(loaded), "a-c srdf") << place;
    EXPECT_EQ(loaded.files.back(), srdf);
    // One that is named comes instead.
    LoadOptions options;
    options.srdf = folder.at("srdf/another.srdf");
    EXPECT_EQ(pairs_of(load(urdf, options)), "a-d srdf");
  }
  // A text has nothing beside it.
  const ScratchFolder folder("lithe_srdf_text");
  folder.write("robot.srdf", srdf_around(disable("a", "c")));
  EXPECT_EQ(pairs_of(load_text(row_of_links(), folder.at("robot.urdf"))), "");
}

TEST(Srdf, IsDoneWithoutWhereWhatWasFoundIsWrong) {
  const ScratchFolder folder("lithe_srdf_broken");
  const std::string urdf = folder.write("urdf/robot.urdf", row_of_links());
  folder.write("urdf/robot.srdf", "<robot><disable_collisions/></robot>");
  const LoadedModel loaded = load(urdf);
  EXPECT_EQ(warning_count(loaded, "srdf.unreadable"), 1);
  EXPECT_EQ(pairs_of(loaded), "");
  LoadOptions strict;
  strict.strict = true;
  EXPECT_THROW(load(urdf, strict), LoadError);
}

TEST(Srdf, IsNotReadThroughALinkToElsewhere) {
  const ScratchFolder folder("lithe_srdf_link"), elsewhere("lithe_srdf_elsewhere");
  const std::string urdf = folder.write("urdf/robot.urdf", row_of_links());
  const std::string target = elsewhere.write("secret", srdf_around(disable("a", "c")));
  std::filesystem::create_symlink(target, folder.at("urdf/robot.srdf"));
  const LoadedModel loaded = load(urdf);
  EXPECT_EQ(warning_count(loaded, "srdf.outside"), 1);
  EXPECT_EQ(pairs_of(loaded), "");
  LoadOptions options;
  options.anywhere = true;
  EXPECT_EQ(pairs_of(load(urdf, options)), "a-c srdf");
}

TEST(WriteSrdf, GivesBackTheSamePairsAndStates) {
  const std::string urdf = overlapping_links("<origin xyz=\"0.02 0 0\"/>");
  LoadedModel loaded = load_text(urdf, "robot.urdf");
  ASSERT_EQ(pairs_of(loaded), "a-c often");
  loaded.keyframes.push_back({.name = "bent & <turned>", .q = loaded.q, .v = loaded.v, .motor_targets = VecX()});
  loaded.keyframes[0].q << 1, 2, 3, 0.6, 0, 0, 0.8, 0.1, -1.0 / 3;
  const std::string text = write_srdf(loaded);
  EXPECT_NE(text.find("link1=\"a\" link2=\"c\" reason=\"Always\""), std::string::npos) << text;
  EXPECT_NE(text.find("link1=\"a\" link2=\"b\" reason=\"Adjacent\""), std::string::npos) << text;
  const LoadedModel again = load_with(text, urdf);
  EXPECT_EQ(pairs_of(again), "a-b srdf, a-c srdf, b-c srdf");
  ASSERT_EQ(again.keyframes.size(), 1u);
  EXPECT_EQ(again.keyframes[0].name, "bent & <turned>");
  EXPECT_TRUE(again.keyframes[0].q.isApprox(loaded.keyframes[0].q, 1e-16)) << again.keyframes[0].q;
}

TEST(WriteSrdf, FailsWhereItCannotWrite) {
  EXPECT_THROW(save_srdf(load_text(row_of_links(), "robot.urdf"), "/no/such/folder/robot.srdf"), Error);
}

}  // namespace
}  // namespace lithe::test

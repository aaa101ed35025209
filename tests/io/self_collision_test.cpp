#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lithe/collision/collider_set.h"
#include "lithe/io/internal/sampled_poses.h"
#include "tests/io/mjcf_text.h"
#include "tests/io/sdf_text.h"
#include "tests/io/urdf_text.h"

namespace lithe::test {

using namespace internal;
namespace {

using Policy = LoadOptions::SelfCollision;
using Reason = ExceptedPair::Reason;

LoadOptions with(Policy policy) {
  LoadOptions options;
  options.base = LoadOptions::Base::floating;  // otherwise there is a warning about what was assumed
  options.self_collision = policy;
  return options;
}

// A cube of 0.1 m at `place` of its link.
std::string cube(const std::string& place = "0 0 0") {
  return "<collision><origin xyz=\"" + place + "\"/><geometry><box size=\"0.1 0.1 0.1\"/></geometry></collision>";
}
std::string light_link(const std::string& name, const std::string& more = "") {
  return "<link name=\"" + name + "\">" + more + "</link>\n";
}
std::string turning(const std::string& parent, const std::string& child, const std::string& more = "") {
  return joint_text(parent + "_" + child, "continuous", parent, child, more);
}
std::string at(const std::string& place) { return "<origin xyz=\"" + place + "\"/>"; }

// What was excepted, as "a-b reason" in the order of excepting.
std::string excepted(const LoadedModel& loaded) {
  std::string text;
  for (const ExceptedPair& pair : loaded.excepted_pairs) {
    text += (text.empty() ? "" : ", ") + pair.a + "-" + pair.b + " " + to_string(pair.reason);
  }
  return text;
}

// Whether any shapes of two bodies may touch.
bool may_touch(const LoadedModel& loaded, const std::string& a, const std::string& b) {
  const ColliderSet set(loaded.model);
  for (const Collider& x : set.colliders()) {
    for (const Collider& y : set.colliders()) {
      if (x.body != loaded.model.body(a) || y.body != loaded.model.body(b)) continue;
      if (set.may_touch(x.shape, y.shape)) return true;
    }
  }
  return false;
}

// Three cubes on joints that share one centre: a and c overlap in all poses.
std::string compact_joint() {
  return heavy_link("a", cube()) + heavy_link("b", cube("0.1 0 0")) + heavy_link("c", cube()) + turning("a", "b") +
         turning("b", "c", "<axis xyz=\"0 1 0\"/>");
}

// c slides over 10 m and overlaps a in the first 0.1 m only, where it starts.
std::string folded_arm() {
  return heavy_link("a", cube()) + heavy_link("b", cube("0 1 0")) + heavy_link("c", cube()) +
         joint_text("slide", "prismatic", "a", "b", "<limit lower=\"0\" upper=\"10\" effort=\"1\" velocity=\"1\"/>") +
         turning("b", "c");
}

TEST(SelfCollision, LeavesOutWhatOverlapsByDesign) {
  for (const Policy policy : {Policy::automatic, Policy::automatic_strict}) {
    const LoadedModel loaded = load_urdf_text(compact_joint(), with(policy));
    EXPECT_EQ(excepted(loaded), "a-c often");
    EXPECT_FALSE(may_touch(loaded, "a", "c"));
    const ExceptedPair& pair = loaded.excepted_pairs.front();
    EXPECT_EQ(pair.share, 1);
    EXPECT_GE(pair.poses, 32);
    EXPECT_NEAR(pair.depth, 0.1, 1e-9);
    EXPECT_TRUE(loaded.warnings.empty());
  }
  EXPECT_TRUE(may_touch(load_urdf_text(compact_joint(), with(Policy::all)), "a", "c"));
}

TEST(SelfCollision, LeavesOutWhatOverlapsAtTheStartAndSaysSo) {
  const LoadedModel loaded = load_urdf_text(folded_arm(), with(Policy::automatic));
  EXPECT_EQ(excepted(loaded), "a-c start");
  EXPECT_FALSE(may_touch(loaded, "a", "c"));
  const ExceptedPair& pair = loaded.excepted_pairs.front();
  EXPECT_NEAR(pair.depth, 0.1, 1e-9);
  EXPECT_EQ(pair.poses, 256);
  EXPECT_LT(pair.share, 0.05);  // 1 % of 10 m
  ASSERT_EQ(loaded.warnings.size(), 1u);
  EXPECT_EQ(loaded.warnings[0].kind, "self_collision.start");
  for (const char* part : {"1 pair", "a and c (by 0.1 m", "% of poses", "automatic_strict"}) {
    EXPECT_NE(loaded.warnings[0].text.find(part), std::string::npos) << part << " in " << loaded.warnings[0].text;
  }
}

TEST(SelfCollision, SaysWhyInWords) {
  EXPECT_EQ(describe_reason({.a = "a", .b = "c", .reason = Reason::often, .poses = 64, .share = 0.921, .depth = 0.1}),
            "they touch in 92 % of poses");
  ExceptedPair pair = {.a = "a", .b = "c", .reason = Reason::start, .poses = 256, .share = 0.03, .depth = 0.0123};
  EXPECT_EQ(describe_reason(pair), "they overlap by 0.012 m where the model starts, and touch in 3 % of poses");
  pair.poses = 0;  // none was looked at, so there is no share to speak of
  EXPECT_EQ(describe_reason(pair), "they overlap by 0.012 m where the model starts");
  EXPECT_EQ(describe_reason({.a = "a", .b = "c", .reason = Reason::joined}),
            "they are joined, directly or through links without mass or shapes");
  EXPECT_EQ(describe_reason({.a = "a", .b = "c", .reason = Reason::srdf}), "an SRDF says so");
}

TEST(SelfCollision, KeepsWhatOverlapsAtTheStartIfStrict) {
  const LoadedModel loaded = load_urdf_text(folded_arm(), with(Policy::automatic_strict));
  EXPECT_EQ(excepted(loaded), "");
  EXPECT_TRUE(may_touch(loaded, "a", "c"));
  EXPECT_EQ(warning_count(loaded, "self_collision.overlap"), 1);
  EXPECT_TRUE(load_urdf_text(folded_arm(), with(Policy::all)).warnings.empty());
}

TEST(SelfCollision, KeepsWhatMerelyTouches) {
  // Side by side at the start, and apart in nearly all other poses.
  std::string text = folded_arm();
  const std::string side = cube("0.1 0 0");
  text = heavy_link("a", cube()) + heavy_link("b", cube("0 1 0")) + heavy_link("c", side) +
         text.substr(text.find("<joint"));
  const LoadedModel loaded = load_urdf_text(text);
  EXPECT_EQ(excepted(loaded), "");
  EXPECT_TRUE(may_touch(loaded, "a", "c"));
}

TEST(SelfCollision, KeepsWhatMayMeet) {
  // A folding arm of three rods: the outer one can be folded onto the inner one.
  const std::string rod =
      "<collision><origin xyz=\"0.25 0 0\"/><geometry><box size=\"0.4 0.05 0.05\"/></geometry></collision>";
  const std::string limits = "<axis xyz=\"0 0 1\"/>" + at("0.5 0 0");
  const LoadedModel loaded = load_urdf_text(heavy_link("a", rod) + heavy_link("b", rod) + heavy_link("c", rod) +
                                                turning("a", "b", limits) + turning("b", "c", limits),
                                            with(Policy::automatic));
  EXPECT_EQ(excepted(loaded), "");
  EXPECT_TRUE(may_touch(loaded, "a", "c"));
  EXPECT_FALSE(may_touch(loaded, "a", "b"));
  EXPECT_TRUE(loaded.warnings.empty());
}

// A chain of cubes 0.5 m apart, where nothing overlaps; `middle` are the links between a and z.
std::string spread_chain(const std::vector<std::string>& middle) {
  std::string text = heavy_link("a", cube()) + heavy_link("z", cube()), last = "a";
  for (std::size_t i = 0; i <= middle.size(); ++i) {
    const std::string name = i == middle.size() ? "z" : "m" + std::to_string(i);
    if (i < middle.size()) {
      std::string link = middle[i];
      text += link.replace(link.find("NAME"), 4, name);
    }
    text += turning(last, name, at("0.5 0 0") + "<axis xyz=\"1 0 0\"/>");
    last = name;
  }
  return text;
}

TEST(SelfCollision, TakesLinksAsJoinedThroughWhatHasNoShapesOrNoMass) {
  const std::string massless = light_link("NAME"), bare = heavy_link("NAME"), ghost = light_link("NAME", cube());
  const std::string solid = heavy_link("NAME", cube());
  EXPECT_EQ(excepted(load_urdf_text(spread_chain({massless, massless}))), "a-z joined");
  EXPECT_EQ(excepted(load_urdf_text(spread_chain({bare, bare}))), "a-z joined");
  EXPECT_EQ(excepted(load_urdf_text(spread_chain({ghost}))), "a-z joined");
  EXPECT_EQ(excepted(load_urdf_text(spread_chain({massless, bare, massless, bare, massless}))), "a-z joined");
  // An arm without shapes is no joint, and a link with mass and shape is in between.
  EXPECT_EQ(excepted(load_urdf_text(spread_chain({bare, bare, bare}))), "");
  EXPECT_EQ(excepted(load_urdf_text(spread_chain({massless, solid}))), "a-m1 joined");
}

TEST(SelfCollision, TakesABaseThatIsWeldedAsJoinedToItsChildrenAndLeavesTheWorldAlone) {
  LoadOptions fixed;
  fixed.base = LoadOptions::Base::fixed;
  const std::string arm = heavy_link("a", cube()) + heavy_link("foot", cube()) + heavy_link("b", cube()) +
                          joint_text("weld", "fixed", "a", "foot", at("0 0 -0.1")) + turning("a", "b", at("0 0 0.5"));
  EXPECT_EQ(excepted(load_urdf_text(arm, fixed)), "a-b joined, foot-b joined");
  EXPECT_EQ(excepted(load_urdf_text(arm)), "");  // where the base floats, the model has that rule itself
  const LoadedModel on_table = load_urdf_text(light_link("world", cube()) + heavy_link("a", cube()) +
                                              joint_text("j", "continuous", "world", "a", at("0 0 0.2")));
  EXPECT_EQ(excepted(on_table), "");
  EXPECT_TRUE(may_touch(on_table, "world", "a"));
}

TEST(SelfCollision, DoesNotTakeWhatFloatsAsJoined) {
  // A box that floats above the table it was put on: they are not joined, and it must not fall through.
  const LoadedModel loaded = load_urdf_text(light_link("world") + heavy_link("table", cube()) +
                                            heavy_link("box", cube()) + joint_text("weld", "fixed", "world", "table") +
                                            joint_text("free", "floating", "table", "box", at("0 0 0.5")));
  EXPECT_EQ(excepted(loaded), "");
  EXPECT_TRUE(may_touch(loaded, "table", "box"));
}

TEST(SelfCollision, NoneIsNoneButTheWorldIsTouched) {
  const std::string arm = light_link("world", cube("0 0 -1")) + heavy_link("a", cube()) + heavy_link("b", cube()) +
                          heavy_link("c", cube()) + heavy_link("other", cube()) + turning("world", "a", at("0 0 1")) +
                          turning("a", "b", at("0 0 1")) + turning("b", "c", at("0 0 1")) +
                          turning("world", "other", at("9 0 0"));
  const LoadedModel loaded = load_urdf_text(arm, with(Policy::none));
  // A URDF is one robot.
  for (const char* pair : {"ab", "ac", "bc"}) {
    EXPECT_FALSE(may_touch(loaded, std::string(1, pair[0]), std::string(1, pair[1]))) << pair;
  }
  EXPECT_FALSE(may_touch(loaded, "c", "other"));
  EXPECT_TRUE(may_touch(loaded, "world", "c"));
  EXPECT_TRUE(loaded.excepted_pairs.empty());
}

TEST(SelfCollision, OfMjcfIsWhatTheFileSaysUnlessNone) {
  const auto ball = [](const std::string& name, const std::string& inside = "") {
    return "<body name=\"" + name + "\"><joint/><geom size=\"0.1\"/>" + inside + "</body>";
  };
  const std::string two = ball("a", ball("b", ball("c"))) + ball("other");
  for (const Policy policy : {Policy::automatic, Policy::automatic_strict, Policy::all}) {
    const LoadedModel loaded = load_world(two, with(policy));
    EXPECT_TRUE(may_touch(loaded, "a", "c"));  // they overlap in all poses
    EXPECT_TRUE(loaded.model.pair_exceptions().empty());
  }
  const LoadedModel none = load_world(two, with(Policy::none));
  EXPECT_FALSE(may_touch(none, "a", "c"));
  EXPECT_TRUE(may_touch(none, "a", "other"));  // another robot
}

// Whether two shapes may touch, by name.
bool shapes_may_touch(const LoadedModel& loaded, const std::string& a, const std::string& b) {
  return ColliderSet(loaded.model).may_touch(loaded.model.shape(a), loaded.model.shape(b));
}

TEST(SelfCollision, OfMjcfIsByPairsOfGeomsWhereTheFileSaysSo) {
  // Only the sole is paired with the floor, and only the toe with the other foot.
  const auto foot = [](const std::string& side) {
    const auto geom = [&](const std::string& name) {
      return "<geom name=\"" + side + name + "\" size=\"0.1\" contype=\"0\" conaffinity=\"0\"/>";
    };
    return "<body name=\"" + side + "\"><freejoint/>" + geom("sole") + geom("toe") + geom("seen") + "</body>";
  };
  const LoadedModel loaded =
      load_mjcf_text("<worldbody><geom name=\"floor\" type=\"plane\" size=\"1 1 1\"/>" + foot("l") + foot("r") +
                     "<body name=\"ball\"><freejoint/><geom name=\"ball\" size=\"0.1\"/></body></worldbody>"
                     "<contact><pair geom1=\"lsole\" geom2=\"floor\"/><pair geom1=\"floor\" geom2=\"rsole\"/>"
                     "<pair geom1=\"ltoe\" geom2=\"rtoe\"/></contact>");
  EXPECT_TRUE(shapes_may_touch(loaded, "lsole", "floor"));
  EXPECT_TRUE(shapes_may_touch(loaded, "rsole", "floor"));
  EXPECT_TRUE(shapes_may_touch(loaded, "ltoe", "rtoe"));
  EXPECT_TRUE(shapes_may_touch(loaded, "ball", "floor"));
  EXPECT_FALSE(shapes_may_touch(loaded, "ltoe", "floor"));
  EXPECT_FALSE(shapes_may_touch(loaded, "lsole", "rsole"));
  EXPECT_FALSE(shapes_may_touch(loaded, "lsole", "rtoe"));
  EXPECT_FALSE(shapes_may_touch(loaded, "lsole", "ball"));
  EXPECT_EQ(loaded.model.shapes().size(), 6u);
  EXPECT_TRUE(loaded.model.pair_exceptions().empty());
  EXPECT_EQ(warning_count(loaded, "mjcf.pair"), 0);
}

TEST(SelfCollision, OfMjcfTakesAPairBeforeAnExclusion) {
  const LoadedModel loaded = load_mjcf_text(
      "<worldbody><body name=\"a\"><freejoint/><geom name=\"a\" size=\"0.1\"/></body><body name=\"b\"><freejoint/>"
      "<geom name=\"b\" size=\"0.1\"/></body></worldbody>"
      "<contact><pair geom1=\"a\" geom2=\"b\"/><exclude body1=\"b\" body2=\"a\"/></contact>");
  EXPECT_TRUE(shapes_may_touch(loaded, "a", "b"));
}

TEST(SelfCollision, OfMjcfIsByWholeBodiesWherePairsAreTooMany) {
  std::string bodies, pairs;
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    bodies += "<body name=\"" + n + "\"><freejoint/><geom name=\"" + n +
              "\" size=\"0.1\" contype=\"0\" conaffinity=\"0\"/></body>";
    if (i > 0) pairs += "<pair geom1=\"" + std::to_string(i - 1) + "\" geom2=\"" + n + "\"/>";
  }
  const LoadedModel loaded = load_mjcf_text("<worldbody>" + bodies + "</worldbody><contact>" + pairs + "</contact>");
  EXPECT_TRUE(shapes_may_touch(loaded, "7", "8"));
  EXPECT_FALSE(shapes_may_touch(loaded, "7", "9"));
  EXPECT_EQ(loaded.model.pair_exceptions().size(), 39u);
}

TEST(SelfCollision, OfSdfNeverHappensBetweenTheLinksOfAJoint) {
  using sdf::collision_text;
  using sdf::link_text;
  const std::string ball = collision_text("<sphere><radius>1</radius></sphere>");
  const std::string axis = sdf::axis_text("0 0 1");
  const std::string arm = link_text("base", ball) + link_text("flange", ball) + link_text("arm", ball) +
                          link_text("tool", ball) + sdf::joint_text("f", "fixed", "base", "flange") +
                          sdf::joint_text("r", "revolute", "flange", "arm", axis) +
                          sdf::joint_text("t", "fixed", "arm", "tool");
  const std::string bolted = sdf::joint_text("w", "fixed", "world", "base");
  const std::string says = "<self_collide>true</self_collide>";
  for (const bool is_bolted : {false, true}) {
    const LoadedModel loaded = sdf::load_model(says + arm + (is_bolted ? bolted : ""));
    EXPECT_FALSE(may_touch(loaded, "flange", "arm"));
    // These are joined to others only.
    EXPECT_TRUE(may_touch(loaded, "base", "arm"));
    EXPECT_TRUE(may_touch(loaded, "base", "tool"));
    EXPECT_TRUE(may_touch(loaded, "flange", "tool"));
    EXPECT_FALSE(may_touch(loaded, "base", "flange"));
    const LoadedModel silent = sdf::load_model(arm + (is_bolted ? bolted : ""));
    EXPECT_FALSE(may_touch(silent, "base", "tool"));
  }
}

TEST(SelfCollision, OfGazeboIsForbiddenByFalseUnlessTheOtherSaysTrue) {
  const auto says = [](const std::string& link, const std::string& what) {
    return "<gazebo reference=\"" + link + "\"><selfCollide>" + what + "</selfCollide></gazebo>";
  };
  const std::string links = spread_chain({heavy_link("NAME", cube()), heavy_link("NAME", cube())});
  EXPECT_TRUE(may_touch(load_urdf_text(links), "a", "z"));
  EXPECT_FALSE(may_touch(load_urdf_text(links + says("a", "false")), "a", "z"));
  EXPECT_TRUE(may_touch(load_urdf_text(links + says("a", "false") + says("z", "true")), "a", "z"));
  // True permits what overlaps by design as little as silence does.
  EXPECT_EQ(excepted(load_urdf_text(compact_joint() + says("a", "true") + says("c", "true"))), "a-c often");
}

TEST(SelfCollision, KnowsAllShapes) {
  const auto shape = [](const std::string& geometry) {
    return "<collision><geometry>" + geometry + "</geometry></collision>";
  };
  const std::vector<std::string> shapes = {"<sphere radius=\"0.1\"/>",
                                           "<capsule radius=\"0.1\" length=\"0.2\"/>",
                                           "<cylinder radius=\"0.1\" length=\"0.2\"/>",
                                           "<cylinder radius=\"1e-9\" length=\"0.2\"/>",
                                           "<cylinder radius=\"0.1\" length=\"1e-9\"/>",
                                           "<box size=\"0.1 0.2 0.3\"/>"};
  for (const std::string& a : shapes) {
    for (const std::string& c : shapes) {
      for (const bool apart : {false, true}) {
        const std::string robot = heavy_link("a", shape(a)) + heavy_link("b", cube("0 9 0")) +
                                  heavy_link("c", shape(c)) +
                                  turning("a", "b", "<axis xyz=\"0 1 0\"/>" + at(apart ? "0 1 0" : "0 0 0")) +
                                  turning("b", "c", "<axis xyz=\"0 1 0\"/>");
        EXPECT_EQ(excepted(load_urdf_text(robot)), apart ? "" : "a-c often") << a << " and " << c;
      }
    }
  }
}

TEST(SelfCollision, FollowsMimics) {
  // The finger would meet the palm in most of its own poses, but its leader keeps it outside.
  const std::string palm =
      heavy_link("palm", cube()) + heavy_link("leader", cube("0 1 0")) + heavy_link("finger", cube());
  const std::string slides = "<axis xyz=\"1 0 0\"/><limit lower=\"0\" upper=\"0.08\" effort=\"1\" velocity=\"1\"/>";
  const auto hand = [&](const std::string& mimic) {
    return palm + joint_text("j", "prismatic", "palm", "leader", slides) +
           joint_text("k", "prismatic", "leader", "finger", slides + mimic);
  };
  EXPECT_EQ(excepted(load_urdf_text(hand(""))), "palm-finger often");
  const LoadedModel loaded = load_urdf_text(hand("<mimic joint=\"j\" offset=\"0.5\"/>"));
  EXPECT_EQ(excepted(loaded), "");
  EXPECT_EQ(loaded.q[joint_of(loaded, "k").q_index], 0.5);  // and so it starts
}

TEST(SelfCollision, IsCutWhereThereIsTooMuchAndSaysSo) {
  std::string text = heavy_link("l0", cube());
  for (int i = 1; i < 4'000; ++i) {
    const std::string name = "l" + std::to_string(i);
    text += heavy_link(name, cube()) + turning("l0", name);
  }
  const LoadedModel loaded = load_urdf_text(text);
  EXPECT_EQ(warning_count(loaded, "self_collision.cut"), 1);
}

TEST(SelfCollision, RefusesToForbidMoreThanAModelHolds) {
  std::string text = heavy_link("l0", cube());
  for (int i = 1; i < 2'000; ++i) {
    const std::string name = "l" + std::to_string(i);
    text += heavy_link(name, cube()) + turning("l0", name);
  }
  EXPECT_THROW(load_urdf_text(text, with(Policy::none)), LoadError);
}

TEST(Urdf, StartsWithinItsLimits) {
  const auto limited = [](const std::string& lower, const std::string& upper) {
    return "<limit lower=\"" + lower + "\" upper=\"" + upper + "\" effort=\"1\" velocity=\"1\"/>";
  };
  EXPECT_EQ(load_urdf_text(on_world("revolute", limited("0.5", "1"))).q[0], 0.5);
  EXPECT_EQ(load_urdf_text(on_world("revolute", limited("-2", "-1"))).q[0], -1);
  EXPECT_EQ(load_urdf_text(on_world("revolute", limited("-2", "1"))).q[0], 0);
}

TEST(SampledPoses, AreTheSameOnEveryMachine) {
  const LoadedModel loaded =
      load_urdf_text(on_world("revolute", "<limit lower=\"0\" upper=\"1\" effort=\"1\" velocity=\"1\"/>"));
  SampledPoses poses(loaded.model, loaded.q);
  // By SplitMix64, computed elsewhere: the upper 53 bits of s(s(0)) and s(s(0) + 1).
  EXPECT_EQ(poses.pose(0)[0], 0.6524484863740322);
  EXPECT_EQ(poses.pose(1)[0], 0.1663964394676608);
}

TEST(SampledPoses, FillTheLimitsEvenlyAndJointsGoTheirOwnWays) {
  const std::string limit = "<limit lower=\"-1\" upper=\"3\" effort=\"1\" velocity=\"1\"/>";
  const LoadedModel loaded =
      load_urdf_text(heavy_link("a") + heavy_link("b") + heavy_link("c") + heavy_link("d") +
                     joint_text("j", "revolute", "a", "b", limit) + joint_text("k", "continuous", "b", "c") +
                     joint_text("l", "ball", "c", "d"));
  SampledPoses poses(loaded.model, loaded.q);
  constexpr int kCount = 2'000;
  VecX mean = VecX::Zero(loaded.model.nq()), square = mean;
  double product = 0;
  const Joint &j = joint_of(loaded, "j"), &k = joint_of(loaded, "k"), &ball = joint_of(loaded, "l");
  for (int i = 0; i < kCount; ++i) {
    const VecX& q = poses.pose(i);
    mean += q / kCount;
    square += q.cwiseAbs2() / kCount;
    product += (q[j.q_index] - 1) * q[k.q_index] / kCount;
    EXPECT_GE(q[j.q_index], -1);
    EXPECT_LE(q[j.q_index], 3);
    EXPECT_LE(std::abs(q[k.q_index]), 3.1416);
    EXPECT_NEAR(q.segment<4>(ball.q_index).norm(), 1, 1e-12);
    EXPECT_EQ(q.head<7>(), loaded.q.head<7>());  // what floats stays
  }
  EXPECT_NEAR(mean[j.q_index], 1, 0.1);
  EXPECT_NEAR(square[j.q_index] - std::pow(mean[j.q_index], 2), 16.0 / 12, 0.1);
  EXPECT_NEAR(mean[k.q_index], 0, 0.2);
  EXPECT_NEAR(product, 0, 0.15);
  for (int n = 0; n < 4; ++n) {
    EXPECT_NEAR(mean[ball.q_index + n], 0, 0.05);
    EXPECT_NEAR(square[ball.q_index + n], 0.25, 0.03);
  }
}

}  // namespace
}  // namespace lithe::test

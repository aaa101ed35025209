#include "lithe/scenes/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <variant>

#include "lithe/model/configuration.h"
#include "lithe/scenes/robots/chain.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/scenes/solids/free_bodies.h"
#include "tests/scenes/initial_contacts.h"
#include "tests/support/error_text.h"

namespace lithe {
namespace {

using test::error_text;
using test::expect_error;

// Calls check(scene) for every scene of the catalogue.
template <class Check>
void for_every_scene(Check check) {
  ASSERT_GE(scene_names().size(), 17u);
  for (const std::string& name : scene_names()) {
    SCOPED_TRACE(name);
    check(scene(name));
  }
}

TEST(Catalogue, EverySceneHasMassAndShapes) {
  for_every_scene([](const Scene& scene) {
    EXPECT_GT(scene.model.nv(), 0);
    EXPECT_GT(scene.model.total_mass(), 0);
    EXPECT_FALSE(scene.model.shapes().empty());
  });
}

TEST(Catalogue, EverySceneStartsFromAValidStateWithinItsLimits) {
  for_every_scene([](const Scene& scene) {
    EXPECT_NO_THROW(check_configuration(scene.model, scene.q));
    EXPECT_NO_THROW(check_tangent(scene.model, scene.v, "v"));
    EXPECT_EQ(normalized(scene.model, scene.q), scene.q);
    EXPECT_GT(scene.time_step, 0);
    EXPECT_LE(scene.time_step, 0.01);
    for (const Joint& joint : scene.model.joints()) {
      if (joint.nv() != 1) continue;
      EXPECT_LE(joint.lower, scene.q[joint.q_index]) << joint.name;
      EXPECT_GE(joint.upper, scene.q[joint.q_index]) << joint.name;
      EXPECT_GE(joint.velocity_limit, std::abs(scene.v[joint.v_index])) << joint.name;
    }
  });
}

TEST(Catalogue, EverySceneSatisfiesItsConstraintsAtTheStart) {
  for_every_scene([](const Scene& scene) {
    const std::vector<Pose> X_WB = test::initial_poses(scene);
    for (const LoopClosure& loop : scene.model.loops()) {
      const Pose a = X_WB[loop.a] * loop.placement_a;
      const Pose b = X_WB[loop.b] * loop.placement_b;
      EXPECT_LT((a.p - b.p).norm(), 1e-15) << loop.name;
      if (loop.kind == LoopClosure::Kind::ball) continue;
      EXPECT_LT((a.R - b.R).norm(), 1e-15) << loop.name;
    }
    for (const Mimic& mimic : scene.model.mimics()) {
      const int joint = scene.model.joints()[mimic.joint].q_index;
      const int source = scene.model.joints()[mimic.source].q_index;
      EXPECT_EQ(scene.q[joint], mimic.multiplier * scene.q[source] + mimic.offset) << mimic.name;
    }
  });
}

TEST(Catalogue, EverySceneHasOneFiniteTargetPerMotor) {
  for_every_scene([](const Scene& scene) {
    EXPECT_EQ(scene.motor_targets.size(), static_cast<Eigen::Index>(scene.model.motors().size()));
    EXPECT_TRUE(scene.motor_targets.allFinite());
  });
}

// Deeper than the slop that contacts are given anyway, a start would be a push. The half cheetah's is meant.
TEST(Catalogue, NoSceneButTheHalfCheetahStartsWithADeepContact) {
  for (const std::string& name : scene_names()) {
    double deepest = 0;
    for (const Contact& contact : test::initial_contacts(scene(name))) deepest = std::min(deepest, contact.gap);
    if (name == "half_cheetah") {
      EXPECT_LT(deepest, -1e-3);
    } else {
      EXPECT_GT(deepest, -1e-14) << name;
    }
  }
}

TEST(Catalogue, EverySceneHasADescriptionOfOneLine) {
  for (const std::string& name : scene_names()) {
    EXPECT_FALSE(scene_description(name).empty()) << name;
    EXPECT_LE(scene_description(name).size(), 80u) << name;
    EXPECT_EQ(scene_description(name).find('\n'), std::string::npos) << name;
  }
}

TEST(Catalogue, NamesAreSortedAndUnique) {
  const std::vector<std::string> names = scene_names();
  EXPECT_EQ(std::ranges::adjacent_find(names, std::ranges::greater_equal()), names.end());
}

TEST(Catalogue, AnUnknownSceneIsRefusedWithASuggestion) {
  for (const char* name : {"humanoit", "humanoit:3"}) {
    expect_error([&] { scene(name); }, "there is no scene named 'humanoit' (did you mean 'humanoid'");
  }
  expect_error([] { scene_description("stak"); }, "there is no scene named 'stak' (did you mean 'stack'");
}

TEST(Catalogue, ASizeFollowsAColon) {
  EXPECT_EQ(scene("stack").model.nv(), 6 * 20);
  EXPECT_EQ(scene("stack:5").model.nv(), 6 * 5);
  EXPECT_EQ(scene("pile:3").model.nv(), 6 * 3);
  EXPECT_EQ(scene("boxes:1").model.nv(), 6);
  EXPECT_EQ(scene("chain:7").model.nv(), 7);
}

TEST(Catalogue, ASizeThatIsNoneIsRefused) {
  for (const char* size : {"", "0", "-3", "five", "5 ", "5:6", "2.5", "1000000", "99999999999999999999"}) {
    const std::string name = std::string("stack:") + size;
    expect_error([&] { scene(name); }, name, "whole number");
  }
  expect_error([] { scene("humanoid:3"); }, "'humanoid'", "one size", "':3'");
}

TEST(Chain, HasOneDofPerLink) {
  for (const int links : {1, 2, 17}) EXPECT_EQ(chain(links).build().nv(), links);
}

TEST(Chain, HangsStraightDown) {
  const Model model = chain(10).build();
  Vec3 tip = model.frames()[model.frame("tip")].placement.p;
  for (const Joint& joint : model.joints()) tip += joint.placement.p;
  EXPECT_TRUE(tip.isApprox(Vec3(0, 0, -1.0), 1e-12));
}

TEST(Chain, AnEmptyChainIsRefused) {
  EXPECT_EQ(error_text([] { chain(0); }), "a chain needs at least one link, not 0");
}

TEST(Pendulum, ItsMassIsAtTheTip) {
  const Model model = pendulum().build();
  const SpatialInertia& inertia = model.bodies()[model.body("bob")].inertia;
  EXPECT_EQ(inertia.mass, kPendulumMass);
  EXPECT_TRUE(inertia.centre().isApprox(model.frames()[model.frame("tip")].placement.p));
  EXPECT_TRUE(inertia.about_centre().isZero(1e-15));
}

TEST(DoublePendulum, HasTwoDofs) { EXPECT_EQ(double_pendulum().build().nv(), 2); }

TEST(FreeBodies, TheTumblingBodyHasThreeDifferentMomentsAndNoGravity) {
  const Model model = tumbling_body().build();
  const Mat3 moments = model.bodies()[model.body("box")].inertia.about_centre();
  EXPECT_LT(moments(0, 0), moments(1, 1));
  EXPECT_LT(moments(1, 1), moments(2, 2));
  EXPECT_TRUE(model.gravity().isZero());
}

TEST(FreeBodies, BoxesAreSeparateTreesThatDoNotTouch) {
  const Model model = boxes(7).build();
  EXPECT_EQ(model.nv(), 6 * 7);
  EXPECT_EQ(model.tree().trees.size(), 7u);
  const double edge = 2 * std::get<Box>(model.shapes()[0].geometry).half_size.x();
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    for (std::size_t k = 1; k < i; ++k) {
      const Vec3 a = model.joints()[model.bodies()[i].joints[0]].placement.p;
      const Vec3 b = model.joints()[model.bodies()[k].joints[0]].placement.p;
      EXPECT_GT((a - b).norm(), edge);
    }
  }
}

TEST(FreeBodies, BoxesOnTheGroundTouchAtFourCornersEach) {
  EXPECT_EQ(test::initial_contacts(boxes_on_ground(7)).size(), 4u * 7u);
}

TEST(FreeBodies, AnEmptyGridIsRefused) {
  EXPECT_EQ(error_text([] { boxes(0); }), "a grid of boxes needs at least one box, not 0");
}

}  // namespace
}  // namespace lithe

#include "lithe/scenes/catalogue.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "lithe/scenes/chain.h"
#include "lithe/scenes/free_bodies.h"
#include "lithe/scenes/pendulum.h"
#include "tests/support/error_text.h"

namespace lithe {
namespace {

using test::error_text;

TEST(Catalogue, EverySceneBuildsAndMoves) {
  ASSERT_FALSE(scene_names().empty());
  for (const std::string& name : scene_names()) {
    SCOPED_TRACE(name);
    const Model model = scene(name).build();
    EXPECT_GT(model.nv(), 0);
    EXPECT_GT(model.total_mass(), 0);
    EXPECT_FALSE(model.shapes().empty());
  }
}

TEST(Catalogue, AnUnknownSceneIsRefusedWithASuggestion) {
  EXPECT_EQ(
      error_text([] { scene("humanoit"); }).rfind("there is no scene named 'humanoit' (did you mean 'humanoid'", 0),
      0u);
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

TEST(FreeBodies, AnEmptyGridIsRefused) {
  EXPECT_EQ(error_text([] { boxes(0); }), "a grid of boxes needs at least one box, not 0");
}

}  // namespace
}  // namespace lithe

#include "lithe/scenes/robots/half_cheetah.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/scenes/initial_contacts.h"

namespace lithe {
namespace {

TEST(HalfCheetah, HasNineDofsInTheOrderOfItsFile) {
  const Model model = half_cheetah().build();
  EXPECT_EQ(model.nv(), 9);
  EXPECT_EQ(model.nq(), 9);
  std::vector<std::string> names;
  for (const Joint& joint : model.joints()) names.push_back(joint.name);
  EXPECT_EQ(names, (std::vector<std::string>{"root.x", "root.z", "root.pitch", "b_thigh", "b_shin", "b_foot", "f_thigh",
                                             "f_shin", "f_foot"}));
}

TEST(HalfCheetah, WeighsWhatItsPartsDo) {
  const double head_and_torso = 4.89254870769 + 1.46776461231;
  const double back = 1.53524804 + 1.58093995 + 1.0691906;
  const double front = 1.42558747 + 1.17885117 + 0.84986945;
  EXPECT_NEAR(half_cheetah().build().total_mass(), head_and_torso + back + front + 2 * 0.1, 1e-12);
}

TEST(HalfCheetah, StaysInItsPlane) {
  const Scene scene = half_cheetah_on_ground();
  const std::vector<Pose> X_WB = test::initial_poses(scene);
  for (std::size_t b = 1; b < X_WB.size(); ++b) {
    EXPECT_EQ(X_WB[b].p.y(), 0);
    EXPECT_EQ(X_WB[b].R.col(1), Vec3::UnitY().eval());
    EXPECT_EQ(scene.model.bodies()[b].inertia.centre().y(), 0);
  }
}

TEST(HalfCheetah, LegsHaveSpringsDampersAndLimits) {
  const Model model = half_cheetah().build();
  for (std::size_t j = 3; j < model.joints().size(); ++j) {
    const Joint& joint = model.joints()[j];
    EXPECT_GE(joint.stiffness, 60) << joint.name;
    EXPECT_LE(joint.stiffness, 240) << joint.name;
    EXPECT_EQ(joint.damping, joint.stiffness / 400) << joint.name;
    EXPECT_LT(joint.lower, 0) << joint.name;
    EXPECT_GT(joint.upper, 0) << joint.name;
  }
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(model.joints()[j].stiffness + model.joints()[j].damping, 0);
}

// Each capsule reaches from its own joint to the next, within its radius.
TEST(HalfCheetah, LegsHangTogether) {
  const Model model = half_cheetah().build();
  for (const char* name : {"b_shin", "b_foot", "f_shin", "f_foot"}) {
    const Vec3 knee = model.joints()[model.joint(name)].placement.p;
    const BodyIndex parent = model.bodies()[model.body(name)].parent;
    const Shape& shape = model.shapes()[model.shape(model.bodies()[parent].name)];
    const Vec3 axis = shape.placement.R.col(2) * std::get<Capsule>(shape.geometry).half_length;
    const double radius = std::get<Capsule>(shape.geometry).radius;
    const auto nearest_end = [&](const Vec3& p) {
      return std::min((shape.placement.p + axis - p).norm(), (shape.placement.p - axis - p).norm());
    };
    EXPECT_LT(nearest_end(knee), radius) << name;
    EXPECT_LT(nearest_end(Vec3::Zero()), radius) << name;
  }
}

TEST(HalfCheetah, HangsInTheAirInItsNeutralConfiguration) {
  Scene scene = half_cheetah_on_ground();
  scene.q.setZero();
  EXPECT_TRUE(test::initial_contacts(scene).empty());
}

TEST(HalfCheetah, BothFeetTouchAtTheStart) {
  const Scene scene = half_cheetah_on_ground();
  EXPECT_EQ(scene.time_step, 2e-3);
  std::set<std::string> touching;
  for (const Contact& contact : test::initial_contacts(scene)) {
    touching.insert(scene.model.shapes()[contact.a].name);
    touching.insert(scene.model.shapes()[contact.b].name);
    EXPECT_LT(contact.gap, -1e-3);
    EXPECT_GT(contact.gap, -2e-2);
  }
  EXPECT_EQ(touching, (std::set<std::string>{"b_foot", "f_foot", "ground"}));
}

TEST(HalfCheetah, DoesNotTouchItself) {
  Scene scene = half_cheetah_on_ground();
  set_initial(scene, "root.z", 1);
  set_initial(scene, "b_shin", 3);  // folds the leg far beyond its limit
  EXPECT_TRUE(test::initial_contacts(scene).empty());
  for (std::size_t i = 0; i < scene.model.shapes().size(); ++i) {
    Shape shape = scene.model.shapes()[i];
    shape.filter = {};
    scene.model.set_shape(ShapeIndex(static_cast<int>(i)), shape);
  }
  EXPECT_FALSE(test::initial_contacts(scene).empty());
}

}  // namespace
}  // namespace lithe

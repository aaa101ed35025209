#include "lithe/scenes/robots/humanoid.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "tests/scenes/initial_contacts.h"

namespace lithe {
namespace {

constexpr double kTolerance = 1e-12;

Vec3 mirrored(const Vec3& place) { return {place.x(), -place.y(), place.z()}; }

// The names of the bodies on the left, without their "left_".
std::vector<std::string> sided_bodies(const Model& model) {
  const std::string left = "left_";
  std::vector<std::string> names;
  for (const Body& body : model.bodies()) {
    if (body.name.starts_with(left)) names.push_back(body.name.substr(left.size()));
  }
  return names;
}

// Where a body's origin is in the neutral configuration.
Vec3 neutral_place(const Model& model, const std::string& name) {
  Vec3 place = Vec3::Zero();
  for (BodyIndex b = model.body(name); b != Model::world(); b = model.bodies()[b].parent) {
    for (const JointIndex j : model.bodies()[b].joints) place += model.joints()[j].placement.p;
  }
  return place;
}

const Joint& hinge_of(const Model& model, const std::string& body) {
  return model.joints()[model.bodies()[model.body(body)].joints.at(0)];
}

const std::vector<Vec3>& sole_mesh(const Model& model, const char* foot) {
  return std::get<ConvexMesh>(model.shapes()[model.shape(foot)].geometry).points;
}

TEST(Humanoid, Has33DofsAnd28Bodies) {
  const Model model = humanoid().build();
  EXPECT_EQ(model.nv(), 33);
  EXPECT_EQ(model.nq(), 34);
  EXPECT_EQ(model.bodies().size(), 1u + 28u);
}

TEST(Humanoid, WeighsAsMuchAsAnAdultRobot) { EXPECT_NEAR(humanoid().build().total_mass(), 146.5, 0.5); }

TEST(Humanoid, LimbsHaveSixLinksOnEachSide) { EXPECT_EQ(sided_bodies(humanoid().build()).size(), 12u); }

TEST(Humanoid, SidesAreMirrorImages) {
  const Model model = humanoid().build();
  for (const std::string& name : sided_bodies(model)) {
    SCOPED_TRACE(name);
    const SpatialInertia& left = model.bodies()[model.body("left_" + name)].inertia;
    const SpatialInertia& right = model.bodies()[model.body("right_" + name)].inertia;
    EXPECT_EQ(left.mass, right.mass);
    EXPECT_TRUE(right.centre().isApprox(mirrored(left.centre()), kTolerance));
    const Mat3 flip = Vec3(1, -1, 1).asDiagonal();
    EXPECT_TRUE(right.about_centre().isApprox(flip * left.about_centre() * flip, kTolerance));
    EXPECT_TRUE(neutral_place(model, "right_" + name).isApprox(mirrored(neutral_place(model, "left_" + name))));
  }
}

// A rotation seen in the mirror y → −y turns about (−x, y, −z).
TEST(Humanoid, EqualAnglesMakeMirroredPostures) {
  const Model model = humanoid().build();
  for (const std::string& name : sided_bodies(model)) {
    SCOPED_TRACE(name);
    const Joint& left = hinge_of(model, "left_" + name);
    const Joint& right = hinge_of(model, "right_" + name);
    EXPECT_TRUE(right.axis.isApprox(-mirrored(left.axis), kTolerance));
    EXPECT_EQ(right.lower, left.lower);
    EXPECT_EQ(right.upper, left.upper);
    EXPECT_EQ(right.effort_limit, left.effort_limit);
  }
}

TEST(Humanoid, StandsUprightWithinItsLimits) {
  const Model model = humanoid().build();
  for (const Joint& joint : model.joints()) {
    EXPECT_LE(joint.lower, 0) << joint.name;
    EXPECT_GE(joint.upper, 0) << joint.name;
  }
}

TEST(Humanoid, EachSoleHasSixCornersOnTheGround) {
  const Model model = humanoid().build();
  for (const char* foot : {"left_foot", "right_foot"}) {
    const std::vector<Vec3>& points = sole_mesh(model, foot);
    EXPECT_EQ(points.size(), 12u);
    int on_ground = 0;
    for (const Vec3& point : points) {
      const double height = neutral_place(model, foot).z() + point.z();
      EXPECT_GE(height, -kTolerance);
      on_ground += height < kTolerance ? 1 : 0;
    }
    EXPECT_EQ(on_ground, 6);
  }
}

TEST(Humanoid, StandsOnTheGroundAtTwelvePoints) {
  const Scene scene = standing_humanoid();
  const std::vector<Contact> contacts = test::initial_contacts(scene);
  EXPECT_EQ(contacts.size(), 12u);
  for (const Contact& contact : contacts) {
    EXPECT_NEAR(contact.gap, 0, kTolerance);
    EXPECT_EQ(scene.model.shapes()[contact.b].name, "ground");
  }
  EXPECT_EQ(scene.time_step, 1e-3);
}

TEST(Humanoid, EveryBodyHasAShape) {
  const Model model = humanoid().build();
  std::vector<int> shapes(model.bodies().size(), 0);
  for (const Shape& shape : model.shapes()) ++shapes[shape.body];
  for (std::size_t b = 1; b < shapes.size(); ++b) EXPECT_GE(shapes[b], 1) << model.bodies()[b].name;
}

TEST(Humanoid, HandsFeetAndHeadHaveFrames) {
  const Model model = humanoid().build();
  for (const char* name : {"head", "left_palm", "right_palm", "left_sole", "right_sole"}) {
    EXPECT_TRUE(model.frame(name).valid()) << name;
  }
}

}  // namespace
}  // namespace lithe

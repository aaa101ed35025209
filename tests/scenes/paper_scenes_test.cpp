#include <Eigen/LU>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "lithe/scenes/paper/cartpole.h"
#include "lithe/scenes/paper/catapult.h"
#include "lithe/scenes/paper/jump_worm.h"
#include "lithe/scenes/robots/drone.h"
#include "tests/scenes/initial_contacts.h"
#include "tests/support/constants.h"
#include "tests/support/step_worlds.h"

// The paper's scenes: their figures, where they touch, and that they move as their mechanics say.
namespace lithe::test {
namespace {

std::vector<std::string> joint_names(const Model& model) {
  std::vector<std::string> names;
  for (const Joint& joint : model.joints()) names.push_back(joint.name);
  return names;
}

std::set<std::string> touching_shapes(const Scene& scene) {
  std::set<std::string> names;
  for (const Contact& contact : initial_contacts(scene)) {
    names.insert(scene.model.shapes()[contact.a].name);
    names.insert(scene.model.shapes()[contact.b].name);
  }
  return names;
}

double effort_of(const Model& model, const char* joint) { return model.joints()[model.joint(joint)].effort_limit; }

Vec3 place_of(const Scene& scene, const char* body) { return initial_poses(scene)[scene.model.body(body)].p; }

void expect_unit_inertia(const Model& model) {
  for (std::size_t b = 1; b < model.bodies().size(); ++b) {
    const SpatialInertia& inertia = model.bodies()[b].inertia;
    EXPECT_EQ(inertia.mass, 1) << model.bodies()[b].name;
    EXPECT_TRUE(inertia.centre().isZero(0)) << model.bodies()[b].name;
    EXPECT_EQ(inertia.about_centre(), Mat3::Identity().eval()) << model.bodies()[b].name;
  }
}

TEST(JumpWorm, HasFiveDofsFourUnitBodiesAndAnUndrivenRoot) {
  const Model model = jump_worm().build();
  EXPECT_EQ(joint_names(model), (std::vector<std::string>{"root.x", "root.z", "segment_1", "segment_2", "segment_3"}));
  EXPECT_EQ(model.total_mass(), 4);
  expect_unit_inertia(model);
  for (const char* joint : {"root.x", "root.z"}) EXPECT_EQ(effort_of(model, joint), 0);
  for (const char* joint : {"segment_1", "segment_2", "segment_3"}) EXPECT_EQ(effort_of(model, joint), 100);
}

// From the root to the left, down, and back to the right by 45°.
TEST(JumpWorm, IsFoldedIntoAHook) {
  const Scene scene = falling_jump_worm();
  const double diagonal = 0.125 * std::sqrt(0.5);
  EXPECT_TRUE(place_of(scene, "root").isZero(0));
  EXPECT_TRUE(place_of(scene, "segment_1").isApprox(Vec3(-0.125, 0, 0), 1e-14));
  EXPECT_TRUE(place_of(scene, "segment_2").isApprox(Vec3(-0.25, 0, -0.125), 1e-14));
  EXPECT_TRUE(place_of(scene, "segment_3").isApprox(Vec3(-0.25 + diagonal, 0, -0.25 - diagonal), 1e-14));
  EXPECT_TRUE(initial_contacts(scene).empty());
}

TEST(JumpWorm, LoweredItTouchesTheFloorWithBothEndsOfAnEdge) {
  const Scene scene = touching_jump_worm();
  EXPECT_EQ(scene.q.head<2>(), Eigen::Vector2d(0, -0.14));
  EXPECT_EQ(touching_shapes(scene), (std::set<std::string>{"segment_3", "floor"}));
  const std::vector<Contact> contacts = initial_contacts(scene);
  ASSERT_EQ(contacts.size(), 2u);
  // The lowest edge is half a thickness and a whole length of segment_3 below its joint, at 45° each.
  const double lowest = -0.14 - 0.25 - (0.25 + 0.025) * std::sqrt(0.5);
  for (const Contact& contact : contacts) {
    EXPECT_NEAR(contact.gap, lowest - (-0.7 + 0.125), 1e-14);
    EXPECT_NEAR(std::abs(contact.n.z()), 1, 1e-14);
    EXPECT_NEAR(std::abs(contact.p.y()), 0.025, 1e-14);
  }
}

TEST(JumpWorm, FallsFreelyUntilItsEndLands) {
  World world = world_of(falling_jump_worm());
  run(world, 0.1);
  EXPECT_NEAR(v_of(world, "root.z"), -kGravity * 0.1, 1e-12);
  EXPECT_NEAR(v_of(world, "segment_1"), 0, 1e-12);
  const double before = energy_of(world);
  const RunReport report = run(world, 3);
  EXPECT_LT(report.deepest, 2e-3);  // a step's travel
  EXPECT_LT(energy_of(world), before - 1);
  EXPECT_EQ(pose_of(world, "segment_3").p.y(), 0);
}

TEST(JumpWorm, DoesNotTouchItself) {
  Scene scene = falling_jump_worm();
  set_initial(scene, "segment_2", kPi);  // back over segment_1
  EXPECT_TRUE(initial_contacts(scene).empty());
}

TEST(Catapult, HasFiveDofsFourUnitBodiesAndAnUndrivenProjectile) {
  const Model model = catapult().build();
  EXPECT_EQ(joint_names(model),
            (std::vector<std::string>{"projectile.x", "projectile.z", "segment_1", "segment_2", "segment_3"}));
  EXPECT_EQ(model.total_mass(), 4);
  expect_unit_inertia(model);
  for (const char* joint : {"projectile.x", "projectile.z"}) EXPECT_EQ(effort_of(model, joint), 0);
  for (const char* joint : {"segment_1", "segment_2", "segment_3"}) EXPECT_EQ(effort_of(model, joint), 1000);
}

TEST(Catapult, ItsLastSegmentLiesFlatBelowTheProjectile) {
  const Scene scene = armed_catapult();
  EXPECT_TRUE(initial_contacts(scene).empty());
  EXPECT_TRUE(place_of(scene, "projectile").isApprox(Vec3(0, 0, 0.1), 1e-14));
  // Two segments at 45° from (0.5, −0.45), then half a segment to the left.
  const double elbow = 0.5 * std::sqrt(0.5);
  EXPECT_TRUE(place_of(scene, "segment_3").isApprox(Vec3(0.5 - elbow - 0.125, 0, -0.45 + elbow), 1e-14));
}

TEST(Catapult, TheProjectileLandsOnTheArmWithTwoContacts) {
  World world = world_of(armed_catapult());
  run(world, 0.15);
  EXPECT_EQ(world.status().contacts, 0);
  EXPECT_NEAR(v_of(world, "projectile.z"), -kGravity * 0.15, 1e-12);
  run(world, 0.1);
  EXPECT_EQ(world.status().contacts, 2);
  EXPECT_GT(contact_force_on(world, "projectile").z(), 0);
}

TEST(Catapult, TheArmCanThrowTheProjectile) {
  World world = world_of(armed_catapult());
  run(world, 0.25);
  Control control;
  control.tau = VecX::Zero(5);
  control.tau.tail<3>() << -400, -200, -100;  // clockwise: the arm swings up and to the right
  double highest = -1;
  for (int i = 0; i < 20; ++i) {
    run(world, 0.05, control);
    highest = std::max(highest, q_of(world, "projectile.z"));
  }
  EXPECT_GT(highest, -0.45 + 3 * 0.25 + 0.1);  // further up than the arm reaches: it flies
}

TEST(Cartpole, HasTwoUnitBodiesAndOneDrivenJoint) {
  const Model model = cartpole().build();
  EXPECT_EQ(joint_names(model), (std::vector<std::string>{"cart", "pole"}));
  EXPECT_EQ(model.total_mass(), 2);
  expect_unit_inertia(model);
  EXPECT_EQ(effort_of(model, "cart"), 10);
  EXPECT_EQ(effort_of(model, "pole"), 0);
}

TEST(Cartpole, LeansTowardsTheMiddle) {
  const Scene scene = leaning_cartpole();
  EXPECT_EQ(scene.time_step, 0.01);
  EXPECT_TRUE(place_of(scene, "cart").isApprox(Vec3(1, 0, 0), 1e-14));
  EXPECT_TRUE(place_of(scene, "pole").isApprox(Vec3(1 - 0.5 * std::sin(1), 0, 0.5 * std::cos(1)), 1e-14));
}

// With x the cart, θ the pole, l = ½ m and unit masses and inertias (θ from z towards −x):
//   2 ẍ − l cos θ θ̈ + l sin θ θ̇² = F,   (1 + l²) θ̈ − l cos θ ẍ = g l sin θ
TEST(Cartpole, StartsToMoveAsTheTextbookSays) {
  World world = world_of(leaning_cartpole());
  const double dt = 1e-5, force = 3, l = 0.5;
  world.options.time_step = dt;
  world.step(VecX(Eigen::Vector2d(force, 0)));
  Eigen::Matrix2d M;
  M << 2, -l * std::cos(1), -l * std::cos(1), 1 + l * l;
  const Eigen::Vector2d acceleration = M.inverse() * Eigen::Vector2d(force, kGravity * l * std::sin(1));
  EXPECT_NEAR(v_of(world, "cart"), dt * acceleration[0], 1e-14);
  EXPECT_NEAR(v_of(world, "pole"), dt * acceleration[1], 1e-14);
}

TEST(Cartpole, ThePolesSwingThroughTheCart) {
  World world = world_of(leaning_cartpole());
  double lowest = 0;
  for (int i = 0; i < 60; ++i) {
    run(world, 0.05);
    EXPECT_EQ(world.status().contacts, 0);
    lowest = std::min(lowest, pose_of(world, "pole").p.z());
  }
  EXPECT_LT(lowest, -0.49);
}

TEST(DoubleCartpole, HasItsMassesAndLengths) {
  const Scene scene = hanging_double_cartpole();
  EXPECT_EQ(joint_names(scene.model), (std::vector<std::string>{"cart", "pole_1", "pole_2"}));
  EXPECT_NEAR(scene.model.total_mass(), 0.75 + 2 * 0.025 + 0.3, 1e-15);
  EXPECT_EQ(scene.time_step, 0.01);
  for (const char* joint : {"pole_1", "pole_2"}) {
    EXPECT_EQ(scene.model.joints()[scene.model.joint(joint)].damping, 0.1);
    EXPECT_EQ(effort_of(scene.model, joint), 0);
  }
  EXPECT_TRUE(place_of(scene, "weight").isApprox(Vec3(0, 0, -0.62), 1e-14));
}

TEST(DoubleCartpole, HangsAndStaysHanging) {
  World world = world_of(hanging_double_cartpole());
  run(world, 5);
  EXPECT_NEAR(q_of(world, "pole_1"), kPi, 1e-12);
  EXPECT_LT(fastest(world), 1e-12);
}

TEST(DoubleCartpole, FallsFromUprightAndComesToRestHanging) {
  World world = world_of(hanging_double_cartpole());
  set_joint_state(world, "pole_1", 0.01);
  run(world, 30);
  EXPECT_NEAR(pose_of(world, "weight").p.z(), -0.62, 1e-3);
}

TEST(Drone, RestsOnTheGround) {
  const Scene scene = resting_drone();
  EXPECT_EQ(scene.model.nv(), 1);
  EXPECT_NEAR(scene.model.total_mass(), 0.1, 1e-16);
  EXPECT_EQ(initial_contacts(scene).size(), 1u);
  World world = world_of(scene);
  run(world, 0.5);
  EXPECT_NEAR(q_of(world, "rotor"), 0.3, 1e-12);
  EXPECT_NEAR(contact_force_on(world, "drone").z(), 0.1 * kGravity, 1e-9);
  EXPECT_EQ(world.status().rows, 1);  // no friction
}

TEST(Drone, TakesOffOnlyIfItsForceExceedsItsWeight) {
  const auto height_after = [](double force) {
    World world = world_of(resting_drone());
    Control control;
    control.tau = VecX::Constant(1, force);
    run(world, 0.5, control);
    return q_of(world, "rotor");
  };
  EXPECT_NEAR(height_after(0.99 * 0.1 * kGravity), 0.3, 1e-12);
  // Constant acceleration from rest in n semi-implicit steps: n(n + 1)/2 · Δt² · a.
  const double acceleration = 1.5 / 0.1 - kGravity;
  EXPECT_NEAR(height_after(1.5), 0.3 + 0.5 * 500 * 501 * 1e-6 * acceleration, 1e-9);
}

}  // namespace
}  // namespace lithe::test

#include "lithe/scenes/world.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lithe/dynamics/centroidal.h"
#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/robots/humanoid.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/scenes/solids/balls.h"
#include "tests/support/error_text.h"
#include "tests/support/step_worlds.h"

namespace lithe::test {
namespace {

TEST(World, StartsInTheNeutralConfigurationAtRest) {
  const World world(humanoid().build());
  EXPECT_EQ(world.state().q, neutral_configuration(world.model()));
  EXPECT_EQ(world.state().v, VecX::Zero(33));
  EXPECT_EQ(world.time(), 0);
  EXPECT_TRUE(world.contacts().empty());
}

TEST(World, StartsAsItsSceneSays) {
  const Scene gripper = scene("gripper");
  World world(gripper);
  EXPECT_EQ(world.state().q, gripper.q);
  EXPECT_EQ(world.state().v, gripper.v);
  EXPECT_EQ(world.options.time_step, gripper.time_step);
  ASSERT_GT(gripper.motor_targets.size(), 0);
  EXPECT_EQ(world.motor_targets, gripper.motor_targets);

  World by_name("gripper");
  World by_hand(gripper.model, {.time_step = gripper.time_step});
  by_hand.set_state(gripper.q, gripper.v);
  for (int k = 0; k < 20; ++k) {
    world.step();
    by_name.step(VecX(VecX::Zero(gripper.model.nv())));
    by_hand.step({.motor_targets = gripper.motor_targets});
  }
  EXPECT_EQ(world.state().q, by_hand.state().q);
  EXPECT_EQ(by_name.state().q, by_hand.state().q);
}

TEST(World, KnowsItsScenesByNameAndSaysWhichThereAre) {
  expect_error([] { World world("griper"); }, "griper", "gripper");
}

TEST(World, CountsTheTime) {
  World world(pendulum().build());
  world.options.time_step = 0.25;
  for (int i = 0; i < 4; ++i) world.step();
  EXPECT_EQ(world.time(), 1);
  world.set_time(7);
  world.step();
  EXPECT_EQ(world.time(), 7.25);
}

TEST(World, MovesToWhereTheRecordEnds) {
  World world = world_of(scene("half_cheetah"));
  const State before = world.state();
  world.step();
  EXPECT_EQ(world.record().state.q, before.q);
  EXPECT_EQ(world.record().state.v, before.v);
  EXPECT_EQ(world.state().q, world.record().next.q);
  EXPECT_EQ(world.state().v, world.record().next.v);
}

TEST(World, NormalisesTheQuaternionsItIsGiven) {
  World world = world_of(scene("tumbling_body"));
  VecX q = world.state().q;
  q.tail<4>() *= 3;
  world.set_state(q, world.state().v);
  EXPECT_NEAR(world.state().q.tail<4>().norm(), 1, 1e-15);
}

TEST(World, AppliesAForceForOneStepOnly) {
  // F = m a, and a force beside the centre turns: τ = r × F.
  World world = world_of(scene("tumbling_body"));
  world.set_state(world.state().q, VecX::Zero(6));
  const BodyIndex box = world.model().body("box");
  world.add_force(box, Vec3(0, 2, 0), Vec3(0.15, 0, 0));
  world.add_force(box, Vec3(0, 1, 0), Vec3(0, 0, 0));
  world.step();
  const double h = world.options.time_step;
  EXPECT_NEAR(centre_velocity_of(world, "box").y(), 3 * h, 1e-12);
  const double moment = world.model().bodies()[box].inertia.rotational(2, 2);
  const double spin = 0.15 * 2 / moment * h;
  EXPECT_NEAR(velocity_of(world, "box")[2], spin, 1e-12);
  world.step();
  EXPECT_NEAR(centre_velocity_of(world, "box").y(), 3 * h, 1e-12);
  EXPECT_NEAR(velocity_of(world, "box")[2], spin, 1e-12);
}

TEST(World, AWrenchActsAboutTheBodysOrigin) {
  World world = world_of(scene("tumbling_body"));
  world.set_state(world.state().q, VecX::Zero(6));
  Vec6 wrench = Vec6::Zero();
  wrench[0] = 0.3;
  wrench[5] = 2;
  world.add_wrench(world.model().body("box"), wrench);
  world.step();
  const double h = world.options.time_step;
  EXPECT_NEAR(velocity_of(world, "box")[0], 0.3 * h / world.model().bodies()[1].inertia.rotational(0, 0), 1e-12);
  EXPECT_NEAR(centre_velocity_of(world, "box").z(), 2 * h, 1e-12);
}

TEST(World, AddsItsForcesToThoseOfTheControl) {
  World world = world_of(scene("tumbling_body"));
  world.set_state(world.state().q, VecX::Zero(6));
  const BodyIndex box = world.model().body("box");
  Control control;
  control.tau = VecX::Zero(6);
  control.tau[0] = 1;
  control.wrenches = {{box, (Vec6() << 0, 0, 0, 2, 0, 0).finished()}};
  world.add_force(box, Vec3(4, 0, 0), Vec3::Zero());
  world.step(control);
  EXPECT_NEAR(centre_velocity_of(world, "box").x(), 7 * world.options.time_step, 1e-12);
  EXPECT_EQ(control.wrenches.size(), 1u);
}

TEST(World, ContactsCarryTheWeightAtRest) {
  World world = world_of(scene("boxes"));
  run(world, 0.1);
  Vec3 sum = Vec3::Zero();
  for (const World::ContactImpulse& contact : world.contacts()) {
    // a < b by number, and the ground is the last shape: n points from the ground to the box.
    const bool ground_is_b = world.model().shapes()[contact.b].body == Model::world();
    sum += ground_is_b ? contact.impulse : -contact.impulse;
    EXPECT_LT(std::abs(contact.gap), 1e-9);
  }
  const Vec3 weight = -world.model().total_mass() * world.model().gravity() * world.options.time_step;
  EXPECT_LT((sum - weight).norm(), 1e-9 * weight.norm());
}

TEST(World, ContactsAreWhatMovesTheCentreOfMass) {
  // m ċ⁺/Δt = Σ F + m g for a humanoid that has just been put on its feet, at rest; its knees give way.
  World world = world_of(scene("humanoid"));
  world.step();
  EXPECT_EQ(world.status().contacts, 12);
  Kinematics kin;
  kinematics(world.model(), world.record().state.q, world.record().next.v, kin);
  const double mass = world.model().total_mass();
  const Vec3 acceleration = centre_of_mass_velocity(world.model(), kin) / world.options.time_step;
  EXPECT_LT(acceleration.z(), -0.1);
  const Vec3 force = contact_force_on(world, "left_foot") + contact_force_on(world, "right_foot");
  EXPECT_LT((mass * (acceleration - world.model().gravity()) - force).norm(), 1e-9 * mass * kGravity);
}

TEST(World, KeepsItsStateWhenOnlyNumbersChange) {
  World world = world_of(scene("half_cheetah"));
  run(world, 0.1);
  const State before = world.state();
  const double time = world.time();
  Model heavier = world.model();
  set_parameter(heavier, "body/torso/mass", 8);
  set_parameter(heavier, "gravity/z", -1.62);
  world.set_model(heavier);
  EXPECT_EQ(world.state().q, before.q);
  EXPECT_EQ(world.state().v, before.v);
  EXPECT_EQ(world.time(), time);
  run(world, 0.1);
  EXPECT_EQ(parameter(world.model(), "body/torso/mass"), 8);
}

TEST(World, SeesNewGeometryAtOnce) {
  // A ball that grows stands higher.
  World world = world_of(bouncing_ball(0, 0.001));
  run(world, 0.2);
  EXPECT_NEAR(pose_of(world, "ball").p.z(), kBallRadius, 1e-5);
  Model model = world.model();
  set_parameter(model, "shape/ball/radius", 1.005 * kBallRadius);
  world.set_model(model);
  run(world, 0.2);
  EXPECT_NEAR(pose_of(world, "ball").p.z(), 1.005 * kBallRadius, 1e-5);
}

TEST(World, StartsAnewWithAnotherModel) {
  World world = world_of(scene("half_cheetah"));
  run(world, 0.1);
  world.set_model(scene("humanoid").model);
  EXPECT_EQ(world.state().q.size(), world.model().nq());
  EXPECT_EQ(world.state().v, VecX::Zero(33));
  EXPECT_EQ(world.time(), 0);
  run(world, 0.05);
}

TEST(World, EnergiesAreThoseOfTheTextbook) {
  World world(pendulum().build());
  world.set_state(VecX::Constant(1, 0.5), VecX::Constant(1, 2));
  EXPECT_NEAR(world.kinetic_energy(), 0.5 * kPendulumMass * 4 * kPendulumLength * kPendulumLength, 1e-12);
  EXPECT_NEAR(world.potential_energy(), -kPendulumMass * kGravity * kPendulumLength * std::cos(0.5), 1e-12);
}

TEST(World, WithoutContactsBodiesPassThroughOneAnother) {
  World world = world_of(bouncing_ball(0, 0.1));
  world.options.contacts = false;
  run(world, 1);
  EXPECT_LT(pose_of(world, "ball").p.z(), -1);
  EXPECT_TRUE(world.contacts().empty());
}

TEST(World, FewerContactPointsStillCarryABox) {
  World world = world_of(scene("boxes:1"));
  world.options.detection.max_points = 3;
  run(world, 0.5);
  EXPECT_EQ(world.status().contacts, 3);
  EXPECT_LT(fastest(world), 1e-9);
}

TEST(World, ExplicitPositionsLagBehindByAStep) {
  World world = world_of(bouncing_ball(0, 1));
  world.options.integrator = Integrator::explicit_position;
  world.step();
  EXPECT_EQ(q_of(world, "ball.z"), 0);
  world.step();
  const double h = world.options.time_step;
  EXPECT_NEAR(q_of(world, "ball.z"), -kGravity * h * h, 1e-15);
}

}  // namespace
}  // namespace lithe::test

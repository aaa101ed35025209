#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/centroidal.h"
#include "lithe/scenes/robots/four_bar.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/step_worlds.h"

// Loops stay closed, and joints that follow another one follow.
namespace lithe::test {
namespace {

// How far the two frames of a loop are apart.
struct LoopError {
  double shift, turn;  // m, rad
};
LoopError loop_error_of(const World& world, std::string_view name) {
  const Model& model = world.model();
  const LoopClosure& loop = model.loops()[model.loop(name)];
  Kinematics kin;
  kinematics(model, world.state().q, world.state().v, kin);
  const Pose a = body_pose(model, kin, loop.a) * loop.placement_a;
  const Pose b = body_pose(model, kin, loop.b) * loop.placement_b;
  return {(a.p - b.p).norm(), quaternion_log(quaternion_from_rotation(a.R * b.R.transpose())).norm()};
}

// The worst errors during a run.
LoopError worst_error(World& world, std::string_view loop, double seconds, const Control& control = {}) {
  LoopError worst = {0, 0};
  for (double end = world.time() + seconds - 1e-9; world.time() < end;) {
    const StepStatus& status = world.step(control);
    EXPECT_TRUE(status.solved()) << "at " << world.time() << " s";
    if (!status.solved()) break;
    const LoopError error = loop_error_of(world, loop);
    worst = {std::max(worst.shift, error.shift), std::max(worst.turn, error.turn)};
  }
  return worst;
}

World driven(double time_step) {
  Scene scene = driven_four_bar();
  scene.time_step = time_step;
  return world_of(scene);
}

TEST(Loops, ADrivenFourBarStaysClosed) {
  World world = driven(1e-3);
  const Control control = with_targets(driven_four_bar().motor_targets);
  EXPECT_LT(worst_error(world, "pin", 10, control).shift, 1e-6);
  EXPECT_NEAR(v_of(world, "crank"), 3, 1e-9);
  EXPECT_NEAR(q_of(world, "crank"), 30, 0.01);
}

TEST(Loops, ASwingingFourBarStaysClosed) {
  // Each step closes the loop to first order. What is left is how far the bars' ends, on circles of radius L, leave their
  // tangents: Δt² v²/(2L) each. The short crank counts.
  for (const double h : {1e-3, 1e-4}) {
    World world = driven(h);
    double fastest_end = 0;
    double worst = 0;
    for (int i = 0; i < 5 / h; ++i) {
      ASSERT_TRUE(world.step().solved());
      fastest_end = std::max(fastest_end, 0.1 * std::abs(v_of(world, "crank")));
      worst = std::max(worst, loop_error_of(world, "pin").shift);
    }
    EXPECT_GT(fastest_end, 0.5);  // it does swing
    EXPECT_LT(worst, h * h * fastest_end * fastest_end / 0.1);
    EXPECT_LT(worst, h == 1e-3 ? 5e-5 : 5e-7);
  }
}

TEST(Loops, TheErrorOfALoopIsOfSecondOrderInTheTimeStep) {
  const Control control = with_targets(driven_four_bar().motor_targets);
  double errors[3];
  for (int k = 0; k < 3; ++k) {
    World world = driven(4e-3 / (1 << k));
    run(world, 0.5, control);
    errors[k] = worst_error(world, "pin", 2.1, control).shift;
  }
  EXPECT_NEAR(errors[0] / errors[1], 4, 0.1);
  EXPECT_NEAR(errors[1] / errors[2], 4, 0.1);
}

TEST(Loops, AnOpenLoopClosesItself) {
  // At the largest speed of correction while it is far, then within one step.
  World world = driven(1e-3);
  set_joint_state(world, "coupler", 0.2);
  const double open = loop_error_of(world, "pin").shift;
  EXPECT_GT(open, 0.05);
  run(world, open / world.options.max_loop_speed + 0.1);
  EXPECT_LT(loop_error_of(world, "pin").shift, 1e-5);
}

TEST(Loops, TwoArmsCarryABeam) {
  // Two planar arms of three joints; the beam belongs to the left one, and the right hand is welded to its far end. The
  // weld's rows out of the plane say nothing.
  ModelBuilder builder;
  const SpatialInertia link = SpatialInertia::cylinder(1, 0.03, 0.5).in(Pose::translation(0, 0, 0.25));
  const auto add_arm = [&](const std::string& side, double x) {
    const auto hinge = [&](const std::string& name, double z) {
      Joint joint = revolute(side + name, Vec3::UnitY(), Pose::translation(z == 0 ? x : 0, 0, z));
      joint.damping = 5;  // it sinks slowly: the error grows with the square of the speed
      return joint;
    };
    builder.add_body("world", {.name = side + "upper", .inertia = link}, hinge("shoulder", 0));
    builder.add_body(side + "upper", {.name = side + "lower", .inertia = link}, hinge("elbow", 0.5));
    builder.add_body(
        side + "lower",
        {.name = side + "hand",
         .inertia = side == "left_" ? SpatialInertia::box(4, {1, 0.1, 0.1}).in(Pose::translation(0.5, 0, 0))
                                    : SpatialInertia::sphere(0.2, 0.05)},
        hinge("wrist", 0.5));
  };
  add_arm("left_", 0);
  add_arm("right_", 1);
  builder.add_loop("left_hand", "right_hand",
                   {.name = "grip", .kind = LoopClosure::Kind::weld, .placement_a = Pose::translation(1, 0, 0)});
  World world = world_of(builder, 1e-3);
  for (const std::string side : {"left_", "right_"}) {
    set_joint_state(world, side + "shoulder", 0.1);
    set_joint_state(world, side + "wrist", -0.1);
  }
  EXPECT_LT(loop_error_of(world, "grip").shift, 1e-15);
  const LoopError worst = worst_error(world, "grip", 5);
  EXPECT_GT(std::abs(q_of(world, "left_shoulder")), 0.5);  // it sank
  EXPECT_LT(worst.shift, 1e-5);
  EXPECT_LT(worst.turn, 1e-12);  // in a plane angles add up exactly
  run(world, 40);
  EXPECT_LT(loop_error_of(world, "grip").shift, 1e-9);  // at rest
}

TEST(Loops, AWeldMakesOneBodyOfTwo) {
  // Two free boxes welded at their faces, tumbling without gravity: momentum, angular momentum and the weld stay.
  const Vec3 half(0.1, 0.15, 0.2);
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_body("world", {.name = "a", .inertia = SpatialInertia::box(1, 2 * half)}, free_joint("a"));
  builder.add_body("world", {.name = "b", .inertia = SpatialInertia::box(3, 2 * half)},
                   free_joint("b", Pose::translation(0.2, 0, 0)));
  builder.add_loop("a", "b",
                   {.name = "glue",
                    .kind = LoopClosure::Kind::weld,
                    .placement_a = Pose::translation(0.1, 0, 0),
                    .placement_b = Pose::translation(-0.1, 0, 0)});
  World world = world_of(builder, 1e-3);
  const Vec3 spin(1, 2, -0.5);
  set_free_velocity(world, "a", Vec3(0.3, 0, 0.1), spin);
  set_free_velocity(world, "b", Vec3(0.3, 0, 0.1) + spin.cross(Vec3(0.2, 0, 0)), spin);
  const auto momentum = [&] {
    Kinematics kin;
    kinematics(world.model(), world.state().q, world.state().v, kin);
    return spatial_momentum(world.model(), kin);
  };
  const Vec6 before = momentum();
  const LoopError worst = worst_error(world, "glue", 5);
  // Δt² |spin|² 0.2 m, and the same in angle.
  EXPECT_LT(worst.shift, 1e-6);
  EXPECT_LT(worst.turn, 1e-5);
  EXPECT_LT((momentum() - before).tail<3>().norm(), 1e-9);
  EXPECT_LT((momentum() - before).head<3>().norm(), 1e-2 * before.head<3>().norm());
}

TEST(Loops, ABallLoopToTheWorldIsABallJoint) {
  // The same pendulum, once on a ball joint and once free with a loop at its pivot, 0.4 m from its origin. Both methods
  // are of first order, so four times shorter steps bring them four times closer.
  const SpatialInertia bob = SpatialInertia::box(1, {0.1, 0.2, 0.3});
  const Pose arm = Pose::translation(0.4, 0, 0);
  const Vec3 spin(2, 0, 1.5);
  const auto end_after = [&](bool loop, double h) {
    ModelBuilder builder;
    builder.add_body("world", {.name = "bob", .inertia = bob, .placement = loop ? Pose() : arm},
                     loop ? free_joint("bob", arm) : JointList(ball("bob")));
    if (loop) builder.add_loop("bob", "world", {.name = "pivot", .placement_a = arm.inverse()});
    World world = world_of(builder, h);
    if (loop) {
      set_free_velocity(world, "bob", spin.cross(arm.p), spin);
    } else {
      world.set_state(world.state().q, spin);
    }
    run(world, 1);
    return pose_of(world, "bob").p;
  };
  const double coarse = (end_after(true, 1e-3) - end_after(false, 1e-3)).norm();
  const double fine = (end_after(true, 2.5e-4) - end_after(false, 2.5e-4)).norm();
  EXPECT_LT(coarse, 1e-2);
  EXPECT_NEAR(coarse / fine, 4, 0.5);
}

// Two sliders along x, and the second follows the first.
World geared_sliders(double multiplier, double offset) {
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_body("world", {.name = "a", .inertia = SpatialInertia::sphere(1, 0.1)}, prismatic("a", Vec3::UnitX()));
  builder.add_body("world", {.name = "b", .inertia = SpatialInertia::sphere(2, 0.1)}, prismatic("b", Vec3::UnitX()));
  builder.add_mimic("b", "a", {.name = "gear", .multiplier = multiplier, .offset = offset});
  World world = world_of(builder, 1e-3);
  set_joint_state(world, "b", offset);
  return world;
}

TEST(Mimic, FollowsExactly) {
  World world = geared_sliders(-2.5, 0.3);
  for (int i = 0; i < 3000; ++i) {
    const VecX tau = Eigen::Vector2d(10 * std::sin(0.01 * i), 3 * std::cos(0.017 * i));
    ASSERT_TRUE(world.step(tau).solved());
    ASSERT_NEAR(q_of(world, "b"), -2.5 * q_of(world, "a") + 0.3, 1e-12);
  }
  EXPECT_GT(std::abs(q_of(world, "a")), 0.1);
}

TEST(Mimic, CarriesForceAndInertiaThroughTheGear) {
  // With q_b = r q_a: (m_a + r² m_b) a = τ_a + r τ_b.
  const double r = -2.5;
  World world = geared_sliders(r, 0);
  const VecX tau = Eigen::Vector2d(4, 1);
  for (int i = 0; i < 1000; ++i) world.step(tau);
  EXPECT_NEAR(v_of(world, "a"), (4 + r * 1) / (1 + r * r * 2), 1e-9);
}

TEST(Mimic, AMultiplierOfZeroLocksTheJoint) {
  World world = geared_sliders(0, 0.2);
  const VecX tau = Eigen::Vector2d(4, 100);
  for (int i = 0; i < 1000; ++i) world.step(tau);
  EXPECT_NEAR(q_of(world, "b"), 0.2, 1e-12);
  EXPECT_NEAR(v_of(world, "a"), 4, 1e-9);
}

}  // namespace
}  // namespace lithe::test

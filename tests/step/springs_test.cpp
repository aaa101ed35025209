#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "lithe/spatial/rotation.h"
#include "tests/support/step_worlds.h"

// Springs, dampers and dry friction in joints.
namespace lithe::test {
namespace {

constexpr double kOscillatorMass = 0.5;

// A mass on a slider along x, without gravity.
World oscillator(double stiffness, double damping, double time_step, double dry_friction = 0) {
  Joint slide = prismatic("slide", Vec3::UnitX());
  slide.stiffness = stiffness;
  slide.damping = damping;
  slide.dry_friction = dry_friction;
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_body("world", {.name = "mass", .inertia = SpatialInertia::sphere(kOscillatorMass, 0.1)}, slide);
  return world_of(builder, time_step);
}

TEST(Springs, FollowTheImplicitEulerMethodExactly) {
  // The spring feels the end of the step: q⁺ = q + h v⁺, m v⁺ = m v − h k q⁺ − h d v⁺. Without damping, q + i v/ω is
  // multiplied by 1/(1 + iωh) in each step (ω² = k/m): the phase advances by atan(ωh), the amplitude shrinks by
  // √(1 + ω²h²).
  for (const double omega_h : {1e-3, 0.1, 1.0, 30.0}) {
    SCOPED_TRACE("ω Δt = " + std::to_string(omega_h));
    const double h = 1e-3, omega = omega_h / h;
    World world = oscillator(kOscillatorMass * omega * omega, 0, h);
    set_joint_state(world, "slide", 0.3, 0.2 * omega);
    const std::complex<double> start(0.3, 0.2);
    for (int n = 1; n <= 200; ++n) {
      world.step();
      // q + i v/ω turns clockwise.
      const std::complex<double> expected = start * std::pow(std::complex<double>(1, omega_h), -n);
      ASSERT_NEAR(q_of(world, "slide"), expected.real(), 1e-9);
      ASSERT_NEAR(v_of(world, "slide") / omega, expected.imag(), 1e-9);
    }
  }
}

TEST(Springs, SwingWithTheTextbooksPeriodInShortSteps) {
  // T = 2π √(m/k); the method's atan(ωh)/h is slower by the share (ωh)²/3.
  const double stiffness = 80, h = 1e-4;
  const double period = 2 * std::numbers::pi * std::sqrt(kOscillatorMass / stiffness);
  World world = oscillator(stiffness, 0, h);
  set_joint_state(world, "slide", 0.1);
  double last = 0;
  int crossings = 0;
  while (crossings < 10) {
    const double before = q_of(world, "slide");
    world.step();
    const double after = q_of(world, "slide");
    if (before > 0 && after <= 0) {
      ++crossings;
      last = world.time() - h * after / (after - before);
    }
  }
  // The first downward crossing is a quarter into the first period, the tenth nine periods later.
  EXPECT_NEAR(last / (period * 9.25), 1, 1e-5);
}

TEST(Springs, OfAnyStiffnessAreStable) {
  // k Δt²/m up to 1e12: the mass goes to its rest position at once and stays.
  for (const double stiffness : {1e3, 1e6, 1e12, 1e18}) {
    SCOPED_TRACE("stiffness " + std::to_string(stiffness));
    World world = oscillator(stiffness, 0, 1e-3);
    set_joint_state(world, "slide", 0.1, -5);
    const double before = energy_of(world);
    double most = 0;
    for (int i = 0; i < 5000; ++i) {
      ASSERT_TRUE(world.step().solved());
      most = std::max(most, energy_of(world));
    }
    EXPECT_LE(most, before);
    EXPECT_LT(std::abs(q_of(world, "slide")), stiffness > 1e5 ? 1e-9 : 0.1);
  }
}

TEST(Springs, HoldALoadAtItsDeflection) {
  // k x = m g.
  Joint slide = prismatic("slide", Vec3::UnitZ());
  slide.stiffness = 200;
  slide.damping = 10;
  slide.rest = 0.4;
  ModelBuilder builder;
  builder.add_body("world", {.name = "mass", .inertia = SpatialInertia::sphere(kOscillatorMass, 0.1)}, slide);
  World world = world_of(builder, 1e-3);
  run(world, 5);
  EXPECT_NEAR(q_of(world, "slide"), 0.4 - kOscillatorMass * kGravity / 200, 1e-9);
  EXPECT_LT(fastest(world), 1e-9);
}

TEST(Springs, OfABallJointBringItToItsRestOrientation) {
  Joint joint = ball("ball");
  joint.stiffness = 3;
  joint.damping = 0.2;
  joint.rest_orientation = quaternion_exp(Vec3(0.4, -1.1, 0.7));
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_body("world", {.name = "body", .inertia = SpatialInertia::box(1, {0.4, 0.3, 0.2})}, joint);
  for (const Vec3& start : {Vec3(0, 0, 0), Vec3(1.5, 0.2, -1), Vec3(-1, -1, 0.5)}) {
    World world = world_of(builder, 2e-3);
    world.set_state(quaternion_exp(start), Vec3(3, -2, 5));
    run(world, 10);
    const Vec3 error =
        quaternion_log(quaternion_product(quaternion_conjugate(joint.rest_orientation), world.state().q));
    EXPECT_LT(error.norm(), 1e-9);
    EXPECT_LT(fastest(world), 1e-9);
  }
}

TEST(Springs, OfABallJointStayStableHoweverStiff) {
  Joint joint = ball("ball");
  joint.stiffness = 1e8;
  ModelBuilder builder;
  builder.add_body("world",
                   {.name = "body", .inertia = SpatialInertia::box(1, {0.4, 0.3, 0.2}).in(Pose::translation(1, 0, 0))},
                   joint);
  World world = world_of(builder, 2e-3);
  world.set_state(quaternion_exp(Vec3(0.3, 0.5, -0.2)), Vec3(3, -2, 5));
  run(world, 2);
  EXPECT_LT(quaternion_log(world.state().q).norm(), 1e-6);
  EXPECT_LT(fastest(world), 1e-6);
}

TEST(Springs, DampingTakesTheSameShareOfTheSpeedInEveryStep) {
  // m v⁺ = m v − h d v⁺.
  const double damping = 4, h = 1e-3;
  World world = oscillator(0, damping, h);
  set_joint_state(world, "slide", 0, 2);
  run(world, 0.5);
  EXPECT_NEAR(v_of(world, "slide"), 2 * std::pow(1 + h * damping / kOscillatorMass, -500), 1e-12);
  EXPECT_NEAR(v_of(world, "slide"), 2 * std::exp(-damping / kOscillatorMass * 0.5), 0.02);
}

TEST(Springs, CriticalDampingDoesNotOvershoot) {
  const double stiffness = 50;
  World world = oscillator(stiffness, 2 * std::sqrt(stiffness * kOscillatorMass), 1e-3);
  set_joint_state(world, "slide", 0.2);
  for (int i = 0; i < 5000; ++i) {
    world.step();
    ASSERT_GE(q_of(world, "slide"), 0);
  }
  EXPECT_LT(q_of(world, "slide"), 1e-9);
}

TEST(DryFriction, HoldsWhatIsBelowItsLimit) {
  World world = oscillator(0, 0, 1e-3, 3);
  for (const double push : {2.9, -2.9, 0.5}) {
    const VecX tau = VecX::Constant(1, push);
    for (int i = 0; i < 1000; ++i) world.step(tau);
    EXPECT_LT(std::abs(v_of(world, "slide")), 1e-12);
    EXPECT_LT(std::abs(q_of(world, "slide")), 1e-12);
    EXPECT_NEAR(constraint_forces(world.model(), world.record())[0], -push, 1e-9);
  }
}

TEST(DryFriction, SlidesWithTheForceThatIsLeft) {
  // m a = τ − limit.
  World world = oscillator(0, 0, 1e-3, 3);
  const VecX tau = VecX::Constant(1, 5);
  for (int i = 0; i < 1000; ++i) world.step(tau);
  EXPECT_NEAR(v_of(world, "slide"), (5.0 - 3.0) / kOscillatorMass, 1e-9);
}

TEST(DryFriction, StopsInFiniteTime) {
  // After v m / limit.
  World world = oscillator(0, 0, 1e-3, 3);
  set_joint_state(world, "slide", 0, 2);
  const double stops = 2 * kOscillatorMass / 3;
  run(world, stops - 2e-3);
  EXPECT_GT(v_of(world, "slide"), 1e-3);
  run(world, 4e-3);
  EXPECT_LT(std::abs(v_of(world, "slide")), 1e-12);
  EXPECT_NEAR(q_of(world, "slide"), 2 * 2 * kOscillatorMass / (2 * 3), 2e-3);
}

TEST(DryFriction, OfABallJointActsPerAxis) {
  Joint joint = ball("ball");
  joint.dry_friction = 0.5;
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_body("world", {.name = "body", .inertia = SpatialInertia::sphere(1, 0.5)}, joint);
  World world = world_of(builder, 1e-3);
  const VecX push = Vec3(0.4, -0.45, 0.3);
  for (int i = 0; i < 100; ++i) world.step(push);
  EXPECT_LT(fastest(world), 1e-12);
  const VecX turn = Vec3(0.8, -0.45, 0.3);
  for (int i = 0; i < 100; ++i) world.step(turn);
  EXPECT_NEAR(world.state().v[0], 0.1 * (0.8 - 0.5) / 0.1, 1e-9);  // I = 2/5 m r² = 0.1
}

TEST(Springs, OnASeriesOfJointsActEachOnItsOwn) {
  // A pendulum bob on a sprung elbow: at rest each spring carries the torque of what hangs below it.
  Joint shoulder = revolute("shoulder", Vec3::UnitY());
  shoulder.stiffness = 40;
  shoulder.damping = 4;
  Joint elbow = revolute("elbow", Vec3::UnitY(), Pose::translation(0.5, 0, 0));
  elbow.stiffness = 25;
  elbow.damping = 2;
  ModelBuilder builder;
  builder.add_body("world", {.name = "upper", .inertia = SpatialInertia::point(1, {0.25, 0, 0})}, shoulder);
  builder.add_body("upper", {.name = "lower", .inertia = SpatialInertia::point(0.6, {0.5, 0, 0})}, elbow);
  World world = world_of(builder, 1e-3);
  run(world, 20);
  EXPECT_LT(fastest(world), 1e-9);
  const double a = q_of(world, "shoulder"), b = q_of(world, "elbow");
  const double elbow_torque = 0.6 * kGravity * 0.5 * std::cos(a + b);
  const double shoulder_torque = elbow_torque + (1 * 0.25 + 0.6 * 0.5) * kGravity * std::cos(a);
  EXPECT_NEAR(40 * a, shoulder_torque, 1e-8);
  EXPECT_NEAR(25 * b, elbow_torque, 1e-8);
}

}  // namespace
}  // namespace lithe::test

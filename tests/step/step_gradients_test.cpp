#include <gtest/gtest.h>

#include <limits>

#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/free_bodies.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_jvp.h"
#include "lithe/step/step_vjp.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"
#include "tests/support/step_worlds.h"

// What holds for gradients whatever they are of: their report, their memory, their bits, what they refuse. That they are right is
// the business of gradcheck_test.cpp.
namespace lithe::test {
namespace {

constexpr const char* kSceneNames[] = {"humanoid", "half_cheetah", "boxes:3", "stack:4", "four_bar",      "gripper",
                                       "pile:5",   "catapult",     "incline", "chain:9", "rolling_sphere"};

// A scene after some steps, when things have met.
struct SteppedScene {
  Scene start;
  World world;
  explicit SteppedScene(const char* name, int steps = 120) : start(scene(name)), world(world_of(start)) {
    const Control control = with_targets(start.motor_targets);
    for (int i = 0; i < steps; ++i) world.step(control);
  }
  const Model& model() const { return world.model(); }
  const StepRecord& record() const { return world.record(); }
};

VecX wave(Eigen::Index n, double phase) {
  VecX x(n);
  for (Eigen::Index i = 0; i < n; ++i) x[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  return x;
}

StepCotangent cotangent_of(const StepRecord& record) {
  const Eigen::Index nv = record.next.v.size();
  return {.q = wave(nv, 0.3), .v = wave(nv, 1.1), .f = wave(static_cast<Eigen::Index>(record.f.size()), 2.0)};
}

TEST(StepGradients, AllocateNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  for (const char* name : kSceneNames) {
    const SteppedScene scene(name);
    const StepRecord& record = scene.record();
    const Eigen::Index nv = record.next.v.size();
    const StepCotangent by_next = cotangent_of(record);
    const StepTangent direction = {.q = wave(nv, 0.1), .v = wave(nv, 0.2), .tau = wave(nv, 0.3)};
    StepJacobians jacobians;
    StepVjp vjp;
    StepJvp jvp;
    const auto all = [&] {
      step_jacobians(scene.model(), record, jacobians, StepBlocks::all);
      step_vjp(scene.model(), record, by_next, vjp);
      step_jvp(scene.model(), record, direction, jvp);
    };
    all();
    const AllocationGuard guard;
    all();
    EXPECT_EQ(guard.count(), 0) << name;
  }
}

TEST(StepGradients, AgreeWithOneAnother) {
  for (const char* name : kSceneNames) {
    const SteppedScene scene(name);
    const StepRecord& record = scene.record();
    const Eigen::Index nv = record.next.v.size();
    StepJacobians J;
    step_jacobians(scene.model(), record, J, StepBlocks::all);

    const StepCotangent l = cotangent_of(record);
    StepVjp vjp;
    step_vjp(scene.model(), record, l, vjp);
    const VecX by_q = J.dqnext_dq.transpose() * l.q + J.dvnext_dq.transpose() * l.v + J.df_dq.transpose() * l.f;
    const VecX by_v = J.dqnext_dv.transpose() * l.q + J.dvnext_dv.transpose() * l.v + J.df_dv.transpose() * l.f;
    const VecX by_tau = J.dqnext_dtau.transpose() * l.q + J.dvnext_dtau.transpose() * l.v + J.df_dtau.transpose() * l.f;
    const auto scale = [&](const MatX& a, const MatX& b, const MatX& c) {
      return 1 + a.cwiseAbs().sum() + b.cwiseAbs().sum() + c.cwiseAbs().sum();
    };
    const double scale_q = scale(J.dqnext_dq, J.dvnext_dq, J.df_dq);
    const double scale_v = scale(J.dqnext_dv, J.dvnext_dv, J.df_dv);
    const double scale_tau = scale(J.dqnext_dtau, J.dvnext_dtau, J.df_dtau);
    EXPECT_LE((vjp.q - by_q).cwiseAbs().maxCoeff(), 1e-12 * scale_q) << name;
    EXPECT_LE((vjp.v - by_v).cwiseAbs().maxCoeff(), 1e-12 * scale_v) << name;
    EXPECT_LE((vjp.tau - by_tau).cwiseAbs().maxCoeff(), 1e-12 * scale_tau) << name;

    const StepTangent x = {.q = wave(nv, 0.1), .v = wave(nv, 0.2), .tau = wave(nv, 0.3)};
    StepJvp jvp;
    step_jvp(scene.model(), record, x, jvp);
    const double all = scale_q + scale_v + scale_tau;
    EXPECT_LE((jvp.q - J.dqnext_dq * x.q - J.dqnext_dv * x.v - J.dqnext_dtau * x.tau).cwiseAbs().maxCoeff(),
              1e-12 * all)
        << name;
    EXPECT_LE((jvp.v - J.dvnext_dq * x.q - J.dvnext_dv * x.v - J.dvnext_dtau * x.tau).cwiseAbs().maxCoeff(),
              1e-12 * all)
        << name;
    if (jvp.f.size() == 0) continue;
    EXPECT_LE((jvp.f - J.df_dq * x.q - J.df_dv * x.v - J.df_dtau * x.tau).cwiseAbs().maxCoeff(), 1e-12 * all) << name;
  }
}

TEST(StepGradients, JvpsMoveAlikeWhetherImpulsesAreWantedOrNot) {
  int with_impulses = 0;
  for (const char* name : kSceneNames) {
    const SteppedScene scene(name);
    const Eigen::Index nv = scene.record().next.v.size();
    const StepTangent x = {.q = wave(nv, 0.1), .v = wave(nv, 0.2), .tau = wave(nv, 0.3)};
    StepJvp all, motion;
    step_jvp(scene.model(), scene.record(), x, all);
    step_jvp(scene.model(), scene.record(), x, motion, {.impulses = false});
    EXPECT_EQ(motion.f.size(), 0);
    EXPECT_LE((motion.q - all.q).cwiseAbs().maxCoeff(), 1e-12 * (1 + all.q.cwiseAbs().maxCoeff())) << name;
    EXPECT_LE((motion.v - all.v).cwiseAbs().maxCoeff(), 1e-12 * (1 + all.v.cwiseAbs().maxCoeff())) << name;
    if (all.f.size() > 0) ++with_impulses;
  }
  EXPECT_GE(with_impulses, 3);
}

TEST(StepGradients, EachBlockAloneIsTheSameAsAmongAll) {
  for (const char* name : kSceneNames) {
    const SteppedScene scene(name);
    StepJacobians all;
    step_jacobians(scene.model(), scene.record(), all);
    using Block = std::pair<StepBlocks, MatX StepJacobians::*>;
    for (const auto& [block, member] :
         {Block{StepBlocks::qnext_q, &StepJacobians::dqnext_dq}, Block{StepBlocks::qnext_v, &StepJacobians::dqnext_dv},
          Block{StepBlocks::qnext_tau, &StepJacobians::dqnext_dtau},
          Block{StepBlocks::vnext_q, &StepJacobians::dvnext_dq}, Block{StepBlocks::vnext_v, &StepJacobians::dvnext_dv},
          Block{StepBlocks::vnext_tau, &StepJacobians::dvnext_dtau}}) {
      StepJacobians alone;
      step_jacobians(scene.model(), scene.record(), alone, block);
      EXPECT_TRUE(alone.*member == all.*member) << name << ", block " << static_cast<int>(block);
      EXPECT_EQ(alone.df_dq.size(), 0);
    }
  }
}

// One result for many models and scenes: nothing of an earlier one may remain.
TEST(StepGradients, DoNotRememberEarlierRecords) {
  StepJacobians reused;
  for (const char* name : {"boxes:3", "stack:3", "boxes:3", "humanoid", "pile:5", "stack:3"}) {
    const SteppedScene scene(name);
    StepJacobians fresh;
    step_jacobians(scene.model(), scene.record(), fresh);
    step_jacobians(scene.model(), scene.record(), reused);
    EXPECT_TRUE(reused.dvnext_dq == fresh.dvnext_dq && reused.dvnext_dv == fresh.dvnext_dv &&
                reused.dvnext_dtau == fresh.dvnext_dtau && reused.dqnext_dq == fresh.dqnext_dq &&
                reused.dqnext_dv == fresh.dqnext_dv && reused.dqnext_dtau == fresh.dqnext_dtau)
        << name;
  }
}

TEST(StepGradients, OfThingsThatNothingConnectsAreZero) {
  const SteppedScene scene("boxes:3");
  StepJacobians J;
  step_jacobians(scene.model(), scene.record(), J);
  EXPECT_EQ((J.dvnext_dq.block<6, 6>(0, 6)).cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ((J.dvnext_dtau.block<6, 6>(12, 0)).cwiseAbs().maxCoeff(), 0);
}

// A body in free fall, moving along: v⁺ = v + Δt(g + τ/m), q⁺ = q + Δt v⁺.
TEST(StepGradients, OfFreeFallAreKnown) {
  World world = world_of(ModelBuilder().add_body("world", {.name = "bead", .inertia = SpatialInertia::sphere(2, 0.1)},
                                                 translational("slide")),
                         0.01);
  world.step();
  StepJacobians J;
  step_jacobians(world.model(), world.record(), J);
  const MatX one = MatX::Identity(3, 3);
  EXPECT_LE((J.dvnext_dv - one).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_LE((J.dvnext_dtau - 0.005 * one).cwiseAbs().maxCoeff(), 1e-17);
  EXPECT_LE((J.dqnext_dv - 0.01 * one).cwiseAbs().maxCoeff(), 1e-17);
  EXPECT_LE((J.dqnext_dtau - 5e-5 * one).cwiseAbs().maxCoeff(), 1e-19);
  EXPECT_LE((J.dqnext_dq - one).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_EQ(J.report.mode, GradientMode::exact);
  EXPECT_EQ(J.report.rows, 0);
  EXPECT_EQ(J.report.margin, std::numeric_limits<double>::infinity());
}

TEST(GradientReport, OfABoxAtRestTellsItsRowsAndRank) {
  const SteppedScene scene("boxes:1", 300);
  StepVjp vjp;
  step_vjp(scene.model(), scene.record(), cotangent_of(scene.record()), vjp);
  EXPECT_EQ(vjp.report.rows, 12);
  EXPECT_EQ(vjp.report.clamping, 12);
  EXPECT_EQ(vjp.report.rank, 6);
  EXPECT_EQ(vjp.report.sliding, 0);
  EXPECT_FALSE(vjp.report.one_sided);
  EXPECT_LT(vjp.report.inconsistency, 1e-6);
  EXPECT_GT(vjp.report.margin, 0);
  EXPECT_LT(vjp.report.margin_row, 12);
  EXPECT_EQ(vjp.report.mode, GradientMode::exact);
}

TEST(GradientReport, MarginIsTheVelocityThatOpensAContact) {
  // A ball at rest without friction: pulling it up by its weight's impulse, g Δt as a velocity, opens the contact.
  ModelBuilder builder;
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}, .material = {.friction = 0}});
  builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(1, 0.1)}, translational("slide"));
  builder.add_shape("ball", {.name = "ball", .geometry = Sphere{0.1}});
  World world = world_of(builder, 1e-3);
  world.set_state(Vec3(0, 0, 0.1), Vec3::Zero());
  world.step();
  StepVjp vjp;
  step_vjp(world.model(), world.record(), cotangent_of(world.record()), vjp);
  EXPECT_NEAR(vjp.report.margin, kGravity * 1e-3, 1e-12);
  EXPECT_EQ(vjp.report.margin_row, 0);
}

TEST(GradientReport, NamesTiedRows) {
  // No weight and no motion: the contact neither presses nor opens.
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}, .material = {.friction = 0}});
  builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(1, 0.1)}, translational("slide"));
  builder.add_shape("ball", {.name = "ball", .geometry = Sphere{0.1}});
  World world = world_of(builder, 1e-3);
  world.set_state(Vec3(0, 0, 0.1), Vec3::Zero());
  world.step();
  ASSERT_TRUE(has(world.status().flags, LcpFlag::tied));
  StepJacobians J;
  step_jacobians(world.model(), world.record(), J);
  EXPECT_TRUE(J.report.one_sided);
  EXPECT_EQ(J.report.tied_rows, std::vector<int>{0});
  EXPECT_EQ(J.report.separating, 1);
  EXPECT_TRUE(J.dvnext_dv.allFinite());
}

TEST(StepGradients, OfADivergedStepAreTheIdentity) {
  Scene start = scene("half_cheetah");
  World world = world_of(start);
  VecX v = world.state().v;
  v.setConstant(1e200);
  world.set_state(world.state().q, v);
  world.step();
  ASSERT_TRUE(world.status().diverged);
  StepJacobians J;
  step_jacobians(world.model(), world.record(), J);
  EXPECT_TRUE(J.report.diverged);
  EXPECT_TRUE(J.dvnext_dv.isIdentity(0) && J.dqnext_dq.isIdentity(0) && J.dvnext_dq.isZero(0));
  StepVjp vjp;
  const VecX ones = VecX::Ones(world.model().nv());
  step_vjp(world.model(), world.record(), {.q = ones, .v = 2 * ones}, vjp);
  EXPECT_TRUE(vjp.q == ones && vjp.v == 2 * ones && vjp.tau.isZero(0));
  EXPECT_TRUE(vjp.report.diverged);
}

TEST(StepGradients, RefuseWrongInputByName) {
  const SteppedScene scene("half_cheetah", 1);
  StepVjp vjp;
  StepJvp jvp;
  StepJacobians J;
  const VecX short_one = VecX::Zero(3);
  VecX bad = VecX::Zero(9);
  bad[4] = std::numeric_limits<double>::quiet_NaN();
  expect_error([&] { step_vjp(scene.model(), scene.record(), {.q = short_one}, vjp); }, "step_vjp", "by_next.q", "3",
               "9");
  expect_error([&] { step_vjp(scene.model(), scene.record(), {.v = bad}, vjp); }, "by_next.v[4]", "nan");
  expect_error([&] { step_jvp(scene.model(), scene.record(), {.tau = short_one}, jvp); }, "step_jvp", "direction.tau");
  expect_error([&] { step_jacobians(scene.model(), StepRecord(), J); }, "step_jacobians", "step()");
  const Model other = lithe::scene("humanoid").model;
  expect_error([&] { step_vjp(other, scene.record(), {}, vjp); }, "does not hold a step of this model");
  const StepParameters parameters(other, {"body/pelvis/mass"});
  expect_error([&] { step_vjp(scene.model(), scene.record(), {}, vjp, {.parameters = parameters}); }, "another model");
}

TEST(StepGradients, WithNothingToGoOnAreZero) {
  const SteppedScene scene("half_cheetah", 5);
  StepVjp vjp;
  step_vjp(scene.model(), scene.record(), {}, vjp);
  EXPECT_TRUE(vjp.q.isZero(0) && vjp.v.isZero(0) && vjp.tau.isZero(0));
}

}  // namespace
}  // namespace lithe::test

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "lithe/model/parameters.h"
#include "lithe/scenes/solids/balls.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/step_jacobians.h"
#include "tests/step/trajectory.h"
#include "tests/support/step_worlds.h"

// Scenes whose gradients are known from the textbook, and which simulators are known to get wrong.
namespace lithe::test {
namespace {

std::vector<VecX> no_forces(int steps) { return std::vector<VecX>(steps); }

// ∂(final q, final v)/∂(initial q, initial v), row by row.
struct FinalDerivatives {
  MatX qq, qv, vq, vv;    // nv × nv
  MatX q_by_first_force;  // of the first step
};
FinalDerivatives final_derivatives(const Model& model, const Trajectory& trajectory, const GradientOptions& options) {
  const int n = model.nv();
  FinalDerivatives d{MatX(n, n), MatX(n, n), MatX(n, n), MatX(n, n), MatX(n, n)};
  for (int i = 0; i < n; ++i) {
    const TrajectoryGradient of_q =
        gradient_of(model, trajectory, at_end(trajectory, {.q = VecX::Unit(n, i)}), options);
    const TrajectoryGradient of_v =
        gradient_of(model, trajectory, at_end(trajectory, {.v = VecX::Unit(n, i)}), options);
    d.qq.row(i) = of_q.q.transpose();
    d.qv.row(i) = of_q.v.transpose();
    d.vq.row(i) = of_v.q.transpose();
    d.vv.row(i) = of_v.v.transpose();
    d.q_by_first_force.row(i) = of_q.tau[0].transpose();
  }
  return d;
}

FinalDerivatives final_derivatives(const Scene& scene, int steps, const GradientOptions& options = {}) {
  const Trajectory trajectory =
      roll_out(scene.model, {scene.q, scene.v}, no_forces(steps), with_time_step(scene.time_step));
  return final_derivatives(scene.model, trajectory, options);
}

TEST(KnownTruth, ABallThatStartsHigherEndsLowerAfterAMirror) {
  // z(1) = −(z(0) + v_z(0)) above touch; x goes on as if nothing were there.
  const Scene scene = reflected_ball();
  const int x = scene.model.joints()[scene.model.joint("ball.x")].v_index;
  const int z = scene.model.joints()[scene.model.joint("ball.z")].v_index;
  for (const Bounce bounce : {Bounce::mass_metric, Bounce::paper}) {
    const FinalDerivatives d = final_derivatives(scene, 480, {.bounce = bounce});
    EXPECT_NEAR(d.qq(z, z), -1, 1e-12);
    EXPECT_NEAR(d.qv(z, z), -1, 1e-12);
    EXPECT_NEAR(d.q_by_first_force(z, z), -1.0 / 480, 1e-12);
    EXPECT_NEAR(d.qq(x, x), 1, 1e-12);
    EXPECT_NEAR(d.qv(x, x), 1, 1e-12);
    EXPECT_NEAR(d.q_by_first_force(x, x), 1.0 / 480, 1e-12);
    EXPECT_NEAR(d.qq(x, z), 0, 1e-12);
    EXPECT_NEAR(d.qq(z, x), 0, 1e-12);
  }
}

TEST(KnownTruth, TheStepAsComputedSaysOtherwise) {
  // Where the ball is when it is noticed decides where it goes on from: +1, which no continuous motion has.
  const Scene scene = reflected_ball();
  const int z = scene.model.joints()[scene.model.joint("ball.z")].v_index;
  EXPECT_NEAR(final_derivatives(scene, 480, GradientOptions::exact()).qq(z, z), 1, 1e-12);
}

TEST(KnownTruth, EqualBallsSwapTheirGradients) {
  const FinalDerivatives d = final_derivatives(two_balls(1, 1), 1000);
  const MatX swap = (MatX(2, 2) << 0, 1, 1, 0).finished();
  EXPECT_LT((d.vv - swap).norm(), 1e-12);
  EXPECT_LT((d.qq - swap).norm(), 1e-12);
  EXPECT_LT((d.qv - swap).norm(), 1e-12);  // after 1 s
  EXPECT_LT(d.vq.norm(), 1e-12);
}

TEST(KnownTruth, BallsOfUnequalMassShareByMass) {
  const FinalDerivatives d = final_derivatives(two_balls(1, 3), 1000);
  const MatX impact = (MatX(2, 2) << -0.5, 1.5, 0.5, 0.5).finished();
  EXPECT_LT((d.vv - impact).norm(), 1e-12);
  EXPECT_LT((d.qq - impact).norm(), 1e-12);
  EXPECT_LT((d.qv - impact).norm(), 1e-12);
}

TEST(KnownTruth, ThePapersRuleDoesNotKnowMasses) {
  // Nearest to the identity in the Euclidean norm: (0, 1; 1, 0), right for equal masses only.
  const FinalDerivatives d = final_derivatives(two_balls(1, 3), 1000, {.bounce = Bounce::paper});
  EXPECT_LT((d.qq - (MatX(2, 2) << 0, 1, 1, 0).finished()).norm(), 1e-12);
}

// A ball whose lowest point falls from `height`, bounces once with restitution e and is at z above touch after `time`.
struct DroppedBall {
  double z, dz_dheight, dz_dspeed;  // by the height and the upward speed at the start
};
DroppedBall dropped_ball(double height, double e, double time) {
  // t₁ = √(2H/g) at speed v = √(2gH); z = e v s − ½ g s² with s = T − t₁.
  const double v = std::sqrt(2 * kGravity * height), fall = v / kGravity, s = time - fall;
  const double dv_dH = kGravity / v, dfall_dH = 1 / v;
  // An upward speed u: t₁ = (u + √(u² + 2gH))/g, v = √(u² + 2gH); at u = 0, dt₁/du = 1/g and dv/du = 0.
  const double by_fall = -e * v + kGravity * s;
  return {e * v * s - 0.5 * kGravity * s * s, e * dv_dH * s + by_fall * dfall_dH, by_fall / kGravity};
}

TEST(KnownTruth, ADroppedBallsGradientDoesNotJumpWithItsHeight) {
  // Where in its step the impact falls changes along the sweep; the gradient by the height must not notice.
  constexpr double kTime = 1.2, kRestitution = 0.6;
  constexpr int kSteps = 1200;
  for (int i = 0; i <= 50; ++i) {
    const double height = 2.9 + 0.002 * i;
    SCOPED_TRACE("height " + std::to_string(height));
    Scene scene = bouncing_ball(kRestitution, height);
    scene.time_step = kTime / kSteps;
    const Trajectory trajectory =
        roll_out(scene.model, {scene.q, scene.v}, no_forces(kSteps), with_time_step(scene.time_step));
    const int z = scene.model.joints()[scene.model.joint("ball.z")].v_index;
    const TrajectoryGradient gradient =
        gradient_of(scene.model, trajectory, at_end(trajectory, {.q = VecX::Unit(scene.model.nv(), z)}));
    EXPECT_EQ(gradient.bounced, 1);
    const DroppedBall truth = dropped_ball(height, kRestitution, kTime);
    EXPECT_NEAR(gradient.q[z], truth.dz_dheight, 5e-3);
    EXPECT_NEAR(gradient.v[z], truth.dz_dspeed, 5e-3);
  }
}

Trajectory flight(const Model& model, const VecX& q, const VecX& v) {
  return roll_out(model, {q, v}, no_forces(288), with_time_step(0.6 / 288));
}

const VecX kThrow = (VecX(3) << 5, 0, -5).finished();
const VecX kPlace = VecX::Zero(3);

TEST(KnownTruth, DescentOnTheVelocityFindsTheWayOverGroundAndWall) {
  // To (−2, 0, 1.5) after 0.6 s. Where in its step the ball meets the ground is worth v Δt = 1 cm: nearer it does not stay.
  const Model model = ball_and_wall().model;
  const Vec3 target = Vec3(-2, 0, 1.5) - Vec3(-0.5, 0, 1);
  VecX v = kThrow;
  double nearest = 100;
  for (int i = 0; i < 60; ++i) {
    const Trajectory trajectory = flight(model, kPlace, v);
    const VecX miss = trajectory.end().q - target;
    nearest = std::min(nearest, miss.norm());
    v -= 0.5 * gradient_of(model, trajectory, at_end(trajectory, {.q = 2 * miss})).v;
  }
  EXPECT_LT(nearest, 0.01);
}

// Descent on the place that the ball is thrown from, towards where it would end up if it were thrown from 0.1 m further along
// x and z: how far it misses after some iterations.
double miss_after(int iterations, const GradientOptions& options) {
  const Model model = ball_and_wall().model;
  const VecX target = flight(model, (VecX(3) << 0.1, 0, 0.1).finished(), kThrow).end().q;
  VecX q = kPlace;
  for (int i = 0;; ++i) {
    const Trajectory trajectory = flight(model, q, kThrow);
    const VecX miss = trajectory.end().q - target;
    if (i == iterations) return miss.norm();
    q -= 0.2 * gradient_of(model, trajectory, at_end(trajectory, {.q = 2 * miss}), options).q;
  }
}

TEST(KnownTruth, DescentOnThePlaceTurnsAroundAtEveryImpact) {
  const double first = miss_after(0, {});
  EXPECT_GT(first, 0.1);
  EXPECT_LT(miss_after(1, {}), 0.9 * first);
  EXPECT_LT(miss_after(20, {}), 0.03);  // both impacts are noticed up to v Δt late
  // The derivative of the step as computed leads the other way.
  EXPECT_GT(miss_after(1, GradientOptions::exact()), 1.1 * first);
}

// A ball of radius 0.1 that falls with 1 m/s onto `geometry`, whose top is at z = 0, with e = 0.5 and without friction. How its
// sideways speed depends on where it hits.
MatX sideways_speed_by_place(const Geometry& geometry, double top) {
  const Material material = {.friction = 0, .restitution = 0.5};
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(1, kBallRadius)},
                   translational("ball", Pose::translation(0, 0, kBallRadius)));
  builder.add_shape("ball", {.name = "ball", .geometry = Sphere{kBallRadius}, .material = material});
  builder.add_shape(
      "world",
      {.name = "anvil", .geometry = geometry, .placement = Pose::translation(0, 0, -top), .material = material});
  const Model model = builder.build();
  StepRecord record;
  step(model, {VecX::Zero(3), VecX(-VecX::Unit(3, 2))}, {}, with_time_step(1e-3), record);
  StepJacobians jacobians;
  step_jacobians(model, record, jacobians);
  EXPECT_EQ(jacobians.report.mode, GradientMode::bounce_mass_metric);
  return jacobians.dvnext_dq.topLeftCorner(2, 2);
}

TEST(KnownTruth, OnlyCurvatureSteersACentralImpact) {
  // The normal of two spheres turns by δx/(r + R), so the impact leaves (1 + e)·v·δx/(r + R) sideways. A face's does not turn.
  const double radius = 0.3, expected = 1.5 / (kBallRadius + radius);
  const MatX sphere = sideways_speed_by_place(Sphere{radius}, radius);
  EXPECT_LT((sphere - expected * MatX::Identity(2, 2)).norm(), 1e-9);
  EXPECT_LT(sideways_speed_by_place(Box{Vec3::Constant(radius)}, radius).norm(), 1e-12);
  ConvexMesh pyramid;
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0}) {
      pyramid.points.push_back({x, y, 0});
      pyramid.points.push_back({0.5 * x, 0.5 * y, radius});
    }
  }
  EXPECT_LT(sideways_speed_by_place(pyramid, radius).norm(), 1e-12);
}

}  // namespace
}  // namespace lithe::test

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <random>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/step/step.h"
#include "lithe/viz/document/internal/position_gradients.h"
#include "lithe/viz/live/internal/live_world.h"
#include "tests/support/differentiate.h"
#include "tests/viz/live_subjects.h"

// What the arrows of a live viewer are: the loss after the coming step, by what the joints do and by where the bodies
// are. All of it is compared with differences of steps, and with a dense computation that shares nothing with the one
// in use.
namespace lithe::test {

using namespace internal;
namespace {

// Far below the distance at which contacts count as touching, where the correction of gaps has a kink.
constexpr double kPlaceStep = 1e-8;

// The loss after one step from `state` with forces `tau`; no guess.
double loss_after(const LiveWorld& world, const State& state, const VecX& tau) {
  StepOptions options;
  options.time_step = world.subject().time_step;
  StepRecord record;
  step(world.model(), state, {.tau = tau, .motor_targets = world.subject().motor_targets}, options, record);
  return world.subject().loss->evaluate(record.next.q, record.next.v).value;
}

// Place of every body's origin, as one vector.
VecX origins(const Model& model, const VecX& q) {
  Kinematics kin;
  kinematics(model, q, kin);
  std::vector<Pose> poses;
  body_poses(model, kin, poses);
  VecX all(3 * static_cast<Eigen::Index>(poses.size()));
  for (std::size_t b = 0; b < poses.size(); ++b) all.segment<3>(3 * static_cast<Eigen::Index>(b)) = poses[b].p;
  return all;
}

// The definition, with dense matrices: among all motions δq that move the origin of a body by δx, the one of least
// kinetic energy; and the loss changes by ∂loss/∂q · δq. J is that of differences. With M = LLᵀ, in whose metric the
// least motion is that of an ordinary pseudo-inverse, and J L⁻ᵀ = U Σ Vᵀ, it is L⁻ᵀ V Σ⁻¹ Uᵀ δx. What is far heavier
// than the lightest direction is weighed down.
VecX dense_position_gradients(const Model& model, const VecX& q, const VecX& by_q) {
  const MatX J_all = central_difference(model, q, [&](const VecX& at) { return origins(model, at); });
  const MatX L = mass_matrix(model, q).llt().matrixL();
  const VecX response = L.triangularView<Eigen::Lower>().solve(by_q);  // L⁻¹ g
  VecX all = VecX::Zero(J_all.rows());
  for (Eigen::Index b = 0; b < J_all.rows() / 3; ++b) {
    const MatX J = J_all.middleRows(3 * b, 3);
    const MatX J_L = L.triangularView<Eigen::Lower>().solve(J.transpose()).transpose();
    const Eigen::JacobiSVD<MatX> svd(J_L, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const VecX& sigma = svd.singularValues();
    for (Eigen::Index k = 0; k < sigma.size(); ++k) {
      if (!(sigma[k] > 1e-6 * sigma[0])) continue;  // or it cannot move there
      const double heaviness = (sigma[0] * sigma[0] / (sigma[k] * sigma[k]) - 1) / PositionGradients::kHeavy;
      const double weight = 1 / (1 + std::pow(heaviness, 4));
      all.segment<3>(3 * b) += weight / sigma[k] * svd.matrixV().col(k).dot(response) * svd.matrixU().col(k);
    }
  }
  return all;
}

std::vector<double> as_doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }

VecX as_vector(const std::vector<float>& values) {
  const std::vector<double> wide = as_doubles(values);
  return Eigen::Map<const VecX>(wide.data(), static_cast<Eigen::Index>(wide.size()));
}

// Both gradients of a frame against differences of the step. All joints have one DoF.
void check_frame(LiveWorld& world) {
  const State state = world.state();
  const VecX tau = VecX::Zero(world.model().nv());
  const int nv = world.model().nv();
  const LiveFrame frame = world.frame();
  ASSERT_TRUE(frame.track.gradients);
  const MatX by_tau = central_difference(
      [&](const VecX& delta) { return VecX::Constant(1, loss_after(world, state, tau + delta)); }, nv, 1e-3);
  EXPECT_LT(relative_error(as_vector(frame.track.gradients->joints), by_tau.transpose()), 1e-5);
  const MatX by_q = central_difference(
      world.model(), state.q, [&](const VecX& q) { return VecX::Constant(1, loss_after(world, {q, state.v}, tau)); },
      kPlaceStep);
  const VecX by_places = dense_position_gradients(world.model(), state.q, by_q.transpose());
  EXPECT_LT(relative_error(as_vector(frame.track.gradients->bodies), by_places), 1e-5);
  EXPECT_NEAR(frame.loss, world.subject().loss->evaluate(state.q, state.v).value, 1e-12);
}

TEST(LiveGradients, OfTheCatapultAreThoseOfTheStepThroughContact) {
  LiveWorld world(scene_subject("catapult"));
  int touching = 0;
  for (int i = 0; i < 400; ++i) {
    world.step();
    if (i % 50 != 37) continue;
    SCOPED_TRACE(i);
    touching += world.frame().track.contact_counts[0] > 0 ? 1 : 0;
    check_frame(world);
  }
  EXPECT_GE(touching, 3);
}

TEST(LiveGradients, OfTheDrivenCatapultToo) {
  LiveWorld world(scene_subject("catapult"));
  for (int i = 0; i < 300; ++i) world.step();
  ASSERT_GT(world.frame().track.contact_counts[0], 0u);
  const State state = world.state();
  world.set_control(0, 20);
  world.set_control(1, -5);
  VecX tau = VecX::Zero(world.model().nv());
  tau[world.model().joints()[world.model().joint("segment_1")].v_index] = 20;
  tau[world.model().joints()[world.model().joint("segment_2")].v_index] = -5;
  const MatX by_tau =
      central_difference([&](const VecX& delta) { return VecX::Constant(1, loss_after(world, state, tau + delta)); },
                         world.model().nv(), 1e-3);
  EXPECT_LT(relative_error(as_vector(world.frame().track.gradients->joints), by_tau.transpose()), 1e-5);
}

// While it bounces the gradient is that of the continuous motion, which differences of one step do not see
// (docs/gradients.md).
TEST(LiveGradients, OfTheBallAreThoseOfTheStepInFlight) {
  LiveWorld world(scene_subject("ball_and_wall"));
  int checked = 0;
  for (int i = 0; i < 288; ++i) {
    const VecX before = world.state().v;
    const LiveFrame frame = world.frame();
    const State from = world.state();
    world.step();
    const bool bounced = (world.state().v - before).norm() > 1e-9;
    if (bounced || i % 40 != 5) continue;
    world.set_state(from.q, from.v, world.time());
    SCOPED_TRACE(i);
    check_frame(world);
    ++checked;
    world.step();
  }
  EXPECT_GE(checked, 6);
}

// The reflection's derivative has known entries: over the bounce ∂z⁺/∂z and ∂v_z⁺/∂v_z are −e.
TEST(LiveGradients, OfTheBallHaveTheSignOfAReflectionWhereItBounces) {
  LiveWorld world(scene_subject("ball_and_wall"));
  for (int i = 0; i < 288; ++i) {
    const LiveFrame frame = world.frame();
    const State from = world.state();
    world.step();
    const bool off_ground = from.v[2] < 0 && world.state().v[2] > 0;
    if (!off_ground) continue;
    const double by_z_after = world.subject().loss->evaluate(world.state().q, world.state().v).by_q[2];
    const float by_z = frame.track.gradients->bodies[3 * 1 + 2];
    EXPECT_NEAR(by_z, -0.92 * by_z_after, 1e-5 * std::abs(by_z_after));
    return;
  }
  FAIL() << "the ball never met the ground";
}

TEST(LiveGradients, AreLeftOutWithoutALoss) {
  LiveWorld world(falling_box());
  const LiveFrame frame = world.frame();
  EXPECT_FALSE(frame.track.gradients);
  EXPECT_EQ(frame.loss, 0);
  EXPECT_EQ(frame.track.series.size(), 4u);
}

TEST(LiveGradients, FollowTheParameters) {
  LiveWorld world(scene_subject("catapult"));
  for (int i = 0; i < 300; ++i) world.step();
  world.set_parameter(0, 3);    // gravity
  world.set_parameter(1, 0.1);  // friction
  check_frame(world);
}

TEST(PositionGradients, OfAFreeBodyAreThePlainDerivative) {
  const LiveSubject box = falling_box();
  std::mt19937_64 random(5);
  for (int i = 0; i < 20; ++i) {
    const VecX q = random_configuration(box.model, random);
    const VecX by_q = VecX::Random(6);
    const VecX gradients = PositionGradients(box.model).at(q, by_q);
    ASSERT_EQ(gradients.size(), 6);
    EXPECT_EQ(gradients.head(3), VecX::Zero(3));  // the world
    EXPECT_NEAR((gradients.tail(3) - by_q.head(3)).norm(), 0, 1e-12);
  }
}

TEST(PositionGradients, OfAChainFollowTheDefinition) {
  std::mt19937_64 random(6);
  for (const char* name : {"double_pendulum", "chain:6", "humanoid", "half_cheetah", "catapult"}) {
    const LiveSubject subject = scene_subject(name);
    for (int i = 0; i < 3; ++i) {
      const VecX q = random_configuration(subject.model, random);
      const VecX by_q = VecX::Random(subject.model.nv());
      EXPECT_LT(relative_error(PositionGradients(subject.model).at(q, by_q),
                               dense_position_gradients(subject.model, q, by_q)),
                1e-6)
          << name << ", case " << i;
    }
  }
}

// By hand: the second rod's origin is at the end of the first, l = 1 m, m = 1 kg each. Hanging down it can only go
// along x; the bodies give way with the least energy.
TEST(PositionGradients, OfADoublePendulumAreThoseOfTheTextbook) {
  const Model model = double_pendulum().build();
  const VecX q = VecX::Zero(2);
  // M = [5 2; 2 1] (angles relative), x of the joint = −θ₁: J = [−1 0], M⁻¹Jᵀ = [−1, 2].
  const VecX gradients = PositionGradients(model).at(q, Eigen::Vector2d(3, 0.5));
  EXPECT_NEAR((gradients.segment<3>(6) - Vec3(-3 + 2 * 0.5, 0, 0)).norm(), 0, 1e-12);
  EXPECT_EQ(gradients.segment<3>(3), Vec3::Zero());  // the first one's origin is the pivot
}

}  // namespace
}  // namespace lithe::test

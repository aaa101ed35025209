#include "lithe/dynamics/jacobians.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numbers>

#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_test.h"

namespace lithe::test {
namespace {

// d/dt of a Jacobian, as one long vector, while the model moves with v.
template <class Jacobian>
MatX rate_along_motion(const MovingModel& m, Jacobian jacobian) {
  return central_difference(
      [&](const VecX& t) -> VecX {
        return jacobian(m.kinematics_at(retract(m.model, m.state.q, t[0] * m.state.v))).reshaped();
      },
      1);
}

TEST(Jacobians, OfAPlanarArmAreTheTextbooks) {
  // Two links of length 1 and 2 that turn about z, at 0 and a right angle: the tip is at (1, 2).
  const Model arm = ModelBuilder()
                        .add_body("world", {.name = "upper", .inertia = SpatialInertia::sphere(1, 0.1)},
                                  revolute("shoulder", Vec3::UnitZ()))
                        .add_body("upper", {.name = "lower", .inertia = SpatialInertia::sphere(1, 0.1)},
                                  revolute("elbow", Vec3::UnitZ(), Pose::translation(1, 0, 0)))
                        .build();
  Kinematics kin;
  kinematics(arm, Eigen::Vector2d(0, std::numbers::pi / 2), kin);
  Mat3X J;
  point_jacobian(arm, kin, arm.body("lower"), Vec3(2, 0, 0), J);
  Mat3X expected(3, 2);
  expected << -2, -2, 1, 0, 0, 0;
  EXPECT_LE((J - expected).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(Jacobians, TimesVelocityAreVelocities) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const MovingModel m(random);
    const Vec3 p_B = random_vec3(random);
    Mat6X J;
    Mat3X J_point;
    for (std::size_t b = 0; b < m.model.bodies().size(); ++b) {
      const BodyIndex body(static_cast<int>(b));
      body_jacobian(m.model, m.kin, body, J);
      EXPECT_LE(relative_error(J * m.state.v, body_velocity(m.model, m.kin, body), 1), 1e-12);
      point_jacobian(m.model, m.kin, body, p_B, J_point);
      EXPECT_LE(relative_error(J_point * m.state.v, point_velocity(m.model, m.kin, body, p_B), 1), 1e-12);
    }
    const FrameIndex frame = m.random_frame(random);
    frame_jacobian(m.model, m.kin, frame, J);
    EXPECT_LE(relative_error(J * m.state.v, frame_velocity(m.model, m.kin, frame), 1), 1e-12);
  });
}

TEST(Jacobians, AgreeWithPlainDynamics) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const MovingModel m(random);
    const BodyIndex body = m.random_body(random);
    const PlainKinematics plain = plain_kinematics(m.model, m.state.q);
    Mat6X J;
    body_jacobian(m.model, m.kin, body, J);
    const MatX expected = adjoint(Pose::translation(-plain.X_WB[body].p)) * plain.J[body];
    EXPECT_LE(relative_error(J, expected), 1e-11);
  });
}

TEST(Jacobians, AndTheirRatesGiveAccelerations) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const MovingModel m(random);
    const Vec3 p_B = random_vec3(random);
    const VecX& v = m.state.v;
    const VecX& a = m.state.a;
    Mat6X J, J_dot;
    Mat3X J_point, J_point_dot;
    for (std::size_t b = 0; b < m.model.bodies().size(); ++b) {
      const BodyIndex body(static_cast<int>(b));
      body_jacobian(m.model, m.kin, body, J);
      body_jacobian_rate(m.model, m.kin, body, J_dot);
      EXPECT_LE(relative_error(J * a + J_dot * v, body_acceleration(m.model, m.kin, m.id, body), 1), 1e-11);
      point_jacobian(m.model, m.kin, body, p_B, J_point);
      point_jacobian_rate(m.model, m.kin, body, p_B, J_point_dot);
      EXPECT_LE(relative_error(J_point * a + J_point_dot * v, point_acceleration(m.model, m.kin, m.id, body, p_B), 1),
                1e-11);
    }
    const FrameIndex frame = m.random_frame(random);
    frame_jacobian(m.model, m.kin, frame, J);
    frame_jacobian_rate(m.model, m.kin, frame, J_dot);
    EXPECT_LE(relative_error(J * a + J_dot * v, frame_acceleration(m.model, m.kin, m.id, frame), 1), 1e-11);
  });
}

TEST(Jacobians, RatesMatchDifferencesAlongTheMotion) {
  ErrorSummary body_error("body Jacobian rate"), frame_error("frame Jacobian rate"), point_error("point Jacobian rate");
  for_random_cases(2000, [&](std::mt19937_64& random) {
    const MovingModel m(random);
    const BodyIndex body = m.random_body(random);
    const FrameIndex frame = m.random_frame(random);
    const Vec3 p_B = random_vec3(random);
    Mat6X J_dot;
    Mat3X J_point_dot;
    body_jacobian_rate(m.model, m.kin, body, J_dot);
    body_error.add(relative_error(J_dot.reshaped(), rate_along_motion(m, [&](const Kinematics& kin) {
                                    Mat6X J;
                                    body_jacobian(m.model, kin, body, J);
                                    return J;
                                  })));
    frame_jacobian_rate(m.model, m.kin, frame, J_dot);
    frame_error.add(relative_error(J_dot.reshaped(), rate_along_motion(m, [&](const Kinematics& kin) {
                                     Mat6X J;
                                     frame_jacobian(m.model, kin, frame, J);
                                     return J;
                                   })));
    point_jacobian_rate(m.model, m.kin, body, p_B, J_point_dot);
    point_error.add(relative_error(J_point_dot.reshaped(), rate_along_motion(m, [&](const Kinematics& kin) {
                                     Mat3X J;
                                     point_jacobian(m.model, kin, body, p_B, J);
                                     return J;
                                   })));
  });
}

TEST(Jacobians, AreTheSameTenKilometresAway) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const MovingModel near(random);
    const MovingModel far(moved(near.model, 1e4 * random_axis(random)), near.state, near.wrenches);
    const BodyIndex body = near.random_body(random);
    Mat6X J_near, J_far;
    body_jacobian(near.model, near.kin, body, J_near);
    body_jacobian(far.model, far.kin, body, J_far);
    EXPECT_LE(relative_error(J_far, J_near, 1), 1e-9);
    body_jacobian_rate(near.model, near.kin, body, J_near);
    body_jacobian_rate(far.model, far.kin, body, J_far);
    EXPECT_LE(relative_error(J_far, J_near, 1), 1e-9);
  });
}

TEST(Jacobians, OfTheWorldAreZero) {
  std::mt19937_64 random(1);
  const MovingModel m(random);
  Mat6X J = Mat6X::Constant(6, 2, 7);
  body_jacobian(m.model, m.kin, Model::world(), J);
  EXPECT_TRUE(J.cols() == m.model.nv() && J.isZero(0));
  Mat3X J_dot;
  point_jacobian_rate(m.model, m.kin, Model::world(), Vec3::UnitX(), J_dot);
  EXPECT_TRUE(J_dot.cols() == m.model.nv() && J_dot.isZero(0));
}

TEST(Jacobians, RefuseWhatIsNotThere) {
  std::mt19937_64 random(1);
  const MovingModel m(random);
  const int bodies = static_cast<int>(m.model.bodies().size());
  Mat6X J;
  EXPECT_EQ(error_text([&] { body_jacobian(m.model, m.kin, BodyIndex(bodies), J); }),
            fmt::format("body index {0} is out of range: the model has {0} bodies, the world included", bodies));
  EXPECT_EQ(error_text([&] { frame_jacobian_rate(m.model, m.kin, FrameIndex(-1), J); }),
            fmt::format("frame index -1 is out of range: the model has {} frames", bodies));
}

TEST(Jacobians, AllocateNothingOnceWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  const MovingModel m(random, {.min_dofs = 20});
  const BodyIndex body(static_cast<int>(m.model.bodies().size()) - 1);
  Mat6X J, J_dot;
  Mat3X J_point, J_point_dot;
  const auto all = [&] {
    body_jacobian(m.model, m.kin, body, J);
    body_jacobian_rate(m.model, m.kin, body, J_dot);
    frame_jacobian(m.model, m.kin, FrameIndex(1), J);
    frame_jacobian_rate(m.model, m.kin, FrameIndex(1), J_dot);
    point_jacobian(m.model, m.kin, body, Vec3::UnitX(), J_point);
    point_jacobian_rate(m.model, m.kin, body, Vec3::UnitX(), J_point_dot);
  };
  all();
  const AllocationGuard guard;
  all();
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace lithe::test

#include "lithe/dynamics/body_motion.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <limits>

#include "lithe/dynamics/body_motion_derivatives.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_test.h"

namespace lithe::test {
namespace {

// A rod of length 2 that hangs from (0, 0, 3) and swings about y.
Model hanging_rod() {
  return ModelBuilder()
      .add_body("world", {.name = "post", .placement = Pose::translation(0, 0, 3)})
      .add_body("post", {.name = "rod", .inertia = SpatialInertia::point(1, {0, 0, -2})},
                revolute("hinge", Vec3::UnitY()))
      .add_frame("rod", {.name = "tip", .placement = Pose::translation(0, 0, -2)})
      .add_frame("post", {.name = "top", .placement = Pose::translation(0, 0, 0.5)})
      .build();
}

MovingModel swinging() {
  return MovingModel(hanging_rod(),
                     {.q = VecX::Zero(1), .v = VecX::Constant(1, 3), .a = VecX::Constant(1, 5), .tau = {}});
}

// [ω; v₀] at the world's origin → [ω; velocity of p].
Vec6 at_place(const Vec6& V, const Vec3& p) {
  Vec6 out = V;
  out.tail<3>() += V.head<3>().cross(p);
  return out;
}

// [α; a₀], spatial and at the world's origin → [α; p̈].
Vec6 classical_at_place(const Vec6& A, const Vec6& V, const Vec3& p) {
  Vec6 out = at_place(A, p);
  out.tail<3>() += V.head<3>().cross(at_place(V, p).tail<3>());
  return out;
}

// The rotation vector from R₀ to R, in the world, above the position.
VecX pose_difference(const Pose& X, const Pose& X0) {
  Vec6 out;
  out << quaternion_log(quaternion_from_rotation(X.R * X0.R.transpose())), X.p - X0.p;
  return out;
}

TEST(BodyMotion, PendulumTipMovesOnItsCircle) {
  const MovingModel m = swinging();
  const BodyIndex rod = m.model.body("rod");
  const Vec3 tip(0, 0, -2);
  EXPECT_TRUE(point_position(m.model, m.kin, rod, tip).isApprox(Vec3(0, 0, 1)));
  EXPECT_TRUE(frame_pose(m.model, m.kin, m.model.frame("tip")).p.isApprox(Vec3(0, 0, 1)));
  EXPECT_TRUE(point_velocity(m.model, m.kin, rod, tip).isApprox(Vec3(-6, 0, 0)));
  // Tangential −5·2 and centripetal 3²·2, and no trace of gravity.
  EXPECT_TRUE(point_acceleration(m.model, m.kin, m.id, rod, tip).isApprox(Vec3(-10, 0, 18)));
  EXPECT_TRUE(body_acceleration(m.model, m.kin, m.id, rod).isApprox((Vec6() << 0, 5, 0, 0, 0, 0).finished()));
  EXPECT_TRUE(dof_axis(m.model, m.kin, 0).isApprox((Vec6() << 0, 1, 0, 0, 0, 0).finished()));
  EXPECT_TRUE(tree_origin(m.model, m.kin, 0).isApprox(Vec3(0, 0, 3)));
}

TEST(BodyMotion, FixedBodiesStayPut) {
  const MovingModel m = swinging();
  const BodyIndex post = m.model.body("post");
  EXPECT_TRUE(body_pose(m.model, m.kin, Model::world()).p.isZero(0));
  EXPECT_TRUE(body_pose(m.model, m.kin, Model::world()).R.isIdentity(0));
  EXPECT_EQ(body_pose(m.model, m.kin, post).p, Vec3(0, 0, 3));
  EXPECT_EQ(frame_pose(m.model, m.kin, m.model.frame("top")).p, Vec3(0, 0, 3.5));
  EXPECT_TRUE(body_velocity(m.model, m.kin, post).isZero(0));
  EXPECT_TRUE(body_acceleration(m.model, m.kin, m.id, post).isZero(0));
  EXPECT_TRUE(frame_acceleration(m.model, m.kin, m.id, m.model.frame("top")).isZero(0));
  Mat6X dV_dq, dV_dv;
  body_velocity_derivatives(m.model, m.kin, post, dV_dq, dV_dv);
  EXPECT_TRUE(dV_dq.cols() == 1 && dV_dq.isZero(0) && dV_dv.cols() == 1 && dV_dv.isZero(0));
}

TEST(BodyMotion, OfAModelWithoutJointsIsRest) {
  const Model model =
      ModelBuilder().add_body("world", {.name = "table", .placement = Pose::translation(1, 2, 3)}).build();
  const MovingModel m(model, {});
  EXPECT_EQ(point_position(model, m.kin, model.body("table"), Vec3::UnitX()), Vec3(2, 2, 3));
  EXPECT_TRUE(body_acceleration(model, m.kin, m.id, model.body("table")).isZero(0));
  Mat6X dX_dq;
  body_pose_derivatives(model, m.kin, model.body("table"), dX_dq);
  EXPECT_EQ(dX_dq.cols(), 0);
}

TEST(BodyMotion, AgreesWithPlainDynamics) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const MovingModel m(random);
    const PlainKinematics plain = plain_kinematics(m.model, m.state.q);
    const PlainMotion motion = plain_motion(m.model, m.state.q, m.state.v, m.state.a);
    const Vec3 p_B = random_vec3(random);
    for (std::size_t b = 0; b < m.model.bodies().size(); ++b) {
      const BodyIndex body(static_cast<int>(b));
      const Pose& X = plain.X_WB[b];
      EXPECT_LE(relative_error(body_pose(m.model, m.kin, body).R, X.R), 1e-11);
      EXPECT_LE(relative_error(body_pose(m.model, m.kin, body).p, X.p, 1), 1e-11);
      EXPECT_LE(relative_error(body_velocity(m.model, m.kin, body), at_place(motion.V[b], X.p), 1), 1e-11);
      EXPECT_LE(relative_error(body_acceleration(m.model, m.kin, m.id, body),
                               classical_at_place(motion.A[b], motion.V[b], X.p), 1),
                1e-11);
      EXPECT_LE(relative_error(point_position(m.model, m.kin, body, p_B), X * p_B, 1), 1e-11);
      EXPECT_LE(relative_error(point_velocity(m.model, m.kin, body, p_B), at_place(motion.V[b], X * p_B).tail<3>(), 1),
                1e-11);
      EXPECT_LE(relative_error(point_acceleration(m.model, m.kin, m.id, body, p_B),
                               classical_at_place(motion.A[b], motion.V[b], X * p_B).tail<3>(), 1),
                1e-11);
    }
    for (std::size_t f = 0; f < m.model.frames().size(); ++f) {
      const FrameIndex frame(static_cast<int>(f));
      const BodyIndex body = m.model.frames()[f].body;
      const Pose X = plain.X_WB[body] * m.model.frames()[f].placement;
      EXPECT_LE(relative_error(frame_pose(m.model, m.kin, frame).R, X.R), 1e-11);
      EXPECT_LE(relative_error(frame_pose(m.model, m.kin, frame).p, X.p, 1), 1e-11);
      EXPECT_LE(relative_error(frame_velocity(m.model, m.kin, frame), at_place(motion.V[body], X.p), 1), 1e-11);
      EXPECT_LE(relative_error(frame_acceleration(m.model, m.kin, m.id, frame),
                               classical_at_place(motion.A[body], motion.V[body], X.p), 1),
                1e-11);
    }
    for (int dof = 0; dof < m.model.nv(); ++dof) {
      const Vec6 S = at_place(plain.S.col(dof), tree_origin(m.model, m.kin, dof));
      EXPECT_LE(relative_error(dof_axis(m.model, m.kin, dof), S, 1), 1e-11);
    }
  });
}

TEST(BodyMotion, PoseDerivativesMatchDifferences) {
  ErrorSummary body_error("body pose by q"), frame_error("frame pose by q"), point_error("point by q");
  for_random_cases(2000, [&](std::mt19937_64& random) {
    const MovingModel m(random);
    const BodyIndex body = m.random_body(random);
    const FrameIndex frame = m.random_frame(random);
    const Vec3 p_B = random_vec3(random);
    const Pose X_WB = body_pose(m.model, m.kin, body);
    const Pose X_WF = frame_pose(m.model, m.kin, frame);
    Mat6X dX_dq;
    body_pose_derivatives(m.model, m.kin, body, dX_dq);
    body_error.add(relative_error(dX_dq, central_difference(m.model, m.state.q, [&](const VecX& q) {
                                    return pose_difference(body_pose(m.model, m.kinematics_at(q), body), X_WB);
                                  })));
    frame_pose_derivatives(m.model, m.kin, frame, dX_dq);
    frame_error.add(relative_error(dX_dq, central_difference(m.model, m.state.q, [&](const VecX& q) {
                                     return pose_difference(frame_pose(m.model, m.kinematics_at(q), frame), X_WF);
                                   })));
    Mat3X dp_dq;
    point_position_derivatives(m.model, m.kin, body, p_B, dp_dq);
    point_error.add(relative_error(dp_dq, central_difference(m.model, m.state.q, [&](const VecX& q) -> VecX {
                                     return point_position(m.model, m.kinematics_at(q), body, p_B);
                                   })));
  });
}

TEST(BodyMotion, VelocityDerivativesMatchDifferences) {
  ErrorSummary body_by_q("body velocity by q"), body_by_v("body velocity by v");
  ErrorSummary frame_by_q("frame velocity by q"), frame_by_v("frame velocity by v");
  ErrorSummary point_by_q("point velocity by q"), point_by_v("point velocity by v");
  for_random_cases(2000, [&](std::mt19937_64& random) {
    const MovingModel m(random);
    const BodyIndex body = m.random_body(random);
    const FrameIndex frame = m.random_frame(random);
    const Vec3 p_B = random_vec3(random);
    const auto by_q = [&](auto velocity) {
      return central_difference(m.model, m.state.q,
                                [&](const VecX& q) -> VecX { return velocity(m.kinematics_at(q)); });
    };
    const auto by_v = [&](auto velocity) {
      return central_difference(
          [&](const VecX& dv) -> VecX { return velocity(m.kinematics_at(m.state.q, m.state.v + dv)); }, m.model.nv());
    };
    const auto of_body = [&](const Kinematics& kin) { return body_velocity(m.model, kin, body); };
    const auto of_frame = [&](const Kinematics& kin) { return frame_velocity(m.model, kin, frame); };
    const auto of_point = [&](const Kinematics& kin) { return point_velocity(m.model, kin, body, p_B); };
    Mat6X dV_dq, dV_dv;
    body_velocity_derivatives(m.model, m.kin, body, dV_dq, dV_dv);
    body_by_q.add(relative_error(dV_dq, by_q(of_body)));
    body_by_v.add(relative_error(dV_dv, by_v(of_body)));
    frame_velocity_derivatives(m.model, m.kin, frame, dV_dq, dV_dv);
    frame_by_q.add(relative_error(dV_dq, by_q(of_frame)));
    frame_by_v.add(relative_error(dV_dv, by_v(of_frame)));
    Mat3X dv_dq, dv_dv;
    point_velocity_derivatives(m.model, m.kin, body, p_B, dv_dq, dv_dv);
    point_by_q.add(relative_error(dv_dq, by_q(of_point)));
    point_by_v.add(relative_error(dv_dv, by_v(of_point)));
  });
}

TEST(BodyMotion, IsTheSameTenKilometresAway) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const MovingModel near(random);
    const Vec3 away = 1e4 * random_axis(random);
    const MovingModel far(moved(near.model, away), near.state, near.wrenches);
    const BodyIndex body = near.random_body(random);
    const Vec3 p_B = random_vec3(random);
    EXPECT_LE((body_pose(far.model, far.kin, body).p - away - body_pose(near.model, near.kin, body).p).norm(), 1e-10);
    EXPECT_LE(relative_error(body_velocity(far.model, far.kin, body), body_velocity(near.model, near.kin, body), 1),
              1e-9);
    EXPECT_LE(relative_error(point_acceleration(far.model, far.kin, far.id, body, p_B),
                             point_acceleration(near.model, near.kin, near.id, body, p_B), 1),
              1e-9);
    Mat6X far_dq, far_dv, near_dq, near_dv;
    body_velocity_derivatives(far.model, far.kin, body, far_dq, far_dv);
    body_velocity_derivatives(near.model, near.kin, body, near_dq, near_dv);
    EXPECT_LE(relative_error(far_dq, near_dq, 1), 1e-9);
    EXPECT_LE(relative_error(far_dv, near_dv, 1), 1e-9);
  });
}

TEST(BodyMotion, RefusesWhatIsNotThere) {
  const MovingModel m = swinging();
  EXPECT_EQ(error_text([&] { body_pose(m.model, m.kin, BodyIndex(3)); }),
            "body index 3 is out of range: the model has 3 bodies, the world included");
  EXPECT_EQ(error_text([&] { body_velocity(m.model, m.kin, BodyIndex()); }),
            "body index -1 is out of range: the model has 3 bodies, the world included");
  EXPECT_EQ(error_text([&] { frame_pose(m.model, m.kin, FrameIndex(2)); }),
            "frame index 2 is out of range: the model has 2 frames");
  EXPECT_EQ(error_text([&] { dof_axis(m.model, m.kin, 1); }), "DoF 1 is out of range: the model has nv = 1");
  EXPECT_EQ(error_text([&] { tree_origin(m.model, m.kin, -1); }), "DoF -1 is out of range: the model has nv = 1");
  EXPECT_EQ(error_text([&] {
              point_position(m.model, m.kin, BodyIndex(2), Vec3(0, std::numeric_limits<double>::quiet_NaN(), 1));
            }),
            "the point (0, nan, 1) on body 'rod' is not finite");
  EXPECT_EQ(error_text([&] { body_pose(m.model, Kinematics(), BodyIndex(2)); }),
            "this Kinematics was not computed for this model: call kinematics() with this model first");
  EXPECT_EQ(error_text([&] { body_acceleration(m.model, m.kin, InverseDynamics(), BodyIndex(2)); }),
            "this InverseDynamics was not computed for this model: call rnea() with this model first");
}

TEST(BodyMotion, AllocatesNothingOnceWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  const MovingModel m(random, {.min_dofs = 20});
  const BodyIndex body(static_cast<int>(m.model.bodies().size()) - 1);
  const FrameIndex frame(0);
  Mat6X dX, dV_dq, dV_dv;
  Mat3X dp, dv_dq, dv_dv;
  Vec6 sum = Vec6::Zero();
  const auto all = [&] {
    sum.head<3>() += body_pose(m.model, m.kin, body).p + frame_pose(m.model, m.kin, frame).p +
                     point_velocity(m.model, m.kin, body, Vec3::UnitX());
    sum += body_velocity(m.model, m.kin, body) + frame_velocity(m.model, m.kin, frame) +
           body_acceleration(m.model, m.kin, m.id, body) + frame_acceleration(m.model, m.kin, m.id, frame);
    body_pose_derivatives(m.model, m.kin, body, dX);
    point_position_derivatives(m.model, m.kin, body, Vec3::UnitX(), dp);
    body_velocity_derivatives(m.model, m.kin, body, dV_dq, dV_dv);
    frame_velocity_derivatives(m.model, m.kin, frame, dV_dq, dV_dv);
    point_velocity_derivatives(m.model, m.kin, body, Vec3::UnitX(), dv_dq, dv_dv);
  };
  all();
  const AllocationGuard guard;
  all();
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
  EXPECT_TRUE(sum.allFinite());
}

}  // namespace
}  // namespace lithe::test

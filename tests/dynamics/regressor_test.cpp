#include "lithe/dynamics/regressor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/dynamics/moving_model.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/random_test.h"

namespace lithe::test {
namespace {

VecX inertial_parameters(const Model& model) {
  VecX pi(10 * model.bodies().size());
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    pi.segment<10>(10 * b) = model.bodies()[b].inertia.parameters();
  }
  return pi;
}

VecX armature_torque(const MovingModel& m) {
  VecX tau(m.model.nv());
  for (const Joint& joint : m.model.joints()) {
    tau.segment(joint.v_index, joint.nv()) = joint.armature * m.state.a.segment(joint.v_index, joint.nv());
  }
  return tau;
}

TEST(Regressor, OfAPendulumIsTheTextbooks) {
  // It swings about y. With r = R_y(θ)(x, 0, z), gravity's torque about y is m g r_x, so the motor gives
  // τ = Iyy a − g (m x cos θ + m z sin θ).
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "rod", .inertia = SpatialInertia::point(1, {0, 0, -1})},
                                    revolute("hinge", Vec3::UnitY()))
                          .build();
  const double angle = 0.3, a = 5;
  const MovingModel m(model,
                      {.q = VecX::Constant(1, angle), .v = VecX::Constant(1, 2), .a = VecX::Constant(1, a), .tau = {}});
  MatX Y;
  inertial_regressor(model, m.kin, m.id, Y);
  VecX expected = VecX::Zero(20);
  expected[10 + 1] = -9.81 * std::cos(angle);  // m·x
  expected[10 + 3] = -9.81 * std::sin(angle);  // m·z
  expected[10 + 7] = a;                        // Iyy
  ASSERT_EQ(Y.cols(), 20);
  EXPECT_LE((Y.row(0).transpose() - expected).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Regressor, TimesParametersIsInverseDynamics) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const MovingModel m(random);
    MatX Y;
    inertial_regressor(m.model, m.kin, m.id, Y);
    const VecX tau = inverse_dynamics(m.model, m.state.q, m.state.v, m.state.a);
    EXPECT_LE(relative_error(Y * inertial_parameters(m.model) + armature_torque(m), tau, 1), 1e-11);
    // The wrenches that the model also feels enter neither side of Y.
    const VecX wrench_torque = tau - m.id.tau;
    EXPECT_LE(relative_error(Y * inertial_parameters(m.model) + armature_torque(m) - wrench_torque, m.id.tau, 1),
              1e-11);
  });
}

TEST(Regressor, IsTheDerivativeByInertialParameters) {
  ErrorSummary error("inverse dynamics by inertial parameters");
  for_random_cases(2000, [&](std::mt19937_64& random) {
    MovingModel m(random);
    const BodyIndex body(uniform_int(random, 1, static_cast<int>(m.model.bodies().size()) - 1));
    MatX Y;
    inertial_regressor(m.model, m.kin, m.id, Y);
    // A heavy, round body stays possible when its parameters move by a few hundredths.
    const Vec10 pi = SpatialInertia::from_centre(5, Vec3(0.1, 0.2, 0.3), 3 * Mat3::Identity()).parameters();
    const MatX numeric = central_difference(
        [&](const VecX& delta) -> VecX {
          m.model.set_inertia(body, SpatialInertia::from_parameters(pi + delta));
          return inverse_dynamics(m.model, m.state.q, m.state.v, m.state.a, m.wrenches);
        },
        10);
    error.add(relative_error(Y.middleCols<10>(10 * body), numeric));
  });
}

TEST(Regressor, HasNothingForFixedBodies) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const MovingModel m(random, {.new_root = 0.4});
    MatX Y = MatX::Constant(3, 3, 7);
    inertial_regressor(m.model, m.kin, m.id, Y);
    ASSERT_EQ(Y.rows(), m.model.nv());
    ASSERT_EQ(Y.cols(), 10 * static_cast<int>(m.model.bodies().size()));
    for (std::size_t b = 0; b < m.model.bodies().size(); ++b) {
      if (m.model.tree().bodies[b].dof >= 0) continue;
      EXPECT_TRUE(Y.middleCols<10>(10 * b).isZero(0));
    }
  });
}

TEST(Regressor, IsTheSameTenKilometresAway) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const MovingModel near(random);
    const MovingModel far(moved(near.model, 1e4 * random_axis(random)), near.state, near.wrenches);
    MatX Y_near, Y_far;
    inertial_regressor(near.model, near.kin, near.id, Y_near);
    inertial_regressor(far.model, far.kin, far.id, Y_far);
    EXPECT_LE(relative_error(Y_far, Y_near, 1), 1e-9);
  });
}

TEST(Regressor, RefusesResultsOfAnotherModel) {
  std::mt19937_64 random(1);
  const MovingModel m(random, {.min_dofs = 10});
  MatX Y;
  EXPECT_NE(error_text([&] { inertial_regressor(m.model, Kinematics(), m.id, Y); }), "");
  EXPECT_NE(error_text([&] { inertial_regressor(m.model, m.kin, InverseDynamics(), Y); }), "");
}

TEST(Regressor, AllocatesNothingOnceWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  const MovingModel m(random, {.min_dofs = 20});
  MatX Y;
  inertial_regressor(m.model, m.kin, m.id, Y);
  const AllocationGuard guard;
  inertial_regressor(m.model, m.kin, m.id, Y);
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace lithe::test

#include "tests/support/plain_dynamics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lithe/model/configuration.h"
#include "lithe/model/model_builder.h"
#include "tests/support/differentiate.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// The reference itself: textbook values, and identities that hold whatever the implementation.
namespace lithe::test {
namespace {

TEST(PlainDynamics, PendulumFallsAsInTheTextbook) {
  // m l² θ̈ + m g l sin θ = τ
  const double m = 2, l = 0.7, theta = 0.4;
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "bob", .inertia = SpatialInertia::point(m, {0, 0, -l})},
                                    revolute("hinge", Vec3::UnitY()))
                          .build();
  const VecX q = VecX::Constant(1, theta), v = VecX::Constant(1, 3), a = VecX::Constant(1, 1.5);
  EXPECT_NEAR(plain_inverse_dynamics(model, q, v, a)[0], m * l * l * 1.5 + m * 9.81 * l * std::sin(theta), 1e-14);
  EXPECT_NEAR(plain_mass_matrix(model, q)(0, 0), m * l * l, 1e-14);
}

TEST(PlainDynamics, AThrownBodyFallsAndTurnsByEuler) {
  // v̇ = g;  I ω̇ + ω × I ω = 0 in the body's axes.
  const Vec3 moments(1, 2, 2.5);
  const Model model =
      ModelBuilder()
          .add_body("world",
                    {.name = "body", .inertia = SpatialInertia::from_centre(3, Vec3::Zero(), moments.asDiagonal())},
                    free_joint("root"))
          .build();
  std::mt19937_64 random(1);
  const RandomState state = random_state(model, random);
  const VecX a = plain_forward_dynamics(model, state.q, state.v, VecX::Zero(6));
  const Vec3 w = state.v.tail<3>();
  EXPECT_LT((a.head<3>() - model.gravity()).norm(), 1e-13);
  EXPECT_NEAR(a[3], (moments[1] - moments[2]) * w[1] * w[2] / moments[0], 1e-13);
  EXPECT_NEAR(a[4], (moments[2] - moments[0]) * w[2] * w[0] / moments[1], 1e-13);
  EXPECT_NEAR(a[5], (moments[0] - moments[1]) * w[0] * w[1] / moments[2], 1e-13);
}

TEST(PlainDynamics, BothMassMatricesAgree) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = random_model(random, {.max_dofs = 30});
    const VecX q = random_state(model, random).q;
    EXPECT_LT(relative_error(plain_mass_matrix(model, q), plain_mass_matrix_from_energy(model, q)), 1e-12);
  });
}

TEST(PlainDynamics, ForwardUndoesInverse) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = random_model(random, {.max_dofs = 30});
    const RandomState state = random_state(model, random);
    const ExternalWrenches wrenches = random_wrenches(model, random);
    const VecX tau = plain_inverse_dynamics(model, state.q, state.v, state.a, wrenches);
    EXPECT_LT(relative_error(plain_forward_dynamics(model, state.q, state.v, tau, wrenches), state.a), 1e-8);
  });
}

TEST(PlainDynamics, JacobiansAreTheDerivativesOfThePoses) {
  for_random_cases(30, [](std::mt19937_64& random) {
    const Model model = random_model(random, {.max_dofs = 12});
    const VecX q = random_state(model, random).q;
    const PlainKinematics kin = plain_kinematics(model, q);
    const BodyIndex body(uniform_int(random, 1, static_cast<int>(model.bodies().size()) - 1));
    // The velocity of the body's origin is v₀ + ω × p; that of its axes ω × R.
    const Pose& X = kin.X_WB[body];
    const MatX origin =
        central_difference(model, q, [&](const VecX& x) -> VecX { return plain_kinematics(model, x).X_WB[body].p; });
    const MatX z_axis = central_difference(
        model, q, [&](const VecX& x) -> VecX { return plain_kinematics(model, x).X_WB[body].R.col(2); });
    const Mat6X& J = kin.J[body];
    EXPECT_LT(relative_error(J.bottomRows(3) - skew(X.p) * J.topRows(3), origin), 1e-9);
    EXPECT_LT(relative_error(-skew(X.R.col(2)) * J.topRows(3), z_axis), 1e-9);
  });
}

TEST(PlainDynamics, AccelerationIsTheDerivativeOfVelocity) {
  for_random_cases(30, [](std::mt19937_64& random) {
    const Model model = random_model(random, {.max_dofs = 12});
    const RandomState state = random_state(model, random);
    const PlainMotion motion = plain_motion(model, state.q, state.v, state.a);
    // Along q(t) = q ⊕ (t v + ½t²·0), v(t) = v + t a, where the tangent of q(t) stays v.
    const MatX rate = central_difference(
        [&](const VecX& t) -> VecX {
          const VecX q = retract(model, state.q, t[0] * state.v);
          return plain_motion(model, q, state.v + t[0] * state.a, state.a).V.back();
        },
        1);
    EXPECT_LT(relative_error(motion.A.back(), rate), 1e-9);
  });
}

TEST(PlainDynamics, PowerIsTheRateOfEnergy) {
  // d/dt (½vᵀMv − Σ m gᵀc) = vᵀτ, without external wrenches.
  for_random_cases(30, [](std::mt19937_64& random) {
    const Model model = random_model(random, {.max_dofs = 20});
    const RandomState state = random_state(model, random);
    const auto energy = [&](const VecX& q, const VecX& v) {
      const PlainKinematics kin = plain_kinematics(model, q);
      double sum = 0.5 * v.dot(plain_mass_matrix_from_energy(model, q) * v);
      for (std::size_t b = 1; b < model.bodies().size(); ++b) {
        const SpatialInertia inertia = model.bodies()[b].inertia.in(kin.X_WB[b]);
        sum -= model.gravity().dot(inertia.first_moment);
      }
      return sum;
    };
    const MatX rate = central_difference(
        [&](const VecX& t) -> VecX {
          return VecX::Constant(1, energy(retract(model, state.q, t[0] * state.v), state.v + t[0] * state.a));
        },
        1);
    const double power = state.v.dot(plain_inverse_dynamics(model, state.q, state.v, state.a));
    EXPECT_LT(relative_error(MatX::Constant(1, 1, power), rate, 1), 1e-9);
  });
}

}  // namespace
}  // namespace lithe::test

#include <Eigen/Cholesky>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "lithe/dynamics/forward_dynamics_derivatives.h"
#include "lithe/dynamics/inverse_dynamics_derivatives.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/chain.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/differentiate.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// The derivatives of inverse and forward dynamics, each against numeric differences on thousands of random trees of 1
// to 60 DoFs with external wrenches. One test per pair of derivatives, so that they run side by side.
namespace lithe::test {
namespace {

constexpr int kTrees = 10000;

// Torques are linear in a, accelerations in τ, and both are quadratic in v: there differences of sixth order have
// rounding errors only, and a large step keeps those small.
constexpr double kLargeStep = 1;

// A model somewhere in motion. What is differenced numerically runs in the case's own warm workspaces.
struct Case {
  Model model;
  RandomState state;
  ExternalWrenches wrenches;
  Kinematics kin = {};
  InverseDynamics id = {};
  ForwardDynamics fd = {};

  explicit Case(std::mt19937_64& random) : Case(random_model(random), random) {}
  Case(Model the_model, std::mt19937_64& random)
      : model(std::move(the_model)), state(random_state(model, random)), wrenches(random_wrenches(model, random)) {}

  const VecX& inverse(const VecX& q, const VecX& v, const VecX& a) {
    kinematics(model, q, v, kin);
    rnea(model, kin, a, id, wrenches);
    return id.tau;
  }
  const VecX& forward(const VecX& q, const VecX& v, const VecX& tau) {
    kinematics(model, q, v, kin);
    aba(model, kin, tau, fd, wrenches);
    return fd.a;
  }

  InverseDynamicsDerivatives inverse_derivatives() {
    inverse(state.q, state.v, state.a);
    InverseDynamicsDerivatives d;
    rnea_derivatives(model, kin, id, d, wrenches);
    return d;
  }
  ForwardDynamicsDerivatives forward_derivatives() {
    forward(state.q, state.v, state.tau);
    ForwardDynamicsDerivatives d;
    aba_derivatives(model, kin, fd, d, wrenches);
    return d;
  }

  MatX inverse_by_q() {
    return central_difference(model, state.q, [&](const VecX& q) -> VecX { return inverse(q, state.v, state.a); });
  }
  MatX inverse_by_v() {
    return central_difference([&](const VecX& d) -> VecX { return inverse(state.q, state.v + d, state.a); }, model.nv(),
                              kLargeStep);
  }
  MatX inverse_by_a() {
    return central_difference([&](const VecX& d) -> VecX { return inverse(state.q, state.v, state.a + d); }, model.nv(),
                              kLargeStep);
  }
  MatX forward_by_q(double step = kDifferenceStep) {
    return central_difference(
        model, state.q, [&](const VecX& q) -> VecX { return forward(q, state.v, state.tau); }, step);
  }
  // The same from differences of inverse dynamics: ID(q, v, FD(q, v, τ)) = τ for every q.
  MatX forward_by_q_from_inverse() {
    const VecX a = forward(state.q, state.v, state.tau);
    const MatX dtau = central_difference(model, state.q, [&](const VecX& q) -> VecX { return inverse(q, state.v, a); });
    return -plain_mass_matrix_from_energy(model, state.q).ldlt().solve(dtau);
  }
  MatX forward_by_v() {
    return central_difference([&](const VecX& d) -> VecX { return forward(state.q, state.v + d, state.tau); },
                              model.nv(), kLargeStep);
  }
  MatX forward_by_tau() {
    return central_difference([&](const VecX& d) -> VecX { return forward(state.q, state.v, state.tau + d); },
                              model.nv(), kLargeStep);
  }
};

TEST(InverseDynamicsDerivatives, ByPositionMatchDifferences) {
  ErrorSummary error("tau by q");
  for_random_cases(kTrees, [&](std::mt19937_64& random) {
    Case c(random);
    error.add(relative_error(c.inverse_derivatives().dtau_dq, c.inverse_by_q()));
  });
}

TEST(InverseDynamicsDerivatives, ByVelocityAndAccelerationMatchDifferences) {
  ErrorSummary by_v("tau by v"), by_a("tau by a");
  for_random_cases(kTrees, [&](std::mt19937_64& random) {
    Case c(random);
    by_v.add(relative_error(c.inverse_derivatives().dtau_dv, c.inverse_by_v()));
    by_a.add(relative_error(mass_matrix(c.model, c.state.q), c.inverse_by_a()));
  });
}

TEST(ForwardDynamicsDerivatives, ByPositionMatchDifferences) {
  // In a few trees the accelerations are so sensitive that their last digits are noise, which differences multiply by
  // 1/step: then two steps disagree. Inverse dynamics is never so sensitive.
  constexpr double kNoise = 1e-7;
  ErrorSummary error("a by q");
  int noisy = 0, cases = 0;
  for_random_cases(kTrees, [&](std::mt19937_64& random) {
    Case c(random);
    const MatX da_dq = c.forward_derivatives().da_dq;
    MatX numeric = c.forward_by_q();
    ++cases;
    if (relative_error(c.forward_by_q(kDifferenceStep / 2), numeric) > kNoise) {
      ++noisy;
      numeric = c.forward_by_q_from_inverse();
    }
    error.add(relative_error(da_dq, numeric));
  });
  RecordProperty("noisy", noisy);
  EXPECT_LE(noisy, 1 + cases / 1000);
}

TEST(ForwardDynamicsDerivatives, ByVelocityAndForceMatchDifferences) {
  ErrorSummary by_v("a by v"), by_tau("a by tau");
  for_random_cases(kTrees, [&](std::mt19937_64& random) {
    Case c(random);
    const ForwardDynamicsDerivatives d = c.forward_derivatives();
    by_v.add(relative_error(d.da_dv, c.forward_by_v()));
    by_tau.add(relative_error(d.da_dtau, c.forward_by_tau()));
  });
}

}  // namespace
}  // namespace lithe::test

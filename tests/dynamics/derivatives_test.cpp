#include <Eigen/Cholesky>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "lithe/dynamics/forward_dynamics_derivatives.h"
#include "lithe/dynamics/inverse_dynamics_derivatives.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/robots/chain.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/differentiate.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// The derivatives of inverse and forward dynamics, each against numeric differences on thousands of random trees of 1
// to 60 DoFs with external wrenches. One test per pair of derivatives, so that they run side by side.
namespace lithe::test {
namespace {

constexpr int kDerivativeTrees = 2000;

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
  for_random_cases(kDerivativeTrees, [&](std::mt19937_64& random) {
    Case c(random);
    error.add(relative_error(c.inverse_derivatives().dtau_dq, c.inverse_by_q()));
  });
}

TEST(InverseDynamicsDerivatives, ByVelocityAndAccelerationMatchDifferences) {
  ErrorSummary by_v("tau by v"), by_a("tau by a");
  for_random_cases(kDerivativeTrees, [&](std::mt19937_64& random) {
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
  for_random_cases(kDerivativeTrees, [&](std::mt19937_64& random) {
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
  for_random_cases(kDerivativeTrees, [&](std::mt19937_64& random) {
    Case c(random);
    const ForwardDynamicsDerivatives d = c.forward_derivatives();
    by_v.add(relative_error(d.da_dv, c.forward_by_v()));
    by_tau.add(relative_error(d.da_dtau, c.forward_by_tau()));
  });
}

TEST(ForwardDynamicsDerivatives, FollowFromInverseDynamicsByDenseAlgebra) {
  // ∂a/∂q = −M⁻¹ ∂ID/∂q, ∂a/∂v = −M⁻¹ ∂ID/∂v, ∂a/∂τ = M⁻¹.
  for_random_cases(300, [](std::mt19937_64& random) {
    Case c(random);
    const ForwardDynamicsDerivatives d = c.forward_derivatives();
    c.state.a = c.fd.a;
    const InverseDynamicsDerivatives inverse = c.inverse_derivatives();
    const Eigen::LDLT<MatX> M = plain_mass_matrix_from_energy(c.model, c.state.q).ldlt();
    EXPECT_LE(relative_error(d.da_dq, -M.solve(inverse.dtau_dq)), 1e-9);
    EXPECT_LE(relative_error(d.da_dv, -M.solve(inverse.dtau_dv)), 1e-9);
    EXPECT_LE(relative_error(d.da_dtau, M.solve(MatX::Identity(c.model.nv(), c.model.nv()))), 1e-9);
  });
}

// A free cube's torques do not depend on where it is. Of differences only the rounding of the values is left then, so
// errors are measured against a hundredth of the values where the derivatives are smaller than that.
void expect_all_match_differences(Case& c) {
  const auto floor_of = [](const VecX& value) { return std::max(1e-2 * value.cwiseAbs().maxCoeff(), 1e-3); };
  const double torque = floor_of(c.inverse(c.state.q, c.state.v, c.state.a));
  const double acceleration = floor_of(c.forward(c.state.q, c.state.v, c.state.tau));
  const InverseDynamicsDerivatives inverse = c.inverse_derivatives();
  EXPECT_LE(relative_error(inverse.dtau_dq, c.inverse_by_q(), torque), 1e-9);
  EXPECT_LE(relative_error(inverse.dtau_dv, c.inverse_by_v(), torque), 1e-9);
  EXPECT_LE(relative_error(mass_matrix(c.model, c.state.q), c.inverse_by_a()), 1e-9);
  const ForwardDynamicsDerivatives forward = c.forward_derivatives();
  EXPECT_LE(relative_error(forward.da_dq, c.forward_by_q(), acceleration), 1e-6);
  EXPECT_LE(relative_error(forward.da_dv, c.forward_by_v(), acceleration), 1e-6);
  EXPECT_LE(relative_error(forward.da_dtau, c.forward_by_tau()), 1e-6);
}

TEST(DynamicsDerivatives, OfEverySceneMatchDifferences) {
  for (const std::string& name : scene_names()) {
    SCOPED_TRACE(name);
    const Model model = scene(name).model;
    for_random_cases(5, [&](std::mt19937_64& random) {
      Case c(model, random);
      expect_all_match_differences(c);
    });
  }
}

TEST(DynamicsDerivatives, OfALongChainMatchDifferences) {
  for_random_cases(1, [](std::mt19937_64& random) {
    Case c(chain(128).build(), random);
    expect_all_match_differences(c);
  });
}

TEST(InverseDynamicsDerivatives, OfASlidingBeadAreTheTextbooks) {
  // A bead of mass m at radius r on an arm that turns with ω:  τ_turn = m (r² α + 2 r ṙ ω),  τ_slide = m (r̈ − r ω²).
  const double m = 2, r = 0.7, w = 3, alpha = 1.5, r_dot = 0.4;
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "bead", .inertia = SpatialInertia::point(m, Vec3::Zero())},
                                    JointList{revolute("turn", Vec3::UnitZ()), prismatic("slide", Vec3::UnitX())})
                          .build();
  const MovingModel bead(
      model, {.q = Eigen::Vector2d(1, r), .v = Eigen::Vector2d(w, r_dot), .a = Eigen::Vector2d(alpha, 0.2), .tau = {}});
  InverseDynamicsDerivatives d;
  rnea_derivatives(model, bead.kin, bead.id, d);
  MatX by_q(2, 2), by_v(2, 2);
  by_q << 0, m * (2 * r * alpha + 2 * r_dot * w), 0, -m * w * w;
  by_v << 2 * m * r * r_dot, 2 * m * r * w, -2 * m * r * w, 0;
  EXPECT_LE((d.dtau_dq - by_q).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LE((d.dtau_dv - by_v).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(InverseDynamicsDerivatives, AtRestAreTheHessianOfPotentialEnergy) {
  // Without balls, whose tangent turns with them, it is symmetric.
  for_random_cases(300, [](std::mt19937_64& random) {
    const Model model = random_model(random, {.balls = false});
    RandomState state = random_state(model, random);
    state.v.setZero();
    state.a.setZero();
    const MovingModel m(model, state);
    InverseDynamicsDerivatives d;
    rnea_derivatives(m.model, m.kin, m.id, d);
    EXPECT_LE(relative_error(d.dtau_dq, d.dtau_dq.transpose()), 1e-11);
    EXPECT_EQ(d.dtau_dv, MatX::Zero(model.nv(), model.nv()));
  });
}

TEST(InverseDynamicsDerivatives, AreExactlyZeroBetweenBranches) {
  for_random_cases(300, [](std::mt19937_64& random) {
    Case c(random);
    const InverseDynamicsDerivatives d = c.inverse_derivatives();
    const DofTree& tree = c.model.tree();
    for (int i = 0; i < tree.nv; ++i) {
      for (int j = 0; j < tree.nv; ++j) {
        if (tree.moves(i, j) || tree.moves(j, i)) continue;
        EXPECT_EQ(d.dtau_dq(i, j), 0);
        EXPECT_EQ(d.dtau_dv(i, j), 0);
      }
    }
  });
}

TEST(DynamicsDerivatives, OfAModelWithoutJointsAreEmpty) {
  std::mt19937_64 random(1);
  Case c(ModelBuilder().add_body("world", {.name = "table", .inertia = SpatialInertia::sphere(5, 1)}).build(), random);
  EXPECT_EQ(c.inverse_derivatives().dtau_dq.size(), 0);
  EXPECT_EQ(c.forward_derivatives().da_dtau.size(), 0);
}

TEST(DynamicsDerivatives, RefuseBadWrenches) {
  std::mt19937_64 random(1);
  Case c(chain(3).build(), random);
  c.wrenches.clear();
  c.forward_derivatives();
  c.inverse(c.state.q, c.state.v, c.state.a);
  InverseDynamicsDerivatives inverse;
  ForwardDynamicsDerivatives forward;
  const ExternalWrenches nowhere = {{BodyIndex(4), Vec6::Zero()}};
  const std::string text = "an external wrench acts on body index 4, but the model has 4 bodies";
  EXPECT_EQ(error_text([&] { rnea_derivatives(c.model, c.kin, c.id, inverse, nowhere); }), text);
  EXPECT_EQ(error_text([&] { aba_derivatives(c.model, c.kin, c.fd, forward, nowhere); }), text);
}

}  // namespace
}  // namespace lithe::test

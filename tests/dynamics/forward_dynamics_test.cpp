#include "lithe/dynamics/forward_dynamics.h"

#include <Eigen/Cholesky>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "lithe/dynamics/forward_dynamics_derivatives.h"
#include "lithe/dynamics/internal/inverse_factor.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/robots/pendulum.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/constants.h"
#include "tests/support/differentiate.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

TEST(ForwardDynamics, OfAFreeBodyIsFallAndEulersEquations) {
  // v̇ = g;  I ω̇ + ω × I ω = 0 in the body's axes.
  const Vec3 moments(1, 2, 2.5);
  const Model model =
      ModelBuilder()
          .add_body("world",
                    {.name = "body", .inertia = SpatialInertia::from_centre(3, Vec3::Zero(), moments.asDiagonal())},
                    free_joint("root"))
          .build();
  std::mt19937_64 random(1);
  const RandomState s = random_state(model, random);
  const VecX a = forward_dynamics(model, s.q, s.v, VecX::Zero(6));
  const Vec3 w = s.v.tail<3>();
  EXPECT_LE((a.head<3>() - model.gravity()).norm(), 1e-14);
  EXPECT_NEAR(a[3], (moments[1] - moments[2]) * w[1] * w[2] / moments[0], 1e-14);
  EXPECT_NEAR(a[4], (moments[2] - moments[0]) * w[2] * w[0] / moments[1], 1e-14);
  EXPECT_NEAR(a[5], (moments[0] - moments[1]) * w[0] * w[1] / moments[2], 1e-14);
}

TEST(ForwardDynamics, OfAPendulumIsTheTextbooks) {
  // θ̈ = τ/(m l²) − (g/l) sin θ
  const Model model = pendulum().build();
  const double inertia = kPendulumMass * kPendulumLength * kPendulumLength;
  for (const double theta : {0.0, 0.5, -2.0, std::numbers::pi}) {
    const VecX a = forward_dynamics(model, VecX::Constant(1, theta), VecX::Constant(1, 3), VecX::Constant(1, 0.7));
    EXPECT_NEAR(a[0], 0.7 / inertia - kGravity / kPendulumLength * std::sin(theta), 1e-14);
  }
}

TEST(ForwardDynamics, OfACartAndPoleIsTheTextbooks) {
  // (M + m) ẍ + m l (θ̈ cos θ − θ̇² sin θ) = F,   l θ̈ + ẍ cos θ = g sin θ   (θ from upright)
  const double cart = 3, m = 0.5, l = 0.8, theta = 0.7, w = 1.3, force = 2;
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "cart", .inertia = SpatialInertia::point(cart, Vec3::Zero())},
                                    prismatic("rail", Vec3::UnitX()))
                          .add_body("cart", {.name = "pole", .inertia = SpatialInertia::point(m, {0, 0, l})},
                                    revolute("hinge", Vec3::UnitY()))
                          .build();
  const double c = std::cos(theta), s = std::sin(theta);
  const double x_ddot = (force + m * s * (l * w * w - kGravity * c)) / (cart + m * s * s);
  const VecX a =
      forward_dynamics(model, Eigen::Vector2d(0.2, theta), Eigen::Vector2d(-1, w), Eigen::Vector2d(force, 0));
  EXPECT_NEAR(a[0], x_ddot, 1e-14);
  EXPECT_NEAR(a[1], (kGravity * s - x_ddot * c) / l, 1e-13);
}

TEST(ForwardDynamics, OfANutOnAThreadIsSlowedByItsTurning) {
  // (I + rotor + m p²) θ̈ = τ − m g p
  const double m = 3, I = 0.2, p = 0.05, rotor = 0.1;
  Joint thread = screw("thread", Vec3::UnitZ(), p);
  thread.armature = rotor;
  const Model model =
      ModelBuilder()
          .add_body("world",
                    {.name = "nut", .inertia = SpatialInertia::from_centre(m, Vec3::Zero(), I * Mat3::Identity())},
                    thread)
          .build();
  const VecX a = forward_dynamics(model, VecX::Zero(1), VecX::Constant(1, 2), VecX::Constant(1, 0.6));
  EXPECT_NEAR(a[0], (0.6 - m * kGravity * p) / (I + rotor + m * p * p), 1e-14);
}

// How far τ may be off when a is: the size of what adds up to it.
double force_scale(const Model& model, const VecX& q, const VecX& bias, const VecX& a) {
  return (mass_matrix(model, q).cwiseAbs() * a.cwiseAbs() + bias.cwiseAbs()).maxCoeff();
}

TEST(ForwardDynamics, UndoesInverseDynamicsAndIsUndoneByIt) {
  for_random_cases(2000, [](std::mt19937_64& random) {
    const Model model = random_model(random, {.armature = 0.6});
    const RandomState s = random_state(model, random);
    const ExternalWrenches wrenches = random_wrenches(model, random);
    const VecX tau = inverse_dynamics(model, s.q, s.v, s.a, wrenches);
    EXPECT_LE(relative_error(forward_dynamics(model, s.q, s.v, tau, wrenches), s.a), 1e-8);

    const VecX a = forward_dynamics(model, s.q, s.v, s.tau, wrenches);
    const VecX bias = inverse_dynamics(model, s.q, s.v, VecX::Zero(model.nv()), wrenches);
    EXPECT_LE(relative_error(inverse_dynamics(model, s.q, s.v, a, wrenches), s.tau, force_scale(model, s.q, bias, a)),
              1e-11);
  });
}

TEST(ForwardDynamics, AgreesWithPlain) {
  for_random_cases(2000, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    const RandomState s = random_state(model, random);
    const ExternalWrenches wrenches = random_wrenches(model, random);
    EXPECT_LE(relative_error(forward_dynamics(model, s.q, s.v, s.tau, wrenches),
                             plain_forward_dynamics(model, s.q, s.v, s.tau, wrenches)),
              1e-8);
  });
}

TEST(ForwardDynamics, AgreesWithTheFactoredMassMatrix) {
  for_random_cases(500, [](std::mt19937_64& random) {
    const MovingModel m(random);
    ForwardDynamics fd;
    InverseDynamics bias;
    MassMatrix M;
    MassFactor factor;
    aba(m.model, m.kin, m.state.tau, fd, m.wrenches);
    bias_forces(m.model, m.kin, bias, m.wrenches);
    mass_matrix(m.model, m.kin, M);
    factorize(m.model, M, factor);
    VecX a = m.state.tau - bias.tau;
    solve_in_place(m.model, factor, a);
    EXPECT_LE(relative_error(fd.a, a), 1e-8);
    EXPECT_EQ(fd.singular_dof, -1);
    EXPECT_EQ(factor.singular_dof, -1);
  });
}

TEST(ForwardDynamics, IsTheSameTenKilometresAway) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const Model near = random_model(random);
    const Model far = moved(near, 1e4 * random_axis(random));
    const RandomState s = random_state(near, random);
    const ExternalWrenches wrenches = random_wrenches(near, random);
    EXPECT_LE(relative_error(forward_dynamics(far, s.q, s.v, s.tau, wrenches),
                             forward_dynamics(near, s.q, s.v, s.tau, wrenches), 1),
              1e-7);
  });
}

// Everything that meets a singular mass matrix, at rest in one configuration.
struct AtRest {
  Model model;
  VecX tau;
  Kinematics kin;
  ForwardDynamics fd;
  MassMatrix M;
  MassFactor factor;

  AtRest(const ModelBuilder& builder, const VecX& q) : AtRest(builder.build(), q, VecX()) {}
  AtRest(Model the_model, const VecX& q, VecX the_tau) : model(std::move(the_model)), tau(std::move(the_tau)) {
    if (tau.size() == 0) tau = VecX::Ones(model.nv());
    kinematics(model, q, kin);
    aba(model, kin, tau, fd);
    mass_matrix(model, kin, M);
    factorize(model, M, factor);
  }
};

// The DoF is held still, the others move as if it were welded, and nothing is infinite.
void expect_held(AtRest& at, int dof) {
  EXPECT_EQ(at.fd.singular_dof, dof);
  EXPECT_EQ(at.factor.singular_dof, dof);
  EXPECT_EQ(at.fd.a[dof], 0);

  const int nv = at.model.nv();
  InverseDynamics id;
  rnea(at.model, at.kin, at.fd.a, id);
  VecX missing = at.tau - id.tau;
  missing[dof] = 0;
  EXPECT_LE(missing.cwiseAbs().maxCoeff(), 1e-9);

  InverseFactor X;
  invert(at.model, at.factor, X);
  const VecX b = VecX::LinSpaced(nv, 1, 2);
  VecX x = b, y(nv);
  solve_in_place(at.model, at.factor, x);
  solve(at.model, X, b, y);
  EXPECT_EQ(x[dof], 0);
  EXPECT_LE(relative_error(y, x), 1e-9);
  VecX residual = at.M.dense(at.model) * x - b;
  residual[dof] = 0;
  EXPECT_LE(residual.cwiseAbs().maxCoeff(), 1e-9);

  ForwardDynamicsDerivatives d;
  aba_derivatives(at.model, at.kin, at.fd, d);
  EXPECT_TRUE(d.da_dq.allFinite() && d.da_dv.allFinite() && d.da_dtau.allFinite());
  EXPECT_EQ(d.da_dtau.row(dof), MatX::Zero(1, nv));
  EXPECT_EQ(d.da_dtau.col(dof), MatX::Zero(nv, 1));
  EXPECT_LE(relative_error(d.da_dtau * b, x), 1e-9);
}

Body ball_body(const std::string& name) { return {.name = name, .inertia = SpatialInertia::sphere(2, 0.3)}; }

TEST(SingularDynamics, AGimbalLockIsReported) {
  // Turned by 90° about the second axis, the third one lies along the first: together they have one direction less.
  const JointList gimbal = euler("gimbal", Vec3::UnitZ(), Vec3::UnitY(), Vec3::UnitX());
  AtRest at(ModelBuilder().add_body("world", ball_body("wheel"), gimbal), Vec3(0.4, std::numbers::pi / 2, 0.3));
  expect_held(at, 0);
}

TEST(SingularDynamics, AGimbalLockInTheMiddleOfATreeIsReported) {
  const JointList gimbal =
      euler("gimbal", Vec3::UnitZ(), Vec3::UnitY(), Vec3::UnitX(), Pose::translation(0.3, 0.1, -0.2));
  const ModelBuilder builder =
      ModelBuilder()
          .add_body("world", ball_body("base"), free_joint("base"))
          .add_body("base", ball_body("arm"), revolute("shoulder", Vec3::UnitX(), Pose::translation(0.5, 0, 0)))
          .add_body("base", ball_body("wheel"), gimbal)
          .add_body("wheel", ball_body("tip"), prismatic("tip", Vec3(1, 2, 3)));
  VecX q = neutral_configuration(builder.build());
  q[7] = 0.3;
  q.segment<3>(8) = Vec3(0.4, std::numbers::pi / 2, 0.3);
  AtRest at(builder, q);
  expect_held(at, 7);
}

TEST(SingularDynamics, AGimbalLockOfASmallBodyFarOutIsReported) {
  // Far from the tree's origin the inertias that cancel are much larger than the body's own.
  for_random_cases(300, [](std::mt19937_64& random) {
    const Body wheel{.name = "wheel", .inertia = SpatialInertia::sphere(1, std::exp(uniform(random, -5, 0)))};
    const Pose far_out = {random_rotation(random), std::exp(uniform(random, -2, 2)) * random_axis(random)};
    const Model model =
        ModelBuilder()
            .add_body("world", ball_body("base"), free_joint("base"))
            .add_body("base", wheel, euler("gimbal", Vec3::UnitZ(), Vec3::UnitY(), Vec3::UnitX(), far_out))
            .build();
    VecX q = random_configuration(model, random);
    q[8] = std::numbers::pi / 2;
    const AtRest at(model, q, random_vector(random, 9));
    EXPECT_EQ(at.fd.singular_dof, 6);
    EXPECT_EQ(at.factor.singular_dof, 6);
    EXPECT_LE(at.fd.a.cwiseAbs().maxCoeff(), 1e7);
  });
}

TEST(SingularDynamics, TwoBallsInOneListAreReported) {
  // The first ball turns what the second one turns: its three DoFs have nothing of their own.
  const Model model =
      ModelBuilder().add_body("world", ball_body("twice"), JointList{ball("first"), ball("second")}).build();
  std::mt19937_64 random(3);
  const AtRest at(model, random_configuration(model, random), VecX::Ones(6));
  EXPECT_EQ(at.fd.singular_dof, 0);
  EXPECT_EQ(at.factor.singular_dof, 0);
  EXPECT_EQ(at.fd.a.head<3>(), Vec3::Zero());
  const double I = model.bodies()[1].inertia.rotational(0, 0);
  EXPECT_LE((at.fd.a.tail<3>() - Vec3::Constant(1 / I)).norm(), 1e-12);
  ForwardDynamicsDerivatives d;
  aba_derivatives(at.model, at.kin, at.fd, d);
  EXPECT_TRUE(d.da_dq.allFinite() && d.da_dv.allFinite() && d.da_dtau.allFinite());
}

TEST(SingularDynamics, APointOnTheAxisIsReported) {
  // Nothing resists turning about an axis through all of the mass.
  const Body point{.name = "point", .inertia = SpatialInertia::point(2, {0, 0, 1})};
  AtRest at(ModelBuilder().add_body("world", point, revolute("spin", Vec3::UnitZ())), VecX::Zero(1));
  expect_held(at, 0);
}

TEST(SingularDynamics, APointOnASlantedAxisIsReported) {
  // As before, but the inertia about the axis is what rounding leaves of larger numbers, of either sign.
  for_random_cases(300, [](std::mt19937_64& random) {
    const Vec3 axis = random_axis(random);
    const Body point{.name = "point", .inertia = SpatialInertia::point(2, axis)};
    const Model model =
        ModelBuilder().add_body("world", point, JointList{revolute("a", axis), revolute("b", axis)}).build();
    const AtRest at(model, random_configuration(model, random), random_vector(random, 2));
    EXPECT_EQ(at.fd.singular_dof, 0);
    EXPECT_EQ(at.factor.singular_dof, 0);
    EXPECT_EQ(at.fd.a, Eigen::Vector2d::Zero());
  });
}

TEST(SingularDynamics, AnInertiaThatNoBodyHasIsReported) {
  // Who allows unphysical inertias may get a mass matrix that is not positive, but still finite results.
  Body body{.name = "body", .inertia = {.mass = 2}, .allow_unphysical_inertia = true};
  body.inertia.rotational.diagonal() << 0, -1, 0;
  body.inertia.rotational(0, 2) = body.inertia.rotational(2, 0) = -1;
  AtRest at(ModelBuilder().add_body("world", body, planar("body")), VecX::Zero(3));
  expect_held(at, 2);
}

TEST(SingularDynamics, AParallelPairIsReported) {
  const ModelBuilder builder =
      ModelBuilder().add_body("world", ball_body("slider"),
                              JointList{prismatic("first", Vec3::UnitX()), prismatic("across", Vec3::UnitY()),
                                        prismatic("second", Vec3::UnitX())});
  AtRest at(builder, Vec3(0.1, 0.2, 0.3));
  expect_held(at, 0);
}

TEST(SingularDynamics, ArmatureMakesItRegular) {
  JointList gimbal = euler("gimbal", Vec3::UnitZ(), Vec3::UnitY(), Vec3::UnitX());
  for (Joint& joint : gimbal) joint.armature = 1e-6;
  AtRest at(ModelBuilder().add_body("world", ball_body("wheel"), gimbal), Vec3(0.4, std::numbers::pi / 2, 0.3));
  EXPECT_EQ(at.fd.singular_dof, -1);
  EXPECT_EQ(at.factor.singular_dof, -1);
  const VecX a = mass_matrix(at.model, Vec3(0.4, std::numbers::pi / 2, 0.3)).ldlt().solve(at.tau);
  EXPECT_LE(relative_error(at.fd.a, a), 1e-9);
}

TEST(SingularDynamics, CloseToItIsNotReported) {
  for (const double off : {1e-1, 1e-3, 1e-5}) {
    SCOPED_TRACE(off);
    const JointList gimbal = euler("gimbal", Vec3::UnitZ(), Vec3::UnitY(), Vec3::UnitX());
    AtRest at(ModelBuilder().add_body("world", ball_body("wheel"), gimbal), Vec3(0, std::numbers::pi / 2 + off, 0));
    EXPECT_EQ(at.fd.singular_dof, -1);
    EXPECT_EQ(at.factor.singular_dof, -1);
  }
}

TEST(SingularDynamics, ExtremeMassRatiosAreNotReported) {
  // A light arm carries a heavy one and the other way round, a million to one, up to three times in a row.
  for_random_cases(500, [](std::mt19937_64& random) {
    ModelBuilder builder;
    std::string parent = "world";
    const bool light_first = chance(random, 0.5);
    for (int i = 0; i < 6; ++i) {
      const double mass = (i % 2 == 0) == light_first ? 1e-3 : 1e3;
      const std::string name = "link" + std::to_string(i);
      const SpatialInertia inertia = SpatialInertia::sphere(mass, 0.1).in(Pose::translation(0, 0, -0.2));
      builder.add_body(parent, {.name = name, .inertia = inertia},
                       revolute(name, random_axis(random), Pose::translation(0, 0, i == 0 ? 0 : -0.4)));
      parent = name;
    }
    const Model model = builder.build();
    const RandomState s = random_state(model, random);
    const AtRest at(model, s.q, s.tau);
    EXPECT_EQ(at.fd.singular_dof, -1);
    EXPECT_EQ(at.factor.singular_dof, -1);
    InverseDynamics id;
    rnea(model, at.kin, at.fd.a, id);
    const VecX bias = gravity_compensation(model, s.q);
    EXPECT_LE(relative_error(id.tau, s.tau, force_scale(model, s.q, bias, at.fd.a)), 1e-11);
  });
}

TEST(ForwardDynamics, OfAModelWithoutJointsIsEmpty) {
  const Model table =
      ModelBuilder().add_body("world", {.name = "table", .inertia = SpatialInertia::sphere(5, 1)}).build();
  EXPECT_EQ(forward_dynamics(table, VecX(), VecX(), VecX(), {{table.body("table"), Vec6::Ones()}}).size(), 0);
}

TEST(ForwardDynamics, RefusesBadForces) {
  const Model model = double_pendulum().build();
  const VecX zero = VecX::Zero(2);
  const auto error = [&](const VecX& tau, const ExternalWrenches& wrenches = {}) {
    return error_text([&] { forward_dynamics(model, zero, zero, tau, wrenches); });
  };
  EXPECT_EQ(error(VecX::Zero(3)), "tau has 3 entries, the model needs nv = 2");
  EXPECT_EQ(error(Eigen::Vector2d(0, std::numeric_limits<double>::quiet_NaN())),
            "tau[1] is nan; every entry must be finite");
  EXPECT_EQ(error(Eigen::Vector2d(-std::numeric_limits<double>::infinity(), 0)),
            "tau[0] is -inf; every entry must be finite");
  EXPECT_EQ(error(zero, {{BodyIndex(9), Vec6::Zero()}}),
            "an external wrench acts on body index 9, but the model has 3 bodies");
  EXPECT_EQ(error(zero, {{BodyIndex(2), Vec6::Constant(std::numeric_limits<double>::infinity())}}),
            "entry 0 of the external wrench on body 'bob_2' is inf; it must be finite");
}

}  // namespace
}  // namespace lithe::test

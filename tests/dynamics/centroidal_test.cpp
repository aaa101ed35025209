#include "lithe/dynamics/centroidal.h"

#include <Eigen/Geometry>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/energy.h"
#include "lithe/dynamics/mass_matrix.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_test.h"

namespace lithe::test {
namespace {

// Body by body: Σ m c / Σ m over what can move.
Vec3 centre_from_bodies(const MovingModel& m) {
  double mass = 0;
  Vec3 moment = Vec3::Zero();
  for (std::size_t b = 0; b < m.model.bodies().size(); ++b) {
    if (m.model.tree().bodies[b].dof < 0) continue;
    const SpatialInertia& inertia = m.model.bodies()[b].inertia;
    mass += inertia.mass;
    moment += inertia.mass * point_position(m.model, m.kin, BodyIndex(static_cast<int>(b)), inertia.centre());
  }
  return moment / mass;
}

// Body by body, about the world's origin.
Vec6 momentum_from_bodies(const MovingModel& m) {
  const PlainKinematics plain = plain_kinematics(m.model, m.state.q);
  const PlainMotion motion = plain_motion(m.model, m.state.q, m.state.v, m.state.a);
  Vec6 h = Vec6::Zero();
  for (std::size_t b = 1; b < m.model.bodies().size(); ++b) {
    h += world_inertia(m.model.bodies()[b], plain.X_WB[b]) * motion.V[b];
  }
  return h;
}

TEST(Centroidal, TwoBallsSpinAboutTheirMiddle) {
  // 1 kg and 3 kg on the ends of a light rod of length 4 that turns about z with 2 rad/s and slides along y with 5 m/s.
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "a", .inertia = SpatialInertia::point(1, {0, 0, 0})},
                                    JointList{prismatic("slide", Vec3::UnitY()), revolute("turn", Vec3::UnitZ())})
                          .add_body("a", {.name = "b", .inertia = SpatialInertia::point(3, {4, 0, 0})})
                          .build();
  const MovingModel m(model, {.q = VecX::Zero(2), .v = Eigen::Vector2d(5, 2), .a = VecX::Zero(2), .tau = {}});
  EXPECT_TRUE(centre_of_mass(model, m.kin).isApprox(Vec3(3, 0, 0)));
  EXPECT_TRUE(centre_of_mass_velocity(model, m.kin).isApprox(Vec3(0, 11, 0)));
  // About the middle: 2·(1·3² + 3·1²) = 24; about the world's origin: 24 + 3·44.
  EXPECT_TRUE(centroidal_momentum(model, m.kin).isApprox((Vec6() << 0, 0, 24, 0, 44, 0).finished()));
  EXPECT_TRUE(spatial_momentum(model, m.kin).isApprox((Vec6() << 0, 0, 156, 0, 44, 0).finished()));
  EXPECT_DOUBLE_EQ(kinetic_energy(model, m.kin), 0.5 * 4 * 11 * 11 + 0.5 * 12 * 2 * 2);
  EXPECT_DOUBLE_EQ(potential_energy(model, m.kin), 0);
}

TEST(Centroidal, AgreesWithSumsOverBodies) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const MovingModel m(random);
    Centroidal c;
    centroidal(m.model, m.kin, c);
    EXPECT_NEAR(c.mass, m.model.total_mass(), 1e-12 * c.mass);
    EXPECT_LE(relative_error(centre_of_mass(m.model, m.kin), centre_from_bodies(m), 1), 1e-11);
    EXPECT_LE(relative_error(spatial_momentum(m.model, m.kin), momentum_from_bodies(m), 1), 1e-11);
    // About the centre of mass: k = n₀ − c × l.
    Vec6 h = momentum_from_bodies(m);
    h.head<3>() -= c.com.cross(h.tail<3>());
    EXPECT_LE(relative_error(centroidal_momentum(m.model, m.kin), h, 1), 1e-11);
    EXPECT_LE(relative_error(c.momentum, h, 1), 1e-11);
    EXPECT_LE(relative_error(c.com, centre_of_mass(m.model, m.kin), 1), 1e-14);
    EXPECT_LE(relative_error(c.com_velocity, centre_of_mass_velocity(m.model, m.kin), 1), 1e-14);
  });
}

TEST(Centroidal, MatricesTimesVelocityAreMomentumAndVelocity) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const MovingModel m(random);
    Centroidal c;
    centroidal(m.model, m.kin, c);
    EXPECT_LE(relative_error(c.A_G * m.state.v, c.momentum, 1), 1e-11);
    EXPECT_LE(relative_error(c.com_jacobian * m.state.v, c.com_velocity, 1), 1e-11);
    EXPECT_LE(relative_error(c.com_velocity * c.mass, c.momentum.tail<3>(), 1), 1e-14);
  });
}

TEST(Centroidal, DerivativesMatchDifferences) {
  ErrorSummary com_by_q("centre of mass by q"), velocity_by_q("its velocity by q"), velocity_by_v("its velocity by v");
  ErrorSummary momentum_by_q("centroidal momentum by q"), momentum_by_v("centroidal momentum by v");
  for_random_cases(2000, [&](std::mt19937_64& random) {
    const MovingModel m(random);
    Centroidal c;
    CentroidalDerivatives d;
    centroidal(m.model, m.kin, c);
    centroidal_derivatives(m.model, m.kin, c, d);
    const auto by_q = [&](auto quantity) {
      return central_difference(m.model, m.state.q,
                                [&](const VecX& q) -> VecX { return quantity(m.kinematics_at(q)); });
    };
    const auto by_v = [&](auto quantity) {
      return central_difference(
          [&](const VecX& dv) -> VecX { return quantity(m.kinematics_at(m.state.q, m.state.v + dv)); }, m.model.nv());
    };
    const auto com = [&](const Kinematics& kin) { return centre_of_mass(m.model, kin); };
    const auto velocity = [&](const Kinematics& kin) { return centre_of_mass_velocity(m.model, kin); };
    const auto momentum = [&](const Kinematics& kin) { return centroidal_momentum(m.model, kin); };
    com_by_q.add(relative_error(c.com_jacobian, by_q(com)));
    velocity_by_q.add(relative_error(d.dcom_velocity_dq, by_q(velocity)));
    velocity_by_v.add(relative_error(c.com_jacobian, by_v(velocity)));
    momentum_by_q.add(relative_error(d.dmomentum_dq, by_q(momentum)));
    momentum_by_v.add(relative_error(c.A_G, by_v(momentum)));
  });
}

TEST(Centroidal, MomentumChangesByGravityAlone) {
  // In free fall, nothing held: l̇ = m g and k̇ = 0. With l̇ = ∂l/∂q v + A a the derivative closes the loop.
  for_random_cases(100, [](std::mt19937_64& random) {
    Body body{.name = "box", .inertia = random_inertia(random)};
    Body arm{.name = "arm", .inertia = random_inertia(random)};
    const Model model = ModelBuilder()
                            .add_body("world", body, free_joint("root"))
                            .add_body("box", arm, JointList{ball("wrist", random_pose(random))})
                            .build();
    RandomState state = random_state(model, random);
    state.a = plain_forward_dynamics(model, state.q, state.v, VecX::Zero(model.nv()));
    const MovingModel m(model, state);
    Centroidal c;
    CentroidalDerivatives d;
    centroidal(model, m.kin, c);
    centroidal_derivatives(model, m.kin, c, d);
    Vec6 expected = Vec6::Zero();
    expected.tail<3>() = c.mass * model.gravity();
    EXPECT_LE(relative_error(d.dmomentum_dq * state.v + c.A_G * state.a, expected, 1), 1e-9);
  });
}

TEST(Centroidal, IsTheSameTenKilometresAway) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const MovingModel near(random);
    const Vec3 away = 1e4 * random_axis(random);
    const MovingModel far(moved(near.model, away), near.state, near.wrenches);
    Centroidal c_near, c_far;
    CentroidalDerivatives d_near, d_far;
    centroidal(near.model, near.kin, c_near);
    centroidal(far.model, far.kin, c_far);
    centroidal_derivatives(near.model, near.kin, c_near, d_near);
    centroidal_derivatives(far.model, far.kin, c_far, d_far);
    EXPECT_LE((c_far.com - away - c_near.com).norm(), 1e-10);
    EXPECT_LE(relative_error(c_far.momentum, c_near.momentum, 1), 1e-9);
    EXPECT_LE(relative_error(c_far.A_G, c_near.A_G, 1), 1e-9);
    EXPECT_LE(relative_error(d_far.dmomentum_dq, d_near.dmomentum_dq, 1), 1e-9);
    EXPECT_NEAR(kinetic_energy(far.model, far.kin), kinetic_energy(near.model, near.kin),
                1e-9 * (1 + kinetic_energy(near.model, near.kin)));
  });
}

TEST(Energy, KineticIsTheMassMatrixs) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const MovingModel m(random);
    const double energy = 0.5 * m.state.v.dot(mass_matrix(m.model, m.state.q) * m.state.v);
    EXPECT_NEAR(kinetic_energy(m.model, m.kin), energy, 1e-12 * (1 + energy));
  });
}

TEST(Energy, PotentialsGradientIsGravityCompensation) {
  ErrorSummary error("potential energy by q");
  for_random_cases(2000, [&](std::mt19937_64& random) {
    const MovingModel m(random);
    const MatX gradient = central_difference(m.model, m.state.q, [&](const VecX& q) -> VecX {
      return VecX::Constant(1, potential_energy(m.model, m.kinematics_at(q)));
    });
    error.add(relative_error(gravity_compensation(m.model, m.state.q).transpose(), gradient));
  });
}

TEST(Energy, PowerIsWhatTheJointsGive) {
  // d/dt (kinetic + potential) = τ·v, with a from the motion: along q(t), v(t) = v + a t.
  ErrorSummary error("power");
  for_random_cases(200, [&](std::mt19937_64& random) {
    const MovingModel m(random, {.balls = false});  // so that q + v t + a t²/2 is the motion
    const MatX power = central_difference(
        [&](const VecX& t) -> VecX {
          const VecX q = m.state.q + t[0] * m.state.v + 0.5 * t[0] * t[0] * m.state.a;
          const Kinematics kin = m.kinematics_at(q, m.state.v + t[0] * m.state.a);
          return VecX::Constant(1, kinetic_energy(m.model, kin) + potential_energy(m.model, kin));
        },
        1);
    const VecX tau = inverse_dynamics(m.model, m.state.q, m.state.v, m.state.a);
    // Terms of either sign cancel in the power: compare with their size.
    const double size = tau.cwiseAbs().dot(m.state.v.cwiseAbs());
    error.add(std::abs(tau.dot(m.state.v) - power(0, 0)) / std::max(size, 1.0));
  });
}

TEST(Centroidal, RefusesModelsWithoutMass) {
  const Model table =
      ModelBuilder().add_body("world", {.name = "table", .inertia = SpatialInertia::sphere(5, 1)}).build();
  const MovingModel fixed(table, {});
  EXPECT_EQ(error_text([&] { centre_of_mass(table, fixed.kin); }),
            "the model has no centre of mass: its moving bodies' total mass is 0 (nv = 0)");
  EXPECT_EQ(kinetic_energy(table, fixed.kin), 0);
  EXPECT_EQ(potential_energy(table, fixed.kin), 0);
  // A rotor without a body is a valid model too.
  Joint axle = revolute("axle", Vec3::UnitZ());
  axle.armature = 2;
  const Model rotor = ModelBuilder().add_body("world", {.name = "shaft"}, axle).build();
  const MovingModel turning(rotor, {.q = VecX::Zero(1), .v = VecX::Constant(1, 3), .a = VecX::Zero(1), .tau = {}});
  Centroidal c;
  EXPECT_EQ(error_text([&] { centroidal(rotor, turning.kin, c); }),
            "the model has no centre of mass: its moving bodies' total mass is 0 (nv = 1)");
  EXPECT_DOUBLE_EQ(kinetic_energy(rotor, turning.kin), 9);
}

TEST(Centroidal, RefusesResultsOfAnotherModel) {
  std::mt19937_64 random(1);
  const MovingModel m(random, {.min_dofs = 10});
  CentroidalDerivatives d;
  EXPECT_EQ(error_text([&] { centroidal_derivatives(m.model, m.kin, Centroidal(), d); }),
            fmt::format("this Centroidal has 0 columns, the model has nv = {}: call centroidal() with this model",
                        m.model.nv()));
  EXPECT_NE(error_text([&] { potential_energy(m.model, Kinematics()); }), "");
}

TEST(Centroidal, AllocatesNothingOnceWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  const MovingModel m(random, {.min_dofs = 20});
  Centroidal c;
  CentroidalDerivatives d;
  double energy = 0;
  const auto all = [&] {
    centroidal(m.model, m.kin, c);
    centroidal_derivatives(m.model, m.kin, c, d);
    energy += kinetic_energy(m.model, m.kin) + potential_energy(m.model, m.kin);
    energy += centroidal_momentum(m.model, m.kin).sum() + centre_of_mass_velocity(m.model, m.kin).sum();
  };
  all();
  const AllocationGuard guard;
  all();
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
  EXPECT_TRUE(std::isfinite(energy));
}

}  // namespace
}  // namespace lithe::test

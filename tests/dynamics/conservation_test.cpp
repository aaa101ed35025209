#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/centroidal.h"
#include "lithe/dynamics/energy.h"
#include "lithe/dynamics/forward_dynamics.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/scenes/solids/free_bodies.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/differentiate.h"
#include "tests/support/integrate.h"
#include "tests/support/random_test.h"

// What nature keeps, forward dynamics keeps.
namespace lithe::test {
namespace {

// Forward dynamics as a function to integrate, with workspaces that stay warm. τ may depend on the state.
template <class Forces>
Acceleration accelerations(const Model& model, Forces forces) {
  return [&model, forces, kin = Kinematics(), fd = ForwardDynamics()](const VecX& q, const VecX& v) mutable -> VecX {
    kinematics(model, q, v, kin);
    aba(model, kin, forces(q, v), fd);
    return fd.a;
  };
}
Acceleration free_accelerations(const Model& model) {
  return accelerations(model, [nv = model.nv()](const VecX&, const VecX&) { return VecX(VecX::Zero(nv)); });
}

double total_energy(const Model& model, const Motion& motion) {
  Kinematics kin;
  kinematics(model, motion.q, motion.v, kin);
  return kinetic_energy(model, kin) + potential_energy(model, kin);
}

// A random tree on a free base in empty space. Every joint but the base's has a rotor, so that no configuration is
// singular; a rotor is not a body and has no momentum.
Model free_flyer(std::mt19937_64& random) {
  const Model tree = random_model(random, {.max_dofs = 12, .new_root = 0});
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.add_body("world", {.name = "base", .inertia = random_inertia(random)}, free_joint("base"));
  builder.add(builder_of(tree), "", "base");
  Model model = builder.build();
  for (std::size_t j = model.bodies()[1].joints.size(); j < model.joints().size(); ++j) {
    Joint joint = model.joints()[j];
    joint.armature = uniform(random, 0.1, 0.5);
    model.set_joint(JointIndex(static_cast<int>(j)), joint);
  }
  return model;
}

TEST(Conservation, MomentumOfAFreeFlyingTreeStays) {
  for_random_cases(20, [](std::mt19937_64& random) {
    const Model model = free_flyer(random);
    const RandomState s = random_state(model, random);
    // Forces inside the robot: constant ones and springs, none on the base.
    VecX stiffness = VecX::Ones(model.nv());
    stiffness.head<6>().setZero();
    const auto inside = [&](const VecX& q, const VecX&) -> VecX {
      return stiffness.cwiseProduct(s.tau - difference(model, q, s.q));
    };
    const auto momentum = [&](const Motion& motion) {
      Kinematics kin;
      kinematics(model, motion.q, motion.v, kin);
      return spatial_momentum(model, kin);
    };
    const Motion start = {s.q, s.v};
    const Motion end = integrate(rk4_step, model, start, 1e-4, 10000, accelerations(model, inside));
    EXPECT_LE(relative_error(momentum(end), momentum(start)), 1e-10);
    EXPECT_GE((end.v - start.v).norm(), 1e-2) << "nothing happened";
  });
}

// How fast an error shrinks as the step does: log₂ of the ratio for each halving.
template <class Step>
std::vector<double> measured_orders(Step step, const Model& model, const Motion& start, double duration, int steps,
                                    int halvings) {
  const Acceleration a = free_accelerations(model);
  const double energy = total_energy(model, start);
  std::vector<double> orders;
  double previous = 0;
  for (int i = 0; i <= halvings; ++i, steps *= 2) {
    const Motion end = integrate(step, model, start, duration / steps, steps, a);
    const double error = std::abs(total_energy(model, end) - energy);
    if (i > 0) orders.push_back(std::log2(previous / error));
    previous = error;
  }
  return orders;
}

TEST(Conservation, EnergyOfADoublePendulumConvergesAtTheIntegratorsOrder) {
  const Model model = double_pendulum().build();
  const Motion start = {Eigen::Vector2d(1.2, -0.7), Eigen::Vector2d(0.5, 1)};
  for (const double order : measured_orders(semi_implicit_euler_step, model, start, 0.7, 1000, 4)) {
    EXPECT_NEAR(order, 1, 0.2);
  }
  for (const double order : measured_orders(rk4_step, model, start, 0.7, 50, 3)) EXPECT_NEAR(order, 4, 0.3);
}

TEST(Conservation, EnergyOfATumblingBodyConvergesAtTheIntegratorsOrder) {
  const Model model = tumbling_body().build();
  Motion start = {neutral_configuration(model), VecX::Zero(6)};
  start.v << 0.3, -0.2, 0.1, 0.5, 6, 0.4;
  for (const double order : measured_orders(semi_implicit_euler_step, model, start, 0.7, 1000, 4)) {
    EXPECT_NEAR(order, 1, 0.2);
  }
  for (const double order : measured_orders(rk4_step, model, start, 0.7, 50, 3)) EXPECT_NEAR(order, 4, 0.3);
}

TEST(Conservation, ATumblingBodyKeepsMomentumAndEnergy) {
  const Model model = tumbling_body().build();
  Motion start = {neutral_configuration(model), VecX::Zero(6)};
  start.v << 0.3, -0.2, 0.1, 0.01, 6, 0.02;  // close to the unstable axis: it flips
  const Motion end = integrate(rk4_step, model, start, 1e-3, 4000, free_accelerations(model));
  EXPECT_LT(end.v[4], 0) << "it should have flipped by now";
  EXPECT_NEAR(total_energy(model, end), total_energy(model, start), 1e-11 * total_energy(model, start));
  Kinematics before, after;
  kinematics(model, start.q, start.v, before);
  kinematics(model, end.q, end.v, after);
  EXPECT_LE(relative_error(spatial_momentum(model, after), spatial_momentum(model, before)), 1e-11);
}

TEST(Conservation, PowerIsThatOfTorquesAndWrenches) {
  // d/dt (kinetic + potential) = τ·v + Σ F·V along the motion that forward dynamics gives.
  for_random_cases(300, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    const RandomState s = random_state(model, random);
    const ExternalWrenches wrenches = random_wrenches(model, random);
    const VecX a = forward_dynamics(model, s.q, s.v, s.tau, wrenches);
    // q(t) = q ⊕ t v has the velocity v at t = 0, which is all that a first derivative asks.
    const double step = kDifferenceStep / (1 + a.cwiseAbs().maxCoeff());
    const MatX rate = central_difference(
        [&](const VecX& t) -> VecX {
          return VecX::Constant(1, total_energy(model, {retract(model, s.q, t[0] * s.v), s.v + t[0] * a}));
        },
        1, step);

    Kinematics kin;
    kinematics(model, s.q, s.v, kin);
    double power = s.tau.dot(s.v), size = s.tau.cwiseAbs().dot(s.v.cwiseAbs());
    for (const ExternalWrench& w : wrenches) {
      const double p = w.wrench.dot(body_velocity(model, kin, w.body));
      power += p;
      size += std::abs(p);
    }
    // Potential and kinetic energy hand each other more than the outside gives.
    const double exchanged = (mass_matrix(model, s.q) * a).cwiseAbs().dot(s.v.cwiseAbs());
    EXPECT_NEAR(rate(0, 0), power, 1e-8 * (1 + size + exchanged));
  });
}

TEST(Conservation, ASymmetricTopPrecessesSteadily) {
  // With the axis at θ from the vertical, spin n about it and precession Ω about the vertical (Goldstein, §5.7):
  //   (A − C) Ω² cos θ − C n Ω + m g l = 0,   A across the axis and C along it, about the foot.
  const double m = 1.5, l = 0.3, A = 0.2, C = 0.05, theta = 0.6, spin = 90, g = 9.81;
  const Vec3 about_centre(A - m * l * l, A - m * l * l, C);
  const Model model =
      ModelBuilder()
          .add_body("world",
                    {.name = "top", .inertia = SpatialInertia::from_centre(m, {0, 0, l}, about_centre.asDiagonal())},
                    ball("foot"))
          .build();
  const double k = (A - C) * std::cos(theta);
  const double precession = (C * spin - std::sqrt(C * C * spin * spin - 4 * k * m * g * l)) / (2 * k);

  // ω = Ω ẑ_world + n ẑ_body, in the body's axes; tilted about x.
  const Mat3 R = rotation_about(Vec3::UnitX(), theta);
  const Motion start = {quaternion_from_rotation(R), R.transpose() * Vec3(0, 0, precession) + Vec3(0, 0, spin)};
  const double duration = 1;
  const Motion end = integrate(rk4_step, model, start, 1e-4, 10000, free_accelerations(model));
  const Vec3 axis = rotation_from_quaternion(end.q) * Vec3::UnitZ();
  EXPECT_NEAR(axis.z(), std::cos(theta), 1e-9);
  // The axis started in the plane x = 0, at (0, −sin θ).
  const double turned = std::remainder(std::atan2(axis.x(), -axis.y()) - precession * duration, 2 * std::numbers::pi);
  EXPECT_NEAR(turned, 0, 1e-8);
}

TEST(Conservation, APendulumSwingsWithItsPeriod) {
  // T = 2π √(l/g) · (1 + θ₀²/16 + 11 θ₀⁴/3072 + …)
  const Model model = pendulum().build();
  const double amplitude = 0.1, h = 1e-3;
  const Acceleration a = free_accelerations(model);
  Motion motion = {VecX::Constant(1, amplitude), VecX::Zero(1)};
  // Through the middle at T/4 and 5T/4: the time between the first and the third crossing.
  std::vector<double> crossings;
  for (int i = 0; crossings.size() < 3; ++i) {
    const Motion next = rk4_step(model, motion, h, a);
    if ((motion.q[0] > 0) != (next.q[0] > 0)) {
      crossings.push_back(h * (i + motion.q[0] / (motion.q[0] - next.q[0])));
    }
    motion = next;
  }
  const double series = 1 + std::pow(amplitude, 2) / 16 + 11 * std::pow(amplitude, 4) / 3072;
  const double period = 2 * std::numbers::pi * std::sqrt(kPendulumLength / 9.81) * series;
  EXPECT_NEAR(crossings[2] - crossings[0], period, 1e-7);
}

}  // namespace
}  // namespace lithe::test

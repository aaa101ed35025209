#include "lithe/dynamics/inverse_dynamics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "lithe/dynamics/forward_dynamics.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/robots/chain.h"
#include "lithe/simd/internal/pack_trig.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/constants.h"
#include "tests/support/differentiate.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

TEST(InverseDynamics, OfAPendulumIsTheTextbooks) {
  // τ = m l² a + m g l sin q
  const double m = 2, l = 0.7, q = 0.4, a = 1.5;
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "bob", .inertia = SpatialInertia::point(m, {0, 0, -l})},
                                    revolute("hinge", Vec3::UnitY()))
                          .build();
  const VecX tau = inverse_dynamics(model, VecX::Constant(1, q), VecX::Constant(1, 3), VecX::Constant(1, a));
  EXPECT_NEAR(tau[0], m * l * l * a + m * kGravity * l * std::sin(q), 1e-14);
}

TEST(InverseDynamics, OfABeadOnATurningArmIsCentrifugalAndCoriolis) {
  // τ_turn = m (r² α + 2 r ṙ ω),   τ_slide = m (r̈ − r ω²)
  const double m = 2, r = 0.7, w = 3, alpha = 1.5, r_dot = 0.4, r_ddot = 0.2;
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "bead", .inertia = SpatialInertia::point(m, Vec3::Zero())},
                                    JointList{revolute("turn", Vec3::UnitZ()), prismatic("slide", Vec3::UnitX())})
                          .build();
  const VecX tau =
      inverse_dynamics(model, Eigen::Vector2d(1, r), Eigen::Vector2d(w, r_dot), Eigen::Vector2d(alpha, r_ddot));
  EXPECT_NEAR(tau[0], m * (r * r * alpha + 2 * r * r_dot * w), 1e-14);
  EXPECT_NEAR(tau[1], m * (r_ddot - r * w * w), 1e-14);
}

TEST(InverseDynamics, OfATwoLinkArmIsTheTextbooks) {
  // Two rods in a vertical plane, masses at their ends (Spong, Hutchinson & Vidyasagar 2006, §7.3.2), angles from −z.
  const double m1 = 2, m2 = 1.5, l1 = 0.8, l2 = 0.6;
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "upper", .inertia = SpatialInertia::point(m1, {0, 0, -l1})},
                                    revolute("shoulder", Vec3::UnitY()))
                          .add_body("upper", {.name = "lower", .inertia = SpatialInertia::point(m2, {0, 0, -l2})},
                                    revolute("elbow", Vec3::UnitY(), Pose::translation(0, 0, -l1)))
                          .build();
  const Eigen::Vector2d q(0.3, -1.1), v(0.9, -2), a(1.3, 0.4);
  const double c2 = std::cos(q[1]), s2 = std::sin(q[1]);
  const double h = -m2 * l1 * l2 * s2;
  const double weight2 = m2 * kGravity * l2 * std::sin(q[0] + q[1]);
  const double tau1 = ((m1 + m2) * l1 * l1 + m2 * (l2 * l2 + 2 * l1 * l2 * c2)) * a[0] +
                      m2 * (l2 * l2 + l1 * l2 * c2) * a[1] + h * (2 * v[0] * v[1] + v[1] * v[1]) +
                      (m1 + m2) * kGravity * l1 * std::sin(q[0]) + weight2;
  const double tau2 = m2 * (l2 * l2 + l1 * l2 * c2) * a[0] + m2 * l2 * l2 * a[1] - h * v[0] * v[0] + weight2;
  const VecX tau = inverse_dynamics(model, q, v, a);
  EXPECT_NEAR(tau[0], tau1, 1e-13);
  EXPECT_NEAR(tau[1], tau2, 1e-13);
}

TEST(InverseDynamics, OfAPrecessingGyroscopeIsSpinTimesPrecession) {
  // A wheel on a horizontal axle along x, spinning with ω about it while the axle turns with Ω about z. Its angular
  // momentum I ω turns too, which takes the torque I ω Ω about y. The wheel's weight at distance l gives m g l.
  const double m = 1.2, radius = 0.3, l = 0.25, spin = 80, precession = 1.7;
  const double I = m * radius * radius / 2;
  const Mat3 x_from_z = rotation_about(Vec3::UnitY(), std::acos(0.0));
  const SpatialInertia wheel = SpatialInertia::cylinder(m, radius, 0.02).in(Pose{x_from_z, Vec3(l, 0, 0)});
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "wheel", .inertia = wheel},
                                    euler("gimbal", Vec3::UnitZ(), Vec3::UnitY(), Vec3::UnitX()))
                          .build();
  const VecX q = Vec3(0.6, 0, 2), v = Vec3(precession, 0, spin);
  const VecX tau = inverse_dynamics(model, q, v, Vec3::Zero());
  EXPECT_NEAR(tau[0], 0, 1e-13);
  EXPECT_NEAR(tau[1], I * spin * precession - m * kGravity * l, 1e-13);
  EXPECT_NEAR(tau[2], 0, 1e-13);
  // Left alone, it precesses steadily with Ω = m g l / (I ω).
  const VecX steady = Vec3(m * kGravity * l / (I * spin), 0, spin);
  EXPECT_LE(inverse_dynamics(model, q, steady, Vec3::Zero()).norm(), 1e-13);
}

TEST(InverseDynamics, OfANutOnAThreadLiftsItsWeight) {
  // τ = (I + m p²) a + m g p for a pitch of p metres per radian.
  const double m = 3, I = 0.2, p = 0.05, a = 4;
  const Model model =
      ModelBuilder()
          .add_body("world",
                    {.name = "nut", .inertia = SpatialInertia::from_centre(m, Vec3::Zero(), I * Mat3::Identity())},
                    screw("thread", Vec3::UnitZ(), p))
          .build();
  const VecX tau = inverse_dynamics(model, VecX::Constant(1, 9), VecX::Constant(1, 2), VecX::Constant(1, a));
  EXPECT_NEAR(tau[0], (I + m * p * p) * a + m * kGravity * p, 1e-14);
}

TEST(InverseDynamics, AWrenchIsFeltThroughTheLever) {
  // A force f along x on the bob's origin, at l below the hinge about y, and a torque n about y: τ = −(−l f + n).
  Body bob{.name = "bob", .inertia = SpatialInertia::sphere(1, 0.1), .placement = Pose::translation(0, 0, -2)};
  const Model model =
      ModelBuilder().set_gravity(Vec3::Zero()).add_body("world", bob, revolute("hinge", Vec3::UnitY())).build();
  Vec6 wrench = Vec6::Zero();
  wrench[1] = 0.3;
  wrench[3] = 5;
  const VecX zero = VecX::Zero(1);
  const double tau = inverse_dynamics(model, zero, zero, zero, {{model.body("bob"), wrench}})[0];
  EXPECT_NEAR(tau, 2 * 5 - 0.3, 1e-14);
}

TEST(InverseDynamics, AgreesWithPlain) {
  for_random_cases(2000, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    const RandomState s = random_state(model, random);
    const ExternalWrenches wrenches = random_wrenches(model, random);
    EXPECT_LE(relative_error(inverse_dynamics(model, s.q, s.v, s.a, wrenches),
                             plain_inverse_dynamics(model, s.q, s.v, s.a, wrenches)),
              1e-9);
  });
}

TEST(InverseDynamics, AgreesWithPlainAtHugeAngles) {
  // Beyond the range of the kernels' own sine. One such angle is enough to leave it.
  for_random_cases(500, [&](std::mt19937_64& random) {
    const Model model = random_model(random);
    RandomState s = random_state(model, random);
    for (const Joint& joint : model.joints()) {
      if (joint.type != JointType::revolute || chance(random, 0.5)) continue;
      s.q[joint.q_index] = uniform(random, -1, 1) * kPackTrigRange * std::exp(uniform(random, -1, 20));
    }
    EXPECT_LE(relative_error(inverse_dynamics(model, s.q, s.v, s.a), plain_inverse_dynamics(model, s.q, s.v, s.a)),
              1e-9);
  });
}

TEST(InverseDynamics, BiasIsTheForceAtZeroAcceleration) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const MovingModel m(random);
    InverseDynamics bias, unaccelerated;
    bias_forces(m.model, m.kin, bias, m.wrenches);
    rnea(m.model, m.kin, VecX::Zero(m.model.nv()), unaccelerated, m.wrenches);
    EXPECT_LE(relative_error(bias.tau, unaccelerated.tau), 1e-14);
  });
}

TEST(InverseDynamics, GravityCompensationHoldsTheModelStill) {
  for_random_cases(500, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    const VecX q = random_state(model, random).q, zero = VecX::Zero(model.nv());
    const ExternalWrenches wrenches = random_wrenches(model, random);
    const VecX tau = gravity_compensation(model, q, wrenches);
    // As large as accelerations get when nothing holds the model.
    const double scale = forward_dynamics(model, q, zero, zero, wrenches).norm();
    EXPECT_LE(forward_dynamics(model, q, zero, tau, wrenches).norm(), 1e-9 * (1 + scale));
  });
}

TEST(InverseDynamics, IsTheSameTenKilometresAway) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const Model near = random_model(random);
    const Model far = moved(near, 1e4 * random_axis(random));
    const RandomState s = random_state(near, random);
    const ExternalWrenches wrenches = random_wrenches(near, random);
    EXPECT_LE(relative_error(inverse_dynamics(far, s.q, s.v, s.a, wrenches),
                             inverse_dynamics(near, s.q, s.v, s.a, wrenches), 1),
              1e-9);
  });
}

TEST(InverseDynamics, OfAQuaternionThatIsNotUnitIsThatOfItsDirection) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Model model = ModelBuilder()
                            .add_body("world", {.name = "body", .inertia = random_inertia(random)}, free_joint("root"))
                            .build();
    const RandomState s = random_state(model, random);
    VecX q = s.q;
    q.tail<4>() *= uniform(random, 0.1, 10);
    EXPECT_LE(relative_error(inverse_dynamics(model, q, s.v, s.a), inverse_dynamics(model, s.q, s.v, s.a)), 1e-13);
  });
}

TEST(InverseDynamics, OfAModelWithoutJointsIsEmpty) {
  const Model table =
      ModelBuilder().add_body("world", {.name = "table", .inertia = SpatialInertia::sphere(5, 1)}).build();
  const ExternalWrenches push = {{table.body("table"), Vec6::Ones()}, {Model::world(), Vec6::Ones()}};
  EXPECT_EQ(inverse_dynamics(table, VecX(), VecX(), VecX(), push).size(), 0);
  EXPECT_EQ(gravity_compensation(table, VecX(), push).size(), 0);
}

// What inverse_dynamics() says to one wrong vector among good ones.
class BadArguments : public testing::Test {
 protected:
  const Model model =
      ModelBuilder()
          .add_body("world", {.name = "box", .inertia = SpatialInertia::sphere(1, 0.1)}, free_joint("box"))
          .add_body("box", {.name = "arm", .inertia = SpatialInertia::sphere(1, 0.1)}, revolute("hinge", Vec3::UnitY()))
          .build();
  VecX q = neutral_configuration(model);
  VecX v = VecX::Zero(model.nv());
  VecX a = VecX::Zero(model.nv());

  std::string error(const ExternalWrenches& wrenches = {}) const {
    return error_text([&] { inverse_dynamics(model, q, v, a, wrenches); });
  }
};

TEST_F(BadArguments, OfWrongSizeAreRefused) {
  q = VecX::Zero(7);
  EXPECT_EQ(error(), "q has 7 entries, the model needs nq = 8");
  q = neutral_configuration(model);
  v = VecX::Zero(8);
  EXPECT_EQ(error(), "v has 8 entries, the model needs nv = 7");
  v = VecX::Zero(7);
  a = VecX();
  EXPECT_EQ(error(), "a has 0 entries, the model needs nv = 7");
}

TEST_F(BadArguments, ThatAreNotFiniteAreRefusedWithIndexAndValue) {
  const double kInf = std::numeric_limits<double>::infinity();
  EXPECT_NO_THROW(inverse_dynamics(model, q, v, a));
  for (VecX* x : {&q, &v, &a}) {
    const std::string name = x == &q ? "q" : x == &v ? "v" : "a";
    for (int i = 0; i < x->size(); ++i) {
      const double good = (*x)[i];
      (*x)[i] = kNan;
      EXPECT_EQ(error(), fmt::format("{}[{}] is nan; every entry must be finite", name, i));
      (*x)[i] = kInf;
      EXPECT_EQ(error(), fmt::format("{}[{}] is inf; every entry must be finite", name, i));
      (*x)[i] = -kInf;
      EXPECT_EQ(error(), fmt::format("{}[{}] is -inf; every entry must be finite", name, i));
      (*x)[i] = good;
    }
  }
}

TEST_F(BadArguments, OppositeInfinitiesDoNotCancel) {
  const double kInf = std::numeric_limits<double>::infinity();
  v[1] = kInf;
  v[2] = -kInf;
  EXPECT_EQ(error(), "v[1] is inf; every entry must be finite");
}

TEST_F(BadArguments, QuaternionsWithoutDirectionAreRefused) {
  q.segment<4>(3).setZero();
  EXPECT_EQ(error(), "q[3…6], the quaternion of joint 'box.ball', has length 0; it must be neither zero nor huge");
  q.segment<4>(3).setConstant(1e-13);
  EXPECT_EQ(error(), "q[3…6], the quaternion of joint 'box.ball', has length 2e-13; it must be neither zero nor huge");
  q.segment<4>(3).setConstant(1e200);
  EXPECT_EQ(error(), "q[3…6], the quaternion of joint 'box.ball', has length inf; it must be neither zero nor huge");
}

TEST_F(BadArguments, WrenchesOnNoBodyAreRefused) {
  EXPECT_EQ(error({{BodyIndex(3), Vec6::Zero()}}),
            "an external wrench acts on body index 3, but the model has 3 bodies");
  EXPECT_EQ(error({{BodyIndex(), Vec6::Zero()}}),
            "an external wrench acts on body index -1, but the model has 3 bodies");
}

TEST_F(BadArguments, WrenchesThatAreNotFiniteAreRefused) {
  for (int k = 0; k < 6; ++k) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Vec6 wrench = Vec6::Zero();
      wrench[k] = bad;
      const auto refusal = [&](const char* body) {
        return fmt::format("entry {} of the external wrench on body '{}' is {}; it must be finite", k, body, bad);
      };
      EXPECT_EQ(error({{BodyIndex(1), Vec6::Zero()}, {BodyIndex(2), wrench}}), refusal("arm"));
      // Fixed bodies feel nothing, but a mistake is a mistake.
      EXPECT_EQ(error({{Model::world(), wrench}}), refusal("world"));
    }
  }
}

}  // namespace
}  // namespace lithe::test

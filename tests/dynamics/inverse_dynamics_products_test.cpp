#include "lithe/dynamics/internal/inverse_dynamics_products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/inverse_dynamics_derivatives.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/robots/chain.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// gᵀ ∂ID and ∂ID δ without matrices, against the matrices of rnea_derivatives() and against numeric differences.
namespace lithe::test {

using namespace internal;
namespace {

constexpr int kProductTrees = 3000;
constexpr double kRounding = 1e-11;

// Vectors to multiply with from the left and from the right.
struct Directions {
  VecX g, dq, dv, da;

  Directions(const Model& model, std::mt19937_64& random)
      : g(random_vector(random, model.nv())),
        dq(random_vector(random, model.nv())),
        dv(random_vector(random, model.nv())),
        da(random_vector(random, model.nv())) {}
};

InverseDynamicsVjp vjp_of(const MovingModel& m, const VecX& g) {
  InverseDynamicsVjp vjp;
  rnea_vjp(m.model, m.kin, m.id, g, vjp, m.wrenches);
  return vjp;
}

InverseDynamicsJvp jvp_of(const MovingModel& m, const VecX& dq, const VecX& dv, const VecX& da) {
  InverseDynamicsJvp jvp;
  rnea_jvp(m.model, m.kin, m.id, dq, dv, da, jvp, m.wrenches);
  return jvp;
}

// Relative to the largest number of each product, or to a hundredth of the torques where the products are smaller than that: a free
// cube's torques do not depend on where it is, a slider's not on its speed, and of both sides only the rounding of the torques is left.
void expect_products_of_the_matrices(const MovingModel& m, const Directions& x) {
  const double floor = std::max(1e-2 * m.id.tau.cwiseAbs().maxCoeff(), 1e-3);
  InverseDynamicsDerivatives d;
  rnea_derivatives(m.model, m.kin, m.id, d, m.wrenches);
  const InverseDynamicsVjp vjp = vjp_of(m, x.g);
  EXPECT_LE(relative_error(vjp.q, d.dtau_dq.transpose() * x.g, floor), kRounding);
  EXPECT_LE(relative_error(vjp.v, d.dtau_dv.transpose() * x.g, floor), kRounding);

  // One input after the other, so that none hides behind a larger one.
  const VecX zero = VecX::Zero(m.model.nv());
  EXPECT_LE(relative_error(jvp_of(m, x.dq, zero, {}).tau, d.dtau_dq * x.dq, floor), kRounding);
  EXPECT_LE(relative_error(jvp_of(m, zero, x.dv, {}).tau, d.dtau_dv * x.dv, floor), kRounding);
  const MatX M = mass_matrix(m.model, m.state.q);
  EXPECT_LE(relative_error(jvp_of(m, zero, zero, x.da).tau, M * x.da, floor), kRounding);
  EXPECT_LE(relative_error(jvp_of(m, x.dq, x.dv, x.da).tau, d.dtau_dq * x.dq + d.dtau_dv * x.dv + M * x.da, floor),
            kRounding);
}

TEST(InverseDynamicsProducts, AreThoseOfTheMatrices) {
  int with_balls = 0, with_wrenches = 0, with_branches = 0;
  for_random_cases(kProductTrees, [&](std::mt19937_64& random) {
    const MovingModel m(random);
    expect_products_of_the_matrices(m, Directions(m.model, random));
    with_balls += !m.model.tree().balls.empty();
    with_wrenches += !m.wrenches.empty();
    with_branches += m.model.tree().chains.size() > m.model.tree().trees.size();
  });
  if (few_cases()) return;
  for (const int count : {with_balls, with_wrenches, with_branches}) EXPECT_GE(count, kProductTrees / 4);
}

TEST(InverseDynamicsProducts, OfEverySceneAreThoseOfTheMatrices) {
  for (const std::string& name : scene_names()) {
    SCOPED_TRACE(name);
    const Model model = scene(name).model;
    for_random_cases(5, [&](std::mt19937_64& random) {
      const RandomState state = random_state(model, random);
      const MovingModel m(model, state, random_wrenches(model, random));
      expect_products_of_the_matrices(m, Directions(model, random));
    });
  }
}

TEST(InverseDynamicsProducts, OfALongChainAreThoseOfTheMatrices) {
  for_random_cases(3, [](std::mt19937_64& random) {
    const Model model = chain(128).build();
    const MovingModel m(model, random_state(model, random), random_wrenches(model, random));
    expect_products_of_the_matrices(m, Directions(model, random));
  });
}

TEST(InverseDynamicsProducts, FromTheLeftMatchDifferences) {
  ErrorSummary by_q("g tau by q"), by_v("g tau by v");
  for_random_cases(500, [&](std::mt19937_64& random) {
    const MovingModel m(random);
    const VecX g = random_vector(random, m.model.nv());
    const InverseDynamicsVjp vjp = vjp_of(m, g);
    const auto work = [&](const VecX& q, const VecX& v) -> VecX {
      return g.transpose() * inverse_dynamics(m.model, q, v, m.state.a, m.wrenches);
    };
    by_q.add(relative_error(vjp.q.transpose(),
                            central_difference(m.model, m.state.q, [&](const VecX& q) { return work(q, m.state.v); })));
    // Quadratic in v: a large step has rounding errors only.
    const double step = 1;
    by_v.add(relative_error(
        vjp.v.transpose(),
        central_difference([&](const VecX& d) { return work(m.state.q, m.state.v + d); }, m.model.nv(), step)));
  });
}

TEST(InverseDynamicsProducts, FromTheRightMatchDifferences) {
  ErrorSummary error("tau along a line");
  for_random_cases(2000, [&](std::mt19937_64& random) {
    const MovingModel m(random);
    const Directions x(m.model, random);
    const auto along = [&](const VecX& t) {
      return inverse_dynamics(m.model, retract(m.model, m.state.q, t[0] * x.dq), m.state.v + t[0] * x.dv,
                              m.state.a + t[0] * x.da, m.wrenches);
    };
    error.add(relative_error(jvp_of(m, x.dq, x.dv, x.da).tau, central_difference(along, 1)));
  });
}

TEST(InverseDynamicsProducts, LetForcesTurnWithTheirBodiesUnlessToldOtherwise) {
  // `id` knows the wrenches, the products are not told: then they are pushes that turn along.
  ErrorSummary left("g tau by q, turning wrenches"), right("tau along q, turning wrenches");
  for_random_cases(300, [&](std::mt19937_64& random) {
    MovingModel m(random);
    m.wrenches = {{m.random_body(random), random_vector(random, 6, 30)},
                  {m.random_body(random), random_vector(random, 6, 30)}};
    rnea(m.model, m.kin, m.state.a, m.id, m.wrenches);
    const VecX g = random_vector(random, m.model.nv()), dq = random_vector(random, m.model.nv());
    const auto turning = [&](const VecX& q) {
      const Kinematics at = m.kinematics_at(q);
      ExternalWrenches turned = m.wrenches;
      for (ExternalWrench& w : turned) {
        const Mat3 turn = body_pose(m.model, at, w.body).R * body_pose(m.model, m.kin, w.body).R.transpose();
        w.wrench << turn * w.wrench.head<3>(), turn * w.wrench.tail<3>();
      }
      return inverse_dynamics(m.model, q, m.state.v, m.state.a, turned);
    };
    const MatX dtau_dq = central_difference(m.model, m.state.q, turning);
    m.wrenches.clear();
    left.add(relative_error(vjp_of(m, g).q, dtau_dq.transpose() * g));
    right.add(relative_error(jvp_of(m, dq, VecX::Zero(m.model.nv()), {}).tau, dtau_dq * dq));
  });
}

TEST(InverseDynamicsProducts, OfASlidingBeadAreTheTextbooks) {
  // A bead of mass m at radius r on an arm that turns with ω:  τ_turn = m (r² α + 2 r ṙ ω),  τ_slide = m (r̈ − r ω²).
  const double m = 2, r = 0.7, w = 3, alpha = 1.5, r_dot = 0.4;
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "bead", .inertia = SpatialInertia::point(m, Vec3::Zero())},
                                    JointList{revolute("turn", Vec3::UnitZ()), prismatic("slide", Vec3::UnitX())})
                          .build();
  const MovingModel bead(
      model, {.q = Eigen::Vector2d(1, r), .v = Eigen::Vector2d(w, r_dot), .a = Eigen::Vector2d(alpha, 0.2), .tau = {}});
  const VecX g = Eigen::Vector2d(3, 5);
  const InverseDynamicsVjp vjp = vjp_of(bead, g);
  EXPECT_NEAR(vjp.q[0], 0, 1e-12);
  EXPECT_NEAR(vjp.q[1], 3 * m * (2 * r * alpha + 2 * r_dot * w) - 5 * m * w * w, 1e-12);
  EXPECT_NEAR(vjp.v[0], 3 * 2 * m * r * r_dot - 5 * 2 * m * r * w, 1e-12);
  EXPECT_NEAR(vjp.v[1], 3 * 2 * m * r * w, 1e-12);
  const VecX tau = jvp_of(bead, Eigen::Vector2d(0, 7), Eigen::Vector2d(11, 0), Eigen::Vector2d(13, 17)).tau;
  EXPECT_NEAR(tau[0], 7 * m * (2 * r * alpha + 2 * r_dot * w) + 11 * 2 * m * r * r_dot + 13 * m * r * r, 1e-12);
  EXPECT_NEAR(tau[1], -7 * m * w * w - 11 * 2 * m * r * w + 17 * m, 1e-12);
}

TEST(InverseDynamicsProducts, ShowTheTwistsTheyUse) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const MovingModel m(random);
    const Directions x(m.model, random);
    const Kinematics under_g = m.kinematics_at(m.state.q, x.g), under_dq = m.kinematics_at(m.state.q, x.dq);
    const InverseDynamicsVjp vjp = vjp_of(m, x.g);
    const InverseDynamicsJvp jvp = jvp_of(m, x.dq, x.dv, x.da);
    const DofTree& tree = m.model.tree();
    for (int dof = 0; dof < tree.nv; ++dof) {
      const int s = tree.slot[dof];
      for (int k = 0; k < 6; ++k) {
        EXPECT_NEAR(vjp.G.at(k, s), under_g.V.at(k, s), 1e-12);
        EXPECT_NEAR(vjp.G_parent.at(k, s), under_g.V_parent.at(k, s), 1e-12);
        EXPECT_NEAR(jvp.Theta.at(k, s), under_dq.V.at(k, s), 1e-12);
      }
      EXPECT_EQ(vjp.q_slots.at(0, s), vjp.q[dof]);
      EXPECT_EQ(vjp.v_slots.at(0, s), vjp.v[dof]);
      EXPECT_EQ(jvp.tau_slots.at(0, s), jvp.tau[dof]);
    }
  });
}

TEST(InverseDynamicsProducts, FeelArmatureThroughTheAccelerationOnly) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Model model = random_model(random, {.armature = 0});
    const MovingModel without(model, random_state(model, random));
    MovingModel with = without;
    VecX armature(model.nv());
    for (std::size_t j = 0; j < model.joints().size(); ++j) {
      Joint joint = model.joints()[j];
      joint.armature = uniform(random, 0.1, 0.5);
      with.model.set_joint(JointIndex(static_cast<int>(j)), joint);
      armature.segment(joint.v_index, joint.nv()).setConstant(joint.armature);
    }
    rnea(with.model, with.kin, with.state.a, with.id);
    const Directions x(model, random);
    EXPECT_EQ(vjp_of(with, x.g).q, vjp_of(without, x.g).q);
    EXPECT_EQ(vjp_of(with, x.g).v, vjp_of(without, x.g).v);
    EXPECT_EQ(jvp_of(with, x.dq, x.dv, {}).tau, jvp_of(without, x.dq, x.dv, {}).tau);
    EXPECT_LE(relative_error(jvp_of(with, x.dq, x.dv, x.da).tau,
                             jvp_of(without, x.dq, x.dv, x.da).tau + armature.cwiseProduct(x.da)),
              1e-13);
  });
}

TEST(InverseDynamicsProducts, OfAModelWithoutJointsAreEmpty) {
  const Model model =
      ModelBuilder().add_body("world", {.name = "table", .inertia = SpatialInertia::sphere(5, 1)}).build();
  const MovingModel m(model, {.q = {}, .v = {}, .a = {}, .tau = {}}, {{BodyIndex(1), Vec6::Ones()}});
  EXPECT_EQ(vjp_of(m, {}).q.size(), 0);
  EXPECT_EQ(jvp_of(m, {}, {}, {}).tau.size(), 0);
}

// Both products with all that a caller may read of them, as bits.
struct Products {
  InverseDynamicsVjp vjp;
  InverseDynamicsJvp jvp;

  void run(const MovingModel& m, const Directions& x) {
    rnea_vjp(m.model, m.kin, m.id, x.g, vjp, m.wrenches);
    rnea_jvp(m.model, m.kin, m.id, x.dq, x.dv, x.da, jvp, m.wrenches);
  }
  void run_without_acceleration(const MovingModel& m, const Directions& x) {
    rnea_vjp(m.model, m.kin, m.id, x.g, vjp, m.wrenches);
    rnea_jvp(m.model, m.kin, m.id, x.dq, x.dv, none, jvp, m.wrenches);
  }

  std::vector<std::uint64_t> results() const {
    std::vector<std::uint64_t> bits;
    const auto add = [&](const double* numbers, std::ptrdiff_t count) {
      for (std::ptrdiff_t i = 0; i < count; ++i) bits.push_back(std::bit_cast<std::uint64_t>(numbers[i]));
    };
    for (const VecX* x : {&vjp.q, &vjp.v, &jvp.tau}) add(x->data(), x->size());
    for (const Lanes<6>* x : {&vjp.G, &vjp.G_parent, &jvp.Theta}) add(x->data(), 6 * x->slots());
    for (const Lanes<1>* x : {&vjp.q_slots, &vjp.v_slots, &jvp.tau_slots}) add(x->data(), x->slots());
    return bits;
  }

  const VecX none = {};
};

TEST(InverseDynamicsProducts, AllocateNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  for_random_cases(50, [](std::mt19937_64& random) {
    MovingModel m(random);
    const Directions x(m.model, random);
    for (const ExternalWrenches& wrenches : {ExternalWrenches{}, ExternalWrenches{{BodyIndex(1), Vec6::Ones()}}}) {
      m.wrenches = wrenches;
      Products products;
      products.run(m, x);
      const AllocationGuard guard;
      products.run(m, x);
      products.run_without_acceleration(m, x);
      const long allocations = guard.count();
      EXPECT_EQ(allocations, 0) << wrenches.size() << " wrenches";
    }
  });
}

TEST(InverseDynamicsProducts, ForgetEarlierCalls) {
  // Other models, other wrenches, other directions: whatever the workspaces have seen.
  Products used;
  for_random_cases(500, [&](std::mt19937_64& random) {
    MovingModel m(random);
    for (int round = 0; round < 3; ++round) {
      const Directions x(m.model, random);
      if (round == 2) {
        m.wrenches.clear();
        rnea(m.model, m.kin, m.state.a, m.id);
      }
      Products fresh, fresh_without;
      fresh.run(m, x);
      used.run(m, x);
      EXPECT_TRUE(used.results() == fresh.results());
      fresh_without.run_without_acceleration(m, x);
      used.run_without_acceleration(m, x);
      EXPECT_TRUE(used.results() == fresh_without.results());
    }
  });
}

TEST(InverseDynamicsProducts, WithoutAccelerationAreThoseWithZero) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const MovingModel m(random);
    const Directions x(m.model, random);
    EXPECT_EQ(jvp_of(m, x.dq, x.dv, {}).tau, jvp_of(m, x.dq, x.dv, VecX::Zero(m.model.nv())).tau);
  });
}

TEST(InverseDynamicsProducts, RefuseBadArguments) {
  std::mt19937_64 random(1);
  const Model model = chain(3).build();
  const MovingModel m(model, random_state(model, random));
  const VecX good = VecX::Ones(3), longer = VecX::Ones(4);
  VecX infinite = good;
  infinite[1] = std::numeric_limits<double>::infinity();
  expect_error([&] { vjp_of(m, longer); }, "g has 4 entries, the model needs nv = 3");
  expect_error([&] { jvp_of(m, longer, good, {}); }, "dq has 4 entries");
  expect_error([&] { jvp_of(m, good, longer, {}); }, "dv has 4 entries");
  expect_error([&] { jvp_of(m, good, good, longer); }, "da has 4 entries");
  expect_error([&] { vjp_of(m, infinite); }, "g", "inf");
  expect_error([&] { jvp_of(m, infinite, good, {}); }, "dq", "inf");
  expect_error([&] { jvp_of(m, good, infinite, {}); }, "dv", "inf");
  expect_error([&] { jvp_of(m, good, good, infinite); }, "da", "inf");

  MovingModel pushed = m;
  pushed.wrenches = {{BodyIndex(4), Vec6::Zero()}};
  const std::string nowhere = "an external wrench acts on body index 4, but the model has 4 bodies";
  EXPECT_EQ(error_text([&] { vjp_of(pushed, good); }), nowhere);
  EXPECT_EQ(error_text([&] { jvp_of(pushed, good, good, {}); }), nowhere);
}

TEST(InverseDynamicsProducts, RefuseResultsOfAnotherModel) {
  std::mt19937_64 random(1);
  const Model model = chain(3).build(), other_model = chain(4).build();
  const MovingModel m(model, random_state(model, random)), other(other_model, random_state(other_model, random));
  const VecX x = VecX::Ones(3);
  InverseDynamicsVjp vjp;
  InverseDynamicsJvp jvp;
  expect_error([&] { rnea_vjp(model, other.kin, m.id, x, vjp); }, "this Kinematics was not computed for this model");
  expect_error([&] { rnea_vjp(model, m.kin, other.id, x, vjp); }, "this InverseDynamics was not computed");
  expect_error([&] { rnea_jvp(model, other.kin, m.id, x, x, x, jvp); }, "this Kinematics was not computed");
  expect_error([&] { rnea_jvp(model, m.kin, other.id, x, x, x, jvp); }, "this InverseDynamics was not computed");
}

}  // namespace
}  // namespace lithe::test

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "lithe/dynamics/centroidal.h"
#include "lithe/dynamics/energy.h"
#include "lithe/dynamics/forward_dynamics_derivatives.h"
#include "lithe/dynamics/internal/inverse_factor.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/robots/humanoid.h"
#include "tests/dynamics/dense_matrices.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// What every stage promises its callers: a warm call allocates nothing, and its result depends on its arguments alone,
// bit by bit, whatever the workspace was used for before and whatever other threads do.
namespace lithe::test {

using namespace internal;
namespace {

struct Inputs {
  RandomState state;
  ExternalWrenches wrenches;

  Inputs(const Model& model, std::mt19937_64& random) : state(random_state(model, random)) {
    wrenches = random_wrenches(model, random);
  }
};

// Every stage of the room with the results it leaves.
struct Stages {
  Kinematics kin;
  InverseDynamics id, bias;
  InverseDynamicsDerivatives did;
  MassMatrix M;
  MassFactor L, L_damped;
  InverseFactor X;
  ForwardDynamics fd;
  ForwardDynamicsDerivatives dfd;
  InverseMassMatrix M_inverse;
  VecX damping, solved, solved_by_inverse, product;
  MatX solved_many;

  void run(const Model& model, const RandomState& s, const ExternalWrenches& wrenches) {
    kinematics(model, s.q, s.v, kin);
    run_from_kinematics(model, s, wrenches);
  }
  void run_at_rest(const Model& model, const RandomState& s, const ExternalWrenches& wrenches) {
    kinematics(model, s.q, kin);
    run_from_kinematics(model, s, wrenches);
  }

  void run_from_kinematics(const Model& model, const RandomState& s, const ExternalWrenches& wrenches) {
    bias_forces(model, kin, bias, wrenches);
    rnea(model, kin, s.a, id, wrenches);
    rnea_derivatives(model, kin, id, did, wrenches);

    mass_matrix(model, kin, M);
    damping = s.tau.cwiseAbs();
    factorize(model, M, L_damped, damping);
    factorize(model, M, L);
    invert(model, L, X);
    solved = s.tau;
    solve_in_place(model, L, solved);
    solved_many.resize(model.nv(), 2);
    solved_many << s.tau, s.a;
    solve_in_place(model, L, solved_many);
    solved_by_inverse.resize(model.nv());
    solve(model, X, s.tau, solved_by_inverse);
    product.resize(model.nv());
    multiply(model, M, s.a, product);

    aba(model, kin, s.tau, fd, wrenches);
    inverse_mass_matrix(model, fd, M_inverse);
    aba_derivatives(model, kin, fd, dfd, wrenches);
  }

  // All that a caller may read, as bits.
  std::vector<std::uint64_t> results(const Model& model) const {
    const DofTree& tree = model.tree();
    std::vector<std::uint64_t> bits;
    const auto add = [&](const MatX& x) {
      for (const double number : x.reshaped()) bits.push_back(std::bit_cast<std::uint64_t>(number));
    };
    add(bias.tau);
    add(id.tau);
    add(did.dtau_dq);
    add(did.dtau_dv);
    add(M.dense(model));
    add(dense_from_paths(tree, L_damped.L));
    add(dense_from_paths(tree, L.L));
    add(dense_from_paths(tree, X.rows));
    add(solved);
    add(solved_many);
    add(solved_by_inverse);
    add(product);
    add(fd.a);
    add(dense(tree, M_inverse));
    add(dfd.da_dq);
    add(dfd.da_dv);
    add(dfd.da_dtau);
    add(VecX::Constant(1, kinetic_energy(model, kin)));
    add(VecX::Constant(1, potential_energy(model, kin)));
    add(spatial_momentum(model, kin));
    bits.push_back(static_cast<std::uint64_t>(fd.singular_dof));
    bits.push_back(static_cast<std::uint64_t>(L.singular_dof));
    return bits;
  }
};

std::vector<std::uint64_t> fresh_results(const Model& model, const Inputs& in) {
  Stages stages;
  stages.run(model, in.state, in.wrenches);
  return stages.results(model);
}

TEST(WarmCalls, AllocateNothing) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    const Inputs in(model, random);
    const ExternalWrenches push = {{BodyIndex(1), Vec6::Ones()}};
    for (const ExternalWrenches& wrenches : {ExternalWrenches{}, push}) {
      Stages stages;
      stages.run(model, in.state, wrenches);
      stages.run_at_rest(model, in.state, wrenches);
      const AllocationGuard guard;
      stages.run(model, in.state, wrenches);
      stages.run_at_rest(model, in.state, wrenches);
      const long allocations = guard.count();
      EXPECT_EQ(allocations, 0) << wrenches.size() << " wrenches";
    }
  });
}

TEST(WarmCalls, GiveTheSameBitsTwice) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    const Inputs in(model, random);
    Stages stages;
    stages.run(model, in.state, in.wrenches);
    const std::vector<std::uint64_t> first = stages.results(model);
    stages.run(model, in.state, in.wrenches);
    EXPECT_TRUE(stages.results(model) == first);
  });
}

TEST(WarmCalls, ForgetEarlierStates) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    Stages stages, at_rest;
    for (int i = 0; i < 3; ++i) {
      const Inputs in(model, random);
      stages.run(model, in.state, in.wrenches);
      EXPECT_TRUE(stages.results(model) == fresh_results(model, in));
    }
    const Inputs in(model, random);
    at_rest.run_at_rest(model, in.state, in.wrenches);
    stages.run_at_rest(model, in.state, in.wrenches);
    EXPECT_TRUE(stages.results(model) == at_rest.results(model));
  });
}

TEST(WarmCalls, ForgetNumbersThatOverflowed) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    const Inputs in(model, random);
    Inputs huge(model, random);
    for (const Joint& joint : model.joints()) {
      if (joint.type == JointType::prismatic) huge.state.q[joint.q_index] = 1e200;
    }
    huge.state.v.setConstant(1e200);
    huge.state.a.setConstant(1e300);
    Stages stages;
    try {
      stages.run(model, huge.state, huge.wrenches);
    } catch (const Error&) {  // derivatives at an infinite a are refused
    }
    stages.run(model, in.state, in.wrenches);
    EXPECT_TRUE(stages.results(model) == fresh_results(model, in));
  });
}

TEST(WarmCalls, ForgetEarlierModels) {
  // Models of all sizes, so that workspaces grow and shrink.
  Stages stages;
  for_random_cases(500, [&](std::mt19937_64& random) {
    const Model model = random_model(random);
    const Inputs in(model, random);
    stages.run(model, in.state, in.wrenches);
    EXPECT_TRUE(stages.results(model) == fresh_results(model, in));
  });
}

TEST(WarmCalls, NoticeThatACopysNumbersChanged) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    Model changed = model;
    for (std::size_t b = 1; b < model.bodies().size(); ++b) {
      changed.set_inertia(BodyIndex(static_cast<int>(b)), random_inertia(random));
    }
    for (std::size_t j = 0; j < model.joints().size(); ++j) {
      Joint joint = model.joints()[j];
      joint.placement = random_pose(random);
      joint.armature = uniform(random, 0.1, 0.5);
      joint.axis = random_axis(random);
      changed.set_joint(JointIndex(static_cast<int>(j)), joint);
    }
    const Inputs in(model, random);
    Stages stages;
    for (const Model* m : std::initializer_list<const Model*>{&model, &changed, &model}) {
      stages.run(*m, in.state, in.wrenches);
      EXPECT_TRUE(stages.results(*m) == fresh_results(*m, in));
    }
  });
}

// A run of bodies on `parent`, one per letter: r, p and s are revolute, prismatic and screw joints, b is a ball.
// Returns the last body's name.
std::string add_run(ModelBuilder& builder, const std::string& parent, const std::string& prefix,
                    const std::string& types) {
  std::string above = parent;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string name = fmt::format("{}{}", prefix, i);
    const Vec3 axis = Vec3::Unit(static_cast<int>(i) % 3);
    const Pose placement = {rotation_exp(Vec3(0.3, -0.2, 0.1)), Vec3(0.1, 0.2, -0.3)};
    const SpatialInertia inertia = SpatialInertia::box(1, Vec3(0.1, 0.2, 0.3)).in(Pose::translation(0.1, 0, 0.2));
    const Joint joint = types[i] == 'r'   ? revolute(name, axis, placement)
                        : types[i] == 'p' ? prismatic(name, axis, placement)
                        : types[i] == 's' ? screw(name, axis, 0.3, placement)
                                          : ball(name, placement);
    builder.add_body(above, {.name = name, .inertia = inertia}, joint);
    above = name;
  }
  return above;
}

// Runs that share nothing, each with other runs on its tip.
struct Tree {
  std::string stem;
  std::vector<std::string> branches = {};
};

Model forest(const std::vector<Tree>& trees) {
  ModelBuilder builder;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const std::string tip = add_run(builder, "world", fmt::format("tree{}/", t), trees[t].stem);
    for (std::size_t b = 0; b < trees[t].branches.size(); ++b) {
      add_run(builder, tip, fmt::format("tree{}/branch{}/", t, b), trees[t].branches[b]);
    }
  }
  return builder.build();
}

void expect_independent_workspaces(const std::vector<Model>& models) {
  std::mt19937_64 random(1);
  for (const Model& a : models) {
    for (const Model& b : models) {
      ASSERT_EQ(a.nv(), b.nv());
      ASSERT_EQ(a.tree().slot_count, b.tree().slot_count);
      const Inputs in_a(a, random), in_b(b, random);
      Stages stages;
      for (int round = 0; round < 2; ++round) {
        stages.run(a, in_a.state, in_a.wrenches);
        EXPECT_TRUE(stages.results(a) == fresh_results(a, in_a));
        stages.run(b, in_b.state, in_b.wrenches);
        EXPECT_TRUE(stages.results(b) == fresh_results(b, in_b));
      }
    }
  }
}

TEST(WarmCalls, NoticeAnotherModelOfTheSameSizes) {
  // Six DoFs on eight slots, the two empty ones in different places.
  expect_independent_workspaces({
      forest({{"rrrrrr"}}),
      forest({{"pppppp"}}),
      forest({{"srprsp"}}),
      forest({{"bb"}}),
      forest({{"sb"}, {"pp"}}),
      forest({{"rrr"}, {"rrr"}}),
      forest({{"b"}, {"rpr"}}),
      forest({{"rr"}, {"rrrr"}}),
      forest({{"rrrr"}, {"pp"}}),
      ModelBuilder()
          .add_body("world", {.name = "box", .inertia = SpatialInertia::box(1, Vec3(1, 2, 3))}, free_joint("box"))
          .build(),
  });
  // Twelve DoFs on sixteen slots, branching differently.
  expect_independent_workspaces({
      forest({{"rrr", {"rrr", "rrr", "rrr"}}}),
      forest({{"ppp", {"b", "srs"}}, {"b"}}),
      forest({{"b", {"b", "b"}}, {"rrr"}}),
      forest({{"r", {"rb", "rrrr", "ppp"}}}),
  });
}

TEST(WarmCalls, GiveTheSameBitsInTwoThreads) {
  const Model model = humanoid().build();
  std::mt19937_64 random(1);
  std::vector<Inputs> inputs;
  for (int i = 0; i < 100; ++i) inputs.emplace_back(model, random);
  std::vector<std::vector<std::uint64_t>> expected;
  for (const Inputs& in : inputs) expected.push_back(fresh_results(model, in));

  const auto work = [&](int& differences) {
    Stages stages;
    for (int round = 0; round < 5; ++round) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        stages.run(model, inputs[i].state, inputs[i].wrenches);
        if (stages.results(model) != expected[i]) ++differences;
      }
    }
  };
  int here = 0, there = 0;
  std::thread other(work, std::ref(there));
  work(here);
  other.join();
  EXPECT_EQ(here, 0);
  EXPECT_EQ(there, 0);
}

}  // namespace
}  // namespace lithe::test

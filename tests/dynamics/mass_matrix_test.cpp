#include "lithe/dynamics/mass_matrix.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "lithe/dynamics/internal/inverse_factor.h"
#include "lithe/dynamics/internal/mass_factor.h"
#include "lithe/dynamics/inverse_dynamics.h"
#include "lithe/dynamics/inverse_mass_matrix.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/robots/chain.h"
#include "lithe/scenes/solids/free_bodies.h"
#include "tests/dynamics/dense_matrices.h"
#include "tests/dynamics/moving_model.h"
#include "tests/support/differentiate.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_test.h"

// M, its factor LᵀL = M, the factor's inverse X = L⁻¹ and M⁻¹ from forward dynamics' elimination.
namespace lithe::test {

using namespace internal;
namespace {

// Dense Cholesky with the same order of elimination, from the last DoF to the first: M = LᵀL.
MatX dense_factor(const MatX& M) {
  const MatX reversed = M.reverse();
  const MatX G = reversed.llt().matrixL();
  return G.transpose().reverse();
}

double condition_number(const MatX& M) {
  const VecX values = Eigen::SelfAdjointEigenSolver<MatX>(M, Eigen::EigenvaluesOnly).eigenvalues();
  return values.maxCoeff() / values.minCoeff();
}

// Everything that can be made of a mass matrix, at one random configuration.
struct Factored {
  Model model;
  VecX q;
  Kinematics kin;
  MassMatrix M;
  MassFactor L;
  InverseFactor X;
  InverseMassMatrix M_inverse;

  explicit Factored(std::mt19937_64& random) : Factored(random_model(random), random) {}
  Factored(Model the_model, std::mt19937_64& random) : model(std::move(the_model)), q(random_state(model, random).q) {
    compute();
  }
  Factored(Model the_model, VecX the_q) : model(std::move(the_model)), q(std::move(the_q)) { compute(); }

  void compute() {
    kinematics(model, q, kin);
    mass_matrix(model, kin, M);
    factorize(model, M, L);
    invert(model, L, X);
    ForwardDynamics fd;
    aba(model, kin, VecX::Zero(model.nv()), fd);
    inverse_mass_matrix(model, fd, M_inverse);
  }
};

TEST(MassMatrix, OfACartAndPoleIsTheTextbooks) {
  // [M + m, m l cos θ; m l cos θ, m l²]
  const double cart = 3, m = 0.5, l = 0.8, theta = 0.7;
  const Model model = ModelBuilder()
                          .add_body("world", {.name = "cart", .inertia = SpatialInertia::point(cart, Vec3::Zero())},
                                    prismatic("rail", Vec3::UnitX()))
                          .add_body("cart", {.name = "pole", .inertia = SpatialInertia::point(m, {0, 0, l})},
                                    revolute("hinge", Vec3::UnitY()))
                          .build();
  Eigen::Matrix2d expected;
  expected << cart + m, m * l * std::cos(theta), m * l * std::cos(theta), m * l * l;
  EXPECT_LE((mass_matrix(model, Eigen::Vector2d(0.3, theta)) - expected).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(MassMatrix, ColumnsAreTheForcesOfUnitAccelerations) {
  for_random_cases(500, [](std::mt19937_64& random) {
    Model model = random_model(random);
    model.set_gravity(Vec3::Zero());
    const VecX q = random_state(model, random).q;
    Kinematics kin;
    InverseDynamics id;
    kinematics(model, q, kin);
    MatX M(model.nv(), model.nv());
    for (int i = 0; i < model.nv(); ++i) {
      rnea(model, kin, VecX::Unit(model.nv(), i), id);
      M.col(i) = id.tau;
    }
    EXPECT_LE(relative_error(mass_matrix(model, q), M), 1e-13);
  });
}

TEST(MassMatrix, AgreesWithPlain) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    const VecX q = random_state(model, random).q;
    const MatX M = mass_matrix(model, q);
    EXPECT_LE(relative_error(M, plain_mass_matrix(model, q)), 1e-11);
    EXPECT_LE(relative_error(M, plain_mass_matrix_from_energy(model, q)), 1e-11);
  });
}

TEST(MassMatrix, IsSymmetricPositiveDefinite) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const Model model = random_model(random);
    const MatX M = mass_matrix(model, random_state(model, random).q);
    EXPECT_EQ(M, M.transpose());
    EXPECT_EQ(M.llt().info(), Eigen::Success);
  });
}

TEST(MassMatrix, IsExactlyZeroBetweenBranches) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const Factored f(random);
    const DofTree& tree = f.model.tree();
    const MatX M = f.M.dense(f.model), plain = plain_mass_matrix_from_energy(f.model, f.q);
    for (int i = 0; i < tree.nv; ++i) {
      for (int j = 0; j < tree.nv; ++j) {
        if (tree.moves(i, j) || tree.moves(j, i)) continue;
        EXPECT_EQ(M(i, j), 0);
        EXPECT_EQ(plain(i, j), 0);
      }
    }
  });
}

TEST(MassMatrix, TimesAVectorNeedsNothingDense) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const Factored f(random);
    const VecX x = random_vector(random, f.model.nv());
    VecX out(f.model.nv());
    multiply(f.model, f.M, x, out);
    EXPECT_LE(relative_error(out, f.M.dense(f.model) * x), 1e-13);
  });
}

TEST(MassFactor, IsTheDenseFactorWithoutFillIn) {
  for_random_cases(500, [](std::mt19937_64& random) {
    const Factored f(random);
    const MatX M = f.M.dense(f.model);
    const MatX L = dense_from_paths(f.model.tree(), f.L.L);
    EXPECT_EQ(f.L.singular_dof, -1);
    EXPECT_LE(relative_error(L.transpose() * L, M), 1e-14);
    // Off the paths the dense factor is zero as well, exactly.
    const MatX expected = dense_factor(M);
    const MatX on_path = dense_from_paths(f.model.tree(), AlignedBuffer(f.L.L.size(), 1.0));
    EXPECT_TRUE((on_path.array() == 1 || expected.array() == 0).all());
    EXPECT_LE(relative_error(L, expected), 1e-14 * condition_number(M));
  });
}

TEST(MassFactor, TakesAnAddedDiagonal) {
  for_random_cases(300, [](std::mt19937_64& random) {
    Factored f(random);
    const VecX added = random_vector(random, f.model.nv()).cwiseAbs();
    factorize(f.model, f.M, f.L, added);
    const MatX L = dense_from_paths(f.model.tree(), f.L.L);
    EXPECT_LE(relative_error(L.transpose() * L, f.M.dense(f.model) + MatX(added.asDiagonal())), 1e-14);
  });
}

TEST(MassFactor, SolvesForOneAndForManyRightHandSides) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const Factored f(random);
    const int nv = f.model.nv();
    const MatX M = f.M.dense(f.model);
    const MatX B = random_vector(random, 5 * nv).reshaped(nv, 5);
    MatX many = B;
    solve_in_place(f.model, f.L, many);
    EXPECT_LE(relative_error(M * many, B, M.cwiseAbs().maxCoeff() * many.cwiseAbs().maxCoeff()), 1e-13);
    EXPECT_LE(relative_error(many, M.ldlt().solve(B)), 1e-14 * condition_number(M));
    VecX one = B.col(2);
    solve_in_place(f.model, f.L, one);
    EXPECT_EQ(one, many.col(2));
    // A block of a larger matrix, and none at all.
    MatX block = MatX::Zero(nv + 3, 4);
    block.block(1, 2, nv, 2) = B.leftCols(2);
    solve_in_place(f.model, f.L, block.block(1, 2, nv, 2));
    EXPECT_EQ(block.block(1, 2, nv, 2), many.leftCols(2));
    EXPECT_EQ(block.leftCols(2), MatX::Zero(nv + 3, 2));
    MatX none(nv, 0);
    solve_in_place(f.model, f.L, none);
  });
}

TEST(InverseFactor, UndoesTheFactor) {
  for_random_cases(500, [](std::mt19937_64& random) {
    const Factored f(random);
    const int nv = f.model.nv();
    const MatX L = dense_from_paths(f.model.tree(), f.L.L), X = dense_from_paths(f.model.tree(), f.X.rows);
    // Row by row X solves L X = 1, so |L X − 1| ≤ n ε |L||X| (Higham 2002, §14.2), and from the other side it is
    // |X (L X − 1) L|. As much again for the products taken here.
    const MatX one = MatX::Identity(nv, nv);
    const MatX size = L.cwiseAbs() * X.cwiseAbs(), other_size = X.cwiseAbs() * size * L.cwiseAbs();
    const double rounding = 2 * nv * std::numeric_limits<double>::epsilon();
    EXPECT_TRUE(((L * X - one).cwiseAbs().array() <= rounding * size.array()).all());
    EXPECT_TRUE(((X * L - one).cwiseAbs().array() <= rounding * other_size.array()).all());
  });
}

TEST(InverseFactor, SolvesLikeTheFactor) {
  for_random_cases(300, [](std::mt19937_64& random) {
    Factored f(random);
    const VecX b = random_vector(random, f.model.nv());
    VecX x = b, y(f.model.nv()), in_place = b;
    solve_in_place(f.model, f.L, x);
    solve(f.model, f.X, b, y);
    EXPECT_LE(relative_error(y, x), 1e-14 * condition_number(f.M.dense(f.model)));
    // The result may take the right-hand side's place.
    solve(f.model, f.X, in_place, in_place);
    EXPECT_EQ(in_place, y);
  });
}

TEST(InverseMassMatrix, UndoesTheMassMatrix) {
  for_random_cases(500, [](std::mt19937_64& random) {
    const Factored f(random);
    const MatX M = f.M.dense(f.model), inverse = dense(f.model.tree(), f.M_inverse);
    const double conditioning = condition_number(M);
    EXPECT_LE((M * inverse - MatX::Identity(M.rows(), M.cols())).cwiseAbs().maxCoeff(), 1e-14 * conditioning);
    const MatX L_inverse = dense_from_paths(f.model.tree(), f.X.rows);
    EXPECT_LE(relative_error(inverse, L_inverse * L_inverse.transpose()), 1e-14 * conditioning);
    EXPECT_LE(relative_error(inverse, inverse.transpose()), 1e-14 * conditioning);
  });
}

TEST(MassMatrix, OfALongChainIsFactoredAndInverted) {
  std::mt19937_64 random(1);
  Factored f(chain(256).build(), random);
  const int nv = f.model.nv();
  const MatX M = f.M.dense(f.model);
  EXPECT_EQ(f.L.singular_dof, -1);
  EXPECT_LE(relative_error(M, plain_mass_matrix_from_energy(f.model, f.q)), 1e-11);
  const MatX L = dense_from_paths(f.model.tree(), f.L.L), X = dense_from_paths(f.model.tree(), f.X.rows);
  EXPECT_LE(relative_error(L.transpose() * L, M), 1e-14);
  EXPECT_LE((X * L - MatX::Identity(nv, nv)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LE((M * dense(f.model.tree(), f.M_inverse) - MatX::Identity(nv, nv)).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(MassMatrix, OfManyFreeBoxesIsEachBoxs) {
  std::mt19937_64 random(1);
  const int count = 300;
  const Model model = boxes(count).build();
  Factored f(model, random_configuration(model, random));
  ASSERT_EQ(f.model.nv(), 6 * count);
  const MatX M = f.M.dense(f.model);
  const SpatialInertia& box = f.model.bodies()[1].inertia;
  Mat6 block = Mat6::Zero();  // positions in world axes, rotations in the box's
  block.diagonal() << Vec3::Constant(box.mass), box.rotational.diagonal();
  const MatX inverse = dense(f.model.tree(), f.M_inverse);
  for (int i = 0; i < count; ++i) {
    EXPECT_LE((M.block<6, 6>(6 * i, 6 * i) - block).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_LE((inverse.block<6, 6>(6 * i, 6 * i) * block - Mat6::Identity()).cwiseAbs().maxCoeff(), 1e-13);
  }
  EXPECT_LE((M.array() != 0).count(), 36 * count);
  const VecX b = random_vector(random, 6 * count);
  VecX x(6 * count), product(6 * count);
  solve(f.model, f.X, b, x);
  multiply(f.model, f.M, x, product);
  EXPECT_LE(relative_error(product, b), 1e-13);
  x = b;
  solve_in_place(f.model, f.L, x);
  multiply(f.model, f.M, x, product);
  EXPECT_LE(relative_error(product, b), 1e-13);
}

TEST(MassMatrix, OfAModelWithoutJointsIsEmpty) {
  std::mt19937_64 random(1);
  const Model table =
      ModelBuilder().add_body("world", {.name = "table", .inertia = SpatialInertia::sphere(5, 1)}).build();
  Factored f(table, random);
  EXPECT_EQ(f.M.dense(table).size(), 0);
  EXPECT_EQ(f.L.singular_dof, -1);
  VecX x;
  solve(table, f.X, x, x);
  solve_in_place(table, f.L, x);
  multiply(table, f.M, x, x);
}

TEST(MassMatrix, RefusesVectorsOfTheWrongSize) {
  std::mt19937_64 random(1);
  Factored f(chain(5).build(), random);
  VecX four(4), five(5), six(6);
  MatX b(4, 3);
  EXPECT_EQ(error_text([&] { multiply(f.model, f.M, four, five); }),
            "multiply: x has 4 and the result 5 entries, not nv = 5");
  EXPECT_EQ(error_text([&] { multiply(f.model, f.M, five, six); }),
            "multiply: x has 5 and the result 6 entries, not nv = 5");
  EXPECT_EQ(error_text([&] { solve(f.model, f.X, six, five); }),
            "the right-hand side has 6 and the result 5 entries, the model needs nv = 5");
  EXPECT_EQ(error_text([&] { solve(f.model, f.X, five, four); }),
            "the right-hand side has 5 and the result 4 entries, the model needs nv = 5");
  EXPECT_EQ(error_text([&] { solve_in_place(f.model, f.L, b); }),
            "the right-hand side has 4 rows, the model needs nv = 5");
  EXPECT_EQ(error_text([&] { factorize(f.model, f.M, f.L, four); }),
            "added_diagonal has 4 entries, the model needs nv = 5 (or none)");
  EXPECT_EQ(error_text([&] { mass_matrix(f.model, four); }), "q has 4 entries, the model needs nq = 5");
}

}  // namespace
}  // namespace lithe::test

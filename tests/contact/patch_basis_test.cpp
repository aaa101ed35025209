#include "lithe/contact/patch_basis.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "lithe/core/eigen.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

// T's counting rows, their basis, and what came out of it.
struct Basis {
  MatX T, Q, R;
  VecX counts;
  int rank = 0;

  explicit Basis(const MatX& matrix, const VecX& counting) : T(matrix), counts(counting) {
    const auto rows = static_cast<int>(T.rows()), columns = static_cast<int>(T.cols());
    const int stride = padded(rows);
    AlignedBuffer padded_T(static_cast<std::size_t>(stride) * columns, 0.0), mask(stride, 0.0);
    AlignedBuffer padded_Q(static_cast<std::size_t>(stride) * PatchBasis::kMostColumns, 0.0);
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) padded_T[j * stride + i] = T(i, j);
    }
    for (int i = 0; i < rows; ++i) mask[i] = counts[i];
    PatchBasis basis;
    rank = basis.compute(padded_T.data(), stride, columns, mask.data(), padded_Q.data());
    Q.resize(rows, rank);
    for (int c = 0; c < rank; ++c) {
      for (int i = 0; i < rows; ++i) Q(i, c) = padded_Q[c * stride + i];
    }
    AlignedBuffer packed(static_cast<std::size_t>(columns) * padded(rank) + kLanes, 0.0);
    basis.write_R(packed.data());
    R.resize(rank, columns);
    for (int k = 0; k < columns; ++k) {
      for (int c = 0; c < rank; ++c) R(c, k) = packed[k * padded(rank) + c];
    }
  }

  void expect_exact(double tolerance) const {
    EXPECT_LE((Q.transpose() * Q - MatX::Identity(rank, rank)).cwiseAbs().maxCoeff(), tolerance);
    const MatX counting = counts.asDiagonal() * T;
    EXPECT_LE((Q * R - counting).cwiseAbs().maxCoeff(), tolerance * T.cwiseAbs().maxCoeff());
    for (Eigen::Index i = 0; i < T.rows(); ++i) {
      const double used = rank > 0 ? Q.row(i).cwiseAbs().maxCoeff() : 0.0;
      EXPECT_TRUE(counts[i] != 0 || used == 0) << i;
    }
  }
};

// Rows d·(v + ω × p) of contact points around a place, three directions each.
MatX contact_rows(std::mt19937_64& random, int points, const Vec3& around, double spread) {
  std::uniform_real_distribution<double> u(-1, 1);
  MatX T(3 * points, 6);
  for (int k = 0; k < points; ++k) {
    const Vec3 p = around + spread * Vec3(u(random), u(random), 0);
    for (int d = 0; d < 3; ++d) T.row(3 * k + d) << p.cross(Vec3::Unit(d)).transpose(), Vec3::Unit(d).transpose();
  }
  return T;
}

TEST(PatchBasis, OfFeetHasRankSixHoweverFarTheyAre) {
  for_random_cases(500, [&](std::mt19937_64& random) {
    for (const double distance : {0.0, 1.0, 30.0}) {
      const MatX T = contact_rows(random, 6, Vec3(0.1, -0.2, -distance), 0.1);
      const Basis basis(T, VecX::Ones(18));
      EXPECT_EQ(basis.rank, 6);
      basis.expect_exact(1e-11);
    }
  });
}

TEST(PatchBasis, OfTwoPointsHasRankFiveAndOfOneThree) {
  for_random_cases(500, [&](std::mt19937_64& random) {
    const MatX two = contact_rows(random, 2, Vec3(0.3, 0.1, -0.9), 0.1);
    const Basis pair(two, VecX::Ones(6));
    EXPECT_EQ(pair.rank, 5);
    pair.expect_exact(1e-11);
    MatX doubled(12, 6);
    doubled << two.topRows(3), two.topRows(3), two.topRows(3), two.topRows(3);
    const Basis same(doubled, VecX::Ones(12));
    EXPECT_EQ(same.rank, 3);
    same.expect_exact(1e-11);
  });
}

TEST(PatchBasis, LeavesOutRowsThatDoNotCount) {
  for_random_cases(500, [&](std::mt19937_64& random) {
    const MatX T = contact_rows(random, 4, Vec3(0, 0, -0.5), 0.2);
    VecX normals = VecX::Zero(12);
    for (int k = 0; k < 4; ++k) normals[3 * k + 2] = 1;
    const Basis basis(T, normals);
    EXPECT_EQ(basis.rank, 3);
    basis.expect_exact(1e-11);
  });
}

TEST(PatchBasis, KeepsPointsApartThatAreAlmostOne) {
  VecX normals = VecX::Zero(9);
  for (int k = 0; k < 3; ++k) normals[3 * k + 2] = 1;
  for_random_cases(500, [&](std::mt19937_64& random) {
    bool in_line = false;
    for (const double spread : {0.1, 1e-6}) {
      const MatX rows = contact_rows(random, 3, Vec3(0.6, 0.8, -0.9), spread);
      const VecX sizes = MatX(normals.asDiagonal() * rows).jacobiSvd().singularValues();
      if (sizes[2] < 1e-9 * sizes[0]) {
        in_line = true;  // the three points, up to rounding
        continue;
      }
      const Basis basis(rows, normals);
      EXPECT_EQ(basis.rank, 3);
      basis.expect_exact(1e-11);
    }
    const Basis one(contact_rows(random, 3, Vec3(0.6, 0.8, -0.9), 0), normals);
    EXPECT_EQ(one.rank, 1);
    return in_line ? Outcome::skipped : Outcome::checked;
  });
}

TEST(PatchBasis, OfOtherWidthsIsExactToo) {
  for_random_cases(200, [&](std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    for (const int columns : {1, 2, 12}) {
      MatX T(6, columns);
      for (double& x : T.reshaped()) x = normal(random);
      const Basis basis(T, VecX::Ones(6));
      EXPECT_EQ(basis.rank, std::min(6, columns));
      basis.expect_exact(1e-12);
    }
  });
}

TEST(PatchBasis, OfNothingIsEmpty) {
  EXPECT_EQ(Basis(MatX::Zero(6, 6), VecX::Ones(6)).rank, 0);
  EXPECT_EQ(Basis(MatX::Ones(6, 6), VecX::Zero(6)).rank, 0);
}

}  // namespace
}  // namespace lithe::test

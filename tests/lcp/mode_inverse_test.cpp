#include "lithe/lcp/modes/mode_inverse.h"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <random>

#include "lithe/core/eigen.h"
#include "tests/lcp/lcp_shorthand.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

PaddedMatrix padded_copy(const MatX& K) {
  PaddedMatrix out;
  out.resize(static_cast<int>(K.rows()), static_cast<int>(K.cols()));
  std::fill(out.data.begin(), out.data.end(), 0.0);
  for (int j = 0; j < K.cols(); ++j) {
    for (int i = 0; i < K.rows(); ++i) out.at(i, j) = K(i, j);
  }
  return out;
}

AlignedBuffer padded_copy(const VecX& x) {
  AlignedBuffer out(static_cast<std::size_t>(padded(static_cast<int>(x.size()))) + kLanes, 0.0);
  std::copy(x.begin(), x.end(), out.begin());
  return out;
}

// Whether `inverse` is that of K.
void expect_inverse(const ModeInverse& inverse, const MatX& K, double tolerance) {
  ASSERT_EQ(inverse.size(), K.rows());
  const int n = inverse.size();
  const MatX exact = K.inverse();
  AlignedBuffer out(static_cast<std::size_t>(padded(n)) + 2 * kLanes);
  for (int j = 0; j < n; ++j) {
    inverse.solve(padded_copy(VecX(VecX::Unit(n, j))).data(), out.data());
    for (int i = 0; i < n; ++i) EXPECT_NEAR(out[i], exact(i, j), tolerance * exact.cwiseAbs().maxCoeff());
  }
}

MatX without(const MatX& K, int k) {
  MatX out = K;
  const auto last = K.rows() - 1;
  out.row(k) = K.row(last);
  out.col(k) = out.col(last).eval();
  if (k < last) out(k, k) = K(last, last);
  return out.topLeftCorner(last, last);
}

TEST(ModeInverse, FollowsRowsThatComeAndGo) {
  for_random_cases(300, [](std::mt19937_64& random) {
    const int most = 14;
    const MatX W = random_matrix(random, most, most + 4);
    const MatX full =
        W * W.transpose() + 0.3 * random_matrix(random, most, most);  // not symmetric, as where rows slide
    MatX K = full.topLeftCorner(1, 1);
    ModeInverse inverse;
    const VecX diagonal = full.diagonal().cwiseAbs();
    ASSERT_TRUE(inverse.set(padded_copy(K), diagonal.data()));
    for (int change = 0; change < 40; ++change) {
      const int m = static_cast<int>(K.rows());
      const int what = uniform_int(random, 0, 2);
      if (what == 0 && m < most) {
        const VecX column = random_vector(random, m, 1), row = random_vector(random, m, 1);
        const double corner = 20;
        ASSERT_TRUE(inverse.append(padded_copy(column).data(), padded_copy(row).data(), corner));
        MatX larger(m + 1, m + 1);
        larger << K, column, row.transpose(), corner;
        K = larger;
      } else if (what == 1 && m > 1) {
        const int k = uniform_int(random, 0, m - 1);
        const MatX smaller = without(K, k);
        if (smaller.fullPivLu().rcond() < 1e-6) continue;
        ASSERT_TRUE(inverse.remove(k));
        K = smaller;
      } else {
        const int k = uniform_int(random, 0, m - 1);
        const VecX difference = random_vector(random, m, 0.3);
        MatX changed = K;
        changed.col(k) += difference;
        if (changed.fullPivLu().rcond() < 1e-6) continue;
        ASSERT_TRUE(inverse.change_column(k, padded_copy(difference).data()));
        K = changed;
      }
      expect_inverse(inverse, K, 1e-6);
    }
    EXPECT_FALSE(inverse.uses_lu());
  });
}

TEST(ModeInverse, RefusesWhatWouldBeSingular) {
  ModeInverse inverse;
  const VecX diagonal = VecX::Ones(3);
  ASSERT_TRUE(inverse.set(padded_copy(MatX(MatX::Identity(2, 2))), diagonal.data()));
  const VecX column{{1.0, 0.0}};
  EXPECT_FALSE(inverse.append(padded_copy(column).data(), padded_copy(column).data(), 1.0));
  EXPECT_FALSE(inverse.change_column(0, padded_copy(VecX(-column)).data()));
  expect_inverse(inverse, MatX::Identity(2, 2), 1e-15);  // as it was
  const VecX swap{{-1.0, 1.0}};
  MatX exchange{{0, 1}, {1, 0}};
  ASSERT_TRUE(inverse.set(padded_copy(exchange), diagonal.data()));
  EXPECT_FALSE(inverse.remove(0)) << "what is left is 0";
  EXPECT_FALSE(inverse.set(padded_copy(MatX(MatX::Zero(2, 2))), diagonal.data()));
}

TEST(ModeInverse, SolvesByFactorsWhereTheRidgeAloneHolds) {
  // Twice the same row, and a ridge of 1e-9.
  MatX K{{1, 1}, {1, 1}};
  K.diagonal().array() += 1e-9;
  const VecX diagonal = VecX::Ones(2);
  ModeInverse inverse;
  ASSERT_TRUE(inverse.set(padded_copy(K), diagonal.data()));
  EXPECT_TRUE(inverse.uses_lu());
  EXPECT_TRUE(inverse.is_redundant(diagonal.data()));
  AlignedBuffer out(8);
  inverse.solve(padded_copy(VecX{{1.0, 1.0}}).data(), out.data());
  EXPECT_NEAR(out[0] + out[1], 1, 1e-8);
  // A regular one says so.
  ASSERT_TRUE(inverse.set(padded_copy(MatX(2 * MatX::Identity(2, 2))), diagonal.data()));
  EXPECT_FALSE(inverse.uses_lu());
  EXPECT_FALSE(inverse.is_redundant(diagonal.data()));
}

TEST(ModeInverse, SolvesAlikeWhetherFactorsAreExpectedOrNot) {
  int factored = 0;
  for_random_cases(200, [&](std::mt19937_64& random) {
    const int m = uniform_int(random, 2, 12), rank = uniform_int(random, 1, m);
    const MatX J = random_matrix(random, m, rank);
    MatX K = J * J.transpose();
    const VecX diagonal = K.diagonal();
    K.diagonal().array() += 1e-9 * diagonal.mean();
    const VecX x = random_vector(random, m);
    std::vector<AlignedBuffer> out;
    for (const auto form : {ModeInverse::Form::inverse, ModeInverse::Form::expects_lu, ModeInverse::Form::lu}) {
      ModeInverse inverse;
      ASSERT_TRUE(inverse.set(padded_copy(K), diagonal.data(), form));
      factored += form == ModeInverse::Form::expects_lu && inverse.uses_lu();
      EXPECT_TRUE(form != ModeInverse::Form::lu || inverse.uses_lu());
      out.emplace_back(16);
      inverse.solve(padded_copy(VecX(K * x)).data(), out.back().data());
    }
    for (int i = 0; i < m; ++i) {
      EXPECT_NEAR(out[1][i], out[0][i], 1e-6 * x.norm());
      EXPECT_NEAR(out[2][i], out[0][i], 1e-6 * x.norm());
    }
  });
  if (!few_cases()) {
    EXPECT_GE(factored, 100);
  }
}

}  // namespace
}  // namespace lithe::test

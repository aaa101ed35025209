#include "lithe/linalg/block_factor.h"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "lithe/core/eigen.h"
#include "lithe/linalg/factor_updates.h"

namespace lithe::test {

using namespace internal;
namespace {

using Pairs = std::vector<BlockGraph::Pair>;

Pairs chain_of(int blocks) {
  Pairs pairs;
  for (int k = 0; k + 1 < blocks; ++k) pairs.emplace_back(k, k + 1);
  return pairs;
}

int entries_of(const BlockGraph& graph) {
  int entries = 0;
  for (int k = 0; k < graph.size(); ++k) entries += graph.column(k).count;
  return entries;
}

TEST(BlockGraph, AChainFillsNothingIn) {
  BlockGraph graph;
  graph.analyse(std::vector<int>(200, 6), chain_of(200));
  EXPECT_EQ(entries_of(graph), 199);
  EXPECT_EQ(graph.coordinates(), 200 * 8);
}

TEST(BlockGraph, AChainIsEliminatedFromBothEndsInTurn) {
  BlockGraph graph;
  graph.analyse(std::vector<int>(7, 6), chain_of(7));
  const int order[] = {0, 6, 1, 5, 2, 4, 3};
  for (int k = 0; k < 7; ++k) EXPECT_EQ(graph.place(order[k]), k);
}

TEST(BlockGraph, TheHubOfAStarComesLast) {
  // In any other order all of its neighbours would meet.
  Pairs pairs;
  for (int k = 1; k < 100; ++k) pairs.emplace_back(0, k);
  BlockGraph graph;
  graph.analyse(std::vector<int>(100, 6), pairs);
  EXPECT_EQ(entries_of(graph), 99);
  EXPECT_GE(graph.place(0), 98);
}

TEST(BlockGraph, AGridFillsInLessThanAnEnvelopeWould) {
  const int side = 20;
  Pairs pairs;
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      if (j + 1 < side) pairs.emplace_back(side * i + j, side * i + j + 1);
      if (i + 1 < side) pairs.emplace_back(side * i + j, side * (i + 1) + j);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  BlockGraph graph;
  graph.analyse(std::vector<int>(side * side, 6), pairs);
  EXPECT_LT(entries_of(graph), side * side * side / 2);
  EXPECT_TRUE(graph.is_of(std::vector<int>(side * side, 6), pairs));
  EXPECT_FALSE(graph.is_of(std::vector<int>(side * side, 6), chain_of(side * side)));
}

// A random matrix over a random graph, as a factor and dense.
struct RandomMatrix {
  BlockGraph graph;
  BlockFactor factor;
  MatX dense;

  RandomMatrix(std::mt19937_64& random, bool symmetric, bool free_bodies = false) {
    std::uniform_int_distribution<int> count(1, 12), size(1, 9);
    std::uniform_real_distribution<double> number(-1, 1);
    const int blocks = count(random);
    std::vector<int> sizes;
    for (int k = 0; k < blocks; ++k) sizes.push_back(free_bodies || number(random) < 0.3 ? 6 : size(random));
    Pairs pairs;
    for (int a = 0; a < blocks; ++a) {
      for (int b = a + 1; b < blocks; ++b) {
        if (number(random) < -0.4) pairs.emplace_back(a, b);
      }
    }
    graph.analyse(sizes, pairs);
    dense.setZero(graph.coordinates(), graph.coordinates());
    const auto fill = [&](int a, int b) {
      for (int i = 0; i < sizes[a]; ++i) {
        for (int j = 0; j < sizes[b]; ++j) dense(graph.start_of(a) + i, graph.start_of(b) + j) = number(random);
      }
    };
    for (const auto& [a, b] : pairs) {
      fill(a, b);
      fill(b, a);
    }
    for (int a = 0; a < blocks; ++a) fill(a, a);
    if (symmetric) dense = (dense + dense.transpose()).eval() / 2 + 20 * MatX::Identity(dense.rows(), dense.rows());
    factor.start(graph, 0);
    for (int a = 0; a < blocks; ++a) {
      for (int b = 0; b < blocks; ++b) {
        if (a != b &&
            !std::binary_search(pairs.begin(), pairs.end(), BlockGraph::Pair(std::min(a, b), std::max(a, b)))) {
          continue;
        }
        double* block = factor.block(graph.offset(a, b));
        for (int j = 0; j < sizes[b]; ++j) {
          for (int i = 0; i < sizes[a]; ++i) {
            block[j * padded(sizes[a]) + i] = dense(graph.start_of(a) + i, graph.start_of(b) + j);
          }
        }
      }
    }
    // Padding takes no part.
    for (int a = 0; a < blocks; ++a) {
      for (int i = sizes[a]; i < padded(sizes[a]); ++i) dense(graph.start_of(a) + i, graph.start_of(a) + i) = 1;
    }
  }
  VecX random_vector(std::mt19937_64& random) const {
    std::uniform_real_distribution<double> number(-1, 1);
    VecX x = VecX::Zero(dense.rows());
    for (int k = 0; k < graph.size(); ++k) {
      const BlockGraph::Column& column = graph.column(k);
      for (int i = 0; i < column.size; ++i) x[column.start + i] = number(random);
    }
    return x;
  }
};

TEST(BlockFactor, SolvesAsDenseFactorsDo) {
  std::mt19937_64 random(5);
  int skipped = 0;
  for (int sample = 0; sample < 400; ++sample) {
    const bool symmetric = sample % 2 == 0;
    RandomMatrix S(random, symmetric, sample % 4 < 2);
    ASSERT_TRUE(sample % 4 >= 2 || S.graph.has_only_sixes());
    const Eigen::FullPivLU<MatX> lu(S.dense);
    // Pivots are looked for inside the blocks only: a matrix that needs others is none of ours.
    if (!S.factor.factorize(symmetric) || lu.rcond() < 1e-6) {
      ++skipped;
      continue;
    }
    for (const bool transposed : {false, true}) {
      const VecX x = S.random_vector(random);
      AlignedBuffer y(x.begin(), x.end());
      if (transposed) S.factor.solve_transposed(y.data());
      if (!transposed) S.factor.solve(y.data());
      const VecX wanted = transposed ? VecX(S.dense.transpose().fullPivLu().solve(x)) : VecX(lu.solve(x));
      const VecX got = Eigen::Map<const VecX>(y.data(), x.size());
      EXPECT_LT((got - wanted).norm(), 1e-7 * (1 + wanted.norm())) << "sample " << sample;
    }
  }
  EXPECT_LT(skipped, 40);
}

TEST(FactorUpdates, SolveAsAFactorOfTheSumDoes) {
  std::mt19937_64 random(17);
  FactorUpdates updates;
  int skipped = 0;
  for (int sample = 0; sample < 200; ++sample) {
    RandomMatrix S(random, true);
    ASSERT_TRUE(S.factor.factorize(true));
    updates.clear();
    MatX sum = S.dense;
    for (int k = 0; k <= sample % 6; ++k) {
      const VecX u = S.random_vector(random);
      const VecX x = S.random_vector(random);
      const BlockGraph::Column& a = S.graph.column(0);
      const BlockGraph::Column& b = S.graph.column(S.graph.size() - 1);
      FactorUpdates::Form form{a.start, a.stride, b.start, S.graph.size() > 1 ? b.stride : 0};
      AlignedBuffer v(x.data() + a.start, x.data() + a.start + a.stride), to_solve(u.begin(), u.end());
      v.insert(v.end(), x.data() + b.start, x.data() + b.start + form.width_b);
      updates.add(S.factor, S.graph.coordinates(), to_solve.data(), form, v.data());
      VecX dense_v = VecX::Zero(u.size());
      for (int i = 0; i < form.width_a; ++i) dense_v[form.start_a + i] = v[i];
      for (int i = 0; i < form.width_b; ++i) dense_v[form.start_b + i] = v[form.width_a + i];
      sum += u * dense_v.transpose();
    }
    const Eigen::FullPivLU<MatX> lu(sum);
    if (!updates.prepare() || lu.rcond() < 1e-6) {
      ++skipped;
      continue;
    }
    const VecX x = S.random_vector(random), wanted = lu.solve(x);
    AlignedBuffer y(x.begin(), x.end());
    updates.solve(S.factor, y.data());
    EXPECT_LT((VecX::Map(y.data(), x.size()) - wanted).norm(), 1e-9 * (1 + wanted.norm())) << "sample " << sample;
  }
  EXPECT_LT(skipped, 20);
}

TEST(BlockFactor, RefusesWhatIsSingular) {
  BlockGraph graph;
  graph.analyse(std::vector<int>{6, 6}, Pairs{{0, 1}});
  BlockFactor factor;
  for (const bool symmetric : {false, true}) {
    factor.start(graph, 0);
    EXPECT_FALSE(factor.factorize(symmetric));
    factor.start(graph, std::numeric_limits<double>::quiet_NaN());
    EXPECT_FALSE(factor.factorize(symmetric));
  }
}

}  // namespace
}  // namespace lithe::test

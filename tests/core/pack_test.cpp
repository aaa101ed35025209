#include "lithe/simd/pack.h"

#include <gtest/gtest.h>

#include <array>

namespace lithe {
namespace {

std::array<double, 4> lanes(const Pack& x) { return {x[0], x[1], x[2], x[3]}; }
using Four = std::array<double, 4>;

TEST(Pack, RoundsSizesUpToWholePacks) {
  EXPECT_EQ(padded(0), 0);
  EXPECT_EQ(padded(1), 4);
  EXPECT_EQ(padded(4), 4);
  EXPECT_EQ(padded(5), 8);
}

TEST(Pack, BroadcastFillsEveryLane) { EXPECT_EQ(lanes(broadcast(2.5)), (Four{2.5, 2.5, 2.5, 2.5})); }

TEST(Pack, ViewsFourDoublesInPlace) {
  alignas(32) double memory[4] = {1, 2, 3, 4};
  as_pack(memory) += broadcast(1);
  EXPECT_EQ(memory[3], 5);
  const double* same = memory;
  EXPECT_EQ(lanes(as_pack(same)), (Four{2, 3, 4, 5}));
}

TEST(Pack, RunningSumAddsFromTheLeft) {
  EXPECT_EQ(lanes(running_sum(Pack{1, 10, 100, 1000})), (Four{1, 11, 111, 1111}));
}

TEST(Pack, ReverseRunningSumAddsFromTheRight) {
  EXPECT_EQ(lanes(reverse_running_sum(Pack{1, 10, 100, 1000})), (Four{1111, 1110, 1100, 1000}));
}

TEST(Pack, LaneSumAddsAllFour) { EXPECT_EQ(lane_sum(Pack{1, 10, 100, 1000}), 1111); }

TEST(Pack, LaneSumHasOneOrder) {
  // (x₀ + x₂) + (x₁ + x₃): these pairs cancel, any other order would lose the small numbers.
  EXPECT_EQ(lane_sum(Pack{1e17, 1, -1e17, 2}), 3);
}

TEST(Pack, ShiftInMovesEachLaneOneToTheRight) {
  EXPECT_EQ(lanes(shift_in(Pack{9, 8, 7, 6}, Pack{1, 2, 3, 4})), (Four{9, 1, 2, 3}));
}

TEST(Pack, BroadcastsItsFirstAndItsLastLane) {
  EXPECT_EQ(lanes(broadcast_first(Pack{1, 2, 3, 4})), (Four{1, 1, 1, 1}));
  EXPECT_EQ(lanes(broadcast_last(Pack{1, 2, 3, 4})), (Four{4, 4, 4, 4}));
}

TEST(Pack, TransposeMakesRowsColumns) {
  Pack a = {11, 12, 13, 14}, b = {21, 22, 23, 24}, c = {31, 32, 33, 34}, d = {41, 42, 43, 44};
  transpose(a, b, c, d);
  EXPECT_EQ(lanes(a), (Four{11, 21, 31, 41}));
  EXPECT_EQ(lanes(b), (Four{12, 22, 32, 42}));
  EXPECT_EQ(lanes(c), (Four{13, 23, 33, 43}));
  EXPECT_EQ(lanes(d), (Four{14, 24, 34, 44}));
}

}  // namespace
}  // namespace lithe

#include "lithe/simd/lanes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace lithe {
namespace {

TEST(Lanes, AreZeroWhenNew) {
  Lanes<3> lanes;
  lanes.resize(8);
  EXPECT_EQ(lanes.slots(), 8);
  for (int slot = 0; slot < 8; ++slot) {
    for (int row = 0; row < 3; ++row) EXPECT_EQ(lanes.at(row, slot), 0);
  }
}

TEST(Lanes, KeepTheirContentWhenTheSizeStays) {
  Lanes<2> lanes;
  lanes.resize(4);
  lanes.at(1, 2) = 7;
  lanes.resize(4);
  EXPECT_EQ(lanes.at(1, 2), 7);
  lanes.resize(8);
  EXPECT_EQ(lanes.at(1, 2), 0);
}

TEST(Lanes, HoldEveryNumberInAPlaceOfItsOwn) {
  Lanes<6> lanes;
  lanes.resize(12);
  std::set<const double*> places;
  for (int slot = 0; slot < 12; ++slot) {
    for (int row = 0; row < 6; ++row) places.insert(&lanes.at(row, slot));
  }
  EXPECT_EQ(places.size(), 72u);
}

TEST(Lanes, PackHoldsFourNeighbouringSlots) {
  Lanes<6> lanes;
  lanes.resize(12);
  for (int row = 0; row < 6; ++row) lanes.pack(row, 8) = Pack{0, 1, 2, 3} + broadcast(10.0 * row);
  for (int row = 0; row < 6; ++row) {
    for (int k = 0; k < 4; ++k) EXPECT_EQ(lanes.at(row, 8 + k), 10 * row + k);
  }
  lanes.set_zero();
  EXPECT_EQ(lane_sum(lanes.pack(5, 8)), 0);
}

TEST(Lanes, PacksAreAligned) {
  Lanes<1> lanes;
  lanes.resize(16);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&lanes.pack(0, 0)) % 64, 0u);
}

}  // namespace
}  // namespace lithe

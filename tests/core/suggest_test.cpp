#include "lithe/core/internal/suggest.h"

#include <gtest/gtest.h>

namespace lithe {

using namespace internal;
namespace {

TEST(Suggest, NamesTheClosestFirst) {
  EXPECT_EQ(did_you_mean("fot", {"hand", "fist", "foot"}), " (did you mean 'foot', 'fist', 'hand'?)");
}

TEST(Suggest, NamesAtMostThree) {
  const std::string text = did_you_mean("leg_1", {"torso", "leg_2", "leg_3", "leg_4", "leg_5"});
  EXPECT_EQ(text, " (did you mean 'leg_2', 'leg_3', 'leg_4'?)");
}

TEST(Suggest, SaysWhenThereIsNothingToName) { EXPECT_EQ(did_you_mean("leg", {}), " (there are none)"); }

TEST(Suggest, TakesEmptyNames) { EXPECT_EQ(did_you_mean("", {"ab", ""}), " (did you mean '', 'ab'?)"); }

}  // namespace
}  // namespace lithe

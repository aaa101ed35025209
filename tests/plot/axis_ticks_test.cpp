#include "lithe/plot/axis_ticks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "lithe/core/infinity.h"
#include "tests/support/constants.h"

namespace lithe::test {

using namespace plot;
namespace {

std::vector<std::string> labels(const Ticks& ticks) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks.ticks) {
    if (!tick.label.empty()) out.push_back(tick.label + (tick.exponent.empty() ? "" : "^" + tick.exponent));
  }
  return out;
}

using Labels = std::vector<std::string>;

TEST(AxisTicks, LinearOnesAreRoundNumbers) {
  EXPECT_EQ(labels(ticks_of({0, 10}, AxisScale::linear, 5)), (Labels{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(labels(ticks_of({-0.1, 1.2}, AxisScale::linear, 3)), (Labels{"0.0", "0.5", "1.0"}));
  EXPECT_EQ(labels(ticks_of({-1.2, 0.4}, AxisScale::linear, 4)), (Labels{"−1.0", "−0.5", "0.0"}));
}

// Whatever the range: 1, 2 or 5 times a power of ten apart, within the range, neither too few nor too many.
TEST(AxisTicks, LinearStepsAreOneTwoFive) {
  const unsigned seed = 7;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(-12, 12), offset(-10, 10);
  for (int i = 0; i < 2000; ++i) {
    const double width = std::pow(10, exponent(random)), from = offset(random) * width;
    const AxisRange range = {from, from + width};
    const int wanted = 3 + i % 6;
    const std::vector<Tick> ticks = ticks_of(range, AxisScale::linear, wanted).ticks;
    ASSERT_GE(ticks.size(), 2u) << from << " + " << width;
    ASSERT_LE(static_cast<int>(ticks.size()), std::max(wanted + 1, 6));
    const double step = ticks[1].at - ticks[0].at;
    const double mantissa = step / std::pow(10, std::floor(std::log10(step) + 1e-9));
    EXPECT_LT(std::min({std::abs(mantissa - 1), std::abs(mantissa - 2), std::abs(mantissa - 5)}), 1e-6) << step;
    for (std::size_t k = 0; k < ticks.size(); ++k) {
      EXPECT_NEAR(ticks[k].at, ticks[0].at + static_cast<double>(k) * step, 1e-9 * width);
      EXPECT_GE(ticks[k].at, range.from - 1e-6 * width);
      EXPECT_LE(ticks[k].at, range.to + 1e-6 * width);
    }
  }
}

TEST(AxisTicks, LargeAndSmallNumbersAreInUnitsOfAPower) {
  const Ticks large = ticks_of({0, 4e5}, AxisScale::linear, 4);
  EXPECT_EQ(large.power, 5);
  EXPECT_EQ(labels(large), (Labels{"0", "1", "2", "3", "4"}));
  const Ticks small = ticks_of({0, 3e-4}, AxisScale::linear, 3);
  EXPECT_EQ(small.power, -4);
  EXPECT_EQ(labels(small), (Labels{"0", "1", "2", "3"}));
  EXPECT_EQ(ticks_of({0, 1000}, AxisScale::linear, 4).power, 0);
}

TEST(AxisTicks, DecadesHaveMinorTicksBetween) {
  const Ticks ticks = ticks_of({0.05, 200}, AxisScale::log, 6);
  EXPECT_EQ(labels(ticks), (Labels{"10^−1", "10^0", "10^1", "10^2"}));
  int minor = 0;
  for (const Tick& tick : ticks.ticks) minor += tick.label.empty() ? 1 : 0;
  EXPECT_EQ(minor, 5 + 3 * 8 + 1);  // 0.05 … 0.09, three full decades, 200
  for (std::size_t i = 1; i < ticks.ticks.size(); ++i) EXPECT_GT(ticks.ticks[i].at, ticks.ticks[i - 1].at);
}

TEST(AxisTicks, ManyDecadesAreNotAllLabelled) {
  const Ticks ticks = ticks_of({1e-30, 1}, AxisScale::log, 5);
  EXPECT_EQ(labels(ticks), (Labels{"10^−30", "10^−20", "10^−10", "10^0"}));
  EXPECT_EQ(ticks.ticks.size(), 31u);
}

TEST(AxisTicks, LessThanADecadeHasLabelsToo) {
  EXPECT_EQ(labels(ticks_of({1.5, 60}, AxisScale::log, 5)), (Labels{"2", "5", "10", "20", "50"}));
  EXPECT_EQ(labels(ticks_of({3.1, 4.4}, AxisScale::log, 3)), (Labels{"3.5", "4.0"}));
}

TEST(AxisTicks, TheRangeIsThatOfTheValuesThatHaveAPlace) {
  AxisRange range;
  ASSERT_TRUE(fit_range({3, test::kNan, 1, kInfinity, -kInfinity, 1e305}, AxisScale::linear, range));
  EXPECT_NEAR(range.from, 0.92, 1e-12);
  EXPECT_NEAR(range.to, 3.08, 1e-12);
  ASSERT_TRUE(fit_range({100, -5, 0, 1}, AxisScale::log, range));
  EXPECT_NEAR(range.from, std::pow(10, -0.08), 1e-12);
  EXPECT_NEAR(range.to, 100 * std::pow(10, 0.08), 1e-9);
  const AxisRange before = range;
  EXPECT_FALSE(fit_range({test::kNan}, AxisScale::linear, range));
  EXPECT_FALSE(fit_range({0, -1}, AxisScale::log, range));
  EXPECT_EQ(range.from, before.from);
}

TEST(AxisTicks, AConstantHasARangeAroundIt) {
  for (const double value : {0.0, 5.0, -3e-9, 1e12}) {
    AxisRange range;
    ASSERT_TRUE(fit_range({value, value}, AxisScale::linear, range));
    EXPECT_LT(range.from, value);
    EXPECT_GT(range.to, value);
    EXPECT_GE(ticks_of(range, AxisScale::linear, 4).ticks.size(), 2u) << value;
  }
}

TEST(AxisTicks, SharesGoFromZeroToOne) {
  EXPECT_DOUBLE_EQ(share_of(3, {1, 5}, AxisScale::linear), 0.5);
  EXPECT_DOUBLE_EQ(share_of(1, {0.01, 100}, AxisScale::log), 0.5);
  EXPECT_DOUBLE_EQ(share_of(100, {0.01, 100}, AxisScale::log), 1);
}

}  // namespace
}  // namespace lithe::test

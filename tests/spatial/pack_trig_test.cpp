#include "lithe/simd/internal/pack_trig.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe {

using namespace internal;
namespace {

// The distance to the truth in units of the last place of the truth.
double ulps(double value, long double truth) {
  const double magnitude = std::abs(static_cast<double>(truth));
  const double ulp = std::nextafter(magnitude, std::numeric_limits<double>::infinity()) - magnitude;
  return static_cast<double>(std::abs(value - truth) / ulp);
}

double worst_error(const std::vector<double>& angles) {
  double worst = 0;
  for (std::size_t i = 0; i < angles.size(); i += 4) {
    Pack x{}, sine, cosine;
    for (std::size_t k = 0; k < 4; ++k) x[k] = angles[std::min(i + k, angles.size() - 1)];
    sin_cos(x, sine, cosine);
    for (int k = 0; k < 4; ++k) {
      const long double angle = x[k];
      worst = std::max({worst, ulps(sine[k], std::sin(angle)), ulps(cosine[k], std::cos(angle))});
    }
  }
  return worst;
}

TEST(PackTrig, IsWithinTwoUlpOverItsRange) {
  test::for_random_cases(20, [](std::mt19937_64& random) {
    std::vector<double> angles;
    for (int i = 0; i < 2000; ++i) {
      angles.push_back(test::uniform(random, -4, 4));
      angles.push_back(test::uniform(random, -kPackTrigRange, kPackTrigRange));
      angles.push_back(std::exp(test::uniform(random, std::log(1e-300), std::log(kPackTrigRange))));
    }
    EXPECT_LE(worst_error(angles), 2);
  });
}

TEST(PackTrig, IsWithinTwoUlpNearMultiplesOfHalfPi) {
  // Where sin or cos nearly vanish, the reduction by multiples of π/2 must keep all its digits.
  std::vector<double> angles;
  const int last = static_cast<int>(kPackTrigRange / (std::numbers::pi / 2));
  for (int k = -last; k <= last; ++k) {
    const double multiple = k * (std::numbers::pi / 2);
    angles.insert(angles.end(), {multiple, std::nextafter(multiple, 1e9), multiple + 1e-9, multiple - 1e-4});
  }
  EXPECT_LE(worst_error(angles), 2);
}

TEST(PackTrig, IsWithinTwoUlpWhereTheQuadrantsMeet) {
  std::vector<double> angles;
  for (int k = -101; k <= 101; k += 2) {
    const double seam = k * (std::numbers::pi / 4);
    angles.insert(angles.end(), {seam, std::nextafter(seam, 1e9), std::nextafter(seam, -1e9)});
  }
  EXPECT_LE(worst_error(angles), 2);
}

TEST(PackTrig, IsExactAtZeroAndForTinyAngles) {
  Pack sine, cosine;
  sin_cos(Pack{0.0, 1e-9, -1e-300, 5e-324}, sine, cosine);
  EXPECT_EQ(sine[0], 0.0);
  EXPECT_EQ(sine[1], 1e-9);
  EXPECT_EQ(sine[2], -1e-300);
  EXPECT_EQ(sine[3], 5e-324);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(cosine[k], 1.0);
}

TEST(PackTrig, SquaresAddUpToOne) {
  test::for_random_cases(20, [](std::mt19937_64& random) {
    for (int i = 0; i < 100; ++i) {
      Pack sine, cosine;
      sin_cos(broadcast(test::uniform(random, -100, 100)), sine, cosine);
      EXPECT_NEAR(sine[0] * sine[0] + cosine[0] * cosine[0], 1, 4e-16);
    }
  });
}

}  // namespace
}  // namespace lithe

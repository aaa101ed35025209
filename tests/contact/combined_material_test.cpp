#include "lithe/contact/combined_material.h"

#include <gtest/gtest.h>

namespace lithe::test {

using namespace internal;
namespace {

double friction(double a, double b) { return combined({.friction = a}, {.friction = b}).friction; }
double restitution(double a, double b) { return combined({.restitution = a}, {.restitution = b}).restitution; }

TEST(CombinedMaterial, EqualFrictionStays) {
  EXPECT_DOUBLE_EQ(friction(0.7, 0.7), 0.7);
  EXPECT_DOUBLE_EQ(friction(1e-300, 1e-300), 1e-300);
}

TEST(CombinedMaterial, SmoothSurfacesSlideOnEverything) {
  EXPECT_EQ(friction(0, 1), 0);
  EXPECT_EQ(friction(1, 0), 0);
  EXPECT_EQ(friction(0, 0), 0);
}

TEST(CombinedMaterial, FrictionIsTheHarmonicMean) {
  EXPECT_DOUBLE_EQ(friction(0.5, 1), 2.0 / 3);
  EXPECT_DOUBLE_EQ(friction(1, 0.5), 2.0 / 3);
}

TEST(CombinedMaterial, TheBouncierSurfaceDecides) {
  EXPECT_EQ(restitution(0.8, 0), 0.8);
  EXPECT_EQ(restitution(0.3, 0.5), 0.5);
}

}  // namespace
}  // namespace lithe::test
